#include "flambeau/nn/module.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <tuple>
#include <typeinfo>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/convert.h"

namespace flambeau::nn {
namespace {

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

// Slots that were seen, told apart by the tensors they hold.
class SeenTensors {
 public:
  bool insert(const Tensor& tensor) {
    std::vector<const Tensor*>& same = by_storage_[tensor.storage().get()];
    const auto is_seen = [&](const Tensor* other) { return is_same_tensor(*other, tensor); };
    if (std::ranges::any_of(same, is_seen)) return false;
    same.push_back(&tensor);
    return true;
  }

 private:
  std::map<const Storage*, std::vector<const Tensor*>> by_storage_;
};

}  // namespace

bool is_same_tensor(const Tensor& a, const Tensor& b) {
  if (a.storage() != b.storage()) return false;
  if (a.is_traced() || b.is_traced()) return true;  // each has a storage of its own
  return a.dtype() == b.dtype() && a.offset() == b.offset() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

std::string Module::class_name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : typeid(*this).name();
}

std::string short_class_name(const Module& module) {
  std::string name = module.class_name();
  return name.substr(name.find_last_of(".:") + 1);
}

std::vector<std::string> Module::argument_names() const { return {}; }

void Module::check_name(std::string_view name) const {
  const auto refuse = [&](std::string_view why) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' cannot be registered in {}: {}", printable(name), class_name(), why));
  };
  if (name.empty()) refuse("the name is empty");
  if (name.find('.') != std::string_view::npos) refuse("a name has no dot");
  const auto is_it = [&](const auto& entry) { return entry.name == name; };
  if (std::ranges::any_of(parameters_, is_it) || std::ranges::any_of(buffers_, is_it) ||
      std::ranges::any_of(children_, is_it))
    refuse("the name is taken");
}

void Module::add_parameter(std::string name, Tensor& slot, bool requires_grad) {
  check_name(name);
  if (slot.defined()) slot.set_requires_grad(requires_grad);
  parameters_.push_back({std::move(name), &slot});
}

void Module::add_buffer(std::string name, Tensor& slot, bool persistent) {
  check_name(name);
  buffers_.push_back({std::move(name), &slot, persistent});
}

void Module::add_module(std::string name, Module& child) {
  check_name(name);
  children_.push_back({std::move(name), &child});
}

template <typename Visit>
void Module::walk(const std::string& prefix, const Visit& visit) const {
  visit(prefix, *this);
  for (const NamedModule& child : children_) child.module->walk(joined(prefix, child.name), visit);
}

std::vector<NamedSlot> Module::named_slots(std::vector<NamedSlot> Module::* list, Shared shared) const {
  std::vector<NamedSlot> found;
  std::set<const Module*> modules;
  SeenTensors tensors;
  walk("", [&](const std::string& prefix, const Module& module) {
    if (shared == Shared::kOnce && !modules.insert(&module).second) return;
    for (const NamedSlot& slot : module.*list) {
      if (!slot.tensor->defined() || (shared == Shared::kOnce && !tensors.insert(*slot.tensor))) continue;
      found.push_back({joined(prefix, slot.name), slot.tensor, slot.is_persistent});
    }
  });
  return found;
}

std::vector<NamedSlot> Module::named_parameters(Shared shared) const {
  return named_slots(&Module::parameters_, shared);
}
std::vector<NamedSlot> Module::named_buffers(Shared shared) const {
  return named_slots(&Module::buffers_, shared);
}

std::vector<NamedModule> Module::named_modules(Shared shared) const {
  std::vector<NamedModule> found;
  std::set<const Module*> seen;
  walk("", [&](const std::string& name, const Module& module) {
    if (shared == Shared::kOnce && !seen.insert(&module).second) return;
    found.push_back({name, const_cast<Module*>(&module)});
  });
  return found;
}

Module* Module::find_module(std::string_view name) const {
  if (name.empty()) return const_cast<Module*>(this);
  const size_t dot = name.find('.');
  for (const NamedModule& child : children_) {
    if (child.name == name.substr(0, dot))
      return child.module->find_module(dot == std::string_view::npos ? "" : name.substr(dot + 1));
  }
  return nullptr;
}

Module& Module::train(bool on) {
  return apply([&](Module& module) { module.is_training_ = on; });
}

Module& Module::requires_grad_(bool on) {
  for (const NamedSlot& slot : named_parameters(Shared::kEach)) slot.tensor->set_requires_grad(on);
  return *this;
}

Module& Module::apply(const std::function<void(Module&)>& visit) {
  for (const NamedModule& child : children_) child.module->apply(visit);
  visit(*this);
  return *this;
}

Module& Module::to(DType dtype) {
  std::vector<std::pair<Tensor, Tensor>> done;
  for (const auto list : {&Module::parameters_, &Module::buffers_}) {
    for (const NamedSlot& slot : named_slots(list, Shared::kEach)) {
      Tensor& tensor = *slot.tensor;
      if (!dtype_info(tensor.dtype()).is_floating || tensor.dtype() == dtype) continue;
      const auto is_it = [&](const auto& pair) { return is_same_tensor(pair.first, tensor); };
      auto found = std::ranges::find_if(done, is_it);
      if (found == done.end()) found = done.insert(done.end(), {tensor, convert(tensor, dtype)});
      const bool requires_grad = tensor.requires_grad();
      tensor = found->second;
      tensor.set_requires_grad(requires_grad);
    }
  }
  return *this;
}

}  // namespace flambeau::nn
