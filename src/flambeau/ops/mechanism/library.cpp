#include "flambeau/ops/mechanism/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/ops/left_out.h"
#include "flambeau/ops/list.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/variants.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::ops {

struct Library::State {
  struct Entry {
    std::string_view schema_text;
    Operator op;
    std::once_flag parsed;
  };
  std::deque<Entry> entries;
  std::deque<std::string> texts;                         // of operators that were added
  std::unordered_map<std::string_view, Entry*> by_name;  // "aten::add.Tensor"
  struct ClassEntry {
    std::string_view name;
    ObjectClass (*make)() = nullptr;
    std::unique_ptr<const ObjectClass> made = {};  // behind the mutex until it is there
  };
  mutable std::vector<ClassEntry> classes;
  SchemaTable schemas;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::unique_ptr<Operator>, std::less<>> derived;  // null: it cannot be made

  Entry& add(std::string_view schema_text) {
    Entry& entry = entries.emplace_back();
    entry.schema_text = schema_text;
    const std::string_view name = schema_text.substr(0, schema_text.find('('));
    if (!by_name.emplace(name, &entry).second) {
      entries.pop_back();
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the operator {} is defined already", printable(name)));
    }
    return entry;
  }
  const Operator& ready(Entry& entry) const {
    std::call_once(entry.parsed, [&] { entry.op.schema = parse_schema(entry.schema_text); });
    return entry.op;
  }
};

Library::Library() : state_(std::make_unique<State>()) { define_all(*this); }
Library::~Library() = default;
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;

const SchemaTable& Library::schemas() const { return state_->schemas; }

Definition Library::define(std::string_view schema) { return Definition(state_->add(schema).op); }

Definition Library::extend(std::string_view name) {
  const auto found = state_->by_name.find(name);
  if (found == state_->by_name.end())
    throw Error(ErrorCode::kInternal, fmt::format("{} is not defined before it is extended", name));
  return Definition(found->second->op);
}

const ObjectMethod* ObjectClass::find_method(std::string_view method) const {
  const auto found = std::ranges::find(methods, method, &ObjectMethod::name);
  return found == methods.end() ? nullptr : &*found;
}

void Library::define_class(std::string_view name, ObjectClass (*make)()) {
  state_->classes.push_back({.name = name, .make = make});
}

const ObjectClass* Library::find_class(std::string_view name) const {
  const auto found = std::ranges::find(state_->classes, name, &State::ClassEntry::name);
  if (found == state_->classes.end()) return nullptr;
  const std::lock_guard lock(state_->mutex);
  if (found->made == nullptr) found->made = std::make_unique<const ObjectClass>(found->make());
  return found->made.get();
}

void Library::add_class(ObjectClass added) {
  constexpr std::string_view kPrefix = "__torch__.torch.classes.";
  const bool is_named = added.name.starts_with(kPrefix) &&
                        added.name.find('.', kPrefix.size()) != std::string::npos &&
                        !added.name.ends_with('.');
  if (!is_named) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no name for a class of scripts", printable(added.name)),
                fmt::format("call it {}my.Stack, for example", kPrefix));
  }
  if (std::ranges::find(state_->classes, added.name, &State::ClassEntry::name) != state_->classes.end()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the class {} exists already", printable(added.name)), "give yours another name");
  }
  const bool has_state = static_cast<bool>(added.state);
  if (has_state != static_cast<bool>(added.from_state) || has_state == added.state_type.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the class {} has one of state, from_state and state_type alone", printable(added.name)),
        "give all three, or none for objects that no file keeps");
  }
  auto made = std::make_unique<const ObjectClass>(std::move(added));
  const std::string_view name = made->name;
  state_->classes.push_back({.name = name, .made = std::move(made)});
}

void Library::add(std::string_view schema, UserOperator user) {
  Schema parsed = parse_schema(schema);
  const OperatorName& name = parsed.name;
  if (find(name) != nullptr) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the operator {} exists already", name.to_string()),
                "give yours another name, or leave it out");
  }
  const std::string& text = state_->texts.emplace_back(to_string(parsed));
  state_->schemas.add(text);
  State::Entry& entry = state_->add(text);
  entry.op.kind = Kind::kFunction;
  entry.op.user_function = std::move(user.function);
  entry.op.user_shape = std::move(user.shape);
  const std::lock_guard lock(state_->mutex);
  state_->derived.clear();
}

const Operator* Library::find(std::string_view name, std::string_view overload) const {
  const std::string full =
      overload.empty() || overload == "default" ? std::string(name) : fmt::format("{}.{}", name, overload);
  const auto found = state_->by_name.find(full);
  if (found != state_->by_name.end()) return &state_->ready(*found->second);
  {
    const std::lock_guard lock(state_->mutex);
    const auto known = state_->derived.find(full);
    if (known != state_->derived.end()) return known->second.get();
  }
  const OperatorEntry* const entry = state_->schemas.find(name, overload == "default" ? "" : overload);
  std::unique_ptr<Operator> made = entry == nullptr ? nullptr : derive(*this, entry->schema);
  const std::lock_guard lock(state_->mutex);
  return state_->derived.emplace(full, std::move(made)).first->second.get();
}

const Operator& Library::get(std::string_view qualified_name) const {
  const auto found = state_->by_name.find(qualified_name);
  if (found != state_->by_name.end()) return state_->ready(*found->second);
  return get(parse_operator_name(qualified_name));
}

const Operator& Library::get(const OperatorName& name) const {
  if (const Operator* const op = find(name)) return *op;
  check_is_built(name.name);
  const bool is_known = state_->schemas.find(name) != nullptr;
  throw Error(ErrorCode::kUnsupported,
              is_known
                  ? fmt::format("the operator {} of PyTorch has no implementation here yet", name.to_string())
                  : fmt::format("nobody knows the operator {}", printable(name.to_string())),
              "supply it: Library::add in C++, or a library of operators with --operators FILE.so");
}

std::vector<std::string> Library::names(bool derived) const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : state_->by_name) names.emplace_back(name);
  if (derived) {
    for (const OperatorName& name : state_->schemas.names()) {
      if (!state_->by_name.contains(name.to_string()) && find(name) != nullptr)
        names.push_back(name.to_string());
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace flambeau::ops
