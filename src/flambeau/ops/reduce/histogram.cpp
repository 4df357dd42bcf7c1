// How many elements fall where: histc and bincount.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> histc_shape(const Info<N>& self, Size bins, Scalar, Scalar) {
  if (bins <= 0) throw Error(ErrorCode::kInvalidArgument, "bins must be > 0");
  return contiguous<N>(self.dtype, {N(bins)}, self.device);
}

// PyTorch computes the place of half-precision numbers in half precision.
template <typename T>
T rounded(DType dtype, T x) {
  if (dtype == DType::kFloat16) return static_cast<T>(Float16::from_float(static_cast<float>(x)).to_float());
  if (dtype == DType::kBFloat16)
    return static_cast<T>(BFloat16::from_float(static_cast<float>(x)).to_float());
  return x;
}

template <typename T>
void run_histc(const Tensor& self, T low, T high, Tensor& out) {
  const DType dtype = self.dtype();
  const Tensor packed = self.to_contiguous();
  const auto count = static_cast<size_t>(packed.element_count());
  ScratchVector<T> values(count);
  const DType row = std::is_same_v<T, double> ? DType::kFloat64 : DType::kFloat32;
  if (count > 0) {
    load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), count, row,
                values.data());
  }
  if (low == high && count > 0) {
    low = *std::min_element(values.begin(), values.end());
    high = *std::max_element(values.begin(), values.end());
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  if (!std::isfinite(low) || !std::isfinite(high)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("range of [{}, {}] is not finite", static_cast<double>(low), static_cast<double>(high)));
  }
  if (low > high) throw Error(ErrorCode::kInvalidArgument, "max must be larger than min");
  const int64_t bins = out.element_count();
  ScratchVector<double> counts(static_cast<size_t>(bins));
  low = rounded(dtype, low);
  high = rounded(dtype, high);
  const T range = rounded(dtype, high - low);
  const T factor = rounded(dtype, static_cast<T>(bins));
  // Counting stops where the type has no next number.
  const double most = dtype == DType::kBFloat16 ? 256 : dtype == DType::kFloat16 ? 2048 : 0x1p53;
  const auto count_all = [&](auto&& round) {
    WorkPoller poll;
    for (const T value : values) {
      poll();
      if (!(value >= low && value <= high)) continue;
      const T place = round(round(round(value - low) * factor) / range);
      // Not a number where the range is wider than the type.
      const auto bin = place >= 0 && place < static_cast<T>(bins) ? static_cast<int64_t>(place) : bins - 1;
      double& count_here = counts[static_cast<size_t>(std::min(bin, bins - 1))];
      count_here = std::min(count_here + 1, most);
    }
  };
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
    count_all([&](T x) { return rounded(dtype, x); });
  } else {
    count_all([](T x) { return x; });
  }
  store_packed(DType::kFloat64, counts.data(), counts.size(), out.dtype(), out.mutable_data(),
               static_cast<int64_t>(out.element_size()));
}

void histc_kernel(Context&, const Tensor& self, Size, Scalar low, Scalar high, Tensor& out) {
  if (!is_floating(self.dtype())) fail_dtype("histogram_cpu", self.dtype());
  if (self.dtype() == DType::kFloat64) {
    run_histc<double>(self, low.to_double(), high.to_double(), out);
  } else {
    run_histc<float>(self, static_cast<float>(low.to_double()), static_cast<float>(high.to_double()), out);
  }
}

DType bincount_type(const DType* weights) {
  if (weights == nullptr) return DType::kInt64;
  return *weights == DType::kFloat32 ? DType::kFloat32 : DType::kFloat64;
}
DataShape bincount_data_shape(DataNumbers& data, const Info<SymInt>& self, const Info<SymInt>* weights) {
  const SymInt count = data.size();
  return contiguous<SymInt>(bincount_type(weights == nullptr ? nullptr : &weights->dtype), {count},
                            self.device);
}
Tensor bincount(Context& context, const Tensor& self, const Tensor* weights, Size minlength) {
  if (minlength < 0) throw Error(ErrorCode::kInvalidArgument, "minlength should be >= 0");
  if (!is_integral(self.dtype()) || self.dtype() == DType::kBool) fail_dtype("bincount_cpu", self.dtype());
  const std::vector<int64_t> values = read_indices(self);
  const bool has_negative =
      std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; });
  Size length = minlength;
  for (const int64_t value : values) length = max(length, Size(value) + 1);
  if (self.dim() != 1 || has_negative) {
    throw Error(ErrorCode::kInvalidArgument, "bincount only supports 1-d non-negative integral inputs.");
  }
  if (weights != nullptr && (weights->dim() != 1 || weights->element_count() != self.element_count())) {
    throw Error(ErrorCode::kInvalidArgument, "weights should be 1-d and have the same length as input");
  }
  const DType given = weights == nullptr ? DType::kInt64 : weights->dtype();
  const DType dtype = bincount_type(weights == nullptr ? nullptr : &given);
  Tensor out = context.allocate(dtype, Dims{length});
  if (length == 0) return out;
  if (weights == nullptr) {
    ScratchVector<int64_t> counts(static_cast<size_t>(length));
    for (const int64_t value : values) ++counts[static_cast<size_t>(value)];
    std::copy(counts.begin(), counts.end(), out.mutable_data<int64_t>());
    return out;
  }
  const Tensor packed = weights->to_contiguous();
  ScratchVector<double> each(values.size());
  ScratchVector<double> sums(static_cast<size_t>(length));
  if (!each.empty()) {
    load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), each.size(),
                DType::kFloat64, each.data());
  }
  for (size_t i = 0; i < values.size(); ++i) sums[static_cast<size_t>(values[i])] += each[i];
  store_packed(DType::kFloat64, sums.data(), sums.size(), dtype, out.mutable_data(),
               static_cast<int64_t>(out.element_size()));
  return out;
}

}  // namespace

void define_histogram(Library& library) {
  library.define("aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor")
      .shape<histc_shape<Size>, histc_shape<SymInt>>()
      .kernel<histc_kernel>();
  library.define("aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor")
      .function<bincount>()
      .data_shape<bincount_data_shape>();
}

}  // namespace flambeau::ops
