// What a tensor is, without its elements.
#include <algorithm>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/tensors.h"

namespace flambeau::interpreter {
namespace {

IValue list_of_numbers(std::span<const int64_t> numbers) {
  std::vector<IValue> items;
  items.reserve(numbers.size());
  for (const int64_t number : numbers) items.emplace_back(number);
  return IValue::list(TypeKind::kInt, std::move(items));
}

template <DeviceType kType>
bool is_on(const Tensor& tensor) {
  return tensor.device().type == kType;
}

int64_t bytes_of(const Tensor& tensor) {
  return tensor.element_count() * static_cast<int64_t>(tensor.element_size());
}

bool is_false(const Tensor&) { return false; }

// Whether elements lie side by side in some order of the dimensions.
bool is_dense(const Tensor& tensor) {
  if (tensor.element_count() == 0) return true;
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride and size
  for (size_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.sizes()[d] != 1) dims.emplace_back(tensor.strides()[d], tensor.sizes()[d]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

bool is_channels_last(const Tensor& tensor, size_t rank) {
  if (tensor.dim() != rank) return false;
  std::vector<size_t> order =
      rank == 4 ? std::vector<size_t>{1, 3, 2, 0} : std::vector<size_t>{1, 4, 3, 2, 0};
  int64_t least = 0;
  if (tensor.strides()[1] == 0) return false;
  for (const size_t d : order) {
    if (tensor.sizes()[d] == 0 || tensor.strides()[d] < least) return false;
    if (d == 0 && least == tensor.strides()[1]) return false;
    least = tensor.strides()[d] * std::max<int64_t>(tensor.sizes()[d], 1);
  }
  return true;
}

void define_kinds(const Definer& define) {
  define("prim::is_cpu", is_on<DeviceType::kCpu>);
  define("prim::is_cuda", is_on<DeviceType::kCuda>);
  define("prim::is_ipu", is_on<DeviceType::kIpu>);
  define("prim::is_maia", is_on<DeviceType::kMaia>);
  define("prim::is_meta", is_on<DeviceType::kMeta>);
  define("prim::is_mps", is_on<DeviceType::kMps>);
  define("prim::is_mtia", is_on<DeviceType::kMtia>);
  define("prim::is_vulkan", is_on<DeviceType::kVulkan>);
  define("prim::is_xla", is_on<DeviceType::kXla>);
  define("prim::is_xpu", is_on<DeviceType::kXpu>);
  define({"prim::is_mkldnn", "prim::is_nested"}, is_false);
  define("prim::is_quantized", [](const Tensor& a) { return a.quantizer() != nullptr; });
  define("prim::is_sparse", [](const Tensor& a) { return a.layout() == Layout::kSparseCoo; });
  define("prim::is_sparse_csr", [](const Tensor& a) { return a.layout() == Layout::kSparseCsr; });
}

}  // namespace

bool asks_description(std::string_view name) {
  constexpr std::string_view kNames[] = {"aten::dim",   "aten::is_complex", "aten::is_floating_point",
                                         "aten::numel", "aten::size.int",   "aten::stride.int"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

void define_tensor_facts(Builtins& builtins) {
  const Definer define(builtins);
  define_kinds(define);
  define("prim::device", [](const Tensor& a) { return a.device(); });
  define("prim::dtype", [](const Tensor& a) { return static_cast<int64_t>(a.dtype()); });
  define("prim::layout", [](const Tensor& a) { return static_cast<int64_t>(a.layout()); });
  define("prim::requires_grad", [](const Tensor& a) { return a.requires_grad(); });
  define("prim::data", [](const Tensor& a) {
    Tensor data = a;
    data.set_requires_grad(false);
    return data;
  });
  // Nobody computes gradients here.
  define("prim::grad", [](const Tensor&) { return IValue(); });
  define("prim::name", [](const Tensor&) { return IValue(); });
  define("prim::itemsize", [](const Tensor& a) { return static_cast<int64_t>(a.element_size()); });
  define("prim::nbytes", bytes_of);
  define("aten::element_size", [](const Tensor& a) { return static_cast<int64_t>(a.element_size()); });
  define({"aten::size", "aten::sym_size"}, [](const Tensor& a) { return list_of_numbers(a.sizes()); });
  define({"aten::stride", "aten::sym_stride"}, [](const Tensor& a) { return list_of_numbers(a.strides()); });
  define("aten::len.Tensor", [](const Tensor& a) {
    if (a.dim() == 0) throw Error(ErrorCode::kInvalidArgument, "len() of a 0-d tensor");
    return a.sizes()[0];
  });
  define("aten::is_non_overlapping_and_dense", is_dense);
  define("aten::is_strides_like_format", [](const Tensor& a, int64_t format) {
    if (format == static_cast<int64_t>(MemoryFormat::kChannelsLast)) return is_channels_last(a, 4);
    if (format == static_cast<int64_t>(MemoryFormat::kChannelsLast3d)) return is_channels_last(a, 5);
    return false;
  });
  define("onnx::Shape", [](const Tensor& a) {
    const int64_t rank[] = {static_cast<int64_t>(a.dim())};
    Tensor shape = Tensor::zeros(DType::kInt64, rank);
    for (size_t d = 0; d < a.dim(); ++d) shape.mutable_data<int64_t>()[d] = a.sizes()[d];
    return shape;
  });
}

}  // namespace flambeau::interpreter
