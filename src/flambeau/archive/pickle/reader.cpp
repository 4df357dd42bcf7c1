#include "flambeau/archive/pickle/reader.h"

#include <fmt/format.h>

#include <bit>

#include "flambeau/archive/pickle/machine.h"
#include "flambeau/base/checked.h"

namespace flambeau::pickle {

Reader::Reader(ByteSpan bytes, std::shared_ptr<const void> keep_alive, const Limits& limits)
    : begin_(bytes.data()), end_(bytes.data() + bytes.size()), at_(begin_), opcode_at_(begin_) {
  tree_.keep_alive_ = std::move(keep_alive);
  tree_.protocol_ = 0;
  const std::optional<uint64_t> scaled = try_mul<uint64_t>(bytes.size(), limits.bytes_per_input_byte);
  const std::optional<uint64_t> limit = try_add(limits.fixed_bytes, scaled.value_or(UINT64_MAX));
  tree_.arena_.set_limit(limit.value_or(UINT64_MAX));
}

Parsed Reader::run() {
  try {
    run_to_stop();
  } catch (Error& error) {
    if (!error.locations().empty()) throw;
    // The arena does not know where it was called from.
    Error located(error.code(), fmt::format("opcode {}: {}", opcode_name(*opcode_at_), error.message()),
                  error.remedy());
    throw located.add_location("byte", std::to_string(opcode_at_ - begin_));
  }
  tree_.arena_.set_limit(UINT64_MAX);
  tree_.highest_memo_index_ = memo_.highest();
  return {std::move(tree_), static_cast<size_t>(at_ - begin_)};
}

void Reader::run_to_stop() {
  while (true) {
    if (at_ == end_) {
      Error error(ErrorCode::kCorrupt, "the pickle ends without the opcode STOP");
      throw error.add_location("byte", std::to_string(at_ - begin_));
    }
    opcode_at_ = at_;
    const auto opcode = static_cast<Opcode>(*at_++);
    switch (opcode) {
      case Opcode::kMark:
        mark();
        break;
      case Opcode::kStop:
        tree_.root_ = pop();
        return;
      case Opcode::kBinInt:
        push(tree_.integer(number<int32_t>()));
        break;
      case Opcode::kBinInt1: {
        const uint8_t value = *take(1);
        push(singleton(small_ints_[value], Kind::kInt, value));
        break;
      }
      case Opcode::kBinInt2:
        push(tree_.integer(number<uint16_t>()));
        break;
      case Opcode::kNone:
        push(singleton(none_, Kind::kNone));
        break;
      case Opcode::kNewTrue:
        push(singleton(true_, Kind::kBool, 1));
        break;
      case Opcode::kNewFalse:
        push(singleton(false_, Kind::kBool, 0));
        break;
      case Opcode::kBinFloat:
        push(tree_.real(std::bit_cast<double>(byte_swapped(number<uint64_t>()))));
        break;
      case Opcode::kBinUnicode:
        push_string(text(number<uint32_t>()));
        break;
      case Opcode::kShortBinUnicode:
        push_string(text(*take(1)));
        break;
      case Opcode::kBinPersId:
        push(tree_.persistent(pop()));
        break;
      case Opcode::kReduce:
        call(CallKind::kReduce);
        break;
      case Opcode::kNewObj:
        call(CallKind::kNewObject);
        break;
      case Opcode::kBuild:
        build();
        break;
      case Opcode::kGlobal:
        push(line_global());
        break;
      case Opcode::kStackGlobal:
        stack_global();
        break;
      case Opcode::kEmptyDict:
        push(tree_.make(Kind::kDict));
        break;
      case Opcode::kEmptyList:
        push(tree_.make(Kind::kList));
        break;
      case Opcode::kEmptyTuple:
        // PyTorch's C++ pickler may keep an empty tuple; then the flag needs a node of its own.
        push(put_follows() ? tree_.make(Kind::kTuple) : singleton(empty_tuple_, Kind::kTuple));
        break;
      case Opcode::kTuple: {
        const size_t start = pop_mark();
        Node* node = tuple(above(start));
        stack_.resize(start);
        push(node);
        break;
      }
      case Opcode::kTuple1:
        replace_with_tuple(1);
        break;
      case Opcode::kTuple2:
        replace_with_tuple(2);
        break;
      case Opcode::kTuple3:
        replace_with_tuple(3);
        break;
      case Opcode::kAppend:
        append();
        break;
      case Opcode::kAppends:
        append_items(false);
        break;
      case Opcode::kSetItem:
        set_item();
        break;
      case Opcode::kSetItems:
        set_items();
        break;
      case Opcode::kBinGet:
        get(*take(1));
        break;
      case Opcode::kLongBinGet:
        get(number<uint32_t>());
        break;
      case Opcode::kBinPut:
        put(*take(1));
        break;
      case Opcode::kLongBinPut:
        put(number<uint32_t>());
        break;
      case Opcode::kMemoize:
        put(memo_.count());
        break;
      default:
        rare_step(opcode);
    }
  }
}

Parsed parse(ByteSpan bytes, std::shared_ptr<const void> keep_alive, const Limits& limits) {
  return Reader(bytes, std::move(keep_alive), limits).run();
}

}  // namespace flambeau::pickle
