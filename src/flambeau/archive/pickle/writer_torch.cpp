// The dialect of PyTorch's C++ pickler: strings, globals and devices are memoized by content, storages
// always, other objects once they are complete and only when they have a second owner; containers are
// filled in one batch; some tuples are always written with a mark.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/archive/pickle/emit.h"
#include "flambeau/archive/pickle/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"

namespace flambeau::pickle {
namespace {

// How many levels of tuples the C++ pickler writes with MARK, whatever their size.
enum class Marked : uint8_t { kNo, kThis, kThisAndItems };

// Arguments of calls that the C++ pickler writes by hand rather than as a tuple of the program.
Marked marked_arguments(const Node& callee) {
  if (!callee.is(Kind::kGlobal)) return Marked::kNo;
  const Node::GlobalName& global = callee.as_global();
  if (global.module == "torch._utils") {
    const bool tensor = global.name == "_rebuild_tensor_v2" || global.name == "_rebuild_qtensor" ||
                        global.name == "_rebuild_sparse_tensor";
    return tensor ? Marked::kThisAndItems : Marked::kNo;
  }
  return global.module == "torch.jit._pickle" && global.name.starts_with("build_") ? Marked::kThis
                                                                                   : Marked::kNo;
}

bool has_children(const Node& node) {
  switch (node.kind()) {
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kCall:
    case Kind::kPersistent:
      return true;
    default:
      return false;
  }
}

// The nodes that occur more than once. The reader shares one empty tuple, which means nothing.
std::unordered_set<const Node*> find_shared(const Node& root) {
  std::unordered_set<const Node*> seen;
  std::unordered_set<const Node*> shared;
  std::vector<const Node*> left{&root};
  const auto visit = [&](const Node* node) {
    if (node != nullptr && has_children(*node)) left.push_back(node);
  };
  while (!left.empty()) {
    const Node* node = left.back();
    left.pop_back();
    if (!seen.insert(node).second) {
      if (!node->is(Kind::kTuple) || !node->items().empty()) shared.insert(node);
      continue;
    }
    switch (node->kind()) {
      case Kind::kList:
      case Kind::kTuple:
        for (const Node* item : node->items()) visit(item);
        break;
      case Kind::kDict:
        for (const Pair& pair : node->pairs()) {
          visit(pair.key);
          visit(pair.value);
        }
        break;
      case Kind::kCall:
        visit(node->as_call().callee);
        visit(node->as_call().args);
        visit(node->as_call().state);
        break;
      case Kind::kPersistent:
        visit(node->persistent_id());
        break;
      default:
        break;
    }
  }
  return shared;
}

struct Task {
  enum class What : uint8_t { kSave, kOpcode, kItems, kPairs, kDeviceEnd, kEnd };
  What what;
  Opcode opcode = Opcode::kStop;
  Marked marked = Marked::kNo;
  const Node* node = nullptr;
  size_t next = 0;  // of items; for pairs twice as many
};

class TorchWriter {
 public:
  std::string write(const Node& root) {
    shared_ = find_shared(root);
    emit(out_, Opcode::kProto);
    out_.u8(2);
    save(&root);
    while (!tasks_.empty()) step();
    emit(out_, Opcode::kStop);
    return out_.take();
  }

 private:
  using What = Task::What;
  using TextMemo = std::unordered_map<std::string, uint32_t>;
  static constexpr uint32_t kOpen = UINT32_MAX;

  void push(What what, const Node* node) { tasks_.push_back({.what = what, .node = node}); }
  void push_opcode(Opcode opcode) { tasks_.push_back({.what = What::kOpcode, .opcode = opcode}); }
  void save(const Node* node, Marked marked = Marked::kNo) {
    tasks_.push_back({.what = What::kSave, .marked = marked, .node = node});
  }
  uint32_t put() {
    emit_put(out_, memo_count_);
    return memo_count_++;
  }

  [[noreturn]] static void refuse(std::string message) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}, which PyTorch's C++ pickler has no form for", message));
  }

  void step();
  void save_now(const Node* node, Marked marked);
  void save_int(int64_t value);
  uint32_t save_string(std::string_view text);
  uint32_t save_global(const Node::GlobalName& global);
  void save_tuple(const Node* node, Marked marked);
  void save_call(const Node* node);

  ByteWriter out_;
  std::vector<Task> tasks_;
  std::unordered_set<const Node*> shared_;
  std::unordered_map<const Node*, uint32_t> memo_;
  TextMemo strings_;
  TextMemo globals_;
  TextMemo devices_;
  uint32_t memo_count_ = 0;
  size_t global_text_ = 0;
};

// The name in torch.device("cpu"); nothing for any other node.
const Node* device_name(const Node* node) {
  const Node::Call call = node->as_call();
  if (call.how != CallKind::kReduce || call.state != nullptr) return nullptr;
  if (!call.callee->is_global("torch.device") || !call.args->is(Kind::kTuple)) return nullptr;
  const std::span<Node* const> args = call.args->items();
  return args.size() == 1 && args[0]->is(Kind::kString) ? args[0] : nullptr;
}

void TorchWriter::step() {
  Task& task = tasks_.back();
  const Node* node = task.node;
  switch (task.what) {
    case What::kSave: {
      const Marked marked = task.marked;
      tasks_.pop_back();
      return save_now(node, marked);
    }
    case What::kOpcode:
      emit(out_, task.opcode);
      return tasks_.pop_back();
    case What::kItems:
      if (task.next == node->items().size()) return tasks_.pop_back();
      return save(node->items()[task.next++],
                  task.marked == Marked::kThisAndItems ? Marked::kThis : Marked::kNo);
    case What::kPairs: {
      const size_t at = task.next++;
      if (at == node->pairs().size() * 2) return tasks_.pop_back();
      const Pair& pair = node->pairs()[at / 2];
      return save(at % 2 == 0 ? pair.key : pair.value);
    }
    case What::kDeviceEnd:
      devices_[std::string(device_name(node)->as_string())] = put();
      return tasks_.pop_back();
    case What::kEnd:
      tasks_.pop_back();
      if (node->is(Kind::kPersistent) || node->memoized() || shared_.contains(node)) {
        memo_[node] = put();
      } else {
        memo_.erase(node);
      }
      return;
  }
}

void TorchWriter::save_now(const Node* node, Marked marked) {
  switch (node->kind()) {
    case Kind::kNone:
      return emit(out_, Opcode::kNone);
    case Kind::kBool:
      return emit(out_, node->as_bool() ? Opcode::kNewTrue : Opcode::kNewFalse);
    case Kind::kInt:
      return save_int(node->as_int());
    case Kind::kFloat:
      return emit_float(out_, node->as_float());
    case Kind::kBigInt:
      if (node->as_big_int().size() > 0xFF) refuse("an int of more than 255 bytes");
      emit(out_, Opcode::kLong1);
      out_.u8(static_cast<uint8_t>(node->as_big_int().size()));
      return out_.bytes(node->as_big_int());
    case Kind::kString:
    case Kind::kGlobal: {
      // By content, but a node that was seen before is not compared again: it may be large and used often.
      const auto found = memo_.find(node);
      if (found != memo_.end()) return emit_get(out_, found->second);
      memo_[node] = node->is(Kind::kString) ? save_string(node->as_string()) : save_global(node->as_global());
      return;
    }
    case Kind::kBytes:
    case Kind::kByteArray:
    case Kind::kSet:
    case Kind::kFrozenSet:
      refuse(a_kind(node->kind()));
    default:
      break;
  }
  if (node->is(Kind::kCall)) {
    if (const Node* name = device_name(node)) {
      const auto found = devices_.find(std::string(name->as_string()));
      if (found != devices_.end()) return emit_get(out_, found->second);
    }
  }
  const auto [place, is_new] = memo_.try_emplace(node, kOpen);
  if (!is_new) {
    if (place->second == kOpen) refuse(fmt::format("{} that contains itself", a_kind(node->kind())));
    return emit_get(out_, place->second);
  }
  switch (node->kind()) {
    case Kind::kList:
      emit(out_, Opcode::kEmptyList);
      emit(out_, Opcode::kMark);
      push(What::kEnd, node);
      push_opcode(Opcode::kAppends);
      return push(What::kItems, node);
    case Kind::kDict:
      emit(out_, Opcode::kEmptyDict);
      emit(out_, Opcode::kMark);
      push(What::kEnd, node);
      push_opcode(Opcode::kSetItems);
      return push(What::kPairs, node);
    case Kind::kTuple:
      return save_tuple(node, marked);
    case Kind::kCall:
      return save_call(node);
    case Kind::kPersistent:
      push(What::kEnd, node);
      push_opcode(Opcode::kBinPersId);
      return save(node->persistent_id(), Marked::kThis);
    default:
      throw Error(ErrorCode::kInternal, "a kind of node without a way to write it");
  }
}

void TorchWriter::save_int(int64_t value) {
  if (emit_int32(out_, value)) return;
  emit(out_, Opcode::kLong1);
  out_.u8(8);
  out_.le(value);
}

uint32_t TorchWriter::save_string(std::string_view text) {
  const auto [place, is_new] = strings_.try_emplace(std::string(text), 0);
  if (!is_new) {
    emit_get(out_, place->second);
    return place->second;
  }
  // A script may have cut one in the middle of a character; no reader of ours would take it.
  if (!is_valid_utf8(text)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("'{}' is not UTF-8, as texts in files are", printable(text, 40)));
  }
  if (text.size() <= UINT32_MAX) {
    emit(out_, Opcode::kBinUnicode);
    out_.le(static_cast<uint32_t>(text.size()));
  } else {
    emit(out_, Opcode::kBinUnicode8);
    out_.le(static_cast<uint64_t>(text.size()));
  }
  out_.text(text);
  return place->second = put();
}

uint32_t TorchWriter::save_global(const Node::GlobalName& global) {
  const auto [place, is_new] = globals_.try_emplace(fmt::format("{}\n{}\n", global.module, global.name), 0);
  if (!is_new) {
    emit_get(out_, place->second);
    return place->second;
  }
  if (std::count(place->first.begin(), place->first.end(), '\n') != 2) {
    refuse(fmt::format("the global '{}' with a line break", printable(global.dotted())));
  }
  global_text_ += place->first.size();
  if (global_text_ > kMostGlobalText) refuse("globals whose names take more than 16 MiB");
  emit_global(out_, global.module, global.name);
  return place->second = put();
}

void TorchWriter::save_tuple(const Node* node, Marked marked) {
  const size_t size = node->items().size();
  const bool with_mark = marked != Marked::kNo || size > 3;
  if (with_mark) emit(out_, Opcode::kMark);
  constexpr Opcode kShort[] = {Opcode::kEmptyTuple, Opcode::kTuple1, Opcode::kTuple2, Opcode::kTuple3};
  push(What::kEnd, node);
  push_opcode(with_mark ? Opcode::kTuple : kShort[size]);
  tasks_.push_back({.what = What::kItems, .marked = marked, .node = node});
}

void TorchWriter::save_call(const Node* node) {
  const Node::Call call = node->as_call();
  if (call.how == CallKind::kNewObjectEx || call.how == CallKind::kInst) {
    refuse("an object made with keyword arguments or by INST");
  }
  if (!call.items.empty() || !call.pairs.empty()) refuse("an object with items");
  if (call.state_setter != nullptr) refuse("an object with a function that sets its state");
  push(device_name(node) != nullptr ? What::kDeviceEnd : What::kEnd, node);
  if (call.state != nullptr) {
    push_opcode(Opcode::kBuild);
    save(call.state);
  }
  push_opcode(call.how == CallKind::kReduce ? Opcode::kReduce : Opcode::kNewObj);
  save(call.args, marked_arguments(*call.callee));
  save(call.callee);
}

}  // namespace

std::string write_torch(const Node& root) { return TorchWriter().write(root); }

}  // namespace flambeau::pickle
