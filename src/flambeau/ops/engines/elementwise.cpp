#include "flambeau/ops/engines/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/walk.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/tensor/elements/convert_rows.h"

namespace flambeau::ops {
namespace {

constexpr size_t kRowBlock = 1024;

// How one operand reaches the row function.
struct Port {
  uint8_t* base;
  DType stored;
  DType row;
  DType common;
  bool is_same;    // no conversion
  bool is_direct;  // the row works on the operand's own memory
  bool is_one;     // the row takes a single element
};

// Blocks for operands that are converted; one set for each thread's piece of work.
struct Blocks {
  alignas(64) std::array<std::array<uint8_t, kRowBlock * kMostElement>, Walk::kMostOperands> bytes;
  std::array<const uint8_t*, Walk::kMostOperands> broadcast_from{};  // whose element fills the block
};

class Loop {
 public:
  Loop(std::span<const Input> inputs, std::span<const Output> outputs, const Walk& walk, const Rows& rows,
       const void* parameters)
      : walk_(walk),
        row_(rows.plain),
        parameters_(parameters),
        outputs_(outputs.size()),
        inputs_(inputs.size()) {
    for (size_t i = 0; i < outputs_; ++i) {
      const Tensor& tensor = *outputs[i].tensor;
      set(i, tensor.mutable_data(), tensor.dtype(), Input(&tensor, tensor.dtype(), outputs[i].row));
    }
    for (size_t i = 0; i < inputs_; ++i) {
      const Input& input = inputs[i];
      const uint8_t* const base = input.tensor == nullptr ? input.number.data() : input.tensor->data();
      // Inputs are only read.
      set(outputs_ + i, const_cast<uint8_t*>(base),
          input.tensor == nullptr ? input.row : input.tensor->dtype(), input);
    }
    if (rows.first_is_one != nullptr && walk.step(outputs_) == 0 && walk.step(outputs_ + 1) != 0) {
      row_ = rows.first_is_one;
      ports_[outputs_].is_one = true;
    } else if (rows.second_is_one != nullptr && walk.step(outputs_ + 1) == 0) {
      row_ = rows.second_is_one;
      ports_[outputs_ + 1].is_one = true;
    }
    for (size_t i = 0; i < outputs_ + inputs_; ++i) {
      Port& port = ports_[i];
      // A single element that needs no conversion is read where it lies.
      port.is_direct = port.is_direct || (port.is_one && port.is_same);
      needs_blocks_ = needs_blocks_ || !port.is_direct;
      splits_rows_ = splits_rows_ || !(port.is_direct || port.is_one);
    }
  }

  void run(int64_t begin, int64_t end) const {
    if (!needs_blocks_) {
      run_pieces<false>(begin, end, nullptr);
    } else {
      Blocks blocks;
      run_pieces<true>(begin, end, &blocks);
    }
  }

 private:
  void set(size_t i, uint8_t* base, DType stored, const Input& as) {
    const bool same = as.tensor == nullptr || as.reads(stored);
    const bool is_packed =
        walk_.step(i) == static_cast<int64_t>(dtype_size(as.row)) || walk_.row_length() == 1;
    ports_[i] = {.base = base,
                 .stored = stored,
                 .row = as.row,
                 .common = as.tensor == nullptr ? as.row : as.common,
                 .is_same = same,
                 .is_direct = same && is_packed,
                 .is_one = false};
  }

  template <bool kConverts>
  void run_pieces(int64_t begin, int64_t end, Blocks* blocks) const {
    walk_.for_each(begin, end, [&](const Walk::Offsets& offsets, int64_t length) {
      std::array<const void*, Walk::kMostOperands> in{};
      std::array<void*, Walk::kMostOperands> out{};
      const int64_t most = kConverts && splits_rows_ ? static_cast<int64_t>(kRowBlock) : length;
      for (int64_t done = 0; done < length; done += most) {
        const auto count = static_cast<size_t>(std::min(most, length - done));
        for (size_t i = 0; i < inputs_; ++i) {
          const size_t at = outputs_ + i;
          const Port& port = ports_[at];
          uint8_t* const place = port.base + offsets[at] + done * walk_.step(at);
          in[i] = !kConverts || port.is_direct ? place : load(port, at, place, count, *blocks);
        }
        for (size_t i = 0; i < outputs_; ++i) {
          const Port& port = ports_[i];
          uint8_t* const place = port.base + offsets[i] + done * walk_.step(i);
          out[i] = !kConverts || port.is_direct ? place : blocks->bytes[i].data();
        }
        row_(in.data(), out.data(), count, parameters_);
        if constexpr (kConverts) {
          for (size_t i = 0; i < outputs_; ++i) {
            const Port& port = ports_[i];
            if (port.is_direct) continue;
            store_packed(port.row, blocks->bytes[i].data(), count, port.stored,
                         port.base + offsets[i] + done * walk_.step(i), walk_.step(i));
          }
        }
      }
    });
  }

  const void* load(const Port& port, size_t at, const uint8_t* place, size_t count, Blocks& blocks) const {
    uint8_t* const block = blocks.bytes[at].data();
    const bool is_broadcast = walk_.step(at) == 0;
    if (is_broadcast && blocks.broadcast_from[at] == place) return block;
    const size_t loaded = is_broadcast ? 1 : count;
    const DType from = port.stored;
    if (port.common == port.row || port.common == from) {
      load_packed(from, place, walk_.step(at), loaded, port.row, block);
    } else {
      std::array<uint8_t, kRowBlock * kMostElement> rounded;
      load_packed(from, place, walk_.step(at), loaded, port.common, rounded.data());
      load_packed(port.common, rounded.data(), static_cast<int64_t>(dtype_size(port.common)), loaded,
                  port.row, block);
    }
    if (is_broadcast) {
      if (!port.is_one) repeat_packed(block, dtype_size(port.row), kRowBlock);
      blocks.broadcast_from[at] = place;
    }
    return block;
  }

  const Walk& walk_;
  Row row_;
  const void* parameters_;
  size_t outputs_;
  size_t inputs_;
  bool needs_blocks_ = false;
  bool splits_rows_ = false;
  std::array<Port, Walk::kMostOperands> ports_{};
};

// Below this a strided operand stays in the cache anyway.
constexpr int64_t kWorthTurning = 2048;

}  // namespace

void run_elementwise(Context& context, std::span<const Input> inputs, std::span<const Output> outputs,
                     const Rows& rows, const void* parameters, int cost) {
  if (inputs.size() + outputs.size() > Walk::kMostOperands) {
    throw Error(ErrorCode::kInternal, "too many operands for one elementwise loop");
  }
  std::array<const Tensor*, Walk::kMostOperands> operands{};
  for (size_t i = 0; i < outputs.size(); ++i) operands[i] = outputs[i].tensor;
  for (size_t i = 0; i < inputs.size(); ++i) operands[outputs.size() + i] = inputs[i].tensor;
  const Walk walk(outputs[0].tensor->sizes(), std::span(operands.data(), inputs.size() + outputs.size()));
  if (walk.element_count() == 0) return;
  if (walk.element_count() >= kWorthTurning) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].tensor == nullptr) continue;
      const Tensor& across = *inputs[i].tensor;
      if (!walk.runs_across(outputs.size() + i, across.element_size())) continue;
      // Turned once, in tiles, to lie as the result does.
      const Tensor& like = *outputs[0].tensor;
      Info<Size> info{.dtype = across.dtype(), .sizes = like.sizes(), .strides = like.strides()};
      if (across.element_count() != like.element_count() || !is_dense(info)) continue;
      const Tensor turned = context.allocate(info);
      copy_into(context, across, turned);
      std::array<Input, Walk::kMostOperands> changed{};
      std::copy(inputs.begin(), inputs.end(), changed.begin());
      changed[i].tensor = &turned;
      return run_elementwise(context, std::span(changed.data(), inputs.size()), outputs, rows, parameters,
                             cost);
    }
  }
  const Loop loop(inputs, outputs, walk, rows, parameters);
  const int64_t grain = std::max<int64_t>(kGrain / std::max(cost, 1), 256);
  if (walk.element_count() <= grain) {
    loop.run(0, walk.element_count());
    return;
  }
  context.pool().for_each_range(
      static_cast<size_t>(walk.element_count()), static_cast<size_t>(grain),
      [&](size_t begin, size_t end) { loop.run(static_cast<int64_t>(begin), static_cast<int64_t>(end)); });
}

void run_body(Context& context, const Body& body, const Tensor& out) {
  const std::span<const Input> inputs = body.inputs();
  if (body.rows.plain != nullptr) {
    const Output outputs[] = {{&out, body.row}};
    return run_elementwise(context, inputs, outputs, body.rows, body.parameters.data(), body.cost);
  }
  if (out.element_count() == 0) return;
  if (inputs[0].tensor == nullptr) {
    const size_t size = dtype_size(inputs[0].row);
    if (out.element_count() <= kGrain && out.dtype() == inputs[0].row && out.is_contiguous()) {
      uint8_t* const to = out.mutable_data();
      std::memcpy(to, inputs[0].number.data(), size);
      return repeat_packed(to, size, static_cast<size_t>(out.element_count()));
    }
    const std::shared_ptr<Storage> storage = Storage::uninitialized(size);
    std::memcpy(storage->mutable_bytes().data(), inputs[0].number.data(), size);
    return copy_into(context, Tensor::strided(inputs[0].row, {}, storage), out);
  }
  if (inputs[0].tensor->is_meta()) {
    throw Error(ErrorCode::kInvalidArgument, "Cannot copy out of meta tensor; no data!",
                "give the program its weights");
  }
  copy_into(context, *inputs[0].tensor, out);
}

void load_packed(DType from, const uint8_t* source, int64_t step, size_t count, DType to, void* packed) {
  convert_row(from, source, step, to, static_cast<uint8_t*>(packed), static_cast<int64_t>(dtype_size(to)),
              count);
}

void store_packed(DType from, const void* packed, size_t count, DType to, uint8_t* target, int64_t step) {
  convert_row(from, static_cast<const uint8_t*>(packed), static_cast<int64_t>(dtype_size(from)), to, target,
              step, count);
}

void store_number(const Scalar& value, DType dtype, uint8_t* to) {
  const auto step = static_cast<int64_t>(dtype_size(dtype));
  if (value.is_complex()) {
    const std::complex<double> number = value.to_complex();
    store_packed(DType::kComplex128, &number, 1, dtype, to, step);
  } else if (value.is_float()) {
    const double number = value.to_double();
    store_packed(DType::kFloat64, &number, 1, dtype, to, step);
  } else {
    const int64_t number = value.to_int();
    store_packed(DType::kInt64, &number, 1, dtype, to, step);
  }
}

Input::Input(const Scalar& value, DType common_type, DType row_type) : common(common_type), row(row_type) {
  std::array<uint8_t, kMostElement> given;
  store_number(value, value.dtype(), given.data());
  if (common == row || common == value.dtype()) {
    load_packed(value.dtype(), given.data(), 0, 1, row, number.data());
  } else {
    std::array<uint8_t, kMostElement> rounded;
    load_packed(value.dtype(), given.data(), 0, 1, common, rounded.data());
    load_packed(common, rounded.data(), 0, 1, row, number.data());
  }
}

Body copy_body(const Tensor& from, const Tensor& out) {
  Body body;
  body.name = "copy";
  body.row = out.dtype();
  body.add(Input(&from, out.dtype(), out.dtype()));
  return body;
}

Body copy_body(const Scalar& number, const Tensor& out) {
  Body body;
  body.name = "copy";
  body.row = out.dtype();
  body.add(Input(number, out.dtype(), out.dtype()));
  return body;
}

Tensor wrapped_number(const Scalar& value) {
  if (value.is_symbol()) return Tensor::of_symbol(value.symbol());
  Tensor tensor = scalar_tensor(value, value.dtype());
  tensor.set_wrapped_number(true);
  return tensor;
}

Tensor scalar_tensor(const Scalar& value, DType dtype) {
  Tensor tensor = Tensor::strided(dtype, {}, Storage::uninitialized(dtype_size(dtype)));
  store_number(value, dtype, tensor.mutable_data());
  return tensor;
}

Scalar item(const Tensor& tensor) {
  if (tensor.element_count() != 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a Tensor with {} elements cannot be converted to Scalar", tensor.element_count()));
  }
  const uint8_t* const from = tensor.data();
  const DType dtype = tensor.dtype();
  if (dtype == DType::kBool) return *from != 0;
  switch (compute_type(dtype)) {
    case Compute::kFloat:
    case Compute::kDouble: {
      double number = 0;
      load_packed(dtype, from, 0, 1, DType::kFloat64, &number);
      return number;
    }
    case Compute::kInt64:
    case Compute::kUInt64: {
      int64_t number = 0;
      load_packed(dtype, from, 0, 1, DType::kInt64, &number);
      return number;
    }
    default: {
      std::complex<double> number;
      load_packed(dtype, from, 0, 1, DType::kComplex128, &number);
      return number;
    }
  }
}

}  // namespace flambeau::ops
