#include "flambeau/migrate/script_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/script/unit.h"

namespace flambeau::migration {
namespace {

using Tag = IValue::Tag;

constexpr size_t kMostModules = 200'000;
constexpr size_t kMostModuleDepth = 400;
// Where PyTorch's quantized layers have their weights.
constexpr std::string_view kPackedParams = "_packed_params";

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{}.{}", path, name);
}

// Names of modules have no dots, those of attributes may.
std::string registered_name(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

bool is_module(const IValue& value) { return value.is(Tag::kObject) && value.as_object().type->is_module(); }

bool is_same_value(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  return a.identity() != nullptr && !a.is(Tag::kString) ? a.identity() == b.identity()
                                                        : script::equal_keys(a, b);
}

}  // namespace

struct ScriptPart::Walk {
  std::vector<StateSlot>& slots;
  std::unordered_map<const void*, ScriptPart*> known = {};
  std::unordered_set<const void*> open = {};
  std::unordered_map<const Storage*, Tensor> storages = {};
  size_t count = 0;
};

nn::Tree ScriptPart::call(std::span<const nn::Tree>, const nn::Keywords&) {
  throw Error(ErrorCode::kInternal, "a part of a script module is called on its own");
}

void ScriptPart::add_state(const IValue& object, std::vector<StateSlot>& slots) {
  Walk walk{slots};
  walk.known.emplace(object.identity(), this);
  add_object(object, "", walk);
}

void ScriptPart::add_object(const IValue& value, const std::string& path, Walk& walk) {
  if (walk.open.size() > kMostModuleDepth || ++walk.count > kMostModules)
    throw Error(ErrorCode::kLimit, "there are too many modules in modules");
  if (!walk.open.insert(value.identity()).second)
    throw Error(ErrorCode::kCorrupt, fmt::format("the module '{}' contains itself", printable(path)));
  script::ObjectBox& object = value.as_object();
  for (size_t i = 0; i < object.slots.size() && i < object.type->attributes.size(); ++i) {
    const script::Attribute& attribute = object.type->attributes[i];
    const IValue& held = object.slots[i];
    if (is_module(held)) {
      if (attribute.name == kPackedParams) {
        // A layer keeps its packed weights in a module of their own: they are the layer's.
        for (const IValue& part : held.as_object().slots) {
          if (part.is(Tag::kNative)) add_packed(part, attribute.name);
        }
      }
      // One that is known is entered again all the same: its modules have several names then.
      const auto known = walk.known.find(held.identity());
      if (known != walk.known.end()) {
        if (walk.open.contains(held.identity()))
          throw Error(ErrorCode::kCorrupt, fmt::format("the module '{}' contains itself", printable(path)));
        add_module(registered_name(attribute.name), *known->second);
        continue;
      }
      ScriptPart& part = *parts_.emplace_back(
          std::make_unique<ScriptPart>(python_class_name(held.as_object().type->qualified_name())));
      walk.known.emplace(held.identity(), &part);
      part.add_object(held, joined(path, registered_name(attribute.name)), walk);
      add_module(registered_name(attribute.name), part);
      continue;
    }
    const bool is_of_layer = path == kPackedParams || path.ends_with(fmt::format(".{}", kPackedParams));
    if (held.is(Tag::kNative) && !is_of_layer) add_packed(held, attribute.name);
    if (!held.is(Tag::kTensor) || !held.as_tensor().defined()) continue;
    Tensor tensor = held.as_tensor();
    if (tensor.layout() != Layout::kStrided) continue;  // a constant, where it is used
    if (ops::is_quantized(tensor)) {
      // The program has its integers, which lie in the same storage.
      if (dtype_info(tensor.dtype()).per_byte > 1) continue;
      tensor = ops::integers_of(tensor);
    }
    // The tracer knows tensors by their storage: another view of one that is known becomes a copy.
    const auto [place, is_new] = walk.storages.try_emplace(tensor.storage().get(), tensor);
    if (!is_new && !nn::is_same_tensor(place->second, tensor)) {
      if (ops::is_quantized(held.as_tensor())) continue;
      tensor = ops::call(nn::current(), "aten::clone", held.as_tensor());
      tensor.set_requires_grad(held.as_tensor().requires_grad());
      object.slots[i] = IValue(tensor);
    }
    Tensor& slot = tensors_.emplace_back(std::move(tensor));
    if (attribute.is_parameter) {
      add_parameter(registered_name(attribute.name), slot, slot.requires_grad());
    } else {
      add_buffer(registered_name(attribute.name), slot,
                 attribute.is_buffer || attribute.type.is(TypeKind::kTensor));
    }
    walk.slots.push_back(
        {joined(path, registered_name(attribute.name)), &object, i, &slot, attribute.is_parameter});
  }
  walk.open.erase(value.identity());
}

// Packed weights are what they were packed of, by the names that layers have for these.
void ScriptPart::add_packed(const IValue& held, const std::string& name) {
  const Object& object = held.as_native().object;
  const ops::ObjectClass* const type = nn::current().library().find_class(object.class_name);
  if (type == nullptr || type->state == nullptr) return;
  const auto add = [&](const std::string& part, const Tensor& tensor) {
    const std::string full = name == kPackedParams ? part : fmt::format("{}_{}", registered_name(name), part);
    const bool is_taken =
        std::ranges::any_of(own_buffers(), [&](const auto& known) { return known.name == full; });
    if (tensor.layout() != Layout::kStrided || dtype_info(tensor.dtype()).per_byte > 1 || is_taken) return;
    add_buffer(full, tensors_.emplace_back(ops::is_quantized(tensor) ? ops::integers_of(tensor) : tensor),
               true);
  };
  const auto visit = [&](const Value& value, auto&& self) -> void {
    if (const ValueList* const list = value.get_if<ValueList>()) {
      for (const Value& item : *list) self(item, self);
    }
    if (const TensorList* const list = value.get_if<TensorList>()) {
      for (const Tensor& item : *list) self(Value(item), self);
    }
    const Tensor* const tensor = value.get_if<Tensor>();
    if (tensor == nullptr || !tensor->defined()) return;
    if (const Quantizer* const quantizer = tensor->quantizer()) {
      add("weight", *tensor);
      if (!quantizer->is_per_channel()) return;
      add("weight_scale", quantizer->scales);
      add("weight_zero_point", quantizer->zero_points);
    } else if (tensor->dtype() == DType::kFloat32) {
      add(tensor->dim() == 1 ? "bias" : "weight", *tensor);
    }
  };
  visit(type->state(object), visit);
}

std::string python_class_name(std::string_view qualified_name) {
  std::string name;
  while (!qualified_name.empty()) {
    const size_t dot = std::min(qualified_name.find('.'), qualified_name.size());
    const std::string_view atom = qualified_name.substr(0, dot);
    qualified_name.remove_prefix(std::min(dot + 1, qualified_name.size()));
    if (atom == "__torch__" || atom.starts_with("___torch_mangle_")) continue;
    if (!name.empty()) name += '.';
    name += atom;
  }
  return name;
}

Snapshot::Snapshot(const IValue& root) {
  std::unordered_set<const void*> seen;
  std::vector<std::pair<IValue, std::string>> left{{root, "self"}};
  while (!left.empty()) {
    auto [value, path] = std::move(left.back());
    left.pop_back();
    if (value.identity() == nullptr || !seen.insert(value.identity()).second) continue;
    Held held{value, path, {}, {}, {}};
    const auto visit = [&](const IValue& item, const std::string& where) {
      if (item.identity() != nullptr) left.emplace_back(item, where);
    };
    switch (value.tag()) {
      case Tag::kObject: {
        const script::ObjectBox& object = value.as_object();
        held.items = object.slots;
        for (size_t i = 0; i < object.slots.size() && i < object.type->attributes.size(); ++i)
          visit(object.slots[i], fmt::format("{}.{}", path, printable(object.type->attributes[i].name)));
        break;
      }
      case Tag::kTuple:
      case Tag::kList:
        held.items = value.items();
        for (size_t i = 0; i < held.items.size(); ++i) visit(held.items[i], fmt::format("{}[{}]", path, i));
        break;
      case Tag::kDict:
        held.entries = value.as_dict().items.entries();
        for (const auto& entry : held.entries) visit(entry.value, path + "[...]");
        break;
      case Tag::kTensor:
        held.tensor = value.as_tensor();
        break;
      default:
        continue;
    }
    held_.push_back(std::move(held));
  }
}

Snapshot::~Snapshot() {
  for (Held& held : held_) {
    switch (held.value.tag()) {
      case Tag::kObject:
        held.value.as_object().slots = std::move(held.items);
        break;
      case Tag::kList:
        held.value.as_list().items = std::move(held.items);
        break;
      case Tag::kDict:
        held.value.as_dict().items.clear();
        for (auto& entry : held.entries)
          held.value.as_dict().items.set(std::move(entry.key), std::move(entry.value));
        break;
      case Tag::kTensor:
        held.value.tensor_box().tensor = std::move(held.tensor);
        break;
      default:
        break;
    }
  }
}

bool Snapshot::is_changed(const Held& held) const {
  if (held.value.is(Tag::kList)) {
    const std::vector<IValue>& items = held.value.items();
    return items.size() != held.items.size() ||
           !std::equal(items.begin(), items.end(), held.items.begin(), is_same_value);
  }
  if (held.value.is(Tag::kDict)) {
    const auto entries = held.value.as_dict().items.entries();
    return !std::equal(entries.begin(), entries.end(), held.entries.begin(), held.entries.end(),
                       [](const auto& a, const auto& b) {
                         return is_same_value(a.key, b.key) && is_same_value(a.value, b.value);
                       });
  }
  return false;
}

std::vector<StateSlot> Snapshot::changed_attributes(const std::vector<StateSlot>& known) const {
  std::vector<std::string> containers;
  for (const Held& held : held_) {
    if (is_changed(held)) containers.push_back(held.path);
  }
  std::vector<StateSlot> found;
  for (const Held& held : held_) {
    if (!is_module(held.value)) continue;
    script::ObjectBox& object = held.value.as_object();
    for (size_t i = 0; i < held.items.size() && i < object.slots.size(); ++i) {
      const bool is_known = std::ranges::any_of(
          known, [&](const StateSlot& slot) { return slot.object == &object && slot.index == i; });
      if (is_known) continue;
      const std::string path = fmt::format("{}.{}", held.path, object.type->attributes.at(i).name);
      const bool has_changed_part = std::ranges::any_of(containers, [&](const std::string& container) {
        return container == path || container.starts_with(path + "[");
      });
      if (is_same_value(held.items[i], object.slots[i]) && !has_changed_part) continue;
      found.push_back({.name = path.substr(std::string_view("self.").size()), .object = &object, .index = i});
    }
  }
  std::ranges::sort(found, {}, &StateSlot::name);
  return found;
}

std::vector<std::string> Snapshot::changes(const std::vector<StateSlot>& known) const {
  std::vector<std::string> found;
  const auto is_known = [&](const script::ObjectBox& object, size_t index) {
    return std::ranges::any_of(
        known, [&](const StateSlot& slot) { return slot.object == &object && slot.index == index; });
  };
  for (const Held& held : held_) {
    if (held.value.is(Tag::kObject)) {
      const script::ObjectBox& object = held.value.as_object();
      for (size_t i = 0; i < held.items.size() && i < object.slots.size(); ++i) {
        if (is_same_value(held.items[i], object.slots[i]) || is_known(object, i)) continue;
        found.push_back(fmt::format("{}.{} ({})", held.path, printable(object.type->attributes.at(i).name),
                                    printable(object.slots[i].kind_name())));
      }
    } else if (is_changed(held)) {
      found.push_back(fmt::format("{} ({})", held.path, printable(held.value.kind_name())));
    }
  }
  return found;
}

}  // namespace flambeau::migration
