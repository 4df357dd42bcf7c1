#include "flambeau/nn/functional/call.h"

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/info.h"

namespace flambeau::nn {
namespace {

template <typename List>
Value list_value(const List& numbers) {
  Dims plain;
  for (const SymInt& number : numbers) {
    if (!number.is_literal()) return SymIntList(std::span<const SymInt>(numbers));
    plain.push_back(number.literal());
  }
  return plain;
}

}  // namespace

Number::Number(const SymInt& number) : value_(int_value(number)) {}

Value int_value(const SymInt& number) {
  return number.is_literal() ? Value(number.literal()) : Value(number);
}
Value ints_value(const Sizes& numbers) { return list_value(numbers); }
Value ints_value(const SymIntList& numbers) { return list_value(numbers); }
Value optional_int(const std::optional<SymInt>& number) { return number ? int_value(*number) : Value(); }

std::vector<Value> call_values(const std::source_location& where, std::string_view name,
                               const std::vector<Value>& positional, const KeywordArguments& keywords) {
  ops::Context& context = current();
  set_where(where);
  return ops::call_named(context, name, positional, keywords);
}

SymIntList sizes(const Tensor& x) { return shape_of(x).sizes; }

SymInt size(const Tensor& x, int64_t dim) {
  const SymIntList all = sizes(x);
  if (all.empty())
    throw Error(ErrorCode::kInvalidArgument, "a tensor without dimensions is asked for the size of one");
  const size_t place = ops::wrap_dim(dim, all.size());
  if (!all[place].is_literal() && observer() != nullptr) observer()->read_size(x, place);
  return all[place];
}

int64_t dim(const Tensor& x) { return static_cast<int64_t>(x.dim()); }

SymInt numel(const Tensor& x) {
  if (x.is_traced() && observer() != nullptr) observer()->read_size(x, std::nullopt);
  SymInt count = 1;
  for (const SymInt& size : sizes(x)) count *= size;
  return count;
}

}  // namespace flambeau::nn
