// CPython's dialect: every object gets a place in the memo as soon as it exists, containers are filled in
// batches of 1000. The order of opcodes is that of CPython's C pickler, quirks included.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "flambeau/archive/pickle_emit.h"
#include "flambeau/archive/pickle_frames.h"
#include "flambeau/archive/pickle_text.h"
#include "flambeau/archive/pickle_writer.h"
#include "flambeau/base/error.h"

namespace flambeau::pickle {
namespace {

constexpr size_t kBatchSize = 1000;
// A tuple or call that contains itself is written once more for each way back to it. CPython's own
// recursion limit stops it at about this number.
constexpr size_t kMostReopened = 1000;

// How CPython cuts a container into batches; each of its four loops has its own way with the last one.
enum class Batches : uint8_t {
  kList,      // one item alone: APPEND
  kDict,      // one pair alone: SETITEM; a full batch is always followed by another, be it empty
  kSet,       // as kDict, without a single form
  kIterated,  // one left over: APPEND or SETITEM
};

// What is left to do; a stack of these stands in for recursion, because trees may be of any depth.
struct Task {
  enum class What : uint8_t {
    kSave,       // one object, from the memo if it is there
    kOpcode,     // a single opcode
    kItems,      // the items of a tuple or frozenset, without opcodes of their own
    kTupleEnd,   // after its items
    kFrozenEnd,  // after its items
    kGlobalEnd,  // after module and name
    kCallEnd,    // after the opcode that makes the object
    kEntries,    // the items of a list, set or object
    kPairs,      // the pairs of a dict or object
  };
  What what;
  Opcode opcode = Opcode::kStop;
  Batches batches = Batches::kList;
  bool open = false;   // inside a batch
  bool fresh = false;  // CPython makes a new tuple for this each time
  const Node* node = nullptr;
  size_t next = 0;         // the next entry; for pairs twice as many
  size_t batch_start = 0;  // in entries
  size_t batch_end = 0;
};

class PythonWriter {
 public:
  PythonWriter(int protocol, const Substitutions* substitutions)
      : protocol_(protocol), substitutions_(substitutions), frames_(protocol >= 4) {}

  std::string write(const Node& root) {
    save(&root);
    while (!tasks_.empty()) step();
    emit(out(), Opcode::kStop);
    const char head[2] = {static_cast<char>(Opcode::kProto), static_cast<char>(protocol_)};
    return frames_.finish({head, 2});
  }

 private:
  using What = Task::What;
  static constexpr uint32_t kOpen = UINT32_MAX;  // being written, no place yet

  ByteWriter& out() { return frames_.out(); }
  void push(What what, const Node* node) { tasks_.push_back({.what = what, .node = node}); }
  void push_opcode(Opcode opcode) { tasks_.push_back({.what = What::kOpcode, .opcode = opcode}); }
  void push_batches(What what, Batches batches, const Node* node) {
    tasks_.push_back({.what = what, .batches = batches, .node = node});
  }
  void save(const Node* node) { push(What::kSave, node); }

  [[noreturn]] static void refuse(std::string message, std::string remedy = {}) {
    throw Error(ErrorCode::kInvalidArgument, std::move(message), std::move(remedy));
  }

  // Fetches the node if it has a place in the memo.
  bool try_get(const Node* node) {
    const auto found = memo_.find(node);
    if (found == memo_.end() || found->second == kOpen) return false;
    emit_get(out(), found->second);
    return true;
  }
  // As try_get; otherwise notes that the node is being written.
  bool try_get_or_open(const Node* node) {
    const auto [place, is_new] = memo_.try_emplace(node, kOpen);
    if (is_new) return false;
    if (place->second == kOpen) {
      if (++reopened_ > kMostReopened) refuse("a tuple or call contains itself too many times");
      return false;
    }
    emit_get(out(), place->second);
    return true;
  }
  void put(const Node* node) {
    memo_[node] = memo_count_;
    // Protocol 4 numbers by order.
    if (protocol_ >= 4) {
      emit(out(), Opcode::kMemoize);
    } else {
      emit_put(out(), memo_count_);
    }
    ++memo_count_;
  }

  void step();
  void step_batches(Task& task);
  void start_batch(Task& task, size_t count);
  void save_now(const Node* node);
  void save_int(int64_t value);
  void save_big_int(ByteSpan bytes);
  void save_string(std::string_view utf8);
  void save_bytes(const Node* node);
  void save_byte_array(const Node* node);
  void save_tuple(const Node* node, bool fresh);
  void save_global(const Node* node);
  void save_call(const Node* node);
  void save_as_call(const Node* object, Node* callee, Node* args);
  void save_persistent(const Node* node);
  void end_tuple(const Node* node, bool fresh);
  void end_call(const Node* node);
  Node* made_global(std::string_view module, std::string_view name);
  Node* builtin(std::string_view name) {
    return made_global(protocol_ < 3 ? "__builtin__" : "builtins", name);
  }
  const Node* name_string(std::string_view name);

  int protocol_;
  const Substitutions* substitutions_;
  Frames frames_;
  std::vector<Task> tasks_;
  std::unordered_map<const Node*, uint32_t> memo_;
  uint32_t memo_count_ = 0;
  size_t reopened_ = 0;
  // Objects that CPython makes while pickling, such as the arguments that make bytes in protocol 2.
  Tree made_;
  std::unordered_map<std::string_view, Node*> made_globals_;
  std::map<std::pair<std::string_view, std::string_view>, const Node*> globals_;
  Node* latin1_ = nullptr;
  // CPython interns the names of globals, so equal ones are one object.
  std::unordered_map<std::string_view, const Node*> name_strings_;
};

void PythonWriter::step() {
  Task& task = tasks_.back();
  const Node* node = task.node;
  switch (task.what) {
    case What::kSave:
      tasks_.pop_back();
      return save_now(node);
    case What::kOpcode:
      emit(out(), task.opcode);
      return tasks_.pop_back();
    case What::kItems:
      if (task.next == node->items().size()) return tasks_.pop_back();
      return save(node->items()[task.next++]);
    case What::kTupleEnd: {
      const bool fresh = task.fresh;
      tasks_.pop_back();
      return end_tuple(node, fresh);
    }
    case What::kFrozenEnd:
      tasks_.pop_back();
      if (memo_[node] != kOpen) {
        emit(out(), Opcode::kPopMark);
        try_get(node);
        return;
      }
      emit(out(), Opcode::kFrozenSet);
      return put(node);
    case What::kGlobalEnd:
      tasks_.pop_back();
      emit(out(), Opcode::kStackGlobal);
      return put(node);
    case What::kCallEnd:
      tasks_.pop_back();
      return end_call(node);
    case What::kEntries:
    case What::kPairs:
      return step_batches(task);
  }
}

void PythonWriter::step_batches(Task& task) {
  const bool is_pairs = task.what == What::kPairs;
  std::span<Node* const> items;
  std::span<const Pair> pairs;
  if (task.node->is(Kind::kCall)) {
    const Node::Call call = task.node->as_call();
    items = call.items;
    pairs = call.pairs;
  } else if (is_pairs) {
    pairs = task.node->pairs();
  } else {
    items = task.node->items();
  }
  if (!task.open) return start_batch(task, is_pairs ? pairs.size() : items.size());
  const size_t at = task.next;
  if (at < task.batch_end * (is_pairs ? 2 : 1)) {
    ++task.next;
    if (!is_pairs) return save(items[at]);
    return save(at % 2 == 0 ? pairs[at / 2].key : pairs[at / 2].value);
  }
  emit(out(), task.opcode);
  task.open = false;
  if (task.batch_end - task.batch_start < kBatchSize) tasks_.pop_back();
}

void PythonWriter::start_batch(Task& task, size_t count) {
  const bool is_pairs = task.what == What::kPairs;
  const size_t left = count - task.batch_end;
  const bool trailing_empty = task.batches == Batches::kDict || task.batches == Batches::kSet;
  if (left == 0 && !trailing_empty) return tasks_.pop_back();
  task.open = true;
  task.batch_start = task.batch_end;
  task.batch_end += std::min(left, kBatchSize);
  const bool single =
      task.batches == Batches::kIterated ? left == 1 : count == 1 && task.batches != Batches::kSet;
  if (single) {
    task.opcode = is_pairs ? Opcode::kSetItem : Opcode::kAppend;
    return;
  }
  emit(out(), Opcode::kMark);
  task.opcode = is_pairs                        ? Opcode::kSetItems
                : task.batches == Batches::kSet ? Opcode::kAddItems
                                                : Opcode::kAppends;
}

void PythonWriter::save_now(const Node* node) {
  if (substitutions_ != nullptr) {
    const auto substitute = substitutions_->find(node);
    if (substitute != substitutions_->end()) node = substitute->second;
  }
  frames_.object_starts();
  switch (node->kind()) {
    case Kind::kNone:
      return emit(out(), Opcode::kNone);
    case Kind::kBool:
      return emit(out(), node->as_bool() ? Opcode::kNewTrue : Opcode::kNewFalse);
    case Kind::kInt:
      return save_int(node->as_int());
    case Kind::kFloat:
      return emit_float(out(), node->as_float());
    case Kind::kBigInt:
      // CPython does not memoize numbers; one that a file did memoize may be large and used often.
      if (node->memoized() && try_get(node)) return;
      save_big_int(node->as_big_int());
      if (node->memoized()) put(node);
      return;
    case Kind::kString:
      if (try_get(node)) return;
      save_string(node->as_string());
      return put(node);
    case Kind::kBytes:
      return save_bytes(node);
    case Kind::kByteArray:
      return save_byte_array(node);
    case Kind::kList:
      if (try_get(node)) return;
      emit(out(), Opcode::kEmptyList);
      put(node);
      if (!node->items().empty()) push_batches(What::kEntries, Batches::kList, node);
      return;
    case Kind::kDict:
      if (try_get(node)) return;
      emit(out(), Opcode::kEmptyDict);
      put(node);
      if (!node->pairs().empty()) push_batches(What::kPairs, Batches::kDict, node);
      return;
    case Kind::kTuple:
      return save_tuple(node, false);
    case Kind::kSet:
      if (try_get(node)) return;
      if (protocol_ < 4) return save_as_call(node, builtin("set"), made_.tuple({made_.list(node->items())}));
      emit(out(), Opcode::kEmptySet);
      put(node);
      if (!node->items().empty()) push_batches(What::kEntries, Batches::kSet, node);
      return;
    case Kind::kFrozenSet:
      if (protocol_ < 4) {
        if (try_get(node)) return;
        return save_as_call(node, builtin("frozenset"), made_.tuple({made_.list(node->items())}));
      }
      if (try_get_or_open(node)) return;
      emit(out(), Opcode::kMark);
      push(What::kFrozenEnd, node);
      return push(What::kItems, node);
    case Kind::kGlobal:
      return save_global(node);
    case Kind::kCall:
      return save_call(node);
    case Kind::kPersistent:
      return save_persistent(node);
  }
}

void PythonWriter::save_int(int64_t value) {
  if (emit_int32(out(), value)) return;
  uint8_t raw[8];
  store_le(raw, value);
  size_t size = 8;
  while (raw[size - 1] == (raw[size - 2] & 0x80 ? 0xFF : 0x00)) --size;
  save_big_int({raw, size});
}

void PythonWriter::save_big_int(ByteSpan bytes) {
  if (bytes.size() > INT32_MAX) refuse("an int of more than 2^31 bytes cannot be pickled");
  if (bytes.size() <= 0xFF) {
    emit(out(), Opcode::kLong1);
    out().u8(static_cast<uint8_t>(bytes.size()));
  } else {
    emit(out(), Opcode::kLong4);
    out().le(static_cast<uint32_t>(bytes.size()));
  }
  out().bytes(bytes);
}

void PythonWriter::save_string(std::string_view utf8) {
  ByteWriter header;
  if (utf8.size() <= 0xFF && protocol_ >= 4) {
    emit(header, Opcode::kShortBinUnicode);
    header.u8(static_cast<uint8_t>(utf8.size()));
  } else if (utf8.size() <= UINT32_MAX) {
    emit(header, Opcode::kBinUnicode);
    header.le(static_cast<uint32_t>(utf8.size()));
  } else if (protocol_ >= 4) {
    emit(header, Opcode::kBinUnicode8);
    header.le(static_cast<uint64_t>(utf8.size()));
  } else {
    refuse("a string over 4 GiB needs protocol 4");
  }
  frames_.text(header.str(), utf8);
}

void PythonWriter::save_bytes(const Node* node) {
  const ByteSpan data = node->as_bytes();
  if (try_get(node)) return;
  if (protocol_ < 3) {
    if (data.empty()) return save_as_call(node, builtin("bytes"), made_.tuple());
    std::string utf8;
    for (const uint8_t byte : data) append_utf8(utf8, byte);
    if (latin1_ == nullptr) latin1_ = made_.string("latin1");
    return save_as_call(node, made_global("_codecs", "encode"), made_.tuple({made_.string(utf8), latin1_}));
  }
  ByteWriter header;
  if (data.size() <= 0xFF) {
    emit(header, Opcode::kShortBinBytes);
    header.u8(static_cast<uint8_t>(data.size()));
  } else if (data.size() <= UINT32_MAX) {
    emit(header, Opcode::kBinBytes);
    header.le(static_cast<uint32_t>(data.size()));
  } else if (protocol_ >= 4) {
    emit(header, Opcode::kBinBytes8);
    header.le(static_cast<uint64_t>(data.size()));
  } else {
    refuse("bytes over 4 GiB need protocol 4");
  }
  frames_.text(header.str(), as_text(data));
  put(node);
}

void PythonWriter::save_byte_array(const Node* node) {
  if (try_get(node)) return;
  const ByteSpan data = node->as_bytes();
  if (protocol_ < 5) {
    Node* args = data.empty() ? made_.tuple() : made_.tuple({made_.bytes(data)});
    return save_as_call(node, builtin("bytearray"), args);
  }
  ByteWriter header;
  emit(header, Opcode::kByteArray8);
  header.le(static_cast<uint64_t>(data.size()));
  frames_.text(header.str(), as_text(data));
  put(node);
}

void PythonWriter::save_tuple(const Node* node, bool fresh) {
  const size_t size = node->items().size();
  if (size == 0) return emit(out(), Opcode::kEmptyTuple);
  if (!fresh && try_get_or_open(node)) return;
  if (size > 3) emit(out(), Opcode::kMark);
  tasks_.push_back({.what = What::kTupleEnd, .fresh = fresh, .node = node});
  push(What::kItems, node);
}

void PythonWriter::end_tuple(const Node* node, bool fresh) {
  const size_t size = node->items().size();
  // Written in the meantime, because an item leads back here: the items on the stack are not needed.
  if (!fresh && memo_[node] != kOpen) {
    if (size > 3) {
      emit(out(), Opcode::kPopMark);
    } else {
      for (size_t i = 0; i < size; ++i) emit(out(), Opcode::kPop);
    }
    try_get(node);
    return;
  }
  constexpr Opcode kShort[] = {Opcode::kTuple1, Opcode::kTuple2, Opcode::kTuple3};
  emit(out(), size > 3 ? Opcode::kTuple : kShort[size - 1]);
  put(node);
}

void PythonWriter::save_global(const Node* node) {
  const Node::GlobalName& global = node->as_global();
  // In Python two equal names are one object.
  node = globals_.try_emplace({global.module, global.name}, node).first->second;
  if (try_get(node)) return;
  if (protocol_ >= 4) {
    const Node* module = node->module_node();
    const Node* name = node->name_node();
    // Remembered, so that names without nodes find them.
    if (module != nullptr) name_strings_.try_emplace(global.module, module);
    if (name != nullptr) name_strings_.try_emplace(global.name, name);
    push(What::kGlobalEnd, node);
    save(name != nullptr ? name : name_string(global.name));
    return save(module != nullptr ? module : name_string(global.module));
  }
  if (global.module.find('\n') != std::string_view::npos ||
      global.name.find('\n') != std::string_view::npos) {
    refuse(fmt::format("the global '{}' holds a line break, which needs protocol 4",
                       printable(global.dotted())));
  }
  emit_global(out(), global.module, global.name);
  put(node);
}

void PythonWriter::save_call(const Node* node) {
  if (try_get_or_open(node)) return;
  const Node::Call call = node->as_call();
  push(What::kCallEnd, node);
  switch (call.how) {
    case CallKind::kReduce:
      push_opcode(Opcode::kReduce);
      save(call.args);
      break;
    case CallKind::kNewObject:
      push_opcode(Opcode::kNewObj);
      save(call.args);
      break;
    case CallKind::kNewObjectEx:
      if (protocol_ < 4) refuse("an object made with keyword arguments needs protocol 4");
      push_opcode(Opcode::kNewObjEx);
      save(call.kwargs);
      save(call.args);
      break;
    case CallKind::kInst:
      // INST is this with the class as text; CPython 3 writes neither.
      push_opcode(Opcode::kObj);
      push(What::kItems, call.args);
      emit(out(), Opcode::kMark);
      break;
  }
  save(call.callee);
}

void PythonWriter::save_as_call(const Node* object, Node* callee, Node* args) {
  if (try_get_or_open(object)) return;
  push(What::kCallEnd, object);
  push_opcode(Opcode::kReduce);
  save(args);
  save(callee);
}

void PythonWriter::end_call(const Node* node) {
  if (memo_[node] != kOpen) {
    emit(out(), Opcode::kPop);
    try_get(node);
    return;
  }
  put(node);
  if (!node->is(Kind::kCall)) return;
  const Node::Call call = node->as_call();
  if (call.state_setter != nullptr) {
    push_opcode(Opcode::kPop);
    push_opcode(Opcode::kReduce);
    push_opcode(Opcode::kTuple2);
    save(call.state);
    save(node);
    save(call.state_setter);
  } else if (call.state != nullptr) {
    push_opcode(Opcode::kBuild);
    save(call.state);
  }
  if (!call.pairs.empty()) push_batches(What::kPairs, Batches::kIterated, node);
  if (!call.items.empty()) push_batches(What::kEntries, Batches::kIterated, node);
}

void PythonWriter::save_persistent(const Node* node) {
  const Node* id = node->persistent_id();
  if (node->memoized()) {  // not by CPython
    if (try_get_or_open(node)) return;
    push(What::kCallEnd, node);
    push_opcode(Opcode::kBinPersId);
    return save(id);
  }
  push_opcode(Opcode::kBinPersId);
  // persistent_id() makes a new tuple each time it is asked.
  if (id->is(Kind::kTuple)) return save_tuple(id, true);
  save(id);
}

Node* PythonWriter::made_global(std::string_view module, std::string_view name) {
  Node*& slot = made_globals_[name];  // the names are literals and differ
  if (slot == nullptr) slot = made_.global(module, name);
  return slot;
}

const Node* PythonWriter::name_string(std::string_view name) {
  const Node*& slot = name_strings_[name];
  if (slot == nullptr) slot = made_.string(name);
  return slot;
}

}  // namespace

std::string write_python(const Node& root, int protocol, const Substitutions* substitutions) {
  if (protocol < 2 || protocol > 5) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("protocol {}, 2 to 5 was expected", protocol));
  }
  return PythonWriter(protocol, substitutions).write(root);
}

}  // namespace flambeau::pickle
