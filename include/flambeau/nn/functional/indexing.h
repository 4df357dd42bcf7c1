// Python's x[...]: at(x, {Slice(), 0, Slice(1, 3)}) is x[:, 0, 1:3]. The operators are those that Python's
// brackets call, one after the other.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

// start:end:step; what is left out is all.
struct Slice {
  Slice(std::optional<SymInt> from = {}, std::optional<SymInt> to = {}, const SymInt& by = 1)  // NOLINT
      : start(std::move(from)), end(std::move(to)), step(by) {}
  std::optional<SymInt> start, end;
  SymInt step;
};
// All the dimensions that the others leave.
struct EllipsisTag {};
inline constexpr EllipsisTag Ellipsis;  // NOLINT(readability-identifier-naming): Python's name
// A new dimension of size 1.
struct NewAxisTag {};
inline constexpr NewAxisTag NewAxis;  // NOLINT(readability-identifier-naming)

class Index {
 public:
  Index(int number) : data_(SymInt(number)) {}      // NOLINT(google-explicit-constructor): it is any of them
  Index(int64_t number) : data_(SymInt(number)) {}  // NOLINT
  Index(SymInt number) : data_(std::move(number)) {}  // NOLINT
  Index(Slice slice) : data_(std::move(slice)) {}     // NOLINT
  Index(EllipsisTag tag) : data_(tag) {}              // NOLINT
  Index(NewAxisTag tag) : data_(tag) {}               // NOLINT
  Index(Tensor tensor) : data_(std::move(tensor)) {}  // NOLINT: of integers, or a mask

  const auto& data() const { return data_; }

 private:
  std::variant<SymInt, Slice, EllipsisTag, NewAxisTag, Tensor> data_;
};

// Throws Error(kInvalidArgument) for more indices than dimensions, and for a second Ellipsis.
Tensor at(Input x, const std::vector<Index>& indices);

// A slice of one dimension, in brackets that name those before it, x[:, start:end], or, for one counted from
// the end, those behind it: x[..., start:end].
Tensor slice(Input x, int64_t dim, const std::optional<SymInt>& start = {},
             const std::optional<SymInt>& end = {}, const SymInt& step = 1);

}  // namespace flambeau::nn
