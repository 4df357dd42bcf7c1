// What operators that are made of others are written with. They are called while a program runs and while one
// is traced, when sizes may be symbols: so they ask for sizes here, and take SymInt and SymInt lists for the
// numbers that their schema calls SymInt.
#pragma once

#include <optional>
#include <vector>

#include "flambeau/ops/mechanism/call.h"

namespace flambeau::ops {

// Of a tensor of either kind.
Info<SymInt> symbolic_info(const Tensor& tensor);
SymIntList sizes_of(const Tensor& tensor);
SymInt size_of(const Tensor& tensor, int64_t dim);
int64_t rank_of(const Tensor& tensor);
SymInt count_of(const Tensor& tensor);
// By the look of the expressions: nothing is asked.
bool is_row_major(const Tensor& tensor);
bool can_view(Context& context, const Tensor& tensor, const SymIntList& sizes);

// From 0 on; counted from the end when negative.
int64_t wrapped_dim(int64_t dim, int64_t rank);
// So each of them; all dimensions where none are given.
Dims wrapped_dims(std::span<const Size> dims, int64_t rank);
// 0, 1, ... up to the rank.
Dims all_dims(int64_t rank);
// The same with one more in front of that place.
SymIntList inserted(SymIntList list, int64_t place, const SymInt& number);
// Is it that number without a question?
bool is_literally(const SymInt& size, int64_t number);

// The number that it is in this trace, and has to be from then on.
int64_t fixed(const SymInt& size);

// Makes the interceptor of a context quiet while it lives.
class Quietly {
 public:
  explicit Quietly(Context& context);
  ~Quietly();
  Quietly(const Quietly&) = delete;
  Quietly& operator=(const Quietly&) = delete;

 private:
  bool* flag_ = nullptr;
  bool before_ = false;
};

// Calls of the operators that most are made of.
namespace parts {

// The operators of that name with .Tensor.
Tensor add(Context& context, const Value& a, const Value& b);
Tensor sub(Context& context, const Value& a, const Value& b);
Tensor mul(Context& context, const Value& a, const Value& b);
Tensor div(Context& context, const Value& a, const Value& b);

// A tensor without sizes that holds the number, of the type and device of another, as where() wants it.
Tensor scalar(Context& context, const Value& number, const Tensor& like);
Tensor full(Context& context, const SymIntList& sizes, const Value& number, const Tensor& like);
Tensor empty(Context& context, const SymIntList& sizes, const Tensor& like);
// The numbers from start to end, step by step.
Tensor arange(Context& context, const Value& start, const Value& end, std::optional<DType> dtype = {},
              Device device = {});
Tensor where(Context& context, const Tensor& condition, const Tensor& yes, const Tensor& no);
Tensor to_dtype(Context& context, const Tensor& tensor, DType dtype);
// In a row-major copy.
Tensor packed(Context& context, const Tensor& tensor);
// The first of several results.
template <typename... Arguments>
Tensor first_of(Context& context, std::string_view name, const Arguments&... arguments) {
  return call<std::vector<Value>>(context, name, arguments...).at(0).tensor();
}
// As PyTorch's Reduction numbers them.
enum Reduction : uint8_t { kNone = 0, kMean = 1, kSum = 2 };
Tensor reduce(Context& context, const Tensor& loss, int64_t reduction);

}  // namespace parts
}  // namespace flambeau::ops
