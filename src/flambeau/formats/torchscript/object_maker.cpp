#include "flambeau/formats/torchscript/object_maker.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

void give_type(const IValue& value, const Type& type, std::string_view type_text) {
  if (type.is(TypeKind::kList) && value.is(IValue::Tag::kList)) {
    value.as_list().element = type.element();
  } else if (type.is(TypeKind::kDict) && value.is(IValue::Tag::kDict)) {
    for (const DictItems::Entry& entry : value.as_dict().items.entries()) {
      const bool fits = type.elements()[0].is(TypeKind::kString) ? entry.key.is(IValue::Tag::kString)
                        : type.elements()[0].is(TypeKind::kInt)  ? entry.key.is(IValue::Tag::kInt)
                                                                 : true;
      if (!fits) corrupt(fmt::format("{} is a key of a {}", entry.key.kind_name(), printable(type_text)));
    }
    value.as_dict().key = type.elements()[0];
    value.as_dict().value = type.elements()[1];
  } else {
    corrupt(fmt::format("{} is said to be of type {}", value.kind_name(), printable(type_text)));
  }
}

std::shared_ptr<Class> ObjectMaker::get_class(const std::string& name) const {
  std::shared_ptr<Class> type = unit_.find_class(name);
  if (type == nullptr) {
    throw Error(ErrorCode::kNotFound,
                fmt::format("the class {} is not in the archive's code", printable(name)),
                "the file is incomplete: get it again");
  }
  return type;
}

IValue ObjectMaker::enumerator(const std::shared_ptr<const Class>& type, const IValue& value) {
  for (const Enumerator& enumerator : type->enumerators) {
    if (enumerator.value.tag() == value.tag() && equal_keys(enumerator.value, value)) {
      return IValue::enumerator(type, enumerator.name, enumerator.value);
    }
  }
  corrupt(fmt::format("{} has no member of that value", printable(type->qualified_name())));
}

IValue ObjectMaker::make_native(const std::string& class_name, IValue state) {
  return with_location("object", printable(class_name), [&] {
    if (hooks_.make_native) {
      IValue made = hooks_.make_native(class_name, state);
      if (!made.is_none()) return made;
    }
    std::shared_ptr<const Class>& type = opaque_classes_[class_name];
    if (type == nullptr) {
      auto made = std::make_shared<Class>(ClassKind::kPlain, class_name);
      Attribute held_state;
      held_state.name = kKeptStateAttribute;
      held_state.type = TypeKind::kAny;
      made->attributes.push_back(std::move(held_state));
      type = std::move(made);
    }
    IValue object = IValue::object(type);
    object.as_object().slots[0] = std::move(state);
    return object;
  });
}

void ObjectMaker::set_state(const IValue& object, IValue state) {
  const ObjectBox& box = object.as_object();
  const Function& method = **box.type->find_method("__setstate__");
  if (!hooks_.set_state || (hooks_.may_set_state && !hooks_.may_set_state(*box.type))) {
    kept_[object.identity()] = {object, std::move(state)};
    return;
  }
  restore_types(state, method.signature().arguments.at(1).type, unit_);
  hooks_.set_state(method, object, state);
  for (size_t i = 0; i < box.slots.size(); ++i) {
    const Type& type = box.type->attributes.at(i).type;
    const bool may_be_none = type.is(TypeKind::kOptional) || type.is(TypeKind::kUnion) ||
                             type.is(TypeKind::kNone) || type.is(TypeKind::kAny);
    if (may_be_none || !box.slots[i].is_none()) continue;
    corrupt(fmt::format("__setstate__ of {} left '{}' without a value", printable(box.type->qualified_name()),
                        printable(box.type->attributes[i].name)));
  }
}

}  // namespace flambeau::script
