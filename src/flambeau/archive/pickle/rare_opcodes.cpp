// The opcodes that PyTorch's files rarely use, or once.
#include <fmt/format.h>

#include "flambeau/archive/pickle/machine.h"
#include "flambeau/archive/pickle/text.h"

namespace flambeau::pickle {

void Reader::rare_step(Opcode opcode) {
  switch (opcode) {
    case Opcode::kProto:
      return set_protocol();
    case Opcode::kFrame:
      return start_frame();
    case Opcode::kLong1:
      return push(tree_.make_integer(flambeau::as_bytes(text(*take(1))), false));
    case Opcode::kLong4: {
      const auto size = number<int32_t>();
      if (size < 0) fail(fmt::format(": negative length {}", size));
      return push(tree_.make_integer(flambeau::as_bytes(text(static_cast<uint64_t>(size))), false));
    }
    case Opcode::kBinUnicode8:
      return push_string(text(number<uint64_t>()));
    case Opcode::kShortBinBytes:
      return push(tree_.make_text(Kind::kBytes, text(*take(1))));
    case Opcode::kBinBytes:
      return push(tree_.make_text(Kind::kBytes, text(number<uint32_t>())));
    case Opcode::kBinBytes8:
      return push(tree_.make_text(Kind::kBytes, text(number<uint64_t>())));
    case Opcode::kByteArray8:
      return push(tree_.make_text(Kind::kByteArray, text(number<uint64_t>())));
    case Opcode::kShortBinString:
      return push_old_string(text(*take(1)));
    case Opcode::kBinString: {
      const auto size = number<int32_t>();
      if (size < 0) fail(fmt::format(": negative length {}", size));
      return push_old_string(text(static_cast<uint64_t>(size)));
    }
    case Opcode::kEmptySet:
      return push(tree_.make(Kind::kSet));
    case Opcode::kAddItems:
      return append_items(true);
    case Opcode::kFrozenSet: {
      const size_t start = pop_mark();
      Node* node = tree_.frozen_set(above(start));
      stack_.resize(start);
      return push(node);
    }
    case Opcode::kList: {
      const size_t start = pop_mark();
      Node* node = tree_.list(above(start));
      stack_.resize(start);
      return push(node);
    }
    case Opcode::kDict: {
      const size_t start = pop_mark();
      Node* node = tree_.dict(pairs_above(start));
      stack_.resize(start);
      return push(node);
    }
    case Opcode::kNewObjEx:
      return call_with_keywords();
    case Opcode::kInst: {
      Node* callee = line_global();
      return instance(callee, pop_mark());
    }
    case Opcode::kObj: {
      const size_t start = pop_mark();
      if (stack_.size() == start) fail_empty();
      Node* callee = stack_[start];
      stack_.erase(stack_.begin() + static_cast<ptrdiff_t>(start));
      return instance(callee, start);
    }
    case Opcode::kPersId:
      push_old_string(line());
      stack_.back() = tree_.persistent(stack_.back());
      return;
    case Opcode::kPop:
      return drop();
    case Opcode::kPopMark:
      return stack_.resize(pop_mark());
    case Opcode::kDup:
      flag_memoized(top());
      return push(top());
    case Opcode::kGet:
      return get(line_index());
    case Opcode::kPut:
      return put(line_index());
    case Opcode::kInt: {
      const std::string_view digits = line();
      if (digits == "00" || digits == "01") return push(tree_.boolean(digits == "01"));
      return push_decimal(digits);
    }
    case Opcode::kLong: {
      std::string_view digits = line();
      if (digits.ends_with('L')) digits.remove_suffix(1);
      return push_decimal(digits);
    }
    case Opcode::kFloat: {
      const std::string_view digits = line();
      const std::optional<double> value = decimal_to_double(digits);
      if (!value) fail(fmt::format(": '{}' is not a number", printable(digits)));
      return push(tree_.real(*value));
    }
    case Opcode::kString:
      return push_quoted(line());
    case Opcode::kUnicode:
      return push_raw_unicode(line());
    case Opcode::kExt1:
    case Opcode::kExt2:
    case Opcode::kExt4:
      fail(" refers to the extension registry of a running Python, which is not in the file",
           ErrorCode::kUnsupported);
    case Opcode::kNextBuffer:
    case Opcode::kReadOnlyBuffer:
      fail(" refers to a buffer that is kept outside of the pickle", ErrorCode::kUnsupported);
    default:
      fail(" is not known");
  }
}

}  // namespace flambeau::pickle
