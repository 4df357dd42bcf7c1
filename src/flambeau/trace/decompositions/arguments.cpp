#include "flambeau/trace/decompositions/arguments.h"

#include <algorithm>

#include "flambeau/ops/view/rules.h"
#include "flambeau/symbolic/build.h"

namespace flambeau::trace {
SymInt to_sym(const Value& value) {
  if (const SymInt* const number = value.get_if<SymInt>()) return *number;
  return value.get<int64_t>();
}

SymIntList to_syms(const Value& value) {
  if (const SymIntList* const list = value.get_if<SymIntList>()) return *list;
  SymIntList list;
  for (const int64_t number : value.get<Dims>()) list.push_back(number);
  return list;
}

SymIntList sizes_of(const Tensor& tensor) { return symbolic_info(tensor).sizes; }

int64_t rank_of(const Tensor& tensor) { return static_cast<int64_t>(sizes_of(tensor).size()); }

SymInt size_of(const Tensor& tensor, int64_t dim) {
  const SymIntList sizes = sizes_of(tensor);
  return sizes[static_cast<size_t>(wrapped_dim(dim, static_cast<int64_t>(sizes.size())))];
}

SymInt count_of(const Tensor& tensor) { return symbolic_info(tensor).element_count(); }

// By the look of the expressions: nothing is asked, and nobody hears of products that the model does not
// need.
bool is_row_major(const Tensor& tensor) {
  const ops::Info<SymInt> info = symbolic_info(tensor);
  symbolic::Expr expected(1);
  for (size_t d = info.sizes.size(); d-- > 0;) {
    const SymInt& size = info.sizes[d];
    if (size.is_literal() && size.literal() == 0) return true;
    if (size.is_literal() && size.literal() == 1) continue;
    if (!(info.strides[d].expr() == expected)) return false;
    expected = symbolic::mul(expected, size.expr());
  }
  return true;
}

Quietly::Quietly(ops::Context& context) {
  auto* const interceptor = dynamic_cast<TakesApart*>(context.interceptor);
  if (interceptor == nullptr) return;
  flag_ = &interceptor->is_quiet();
  before_ = std::exchange(*flag_, true);
}

Quietly::~Quietly() {
  if (flag_ != nullptr) *flag_ = before_;
}

bool can_view(ops::Context& context, const Tensor& tensor, const SymIntList& sizes) {
  const Quietly quietly(context);
  return ops::view_strides(symbolic_info(tensor), sizes).has_value();
}

SymIntList inserted(const SymIntList& list, size_t place, const SymInt& number) {
  SymIntList result;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i == place) result.push_back(number);
    if (i < list.size()) result.push_back(list[i]);
  }
  return result;
}

int64_t wrapped_dim(int64_t dim, int64_t rank) {
  return static_cast<int64_t>(ops::wrap_dim(dim, static_cast<size_t>(rank)));
}

std::vector<int64_t> Arguments::dims(size_t index, int64_t rank) const {
  std::vector<int64_t> dims;
  if (has(index)) {
    const Value& value = values_[index];
    if (const int64_t* const one = value.get_if<int64_t>()) {
      dims.push_back(wrapped_dim(*one, rank));
    } else {
      for (const int64_t dim : value.get<Dims>()) dims.push_back(wrapped_dim(dim, rank));
    }
  }
  if (dims.empty()) {
    for (int64_t d = 0; d < rank; ++d) dims.push_back(d);
  }
  return dims;
}

Value integers(const std::vector<int64_t>& numbers) { return Dims(std::span<const int64_t>(numbers)); }

Value numbers(const SymIntList& list) { return list; }

Tensor add(ops::Context& context, const Value& a, const Value& b) {
  return call(context, "aten::add.Tensor", a, b);
}
Tensor sub(ops::Context& context, const Value& a, const Value& b) {
  return call(context, "aten::sub.Tensor", a, b);
}
Tensor mul(ops::Context& context, const Value& a, const Value& b) {
  return call(context, "aten::mul.Tensor", a, b);
}
Tensor div(ops::Context& context, const Value& a, const Value& b) {
  return call(context, "aten::div.Tensor", a, b);
}

}  // namespace flambeau::trace
