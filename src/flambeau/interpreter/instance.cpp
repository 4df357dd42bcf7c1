#include "flambeau/interpreter/instance.h"

#include <algorithm>

#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

bool is_tuple(const std::vector<IValue>& items, std::span<const Type> types, const script::Unit& unit) {
  return items.size() == types.size() &&
         std::equal(items.begin(), items.end(), types.begin(),
                    [&](const IValue& item, const Type& type) { return is_instance(item, type, unit); });
}

// Of an interface: the class has all of its methods.
bool implements(const script::Class& type, const script::Class& wanted) {
  return std::ranges::all_of(wanted.methods, [&](const std::shared_ptr<script::Function>& method) {
    return type.find_method(method->name()) != nullptr;
  });
}

bool is_of_class(const IValue& value, const Type& type, const script::Unit& unit) {
  const std::string_view name = type.name();
  switch (value.tag()) {
    case Tag::kTuple:
      return value.as_tuple().named != nullptr && value.as_tuple().named->qualified_name() == name;
    case Tag::kEnum:
      return value.as_enum().type->qualified_name() == name;
    case Tag::kNative:
      return value.as_native().object.class_name == name;
    case Tag::kObject: {
      if (value.as_object().type->qualified_name() == name) return true;
      const std::shared_ptr<script::Class> wanted = unit.find_class(name);
      return wanted != nullptr && wanted->is_interface() && implements(*value.as_object().type, *wanted);
    }
    default:
      return false;
  }
}

}  // namespace

bool is_instance(const IValue& value, const Type& type, const script::Unit& unit) {
  switch (type.kind()) {
    case TypeKind::kAny:
      return true;
    case TypeKind::kNone:
      return value.is_none();
    case TypeKind::kTensor:
      return value.is(Tag::kTensor);
    case TypeKind::kInt:
    case TypeKind::kSymInt:
    case TypeKind::kScalarType:
    case TypeKind::kLayout:
    case TypeKind::kMemoryFormat:
    case TypeKind::kQScheme:
      return value.is(Tag::kInt);
    case TypeKind::kFloat:
    case TypeKind::kSymFloat:
      return value.is(Tag::kFloat);
    case TypeKind::kBool:
    case TypeKind::kSymBool:
      return value.is(Tag::kBool);
    case TypeKind::kComplex:
      return value.is(Tag::kComplex);
    case TypeKind::kNumber:
      return value.is(Tag::kInt) || value.is(Tag::kFloat) || value.is(Tag::kComplex);
    case TypeKind::kString:
      return value.is(Tag::kString);
    case TypeKind::kDevice:
      return value.is(Tag::kDevice);
    case TypeKind::kAnyEnum:
      return value.is(Tag::kEnum);
    case TypeKind::kAnyClass:
      return value.is(Tag::kObject);
    case TypeKind::kGenerator:
    case TypeKind::kStream:
    case TypeKind::kQuantizer:
    case TypeKind::kStorage:
    case TypeKind::kCapsule:
    case TypeKind::kPyObject:
      return value.is(Tag::kNative);
    case TypeKind::kOptional:
      return value.is_none() || is_instance(value, type.element(), unit);
    case TypeKind::kUnion:
      return std::ranges::any_of(type.elements(),
                                 [&](const Type& element) { return is_instance(value, element, unit); });
    case TypeKind::kList:
      return value.is(Tag::kList) && value.as_list().element == type.element();
    case TypeKind::kDict:
      return value.is(Tag::kDict) && value.as_dict().key == type.elements()[0] &&
             value.as_dict().value == type.elements()[1];
    case TypeKind::kTuple:
      return value.is(Tag::kTuple) && is_tuple(value.as_tuple().items, type.elements(), unit);
    case TypeKind::kFuture:
      return value.is(Tag::kFuture) && !value.as_future().is_await;
    case TypeKind::kAwait:
      return value.is(Tag::kFuture) && value.as_future().is_await;
    case TypeKind::kClass:
      return is_of_class(value, type, unit);
    case TypeKind::kAnyList:
      return value.is(Tag::kList);
    case TypeKind::kAnyTuple:
      return value.is(Tag::kTuple);
    case TypeKind::kVariable:
    case TypeKind::kFunction:
    case TypeKind::kRRef:
      return false;
  }
  return false;
}

Type type_of(const IValue& value) {
  switch (value.tag()) {
    case Tag::kNone:
    case Tag::kUninitialized:
      return TypeKind::kNone;
    case Tag::kBool:
      return TypeKind::kBool;
    case Tag::kInt:
      return TypeKind::kInt;
    case Tag::kFloat:
      return TypeKind::kFloat;
    case Tag::kDevice:
      return TypeKind::kDevice;
    case Tag::kTensor:
      return TypeKind::kTensor;
    case Tag::kString:
      return TypeKind::kString;
    case Tag::kComplex:
      return TypeKind::kComplex;
    case Tag::kTuple: {
      if (value.as_tuple().named != nullptr) return value.as_tuple().named->type();
      std::vector<Type> types;
      for (const IValue& item : value.as_tuple().items) types.push_back(type_of(item));
      return Type::tuple(std::move(types));
    }
    case Tag::kList:
      return Type::list(value.as_list().element);
    case Tag::kDict:
      return Type::dict(value.as_dict().key, value.as_dict().value);
    case Tag::kObject:
      return value.as_object().type->type();
    case Tag::kEnum:
      return value.as_enum().type->type();
    case Tag::kFuture:
      return value.as_future().is_await ? Type::await(value.as_future().element)
                                        : Type::future(value.as_future().element);
    case Tag::kNative:
      return Type::class_named(value.as_native().object.class_name);
  }
  return TypeKind::kAny;
}

}  // namespace flambeau::interpreter
