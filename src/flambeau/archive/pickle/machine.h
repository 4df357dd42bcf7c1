// The pickle machine: a stack of nodes, marks in it, and the memo. Every opcode checks what it takes.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/archive/pickle/memo.h"
#include "flambeau/archive/pickle/opcodes.h"
#include "flambeau/archive/pickle/reader.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"

namespace flambeau::pickle {

class Reader {
 public:
  // Of a module or of a name in it. A few bytes can repeat a name, so whoever compares or prints names
  // must not meet long ones.
  static constexpr size_t kMostNameBytes = 1024;

  Reader(ByteSpan bytes, std::shared_ptr<const void> keep_alive, const Limits& limits);

  Parsed run();

 private:
  void run_to_stop();
  void rare_step(Opcode opcode);  // the opcodes that PyTorch's files do not use, or once

  // `message` follows "opcode X".
  [[noreturn]] void fail(std::string_view message, ErrorCode code = ErrorCode::kCorrupt) const;
  [[noreturn]] void fail_short(uint64_t needed) const;
  [[noreturn]] void fail_kind(const Node* found, std::string_view expected) const;
  [[noreturn]] void fail_empty() const { fail(": the stack holds too few values"); }
  [[noreturn]] void fail_dangling(uint64_t index) const;

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
  std::string_view line();
  uint64_t line_index();

  // Stack. What lies below the last mark is out of reach, as in CPython.
  void push(Node* node) {
    if (stack_.size() == stack_.capacity()) grow(stack_);
    stack_.push_back(node);
  }
  // Picklers hand over their items a thousand at a time, so their stacks stay small; a pickle that piles up
  // millions pays for the room.
  template <typename T>
  void grow(std::vector<T>& list) {
    constexpr size_t kFree = 4096;
    const size_t capacity = std::max<size_t>(64, list.capacity() * 2);
    if (capacity > kFree) tree_.arena_.charge((capacity - list.capacity()) * sizeof(T));
    list.reserve(capacity);
  }
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
    if (marks_.size() == marks_.capacity()) grow(marks_);
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
    const size_t count = values.size() / 2;
    while (pairs_.capacity() < count) grow(pairs_);
    pairs_.resize(count);
    for (size_t i = 0; i < count; ++i) pairs_[i] = {values[2 * i], values[2 * i + 1]};
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
  void push_decimal(std::string_view digits);
  void push_quoted(std::string_view literal);
  void push_raw_unicode(std::string_view escaped);
  Node* global(Node::GlobalName name, const Node* module_node, const Node* name_node);
  Node* line_global();
  void replace_with_tuple(size_t count) {
    need(count);
    Node* node = tuple(above(stack_.size() - count));
    stack_.resize(stack_.size() - count);
    push(node);
  }
  void get(uint64_t index) {
    Node* node = memo_.get(index);
    if (node == nullptr) fail_dangling(index);
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
  void build();
  void call(CallKind how) {
    need(2);
    Node* args = pop();
    if (how != CallKind::kReduce && args->kind_ != Kind::kTuple) fail_kind(args, "a tuple of arguments");
    stack_.back() = tree_.call(stack_.back(), args, how);
  }
  void call_with_keywords();
  void instance(Node* callee, size_t start);
  void stack_global();
  void drop();
  void start_frame();
  void set_protocol();

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

}  // namespace flambeau::pickle
