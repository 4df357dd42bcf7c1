// How an operator's file says what it is:
//
//   void define_cat(Library& library) {
//     library.define("aten::cat(Tensor[] tensors, int dim=0) -> Tensor")
//         .shape<cat_shape<Size>, cat_shape<SymInt>>()
//         .kernel<cat_kernel>();
//   }
#pragma once

#include "flambeau/ops/mechanism/boxing.h"
#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau::ops {

class Definition {
 public:
  explicit Definition(Operator& op) : op_(&op) {}

  // The rule for plain numbers, and the same one for symbols.
  template <auto kNumbers, auto kSymbols>
  Definition& shape() {
    op_->shape = boxing::boxed_shape(kNumbers);
    op_->symbolic_shape = boxing::boxed_symbolic_shape(&boxing::Cold<kSymbols>::call);
    op_->shape_parameters = boxing::parameter_types(kNumbers);
    return *this;
  }
  // The result is the first tensor argument, seen as the rule says.
  template <auto kNumbers, auto kSymbols>
  Definition& view() {
    op_->kind = Kind::kView;
    return shape<kNumbers, kSymbols>();
  }
  template <auto kFunction>
  Definition& kernel() {
    op_->kind = Kind::kKernel;
    op_->kernel = boxing::boxed_kernel(kFunction);
    op_->parameters = boxing::parameter_types(kFunction);
    return *this;
  }
  // A kernel by what it does to each element: the function takes the arguments and the result, which are not
  // looked into yet.
  template <auto kFunction>
  Definition& body() {
    op_->kind = Kind::kKernel;
    op_->body = boxing::boxed_body(kFunction);
    op_->kernel = boxing::boxed_body_kernel(kFunction);
    op_->parameters = boxing::body_parameter_types(kFunction);
    return *this;
  }
  template <auto kFunction>
  Definition& function() {
    op_->kind = Kind::kFunction;
    op_->function = boxing::boxed_function(kFunction);
    op_->parameters = boxing::parameter_types(kFunction);
    return *this;
  }
  // What a call does that has a sparse argument. The function takes what the operator takes, or is a
  // SparseFunction.
  template <auto kFunction>
  Definition& sparse() {
    if constexpr (std::is_same_v<decltype(kFunction), SparseFunction>) {
      op_->sparse = kFunction;
    } else {
      op_->sparse = [](Context& context, const Operator&, std::span<const Value> arguments) {
        return boxing::boxed_function(kFunction)(context, arguments);
      };
    }
    return *this;
  }
  // What a call with a quantized argument does; every call where there is no other way to run.
  template <auto kFunction>
  Definition& quantized() {
    op_->quantized = boxing::boxed_function(kFunction);
    if (op_->kernel == nullptr && op_->function == nullptr && op_->decomposition == nullptr &&
        op_->kind != Kind::kView && op_->alias.empty())
      return function<kFunction>();
    return *this;
  }
  // A function that calls other operators only, and is all there is to the operator unless it has another way
  // to run (kernel, view or function come first). Sizes may be symbols (parts.h). Beside another way to run
  // it may return std::optional, empty for a call that it does not take apart.
  template <auto kFunction>
  Definition& decomposition(Level level = Level::kNever) {
    if (op_->kernel == nullptr && op_->function == nullptr && op_->kind != Kind::kView)
      op_->kind = Kind::kDecomposition;
    op_->decomposition = boxing::boxed_decomposition(kFunction);
    op_->decomposition_parameters = boxing::parameter_types(kFunction);
    op_->level = level;
    return *this;
  }
  // The same, and what PyTorch makes the operator of, too: wherever it is composite.
  template <auto kFunction>
  Definition& composite() {
    return decomposition<kFunction>(Level::kComposite);
  }
  // The same, and what PyTorch's table of decompositions into core operators says.
  template <auto kFunction>
  Definition& core_decomposition() {
    return decomposition<kFunction>(Level::kCore);
  }
  // Another name of that operator: a call is one of it.
  Definition& alias(std::string_view name) {
    op_->alias = name;
    op_->level = Level::kComposite;
    return *this;
  }
  Definition& is(Trait trait, bool holds = true) {
    if (holds) op_->traits |= static_cast<uint16_t>(trait);
    return *this;
  }
  Definition& elementwise() { return is(Trait::kElementwise); }
  Definition& random() { return is(Trait::kRandom); }

  // ---- facts, see facts.h
  template <auto kFunction>
  Definition& work() {
    return fact<kFunction>(facts().work);
  }
  // The function's result says as what.
  template <auto kFunction>
  Definition& describe() {
    return fact<kFunction>(
        std::get<Description<boxing::Described<decltype(kFunction)>>>(facts().descriptions));
  }
  template <auto kFunction>
  Definition& inverse() {
    return fact<kFunction>(facts().inverse).is(Trait::kPrimitiveView);
  }
  template <auto kFunction>
  Definition& data_shape() {
    return fact<kFunction>(facts().data_shape);
  }
  Definition& also_writes(std::vector<std::string_view> arguments, std::string_view when) {
    facts().hidden_writes = std::move(arguments);
    facts().writes_when = when;
    return *this;
  }
  Definition& functional(std::string_view name) {
    facts().functional = name;
    return *this;
  }

 private:
  Facts& facts() {
    if (op_->own_facts == nullptr) op_->own_facts = std::make_unique<Facts>();
    return *op_->own_facts;
  }
  template <auto kFunction, typename Result, typename... Beside>
  Definition& fact(BoxedFact<Result, Beside...>& fact) {
    using Boxing = boxing::FactBoxing<Result, Beside...>;
    fact = Boxing::boxed(kFunction);
    facts().parameters.push_back(Boxing::parameters(kFunction));
    return *this;
  }

  Operator* op_;
};

}  // namespace flambeau::ops
