// What a program takes and gives, leaf by leaf: described once, for everybody who shows it, makes or checks
// inputs, or calls it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/value/pytree.h"
#include "flambeau/value/value.h"

namespace flambeau::symbolic {
class Expr;
}

namespace flambeau::graph {

class ExportedProgram;

enum class LeafKind : uint8_t { kOther, kNone, kTensor, kInt, kFloat, kBool, kString, kComplex, kObject };
// "None", "tensor", "int", "float", "bool", "str", "complex", "object"; empty for what is none of them.
std::string_view leaf_kind_name(LeafKind kind);

// What a program says of a size: both bounds are included, nothing where there is none.
struct SizeRange {
  std::string of;  // "s77", "2*s77 + 1"
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  // "2 <= s77 <= 9".
  std::string to_string() const;
};

// A size of a tensor, or a number that is an input itself.
struct LeafSize {
  std::string text;                            // "4", "s77", "2*s0"
  std::optional<int64_t> literal;              // when it is fixed
  std::shared_ptr<const symbolic::Expr> expr;  // null where the text is in a form that nobody here can read
  std::shared_ptr<const SizeRange> range;      // of an input; null where there is none

  // The symbol that it is nothing but; empty for others.
  std::string_view symbol() const;
};
using LeafSizes = std::vector<LeafSize>;

// One input or output, as its user sees it.
struct Leaf {
  std::string name;  // what the program calls it: "x", "add_3"
  std::string path;  // how a caller reaches it: "args[0]", "kwargs['mask']", "output['logits']"
  LeafKind kind = LeafKind::kOther;
  DType dtype = DType::kFloat32;           // of a tensor
  std::optional<LeafSize> number;          // of an int that may vary
  flambeau::Value constant;                // of an input that must have a certain value
  std::shared_ptr<const LeafSizes> shape;  // null for what is no tensor; outputs may share it

  bool is_tensor() const { return kind == LeafKind::kTensor; }
  // Of a tensor.
  const LeafSizes& sizes() const;
  // Of the symbols in sizes: "2 <= s77 <= 9"; empty where they may be anything.
  std::string range() const;
  // Its name, or its path where it has none.
  const std::string& label() const { return name.empty() ? path : name; }
  // "x: float32[s77, 4], 2 <= s77 <= 9".
  std::string to_string() const;
};

struct Interface {
  // How the leaves are nested; plain leaves where the program does not tell.
  TreeSpec in_spec;
  TreeSpec out_spec;
  std::vector<Leaf> inputs;
  std::vector<Leaf> outputs;  // those that the user gets
  // What the model's author called the arguments; empty where the program does not tell.
  std::vector<std::string> argument_names;
  // Conditions on sizes that are in a form nobody here can read.
  std::vector<std::string> unreadable;
};

// Of a program that nobody verified, containers that cannot be read are no error: then leaves have no names
// but their places.
enum class Trust : uint8_t { kVerified, kUnverified };

// Throws Error(kCorrupt) and what else parse_treespec throws.
Interface interface_of(const ExportedProgram& program, Trust trust = Trust::kVerified);

}  // namespace flambeau::graph
