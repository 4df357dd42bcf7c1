#include "flambeau/archive/pickle_reader.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "flambeau/archive/pickle_memo.h"
#include "flambeau/archive/pickle_opcodes.h"
#include "flambeau/archive/pickle_text.h"
#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"

namespace flambeau::pickle {

// The pickle machine: a stack of nodes, marks in it, and the memo. Every opcode checks what it takes.
class Reader {
 public:
  Reader(ByteSpan bytes, std::shared_ptr<const void> keep_alive, const Limits& limits)
      : begin_(bytes.data()), end_(bytes.data() + bytes.size()), at_(begin_), opcode_at_(begin_) {
    tree_.keep_alive_ = std::move(keep_alive);
    tree_.protocol_ = 0;
    const std::optional<uint64_t> scaled = try_mul<uint64_t>(bytes.size(), limits.bytes_per_input_byte);
    const std::optional<uint64_t> limit = try_add(limits.fixed_bytes, scaled.value_or(UINT64_MAX));
    tree_.arena_.set_limit(limit.value_or(UINT64_MAX));
  }

  Parsed run() {
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
    return {std::move(tree_), static_cast<size_t>(at_ - begin_)};
  }

 private:
  void run_to_stop();
  void rare_step(Opcode opcode);

  // `message` follows "opcode X".
  [[noreturn]] void fail(std::string_view message, ErrorCode code = ErrorCode::kCorrupt) const {
    Error error(code, fmt::format("opcode {}{}", opcode_name(*opcode_at_), message));
    throw error.add_location("byte", std::to_string(opcode_at_ - begin_));
  }
  [[noreturn]] void fail_short(uint64_t needed) const {
    fail(fmt::format(": {} bytes expected, {} left", needed, end_ - at_));
  }
  [[noreturn]] void fail_kind(const Node* found, std::string_view expected) const {
    fail(fmt::format(" on {}, {} was expected", a_kind(found->kind()), expected));
  }
  [[noreturn]] void fail_empty() const { fail(": the stack holds too few values"); }

  // Input.
  const uint8_t* take(uint64_t count) {
    if (count > static_cast<uint64_t>(end_ - at_)) fail_short(count);
    return std::exchange(at_, at_ + count);
  }
  template <typename T>
  T number() {
    return load_le<T>(take(sizeof(T)));
  }
  std::string_view text(uint64_t count) { return {reinterpret_cast<const char*>(take(count)), count}; }
  std::string_view line() {
    const void* newline = at_ == end_ ? nullptr : std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
    if (newline == nullptr) fail(": no end of line");
    const auto* stop = static_cast<const uint8_t*>(newline);
    const std::string_view found = as_text({at_, stop});
    at_ = stop + 1;
    return found;
  }
  uint64_t line_index() {
    const std::string_view digits = line();
    uint64_t index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      fail(fmt::format(": '{}' is not a memo index", printable(digits)));
    }
    return index;
  }

  // Stack. What lies below the last mark is out of reach, as in CPython.
  void push(Node* node) { stack_.push_back(node); }
  void need(size_t count) const {
    if (stack_.size() - fence_ < count) fail_empty();
  }
  Node* pop() {
    need(1);
    Node* node = stack_.back();
    stack_.pop_back();
    return node;
  }
  Node* top() const {
    need(1);
    return stack_.back();
  }
  void mark() {
    marks_.push_back(stack_.size());
    fence_ = stack_.size();
  }
  // Where the values above the last mark start; the mark is gone.
  size_t pop_mark() {
    if (marks_.empty()) fail(": there is no MARK on the stack");
    const size_t start = marks_.back();
    marks_.pop_back();
    fence_ = marks_.empty() ? 0 : marks_.back();
    return start;
  }
  std::span<Node* const> above(size_t start) const { return std::span(stack_).subspan(start); }
  // The values above `start`, two by two.
  std::span<const Pair> pairs_above(size_t start) {
    const std::span<Node* const> values = above(start);
    if (values.size() % 2 != 0) fail(": a key without a value");
    pairs_.resize(values.size() / 2);
    for (size_t i = 0; i < pairs_.size(); ++i) pairs_[i] = {values[2 * i], values[2 * i + 1]};
    return pairs_;
  }

  // Nodes.
  Node* tuple(std::span<Node* const> items) {
    Node* node = tree_.make(Kind::kTuple);
    Node** copy = tree_.arena_.allocate<Node*>(items.size());
    for (size_t i = 0; i < items.size(); ++i) copy[i] = items[i];
    node->second_.items = copy;
    node->first_.size = items.size();
    if (items.size() > UINT32_MAX) fail(": more than 2^32 items", ErrorCode::kLimit);
    node->capacity_ = static_cast<uint32_t>(items.size());
    return node;
  }
  Node* singleton(Node*& slot, Kind kind, int64_t value = 0) {
    if (slot == nullptr) {
      slot = tree_.make(kind);
      slot->first_.integer = value;
    }
    return slot;
  }
  void push_string(std::string_view utf8) {
    if (!is_valid_utf8_with_surrogates(utf8)) fail(": the text is not UTF-8");
    push(tree_.make_text(Kind::kString, utf8));
  }
  // Python 2's str, which may hold text or bytes.
  void push_old_string(std::string_view text) {
    push(tree_.make_text(is_valid_utf8_with_surrogates(text) ? Kind::kString : Kind::kBytes, text));
  }
  void push_decimal(std::string_view digits) {
    const std::optional<std::vector<uint8_t>> value = decimal_to_twos_complement(digits);
    if (!value) {
      if (digits.size() > kMostDigits) {
        fail(fmt::format(": a number of more than {} digits", kMostDigits), ErrorCode::kLimit);
      }
      fail(fmt::format(": '{}' is not a number", printable(digits)));
    }
    push(tree_.make_integer(*value, true));
  }
  void push_quoted(std::string_view literal) {
    if (literal.size() < 2 || literal.front() != literal.back() ||
        (literal.front() != '\'' && literal.front() != '"')) {
      fail(": the text is not in quotes");
    }
    literal = literal.substr(1, literal.size() - 2);
    if (literal.find('\\') == std::string_view::npos) return push_old_string(literal);
    const std::optional<std::string> bytes = unescape_bytes(literal);
    if (!bytes) fail(": a broken escape in the text");
    push_old_string(tree_.keep(*bytes));
  }
  void push_raw_unicode(std::string_view escaped) {
    const std::optional<std::string> utf8 = unescape_raw_unicode(escaped);
    if (!utf8) fail(": a broken escape in the text");
    push(tree_.make_text(Kind::kString, tree_.keep(*utf8)));
  }
  Node* line_global() {
    const std::string_view module = line();
    const std::string_view name = line();
    if (!is_valid_utf8(module) || !is_valid_utf8(name)) fail(": the name is not UTF-8");
    return tree_.make_global({module, name}, nullptr, nullptr);
  }
  void replace_with_tuple(size_t count) {
    need(count);
    Node* node = tuple(above(stack_.size() - count));
    stack_.resize(stack_.size() - count);
    push(node);
  }
  void get(uint64_t index) {
    Node* node = memo_.get(index);
    if (node == nullptr) fail(fmt::format(": nothing was stored at memo index {}", index));
    push(node);
  }
  void put(uint64_t index) {
    Node* node = top();
    flag_memoized(node);
    memo_.put(index, node);
  }
  void flag_memoized(Node* node) const {
    if (node->kind_ > Kind::kInt && node != empty_tuple_) node->memoized_ = true;
  }
  bool put_follows() const {
    if (at_ == end_) return false;
    const auto next = static_cast<Opcode>(*at_);
    return next == Opcode::kBinPut || next == Opcode::kMemoize || next == Opcode::kLongBinPut ||
           next == Opcode::kPut;
  }

  // Opcodes with more than a line to them.
  void append_items(bool to_set) {
    const size_t start = pop_mark();
    if (start == fence_) fail_empty();
    Node* target = stack_[start - 1];
    const Kind wanted = to_set ? Kind::kSet : Kind::kList;
    if (target->kind_ != wanted && target->kind_ != Kind::kCall) fail_kind(target, a_kind(wanted));
    tree_.extend_items(target, above(start));
    stack_.resize(start);
  }
  void append() {
    need(2);
    Node* item = pop();
    if (top()->kind_ != Kind::kList && top()->kind_ != Kind::kCall) fail_kind(top(), "a list");
    tree_.extend_items(top(), {&item, 1});
  }
  void set_items() {
    const size_t start = pop_mark();
    if (start == fence_) fail_empty();
    Node* target = stack_[start - 1];
    if (target->kind_ != Kind::kDict && target->kind_ != Kind::kCall) fail_kind(target, "a dict");
    tree_.extend_pairs(target, pairs_above(start));
    stack_.resize(start);
  }
  void set_item() {
    need(3);
    Pair pair{};
    pair.value = pop();
    pair.key = pop();
    if (top()->kind_ != Kind::kDict && top()->kind_ != Kind::kCall) fail_kind(top(), "a dict");
    tree_.extend_pairs(top(), {&pair, 1});
  }
  void build() {
    need(2);
    Node* state = pop();
    if (top()->kind_ != Kind::kCall) fail_kind(top(), "an object made by a call");
    Node*& slot = tree_.extra(top()).state;
    if (slot != nullptr) fail(": the object was given a state before");
    slot = state;
  }
  void call(CallKind how) {
    need(2);
    Node* args = pop();
    if (how != CallKind::kReduce && args->kind_ != Kind::kTuple) fail_kind(args, "a tuple of arguments");
    stack_.back() = tree_.call(stack_.back(), args, how);
  }
  void call_with_keywords() {
    need(3);
    Node* kwargs = pop();
    Node* args = pop();
    if (kwargs->kind_ != Kind::kDict) fail_kind(kwargs, "a dict of arguments");
    if (args->kind_ != Kind::kTuple) fail_kind(args, "a tuple of arguments");
    stack_.back() = tree_.call_with_keywords(stack_.back(), args, kwargs);
  }
  void instance(Node* callee, size_t start) {
    Node* args = tree_.tuple(above(start));
    stack_.resize(start);
    push(tree_.call(callee, args, CallKind::kInst));
  }
  void stack_global() {
    need(2);
    Node* name = pop();
    Node* module = pop();
    if (module->kind_ != Kind::kString) fail_kind(module, "a string");
    if (name->kind_ != Kind::kString) fail_kind(name, "a string");
    push(tree_.make_global({module->text(), name->text()}, module, name));
  }
  void drop();
  void start_frame() {
    const auto size = number<uint64_t>();
    if (size > static_cast<uint64_t>(end_ - at_)) fail_short(size);
  }
  void set_protocol() {
    const uint8_t protocol = *take(1);
    if (protocol > 5) {
      fail(fmt::format(": protocol {}, at most 5 was expected", protocol), ErrorCode::kUnsupported);
    }
    tree_.protocol_ = protocol;
  }

  const uint8_t* begin_;
  const uint8_t* end_;
  const uint8_t* at_;
  const uint8_t* opcode_at_;
  Tree tree_;
  std::vector<Node*> stack_;
  std::vector<size_t> marks_;
  size_t fence_ = 0;  // the last mark
  ReaderMemo memo_;
  std::vector<Pair> pairs_;  // scratch
  // CPython never memoizes these, so one node may stand for all equal ones.
  Node* none_ = nullptr;
  Node* true_ = nullptr;
  Node* false_ = nullptr;
  Node* empty_tuple_ = nullptr;
  std::array<Node*, 256> small_ints_{};
};

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

void Reader::drop() {
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    pop_mark();
    return;
  }
  const Node* dropped = pop();
  // An object's own way to take its state is written as a call of setter(object, state) whose result is
  // dropped. CPython gives the pair no place in the memo, unlike the arguments of any other call.
  if (stack_.size() == fence_ || dropped->kind_ != Kind::kCall || dropped->memoized_) return;
  const Node::Call call = dropped->as_call();
  if (call.how != CallKind::kReduce || call.args->kind_ != Kind::kTuple || call.args->memoized_) return;
  const std::span<Node* const> args = call.args->items();
  if (args.size() != 2 || args[0] != stack_.back() || args[0]->kind_ != Kind::kCall) return;
  if (tree_.extra(args[0]).state != nullptr) fail(": the object was given a state before");
  tree_.set_state(args[0], args[1], call.callee);
}

Parsed parse(ByteSpan bytes, std::shared_ptr<const void> keep_alive, const Limits& limits) {
  return Reader(bytes, std::move(keep_alive), limits).run();
}

}  // namespace flambeau::pickle
