// What __getstate__ and __setstate__ must look like, and types for lists and dicts that were saved without:
// archives before version 3, and states that are about to be set.
#include <fmt/format.h>

#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/object_maker.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

[[noreturn]] void wrong_method(const Class& type, std::string_view method, std::string_view wanted) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} of {} should be {}", method, printable(type.qualified_name()), wanted));
}

}  // namespace

bool has_state_methods(const Class& type) {
  const std::shared_ptr<Function>* get = type.find_method("__getstate__");
  const std::shared_ptr<Function>* set = type.find_method("__setstate__");
  if (get == nullptr || set == nullptr) return false;
  const Signature& getting = (*get)->signature();
  const Signature& setting = (*set)->signature();
  if (getting.arguments.size() != 1 || getting.returns.size() != 1) {
    wrong_method(type, "__getstate__", "(self) -> state");
  }
  if (setting.arguments.size() != 2 || setting.returns.size() != 1 ||
      !setting.returns[0].is(TypeKind::kNone)) {
    wrong_method(type, "__setstate__", "(self, state) -> None");
  }
  return true;
}

void restore_types(const IValue& value, const Type& type, const Unit& unit) {
  struct Work {
    Type type;
    IValue value;
  };
  std::vector<Work> left{{type, value}};
  std::unordered_set<const void*> seen;
  while (!left.empty()) {
    const Work work = std::move(left.back());
    left.pop_back();
    if (work.value.identity() == nullptr || !seen.insert(work.value.identity()).second) continue;
    const Type& wanted = work.type.without_optional();
    switch (work.value.tag()) {
      case IValue::Tag::kTuple: {
        const std::vector<IValue>& items = work.value.items();
        Type fields = wanted;
        if (wanted.is(TypeKind::kClass)) {
          const std::shared_ptr<Class> named = unit.find_class(wanted.name());
          if (named != nullptr && named->kind() == ClassKind::kNamedTuple) fields = named->tuple_type();
        }
        if (!fields.is(TypeKind::kTuple)) break;
        for (size_t i = 0; i < std::min(items.size(), fields.elements().size()); ++i) {
          left.push_back({fields.elements()[i], items[i]});
        }
        break;
      }
      case IValue::Tag::kList: {
        if (!wanted.is(TypeKind::kList)) break;
        work.value.as_list().element = wanted.element();
        for (const IValue& item : work.value.items()) left.push_back({wanted.element(), item});
        break;
      }
      case IValue::Tag::kDict: {
        if (!wanted.is(TypeKind::kDict)) break;
        DictBox& dict = work.value.as_dict();
        dict.key = wanted.elements()[0];
        dict.value = wanted.elements()[1];
        for (const DictItems::Entry& entry : dict.items.entries()) {
          left.push_back({dict.key, entry.key});
          left.push_back({dict.value, entry.value});
        }
        break;
      }
      case IValue::Tag::kObject: {
        // The type it has, which says more than the one it is known under.
        const ObjectBox& object = work.value.as_object();
        for (size_t i = 0; i < object.slots.size(); ++i) {
          left.push_back({object.type->attributes.at(i).type, object.slots[i]});
        }
        break;
      }
      default:
        break;
    }
  }
}

}  // namespace flambeau::script
