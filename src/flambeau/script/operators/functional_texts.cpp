#include "flambeau/script/operators/functional_texts.h"

#include <string>

namespace flambeau::script {
namespace {

constexpr std::string_view kText = R"(
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.relu_(input) if inplace else torch.relu(input)

def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    return torch._C._nn.relu6_(input) if inplace else torch._C._nn.relu6(input)

def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return torch._C._nn.elu_(input, alpha) if inplace else torch._C._nn.elu(input, alpha)

def selu(input: Tensor, inplace: bool = False) -> Tensor:
    return torch.selu_(input) if inplace else torch.selu(input)

def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    return torch.celu_(input, alpha) if inplace else torch.celu(input, alpha)

def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    if inplace:
        return torch._C._nn.leaky_relu_(input, negative_slope)
    return torch._C._nn.leaky_relu(input, negative_slope)

def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return torch._C._nn.hardtanh_(input, min_val, max_val)
    return torch._C._nn.hardtanh(input, min_val, max_val)

def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    return torch._C._nn.hardsigmoid_(input) if inplace else torch._C._nn.hardsigmoid(input)

def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    return torch._C._nn.hardswish_(input) if inplace else torch._C._nn.hardswish(input)

def silu(input: Tensor, inplace: bool = False) -> Tensor:
    return torch._C._nn.silu_(input) if inplace else torch._C._nn.silu(input)

def mish(input: Tensor, inplace: bool = False) -> Tensor:
    return torch._C._nn.mish_(input) if inplace else torch._C._nn.mish(input)

def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    return torch.threshold_(input, threshold, value) if inplace else torch.threshold(input, threshold, value)

def sigmoid(input: Tensor) -> Tensor:
    return input.sigmoid()

def tanh(input: Tensor) -> Tensor:
    return input.tanh()

def tanhshrink(input: Tensor) -> Tensor:
    return input - input.tanh()

def softsign(input: Tensor) -> Tensor:
    return input / (input.abs() + 1)

def glu(input: Tensor, dim: int = -1) -> Tensor:
    return torch._C._nn.glu(input, dim)

def softmax(input: Tensor, dim: int, dtype: Optional[int] = None) -> Tensor:
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)

def softmin(input: Tensor, dim: int, dtype: Optional[int] = None) -> Tensor:
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)

def log_softmax(input: Tensor, dim: int, dtype: Optional[int] = None) -> Tensor:
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)

def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    denominator = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / denominator

def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")

def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    _check_probability(p)
    return torch.dropout_(input, p, training) if inplace else torch.dropout(input, p, training)

def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    _check_probability(p)
    return torch.alpha_dropout_(input, p, training) if inplace else torch.alpha_dropout(input, p, training)

def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    _check_probability(p)
    return torch.feature_dropout_(input, p, training) if inplace else torch.feature_dropout(input, p, training)

def max_pool1d(input: Tensor, kernel_size: BroadcastingList1[int], stride: Optional[List[int]] = None,
               padding: BroadcastingList1[int] = 0, dilation: BroadcastingList1[int] = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    assert not return_indices, "return_indices gives two results: call torch.max_pool1d_with_indices"
    strides: List[int] = []
    if stride is not None:
        strides = stride
    return torch.max_pool1d(input, kernel_size, strides, padding, dilation, ceil_mode)

def max_pool2d(input: Tensor, kernel_size: BroadcastingList2[int], stride: Optional[List[int]] = None,
               padding: BroadcastingList2[int] = 0, dilation: BroadcastingList2[int] = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    assert not return_indices, "return_indices gives two results: call torch._C._nn.max_pool2d_with_indices"
    strides: List[int] = []
    if stride is not None:
        strides = stride
    return torch.max_pool2d(input, kernel_size, strides, padding, dilation, ceil_mode)

def max_pool3d(input: Tensor, kernel_size: BroadcastingList3[int], stride: Optional[List[int]] = None,
               padding: BroadcastingList3[int] = 0, dilation: BroadcastingList3[int] = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> Tensor:
    assert not return_indices, "return_indices gives two results: call torch._C._nn.max_pool3d_with_indices"
    strides: List[int] = []
    if stride is not None:
        strides = stride
    return torch.max_pool3d(input, kernel_size, strides, padding, dilation, ceil_mode)

def adaptive_avg_pool2d(input: Tensor, output_size: BroadcastingList2[int]) -> Tensor:
    return torch._C._nn.adaptive_avg_pool2d(input, output_size)

def adaptive_avg_pool3d(input: Tensor, output_size: BroadcastingList3[int]) -> Tensor:
    return torch._C._nn.adaptive_avg_pool3d(input, output_size)

def batch_norm(input: Tensor, running_mean: Optional[Tensor], running_var: Optional[Tensor],
               weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)

def instance_norm(input: Tensor, running_mean: Optional[Tensor] = None, running_var: Optional[Tensor] = None,
                  weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    return torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
                               False)

def layer_norm(input: Tensor, normalized_shape: List[int], weight: Optional[Tensor] = None,
               bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    return torch.layer_norm(input, normalized_shape, weight, bias, eps, False)

def group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               eps: float = 1e-5) -> Tensor:
    return torch.group_norm(input, num_groups, weight, bias, eps, False)

def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    row = -1
    if padding_idx is not None:
        row = padding_idx if padding_idx >= 0 else padding_idx + weight.size(0)
    indices = input
    if max_norm is not None:
        indices = input.contiguous()
        torch.embedding_renorm_(weight.detach(), indices, max_norm, norm_type)
    return torch.embedding(weight, indices, row, scale_grad_by_freq, sparse)

def _reduction_number(reduction: str) -> int:
    if reduction == "none":
        return 0
    if reduction == "mean":
        return 1
    if reduction == "sum":
        return 2
    raise ValueError(f"{reduction} is not a valid value for reduction")

def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return torch._C._nn.mse_loss(input, target, _reduction_number(reduction))

def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return torch._C._nn.l1_loss(input, target, _reduction_number(reduction))

def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    return torch._C._nn.smooth_l1_loss(input, target, _reduction_number(reduction), beta)

def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    return torch._C._nn.huber_loss(input, target, _reduction_number(reduction), delta)

def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100,
             reduction: str = "mean") -> Tensor:
    return torch._C._nn.nll_loss_nd(input, target, weight, _reduction_number(reduction), ignore_index)

def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100,
                  reduction: str = "mean", label_smoothing: float = 0.0) -> Tensor:
    return torch._C._nn.cross_entropy_loss(input, target, weight, _reduction_number(reduction), ignore_index,
                                           label_smoothing)

def binary_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                         reduction: str = "mean") -> Tensor:
    return torch._C._nn.binary_cross_entropy(input, target, weight, _reduction_number(reduction))

def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                     reduction: str = "mean", pos_weight: Optional[Tensor] = None) -> Tensor:
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, _reduction_number(reduction))

def interpolate(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[List[float]] = None,
                mode: str = "nearest", align_corners: Optional[bool] = None) -> Tensor:
    aligned = False if align_corners is None else align_corners
    dims = input.dim()
    if dims == 3 and mode == "nearest":
        return torch._C._nn.upsample_nearest1d(input, size, scale_factor)
    if dims == 4 and mode == "nearest":
        return torch._C._nn.upsample_nearest2d(input, size, scale_factor)
    if dims == 5 and mode == "nearest":
        return torch._C._nn.upsample_nearest3d(input, size, scale_factor)
    if dims == 3 and mode == "linear":
        return torch._C._nn.upsample_linear1d(input, size, aligned, scale_factor)
    if dims == 4 and mode == "bilinear":
        return torch._C._nn.upsample_bilinear2d(input, size, aligned, scale_factor)
    if dims == 5 and mode == "trilinear":
        return torch._C._nn.upsample_trilinear3d(input, size, aligned, scale_factor)
    if dims == 4 and mode == "bicubic":
        return torch._C._nn.upsample_bicubic2d(input, size, aligned, scale_factor)
    raise NotImplementedError(f"{dims}D inputs cannot be resized with mode {mode}")
)";

}  // namespace

std::string_view functional_text() { return kText; }

bool is_functional_name(std::string_view name) {
  if (name.empty() || name.find_first_of("( \n") != std::string_view::npos) return false;
  return kText.find("\ndef " + std::string(name) + "(") != std::string_view::npos;
}

}  // namespace flambeau::script
