#include "flambeau/interpreter/program.h"

#include "flambeau/interpreter/generate.h"
#include "flambeau/interpreter/operators.h"

namespace flambeau::interpreter {

Program::Program(std::shared_ptr<const script::Unit> unit, std::shared_ptr<const ops::Library> library,
                 Builtins builtins, bool keeps_blocks)
    : unit_(std::move(unit)),
      library_(std::move(library)),
      builtins_(std::move(builtins)),
      keeps_blocks_(keeps_blocks) {}

CodeSlot& Program::slot_of(const std::shared_ptr<script::Function>& function) const {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<Held>& held = slots_[function.get()];
  if (held == nullptr) {
    held = std::make_unique<Held>();
    held->function = function;
    held->slot.function = function.get();
  }
  return held->slot;
}

const Code& Program::make_code(CodeSlot& slot) const {
  // One compiler at a time, before our own lock: making code asks for the slots of what it calls.
  const std::scoped_lock compiling(unit_->compiler_lock());
  if (const Code* const made = slot.code.load(std::memory_order_acquire)) return *made;
  std::shared_ptr<const Code> code = generate(*this, slot.function->graph(), slot.function->qualified_name());
  const std::scoped_lock lock(mutex_);
  Held& held = *slots_.at(slot.function);
  held.code = std::move(code);
  slot.code.store(held.code.get(), std::memory_order_release);
  return *held.code;
}

}  // namespace flambeau::interpreter
