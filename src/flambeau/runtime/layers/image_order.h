// Keeps images with their channels last between convolutions, where the backend is fastest so, while the
// program believes them in the order it was written for. Only operators that do not care see such a tensor;
// for all others it is put back.
#pragma once

#include <optional>
#include <unordered_map>

#include "flambeau/backends/backend.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/runtime/code.h"

namespace flambeau::runtime {

class ImageOrder {
 public:
  // Whether the program may be treated so: nothing writes through a view.
  ImageOrder(const Code& code, const backends::Backend& backend);

  // The operator gives the same values for arguments in any order of memory.
  static bool is_indifferent(const ops::Operator& op);
  // A convolution of images whose result is better with the channels last.
  bool starts_here(const ops::Operator& op, std::span<const Value> arguments) const;

  bool is_changed(const Tensor& tensor) const { return strides_.contains(tensor.storage().get()); }
  bool has_changed(std::span<const Value> arguments) const;
  // The tensor lies otherwise than the program believes, namely with these strides.
  void note(const Tensor& tensor, const Dims& believed);
  // As the program believes it. No data there: for shape rules alone.
  Tensor believed(const Tensor& tensor) const;
  std::vector<Value> believed(std::span<const Value> arguments) const;

 private:
  const backends::Backend& backend_;
  bool is_allowed_ = true;
  std::unordered_map<const Storage*, Dims> strides_;
};

}  // namespace flambeau::runtime
