// CPython's dialect: every object gets a place in the memo as soon as it exists, containers are filled in
// batches of 1000. The order of opcodes is that of CPython's C pickler, quirks included.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flambeau/archive/pickle/emit.h"
#include "flambeau/archive/pickle/frames.h"
#include "flambeau/archive/pickle/tree.h"
#include "flambeau/archive/pickle/writer.h"

namespace flambeau::pickle {

// How CPython cuts a container into batches; each of its four loops has its own way with the last one.
enum class Batches : uint8_t {
  kList,      // one item alone: APPEND
  kDict,      // one pair alone: SETITEM; a full batch is always followed by another, be it empty
  kSet,       // as kDict, without a single form
  kIterated,  // one left over: APPEND or SETITEM
};

// What is left to do; a stack of these stands in for recursion, because trees may be of any depth.
struct PythonTask {
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

  std::string write(const Node& root);

 private:
  using What = PythonTask::What;
  static constexpr uint32_t kOpen = UINT32_MAX;  // being written, no place yet

  ByteWriter& out() { return frames_.out(); }
  void push(What what, const Node* node) { tasks_.push_back({.what = what, .node = node}); }
  void push_opcode(Opcode opcode) { tasks_.push_back({.what = What::kOpcode, .opcode = opcode}); }
  void push_batches(What what, Batches batches, const Node* node) {
    tasks_.push_back({.what = what, .batches = batches, .node = node});
  }
  void save(const Node* node) { push(What::kSave, node); }

  [[noreturn]] static void refuse(std::string message);

  // Fetches the node if it has a place in the memo.
  bool try_get(const Node* node);
  // As try_get; otherwise notes that the node is being written.
  bool try_get_or_open(const Node* node);
  void put(const Node* node);

  void step();
  void step_batches(PythonTask& task);
  void start_batch(PythonTask& task, size_t count);
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
  std::vector<PythonTask> tasks_;
  std::unordered_map<const Node*, uint32_t> memo_;
  uint32_t memo_count_ = 0;
  size_t reopened_ = 0;
  size_t global_text_ = 0;
  // Objects that CPython makes while pickling, such as the arguments that make bytes in protocol 2.
  Tree made_;
  std::unordered_map<std::string_view, Node*> made_globals_;
  std::map<std::pair<std::string_view, std::string_view>, const Node*> globals_;
  Node* latin1_ = nullptr;
  // CPython interns the names of globals, so equal ones are one object.
  std::unordered_map<std::string_view, const Node*> name_strings_;
};

}  // namespace flambeau::pickle
