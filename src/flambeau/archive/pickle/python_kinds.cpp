// How CPython's dialect writes each kind of node.
#include <fmt/format.h>

#include "flambeau/archive/pickle/python_writer.h"
#include "flambeau/archive/pickle/text.h"
#include "flambeau/base/error.h"

namespace flambeau::pickle {

void PythonWriter::save_now(const Node* node) {
  if (substitutions_ != nullptr) {
    const auto substitute = substitutions_->find(node);
    if (substitute != substitutions_->end()) node = substitute->second;
    if (node == nullptr) {
      throw Error(ErrorCode::kUnsupported, "the pickle refers to an object outside of it that is not known");
    }
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
  global_text_ += global.module.size() + global.name.size();
  if (global_text_ > kMostGlobalText) refuse("the names of globals take more than 16 MiB");
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
  // persistent_id() makes a new tuple each time it is asked. One that a file memoized is left as it is: it
  // may be large and used often.
  if (id->is(Kind::kTuple) && !id->memoized()) return save_tuple(id, true);
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

}  // namespace flambeau::pickle
