#include "flambeau/script/operators/python_names.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

namespace flambeau::script {
namespace {

struct PythonModule {
  std::string_view name;
  std::string_view operator_prefix;
};
constexpr auto kModules = std::to_array<PythonModule>({
    {"torch", "aten::"},
    {"torch.autograd", "aten::"},
    {"torch.jit", "aten::"},
    {"torch.nn", "aten::"},
    {"torch.nn.functional", "aten::"},
    {"torch.nn.init", "aten::"},
    {"torch.linalg", "aten::linalg_"},
    {"torch.fft", "aten::fft_"},
    {"torch.special", "aten::special_"},
    {"torch._C", "aten::"},
    {"torch._C._nn", "aten::"},
    {"torch._VF", "aten::"},
    {"math", "aten::"},
    {"cmath", "aten::"},
});

// Those that are not called as in Python.
struct RenamedOperator {
  std::string_view python;
  std::string_view operator_name;
};
constexpr auto kRenamed = std::to_array<RenamedOperator>({
    {"math.remainder", "aten::mathremainder"},
    {"cmath.phase", "aten::angle"},
    {"cmath.rect", "aten::polar"},
    {"torch._segment_reduce", "aten::segment_reduce"},
    {"torch._sym_sqrt", "aten::sym_sqrt"},
    {"torch.nn.functional._list_with_default", "aten::list_with_default"},
    {"torch.nn.functional.has_torch_function_unary", "aten::has_torch_function"},
    {"torch.nn.functional.has_torch_function_variadic", "aten::has_torch_function"},
    {"torch.nn.functional.logsigmoid", "aten::log_sigmoid"},
    {"torch.jit._wait", "aten::wait"},
    {"torch.jit._awaitable_nowait", "prim::awaitable_nowait"},
    {"torch.jit._awaitable_wait", "prim::awaitable_wait"},
});

// The functions of torch.nn.functional that are operators; the others are written in Python, and an operator
// of the same name may take other arguments.
constexpr auto kFunctional = std::to_array<std::string_view>({
    "_no_grad_embedding_renorm_",
    "_pair",
    "_single",
    "_triple",
    "adaptive_avg_pool1d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "bilinear",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "elu_",
    "gelu",
    "hardshrink",
    "hardtanh_",
    "has_torch_function",
    "leaky_relu_",
    "linear",
    "native_channel_shuffle",
    "one_hot",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu_",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu_",
    "softplus",
    "softshrink",
    "threshold_",
});

// By PyTorch's numbers.
struct NamedNumber {
  std::string_view name;
  int64_t value;
};
constexpr auto kNumbers = std::to_array<NamedNumber>({
    {"uint8", 0},
    {"int8", 1},
    {"int16", 2},
    {"short", 2},
    {"int32", 3},
    {"int", 3},
    {"int64", 4},
    {"long", 4},
    {"float16", 5},
    {"half", 5},
    {"float32", 6},
    {"float", 6},
    {"float64", 7},
    {"double", 7},
    {"complex32", 8},  // not chalf: that is an operator
    {"complex64", 9},
    {"cfloat", 9},
    {"complex128", 10},
    {"cdouble", 10},
    {"bool", 11},
    {"qint8", 12},
    {"quint8", 13},
    {"qint32", 14},
    {"bfloat16", 15},
    {"quint4x2", 16},
    {"quint2x4", 17},
    {"float8_e5m2", 23},
    {"float8_e4m3fn", 24},
    {"float8_e5m2fnuz", 25},
    {"float8_e4m3fnuz", 26},
    {"uint16", 27},
    {"uint32", 28},
    {"uint64", 29},
    {"float8_e8m0fnu", 44},
    // Layouts.
    {"strided", 0},
    {"sparse_coo", 1},
    {"sparse_csr", 2},
    {"_mkldnn", 3},
    {"sparse_csc", 4},
    {"sparse_bsr", 5},
    {"sparse_bsc", 6},
    {"jagged", 7},
    // Memory formats.
    {"contiguous_format", 0},
    {"legacy_contiguous_format", 0},
    {"preserve_format", 1},
    {"channels_last", 2},
    {"channels_last_3d", 3},
    // Quantization schemes.
    {"per_tensor_affine", 0},
    {"per_channel_affine", 1},
    {"per_tensor_symmetric", 2},
    {"per_channel_symmetric", 3},
    {"per_channel_affine_float_qparams", 4},
});

struct NamedFloat {
  std::string_view name;
  double value;
};
constexpr auto kFloats = std::to_array<NamedFloat>({
    {"pi", std::numbers::pi},
    {"e", std::numbers::e},
    {"tau", 2 * std::numbers::pi},
    {"inf", std::numeric_limits<double>::infinity()},
    {"nan", std::numeric_limits<double>::quiet_NaN()},
});

const PythonModule* find_python_module(std::string_view name) {
  const auto* found = std::ranges::find(kModules, name, &PythonModule::name);
  return found == kModules.end() ? nullptr : found;
}

}  // namespace

bool is_python_module(std::string_view dotted_name) { return find_python_module(dotted_name) != nullptr; }

std::optional<IValue> python_constant(std::string_view dotted_name) {
  const size_t dot = dotted_name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view module = dotted_name.substr(0, dot);
  const std::string_view name = dotted_name.substr(dot + 1);
  if (module == "torch") {
    const auto* found = std::ranges::find(kNumbers, name, &NamedNumber::name);
    if (found != kNumbers.end()) return IValue(found->value);
  }
  if (module != "torch" && module != "math" && module != "cmath") return std::nullopt;
  if (module == "cmath" && name == "infj") {
    return IValue(std::complex<double>(0, std::numeric_limits<double>::infinity()));
  }
  if (module == "cmath" && name == "nanj") {
    return IValue(std::complex<double>(0, std::numeric_limits<double>::quiet_NaN()));
  }
  const auto* found = std::ranges::find(kFloats, name, &NamedFloat::name);
  if (found == kFloats.end()) return std::nullopt;
  return IValue(found->value);
}

std::string python_operator(std::string_view module, std::string_view name) {
  const std::string full = std::string(module) + "." + std::string(name);
  const auto* renamed = std::ranges::find(kRenamed, std::string_view(full), &RenamedOperator::python);
  if (renamed != kRenamed.end()) return std::string(renamed->operator_name);
  if (module == "torch.nn.functional" && std::ranges::find(kFunctional, name) == kFunctional.end()) return {};
  if (module == "torch.nn.init" && !name.starts_with("_no_grad_")) return {};
  const PythonModule* found = find_python_module(module);
  return std::string(found != nullptr ? found->operator_prefix : "aten::") + std::string(name);
}

}  // namespace flambeau::script
