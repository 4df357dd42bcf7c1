// The order of work of CPython's dialect: the stack of tasks, the memo, the batches.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/archive/pickle/python_writer.h"
#include "flambeau/archive/pickle/writer.h"
#include "flambeau/base/error.h"

namespace flambeau::pickle {
namespace {

constexpr size_t kBatchSize = 1000;
// A tuple or call that contains itself is written once more for each way back to it. CPython's own
// recursion limit stops it at about this number.
constexpr size_t kMostReopened = 250;

}  // namespace

void PythonWriter::refuse(std::string message) {
  throw Error(ErrorCode::kInvalidArgument, std::move(message));
}

std::string PythonWriter::write(const Node& root) {
  save(&root);
  while (!tasks_.empty()) step();
  emit(out(), Opcode::kStop);
  const char head[2] = {static_cast<char>(Opcode::kProto), static_cast<char>(protocol_)};
  return frames_.finish({head, 2});
}

bool PythonWriter::try_get(const Node* node) {
  const auto found = memo_.find(node);
  if (found == memo_.end() || found->second == kOpen) return false;
  emit_get(out(), found->second);
  return true;
}

bool PythonWriter::try_get_or_open(const Node* node) {
  const auto [place, is_new] = memo_.try_emplace(node, kOpen);
  if (is_new) return false;
  if (place->second == kOpen) {
    if (++reopened_ > kMostReopened) refuse("a tuple or call contains itself too many times");
    return false;
  }
  emit_get(out(), place->second);
  return true;
}

void PythonWriter::put(const Node* node) {
  memo_[node] = memo_count_;
  // Protocol 4 numbers by order.
  if (protocol_ >= 4) {
    emit(out(), Opcode::kMemoize);
  } else {
    emit_put(out(), memo_count_);
  }
  ++memo_count_;
}

void PythonWriter::step() {
  PythonTask& task = tasks_.back();
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

void PythonWriter::step_batches(PythonTask& task) {
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

void PythonWriter::start_batch(PythonTask& task, size_t count) {
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

std::string write_python(const Node& root, int protocol, const Substitutions* substitutions) {
  if (protocol < 2 || protocol > 5) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("protocol {}, 2 to 5 was expected", protocol));
  }
  return PythonWriter(protocol, substitutions).write(root);
}

}  // namespace flambeau::pickle
