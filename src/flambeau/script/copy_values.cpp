#include "flambeau/script/copy_values.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

class Copier {
 public:
  Copier(const Unit& unit, const RenamedClasses& renamed) : unit_(unit), renamed_(renamed) {}

  IValue copy(const IValue& value, int depth) {
    if (depth > kMostDepth) throw Error(ErrorCode::kLimit, "values are nested too deep to be copied");
    switch (value.tag()) {
      case IValue::Tag::kTuple:
      case IValue::Tag::kList:
      case IValue::Tag::kDict:
      case IValue::Tag::kObject:
      case IValue::Tag::kEnum:
        break;
      default:
        return value;
    }
    if (const auto found = done_.find(value.identity()); found != done_.end()) return found->second;
    return copy_box(value, depth);
  }

 private:
  static constexpr int kMostDepth = 1000;

  std::shared_ptr<const Class> need_class(const std::shared_ptr<const Class>& type) const {
    const std::string& name = type->qualified_name();
    if (is_native_class(name)) return type;
    const auto changed = renamed_.find(name);
    if (auto found = unit_.find_class(changed == renamed_.end() ? name : changed->second)) return found;
    throw Error(ErrorCode::kNotFound, fmt::format("the unit has no class {}", printable(name)));
  }

  IValue copy_box(const IValue& value, int depth) {
    switch (value.tag()) {
      case IValue::Tag::kTuple: {
        IValue made = IValue::tuple(copy_items(value.items(), depth));
        if (value.as_tuple().named) made.as_tuple().named = need_class(value.as_tuple().named);
        return done_[value.identity()] = made;
      }
      case IValue::Tag::kList: {
        const IValue made = IValue::list(rename_classes(value.as_list().element, renamed_), {});
        done_[value.identity()] = made;
        made.as_list().items = copy_items(value.items(), depth);
        return made;
      }
      case IValue::Tag::kDict: {
        const DictBox& from = value.as_dict();
        const IValue made =
            IValue::dict(rename_classes(from.key, renamed_), rename_classes(from.value, renamed_));
        done_[value.identity()] = made;
        for (const DictItems::Entry& entry : from.items.entries())
          made.as_dict().items.set(copy(entry.key, depth + 1), copy(entry.value, depth + 1));
        return made;
      }
      case IValue::Tag::kObject: {
        const IValue made = IValue::object(need_class(value.as_object().type));
        done_[value.identity()] = made;
        made.as_object().slots = copy_items(value.as_object().slots, depth);
        return made;
      }
      default: {
        const EnumBox& from = value.as_enum();
        return done_[value.identity()] = IValue::enumerator(need_class(from.type), from.name, from.value);
      }
    }
  }

  template <typename Items>
  std::vector<IValue> copy_items(const Items& items, int depth) {
    std::vector<IValue> made;
    made.reserve(items.size());
    for (const IValue& item : items) made.push_back(copy(item, depth + 1));
    return made;
  }

  const Unit& unit_;
  const RenamedClasses& renamed_;
  std::unordered_map<const void*, IValue> done_;
};

}  // namespace

Type rename_classes(const Type& type, const RenamedClasses& renamed) {
  if (renamed.empty()) return type;
  if (type.is(TypeKind::kClass)) {
    const auto found = renamed.find(std::string(type.name()));
    return found == renamed.end() ? type : Type::class_named(found->second);
  }
  if (type.elements().empty()) return type;
  std::vector<Type> elements;
  for (const Type& element : type.elements()) elements.push_back(rename_classes(element, renamed));
  switch (type.kind()) {
    case TypeKind::kOptional:
      return Type::optional(std::move(elements[0]));
    case TypeKind::kList:
      return Type::list(std::move(elements[0]), type.list_size());
    case TypeKind::kDict:
      return Type::dict(std::move(elements[0]), std::move(elements[1]));
    case TypeKind::kTuple:
      return Type::tuple(std::move(elements), {type.fields().begin(), type.fields().end()});
    case TypeKind::kFuture:
      return Type::future(std::move(elements[0]));
    case TypeKind::kAwait:
      return Type::await(std::move(elements[0]));
    case TypeKind::kRRef:
      return Type::rref(std::move(elements[0]));
    default:
      return Type::union_of(std::move(elements));
  }
}

IValue copy_value(const IValue& value, const Unit& unit, const RenamedClasses& renamed) {
  return Copier(unit, renamed).copy(value, 0);
}

}  // namespace flambeau::script
