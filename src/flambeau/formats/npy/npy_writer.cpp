#include "flambeau/formats/npy/npy_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/npy/npy_header.h"
#include "flambeau/formats/npy/npy_types.h"
#include "flambeau/formats/tensor_pieces.h"

namespace flambeau {
namespace {

constexpr size_t kMostNpyDimensions = 64;

Tensor transposed(const Tensor& tensor) {
  Geometry geometry = tensor.geometry();
  std::reverse(geometry.sizes.begin(), geometry.sizes.end());
  std::reverse(geometry.strides.begin(), geometry.strides.end());
  return Tensor::strided(tensor.dtype(), std::move(geometry), tensor.storage());
}

}  // namespace

NpyPlan plan_npy(const Tensor& tensor) {
  require_dense(tensor, "npy");
  const std::optional<std::string> code = npy_type_code(tensor.dtype());
  if (!code) {
    throw Error(ErrorCode::kUnsupported, fmt::format("NumPy has no type for {}", dtype_name(tensor.dtype())),
                dtype_info(tensor.dtype()).is_complex ? "use --dtype complex64" : "use --dtype float32");
  }
  if (tensor.dim() > kMostNpyDimensions) {
    throw Error(ErrorCode::kUnsupported, fmt::format("the tensor has {} dimensions, NumPy allows {}",
                                                     tensor.dim(), kMostNpyDimensions));
  }
  NpyHeader header{.descr = *code, .is_fortran = false, .shape = tensor.sizes()};
  Tensor data = tensor;
  if (!tensor.is_contiguous()) {
    Tensor columns = transposed(tensor);
    if (columns.is_contiguous()) {
      header.is_fortran = true;
      data = std::move(columns);
    }
  }
  return {npy_header_bytes(header), std::move(data)};
}

void write_npy(ByteSink& sink, const Tensor& tensor, Progress& progress) {
  const NpyPlan plan = plan_npy(tensor);
  progress.begin("writing weights", tensor.byte_count());
  sink.write_text(plan.header);
  write_pieces(sink, plan.data, progress);
}

}  // namespace flambeau
