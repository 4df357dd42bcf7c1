#include "flambeau/ops/engines/lines.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "flambeau/kernels/transpose.h"

namespace flambeau::ops {
namespace {

constexpr size_t kMostPorts = 4;          // the input, and up to three outputs
constexpr size_t kMostTogether = 16;      // neighbouring lines that are turned at once
constexpr size_t kTurnedBytes = 1 << 18;  // about what they take

// How one operand's lines lie.
struct LinePort {
  uint8_t* base;
  DType dtype;
  DType row;
  int64_t step;  // bytes
  size_t length;
  bool is_direct;
  bool is_turned = false;  // lines lie side by side, so that several are columns of one block

  int64_t size() const { return static_cast<int64_t>(dtype_size(dtype)); }
};

LinePort port_of(const Tensor& tensor, uint8_t* base, size_t dim, DType row) {
  const auto size = static_cast<int64_t>(tensor.element_size());
  const size_t length = tensor.dim() == 0 ? 1 : static_cast<size_t>(tensor.sizes()[dim]);
  const int64_t step = length == 1 ? size : tensor.byte_stride(dim);
  return {base, tensor.dtype(), row, step, length, tensor.dtype() == row && step == size};
}

struct LineAxis {
  int64_t size;
  std::array<int64_t, kMostPorts> strides;  // bytes; of the input first
};

using Block = std::unique_ptr<uint8_t[]>;

Block make_block(size_t lines, const LinePort& port, DType dtype) {
  const Size bytes = Size(lines) * port.length * dtype_size(dtype) + 16;
  require_memory(static_cast<uint64_t>(bytes.value()));
  return Block(new uint8_t[static_cast<size_t>(bytes)]);
}

class LineRun {
 public:
  LineRun(const Tensor& input, size_t dim, DType row, Line line, std::span<const LineOutput> outputs,
          const void* parameters)
      : line_(line), parameters_(parameters) {
    ports_.push_back(port_of(input, const_cast<uint8_t*>(input.data()), dim, row));  // only read
    for (const LineOutput& output : outputs)
      ports_.push_back(port_of(*output.tensor, output.tensor->mutable_data(), dim, output.row));
    for (size_t d = 0; d < input.dim(); ++d) {
      if (d == dim) continue;
      lines_ *= input.sizes()[d];
      if (input.sizes()[d] == 1) continue;
      LineAxis axis{input.sizes()[d], {}};
      axis.strides[0] = input.byte_stride(d);
      for (size_t i = 0; i < outputs.size(); ++i) axis.strides[i + 1] = outputs[i].tensor->byte_stride(d);
      axes_.push_back(axis);
    }
    // Neighbours in memory one after the other: strided lines then share what the cache holds.
    std::stable_sort(axes_.begin(), axes_.end(),
                     [](const LineAxis& a, const LineAxis& b) { return a.strides[0] > b.strides[0]; });
    if (axes_.empty()) return;
    const size_t most = kTurnedBytes / (std::max<size_t>(ports_[0].length, 1) * sizeof(double));
    const size_t together =
        std::min({most, kMostTogether, static_cast<size_t>(std::max<int64_t>(axes_.back().size, 0))});
    if (together < 2) return;
    for (size_t i = 0; i < ports_.size(); ++i) {
      LinePort& port = ports_[i];
      port.is_turned = port.step != port.size() && axes_.back().strides[i] == port.size();
      if (port.is_turned) together_ = together;
    }
  }

  int64_t lines() const { return lines_; }
  size_t length() const { return ports_[0].length; }

  void run(size_t begin, size_t end) const {
    std::array<Block, kMostPorts> rows, turned;
    for (size_t i = 0; i < ports_.size(); ++i) {
      const LinePort& port = ports_[i];
      if (!port.is_direct) rows[i] = make_block(port.is_turned ? together_ : 1, port, port.row);
      if (port.is_turned && port.dtype != port.row) turned[i] = make_block(together_, port, port.dtype);
    }
    std::vector<int64_t> index(axes_.size());
    std::array<int64_t, kMostPorts> offsets{};
    auto rest = static_cast<int64_t>(begin);
    for (size_t d = axes_.size(); d-- > 0;) {
      index[d] = rest % axes_[d].size;
      rest /= axes_[d].size;
      for (size_t i = 0; i < ports_.size(); ++i) offsets[i] += index[d] * axes_[d].strides[i];
    }
    WorkPoller poll;
    for (size_t at = begin; at < end;) {
      size_t count = 1;
      if (together_ > 1)
        count = std::min({together_, end - at, static_cast<size_t>(axes_.back().size - index.back())});
      poll(length() * count);
      run_lines(offsets, count, rows, turned);
      at += count;
      auto step = static_cast<int64_t>(count);
      for (size_t d = axes_.size(); d-- > 0; step = 1) {
        for (size_t i = 0; i < ports_.size(); ++i) offsets[i] += step * axes_[d].strides[i];
        if ((index[d] += step) < axes_[d].size) break;
        for (size_t i = 0; i < ports_.size(); ++i) offsets[i] -= axes_[d].strides[i] * axes_[d].size;
        index[d] = 0;
      }
    }
  }

 private:
  // `count` lines that are neighbours along the last axis.
  void run_lines(const std::array<int64_t, kMostPorts>& offsets, size_t count,
                 const std::array<Block, kMostPorts>& rows,
                 const std::array<Block, kMostPorts>& turned) const {
    if (ports_[0].is_turned) {
      const LinePort& in = ports_[0];
      const bool converts = in.dtype != in.row;
      uint8_t* const block = (converts ? turned[0] : rows[0]).get();
      kernels::transpose(in.base + offsets[0], in.step, block, static_cast<int64_t>(in.length) * in.size(),
                         count, in.length, static_cast<size_t>(in.size()));
      if (converts) load_packed(in.dtype, block, in.size(), count * in.length, in.row, rows[0].get());
    }
    for (size_t k = 0; k < count; ++k) {
      const auto place = [&](size_t i) {
        const LinePort& port = ports_[i];
        if (port.is_turned) return rows[i].get() + k * port.length * dtype_size(port.row);
        const int64_t along = k == 0 ? 0 : static_cast<int64_t>(k) * axes_.back().strides[i];
        return port.base + offsets[i] + along;
      };
      const LinePort& in = ports_[0];
      const uint8_t* from = place(0);
      if (!in.is_direct && !in.is_turned) {
        load_packed(in.dtype, from, in.step, in.length, in.row, rows[0].get());
        from = rows[0].get();
      }
      std::array<void*, kMostPorts - 1> to{};
      for (size_t i = 1; i < ports_.size(); ++i)
        to[i - 1] = ports_[i].is_direct || ports_[i].is_turned ? place(i) : rows[i].get();
      line_(from, in.length, to.data(), parameters_);
      for (size_t i = 1; i < ports_.size(); ++i) {
        const LinePort& port = ports_[i];
        if (!port.is_direct && !port.is_turned)
          store_packed(port.row, rows[i].get(), port.length, port.dtype, place(i), port.step);
      }
    }
    for (size_t i = 1; i < ports_.size(); ++i) {
      const LinePort& port = ports_[i];
      if (!port.is_turned) continue;
      const uint8_t* block = rows[i].get();
      if (port.dtype != port.row) {
        store_packed(port.row, block, count * port.length, port.dtype, turned[i].get(), port.size());
        block = turned[i].get();
      }
      kernels::transpose(block, static_cast<int64_t>(port.length) * port.size(), port.base + offsets[i],
                         port.step, port.length, count, static_cast<size_t>(port.size()));
    }
  }

  Line line_;
  const void* parameters_;
  std::vector<LinePort> ports_;
  std::vector<LineAxis> axes_;
  int64_t lines_ = 1;
  size_t together_ = 1;
};

}  // namespace

void run_lines(Context& context, const Tensor& input, size_t dim, DType row, Line line,
               std::span<const LineOutput> outputs, const void* parameters, int cost) {
  const auto is_empty = [](const LineOutput& output) { return output.tensor->element_count() == 0; };
  if (std::all_of(outputs.begin(), outputs.end(), is_empty)) return;
  const LineRun run(input, dim, row, line, outputs, parameters);
  const Size work = Size(std::max<size_t>(run.length(), 1)) * std::max(cost, 1);
  const int64_t grain = std::max<int64_t>(kGrain / work, 1);
  if (run.lines() <= grain) return run.run(0, static_cast<size_t>(run.lines()));
  context.pool().for_each_range(static_cast<size_t>(run.lines()), static_cast<size_t>(grain),
                                [&](size_t begin, size_t end) { run.run(begin, end); });
}

Tensor with_dim(const Tensor& tensor, size_t dim, size_t rank) {
  if (tensor.dim() == rank) return tensor;
  Geometry geometry = tensor.geometry();
  geometry.sizes.insert(dim, 1);
  geometry.strides.insert(dim, 1);
  return tensor.with_geometry(std::move(geometry));
}

}  // namespace flambeau::ops
