// What the machine does with objects, futures and awaitables.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/machine.h"

namespace flambeau::interpreter {
namespace {

[[noreturn, gnu::cold]] void fail_member(const script::Class& type, const char* what,
                                         const std::string& name) {
  throw Error(ErrorCode::kNotFound,
              fmt::format("{} has no {} '{}'", printable(type.qualified_name()), what, printable(name)));
}

}  // namespace

IValue& Machine::slot_of(AttributeSite& site, const IValue& object) const {
  script::ObjectBox& box = object.as_object();
  const ByClass<size_t>::Entry* entry = site.slots.last();
  if (entry == nullptr || entry->type.get() != box.type.get()) [[unlikely]] {
    entry = &site.slots.get(box.type, [&] {
      const std::optional<size_t> slot = box.type->find_attribute(site.name);
      if (!slot) fail_member(*box.type, "attribute", site.name);
      return *slot;
    });
  }
  if (entry->found >= box.slots.size()) [[unlikely]]
    fail_member(*box.type, "attribute", site.name);
  return box.slots[entry->found];
}

CodeSlot& Machine::method_of(MethodSite& site, const IValue& object) const {
  if (!object.is(IValue::Tag::kObject)) [[unlikely]] {
    throw Error(ErrorCode::kUnsupported, fmt::format("the method '{}' of {} cannot be called",
                                                     printable(site.name), printable(object.kind_name())));
  }
  const std::shared_ptr<const script::Class>& type = object.as_object().type;
  const ByClass<CodeSlot*>::Entry* entry = site.targets.last();
  if (entry == nullptr || entry->type.get() != type.get()) [[unlikely]] {
    entry = &site.targets.get(type, [&] {
      const std::shared_ptr<script::Function>* const method = type->find_method(site.name);
      if (method == nullptr) fail_member(*type, "method", site.name);
      return &program_->slot_of(*method);
    });
  }
  return *entry->found;
}

IValue Machine::make_awaitable(const std::shared_ptr<const Code>& code, Call& call) {
  std::vector<IValue> arguments;
  for (size_t i = 0; i < call.size(); ++i) arguments.push_back(call[i]);
  auto make = [alive = alive_, code, arguments = std::move(arguments)]() -> IValue {
    if (*alive == nullptr) {
      throw Error(ErrorCode::kInvalidArgument, "the machine that could compute the result is gone",
                  "keep the module while its results are awaited");
    }
    const std::unique_lock lock((*alive)->busy_, std::try_to_lock);
    if (!lock) {
      throw Error(ErrorCode::kUnsupported, "the machine that could compute the result runs something else",
                  "wait for results in the call that makes them");
    }
    return (*alive)->run_inside(*code, arguments);
  };
  auto* const box = new script::FutureBox(TypeKind::kAny, std::move(make));
  box->is_await = true;
  return IValue::adopt(box);
}

}  // namespace flambeau::interpreter
