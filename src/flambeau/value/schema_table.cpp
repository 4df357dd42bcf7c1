#include "flambeau/value/schema_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/value/schema_table_text.h"

namespace flambeau {
namespace {

struct FlagName {
  std::string_view name;
  OperatorFlag flag;
};

constexpr FlagName kFlagNames[] = {
    {"core", OperatorFlag::kCore},
    {"pointwise", OperatorFlag::kPointwise},
    {"reduction", OperatorFlag::kReduction},
    {"view", OperatorFlag::kView},  // no tag: the schema says so
    {"view_copy", OperatorFlag::kViewCopy},
    {"inplace", OperatorFlag::kInplace},
    {"inplace_view", OperatorFlag::kInplaceView},
    {"out", OperatorFlag::kOut},
    {"nondeterministic_seeded", OperatorFlag::kNondeterministicSeeded},
    {"nondeterministic_bitwise", OperatorFlag::kNondeterministicBitwise},
    {"data_dependent_output", OperatorFlag::kDataDependentOutput},
    {"dynamic_output_shape", OperatorFlag::kDynamicOutputShape},
    {"maybe_aliasing_or_mutating", OperatorFlag::kMaybeAliasingOrMutating},
    {"needs_contiguous_strides", OperatorFlag::kNeedsContiguousStrides},
    {"needs_exact_strides", OperatorFlag::kNeedsExactStrides},
    {"needs_fixed_stride_order", OperatorFlag::kNeedsFixedStrideOrder},
    {"flexible_layout", OperatorFlag::kFlexibleLayout},
    {"cudagraph_unsafe", OperatorFlag::kCudagraphUnsafe},
    {"out_variant", OperatorFlag::kOutVariant},
    {"files", OperatorFlag::kFiles},
    {"kept_in_core", OperatorFlag::kKeptInCore},
};

// Name and overload of one operator, as views of texts that live elsewhere.
struct Key {
  std::string_view name;
  std::string_view overload;
  bool operator==(const Key&) const = default;
  auto operator<=>(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    const std::hash<std::string_view> hash;
    return hash(key.name) * 31 + hash(key.overload);
  }
};

Key key_of_line(std::string_view line) {
  const std::string_view full = line.substr(0, line.find('('));
  const size_t dot = full.find('.');
  if (dot == std::string_view::npos) return {full, {}};
  return {full.substr(0, dot), full.substr(dot + 1)};
}

std::string_view line_at(std::string_view text, size_t start) {
  return text.substr(start, text.find('\n', start) - start);
}

// The start of the first line whose key is not below `key`; the end of the text when there is none. Bisects
// over bytes: the lines are sorted, and an index would cost more than it saves. The comment's first character
// sorts below every name.
size_t lower_bound(std::string_view text, const Key& key) {
  size_t low = 0;  // both are starts of lines
  size_t high = text.size();
  while (low < high) {
    const size_t before = text.substr(0, low + (high - low) / 2).rfind('\n');
    const size_t start = std::max(before == std::string_view::npos ? 0 : before + 1, low);
    const std::string_view line = line_at(text, start);
    if (key_of_line(line) < key) {
      low = start + line.size() + 1;
    } else {
      high = start;
    }
  }
  return low;
}

uint32_t parse_flags(std::string_view names) {
  uint32_t flags = 0;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const auto found = std::ranges::find(kFlagNames, name, &FlagName::name);
    if (found == std::end(kFlagNames))
      throw Error(ErrorCode::kInternal, fmt::format("the table of schemas has an unknown flag '{}'", name));
    flags |= static_cast<uint32_t>(found->flag);
  }
  return flags;
}

std::unique_ptr<OperatorEntry> make_entry(std::string_view schema_text, uint32_t flags) {
  auto entry = std::make_unique<OperatorEntry>();
  entry->schema = parse_schema(schema_text);
  entry->flags = flags;
  if (entry->schema.is_view()) entry->flags |= static_cast<uint32_t>(OperatorFlag::kView);
  return entry;
}

std::unique_ptr<OperatorEntry> parse_line(std::string_view line) {
  const size_t tab = line.find('\t');
  const std::string_view flags = tab == std::string_view::npos ? "" : line.substr(tab + 1);
  return make_entry(line.substr(0, tab), parse_flags(flags));
}

}  // namespace

struct SchemaTable::State {
  mutable std::shared_mutex mutex;
  // What was asked for or added; the keys are views of the entries' own names.
  std::unordered_map<Key, std::unique_ptr<OperatorEntry>, KeyHash> entries;

  // The caller holds the mutex. Another thread may have been faster; then its entry stays.
  const OperatorEntry& keep(std::unique_ptr<OperatorEntry> entry) {
    const OperatorName& name = entry->schema.name;
    const Key key{name.name, name.overload};
    return *entries.try_emplace(key, std::move(entry)).first->second;
  }
};

SchemaTable::SchemaTable() : state_(std::make_unique<State>()) {}
SchemaTable::~SchemaTable() = default;
SchemaTable::SchemaTable(SchemaTable&&) noexcept = default;
SchemaTable& SchemaTable::operator=(SchemaTable&&) noexcept = default;

const OperatorEntry* SchemaTable::find(std::string_view name, std::string_view overload) const {
  const Key key{name, overload};
  {
    const std::shared_lock lock(state_->mutex);
    const auto found = state_->entries.find(key);
    if (found != state_->entries.end()) return found->second.get();
  }
  const std::string_view text = schema_table_text();
  const size_t start = lower_bound(text, key);
  if (start >= text.size()) return nullptr;
  const std::string_view line = line_at(text, start);
  if (key_of_line(line) != key) return nullptr;
  std::unique_ptr<OperatorEntry> entry = parse_line(line);
  const std::unique_lock lock(state_->mutex);
  return &state_->keep(std::move(entry));
}

const OperatorEntry* SchemaTable::find_python(std::string_view target) const {
  const std::optional<OperatorName> name = find_python_operator(target);
  return name ? find(*name) : nullptr;
}

const OperatorEntry& SchemaTable::get(std::string_view name, std::string_view overload) const {
  if (const OperatorEntry* entry = find(name, overload)) return *entry;
  std::vector<std::string> there = overloads(name);
  if (there.empty()) {
    throw Error(ErrorCode::kNotFound, fmt::format("there is no operator '{}'", printable(name)),
                "if it is an operator of your own, add its schema to the table");
  }
  for (std::string& one : there) one = one.empty() ? "default" : one;
  constexpr size_t kMostNamed = 12;
  const bool has_more = there.size() > kMostNamed;
  if (has_more) there.resize(kMostNamed);
  throw Error(ErrorCode::kNotFound,
              fmt::format("the operator '{}' has no overload '{}'; it has {}{}", printable(name),
                          overload.empty() ? "default" : printable(overload), fmt::join(there, ", "),
                          has_more ? ", ..." : ""));
}

std::vector<OperatorName> SchemaTable::names() const {
  std::set<Key> found;
  const std::string_view text = schema_table_text();
  for (size_t start = 0; start < text.size();) {
    const std::string_view line = line_at(text, start);
    start += line.size() + 1;
    if (!line.empty() && line[0] != '#') found.insert(key_of_line(line));
  }
  const std::shared_lock lock(state_->mutex);
  for (const auto& [key, entry] : state_->entries) found.insert(key);
  std::vector<OperatorName> names;
  for (const Key& key : found) names.push_back({std::string(key.name), std::string(key.overload)});
  return names;
}

std::vector<std::string> SchemaTable::overloads(std::string_view name) const {
  std::set<std::string> found;
  const std::string_view text = schema_table_text();
  for (size_t start = lower_bound(text, {name, {}}); start < text.size();) {
    const std::string_view line = line_at(text, start);
    const Key key = key_of_line(line);
    if (key.name != name) break;
    found.emplace(key.overload);
    start += line.size() + 1;
  }
  const std::shared_lock lock(state_->mutex);
  for (const auto& [key, entry] : state_->entries) {
    if (key.name == name) found.emplace(key.overload);
  }
  return {found.begin(), found.end()};
}

const OperatorEntry& SchemaTable::add(std::string_view schema_text, uint32_t flags) {
  std::unique_ptr<OperatorEntry> entry = make_entry(schema_text, flags);
  find(entry->schema.name);  // brings a built-in one of that name into the table
  const std::unique_lock lock(state_->mutex);
  const Schema added = entry->schema;
  const OperatorEntry& kept = state_->keep(std::move(entry));
  if (kept.schema != added) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the operator '{}' is there already with another schema: {}",
                            printable(added.name.to_string()), printable(to_string(kept.schema), 400)));
  }
  return kept;
}

std::string_view operator_flag_name(OperatorFlag flag) {
  const auto found = std::ranges::find(kFlagNames, flag, &FlagName::flag);
  return found == std::end(kFlagNames) ? std::string_view() : found->name;
}

size_t builtin_schema_count() { return std::ranges::count(schema_table_text(), '\n') - 1; }

}  // namespace flambeau
