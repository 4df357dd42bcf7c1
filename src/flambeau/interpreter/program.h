// The code of a unit's functions, each made when it is first called. Any number of machines, each of its own
// thread, share a program.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/interpreter/code.h"
#include "flambeau/script/backend.h"

namespace flambeau::ops {
class Library;
}

namespace flambeau::interpreter {

class Program {
 public:
  // `builtins`: for whoever wants to see or to answer their calls. `keeps_blocks`: branches and loops are
  // made so that a machine may ask which way they go (flow.h).
  Program(std::shared_ptr<const script::Unit> unit, std::shared_ptr<const ops::Library> library,
          Builtins builtins = {}, bool keeps_blocks = false);

  const script::Unit& unit() const { return *unit_; }
  const ops::Library& library() const { return *library_; }
  // Before anything runs.
  void set_backends(std::shared_ptr<const script::Backends> backends) { backends_ = std::move(backends); }
  // Null for none.
  const script::Backends* backends() const { return backends_.get(); }
  const Builtins& builtins() const { return builtins_; }
  bool keeps_blocks() const { return keeps_blocks_; }

  // The slot of a function stays as long as the program lives, and keeps the function.
  CodeSlot& slot_of(const std::shared_ptr<script::Function>& function) const;
  // Its code. Throws what compiling throws.
  const Code& code_of(CodeSlot& slot) const {
    const Code* const code = slot.code.load(std::memory_order_acquire);
    return code != nullptr ? *code : make_code(slot);
  }
  // For the next place that calls an operator.
  size_t next_site_number() const { return site_count_.fetch_add(1, std::memory_order_relaxed); }

 private:
  [[gnu::cold]] const Code& make_code(CodeSlot& slot) const;

  std::shared_ptr<const script::Unit> unit_;
  std::shared_ptr<const ops::Library> library_;
  std::shared_ptr<const script::Backends> backends_;
  Builtins builtins_;
  bool keeps_blocks_ = false;
  mutable std::atomic<size_t> site_count_ = 0;
  mutable std::mutex mutex_;
  struct Held {
    std::shared_ptr<script::Function> function;
    CodeSlot slot;
    std::shared_ptr<const Code> code;
  };
  mutable std::unordered_map<const script::Function*, std::unique_ptr<Held>> slots_;
};

}  // namespace flambeau::interpreter
