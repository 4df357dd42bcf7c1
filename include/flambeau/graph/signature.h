// What the inputs and outputs of a program's graph mean, and how its modules were called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flambeau/graph/argument.h"

namespace flambeau::graph {

enum class InputKind : uint8_t {
  kUserInput,
  kParameter,
  kBuffer,
  kTensorConstant,
  kCustomObj,
  kToken,
  kConstantInput,
  kUnknown,  // a kind of a newer schema: its JSON member, untouched
};
// The name in the file format: "user_input".
std::string_view input_kind_key(InputKind kind);

// None, int, float, str or bool.
using ConstantValue = std::variant<std::monostate, int64_t, double, std::string, bool>;

struct InputSpec {
  InputKind kind = InputKind::kUserInput;
  // The graph's input; for user inputs it may be a constant. None for constant inputs.
  Argument argument;
  // The parameter's, buffer's, constant's or object's full name; for constant inputs the argument's name.
  std::string target;
  bool persistent = true;  // of buffers
  ConstantValue value;     // of constant inputs
  json::Member unknown;    // of kind kUnknown
  Extras extras = {};
};

enum class OutputKind : uint8_t {
  kUserOutput,
  kLossOutput,
  kBufferMutation,
  kGradientToParameter,
  kGradientToUserInput,
  kUserInputMutation,
  kToken,
  kParameterMutation,
  kUnknown,
};
// The name in the file format: "buffer_mutation".
std::string_view output_kind_key(OutputKind kind);

struct OutputSpec {
  OutputKind kind = OutputKind::kUserOutput;
  Argument argument;
  // What is mutated, or whose gradient it is: the name of a parameter or buffer.
  std::string target;
  // The same where it is a user input; it refers to the graph's input.
  ValueRef input;
  json::Member unknown;  // of kind kUnknown
  Extras extras = {};
};

struct GraphSignature {
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  Extras extras = {};
};

// How one module of the original model was called, where that was preserved.
struct ModuleCallSignature {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  // treespec_dumps text.
  std::string in_spec;
  std::string out_spec;
  std::optional<std::vector<std::string>> forward_arg_names;
  Extras extras = {};
};

struct ModuleCallEntry {
  std::string fqn;
  std::optional<ModuleCallSignature> signature;
  Extras extras = {};
};

}  // namespace flambeau::graph
