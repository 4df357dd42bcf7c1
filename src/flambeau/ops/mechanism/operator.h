// One operator: its schema and how to compute it. Built by Definition (definition.h), found in a Library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/info.h"
#include "flambeau/value/schema.h"
#include "flambeau/value/value.h"

namespace flambeau::ops {

// What a parameter of a C++ function takes, for the check of signatures against schemas.
enum class Parameter : uint8_t {
  kTensor,
  kOptionalTensor,
  kTensors,  // Tensor[] and Tensor?[]
  kInt,      // int and SymInt
  kFloat,
  kBool,
  kNumber,
  kString,
  kInts,  // int[] and SymInt[], of any fixed size
  kFloats,
  kBools,
  kDType,
  kDevice,
  kLayout,
  kMemoryFormat,
  kValue,  // anything
};
struct ParameterType {
  Parameter kind;
  bool is_optional = false;
};

// A typed function whose type is forgotten, and the caller that knows it.
using AnyFunction = void (*)();
template <typename Result, typename... Given>
struct Boxed {
  Result (*caller)(AnyFunction function, Given... given) = nullptr;
  AnyFunction function = nullptr;

  Result operator()(Given... given) const { return caller(function, given...); }
  bool operator==(std::nullptr_t) const { return caller == nullptr; }
};

// The forms that boxing derives from typed functions. Arguments fit the schema, all of them in its order.
template <typename N>
using BoxedShape = Boxed<Infos<N>, std::span<const Value> /* arguments */>;
using BoxedKernel =
    Boxed<void, Context&, std::span<const Value> /* arguments */, std::span<Tensor> /* outputs */>;
struct Body;
using BoxedBody = Boxed<Body, std::span<const Value> /* arguments */, const Tensor& /* result */>;
using BoxedFunction = Boxed<std::vector<Value>, Context&, std::span<const Value> /* arguments */>;
struct Operator;
// For several operators that do the same to sparse tensors: it is told which of them it is.
using SparseFunction = std::vector<Value> (*)(Context&, const Operator& op, std::span<const Value> arguments);

enum class Kind : uint8_t {
  kKernel,         // a shape rule, and a kernel that fills results made by it
  kView,           // a shape rule alone: the result is the first tensor argument seen otherwise
  kFunction,       // a function that makes its own results: data decides their shapes, or they are no tensors
  kDecomposition,  // a function that only calls other operators
  kInPlace,        // made from `base`: the result is written to the first argument
  kOut,            // made from `base`: the results are written to the last arguments
  kViewCopy,       // made from the view `base`: a copy of its result
};

// When an operator is taken apart as a program is brought into core operators.
enum class Level : uint8_t {
  kNever,      // it stays: its decomposition, if any, is only how it is computed here
  kComposite,  // nothing but others to PyTorch: before views and writes are resolved, which its parts may be
  kCore,       // by PyTorch's table of decompositions, once there are no writes
};

// What is so of an operator, or is not. What takes a function to say is in facts.h.
enum class Trait : uint16_t {
  // Its kernel reads each element of its arguments before it writes the element of the result at the same
  // place: a result may take an argument's memory.
  kElementwise = 1U << 0,
  // It draws random numbers, or is otherwise not a function of its arguments.
  kRandom = 1U << 1,
  // It gives the same values for arguments in any order of memory, as elementwise ones do.
  kAnyLayout = 1U << 2,
  // It shows its argument's elements in their order with other sizes.
  kReshapes = 1U << 3,
  // PyTorch knows it as a view of its own, which it makes others of.
  kPrimitiveView = 1U << 4,
  // It reads what is known of a tensor without its data.
  kReadsGeometry = 1U << 5,
  // It converts, and would be another operator for a tensor of another type: tracing asserts the type.
  kConverts = 1U << 6,
  kAssertsNumber = 1U << 7,
  kAssertsMetadata = 1U << 8,
  // It gives its second argument, as large and of the type as the first.
  kReplaces = 1U << 9,
  // It gives elements of its arguments in other places and takes them in no other way than by their order:
  // the
  // integers of a quantized tensor may go through it, and mean the same behind it.
  kMovesElements = 1U << 10,
  // Of tensors quantized per tensor it gives what it gives of the real numbers they stand for, quantized
  // again
  // as the first of them where it is real.
  kThroughReals = 1U << 11,
  // A result that is given must be of the type that it would have, rather than of one it can be cast to.
  kExactOut = 1U << 12,
  // A result that is given may not lie where an argument does.
  kApartOut = 1U << 13,
};

struct Facts;

struct Operator {
  Operator();
  ~Operator();

  Kind kind = Kind::kFunction;
  uint16_t traits = 0;
  Schema schema;
  BoxedShape<Size> shape;
  BoxedShape<SymInt> symbolic_shape;
  BoxedKernel kernel;
  // Of an operator whose kernel does the same to each element: what that is (engines/body.h). The tensors
  // need no data. Throws what the kernel throws before it looks at any.
  BoxedBody body;
  BoxedFunction function;
  BoxedFunction quantized;      // called instead where an argument is quantized (quantized.h)
  BoxedFunction decomposition;  // also where there is a kernel
  // What a call does whose arguments are sparse, not all of them strided. Without it such a call is refused:
  // rules and kernels need not know that there are such tensors.
  SparseFunction sparse = nullptr;
  std::string_view alias;  // the operator it is another name of, whose arguments come in the same order
  Level level = Level::kNever;
  const Operator* base = nullptr;
  std::unique_ptr<Facts> own_facts;  // null for most
  // Of an operator that a user added.
  std::function<std::vector<Value>(Context& context, std::span<const Value> arguments)> user_function;
  std::function<Infos<Size>(std::span<const Value> arguments)> user_shape;
  // The parameters of the C++ functions, for tests.
  std::span<const ParameterType> shape_parameters;
  std::span<const ParameterType> parameters;
  std::span<const ParameterType> decomposition_parameters;

  std::string name() const { return schema.name.to_string(); }
  bool is(Trait trait) const { return (traits & static_cast<uint16_t>(trait)) != 0; }
  // Its own, or those of what it was made from, whose arguments it starts with.
  const Facts& facts() const;
  // One list of tensors, rather than single ones.
  bool returns_list() const;
};

}  // namespace flambeau::ops
