// What a user says of the shapes of a model's arguments, by name or by position, nested as the arguments are.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/shapes/dim.h"
#include "flambeau/value/pytree.h"

namespace flambeau::trace {

// Of one argument: nothing (all static), the dimensions of a tensor, a hint for an integer, or a container of
// these, of the same kind as the argument.
class ShapeSpec {
 public:
  enum class Kind : uint8_t { kNone, kDims, kShape, kHint, kList, kTuple, kDict };

  ShapeSpec() = default;
  // Dimensions by index, {{0, Dim("batch")}, {1, Dim::AUTO}}; those not mentioned are static.
  ShapeSpec(std::initializer_list<std::pair<int64_t, Dim>> dims);  // NOLINT(google-explicit-constructor)
  ShapeSpec(std::map<int64_t, Dim> dims);                          // NOLINT(google-explicit-constructor)
  // One for each dimension.
  ShapeSpec(std::vector<Dim> shape);  // NOLINT(google-explicit-constructor)
  // Of an integer.
  ShapeSpec(const DimHint& hint);  // NOLINT(google-explicit-constructor)
  ShapeSpec(const Dim& dim);       // NOLINT(google-explicit-constructor)

  static ShapeSpec list(std::vector<ShapeSpec> items);
  static ShapeSpec tuple(std::vector<ShapeSpec> items);
  static ShapeSpec dict(std::vector<std::pair<std::string, ShapeSpec>> items);

  Kind kind() const { return kind_; }
  // Index and Dim of what is mentioned; index -1 for an integer's hint.
  const std::vector<std::pair<int64_t, Dim>>& dims() const { return dims_; }
  const std::vector<std::pair<std::string, ShapeSpec>>& items() const { return items_; }
  // "{0: Dim('batch')}", "[None, {1: 4}]".
  std::string to_string() const;

 private:
  Kind kind_ = Kind::kNone;
  std::vector<std::pair<int64_t, Dim>> dims_;
  std::vector<std::pair<std::string, ShapeSpec>> items_;  // keys are empty in lists and tuples
};

// A number of a program's arguments, tensors and others, as the trace finds them.
struct InputLeaf {
  enum class Kind : uint8_t { kTensor, kInteger, kOther };

  Kind kind = Kind::kOther;
  std::string source;  // "L['x'][0]"
  std::string path;    // "['x'][0]"
  std::vector<int64_t> sizes = {};
  std::vector<int64_t> strides = {};
  int64_t offset = 0;
  int64_t value = 0;               // of an integer
  const void* identity = nullptr;  // the same for a tensor that is passed twice
  std::string type = {};           // "float", for messages
};

// An argument with its leaves.
struct InputArgument {
  std::string name;
  TreeSpec spec;
  std::vector<InputLeaf> leaves;  // in the spec's order; sources and paths may be empty: name_leaves() fills
};
// "L['x']" and "['x']", with the way to each leaf.
void name_leaves(std::vector<InputArgument>& arguments);

// Dimensions by the tensor rather than by its place.
class ShapesCollection {
 public:
  // `identity`: as in InputLeaf. Throws Error(kInvalidArgument) when the tensor has other dimensions already.
  void set(const void* identity, ShapeSpec spec);
  const ShapeSpec* find(const void* identity) const;
  size_t size() const { return shapes_.size(); }

 private:
  std::vector<std::pair<const void*, ShapeSpec>> shapes_;
};

class DynamicShapes {
 public:
  // Everything is static.
  DynamicShapes() = default;
  // By name: {{"x", {{0, Dim("batch")}}}}.
  DynamicShapes(std::initializer_list<std::pair<std::string, ShapeSpec>> specs)  // NOLINT
      : DynamicShapes(by_name(specs)) {}
  static DynamicShapes by_name(std::vector<std::pair<std::string, ShapeSpec>> specs);
  static DynamicShapes by_position(std::vector<ShapeSpec> specs);
  static DynamicShapes of(ShapesCollection collection);
  // Dimensions in which one of the other examples differs are DYNAMIC. Throws Error(kInvalidArgument) when
  // the examples differ in anything else.
  static DynamicShapes of_examples(std::span<const InputArgument> example,
                                   std::span<const std::vector<InputArgument>> others);

  bool is_empty() const;
  // The same with arguments behind these. Not for a collection, which has no places.
  DynamicShapes with(std::vector<std::pair<std::string, ShapeSpec>> more) const;
  // The spec of each leaf, in order: kNone, kDims, kShape or kHint. Throws Error(kInvalidArgument), with the
  // path, what was found and what was expected, where the specs do not fit the arguments: other names or
  // containers, another rank, a Dim for what is no tensor, one name with two ranges.
  std::vector<ShapeSpec> resolve(std::span<const InputArgument> arguments) const;

 private:
  enum class Form : uint8_t { kEmpty, kByName, kByPosition, kCollection };
  Form form_ = Form::kEmpty;
  std::vector<std::pair<std::string, ShapeSpec>> specs_;
  ShapesCollection collection_;
};

}  // namespace flambeau::trace
