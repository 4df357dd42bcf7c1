#include "flambeau/kernels/onednn/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "flambeau/base/error.h"
#include "flambeau/kernels/onednn/internal.h"

namespace flambeau::kernels::onednn {
namespace {

// The last `count` of depth, height and width.
dnnl::memory::dims last(const Spatial& values, size_t count) { return {values.end() - count, values.end()}; }

// oneDNN counts the gaps between taps, PyTorch the steps.
dnnl::memory::dims gaps(const Spatial& dilation, size_t count) {
  dnnl::memory::dims result = last(dilation, count);
  for (int64_t& value : result) --value;
  return result;
}

size_t space_of(const Layout& source, int64_t batch, int64_t channels, const Spatial& size) {
  std::vector<int64_t> found = source.sizes();
  if (found.size() >= 3 && found.size() <= 5) {
    std::vector<int64_t> wanted = {batch, channels};
    wanted.insert(wanted.end(), size.end() - (found.size() - 2), size.end());
    if (found == wanted) return found.size() - 2;
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("the layout {} is not that of a batch of {} images with {} channels and size {}x{}x{}",
                  source.name(), batch, channels, size[0], size[1], size[2]));
}

// PyTorch's weights as oneDNN names their dimensions: groups where there are some, out, in, kernel.
Layout weights_layout(const ConvolutionShape& shape, size_t space) {
  const int64_t outs = shape.out_channels / shape.groups;
  const int64_t ins = shape.in_channels / shape.groups;
  const int64_t taps = shape.kernel_size();
  std::vector<int64_t> sizes, steps;
  if (shape.groups > 1) {
    sizes.push_back(shape.groups);
    steps.push_back(outs * ins * taps);
  }
  sizes.insert(sizes.end(), {outs, ins});
  if (shape.transposed) {
    steps.insert(steps.end(), {taps, outs * taps});
  } else {
    steps.insert(steps.end(), {ins * taps, taps});
  }
  int64_t step = taps;
  for (const int64_t size : last(shape.kernel, space)) {
    step /= size;
    sizes.push_back(size);
    steps.push_back(step);
  }
  return Layout::strided(sizes, steps);
}

// Version 2.6.3 reads an operand as large as the result from wrong places where its loop of last resort
// writes channels last.
void refuse_wrong_sums(std::string_view implementation, const Layout& out, std::span<const PostOp> post) {
  if (implementation.find("gemm") == std::string_view::npos || out == Layout::plain(out.sizes())) return;
  for (const PostOp& operation : post) {
    if (operation.operand && operation.operand.sizes() == out.sizes()) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("oneDNN adds arrays wrongly behind a convolution to {}", out.name()),
                  "add what the output holds (PostOp::Kind::kSum), or use a layer of its own");
    }
  }
}

// Convolutions and transposed ones differ in name only.
template <typename Primitive>
typename Primitive::primitive_desc describe(const ConvolutionShape& shape, size_t space,
                                            dnnl::algorithm algorithm, const Layout& source,
                                            const Layout& weights, const Layout& bias, const Layout& out,
                                            std::span<const PostOp> post) {
  Spatial after;
  for (size_t i = 0; i < 3; ++i) after[i] = shape.after(i);
  const auto make = [&](auto... descs) {
    return typename Primitive::desc(dnnl::prop_kind::forward_inference, algorithm, descs...,
                                    last(shape.stride, space), gaps(shape.dilation, space),
                                    last(shape.padding, space), last(after, space));
  };
  const auto wanted = bias ? make(desc_of(source), desc_of(weights), desc_of(bias), desc_of(out))
                           : make(desc_of(source), desc_of(weights), desc_of(out));
  return {wanted, attributes(post), engine()};
}

}  // namespace

ConvolutionLayer::ConvolutionLayer(const ConvolutionShape& shape, const Layout& source, const Layout& out,
                                   const float* weights, const float* bias, std::span<const PostOp> post,
                                   const Weights& same) {
  const size_t space = space_of(source, shape.batch, shape.in_channels, shape.input);
  if (space_of(out, shape.batch, shape.out_channels, shape.output()) != space) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a convolution from {} to {}, which have not the same number "
                            "of dimensions",
                            source.name(), out.name()));
  }
  translate("a convolution", [&] {
    const Layout plain = weights_layout(shape, space);
    const Layout bias_layout = bias != nullptr ? Layout::plain(std::array{shape.out_channels}) : Layout();
    const auto finish = [&](const auto& desc) {
      source_ = layout_of(desc.src_desc());
      out_ = layout_of(desc.dst_desc());
      refuse_wrong_sums(desc.impl_info_str(), out_, post);
      const Layout packed = layout_of(desc.weights_desc());
      weights_ = same && same.layout() == packed ? same : Weights(packed, reordered(weights, plain, packed));
      prepared_->add_array(DNNL_ARG_SRC, desc.src_desc());
      prepared_->add_array(DNNL_ARG_DST, desc.dst_desc());
      prepared_->add_constant(DNNL_ARG_WEIGHTS, desc.weights_desc(), weights_.memory());
      if (bias != nullptr) {
        prepared_->add_constant(DNNL_ARG_BIAS, desc_of(bias_layout),
                                copied(bias, static_cast<size_t>(shape.out_channels)));
      }
      prepared_->add_operands(post);
    };
    const Layout any = Layout::any(plain.sizes());
    if (shape.transposed) {
      const auto desc = describe<dnnl::deconvolution_forward>(
          shape, space, dnnl::algorithm::deconvolution_direct, source, any, bias_layout, out, post);
      prepared_ = prepare<dnnl::deconvolution_forward>(desc);
      finish(desc);
    } else {
      const auto desc = describe<dnnl::convolution_forward>(shape, space, dnnl::algorithm::convolution_direct,
                                                            source, any, bias_layout, out, post);
      prepared_ = prepare<dnnl::convolution_forward>(desc);
      finish(desc);
    }
  });
}

std::pair<Layout, Layout> ConvolutionLayer::choose(const ConvolutionShape& shape, const Layout& source,
                                                   const Layout& out, std::span<const PostOp> post) {
  const size_t space = space_of(source, shape.batch, shape.in_channels, shape.input);
  return translate("a convolution", [&]() -> std::pair<Layout, Layout> {
    const Layout any = Layout::any(weights_layout(shape, space).sizes());
    const Layout bias = Layout::plain(std::array{shape.out_channels});
    const auto layouts = [](const auto& desc) {
      return std::pair(layout_of(desc.src_desc()), layout_of(desc.dst_desc()));
    };
    if (shape.transposed) {
      return layouts(describe<dnnl::deconvolution_forward>(
          shape, space, dnnl::algorithm::deconvolution_direct, source, any, bias, out, post));
    }
    return layouts(describe<dnnl::convolution_forward>(shape, space, dnnl::algorithm::convolution_direct,
                                                       source, any, bias, out, post));
  });
}

void ConvolutionLayer::run(const float* source, float* out, void* scratch,
                           std::span<const float* const> operands) const {
  execute(std::array<const void*, 2>{source, out}, operands, scratch);
}

PoolingLayer::PoolingLayer(const PoolingShape& shape, const Layout& source, const Layout& out,
                           std::span<const PostOp> post) {
  const size_t space = space_of(source, shape.batch, shape.channels, shape.input);
  space_of(out, shape.batch, shape.channels, shape.output);
  constexpr std::array kAlgorithms = {dnnl::algorithm::pooling_max,
                                      dnnl::algorithm::pooling_avg_include_padding,
                                      dnnl::algorithm::pooling_avg_exclude_padding};
  translate("a pooling layer", [&] {
    Spatial after;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t reach =
          (shape.output[i] - 1) * shape.stride[i] + (shape.kernel[i] - 1) * shape.dilation[i] + 1;
      after[i] = std::max<int64_t>(0, reach - shape.input[i] - shape.padding[i]);
    }
    const dnnl::pooling_v2_forward::desc wanted(
        dnnl::prop_kind::forward_inference, kAlgorithms[static_cast<size_t>(shape.kind)], desc_of(source),
        desc_of(out), last(shape.stride, space), last(shape.kernel, space), gaps(shape.dilation, space),
        last(shape.padding, space), last(after, space));
    const dnnl::pooling_v2_forward::primitive_desc desc(wanted, attributes(post), engine());
    prepared_ = prepare<dnnl::pooling_v2_forward>(desc);
    source_ = source;
    out_ = layout_of(desc.dst_desc());
    prepared_->add_array(DNNL_ARG_SRC, desc.src_desc());
    prepared_->add_array(DNNL_ARG_DST, desc.dst_desc());
    prepared_->add_operands(post);
  });
}

void PoolingLayer::run(const float* source, float* out, void* scratch,
                       std::span<const float* const> operands) const {
  execute(std::array<const void*, 2>{source, out}, operands, scratch);
}

}  // namespace flambeau::kernels::onednn
