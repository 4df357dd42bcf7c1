#include "flambeau/archive/pickle/machine.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "flambeau/archive/pickle/text.h"

namespace flambeau::pickle {

void Reader::fail(std::string_view message, ErrorCode code) const {
  Error error(code, fmt::format("opcode {}{}", opcode_name(*opcode_at_), message));
  throw error.add_location("byte", std::to_string(opcode_at_ - begin_));
}

void Reader::fail_short(uint64_t needed) const {
  fail(fmt::format(": {} bytes expected, {} left", needed, end_ - at_));
}

void Reader::fail_kind(const Node* found, std::string_view expected) const {
  fail(fmt::format(" on {}, {} was expected", a_kind(found->kind()), expected));
}

void Reader::fail_dangling(uint64_t index) const {
  fail(fmt::format(": nothing was stored at memo index {}", index));
}

std::string_view Reader::line() {
  const void* newline = at_ == end_ ? nullptr : std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
  if (newline == nullptr) fail(": no end of line");
  const auto* stop = static_cast<const uint8_t*>(newline);
  const std::string_view found = as_text({at_, stop});
  at_ = stop + 1;
  return found;
}

uint64_t Reader::line_index() {
  const std::string_view digits = line();
  uint64_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    fail(fmt::format(": '{}' is not a memo index", printable(digits)));
  }
  return index;
}

void Reader::push_decimal(std::string_view digits) {
  const std::optional<std::vector<uint8_t>> value = decimal_to_twos_complement(digits);
  if (!value) {
    if (digits.size() > kMostDigits) {
      fail(fmt::format(": a number of more than {} digits", kMostDigits), ErrorCode::kLimit);
    }
    fail(fmt::format(": '{}' is not a number", printable(digits)));
  }
  push(tree_.make_integer(*value, true));
}

void Reader::push_quoted(std::string_view literal) {
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

void Reader::push_raw_unicode(std::string_view escaped) {
  const std::optional<std::string> utf8 = unescape_raw_unicode(escaped);
  if (!utf8) fail(": a broken escape in the text");
  push(tree_.make_text(Kind::kString, tree_.keep(*utf8)));
}

Node* Reader::global(Node::GlobalName name, const Node* module_node, const Node* name_node) {
  if (name.module.size() > kMostNameBytes || name.name.size() > kMostNameBytes) {
    fail(fmt::format(": a name of more than {} bytes", kMostNameBytes), ErrorCode::kLimit);
  }
  return tree_.make_global(name, module_node, name_node);
}

Node* Reader::line_global() {
  const std::string_view module = line();
  const std::string_view name = line();
  if (!is_valid_utf8(module) || !is_valid_utf8(name)) fail(": the name is not UTF-8");
  return global({module, name}, nullptr, nullptr);
}

void Reader::call_with_keywords() {
  need(3);
  Node* kwargs = pop();
  Node* args = pop();
  if (kwargs->kind_ != Kind::kDict) fail_kind(kwargs, "a dict of arguments");
  if (args->kind_ != Kind::kTuple) fail_kind(args, "a tuple of arguments");
  stack_.back() = tree_.call_with_keywords(stack_.back(), args, kwargs);
}

void Reader::instance(Node* callee, size_t start) {
  Node* args = tree_.tuple(above(start));
  stack_.resize(start);
  push(tree_.call(callee, args, CallKind::kInst));
}

void Reader::start_frame() {
  const auto size = number<uint64_t>();
  if (size > static_cast<uint64_t>(end_ - at_)) fail_short(size);
}

void Reader::set_protocol() {
  const uint8_t protocol = *take(1);
  if (protocol > 5) {
    fail(fmt::format(": protocol {}, at most 5 was expected", protocol), ErrorCode::kUnsupported);
  }
  tree_.protocol_ = protocol;
}

void Reader::build() {
  need(2);
  Node* state = pop();
  if (top()->kind_ != Kind::kCall) fail_kind(top(), "an object made by a call");
  Node*& slot = tree_.extra(top()).state;
  if (slot != nullptr) fail(": the object was given a state before");
  slot = state;
}

void Reader::stack_global() {
  need(2);
  Node* name = pop();
  Node* module = pop();
  if (module->kind_ != Kind::kString) fail_kind(module, "a string");
  if (name->kind_ != Kind::kString) fail_kind(name, "a string");
  push(global({module->text(), name->text()}, module, name));
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

}  // namespace flambeau::pickle
