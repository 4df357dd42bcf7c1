// The types that schemas and TorchScript speak of, as immutable values that are cheap to copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flambeau {

enum class TypeKind : uint8_t {
  // Plain: the kind says everything.
  kTensor,
  kInt,
  kFloat,
  kBool,
  kString,
  kComplex,
  kNumber,  // "Scalar": an int, float, bool or complex
  kSymInt,
  kSymFloat,
  kSymBool,
  kDevice,
  kScalarType,
  kLayout,
  kMemoryFormat,
  kGenerator,
  kStorage,
  kStream,
  kQScheme,
  kQuantizer,
  kCapsule,
  kPyObject,  // any Python object, of a registered opaque type
  kNone,
  kAny,
  kAnyEnum,
  kAnyClass,
  kAnyList,   // TorchScript's "list", whatever is in it
  kAnyTuple,  // "tuple"
  // Named.
  kVariable,  // "t": any type, the same one throughout a schema
  kClass,     // "__torch__.torch.classes.quantized.LinearPackedParamsBase", or a dotted Python name
  kFunction,  // of TorchScript: the function of that name, and no other
  // Made of other types.
  kOptional,
  kList,
  kTuple,
  kDict,
  kUnion,
  kFuture,
  kAwait,
  kRRef,
};

// How deep types may nest, and of how many types one may be made.
constexpr int kMostTypeDepth = 64;
constexpr size_t kMostTypeSize = size_t{1} << 14;

class Type {
 public:
  // A plain kind. Throws Error(kInvalidArgument) for the others.
  Type(TypeKind kind);

  // Each throws Error(kLimit) for nesting deeper than kMostTypeDepth, or for more than kMostTypeSize.
  static Type variable(std::string name);
  static Type class_named(std::string name);
  static Type function_named(std::string name);
  static Type optional(Type element);
  // `size`: "int[2]" has two elements.
  static Type list(Type element, std::optional<int64_t> size = {});
  // `fields`: names of the elements, or none. Such tuples are what operators with named results give.
  static Type tuple(std::vector<Type> elements, std::vector<std::string> fields = {});
  static Type dict(Type key, Type value);
  static Type union_of(std::vector<Type> elements);
  static Type future(Type element);
  static Type await(Type element);
  static Type rref(Type element);

  TypeKind kind() const { return kind_; }
  bool is(TypeKind kind) const { return kind_ == kind; }
  // What it is made of: one type, a dict's two, a tuple's or union's many; empty for the others.
  std::span<const Type> elements() const;
  // The one type inside an optional, list, future, await or rref; throws Error(kInvalidArgument) for others.
  const Type& element() const;
  // The fixed size of a list: 2 for "int[2]".
  std::optional<int64_t> list_size() const;
  // The name of a variable, class or function; empty for the others.
  std::string_view name() const;
  // The names of a tuple's elements; empty when it has none.
  std::span<const std::string> fields() const;
  // Itself, or what an optional holds.
  const Type& without_optional() const;
  int depth() const;
  size_t size() const;  // how many types it is made of, itself included

  // As PyTorch prints it: "int[2]?", "Dict(str, t)", "(int, Tensor)[]".
  std::string to_string() const;

  friend bool operator==(const Type& a, const Type& b);

 private:
  struct Detail;
  Type(TypeKind kind, Detail detail);
  void print(std::string& to) const;

  TypeKind kind_;
  std::shared_ptr<const Detail> detail_;  // none for a plain kind
};

// The plain kind that PyTorch's schemas call so: "Tensor", "Scalar", "str". Names that PyTorch reads as
// another type are that type here too: "DeviceIndex" is int, and "Dimname" (before 2.13) is str.
std::optional<TypeKind> find_plain_type(std::string_view name);
// How PyTorch prints a plain kind; empty for the others.
std::string_view plain_type_name(TypeKind kind);

// Reads the text of to_string(). Throws Error(kCorrupt) located at the byte, and Error(kLimit) for text or
// nesting beyond all reason.
Type parse_type(std::string_view text);

}  // namespace flambeau
