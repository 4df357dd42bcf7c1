#include "flambeau/script/operators/operator_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/base/nearest.h"
#include "flambeau/script/operators/overload_order.h"
#include "flambeau/script/operators/scripted.h"

namespace flambeau::script {
namespace {

// Data types are ints here, so that these cannot be told from others: no call ever means them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNeverMeant = {
    {{"aten::view", "dtype"}, {"aten::max", "unary_out"}, {"aten::min", "unary_out"}}};

bool is_never_meant(std::string_view name, std::string_view overload) {
  return std::ranges::find(kNeverMeant, std::pair(name, overload)) != kNeverMeant.end();
}

// The overloads in the order they are tried. The table may have more than PyTorch had when the order was
// recorded: those of other libraries come last.
std::vector<std::string> ordered_overloads(const SchemaTable& schemas, std::string_view name) {
  std::vector<std::string> known = schemas.overloads(name);
  std::vector<std::string> ordered;
  std::string_view recorded = overload_order(name);
  while (!recorded.empty()) {
    std::string_view overload = recorded.substr(0, recorded.find(' '));
    recorded.remove_prefix(std::min(recorded.size(), overload.size() + 1));
    if (overload == "-") overload = {};
    const auto found = std::ranges::find(known, overload);
    if (found == known.end()) continue;
    ordered.push_back(std::move(*found));
    known.erase(found);
  }
  std::ranges::move(known, std::back_inserter(ordered));
  return ordered;
}

struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};

}  // namespace

struct OperatorTable::State {
  mutable std::shared_mutex mutex;
  std::unordered_map<std::string, std::vector<Overload>, TextHash, std::equal_to<>> by_name;
  std::unordered_map<const OperatorEntry*, const Overload*> by_entry;
  // Made once, with the table: there are few.
  std::vector<std::unique_ptr<OperatorEntry>> old_entries;
  std::vector<Overload> old_overloads;
  std::unordered_map<std::string_view, std::vector<ScriptedOperator>> scripted;
  std::once_flag scripted_made;
  std::vector<std::string> names;  // sorted, for remedies
  std::once_flag has_names;
};

OperatorTable::OperatorTable(std::shared_ptr<const SchemaTable> schemas)
    : schemas_(std::move(schemas)), state_(std::make_unique<State>()) {
  state_->old_overloads.reserve(upgraders().size());
  for (const Upgrader& upgrader : upgraders()) {
    auto entry = std::make_unique<OperatorEntry>();
    entry->schema = parse_schema(upgrader.old_schema);
    state_->old_overloads.push_back({entry.get(), signature_of(entry->schema), &upgrader});
    state_->by_entry.emplace(entry.get(), &state_->old_overloads.back());
    state_->old_entries.push_back(std::move(entry));
  }
}

OperatorTable::~OperatorTable() = default;

const std::vector<Overload>& OperatorTable::current(std::string_view name) const {
  {
    const std::shared_lock lock(state_->mutex);
    const auto found = state_->by_name.find(name);
    if (found != state_->by_name.end()) return found->second;
  }
  std::vector<Overload> made;
  for (const std::string& overload : ordered_overloads(*schemas_, name)) {
    const OperatorEntry& entry = schemas_->get(name, overload);
    made.push_back({&entry, signature_of(entry.schema)});
  }
  // Names that nobody has are a stranger's: they are not kept.
  static const std::vector<Overload> kNone;
  if (made.empty()) return kNone;
  const std::unique_lock lock(state_->mutex);
  const auto [kept, is_new] = state_->by_name.try_emplace(std::string(name), std::move(made));
  if (is_new)
    for (const Overload& overload : kept->second) state_->by_entry.emplace(overload.entry, &overload);
  return kept->second;
}

std::vector<const Overload*> OperatorTable::candidates(std::string_view name,
                                                       std::optional<int64_t> archive_version) const {
  std::vector<const Overload*> now;
  std::vector<const Overload*> then;
  for (const Overload& overload : current(name)) {
    const OperatorName& full = overload.entry->schema.name;
    if (is_never_meant(full.name, full.overload)) continue;
    const Upgrader* const upgrader = archive_version ? find_upgrader(full, *archive_version) : nullptr;
    if (upgrader == nullptr) {
      now.push_back(&overload);
    } else {
      then.push_back(&*std::ranges::find(state_->old_overloads, upgrader, &Overload::upgrader));
    }
  }
  now.insert(now.end(), then.begin(), then.end());
  return now;
}

std::span<const ScriptedOperator> OperatorTable::scripted(std::string_view name) const {
  std::call_once(state_->scripted_made, [&] {
    for (const ScriptedText& text : scripted_texts())
      state_->scripted[text.name].push_back(read_scripted(text));
  });
  const auto found = state_->scripted.find(name);
  if (found == state_->scripted.end()) return {};
  return found->second;
}

const Overload& OperatorTable::overload(const OperatorEntry& entry) const {
  const auto find_entry = [&]() -> const Overload* {
    const std::shared_lock lock(state_->mutex);
    const auto found = state_->by_entry.find(&entry);
    return found == state_->by_entry.end() ? nullptr : found->second;
  };
  const Overload* found = find_entry();
  if (found == nullptr) {
    current(entry.schema.name.name);
    found = find_entry();
  }
  if (found == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the operator {} is not of this table", entry.schema.name.to_string()));
  }
  return *found;
}

std::string OperatorTable::did_you_mean(std::string_view name) const {
  std::vector<std::string>& names = state_->names;
  std::call_once(state_->has_names, [&] {
    for (OperatorName& known : schemas_->names()) names.push_back(std::move(known.name));
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
  });
  return flambeau::did_you_mean(name, names);
}

}  // namespace flambeau::script
