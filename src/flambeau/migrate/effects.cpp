#include "flambeau/migrate/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/script/unit.h"

namespace flambeau::migration {
namespace {

using Tag = IValue::Tag;

// The same thing, not only an equal one.
bool is_untouched(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  if (a.identity() != nullptr) return a.identity() == b.identity();
  return script::equal_keys(a, b);
}

bool is_untouched(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return false;
  return !a.defined() || (a.storage() == b.storage() && a.dim() == b.dim());
}

}  // namespace

Effects::Effects(const IValue& variables) {
  std::unordered_set<const void*> seen;
  std::vector<IValue> left{variables};
  while (!left.empty()) {
    const IValue value = std::move(left.back());
    left.pop_back();
    if (value.identity() == nullptr || !seen.insert(value.identity()).second) continue;
    Held held{value, {}, {}, {}};
    switch (value.tag()) {
      case Tag::kObject:
        held.items = value.as_object().slots;
        break;
      case Tag::kTuple:
        left.insert(left.end(), value.items().begin(), value.items().end());
        continue;
      case Tag::kList:
        held.items = value.items();
        break;
      case Tag::kDict:
        held.entries = value.as_dict().items.entries();
        for (const auto& entry : held.entries) left.push_back(entry.value);
        break;
      case Tag::kTensor:
        held.tensor = value.as_tensor();
        break;
      default:
        continue;
    }
    left.insert(left.end(), held.items.begin(), held.items.end());
    held_.push_back(std::move(held));
  }
}

Effects::Changes Effects::take() {
  Changes changes;
  for (size_t i = 0; i < held_.size(); ++i) {
    Held& held = held_[i];
    switch (held.value.tag()) {
      case Tag::kObject: {
        std::vector<IValue>& slots = held.value.as_object().slots;
        for (size_t k = 0; k < slots.size() && k < held.items.size(); ++k) {
          if (is_untouched(slots[k], held.items[k])) continue;
          changes.emplace(Place(i, k), slots[k]);
          slots[k] = held.items[k];
        }
        break;
      }
      case Tag::kList: {
        std::vector<IValue>& items = held.value.as_list().items;
        if (std::ranges::equal(items, held.items,
                               [](const IValue& a, const IValue& b) { return is_untouched(a, b); }))
          break;
        changes.emplace(Place(i, kWhole), IValue::list(held.value.as_list().element, items));
        items = held.items;
        break;
      }
      case Tag::kDict: {
        script::DictBox& dict = held.value.as_dict();
        const auto entries = dict.items.entries();
        const bool is_same = std::ranges::equal(entries, held.entries, [](const auto& a, const auto& b) {
          return is_untouched(a.key, b.key) && is_untouched(a.value, b.value);
        });
        if (is_same) break;
        IValue now = IValue::dict(dict.key, dict.value);
        for (const auto& entry : entries) now.as_dict().items.set(entry.key, entry.value);
        changes.emplace(Place(i, kWhole), std::move(now));
        put(Place(i, kWhole), before(Place(i, kWhole)));
        break;
      }
      case Tag::kTensor: {
        Tensor& tensor = held.value.tensor_box().tensor;
        if (is_untouched(tensor, held.tensor)) break;
        changes.emplace(Place(i, kWhole), IValue(tensor));
        tensor = held.tensor;
        break;
      }
      default:
        break;
    }
  }
  return changes;
}

IValue Effects::before(Place place) const {
  const Held& held = held_.at(place.first);
  switch (held.value.tag()) {
    case Tag::kObject:
      return held.items.at(place.second);
    case Tag::kList:
      return IValue::list(held.value.as_list().element, held.items);
    case Tag::kDict: {
      IValue dict = IValue::dict(held.value.as_dict().key, held.value.as_dict().value);
      for (const auto& entry : held.entries) dict.as_dict().items.set(entry.key, entry.value);
      return dict;
    }
    default:
      return IValue(held.tensor);
  }
}

void Effects::put(Place place, const IValue& value) {
  const IValue& target = held_.at(place.first).value;
  switch (target.tag()) {
    case Tag::kObject:
      target.as_object().slots.at(place.second) = value;
      break;
    case Tag::kList:
      target.as_list().items = std::vector<IValue>(value.items());
      break;
    case Tag::kDict: {
      script::DictItems& items = target.as_dict().items;
      const auto entries = value.as_dict().items.entries();
      items.clear();
      for (const auto& entry : entries) items.set(entry.key, entry.value);
      break;
    }
    default:
      target.tensor_box().tensor = value.as_tensor();
      break;
  }
}

std::string Effects::name(Place place) const {
  const IValue& target = held_.at(place.first).value;
  if (!target.is(Tag::kObject))
    return fmt::format("a {}", target.is(Tag::kTensor) ? "tensor" : printable(target.kind_name()));
  const script::Class& type = *target.as_object().type;
  return fmt::format("self.{}", printable(type.attributes.at(place.second).name));
}

}  // namespace flambeau::migration
