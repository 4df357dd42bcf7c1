#include "flambeau/archive/pickle/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "flambeau/base/error.h"

namespace flambeau::pickle {
namespace {

[[noreturn]] void fail_edit(std::string_view action, const Node& node, std::string_view expected) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("cannot {} {}, expected {}", action, a_kind(node.kind()), expected));
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kBigInt:
      return "int over 64 bits";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kByteArray:
      return "bytearray";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kSet:
      return "set";
    case Kind::kFrozenSet:
      return "frozenset";
    case Kind::kGlobal:
      return "global";
    case Kind::kCall:
      return "call";
    case Kind::kPersistent:
      return "persistent id";
  }
  return "unknown kind";
}

std::string a_kind(Kind kind) {
  const std::string_view name = kind_name(kind);
  if (kind == Kind::kNone || kind == Kind::kBytes) return std::string(name);
  return fmt::format("{} {}", name.front() == 'i' ? "an" : "a", name);
}

std::string Node::GlobalName::dotted() const { return fmt::format("{}.{}", module, name); }

void Node::fail(std::string_view expected) const {
  throw Error(ErrorCode::kCorrupt, fmt::format("expected {}, found {}", expected, kind_name(kind_)));
}

ByteSpan Node::as_big_int() const { return flambeau::as_bytes(need(Kind::kBigInt).text()); }

ByteSpan Node::as_bytes() const {
  if (kind_ != Kind::kBytes && kind_ != Kind::kByteArray) fail(kind_name(Kind::kBytes));
  return flambeau::as_bytes(text());
}

const Node::GlobalName& Node::as_global() const { return need(Kind::kGlobal).second_.global->name; }
const Node* Node::module_node() const { return need(Kind::kGlobal).second_.global->module_node; }
const Node* Node::name_node() const { return need(Kind::kGlobal).second_.global->name_node; }

Node::Call Node::as_call() const {
  const CallParts& parts = *need(Kind::kCall).second_.call;
  Call call;
  call.how = how_;
  call.callee = parts.callee;
  call.args = parts.args;
  if (const CallExtra* extra = parts.extra) {
    call.kwargs = extra->kwargs;
    call.state = extra->state;
    call.state_setter = extra->state_setter;
    call.items = {extra->items.data, extra->items.size};
    call.pairs = {extra->pairs.data, extra->pairs.size};
  }
  return call;
}

std::span<Node* const> Node::items() const {
  if (kind_ != Kind::kList && kind_ != Kind::kTuple && kind_ != Kind::kSet && kind_ != Kind::kFrozenSet) {
    fail("list, tuple, set or frozenset");
  }
  return {second_.items, first_.size};
}

std::span<const Pair> Node::pairs() const {
  need(Kind::kDict);
  return {second_.pairs, first_.size};
}

const Node* Node::find(std::string_view key) const {
  if (kind_ != Kind::kDict) return nullptr;
  for (size_t i = first_.size; i-- > 0;) {
    const Pair& pair = second_.pairs[i];
    if (pair.key->kind_ == Kind::kString && pair.key->text() == key) return pair.value;
  }
  return nullptr;
}

bool Node::is_global(std::string_view dotted) const {
  if (kind_ != Kind::kGlobal) return false;
  const GlobalName& global = second_.global->name;
  return dotted.size() == global.module.size() + 1 + global.name.size() &&
         dotted.starts_with(global.module) && dotted[global.module.size()] == '.' &&
         dotted.ends_with(global.name);
}

Node* Tree::boolean(bool value) {
  Node* node = make(Kind::kBool);
  node->first_.integer = value ? 1 : 0;
  return node;
}

Node* Tree::integer(int64_t value) {
  Node* node = make(Kind::kInt);
  node->first_.integer = value;
  return node;
}

Node* Tree::make_integer(ByteSpan twos_complement, bool copy) {
  // The shortest form, as Python's pickler gives it: a last byte that only repeats the sign goes.
  size_t size = twos_complement.size();
  while (size > 1) {
    const uint8_t sign = twos_complement[size - 2] & 0x80 ? 0xFF : 0x00;
    if (twos_complement[size - 1] != sign) break;
    --size;
  }
  if (size > 8) {
    const std::string_view text = as_text(twos_complement.first(size));
    return make_text(Kind::kBigInt, copy ? keep(text) : text);
  }
  uint8_t raw[8];
  std::memset(raw, size > 0 && twos_complement[size - 1] & 0x80 ? 0xFF : 0x00, sizeof(raw));
  if (size > 0) std::memcpy(raw, twos_complement.data(), size);
  return integer(load_le<int64_t>(raw));
}

Node* Tree::real(double value) {
  Node* node = make(Kind::kFloat);
  node->first_.real = value;
  return node;
}

Node* Tree::make_text(Kind kind, std::string_view kept) {
  Node* node = make(kind);
  node->first_.size = kept.size();
  node->second_.text = kept.data();
  return node;
}

Node* Tree::make_items(Kind kind, std::span<Node* const> items) {
  Node* node = make(kind);
  if (!items.empty()) extend_items(node, items);
  return node;
}

Node* Tree::dict(std::span<const Pair> pairs) {
  Node* node = make(Kind::kDict);
  if (!pairs.empty()) extend_pairs(node, pairs);
  return node;
}

Node* Tree::global(std::string_view module, std::string_view name) {
  return make_global({keep(module), keep(name)}, nullptr, nullptr);
}

Node* Tree::make_global(Node::GlobalName kept, const Node* module_node, const Node* name_node) {
  Node* node = make(Kind::kGlobal);
  node->second_.global = arena_.allocate<Node::Global>(1);
  *node->second_.global = {kept, module_node, name_node};
  globals_.push_back(node);
  return node;
}

Node* Tree::call(Node* callee, Node* args, CallKind how) {
  Node* node = make(Kind::kCall);
  node->how_ = how;
  node->second_.call = arena_.allocate<Node::CallParts>(1);
  *node->second_.call = {callee, args, nullptr};
  callee->called_ = true;
  calls_.push_back(node);
  return node;
}

Node* Tree::call_with_keywords(Node* callee, Node* args, Node* kwargs) {
  Node* node = call(callee, args, CallKind::kNewObjectEx);
  extra(node).kwargs = kwargs;
  return node;
}

Node* Tree::persistent(Node* id) {
  Node* node = make(Kind::kPersistent);
  node->second_.node = id;
  persistents_.push_back(node);
  return node;
}

std::string_view Tree::keep(std::string_view text) {
  if (text.empty()) return {};
  char* copy = arena_.allocate<char>(text.size());
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

Node::CallExtra& Tree::extra(Node* call) {
  Node::CallParts& parts = *call->second_.call;
  if (parts.extra == nullptr) {
    parts.extra = arena_.allocate<Node::CallExtra>(1);
    *parts.extra = {};
  }
  return *parts.extra;
}

namespace {

// Appends to an array in the arena. The first time it is made to measure; when it grows again it doubles,
// so that what is left behind is never more than what is in use.
template <typename T, typename Size>
void extend(Arena& arena, T*& data, Size& size, uint32_t& capacity, std::span<const T> added) {
  if (added.size() > capacity - size) {
    const uint64_t needed = static_cast<uint64_t>(size) + added.size();
    const uint64_t wanted = std::max<uint64_t>(needed, uint64_t{capacity} * 2);
    if (wanted > UINT32_MAX) throw Error(ErrorCode::kLimit, "a container of more than 2^32 items");
    T* grown = arena.allocate<T>(wanted);
    std::copy_n(data, size, grown);
    data = grown;
    capacity = static_cast<uint32_t>(wanted);
  }
  std::copy(added.begin(), added.end(), data + size);
  size += static_cast<Size>(added.size());
}

}  // namespace

void Tree::extend_items(Node* sequence_or_call, std::span<Node* const> items) {
  if (items.empty()) return;
  if (sequence_or_call->kind_ == Kind::kCall) {
    Node::Array<Node*>& array = extra(sequence_or_call).items;
    extend<Node*>(arena_, array.data, array.size, array.capacity, items);
  } else {
    extend<Node*>(arena_, sequence_or_call->second_.items, sequence_or_call->first_.size,
                  sequence_or_call->capacity_, items);
  }
}

void Tree::extend_pairs(Node* dict_or_call, std::span<const Pair> pairs) {
  if (pairs.empty()) return;
  if (dict_or_call->kind_ == Kind::kCall) {
    Node::Array<Pair>& array = extra(dict_or_call).pairs;
    extend<Pair>(arena_, array.data, array.size, array.capacity, pairs);
  } else {
    extend<Pair>(arena_, dict_or_call->second_.pairs, dict_or_call->first_.size, dict_or_call->capacity_,
                 pairs);
  }
}

void Tree::append(Node* sequence_or_call, Node* item) {
  switch (sequence_or_call->kind_) {
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kSet:
    case Kind::kFrozenSet:
    case Kind::kCall:
      return extend_items(sequence_or_call, {&item, 1});
    default:
      fail_edit("append to", *sequence_or_call, "a sequence or a call");
  }
}

void Tree::set_item(Node* dict_or_call, Node* key, Node* value) {
  if (dict_or_call->kind_ != Kind::kDict && dict_or_call->kind_ != Kind::kCall) {
    fail_edit("set an item of", *dict_or_call, "a dict or a call");
  }
  const Pair pair{key, value};
  extend_pairs(dict_or_call, {&pair, 1});
}

void Tree::set_state(Node* call, Node* state, Node* state_setter) {
  if (call->kind_ != Kind::kCall) fail_edit("set the state of", *call, "a call");
  extra(call).state = state;
  extra(call).state_setter = state_setter;
}

}  // namespace flambeau::pickle
