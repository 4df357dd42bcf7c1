// Tensors whose elements follow from their place: arange, linspace, logspace, eye, indices of triangles.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using OptionalDType = std::optional<DType>;
using OptionalLayout = std::optional<Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;

// Element i of a row-major result is f(i), computed as T.
template <typename T, typename F>
void fill_by_place(const Tensor& out, DType row, F&& f) {
  std::array<T, 512> block;
  const int64_t count = out.element_count();
  const auto step = static_cast<int64_t>(out.element_size());
  uint8_t* const to = out.mutable_data();
  WorkPoller poll;
  for (int64_t done = 0; done < count; done += std::ssize(block)) {
    poll(block.size());
    const int64_t length = std::min<int64_t>(std::ssize(block), count - done);
    for (int64_t i = 0; i < length; ++i) block[static_cast<size_t>(i)] = static_cast<T>(f(done + i));
    store_packed(row, block.data(), static_cast<size_t>(length), out.dtype(), to + done * step, step);
  }
}

// ---- arange
bool is_whole(const Value& value) { return value.is<int64_t>() || value.is<bool>() || value.is<SymInt>(); }

int64_t arange_count(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  const double first = start.to_double();
  const double last = end.to_double();
  const double by = step.to_double();
  if (!(by > 0 || by < 0)) fail_view("step must be nonzero");
  if (!std::isfinite(first) || !std::isfinite(last)) {
    fail_view(fmt::format("unsupported range: {} -> {}", first, last));
  }
  if (by > 0 ? last < first : last > first) {
    fail_view("upper bound and lower bound inconsistent with step sign");
  }
  double count = 0;
  if (dtype == DType::kInt64) {
    const __int128 from = start.to_int();
    const __int128 to = end.to_int();
    const __int128 whole_step = step.to_int();
    if (whole_step == 0) fail_view("step must be nonzero");
    const __int128 steps = (to - from + whole_step - (whole_step > 0 ? 1 : -1)) / whole_step;
    count = static_cast<double>(steps);
  } else {
    count = std::ceil((last - first) / by);
  }
  if (!(count >= 0 && count < 0x1p63)) fail_view("invalid size, possible overflow?");
  return static_cast<int64_t>(count);
}

SymInt symbol_of(const Value& value) {
  return value.is<SymInt>() ? value.get<SymInt>() : SymInt(value.scalar().to_int());
}

template <typename N>
Info<N> arange_info(const Value& start, const Value& end, const Value& step, OptionalDType dtype,
                    OptionalDevice device) {
  const bool all_whole = is_whole(start) && is_whole(end) && is_whole(step);
  const DType result = dtype.value_or(all_whole ? DType::kInt64 : kDefaultFloat);
  N count = 0;
  if (start.is<SymInt>() || end.is<SymInt>() || step.is<SymInt>()) {
    if constexpr (std::is_same_v<N, SymInt>) {
      if (!all_whole) fail_view("arange over symbols takes whole numbers only");
      const SymInt by = symbol_of(step);
      // Rounded up, whichever way the range goes.
      count = -floor_div(symbol_of(start) - symbol_of(end), by);
    }
  } else {
    count = arange_count(start.scalar(), end.scalar(), step.scalar(), result);
  }
  ShortList<N> sizes;
  sizes.push_back(count);
  return contiguous(result, std::move(sizes), device.value_or(Device{}));
}

void arange_fill(const Scalar& start, const Scalar& step, const Tensor& out) {
  const DType dtype = out.dtype();
  if (dtype == DType::kBool || is_complex(dtype)) fail_dtype("arange_cpu", dtype);
  if (!is_floating(dtype)) {
    const auto first = static_cast<uint64_t>(start.to_int());
    const auto by = static_cast<uint64_t>(step.to_int());
    fill_by_place<int64_t>(out, DType::kInt64,
                           [&](int64_t i) { return first + by * static_cast<uint64_t>(i); });
  } else if (dtype == DType::kFloat64 || dtype == DType::kFloat32) {
    const double first = start.to_double();
    const double by = step.to_double();
    fill_by_place<double>(out, DType::kFloat64,
                          [&](int64_t i) { return first + by * static_cast<double>(i); });
  } else {
    const auto first = static_cast<float>(start.to_double());
    const auto by = static_cast<float>(step.to_double());
    fill_by_place<float>(out, DType::kFloat32, [&](int64_t i) { return first + by * static_cast<float>(i); });
  }
}

template <typename N>
Info<N> arange_shape(const Value& end, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                     OptionalBool) {
  return arange_info<N>(0, end, 1, dtype, device);
}
void arange_kernel(Scalar, OptionalDType, OptionalLayout, OptionalDevice, OptionalBool, Tensor& out) {
  arange_fill(0, 1, out);
}

template <typename N>
Info<N> arange_start_shape(const Value& start, const Value& end, OptionalDType dtype, OptionalLayout,
                           OptionalDevice device, OptionalBool) {
  return arange_info<N>(start, end, 1, dtype, device);
}
void arange_start_kernel(Scalar start, Scalar, OptionalDType, OptionalLayout, OptionalDevice, OptionalBool,
                         Tensor& out) {
  arange_fill(start, 1, out);
}

template <typename N>
Info<N> arange_step_shape(const Value& start, const Value& end, const Value& step, OptionalDType dtype,
                          OptionalLayout, OptionalDevice device, OptionalBool) {
  return arange_info<N>(start, end, step, dtype, device);
}
void arange_step_kernel(Scalar start, Scalar, Scalar step, OptionalDType, OptionalLayout, OptionalDevice,
                        OptionalBool, Tensor& out) {
  arange_fill(start, step, out);
}

// ---- linspace and logspace
template <typename N>
Info<N> steps_info(bool has_complex, Size steps, OptionalDType dtype, OptionalDevice device) {
  if (steps < 0) fail_view("number of steps must be non-negative");
  ShortList<N> sizes;
  sizes.push_back(steps);
  return contiguous(dtype.value_or(has_complex ? kDefaultComplex : kDefaultFloat), std::move(sizes),
                    device.value_or(Device{}));
}

// From both ends, as PyTorch does it, so that the last one is exact.
template <typename T, typename F>
void fill_steps(const Tensor& out, DType row, T start, T end, F&& finish) {
  const int64_t steps = out.element_count();
  if (steps == 1) {
    fill_by_place<T>(out, row, [&](int64_t) { return finish(start); });
    return;
  }
  const T step = (end - start) / T(steps - 1);
  fill_by_place<T>(out, row, [&](int64_t i) {
    return finish(i < steps / 2 ? start + step * T(i) : end - step * T(steps - i - 1));
  });
}

// A number as the type would hold it: PyTorch rounds each step of the way for the short types.
float rounded_to(DType dtype, float number) {
  std::array<uint8_t, 8> bytes{};
  store_packed(DType::kFloat32, &number, 1, dtype, bytes.data(), 4);
  load_packed(dtype, bytes.data(), 4, 1, DType::kFloat32, &number);
  return number;
}

template <typename F>
void fill_short_steps(const Tensor& out, float start, float end, F&& finish) {
  const auto round = [&](float number) { return rounded_to(out.dtype(), number); };
  const int64_t steps = out.element_count();
  start = round(start);
  end = round(end);
  const float step = steps == 1 ? 0 : round(round(end - start) / round(static_cast<float>(steps - 1)));
  fill_by_place<float>(out, DType::kFloat32, [&](int64_t i) {
    const auto along = [&](int64_t count) { return round(step * round(static_cast<float>(count))); };
    return finish(round(i < steps / 2 || steps == 1 ? start + along(i) : end - along(steps - i - 1)));
  });
}

template <typename F>
void run_steps(std::string_view what, const Scalar& start, const Scalar& end, const Tensor& out, F&& finish) {
  const DType dtype = out.dtype();
  if (dtype == DType::kBool) fail_dtype(what, dtype);
  if (is_complex(dtype)) {
    fill_steps<std::complex<double>>(out, DType::kComplex128, start.to_complex(), end.to_complex(), finish);
  } else if (!is_floating(dtype)) {
    // The bounds are whole, the way between them is not; the elements are cut.
    fill_steps<double>(out, DType::kFloat64, static_cast<double>(start.to_int()),
                       static_cast<double>(end.to_int()), [&](double x) { return std::trunc(finish(x)); });
  } else if (dtype == DType::kFloat64) {
    fill_steps<double>(out, DType::kFloat64, start.to_double(), end.to_double(), finish);
  } else if (dtype == DType::kFloat32) {
    fill_steps<float>(out, DType::kFloat32, static_cast<float>(start.to_double()),
                      static_cast<float>(end.to_double()), finish);
  } else {
    fill_short_steps(out, static_cast<float>(start.to_double()), static_cast<float>(end.to_double()), finish);
  }
}

void linspace_fill(const Scalar& start, const Scalar& end, const Tensor& out) {
  run_steps("linspace_cpu", start, end, out, [](auto x) { return x; });
}

void logspace_fill(const Scalar& start, const Scalar& end, double base, const Tensor& out) {
  // A single power is a number that PyTorch fills the tensor with: it is rounded once, whatever the type.
  if (out.element_count() == 1 && out.dtype() != DType::kBool && !is_complex(out.dtype())) {
    const double power = std::pow(base, start.to_double());
    const double whole = is_floating(out.dtype()) ? power : std::trunc(power);
    fill_by_place<double>(out, DType::kFloat64, [&](int64_t) { return whole; });
    return;
  }
  run_steps("logspace_cpu", start, end, out,
            [&]<typename T>(T x) { return static_cast<T>(std::pow(T(base), x)); });
}

// A bound that is a number, or a tensor of no dimensions.
bool is_complex_bound(const Value& bound) {
  return bound.is_tensor() ? is_complex(bound.tensor().dtype()) : bound.is<std::complex<double>>();
}
Scalar bound_of(const Value& bound) {
  if (!bound.is_tensor()) return bound.scalar();
  if (bound.tensor().dim() != 0) {
    fail_view(
        fmt::format("linspace only supports 0-dimensional start and end tensors, but got {} dimension(s).",
                    bound.tensor().dim()));
  }
  return item(bound.tensor());
}

template <typename N>
Info<N> linspace_shape(const Value& start, const Value& end, Size steps, OptionalDType dtype, OptionalLayout,
                       OptionalDevice device, OptionalBool) {
  return steps_info<N>(is_complex_bound(start) || is_complex_bound(end), steps, dtype, device);
}
void linspace_kernel(const Value& start, const Value& end, Size, OptionalDType, OptionalLayout,
                     OptionalDevice, OptionalBool, Tensor& out) {
  linspace_fill(bound_of(start), bound_of(end), out);
}

template <typename N>
Info<N> logspace_shape(const Value& start, const Value& end, Size steps, double, OptionalDType dtype,
                       OptionalLayout, OptionalDevice device, OptionalBool) {
  return steps_info<N>(is_complex_bound(start) || is_complex_bound(end), steps, dtype, device);
}
void logspace_kernel(const Value& start, const Value& end, Size, double base, OptionalDType, OptionalLayout,
                     OptionalDevice, OptionalBool, Tensor& out) {
  logspace_fill(bound_of(start), bound_of(end), base, out);
}

// ---- eye
template <typename N>
Info<N> eye_info(const N& rows, const N& columns, OptionalDType dtype, OptionalDevice device) {
  if (rows < N(0)) fail_view("n must be greater or equal to 0, got " + number_text(rows));
  if (columns < N(0)) fail_view("m must be greater or equal to 0, got " + number_text(columns));
  return contiguous(dtype.value_or(kDefaultFloat), ShortList<N>{rows, columns}, device.value_or(Device{}));
}

template <typename N>
Info<N> eye_shape(N n, OptionalDType dtype, OptionalLayout, OptionalDevice device, OptionalBool) {
  return eye_info(n, n, dtype, device);
}
template <typename N>
Info<N> eye_m_shape(N n, N m, OptionalDType dtype, OptionalLayout, OptionalDevice device, OptionalBool) {
  return eye_info(n, m, dtype, device);
}

void eye_fill(Context& context, const Tensor& out) {
  fill(context, out, 0);
  fill(context, viewed(out, diagonal_info(info_of(out), 0, 0, 1)), 1);
}
void eye_kernel(Context& context, Size, OptionalDType, OptionalLayout, OptionalDevice, OptionalBool,
                Tensor& out) {
  eye_fill(context, out);
}
void eye_m_kernel(Context& context, Size, Size, OptionalDType, OptionalLayout, OptionalDevice, OptionalBool,
                  Tensor& out) {
  eye_fill(context, out);
}

// ---- indices of a triangle: a row of row numbers, a row of column numbers
struct Span {
  int64_t begin;
  int64_t end;
};
template <bool kLower>
Span columns_of(int64_t row, int64_t columns, int64_t offset) {
  const auto clamped = [&](__int128 column) {
    return static_cast<int64_t>(std::clamp<__int128>(column, 0, columns));
  };
  if (kLower) return {0, clamped(static_cast<__int128>(row) + offset + 1)};
  return {clamped(static_cast<__int128>(row) + offset), columns};
}

// Of clamp(number, 0, most) over `count` numbers from `first` on; the product of most and count fits 64 bits.
Size sum_of_clamped(__int128 first, int64_t count, int64_t most) {
  if (first >= most) return Size(most) * count;
  if (first + count <= 0) return 0;
  const auto sum_below = [&](__int128 end) -> __int128 {
    if (end <= 0) return 0;
    if (end <= most) return end * (end - 1) / 2;
    return static_cast<__int128>(most) * (most + 1) / 2 + (end - 1 - most) * most;
  };
  return static_cast<int64_t>(sum_below(first + count) - sum_below(first));
}

template <bool kLower, typename N>
Info<N> triangle_indices_shape(Size rows, Size columns, Size offset, OptionalDType dtype, OptionalLayout,
                               OptionalDevice device, OptionalBool) {
  if (rows < 0) fail_view("row must be non-negative, got " + number_text(rows));
  if (columns < 0) fail_view("col must be non-negative, got " + number_text(columns));
  const Size all = rows * columns;
  const __int128 first = static_cast<__int128>(offset.value()) + (kLower ? 1 : 0);
  const Size clamped = sum_of_clamped(first, rows, columns);
  const Size count = kLower ? clamped : all - clamped;
  return contiguous(dtype.value_or(DType::kInt64), ShortList<N>{N(2), N(count.value())},
                    device.value_or(Device{}));
}

template <bool kLower>
void triangle_indices_kernel(Size, Size columns, Size offset, OptionalDType, OptionalLayout, OptionalDevice,
                             OptionalBool, Tensor& out) {
  const int64_t count = out.sizes()[1];
  // The rows before are empty; there are no empty ones between others.
  const int64_t first_row = kLower && offset < 0 ? -offset : Size(0);
  int64_t row = first_row;
  Span span = columns_of<kLower>(row, columns, offset);
  int64_t column = span.begin;
  fill_by_place<int64_t>(out, DType::kInt64, [&](int64_t i) {
    if (column >= span.end || i == count) {
      row = i == count ? first_row : row + 1;
      span = columns_of<kLower>(row, columns, offset);
      column = span.begin;
    }
    const int64_t value = i < count ? row : column;
    ++column;
    return value;
  });
}

// ---- as other operators

Tensor arange_start_parts(Context& c, const Value& start, const Value& end, OptionalDType dtype,
                          OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return call_with(c, "aten::arange.start_step", {start, end, 1},
                   {{"dtype", dtype},
                    {"layout", layout.value_or(Layout::kStrided)},
                    {"device", device.value_or(Device{})},
                    {"pin_memory", pin_memory.value_or(false)}});
}
Tensor arange_parts(Context& c, const Value& end, OptionalDType dtype, OptionalLayout layout,
                    OptionalDevice device, OptionalBool pin_memory) {
  return arange_start_parts(c, 0, end, dtype, layout, device, pin_memory);
}
Tensor eye_m_parts(Context& c, const Value& n, const Value& m, OptionalDType dtype, OptionalLayout,
                   OptionalDevice, OptionalBool) {
  const Tensor rows = parts::arange(c, 0, n, DType::kUInt8);
  const Tensor columns = parts::arange(c, 0, m, DType::kUInt8);
  const Tensor is_diagonal = call(c, "aten::eq.Tensor", call(c, "aten::unsqueeze", rows, -1), columns);
  return parts::to_dtype(c, is_diagonal, dtype.value_or(kDefaultFloat));
}
Tensor eye_parts(Context& c, const Value& n, OptionalDType dtype, OptionalLayout layout,
                 OptionalDevice device, OptionalBool pin_memory) {
  return eye_m_parts(c, n, n, dtype, layout, device, pin_memory);
}
// Half of it from each end. Fewer than two numbers stay one operator.
std::optional<Tensor> linspace_parts(Context& c, Scalar start, Scalar end, Size steps, OptionalDType given,
                                     OptionalLayout, OptionalDevice, OptionalBool) {
  if (steps < 2) return std::nullopt;
  const DType dtype = given.value_or(kDefaultFloat);
  const Tensor line = parts::arange(c, 0, steps);
  const double step = (end.to_double() - start.to_double()) / static_cast<double>(steps - 1);
  const Tensor is_first = call(c, "aten::lt.Scalar", line, static_cast<double>(steps) / 2);
  const auto from = [&](const Tensor& places) {
    return parts::mul(c, parts::to_dtype(c, places, dtype), step);
  };
  const Tensor up = parts::add(c, from(line), start);
  const Tensor down = parts::sub(c, end, from(parts::sub(c, steps - 1, line)));
  return parts::where(c, is_first, up, down);
}

}  // namespace

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

void define_range(Library& library) {
  library.define("aten::arange(Scalar end, " OPTIONS ") -> Tensor")
      .shape<arange_shape<Size>, arange_shape<SymInt>>()
      .kernel<arange_kernel>()
      .core_decomposition<arange_parts>();
  library.define("aten::arange.start(Scalar start, Scalar end, " OPTIONS ") -> Tensor")
      .shape<arange_start_shape<Size>, arange_start_shape<SymInt>>()
      .kernel<arange_start_kernel>()
      .core_decomposition<arange_start_parts>();
  library.define("aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, " OPTIONS ") -> Tensor")
      .shape<arange_step_shape<Size>, arange_step_shape<SymInt>>()
      .kernel<arange_step_kernel>();
  library.define("aten::linspace(Scalar start, Scalar end, int steps, " OPTIONS ") -> Tensor")
      .shape<linspace_shape<Size>, linspace_shape<SymInt>>()
      .kernel<linspace_kernel>()
      .core_decomposition<linspace_parts>();
  for (const std::string_view schema :
       {"aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, " OPTIONS ") -> Tensor",
        "aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, " OPTIONS ") -> Tensor",
        "aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, " OPTIONS ") -> Tensor"}) {
    library.define(schema).shape<linspace_shape<Size>, linspace_shape<SymInt>>().kernel<linspace_kernel>();
  }
  for (const std::string_view schema :
       {"aten::logspace(Scalar start, Scalar end, int steps, float base=10., " OPTIONS ") -> Tensor",
        "aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., " OPTIONS
        ") -> Tensor",
        "aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., " OPTIONS
        ") -> Tensor",
        "aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., " OPTIONS
        ") -> Tensor"}) {
    library.define(schema).shape<logspace_shape<Size>, logspace_shape<SymInt>>().kernel<logspace_kernel>();
  }
  library.define("aten::eye(SymInt n, " OPTIONS ") -> Tensor")
      .shape<eye_shape<Size>, eye_shape<SymInt>>()
      .kernel<eye_kernel>()
      .core_decomposition<eye_parts>();
  library.define("aten::eye.m(SymInt n, SymInt m, " OPTIONS ") -> Tensor")
      .shape<eye_m_shape<Size>, eye_m_shape<SymInt>>()
      .kernel<eye_m_kernel>()
      .core_decomposition<eye_m_parts>();
  library
      .define(
          "aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor")
      .shape<triangle_indices_shape<true, Size>, triangle_indices_shape<true, SymInt>>()
      .kernel<triangle_indices_kernel<true>>();
  library
      .define(
          "aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor")
      .shape<triangle_indices_shape<false, Size>, triangle_indices_shape<false, SymInt>>()
      .kernel<triangle_indices_kernel<false>>();
}

#undef OPTIONS

}  // namespace flambeau::ops
