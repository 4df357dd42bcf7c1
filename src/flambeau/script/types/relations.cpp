#include "flambeau/script/types/relations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {
namespace {

constexpr size_t kMostPending = 128;

std::shared_ptr<Class> class_of(const Unit* unit, const Type& type) {
  return unit != nullptr && type.is(TypeKind::kClass) ? unit->find_class(type.name()) : nullptr;
}

// A tuple or named tuple by its elements.
struct TupleShape {
  std::vector<Type> elements;
  std::vector<std::string> fields;
  bool has_fields = false;
};

std::optional<TupleShape> tuple_shape(const Unit* unit, const Type& type) {
  if (type.is(TypeKind::kTuple)) {
    return TupleShape{{type.elements().begin(), type.elements().end()},
                      {type.fields().begin(), type.fields().end()},
                      !type.fields().empty()};
  }
  const std::shared_ptr<Class> named = class_of(unit, type);
  if (!named || named->kind() != ClassKind::kNamedTuple) return std::nullopt;
  TupleShape shape;
  shape.has_fields = true;
  for (const Attribute& field : named->attributes) {
    shape.elements.push_back(field.type);
    shape.fields.push_back(field.name);
  }
  return shape;
}

class Subtyping {
 public:
  Subtyping(const Unit* unit, std::string* why_not) : unit_(unit), why_not_(why_not) {}

  bool is_subtype(const Type& type, const Type& of) {
    switch (type.kind()) {
      case TypeKind::kNone:
        return of.is(TypeKind::kOptional) || is_plain_subtype(type, of);
      case TypeKind::kInt:
      case TypeKind::kFloat:
      case TypeKind::kComplex:
        return of.is(TypeKind::kNumber) || is_plain_subtype(type, of);
      case TypeKind::kNumber:
        if (of.is(TypeKind::kUnion)) return holds_numbers(of);
        return is_plain_subtype(type, of);
      case TypeKind::kList:
        return of.is(TypeKind::kAnyList) || is_plain_subtype(type, of);
      case TypeKind::kFuture:
      case TypeKind::kAwait:
        return is_plain_subtype(type, of) || (of.is(type.kind()) && is_subtype(type.element(), of.element()));
      case TypeKind::kTuple:
        return is_plain_subtype(type, of) || of.is(TypeKind::kAnyTuple) || is_tuple_subtype(type, of);
      case TypeKind::kClass:
        return is_class_subtype(type, of);
      case TypeKind::kOptional:
        return is_optional_subtype(type, of);
      case TypeKind::kUnion:
        return is_union_subtype(type, of);
      default:
        return is_plain_subtype(type, of);
    }
  }

 private:
  // What holds for every type.
  bool is_plain_subtype(const Type& type, const Type& of) {
    if (of.is(TypeKind::kAny) || type == of) return true;
    if (of.is(TypeKind::kOptional)) return is_subtype(type, of.element());
    if (of.is(TypeKind::kUnion)) return may_hold(of, type);
    return false;
  }

  bool may_hold(const Type& a_union, const Type& type) {
    return std::ranges::any_of(a_union.elements(), [&](const Type& held) { return is_subtype(type, held); });
  }

  bool holds_numbers(const Type& a_union) {
    return may_hold(a_union, TypeKind::kInt) && may_hold(a_union, TypeKind::kFloat) &&
           may_hold(a_union, TypeKind::kComplex);
  }

  bool is_tuple_subtype(const Type& type, const Type& of) {
    const std::optional<TupleShape> wide = tuple_shape(unit_, of);
    if (!wide) return false;
    const std::optional<TupleShape> narrow = tuple_shape(unit_, type);
    if (wide->has_fields && (!narrow->has_fields || narrow->fields != wide->fields)) return false;
    if (narrow->elements.size() != wide->elements.size()) return false;
    for (size_t i = 0; i < wide->elements.size(); ++i)
      if (!is_subtype(narrow->elements[i], wide->elements[i])) return false;
    return true;
  }

  bool is_optional_subtype(const Type& type, const Type& of) {
    if (of.is(TypeKind::kOptional)) return is_subtype(type.element(), of.element());
    if (of.is(TypeKind::kUnion)) return may_hold(of, TypeKind::kNone) && may_hold(of, type.element());
    return is_plain_subtype(type, of);
  }

  bool is_union_subtype(const Type& type, const Type& of) {
    if (type == of) return true;
    std::vector<Type> wide;
    const auto add = [&](const Type& added) {
      if (added.is(TypeKind::kNumber)) {
        wide.insert(wide.end(), {TypeKind::kInt, TypeKind::kFloat, TypeKind::kComplex});
      } else {
        wide.push_back(added);
      }
    };
    if (of.is(TypeKind::kUnion)) {
      wide.assign(of.elements().begin(), of.elements().end());
    } else {
      if (of.is(TypeKind::kOptional)) wide.emplace_back(TypeKind::kNone);
      add(of.without_optional());
    }
    return std::ranges::all_of(type.elements(), [&](const Type& held) {
      return std::ranges::any_of(wide, [&](const Type& other) { return is_subtype(held, other); });
    });
  }

  bool is_class_subtype(const Type& type, const Type& of) {
    if (is_plain_subtype(type, of)) return true;
    if (of.is(TypeKind::kAnyClass) || of.is(TypeKind::kAnyEnum) || of.is(TypeKind::kAnyTuple)) {
      const std::shared_ptr<Class> narrow = class_of(unit_, type);
      const ClassKind kind = narrow ? narrow->kind() : ClassKind::kPlain;
      if (of.is(TypeKind::kAnyEnum)) return kind == ClassKind::kEnum;
      if (of.is(TypeKind::kAnyTuple)) return kind == ClassKind::kNamedTuple;
      return kind == ClassKind::kPlain || kind == ClassKind::kModule;
    }
    if (!of.is(TypeKind::kClass) && !of.is(TypeKind::kTuple)) return false;
    const std::shared_ptr<Class> narrow = class_of(unit_, type);
    if (!narrow) return false;
    if (narrow->kind() == ClassKind::kNamedTuple) return is_tuple_subtype(type, of);
    const std::shared_ptr<Class> wide = class_of(unit_, of);
    return wide && wide->is_interface() && has_methods_of(*narrow, *wide);
  }

  bool has_methods_of(const Class& narrow, const Class& interface) {
    if (narrow.kind() == ClassKind::kEnum) return false;
    const bool is_module = narrow.is_module() || narrow.kind() == ClassKind::kModuleInterface;
    if (interface.kind() == ClassKind::kModuleInterface && !is_module) {
      explain(fmt::format("{} is no module, as the interface {} wants it", narrow.qualified_name(),
                          interface.qualified_name()));
      return false;
    }
    // Two interfaces whose methods take each other ask for the same again: it is true unless something else
    // is wrong.
    const std::pair asked{&narrow, &interface};
    if (std::ranges::find(pending_, asked) != pending_.end()) return true;
    if (pending_.size() == kMostPending)
      throw Error(ErrorCode::kLimit, "interfaces speak of each other too deeply to compare them");
    pending_.push_back(asked);
    const bool result = std::ranges::all_of(interface.methods, [&](const std::shared_ptr<Function>& wanted) {
      return has_method(narrow, interface, *wanted);
    });
    pending_.pop_back();
    return result;
  }

  bool has_method(const Class& narrow, const Class& interface, const Function& wanted) {
    const std::shared_ptr<Function>* const found = narrow.find_method(wanted.name());
    if (found == nullptr) {
      explain(fmt::format("{} has no method '{}', as the interface {} wants it", narrow.qualified_name(),
                          wanted.name(), interface.qualified_name()));
      return false;
    }
    if (is_signature_subtype((*found)->signature(), wanted.signature())) return true;
    explain(fmt::format("{} has {}, the interface {} wants {}", narrow.qualified_name(),
                        to_string((*found)->signature()), interface.qualified_name(),
                        to_string(wanted.signature())));
    return false;
  }

  // Of methods: the object itself is not compared.
  bool is_signature_subtype(const Signature& narrow, const Signature& wide) {
    if (narrow.arguments.size() != wide.arguments.size() || narrow.returns.size() != wide.returns.size())
      return false;
    for (size_t i = 1; i < wide.arguments.size(); ++i) {
      if (narrow.arguments[i].name != wide.arguments[i].name ||
          !is_subtype(wide.arguments[i].type, narrow.arguments[i].type))
        return false;
    }
    for (size_t i = 0; i < wide.returns.size(); ++i)
      if (!is_subtype(narrow.returns[i], wide.returns[i])) return false;
    return true;
  }

  void explain(std::string_view reason) {
    if (why_not_ == nullptr || why_not_->size() > 2000) return;
    if (!why_not_->empty()) *why_not_ += "; ";
    *why_not_ += reason;
  }

  const Unit* unit_;
  std::string* why_not_;
  std::vector<std::pair<const Class*, const Class*>> pending_;
};

std::optional<Type> find_common_type(const Unit* unit, const Type& a, const Type& b, bool default_to_union,
                                     const Type* hint) {
  if (is_subtype(unit, a, b)) return b;
  if (is_subtype(unit, b, a)) return a;
  if (a.is(TypeKind::kNone)) return make_optional(unit, b);
  if (b.is(TypeKind::kNone)) return make_optional(unit, a);
  if (a.is(TypeKind::kOptional)) {
    if (const auto element = unify_types(unit, a.element(), b)) return make_optional(unit, *element);
  } else if (b.is(TypeKind::kOptional)) {
    if (const auto element = unify_types(unit, b.element(), a)) return make_optional(unit, *element);
  }
  const std::optional<TupleShape> first = tuple_shape(unit, a);
  const std::optional<TupleShape> second = first ? tuple_shape(unit, b) : std::nullopt;
  if (first && second) {
    if (first->elements.size() != second->elements.size()) return std::nullopt;
    std::vector<Type> elements;
    for (size_t i = 0; i < first->elements.size(); ++i) {
      auto element = unify_types(unit, first->elements[i], second->elements[i], default_to_union);
      if (!element) return std::nullopt;
      elements.push_back(*std::move(element));
    }
    return Type::tuple(std::move(elements));
  }
  if (a.is(TypeKind::kFuture) && b.is(TypeKind::kFuture)) {
    if (auto element = unify_types(unit, a.element(), b.element())) return Type::future(*std::move(element));
  }
  if (hint != nullptr && is_subtype(unit, a, *hint) && is_subtype(unit, b, *hint)) return *hint;
  return std::nullopt;
}

}  // namespace

bool is_subtype(const Unit* unit, const Type& type, const Type& of, std::string* why_not) {
  return Subtyping(unit, why_not).is_subtype(type, of);
}

std::optional<Type> unify_types(const Unit* unit, const Type& a, const Type& b, bool default_to_union,
                                const Type* hint) {
  std::optional<Type> common = find_common_type(unit, a, b, default_to_union, hint);
  if (!common && default_to_union) return make_union(unit, std::array{a, b});
  return common;
}

std::optional<Type> unify_types(const Unit* unit, std::span<const Type> types, std::string* why_not,
                                bool default_to_union, const Type* hint) {
  if (types.empty()) {
    if (why_not != nullptr) *why_not = "there is no type to begin with";
    return std::nullopt;
  }
  Type common = types.front();
  for (size_t i = 1; i < types.size(); ++i) {
    // Long lists are of one type nearly always.
    if (types[i] == common) continue;
    std::optional<Type> next = unify_types(unit, common, types[i], default_to_union, hint);
    if (!next) {
      if (why_not != nullptr) {
        *why_not = fmt::format("element {} is of type {}, those before it are of type {}", i,
                               annotation_text(types[i]), annotation_text(common));
      }
      return std::nullopt;
    }
    common = *std::move(next);
  }
  return common;
}

bool may_be_none(const Type& type) {
  if (type.is(TypeKind::kUnion)) return std::ranges::any_of(type.elements(), may_be_none);
  return type.is(TypeKind::kNone) || type.is(TypeKind::kOptional) || type.is(TypeKind::kAny);
}

std::optional<Type> as_tuple_type(const Unit* unit, const Type& type) {
  std::optional<TupleShape> shape = tuple_shape(unit, type);
  if (!shape) return std::nullopt;
  return Type::tuple(std::move(shape->elements));
}

}  // namespace flambeau::script
