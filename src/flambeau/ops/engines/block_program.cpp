#include "flambeau/ops/engines/block_program.h"

#include <algorithm>

#include "flambeau/ops/engines/block_layout.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/tensor/elements/convert_rows.h"

namespace flambeau::ops {
namespace {

// Where a run's tensors begin, beside the places for them.
struct Bases {
  std::array<uint8_t*, BlockProgram::kMostTensors> of{};
};

// One thread's part of a run.
class Worker {
 public:
  Worker(const BlockLayout& layout, const Bases& bases) : layout_(layout), bases_(bases) {
    for (size_t i = 0; i < layout.places.size(); ++i) {
      const BlockPlace& place = layout.places[i];
      if (place.kind == BlockPlace::Kind::kSlot) places_[i] = scratch_.data() + place.offset;
      // Numbers are only read.
      if (place.kind == BlockPlace::Kind::kNumber)
        places_[i] = const_cast<uint8_t*>(layout.numbers[place.index].bytes.data());
    }
  }

  void run(int64_t begin, int64_t end) {
    if (layout_.kernel == nullptr) {
      for (const BlockOperation& operation : layout_.of_numbers) perform(operation, layout_.block);
    }
    if (layout_.gathers) {
      run_gathered(begin, end);
    } else {
      run_rows(begin, end);
    }
  }

 private:
  // Rows are long: a block is a piece of one.
  void run_rows(int64_t begin, int64_t end) {
    const Walk& walk = layout_.walk;
    // Machine code needs no blocks, where nothing is brought together for it.
    const bool is_whole = layout_.kernel != nullptr && layout_.gathered.empty();
    walk.for_each(begin, end, [&](const Walk::Offsets& offsets, int64_t length) {
      const int64_t most = is_whole ? length : static_cast<int64_t>(layout_.block);
      for (int64_t done = 0; done < length; done += most) {
        const auto count = static_cast<size_t>(std::min(most, length - done));
        for (const BlockTensor& tensor : layout_.tensors)
          places_[tensor.place] = bases_.of[tensor.operand] + offsets[tensor.operand] + done * tensor.step;
        for (const BlockTensor& tensor : layout_.gathered) {
          copy_row(bases_.of[tensor.operand] + offsets[tensor.operand] + done * tensor.step, tensor.step,
                   places_[tensor.place], static_cast<int64_t>(tensor.size), count, tensor.size);
        }
        run_block(count);
      }
    });
  }

  // Rows are short: a block takes many, and what does not lie evenly through all of them is brought together.
  void run_gathered(int64_t begin, int64_t end) {
    const Walk& walk = layout_.walk;
    WorkPoller poll;
    const auto most = static_cast<int64_t>(layout_.block);
    for (int64_t at = begin; at < end; at += most) {
      const int64_t count = std::min(most, end - at);
      poll(static_cast<size_t>(count));
      for (const BlockTensor& tensor : layout_.tensors)
        places_[tensor.place] = bases_.of[tensor.operand] + at * tensor.step;
      int64_t done = 0;
      walk.for_each(at, at + count, [&](const Walk::Offsets& offsets, int64_t length) {
        for (const BlockTensor& tensor : layout_.gathered) {
          const auto size = static_cast<int64_t>(tensor.size);
          copy_row(bases_.of[tensor.operand] + offsets[tensor.operand], tensor.step,
                   places_[tensor.place] + done * size, size, static_cast<size_t>(length), tensor.size);
        }
        done += length;
      });
      run_block(static_cast<size_t>(count));
    }
  }

  void run_block(size_t count) {
    if (layout_.kernel != nullptr) return run_kernel(count);
    bool is_moved = false;
    for (size_t i = 0; i < layout_.singles.size(); ++i) {
      const uint8_t* const place = places_[layout_.singles[i]];
      is_moved = is_moved || place != last_singles_[i];
      last_singles_[i] = place;
    }
    if (is_moved) {
      for (const BlockOperation& operation : layout_.of_singles) perform(operation, layout_.block);
    }
    for (const BlockOperation& operation : layout_.operations) perform(operation, count);
  }

  void run_kernel(size_t count) {
    std::array<const void*, BlockProgram::kMostTensors> in;
    std::array<void*, BlockProgram::kMostTensors> out;
    for (size_t i = 0; i < layout_.kernel_inputs.size(); ++i) in[i] = places_[layout_.kernel_inputs[i]];
    for (size_t i = 0; i < layout_.kernel_outputs.size(); ++i) out[i] = places_[layout_.kernel_outputs[i]];
    layout_.kernel(in.data(), out.data(), layout_.constants.data(), static_cast<int64_t>(count));
  }

  void perform(const BlockOperation& operation, size_t count) {
    uint8_t* const to = places_[operation.output];
    const uint8_t* const first = places_[operation.inputs[0]];
    switch (operation.kind) {
      case BlockOperation::Kind::kRow: {
        std::array<const void*, Body::kMostInputs> in;
        for (size_t i = 0; i < in.size(); ++i) in[i] = places_[operation.inputs[i]];
        void* const out[] = {to};
        return operation.row(in.data(), out, count, layout_.parameters[operation.step].bytes.data());
      }
      case BlockOperation::Kind::kConvert:
        return load_packed(operation.from, first, static_cast<int64_t>(dtype_size(operation.from)),
                           operation.is_single ? 1 : count, operation.to, to);
      case BlockOperation::Kind::kRepeat: {
        const size_t size = dtype_size(operation.to);
        std::memcpy(to, first, size);
        return repeat_packed(to, size, count);
      }
    }
  }

  const BlockLayout& layout_;
  const Bases& bases_;
  std::array<uint8_t*, BlockLayout::kMostPlaces> places_;
  std::array<const uint8_t*, BlockProgram::kMostTensors> last_singles_{};
  alignas(64) std::array<uint8_t, BlockLayout::kScratch> scratch_;
};

}  // namespace

struct BlockProgram::Layout : BlockLayout {
  using BlockLayout::BlockLayout;
};

BlockProgram::BlockProgram(std::span<const Tensor> inputs, std::span<const BlockStep> steps,
                           const Tensor& like, const BlockKernels* kernels)
    : layout_(std::make_unique<Layout>(inputs, steps, like, kernels)) {}

BlockProgram::~BlockProgram() = default;

void BlockProgram::run(Context& context, std::span<const Value> inputs,
                       std::span<const Tensor> outputs) const {
  const Layout& layout = *layout_;
  const int64_t count = layout.walk.element_count();
  if (count == 0) return;
  Bases bases;
  for (size_t i = 0; i < outputs.size(); ++i) bases.of[i] = outputs[i].mutable_data();
  for (size_t i = 0; i < inputs.size(); ++i)
    bases.of[outputs.size() + i] = const_cast<uint8_t*>(inputs[i].tensor().data());  // only read
  const int64_t grain = std::max<int64_t>(kGrain / layout.cost, 256);
  if (count <= grain) {
    Worker(layout, bases).run(0, count);
    return;
  }
  context.pool().for_each_range(
      static_cast<size_t>(count), static_cast<size_t>(grain), [&](size_t begin, size_t end) {
        Worker(layout, bases).run(static_cast<int64_t>(begin), static_cast<int64_t>(end));
      });
}

bool BlockProgram::takes(const Tensor& input, const Tensor& like) {
  const Tensor* const operands[] = {&like, &input};
  return !Walk(like.sizes(), operands).runs_across(1, input.element_size());
}

}  // namespace flambeau::ops
