// The state dict of a module: out, and in again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>

#include "flambeau/base/error.h"
#include "flambeau/nn/module.h"
#include "flambeau/tensor/elements/convert.h"

namespace flambeau::nn {
namespace {

// PyTorch's order: a module's parameters, its buffers, then its submodules.
void collect(const Module& module, const std::string& prefix, std::vector<NamedSlot>& slots) {
  for (const auto* const list : {&module.own_parameters(), &module.own_buffers()}) {
    for (const NamedSlot& slot : *list) {
      if (slot.tensor->defined() && slot.is_persistent) slots.push_back({prefix + slot.name, slot.tensor});
    }
  }
  for (const NamedModule& child : module.children()) collect(*child.module, prefix + child.name + ".", slots);
}

std::string list_of(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(fmt::format("'{}'", printable(name)));
  return fmt::format("{}", fmt::join(quoted, ", "));
}

// The values of a tensor into the bytes of another of the same sizes.
void copy_values(const Tensor& from, Tensor& to) {
  const Tensor packed = convert(from, to.dtype()).to_contiguous();
  if (to.is_contiguous()) {
    const ByteSpan bytes = packed.contiguous_bytes();
    if (!bytes.empty()) std::memcpy(to.mutable_contiguous_bytes().data(), bytes.data(), bytes.size());
    return;
  }
  const size_t size = to.element_size();
  for (int64_t i = 0; i < to.element_count(); ++i) {
    int64_t left = i, at = 0;
    for (size_t d = to.dim(); d-- > 0;) {
      at += left % to.sizes()[d] * to.strides()[d];
      left /= to.sizes()[d];
    }
    std::memcpy(to.mutable_data() + static_cast<size_t>(at) * size,
                packed.data() + static_cast<size_t>(i) * size, size);
  }
}

}  // namespace

StateDict Module::state_dict() const {
  std::vector<NamedSlot> slots;
  collect(*this, "", slots);
  StateDict state;
  for (NamedSlot& slot : slots) state.emplace_back(std::move(slot.name), *slot.tensor);
  return state;
}

UnmatchedKeys Module::load_state_dict(const StateDict& state, bool strict, bool assign) {
  std::map<std::string_view, const Tensor*> given;
  for (const auto& [name, tensor] : state) given.emplace(name, &tensor);
  std::vector<NamedSlot> slots;
  collect(*this, "", slots);
  UnmatchedKeys keys;
  std::vector<std::string> problems;
  std::map<std::string_view, const NamedSlot*> known;
  for (const NamedSlot& slot : slots) {
    known.emplace(slot.name, &slot);
    const auto found = given.find(slot.name);
    if (found == given.end()) {
      keys.missing.push_back(slot.name);
    } else if (found->second->sizes() != slot.tensor->sizes()) {
      problems.push_back(fmt::format("'{}' is {} there and {} here", slot.name, found->second->summary(),
                                     slot.tensor->summary()));
    }
  }
  for (const auto& [name, tensor] : state) {
    if (!known.contains(name)) keys.unexpected.push_back(name);
  }
  if (strict && !keys.missing.empty()) problems.push_back("missing: " + list_of(keys.missing));
  if (strict && !keys.unexpected.empty()) problems.push_back("unexpected: " + list_of(keys.unexpected));
  if (!problems.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the state dict does not fit {}: {}", short_class_name(*this), fmt::join(problems, "; ")),
        strict ? "load it into the module it was made by, or with strict = false to take what fits by name"
               : "load it into the module it was made by");
  }
  for (const NamedSlot& slot : slots) {
    const auto found = given.find(slot.name);
    if (found == given.end()) continue;
    if (assign) {
      const bool requires_grad = slot.tensor->requires_grad();
      *slot.tensor = *found->second;
      slot.tensor->set_requires_grad(requires_grad);
    } else {
      copy_values(*found->second, *slot.tensor);
    }
  }
  return keys;
}

}  // namespace flambeau::nn
