// Attention as products and softmax. On a CPU PyTorch takes the flash kernel where it can, whose
// decomposition also lays the result out as that kernel would.
#include <cmath>
#include <limits>

#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

// A mask of truths as one to add: 0 where it holds, -inf elsewhere.
Tensor additive_mask(Context& c, const Tensor& mask, DType dtype) {
  if (mask.dtype() != DType::kBool) return mask;
  const Tensor infinity = call_with(c, "aten::scalar_tensor", {-std::numeric_limits<double>::infinity()},
                                    {{"dtype", dtype}, {"device", mask.device()}});
  return call(c, "aten::where.self", mask, parts::scalar(c, 0.0, dtype, mask.device()), infinity);
}

Tensor repeated_heads(Context& c, const Tensor& tensor, const Tensor& query) {
  const SymInt times = floor_div(size_of(query, -3), size_of(tensor, -3));
  return call(c, "aten::repeat_interleave.self_int", tensor, times, -3);
}

Tensor attend(Context& c, const Arguments& given, bool is_flash) {
  const Tensor& query = given.tensor(0);
  Tensor key = given.tensor(1);
  Tensor value = given.tensor(2);
  const SymInt width = size_of(query, -1);
  const double scale = given.has(6) ? given.real(6) : 1.0 / std::sqrt(static_cast<double>(width.literal()));
  const double root = std::sqrt(scale);
  const bool is_negative = scale < 0;
  std::optional<Tensor> mask;
  if (given.has(3)) mask = additive_mask(c, given.tensor(3), query.dtype());
  const Tensor scaled = call(c, "aten::mul.Scalar", query, is_negative ? -std::sqrt(-scale) : root);
  if (given.flag(5)) {
    const Tensor all = call_with(c, "aten::ones", {SymIntList{size_of(query, -2), size_of(key, -2)}},
                                 {{"dtype", DType::kBool},
                                  {"layout", Layout::kStrided},
                                  {"device", query.device()},
                                  {"pin_memory", false}});
    mask = additive_mask(c, call(c, "aten::tril", all), query.dtype());
  }
  if (given.size() > 7 && given.flag(7)) {
    key = repeated_heads(c, key, query);
    value = repeated_heads(c, value, query);
  }
  const Tensor turned = call(c, "aten::transpose.int", key, -2, -1);
  Tensor weights = call(c, "aten::matmul", scaled, call(c, "aten::mul.Scalar", turned, root));
  if (mask) weights = call(c, "aten::add.Tensor", weights, *mask);
  weights = call(c, "aten::_safe_softmax", weights, -1);
  if (given.real(4) > 0) weights = call(c, "aten::dropout", weights, given[4], true);
  const Tensor output = call(c, "aten::matmul", weights, value);
  if (!is_flash) return output;
  const Tensor packed = parts::packed(c, call(c, "aten::permute", output, Dims{2, 0, 1, 3}));
  return call(c, "aten::permute", packed, Dims{1, 2, 0, 3});
}

bool is_literal(const SymInt& a, const SymInt& b) {
  return a.is_literal() && b.is_literal() && a.literal() == b.literal();
}

// What the flash kernel of a CPU takes.
bool can_flash(const Arguments& given) {
  const Tensor& query = given.tensor(0);
  const DType dtype = query.dtype();
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64 && dtype != DType::kBFloat16 &&
      dtype != DType::kFloat16)
    return false;
  for (const size_t i : {0, 1, 2}) {
    if (rank_of(given.tensor(i)) != 4) return false;
    const ops::Info<SymInt> info = symbolic_info(given.tensor(i));
    if (!(info.strides[3] == SymInt(1))) return false;
  }
  if (!is_literal(size_of(query, 3), size_of(given.tensor(1), 3)) ||
      !is_literal(size_of(query, 3), size_of(given.tensor(2), 3)))
    return false;
  if (given.size() > 7 && given.flag(7)) return false;
  if (given.has(3)) {
    const int64_t rank = rank_of(given.tensor(3));
    if ((rank != 2 && rank != 4) || given.tensor(3).requires_grad()) return false;
  }
  return given.real(4) == 0;
}

}  // namespace

void add_attention(DecompositionTable& table) {
  table.composite("aten::scaled_dot_product_attention", [](Context& c, const Arguments& given) {
    return gives(attend(c, given, can_flash(given)));
  });
  table.functional("aten::_safe_softmax", [](Context& c, const Arguments& given) {
    const Tensor& x = given.tensor(0);
    Tensor result = call(c, "aten::softmax.int", x, given[1], given[2]);
    const Tensor is_masked = call(c, "aten::eq.Scalar", x, -std::numeric_limits<double>::infinity());
    const Tensor is_empty = call(c, "aten::all.dim", is_masked, given[1], true);
    return gives(parts::where(c, is_empty, call(c, "aten::zeros_like", result), result));
  });
  const auto triangle = [](bool is_lower) {
    return [is_lower](Context& c, const Arguments& given) {
      const Tensor& x = given.tensor(0);
      const auto line = [&](int64_t dim) {
        const Tensor places = parts::arange(c, 0, size_of(x, dim), {}, x.device());
        return call(c, "aten::unsqueeze", places, dim == -1 ? -2 : -1);
      };
      const Tensor columns = line(-1);
      const Tensor far = call(c, "aten::sub.Tensor", columns, line(-2));
      const Tensor is_in = call(c, is_lower ? "aten::le.Scalar" : "aten::ge.Scalar", far, given[1]);
      if (x.dtype() == DType::kBool) return gives(call(c, "aten::logical_and", is_in, x));
      return gives(parts::where(c, is_in, x, parts::scalar(c, 0, x.dtype(), x.device())));
    };
  };
  table.functional("aten::tril", triangle(true));
  table.functional("aten::triu", triangle(false));
}

}  // namespace flambeau::trace
