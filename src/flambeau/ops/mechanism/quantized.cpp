#include "flambeau/ops/mechanism/quantized.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/variants.h"
#include "flambeau/ops/quantized/numbers.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

const Tensor* first_quantized(std::span<const Value> arguments) {
  for (const Value& argument : arguments) {
    if (const Tensor* const tensor = argument.get_if<Tensor>()) {
      if (tensor->defined() && is_quantized(*tensor)) return tensor;
    } else if (const auto* const list = argument.get_if<TensorList>()) {
      for (const Tensor& item : *list) {
        if (item.defined() && is_quantized(item)) return &item;
      }
    }
  }
  return nullptr;
}

// The same memory as elements of another type, of the same size.
Tensor retyped(const Tensor& tensor, DType dtype) {
  if (!tensor.is_traced()) return tensor.with_geometry(tensor.geometry(), dtype);
  const Info<SymInt> info = symbolic_info(tensor);
  Tensor result = Tensor::symbolic(dtype, {info.sizes, info.strides, info.offset}, tensor.device());
  result.set_storage(tensor.storage(), 0);
  return result;
}

[[noreturn]] void refuse(const Tensor& tensor) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("the operator takes no quantized tensors, {} is given", tensor.summary()),
              "dequantize it first: aten::dequantize.self");
}

bool is_same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const Tensor left = a.to_contiguous();
  const Tensor right = b.to_contiguous();
  const ByteSpan x = left.contiguous_bytes();
  const ByteSpan y = right.contiguous_bytes();
  return x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0;
}

// Which channels a view shows, and along which of its dimensions.
struct Channels {
  std::optional<size_t> dim;
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 1;
};

// The channel of an element follows from its place in memory: the rest of the distance from the first
// element, divided by the period at which channels repeat, tells it. Nothing where the view mixes them.
std::optional<Channels> channels_of(const Tensor& base, size_t axis, const Info<Size>& view) {
  const int64_t channels = base.sizes()[axis];
  const int64_t stride = base.strides()[axis];
  if (channels == 1) return Channels{};
  if (stride <= 0) return {};
  int64_t period = std::numeric_limits<int64_t>::max();
  Size below = 0;
  for (size_t d = 0; d < base.dim(); ++d) {
    if (d == axis || base.sizes()[d] <= 1) continue;
    if (base.strides()[d] > stride) {
      period = std::min(period, base.strides()[d]);
    } else {
      below += Size(base.strides()[d]) * (base.sizes()[d] - 1);
    }
  }
  if (below >= stride || Size(stride) * channels > period) return {};
  for (size_t d = 0; d < base.dim(); ++d) {
    if (base.sizes()[d] > 1 && base.strides()[d] > stride && base.strides()[d] % period != 0) return {};
  }
  const int64_t start = (view.offset.value() - base.offset()) % period;
  if (start < 0) return {};
  Channels found{.dim = {}, .first = start / stride, .step = 1, .count = 1};
  Size rest = start % stride;
  for (size_t d = 0; d < view.dim(); ++d) {
    if (view.sizes[d] <= 1) continue;
    const int64_t step = view.strides[d].value() % period;
    if (step < 0) return {};
    if (step < stride) {
      rest += Size(step) * (view.sizes[d] - 1);
      continue;
    }
    if (found.dim || step % stride != 0) return {};
    found = {.dim = d, .first = found.first, .step = step / stride, .count = view.sizes[d].value()};
  }
  if (rest >= stride || Size(found.first) + Size(found.step) * (found.count - 1) >= channels) return {};
  return found;
}

Tensor part(const Tensor& numbers, const Channels& channels) {
  const int64_t stride = numbers.strides()[0];
  return numbers
      .with_geometry({.sizes = {channels.count},
                      .strides = {stride * channels.step},
                      .offset = numbers.offset() + stride * channels.first})
      .to_contiguous();
}

Quantizer viewed_quantizer(const Tensor& base, const Info<Size>& view) {
  Quantizer quantizer = quantizer_of(base);
  if (!quantizer.is_per_channel()) return quantizer;
  const auto axis = static_cast<size_t>(quantizer.axis);
  if (view.sizes == base.sizes() && view.strides == base.strides()) return quantizer;
  std::optional<Channels> channels = channels_of(base, axis, view);
  if (!channels) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the view of {}, quantized per channel of dimension {}, would mix channels",
                            base.summary(), axis),
                "dequantize it first: aten::dequantize.self");
  }
  const bool may_stay = view.dim() == base.dim() || (base.sizes()[axis] == 1 && axis < view.dim());
  if (!channels->dim && may_stay && view.sizes[axis] == 1) channels->dim = axis;
  const Tensor scales = part(quantizer.scales, *channels);
  const Tensor zero_points = part(quantizer.zero_points, *channels);
  if (channels->dim) {
    quantizer.scales = scales;
    quantizer.zero_points = zero_points;
    quantizer.axis = static_cast<int64_t>(*channels->dim);
    return quantizer;
  }
  if (quantizer.scheme == Quantizer::Scheme::kPerChannelAffineFloatQParams) refuse(base);
  return {.scale = item(scales).to_double(), .zero_point = item(zero_points).to_int()};
}

std::vector<Value> run_view(const Operator& op, std::span<const Value> arguments, const Tensor& base) {
  TensorList views;
  for (const Info<Size>& info : op.shape(arguments)) {
    if (info.dtype != base.dtype()) refuse(base);
    if (dtype_info(base.dtype()).per_byte > 1 && !(info.sizes == base.sizes())) refuse(base);
    views.push_back(Tensor::quantized(viewed(base, info), viewed_quantizer(base, info)));
  }
  std::vector<Value> results;
  if (op.returns_list()) {
    results.emplace_back(std::move(views));
  } else {
    for (Tensor& view : views) results.emplace_back(std::move(view));
  }
  return results;
}

// The operator on what stands for quantized tensors: written down where a program is traced.
std::vector<Value> run_on_parts(Context& context, const Operator& op, std::span<const Value> arguments,
                                const Tensor& first) {
  return lacks_elements(first) ? call(context, op, arguments) : execute(context, op, arguments);
}

// The integers go through the operator, and come out with the quantizer they had.
std::vector<Value> move_integers(Context& context, const Operator& op, std::span<const Value> arguments,
                                 const Tensor& first) {
  const Quantizer& quantizer = quantizer_of(first);
  const auto integers = [&](const Tensor& tensor) {
    if (!tensor.defined() || !is_quantized(tensor)) return tensor;
    if (tensor.dtype() != first.dtype() || !is_same_quantizer(quantizer_of(tensor), quantizer))
      refuse(tensor);
    return integers_of(tensor);
  };
  std::vector<Value> plain(arguments.begin(), arguments.end());
  for (Value& value : plain) {
    if (auto* const tensor = value.get_if<Tensor>()) {
      *tensor = integers(*tensor);
    } else if (auto* const list = value.get_if<TensorList>()) {
      for (Tensor& item : *list) item = integers(item);
    }
  }
  std::vector<Value> results = run_on_parts(context, op, plain, first);
  const auto restore = [&](Tensor& tensor) {
    if (tensor.dtype() == integer_dtype(first.dtype()))
      tensor = quantized_over(tensor, first.dtype(), per_tensor(first));
  };
  for (Value& result : results) {
    if (auto* const list = result.get_if<TensorList>()) {
      for (Tensor& item : *list) restore(item);
    } else if (auto* const tensor = result.get_if<Tensor>()) {
      restore(*tensor);
    }
  }
  return results;
}

// Of 8-bit integers there are but 256: a function of one tensor is called for these, and is a table then.
std::optional<Tensor> by_table(Context& context, const Operator& op, std::span<const Value> arguments,
                               const Tensor& first) {
  if (lacks_elements(first)) return {};
  const Quantizer& quantizer = quantizer_of(first);
  const bool is_unary = op.is(Trait::kElementwise) && arguments[0].get_if<Tensor>() == &first &&
                        std::ranges::none_of(arguments.subspan(1), [](const Value& argument) {
                          return argument.is_tensor() || argument.is<TensorList>();
                        });
  if (!is_unary || first.element_size() != 1 || first.element_count() <= 256 || quantizer.is_per_channel())
    return {};
  Tensor all = context.allocate(DType::kUInt8, Dims{256});
  for (int i = 0; i < 256; ++i) all.mutable_data()[i] = static_cast<uint8_t>(i);
  std::vector<Value> few(arguments.begin(), arguments.end());
  few[0] = quantized_over(all, first.dtype(), quantizer);
  const Tensor table = execute_quantized(context, op, few).at(0).tensor();
  if (!is_quantized(table)) return {};
  return mapped(context, first, table);
}

std::vector<Value> go_through_reals(Context& context, const Operator& op, std::span<const Value> arguments,
                                    const Tensor& first) {
  if (std::optional<Tensor> result = by_table(context, op, arguments, first)) {
    std::vector<Value> results;
    results.emplace_back(std::move(*result));
    return results;
  }
  std::vector<Value> reals(arguments.begin(), arguments.end());
  for (Value& value : reals) {
    if (auto* const tensor = value.get_if<Tensor>(); tensor != nullptr && is_quantized(*tensor))
      *tensor = dequantized(context, *tensor);
  }
  std::vector<Value> results = run_on_parts(context, op, reals, first);
  for (Value& result : results) {
    auto* const tensor = result.get_if<Tensor>();
    if (tensor != nullptr && tensor->dtype() == DType::kFloat32)
      *tensor = quantize(context, *tensor, first.dtype(), per_tensor(first));
  }
  return results;
}

}  // namespace

bool takes_quantized(std::span<const Value> arguments) { return first_quantized(arguments) != nullptr; }

const Quantizer& quantizer_of(const Tensor& tensor) {
  if (const Quantizer* const quantizer = tensor.quantizer()) return *quantizer;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a quantized tensor is expected, not {}", tensor.summary()),
              "quantize it first: aten::quantize_per_tensor");
}

bool is_same_quantizer(const Quantizer& a, const Quantizer& b) {
  if (a.scheme != b.scheme) return false;
  if (!a.is_per_channel()) return a.scale == b.scale && a.zero_point == b.zero_point;
  return a.axis == b.axis && is_same_tensor(a.scales, b.scales) &&
         is_same_tensor(a.zero_points, b.zero_points);
}

DType integer_dtype(DType quantized) {
  if (quantized == DType::kQInt8) return DType::kInt8;
  if (quantized == DType::kQInt32) return DType::kInt32;
  return DType::kUInt8;
}

Tensor integers_of(const Tensor& quantized) { return retyped(quantized, integer_dtype(quantized.dtype())); }

Tensor quantized_over(const Tensor& integers, DType dtype, const Quantizer& quantizer) {
  return Tensor::quantized(retyped(integers, dtype), quantizer);
}

bool is_for_quantized(const Operator& op) {
  return op.quantized.caller != nullptr && op.quantized.caller == op.function.caller &&
         op.quantized.function == op.function.function;
}

bool lacks_elements(const Tensor& tensor) {
  return tensor.is_traced() ||
         (tensor.storage() != nullptr && tensor.storage()->is_meta() && !tensor.device().is_meta());
}

void copy_quantized_or_plain(Context& context, const Tensor& from, const Tensor& to) {
  const auto copy = [&](const Tensor& source, const Tensor& target) {
    if (!lacks_elements(source) && !lacks_elements(target)) return copy_into(context, source, target);
    call(context, "aten::copy_", target, source);
  };
  if (!is_quantized(from) && !is_quantized(to)) return copy(from, to);
  if (from.dtype() != to.dtype() || dtype_info(to.dtype()).per_byte > 1 ||
      !is_same_quantizer(quantizer_of(from), quantizer_of(to))) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("{} of one quantizer cannot be written to {} of another", from.summary(), to.summary()),
        "use the form of the operator that gives a new tensor");
  }
  copy(integers_of(from), integers_of(to));
}

std::vector<Value> execute_quantized(Context& context, const Operator& op, std::span<const Value> arguments) {
  const Tensor& first = *first_quantized(arguments);
  if (op.quantized != nullptr) return op.quantized(context, arguments);
  if (op.base != nullptr) return execute_variant(context, op, arguments);
  if (op.is(Trait::kMovesElements)) return move_integers(context, op, arguments, first);
  if (op.is(Trait::kThroughReals)) return go_through_reals(context, op, arguments, first);
  if (op.is(Trait::kReadsGeometry)) return op.function(context, arguments);
  if (op.level == Level::kComposite) return take_apart(context, op, arguments);
  if (op.kind == Kind::kView && lacks_elements(first) && !quantizer_of(first).is_per_channel())
    return move_integers(context, op, arguments, first);
  if (op.kind == Kind::kView) return run_view(op, arguments, first);
  refuse(first);
}

}  // namespace flambeau::ops
