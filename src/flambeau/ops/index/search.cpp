// Places in sorted sequences, and membership in a set.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "flambeau/base/error.h"
#include "flambeau/base/stoppable.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {
namespace {

template <typename T>
std::vector<T> values_as(const Tensor& tensor, DType common) {
  const Tensor packed = tensor.to_contiguous();
  require_memory(static_cast<uint64_t>((Size(packed.element_count()) * sizeof(T)).value()));
  std::vector<T> values(static_cast<size_t>(packed.element_count()));
  if (values.empty()) return values;
  const DType row = compute_dtype(common);
  load_packed(packed.dtype(), packed.data(), static_cast<int64_t>(packed.element_size()), values.size(), row,
              values.data());
  return values;
}

// The first place whose element is not less than x (or is greater). NaN counts as the greatest.
template <typename T>
int64_t find_place(const T* sequence, const int64_t* sorter, int64_t length, T x, bool right) {
  int64_t begin = 0;
  int64_t end = length;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    const T at = sequence[sorter != nullptr ? sorter[middle] : middle];
    if (!(right ? at > x : at >= x)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// Lines of sequences, one for each line of values; or one sequence for all.
void run_search(Context& context, const Tensor& sequence, const Tensor& values, bool right,
                const Tensor* sorter, Tensor& out) {
  if (is_complex(sequence.dtype())) fail_dtype("searchsorted_out_cpu", sequence.dtype());
  if (sequence.dim() == 0 || (sequence.dim() > 1 && sequence.dim() != values.dim())) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1");
  }
  if (sorter != nullptr && !(sorter->sizes() == sequence.sizes())) {
    throw Error(ErrorCode::kInvalidArgument,
                "torch.searchsorted(): boundary and sorter must have the same size");
  }
  const bool is_shared = sequence.dim() == 1;
  const int64_t length = sequence.sizes().back();
  const int64_t line = values.dim() == 0 ? 1 : values.sizes().back();
  const std::vector<int64_t> order = sorter != nullptr ? read_indices(*sorter) : std::vector<int64_t>();
  for (const int64_t index : order) {
    if (index < 0 || index >= length) {
      throw Error(ErrorCode::kInvalidArgument, "torch.searchsorted(): sorter index out of range");
    }
  }
  const DType common = promote(sequence.dtype(), values.dtype());
  ScratchVector<int64_t> places(static_cast<size_t>(values.element_count()));
  with_compute_type(common, [&]<typename T>(T) {
    if constexpr (!kIsComplex<T>) {
      const std::vector<T> sorted = values_as<T>(sequence, common);
      const std::vector<T> wanted = values_as<T>(values, common);
      context.pool().for_each_range(wanted.size(), 4096, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const int64_t row = is_shared ? 0 : static_cast<int64_t>(i) / line * length;
          places[i] = find_place(sorted.data() + row, order.empty() ? nullptr : order.data() + row, length,
                                 wanted[i], right);
        }
      });
    }
  });
  store_packed(DType::kInt64, places.data(), places.size(), out.dtype(), out.mutable_data(),
               static_cast<int64_t>(out.element_size()));
}

bool goes_right(bool right, std::optional<std::string_view> side) {
  if (!side) return right;
  if (*side != "left" && *side != "right") {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("torch.searchsorted(): side can only be 'left' or 'right' but got {}", *side));
  }
  if (*side == "left" && right) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was "
        "True");
  }
  return *side == "right";
}

template <typename N>
void check_sequence(const Info<N>& sequence, const Info<N>& values) {
  if (sequence.dim() == 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1");
  }
  if (sequence.dim() == 1) return;
  bool fits = sequence.dim() == values.dim();
  for (size_t d = 0; fits && d + 1 < sequence.dim(); ++d) fits = sequence.sizes[d] == values.sizes[d];
  if (!fits) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
        "boundaries tensor and input value tensor must match");
  }
}

DType place_dtype(bool out_int32) { return out_int32 ? DType::kInt32 : DType::kInt64; }

template <typename N>
Info<N> search_shape(const Info<N>& sequence, const Info<N>& self, bool out_int32, bool,
                     std::optional<std::string_view>, const Info<N>*) {
  check_sequence(sequence, self);
  return contiguous<N>(place_dtype(out_int32), self.sizes, self.device);
}
void search_kernel(Context& context, const Tensor& sequence, const Tensor& self, bool, bool right,
                   std::optional<std::string_view> side, const Tensor* sorter, Tensor& out) {
  run_search(context, sequence, self, goes_right(right, side), sorter, out);
}
template <typename N>
Info<N> search_scalar_shape(const Info<N>& sequence, Scalar, bool out_int32, bool,
                            std::optional<std::string_view>, const Info<N>*) {
  return contiguous<N>(place_dtype(out_int32), {}, sequence.device);
}
void search_scalar_kernel(Context& context, const Tensor& sequence, Scalar self, bool, bool right,
                          std::optional<std::string_view> side, const Tensor* sorter, Tensor& out) {
  run_search(context, sequence, scalar_tensor(self, sequence.dtype()), goes_right(right, side), sorter, out);
}

template <typename N>
void check_boundaries(const Info<N>& boundaries) {
  if (boundaries.dim() != 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("bucketize(): boundaries tensor must be 1 dimension, but got dim({})", boundaries.dim()));
  }
}
template <typename N>
Info<N> bucketize_shape(const Info<N>& self, const Info<N>& boundaries, bool out_int32, bool) {
  check_boundaries(boundaries);
  return contiguous<N>(place_dtype(out_int32), self.sizes, self.device);
}
void bucketize_kernel(Context& context, const Tensor& self, const Tensor& boundaries, bool, bool right,
                      Tensor& out) {
  run_search(context, boundaries, self, right, nullptr, out);
}
template <typename N>
Info<N> bucketize_scalar_shape(Scalar, const Info<N>& boundaries, bool out_int32, bool) {
  check_boundaries(boundaries);
  return contiguous<N>(place_dtype(out_int32), {}, boundaries.device);
}
void bucketize_scalar_kernel(Context& context, Scalar self, const Tensor& boundaries, bool, bool right,
                             Tensor& out) {
  run_search(context, boundaries, scalar_tensor(self, boundaries.dtype()), right, nullptr, out);
}

// ---- isin
void run_isin(const Tensor& elements, const Tensor& tests, DType common, bool invert, Tensor& out) {
  if (is_complex(common)) fail_dtype("isin", common);
  ScratchVector<uint8_t> found(static_cast<size_t>(elements.element_count()));
  with_compute_type(common, [&]<typename T>(T) {
    if constexpr (!kIsComplex<T>) {
      std::vector<T> set = values_as<T>(tests, common);
      std::erase_if(set, [](T x) { return is_nan(x); });
      WorkPoller poll;
      std::sort(set.begin(), set.end(), stoppable(poll, std::less<>()));
      const std::vector<T> wanted = values_as<T>(elements, common);
      for (size_t i = 0; i < wanted.size(); ++i) {
        poll();
        const bool is_in = !is_nan(wanted[i]) && std::binary_search(set.begin(), set.end(), wanted[i]);
        found[i] = is_in != invert ? 1 : 0;
      }
    }
  });
  std::copy(found.begin(), found.end(), out.mutable_data());
}
template <typename N>
Info<N> isin_shape(const Info<N>& elements, const Info<N>&, bool, bool) {
  return contiguous<N>(DType::kBool, elements.sizes, elements.device);
}
void isin_kernel(Context&, const Tensor& elements, const Tensor& tests, bool, bool invert, Tensor& out) {
  run_isin(elements, tests, result_type(elements, tests), invert, out);
}
template <typename N>
Info<N> isin_scalar_shape(const Info<N>& elements, Scalar, bool, bool) {
  return contiguous<N>(DType::kBool, elements.sizes, elements.device);
}
void isin_scalar_kernel(Context&, const Tensor& elements, Scalar test, bool, bool invert, Tensor& out) {
  const Tensor one = wrapped_number(test);
  run_isin(elements, one, result_type(elements, one), invert, out);
}
template <typename N>
Info<N> scalar_isin_shape(Scalar, const Info<N>& tests, bool, bool) {
  return contiguous<N>(DType::kBool, {}, tests.device);
}
void scalar_isin_kernel(Context&, Scalar element, const Tensor& tests, bool, bool invert, Tensor& out) {
  const Tensor one = wrapped_number(element);
  run_isin(one, tests, result_type(one, tests), invert, out);
}

}  // namespace

void define_search(Library& library) {
  library
      .define(
          "aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool "
          "right=False, str? side=None, Tensor? sorter=None) -> Tensor")
      .shape<search_shape<Size>, search_shape<SymInt>>()
      .kernel<search_kernel>();
  library
      .define(
          "aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool "
          "right=False, str? side=None, Tensor? sorter=None) -> Tensor")
      .shape<search_scalar_shape<Size>, search_scalar_shape<SymInt>>()
      .kernel<search_scalar_kernel>();
  library
      .define(
          "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) "
          "-> Tensor")
      .shape<bucketize_shape<Size>, bucketize_shape<SymInt>>()
      .kernel<bucketize_kernel>();
  library
      .define(
          "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) "
          "-> Tensor")
      .shape<bucketize_scalar_shape<Size>, bucketize_scalar_shape<SymInt>>()
      .kernel<bucketize_scalar_kernel>();
  library
      .define(
          "aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
          "invert=False) -> Tensor")
      .shape<isin_shape<Size>, isin_shape<SymInt>>()
      .kernel<isin_kernel>();
  library
      .define(
          "aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
          "invert=False) -> Tensor")
      .shape<isin_scalar_shape<Size>, isin_scalar_shape<SymInt>>()
      .kernel<isin_scalar_kernel>();
  library
      .define(
          "aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
          "invert=False) -> Tensor")
      .shape<scalar_isin_shape<Size>, scalar_isin_shape<SymInt>>()
      .kernel<scalar_isin_kernel>();
}

}  // namespace flambeau::ops
