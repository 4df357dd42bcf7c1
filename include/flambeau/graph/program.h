// An exported program: the graph, what its inputs and outputs mean, the constraints on its shapes, and its
// weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flambeau/graph/graph.h"
#include "flambeau/graph/signature.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::graph {

struct SchemaVersion {
  int major = 0;
  int minor = 0;
  bool operator==(const SchemaVersion&) const = default;
  auto operator<=>(const SchemaVersion&) const = default;
};
inline constexpr SchemaVersion kCurrentSchema = {8, 20};

// Bounds of a symbol, both included; nothing where it is unbounded.
struct RangeConstraint {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  Extras extras = {};
};

// A tensor of a class of its own, pickled as its writer knew it. Its bytes are kept as they are.
struct PickledTensor {
  std::shared_ptr<Storage> bytes;
  std::optional<TensorMeta> meta;
};

// What a newer version says of a weight, in the archive's table, besides what is known.
struct WeightExtras {
  Extras entry;
  Extras meta;  // of the tensor's description
  Extras device;
};

// A parameter, buffer or constant of a program.
struct Weight {
  std::string name;
  Tensor tensor;  // undefined where `pickled` is there
  bool is_parameter = false;
  // Of a device that only its writer knows.
  std::string device_type = {};
  std::shared_ptr<const PickledTensor> pickled = {};
  std::shared_ptr<const WeightExtras> extras = {};  // null when there are none
};

// An object that only its own class can read. Its bytes are kept as they are.
struct NamedObject {
  std::string name;
  std::shared_ptr<Storage> bytes;
  bool is_opaque = false;  // a plain pickle of Python, rather than an object of PyTorch's own class system
  Extras extras = {};      // of its entry in the archive's table
};

class ExportedProgram {
 public:
  ExportedProgram() : graph_(std::make_unique<Graph>()) {}
  ExportedProgram(ExportedProgram&&) noexcept = default;
  ExportedProgram& operator=(ExportedProgram&&) noexcept;
  // A deep copy of everything but the bytes of weights, which are shared.
  ExportedProgram clone() const;

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  // How the model itself was called; null when the program does not tell.
  const ModuleCallSignature* root_call() const;

 private:
  std::unique_ptr<Graph> graph_;  // first, so that it outlives the references below

 public:
  GraphSignature signature;
  std::vector<ModuleCallEntry> module_call_graph;
  StringMap metadata;
  // The fields of each named tuple that the specs of the module call graph mention.
  struct NamedTupleDef {
    std::string name;
    std::vector<std::string> fields;
    Extras extras = {};
  };
  std::vector<NamedTupleDef> named_tuples;
  Extras graph_module_extras;

  std::vector<std::pair<std::string, int64_t>> opset_version;
  std::vector<std::pair<std::string, RangeConstraint>> range_constraints;
  SchemaVersion schema_version = kCurrentSchema;
  std::vector<std::string> verifiers;
  std::string torch_version;
  std::vector<std::string> guards_code;
  Extras extras;

  // How the file wrote what its version leaves open, so that saving writes the same; new programs write all
  // of it.
  struct Style {
    bool has_argument_kind = true;
    bool has_node_name = true;
    bool has_hop_single_return = true;
    bool has_custom_obj_values = true;
    bool has_sym_float_values = true;
    bool has_metadata = true;
    bool has_named_tuples = true;
    bool has_forward_arg_names = true;
    bool has_verifiers = true;
    bool has_torch_version = true;
    bool has_guards_code = true;
    bool has_bare_infinity = false;  // NaN and Infinity as bare words rather than in quotes
    bool omits_nulls = false;  // members that are null are left out where that is what their absence means
  };
  Style style;

  // False for a program that was read alone, without the archive around it: then the lists below say nothing.
  bool has_weights = true;
  // Parameters and persistent buffers, in the model's order.
  std::vector<Weight> state_dict;
  // Lifted tensors and buffers that are not persistent, and objects.
  std::vector<Weight> constants;
  std::vector<NamedObject> objects;
  // The inputs it was exported with, as torch.save writes ((args...), {kwargs...}); null when there are none.
  std::shared_ptr<Storage> example_inputs;
};

}  // namespace flambeau::graph
