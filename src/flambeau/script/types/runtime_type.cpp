#include "flambeau/script/types/runtime_type.h"

#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/script/types/relations.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

constexpr std::string_view kGeneratorClass = "Generator";

// As deep as `depth` levels; the types themselves refuse more.
Type type_within(const IValue& value, int depth) {
  switch (value.tag()) {
    case IValue::Tag::kNone:
      return TypeKind::kNone;
    case IValue::Tag::kUninitialized:
      return TypeKind::kAny;
    case IValue::Tag::kBool:
      return TypeKind::kBool;
    case IValue::Tag::kInt:
      return TypeKind::kInt;
    case IValue::Tag::kFloat:
      return TypeKind::kFloat;
    case IValue::Tag::kDevice:
      return TypeKind::kDevice;
    case IValue::Tag::kTensor:
      return TypeKind::kTensor;
    case IValue::Tag::kString:
      return TypeKind::kString;
    case IValue::Tag::kComplex:
      return TypeKind::kComplex;
    case IValue::Tag::kTuple: {
      const TupleBox& tuple = value.as_tuple();
      if (tuple.named) return tuple.named->type();
      std::vector<Type> elements;
      if (depth == 0)
        elements.resize(tuple.items.size(), TypeKind::kAny);
      else
        for (const IValue& item : tuple.items) elements.push_back(type_within(item, depth - 1));
      return Type::tuple(std::move(elements));
    }
    case IValue::Tag::kList:
      return Type::list(value.as_list().element);
    case IValue::Tag::kDict:
      return Type::dict(value.as_dict().key, value.as_dict().value);
    case IValue::Tag::kObject:
      return value.as_object().type->type();
    case IValue::Tag::kEnum:
      return value.as_enum().type->type();
    case IValue::Tag::kFuture: {
      const FutureBox& future = value.as_future();
      return future.is_await ? Type::await(future.element) : Type::future(future.element);
    }
    case IValue::Tag::kNative:
      if (value.as_native().object.class_name == kGeneratorClass) return TypeKind::kGenerator;
      return Type::class_named(value.as_native().object.class_name);
    case IValue::Tag::kSymbolic: {
      const Tensor* const tensor = value.as_symbolic().get_if<Tensor>();
      if (tensor == nullptr) return TypeKind::kInt;
      return tensor->dtype() == DType::kBool ? TypeKind::kBool : TypeKind::kFloat;
    }
  }
  return TypeKind::kAny;
}

}  // namespace

Type runtime_type(const IValue& value) { return type_within(value, kMostTypeDepth); }

bool is_instance(const Unit* unit, const IValue& value, const Type& type) {
  // A number that somebody traces is of the type of what it stands for.
  if (value.is(IValue::Tag::kSymbolic)) return is_subtype(unit, runtime_type(value), type);
  // What most questions are about needs no type made for it.
  switch (type.kind()) {
    case TypeKind::kAny:
      return true;
    case TypeKind::kTensor:
      return value.is(IValue::Tag::kTensor);
    case TypeKind::kInt:
      return value.is(IValue::Tag::kInt);
    case TypeKind::kFloat:
      return value.is(IValue::Tag::kFloat);
    case TypeKind::kBool:
      return value.is(IValue::Tag::kBool);
    case TypeKind::kString:
      return value.is(IValue::Tag::kString);
    case TypeKind::kNone:
      return value.is_none();
    case TypeKind::kAnyList:
      return value.is(IValue::Tag::kList);
    default:
      return is_subtype(unit, runtime_type(value), type);
  }
}

}  // namespace flambeau::script
