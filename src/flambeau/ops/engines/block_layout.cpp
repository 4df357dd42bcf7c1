#include "flambeau/ops/engines/block_layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/block_code.h"

namespace flambeau::ops {
namespace {

constexpr size_t kNowhere = ~size_t{0};
// Blocks are as large as these bytes allow, beside what is read and written in tensors' own memory.
constexpr size_t kBlockBytes = size_t{24} << 10;
constexpr size_t kMostBlock = 2048;
constexpr size_t kLeastBlock = 32;
// Below this many elements a row is too short for loops of its own.
constexpr int64_t kShortRow = 256;

std::vector<Tensor> outputs_like(std::span<const BlockStep> steps, const Tensor& like) {
  std::vector<Tensor> outputs;
  for (const BlockStep& step : steps) {
    if (!step.is_output) continue;
    const size_t bytes = static_cast<size_t>(like.element_count()) * dtype_size(step.dtype);
    outputs.push_back(Tensor::strided(step.dtype, {like.sizes(), like.strides(), 0}, Storage::meta(bytes)));
  }
  return outputs;
}

Walk walk_over(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const Tensor& like) {
  if (outputs.empty() || outputs.size() + inputs.size() > BlockProgram::kMostTensors)
    throw Error(ErrorCode::kInternal, "a program of blocks with no results, or too many tensors");
  std::vector<const Tensor*> operands;
  for (const Tensor& tensor : outputs) operands.push_back(&tensor);
  for (const Tensor& tensor : inputs) operands.push_back(&tensor);
  return Walk(like.sizes(), operands);
}

// Whether the operand's elements are at equal steps through all rows.
bool is_even(const Walk& walk, size_t operand) {
  int64_t stride = walk.step(operand) * walk.row_length();
  for (size_t d = walk.outer().size(); d-- > 0;) {
    if (walk.outer()[d].strides[operand] != stride) return false;
    stride *= walk.outer()[d].size;
  }
  return true;
}

// When what a place holds is there: before all blocks, with the single elements, or in each block.
enum class Phase : uint8_t { kNumbers, kSingles, kBlocks };

class Maker {
 public:
  Maker(BlockLayout& layout, std::span<const Tensor> inputs, std::span<const BlockStep> steps, size_t outputs)
      : layout_(layout), inputs_(inputs), steps_(steps), outputs_(outputs) {}

  void make(const BlockKernels* kernels) {
    size_t output = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      BlockParameters& parameters = layout_.parameters.emplace_back();
      parameters.bytes = steps_[i].body.parameters;
      const size_t to = steps_[i].is_output ? output_place(output++, steps_[i].dtype) : kNowhere;
      results_.push_back(steps_[i].body.rows.plain == nullptr ? add_copy(i, to) : add_row(i, to));
    }
    if (layout_.places.size() > BlockLayout::kMostPlaces)
      throw Error(ErrorCode::kInternal, "a program of too many blocks");
    if (kernels != nullptr) find_kernel(*kernels);
    place_slots();
  }

 private:
  void find_kernel(const BlockKernels& kernels) {
    std::vector<BlockOperand> operands;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      layout_.kernel_inputs.push_back(input_place(i));
      operands.push_back({inputs_[i].dtype(), layout_.places[layout_.kernel_inputs.back()].is_single});
    }
    const std::optional<BlockCode> code = block_code(operands, steps_);
    if (!code) return;
    layout_.kernel = kernels.find(code->text);
    if (layout_.kernel == nullptr) return;
    for (size_t i = 0; i < layout_.tensors.size(); ++i) {
      if (layout_.tensors[i].operand < outputs_) layout_.kernel_outputs.push_back(layout_.tensors[i].place);
    }
    static constexpr int64_t kZero = 0;
    layout_.constants.push_back(&kZero);
    for (const BlockCode::Constant& constant : code->constants) {
      if (!constant.input) {
        layout_.constants.push_back(layout_.parameters[constant.step].bytes.data());
        continue;
      }
      layout_.constants.push_back(nullptr);
      layout_.kernel_numbers.push_back({steps_[constant.step].body.inputs()[*constant.input].number});
    }
    // They stay where they are as soon as all are there.
    const BlockNumber* number = layout_.kernel_numbers.data();
    for (const void*& constant : layout_.constants) {
      if (constant == nullptr) constant = number++;
    }
  }

  size_t add_place(BlockPlace place, Phase phase) {
    layout_.places.push_back(place);
    phases_.push_back(phase);
    return layout_.places.size() - 1;
  }
  size_t add_slot(DType type, bool is_single, Phase phase) {
    return add_place({.kind = BlockPlace::Kind::kSlot, .is_single = is_single, .type = type}, phase);
  }
  void add_operation(const BlockOperation& operation, Phase phase) {
    std::vector<BlockOperation>& list = phase == Phase::kNumbers   ? layout_.of_numbers
                                        : phase == Phase::kSingles ? layout_.of_singles
                                                                   : layout_.operations;
    list.push_back(operation);
  }

  size_t output_place(size_t output, DType type) {
    const auto size = static_cast<int64_t>(dtype_size(type));
    const bool is_packed = layout_.walk.element_count() <= 1 ||
                           (layout_.walk.step(output) == size && is_even(layout_.walk, output));
    if (!is_packed) throw Error(ErrorCode::kInternal, "results of a program of blocks are dense");
    const size_t place = add_place({.kind = BlockPlace::Kind::kTensor, .type = type}, Phase::kBlocks);
    layout_.tensors.push_back(
        {.operand = output, .place = place, .step = size, .size = static_cast<size_t>(size)});
    return place;
  }

  // As it is stored.
  size_t input_place(size_t input) {
    const auto [found, is_new] = input_places_.try_emplace(input, kNowhere);
    if (!is_new) return found->second;
    const Walk& walk = layout_.walk;
    const size_t operand = outputs_ + input;
    const DType type = inputs_[input].dtype();
    const auto size = static_cast<int64_t>(dtype_size(type));
    const bool is_alone = walk.element_count() <= 1;
    const bool is_linear = !layout_.gathers || is_even(walk, operand);
    const bool is_packed = is_alone || (is_linear && walk.step(operand) == size);
    const bool is_single = !is_alone && is_linear && walk.step(operand) == 0;
    BlockTensor tensor{.operand = operand,
                       .place = kNowhere,
                       .step = is_alone ? size : walk.step(operand),
                       .size = static_cast<size_t>(size)};
    if (is_packed || is_single) {
      tensor.place = add_place({.kind = BlockPlace::Kind::kTensor, .is_single = is_single, .type = type},
                               is_single ? Phase::kSingles : Phase::kBlocks);
      layout_.tensors.push_back(tensor);
      if (is_single) layout_.singles.push_back(tensor.place);
    } else {
      tensor.place = add_slot(type, false, Phase::kBlocks);
      layout_.gathered.push_back(tensor);
    }
    return found->second = tensor.place;
  }

  size_t number_place(const Input& input) {
    layout_.numbers.push_back({input.number});
    return add_place({.kind = BlockPlace::Kind::kNumber,
                      .is_single = true,
                      .type = input.row,
                      .index = layout_.numbers.size() - 1},
                     Phase::kNumbers);
  }

  size_t source_place(const BlockStep& step, size_t which) {
    const BlockSource& source = step.sources[which];
    switch (source.kind) {
      case BlockSource::Kind::kInput:
        return input_place(source.index);
      case BlockSource::Kind::kStep:
        return results_[source.index];
      case BlockSource::Kind::kNumber:
        break;
    }
    return number_place(step.body.inputs()[which]);
  }

  // In the type that the row reads.
  size_t loaded(const BlockStep& step, size_t which) {
    const Input& input = step.body.inputs()[which];
    const size_t place = source_place(step, which);
    if (step.sources[which].kind == BlockSource::Kind::kNumber) return place;
    const DType stored = layout_.places[place].type;
    if (input.reads(stored)) return place;
    if (input.common == input.row || input.common == stored) return converted(place, input.row);
    return converted(converted(place, input.common), input.row);
  }

  size_t converted(size_t place, DType to) {
    const auto [found, is_new] = converted_.try_emplace({place, to}, kNowhere);
    if (!is_new) return found->second;
    const BlockPlace from = layout_.places[place];
    const size_t slot = add_slot(to, from.is_single, phases_[place]);
    add_conversion(place, slot);
    return found->second = slot;
  }
  void add_conversion(size_t from, size_t to) {
    add_operation({.kind = BlockOperation::Kind::kConvert,
                   .is_single = layout_.places[from].is_single,
                   .inputs = {from},
                   .output = to,
                   .from = layout_.places[from].type,
                   .to = layout_.places[to].type},
                  phases_[to]);
  }

  // An array of a single element.
  size_t repeated(size_t place) {
    const auto [found, is_new] = repeated_.try_emplace(place, kNowhere);
    if (!is_new) return found->second;
    const size_t slot = add_slot(layout_.places[place].type, false, phases_[place]);
    add_repetition(place, slot);
    return found->second = slot;
  }
  void add_repetition(size_t from, size_t to) {
    add_operation({.kind = BlockOperation::Kind::kRepeat,
                   .inputs = {from},
                   .output = to,
                   .to = layout_.places[to].type},
                  phases_[to]);
  }

  size_t add_copy(size_t index, size_t to) {
    const BlockStep& step = steps_[index];
    const size_t place = loaded(step, 0);
    if (to == kNowhere) return place;
    if (layout_.places[place].is_single) {
      add_repetition(place, to);
    } else {
      add_conversion(place, to);
    }
    return to;
  }

  size_t add_row(size_t index, size_t to) {
    const BlockStep& step = steps_[index];
    const Rows& rows = step.body.rows;
    BlockOperation operation{.kind = BlockOperation::Kind::kRow, .row = rows.plain, .step = index};
    const size_t count = step.body.inputs().size();
    for (size_t i = 0; i < count; ++i) operation.inputs[i] = loaded(step, i);
    const auto is_single = [&](size_t i) { return layout_.places[operation.inputs[i]].is_single; };
    size_t one = kNowhere;  // is taken as a single element
    if (rows.first_is_one != nullptr && is_single(0) && !is_single(1)) {
      one = 0;
      operation.row = rows.first_is_one;
    } else if (rows.second_is_one != nullptr && is_single(1)) {
      one = 1;
      operation.row = rows.second_is_one;
    }
    for (size_t i = 0; i < count; ++i) {
      if (i != one && is_single(i)) operation.inputs[i] = repeated(operation.inputs[i]);
    }
    const bool is_whole = step.body.row == step.dtype;
    operation.output = is_whole && to != kNowhere ? to : add_slot(step.body.row, false, Phase::kBlocks);
    for (size_t i = count; i < Body::kMostInputs; ++i) operation.inputs[i] = operation.inputs[0];
    add_operation(operation, Phase::kBlocks);
    layout_.cost += step.body.cost;
    if (is_whole) return operation.output;
    // Rounded to the operator's type.
    if (to == kNowhere) return converted(operation.output, step.dtype);
    add_conversion(operation.output, to);
    return to;
  }

  // ---- scratch memory

  bool is_slot(size_t place) const { return layout_.places[place].kind == BlockPlace::Kind::kSlot; }

  // Slots that hold one thing after another. What is there before the first operation stays where it is.
  void place_slots() {
    std::vector<size_t> last(layout_.places.size(), kNowhere);
    for (size_t k = 0; k < layout_.operations.size(); ++k) {
      for (const size_t input : layout_.operations[k].inputs) last[input] = k;
    }
    std::vector<size_t> share(layout_.places.size(), kNowhere);  // beside places: the arrays they lie in
    std::vector<size_t> sizes;                                   // of an array's elements
    const auto add_array = [&](size_t place) {
      share[place] = sizes.size();
      sizes.push_back(dtype_size(layout_.places[place].type));
    };
    std::vector<bool> is_written(layout_.places.size(), false);
    for (const BlockOperation& operation : layout_.operations) is_written[operation.output] = true;
    for (size_t i = 0; i < layout_.places.size(); ++i) {
      if (is_slot(i) && !layout_.places[i].is_single && !is_written[i]) add_array(i);
    }
    std::vector<std::pair<size_t, size_t>> taken;  // place, array
    for (size_t k = 0; k < layout_.operations.size(); ++k) {
      const BlockOperation& operation = layout_.operations[k];
      if (!is_slot(operation.output)) continue;
      const size_t size = dtype_size(layout_.places[operation.output].type);
      // A row may write where it reads.
      const bool may_overwrite = operation.kind == BlockOperation::Kind::kRow;
      const auto free = std::ranges::find_if(taken, [&](const auto& each) {
        const size_t until = last[each.first];
        return sizes[each.second] == size && (until < k || (may_overwrite && until == k));
      });
      if (free == taken.end()) {
        add_array(operation.output);
        taken.emplace_back(operation.output, share[operation.output]);
      } else {
        share[operation.output] = free->second;
        free->first = operation.output;
      }
    }
    set_offsets(share, sizes);
  }

  void set_offsets(const std::vector<size_t>& share, const std::vector<size_t>& sizes) {
    constexpr size_t kGap = 64;  // also keeps arrays off the same sets of the cache
    size_t at = 0;
    for (BlockPlace& place : layout_.places) {
      if (place.kind != BlockPlace::Kind::kSlot || !place.is_single) continue;
      place.offset = at;
      at += kMostElement;
    }
    at = (at + kGap - 1) / kGap * kGap;
    size_t per_element = 0;
    for (const size_t size : sizes) per_element += size;
    const size_t wanted = per_element == 0 ? kMostBlock : kBlockBytes / per_element;
    layout_.block = std::clamp(wanted / 64 * 64, kLeastBlock, kMostBlock);
    std::vector<size_t> offsets;
    for (const size_t size : sizes) {
      offsets.push_back(at);
      at += (layout_.block * size + kGap - 1) / kGap * kGap + kGap;
    }
    if (at > BlockLayout::kScratch) throw Error(ErrorCode::kInternal, "a program of too many blocks");
    for (size_t i = 0; i < layout_.places.size(); ++i) {
      if (share[i] != kNowhere) layout_.places[i].offset = offsets[share[i]];
    }
  }

  BlockLayout& layout_;
  std::span<const Tensor> inputs_;
  std::span<const BlockStep> steps_;
  size_t outputs_;
  std::vector<size_t> results_;  // beside the steps, in their operators' types
  std::vector<Phase> phases_;    // beside the places
  std::map<size_t, size_t> input_places_;
  std::map<std::pair<size_t, DType>, size_t> converted_;
  std::map<size_t, size_t> repeated_;
};

}  // namespace

BlockLayout::BlockLayout(std::span<const Tensor> inputs, std::span<const BlockStep> steps, const Tensor& like,
                         const BlockKernels* kernels)
    : walk(walk_over(outputs_like(steps, like), inputs, like)) {
  const auto outputs =
      static_cast<size_t>(std::ranges::count_if(steps, [](const BlockStep& step) { return step.is_output; }));
  gathers = !walk.outer().empty() && walk.row_length() < kShortRow;
  Maker(*this, inputs, steps, outputs).make(kernels);
}

}  // namespace flambeau::ops
