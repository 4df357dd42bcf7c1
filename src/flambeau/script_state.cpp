// The state of modules: training, element types, copies, which methods they have.
#include <fmt/format.h>

#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/native_methods.h"
#include "flambeau/script/reachable.h"
#include "flambeau/script_module.h"
#include "flambeau/tensor/elements/convert.h"

namespace flambeau::script {
namespace {

constexpr int kMostCopyDepth = 500;

// The same values again, with objects, lists and dicts of their own. What was shared stays shared.
class ValueCopier {
 public:
  ValueCopier(const ops::Library& library, bool with_tensors)
      : library_(library), with_tensors_(with_tensors) {}

  IValue copy(const IValue& value, int depth = 0) {
    if (!value.is_boxed()) return value;
    if (depth > kMostCopyDepth) throw Error(ErrorCode::kLimit, "the module's values are nested too deep");
    const auto known = copies_.find(value.identity());
    if (known != copies_.end()) return known->second.made;
    switch (value.tag()) {
      case IValue::Tag::kTensor:
        return with_tensors_ ? keep(value, IValue(copy(value.as_tensor()))) : value;
      case IValue::Tag::kList: {
        const IValue made = keep(value, IValue::list(value.as_list().element));
        for (const IValue& item : value.items()) made.items().push_back(copy(item, depth + 1));
        return made;
      }
      case IValue::Tag::kDict: {
        const IValue made = keep(value, IValue::dict(value.as_dict().key, value.as_dict().value));
        for (const DictItems::Entry& entry : value.as_dict().items.entries())
          made.as_dict().items.set(copy(entry.key, depth + 1), copy(entry.value, depth + 1));
        return made;
      }
      case IValue::Tag::kTuple: {
        std::vector<IValue> items;
        for (const IValue& item : value.items()) items.push_back(copy(item, depth + 1));
        const std::shared_ptr<const Class>& named = value.as_tuple().named;
        return keep(value, named == nullptr ? IValue::tuple(std::move(items))
                                            : IValue::named_tuple(std::move(items), named));
      }
      case IValue::Tag::kObject: {
        const ObjectBox& object = value.as_object();
        const IValue made = keep(value, IValue::object(object.type));
        made.as_object().slots.resize(object.slots.size());
        for (size_t i = 0; i < object.slots.size(); ++i)
          made.as_object().slots[i] = copy(object.slots[i], depth + 1);
        return made;
      }
      case IValue::Tag::kNative: {
        const Object& object = value.as_native().object;
        const ops::ObjectClass* const type = library_.find_class(object.class_name);
        if (!with_tensors_ || type == nullptr || !type->state) return value;
        return keep(value, interpreter::native_from_state(library_, object.class_name,
                                                          interpreter::native_state(library_, object)));
      }
      default:  // strings, numbers and enumerators never change; a future is what it is
        return value;
    }
  }

  // Where a value went; null for one that was not copied.
  const IValue* find(const void* identity) const {
    const auto known = copies_.find(identity);
    return known == copies_.end() ? nullptr : &known->second.made;
  }

 private:
  IValue keep(const IValue& from, IValue made) {
    copies_.insert_or_assign(from.identity(), Kept{from, made});
    return made;
  }

  Tensor copy(const Tensor& tensor) {
    const std::shared_ptr<Storage>& storage = tensor.storage();
    if (!tensor.defined() || tensor.is_meta() || storage == nullptr || storage->is_meta()) return tensor;
    std::shared_ptr<Storage>& made = storages_[storage.get()];
    if (made == nullptr) {
      const ByteSpan bytes = storage->bytes();
      made = Storage::uninitialized(bytes.size());
      if (!bytes.empty()) std::memcpy(made->mutable_bytes().data(), bytes.data(), bytes.size());
    }
    Tensor copied = tensor;
    copied.set_storage(made, tensor.offset());
    return copied;
  }

  struct Kept {
    IValue from;  // so that its address stays its own
    IValue made;
  };
  const ops::Library& library_;
  bool with_tensors_;
  std::unordered_map<const void*, Kept> copies_;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> storages_;
};

bool has_gradient(DType dtype) { return dtype_info(dtype).is_floating || dtype_info(dtype).is_complex; }

}  // namespace

void ScriptModule::Loaded::note_training() {
  bool is_training = file.module.is_none();  // of a unit whose modules nobody counts, some may be
  std::unordered_set<const void*> seen;
  std::vector<IValue> left{file.module};
  while (!left.empty() && !is_training) {
    const IValue module = std::move(left.back());
    left.pop_back();
    if (!is_module(module) || !seen.insert(module.identity()).second) continue;
    const ObjectBox& object = module.as_object();
    const std::optional<size_t> slot = object.type->find_attribute("training");
    is_training = slot && *slot < object.slots.size() && object.slots[*slot].is(IValue::Tag::kBool) &&
                  object.slots[*slot].as_bool();
    left.insert(left.end(), object.slots.begin(), object.slots.end());
  }
  may_train_ = is_training;
}

void ScriptModule::train(bool on) {
  const std::unique_lock lock(loaded_->mutex);
  for (const ScriptModule& module : modules_here()) {
    ObjectBox& object = module.object_.as_object();
    const std::optional<size_t> slot = object.type->find_attribute("training");
    if (slot && *slot < object.slots.size()) object.slots[*slot] = IValue(on);
  }
  loaded_->note_training();
}

void ScriptModule::to(DType dtype) {
  if (!has_gradient(dtype)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("a module goes to floating-point and complex types, not to {}", dtype_name(dtype)));
  }
  const std::unique_lock lock(loaded_->mutex);
  std::unordered_set<const void*> seen;
  for (const ScriptModule& module : modules_here()) {
    const ObjectBox& object = module.object_.as_object();
    for (size_t i = 0; i < object.slots.size(); ++i) {
      const Attribute& attribute = object.type->attributes.at(i);
      const IValue& slot = object.slots[i];
      if (!(attribute.is_parameter || attribute.is_buffer) || !slot.is(IValue::Tag::kTensor)) continue;
      Tensor& tensor = slot.tensor_box().tensor;
      const bool is_converted = has_gradient(tensor.dtype());
      if (!is_converted || tensor.dtype() == dtype || !seen.insert(slot.identity()).second) continue;
      tensor = with_location("attribute", printable(joined_path(module.path_, attribute.name)),
                             [&] { return convert(tensor, dtype, &loaded_->code->pool); });
    }
  }
}

void ScriptModule::keep_methods(const std::vector<std::string>& names) {
  const std::unique_lock lock(loaded_->mutex);
  require_own_code();
  auto& type = const_cast<Class&>(*object_.as_object().type);
  std::vector<std::shared_ptr<Function>> left;
  std::unordered_set<const Function*> kept;
  for (const std::string& name : names) left.push_back(method_named(object_, name));
  while (!left.empty()) {
    const std::shared_ptr<Function> method = std::move(left.back());
    left.pop_back();
    if (!kept.insert(method.get()).second) continue;
    visit_nodes(*method->graph(), [&](const ir::Node& node) {
      if (!node.is(ir::NodeKind::kCallMethod) || node.input(0)->type() != type.type()) return;
      if (const std::shared_ptr<Function>* const called = type.find_method(node.name))
        left.push_back(*called);
    });
  }
  // How it is saved is not for callers to leave out.
  std::erase_if(type.methods, [&](const std::shared_ptr<Function>& method) {
    return !kept.contains(method.get()) && method->name() != "__getstate__" &&
           method->name() != "__setstate__";
  });
  type.names_changed();
}

ScriptModule ScriptModule::copied(bool with_tensors) const {
  const std::shared_lock lock(loaded_->mutex);
  auto made = std::make_shared<Loaded>(loaded_->code);
  ValueCopier copier(*loaded_->code->library, with_tensors);
  made->file = {.archive = loaded_->file.archive, .unit = loaded_->file.unit, .module = {}, .kept = {}};
  made->file.module = copier.copy(object_);
  for (const auto& [identity, kept] : loaded_->file.kept) {
    const IValue* const object = copier.find(identity);
    if (object != nullptr)
      made->file.kept.emplace(object->identity(), KeptState{*object, copier.copy(kept.state)});
  }
  made->note_training();
  IValue root = made->file.module;
  return {std::move(made), std::move(root), {}};
}

ScriptModule ScriptModule::copy() const { return copied(false); }
ScriptModule ScriptModule::deepcopy() const { return copied(true); }

}  // namespace flambeau::script
