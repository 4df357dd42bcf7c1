// How an operator's file says what it is:
//
//   void define_cat(Library& library) {
//     library.define("aten::cat(Tensor[] tensors, int dim=0) -> Tensor")
//         .shape<cat_shape<Size>, cat_shape<SymInt>>()
//         .kernel<cat_kernel>();
//   }
#pragma once

#include "flambeau/ops/boxing.h"
#include "flambeau/ops/operator.h"

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
  template <auto kFunction>
  Definition& function() {
    op_->kind = Kind::kFunction;
    op_->function = boxing::boxed_function(kFunction);
    op_->parameters = boxing::parameter_types(kFunction);
    return *this;
  }
  // Calls other operators only. Beside a kernel it is another way to the same result.
  template <auto kFunction>
  Definition& decomposition() {
    if (op_->kernel == nullptr) {
      op_->kind = Kind::kDecomposition;
      op_->parameters = boxing::parameter_types(kFunction);
    }
    op_->decomposition = boxing::boxed_function(kFunction);
    return *this;
  }
  Definition& elementwise() {
    op_->is_elementwise = true;
    return *this;
  }
  Definition& random() {
    op_->is_random = true;
    return *this;
  }

 private:
  Operator* op_;
};

}  // namespace flambeau::ops
