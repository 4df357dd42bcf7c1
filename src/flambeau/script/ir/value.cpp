// Names and uses of values.
#include <algorithm>
#include <charconv>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/graph.h"
#include "flambeau/script/ir/names.h"

namespace flambeau::script::ir {

namespace {

// Where the number behind a name's last dot begins ("x.12": 2); npos when there is none. Numbers that are no
// int64 are part of the name.
size_t number_of_name(std::string_view name) {
  constexpr size_t kMostDigits = 18;
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size() || name.size() - dot - 1 > kMostDigits) {
    return std::string_view::npos;
  }
  const bool is_number = name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  return is_number ? dot + 1 : std::string_view::npos;
}

}  // namespace

void Value::set_name(std::string name) {
  if (!name.empty() && name.find_first_not_of("0123456789") == std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "a value's name is the number " + printable(name),
                "give it a name that begins with a letter");
  }
  Graph::Names& names = *node_->graph_->names_;
  if (has_name()) {
    names.owners.erase(name_);
    name_.clear();
  }
  if (name.empty()) return;
  const auto [place, is_free] = names.owners.try_emplace(name, this);
  if (!is_free) {
    Value* owner = place->second;
    place->second = this;
    std::string base = name;
    int64_t number = 1;
    if (const size_t digits = number_of_name(name); digits != std::string::npos) {
      std::from_chars(name.data() + digits, name.data() + name.size(), number);
      base.resize(digits - 1);
    }
    int64_t& last = names.last_numbers[base];
    if (last != 0) number = std::max(number, last + 1);
    std::string replacement;
    do {
      replacement = base + "." + std::to_string(number++);
    } while (names.owners.contains(replacement));
    // One more than the number used: PyTorch leaves the next one out as well.
    last = number;
    names.owners.emplace(replacement, owner);
    owner->name_ = std::move(replacement);
  }
  name_ = std::move(name);
}

std::string_view Value::base_name() const {
  const std::string_view name = name_;
  const size_t digits = number_of_name(name);
  return digits == std::string_view::npos ? name : name.substr(0, digits - 1);
}

void Value::replace_uses_with(Value* other) {
  if (other == this) return;
  const std::vector<Use> uses = std::move(uses_);
  uses_.clear();
  for (const Use& use : uses) {
    use.user->inputs_[use.index] = other;
    use.user->note_use(use.index);
  }
}

void Value::replace_uses_after(Node* node, Value* other) {
  if (other == this) return;
  std::vector<Use> later;
  for (const Use& use : uses_) {
    if (node->is_before(use.user) && !use.user->is_inside(node)) later.push_back(use);
  }
  for (const Use& use : later) use.user->replace_input(use.index, other);
}

}  // namespace flambeau::script::ir
