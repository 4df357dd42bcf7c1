#include "flambeau/ops/engines/lines.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace flambeau::ops {
namespace {

constexpr size_t kMostLineOutputs = 3;

// How one operand's lines lie.
struct LinePort {
  uint8_t* base;
  DType dtype;
  DType row;
  int64_t step;  // bytes
  size_t length;
  bool is_direct;
};

LinePort port_of(const Tensor& tensor, uint8_t* base, size_t dim, DType row) {
  const auto size = static_cast<int64_t>(tensor.element_size());
  const size_t length = tensor.dim() == 0 ? 1 : static_cast<size_t>(tensor.sizes()[dim]);
  const int64_t step = length == 1 ? size : tensor.byte_stride(dim);
  return {base, tensor.dtype(), row, step, length, tensor.dtype() == row && step == size};
}

struct LineAxis {
  int64_t size;
  std::array<int64_t, kMostLineOutputs + 1> strides;  // bytes; of the input first
};

}  // namespace

void run_lines(Context& context, const Tensor& input, size_t dim, DType row, Line line,
               std::span<const LineOutput> outputs, const void* parameters, int cost) {
  const auto is_empty = [](const LineOutput& output) { return output.tensor->element_count() == 0; };
  if (std::all_of(outputs.begin(), outputs.end(), is_empty)) return;
  std::vector<LinePort> ports;
  ports.push_back(port_of(input, const_cast<uint8_t*>(input.data()), dim, row));  // only read
  for (const LineOutput& output : outputs) {
    ports.push_back(port_of(*output.tensor, output.tensor->mutable_data(), dim, output.row));
  }
  std::vector<LineAxis> axes;
  int64_t lines = 1;
  for (size_t d = 0; d < input.dim(); ++d) {
    if (d == dim) continue;
    lines *= input.sizes()[d];
    if (input.sizes()[d] == 1) continue;
    LineAxis axis{input.sizes()[d], {}};
    axis.strides[0] = input.byte_stride(d);
    for (size_t i = 0; i < outputs.size(); ++i) axis.strides[i + 1] = outputs[i].tensor->byte_stride(d);
    axes.push_back(axis);
  }
  // Neighbours in memory one after the other: strided lines then share what the cache holds.
  std::stable_sort(axes.begin(), axes.end(),
                   [](const LineAxis& a, const LineAxis& b) { return a.strides[0] > b.strides[0]; });

  const auto piece = [&](size_t begin, size_t end) {
    std::array<std::unique_ptr<uint8_t[]>, kMostLineOutputs + 1> blocks;
    for (size_t i = 0; i < ports.size(); ++i) {
      if (ports[i].is_direct) continue;
      const Size bytes = Size(ports[i].length) * dtype_size(ports[i].row) + 16;
      require_memory(static_cast<uint64_t>(bytes.value()));
      blocks[i].reset(new uint8_t[static_cast<size_t>(bytes)]);
    }
    std::vector<int64_t> index(axes.size());
    std::array<int64_t, kMostLineOutputs + 1> offsets{};
    auto rest = static_cast<int64_t>(begin);
    for (size_t d = axes.size(); d-- > 0;) {
      index[d] = rest % axes[d].size;
      rest /= axes[d].size;
      for (size_t i = 0; i < ports.size(); ++i) offsets[i] += index[d] * axes[d].strides[i];
    }
    WorkPoller poll;
    for (size_t at = begin; at < end; ++at) {
      poll(ports[0].length);
      const LinePort& in = ports[0];
      const void* from = in.base + offsets[0];
      if (!in.is_direct) {
        load_packed(in.dtype, in.base + offsets[0], in.step, in.length, in.row, blocks[0].get());
        from = blocks[0].get();
      }
      std::array<void*, kMostLineOutputs> to{};
      for (size_t i = 1; i < ports.size(); ++i) {
        to[i - 1] = ports[i].is_direct ? ports[i].base + offsets[i] : blocks[i].get();
      }
      line(from, in.length, to.data(), parameters);
      for (size_t i = 1; i < ports.size(); ++i) {
        const LinePort& port = ports[i];
        if (!port.is_direct) {
          store_packed(port.row, blocks[i].get(), port.length, port.dtype, port.base + offsets[i], port.step);
        }
      }
      for (size_t d = axes.size(); d-- > 0;) {
        for (size_t i = 0; i < ports.size(); ++i) offsets[i] += axes[d].strides[i];
        if (++index[d] < axes[d].size) break;
        for (size_t i = 0; i < ports.size(); ++i) offsets[i] -= axes[d].strides[i] * axes[d].size;
        index[d] = 0;
      }
    }
  };
  const Size work = Size(std::max<size_t>(ports[0].length, 1)) * std::max(cost, 1);
  const int64_t grain = std::max<int64_t>(kGrain / work, 1);
  if (lines <= grain) {
    piece(0, static_cast<size_t>(lines));
  } else {
    context.pool().for_each_range(static_cast<size_t>(lines), static_cast<size_t>(grain), piece);
  }
}

Tensor with_dim(const Tensor& tensor, size_t dim, size_t rank) {
  if (tensor.dim() == rank) return tensor;
  Geometry geometry = tensor.geometry();
  geometry.sizes.insert(dim, 1);
  geometry.strides.insert(dim, 1);
  return tensor.with_geometry(std::move(geometry));
}

}  // namespace flambeau::ops
