#include "flambeau/script/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/types/text.h"

namespace flambeau::script {
namespace {

// Sets a flag as long as it lives.
class WhileRunning {
 public:
  explicit WhileRunning(bool& flag) : flag_(flag) { flag_ = true; }
  ~WhileRunning() { flag_ = false; }
  WhileRunning(const WhileRunning&) = delete;
  WhileRunning& operator=(const WhileRunning&) = delete;

 private:
  bool& flag_;
};

template <typename Things>
auto find_named(Things& things, std::string_view name) -> decltype(&things.front()) {
  const auto found = std::ranges::find_if(things, [&](const auto& thing) { return thing.name == name; });
  return found == things.end() ? nullptr : &*found;
}

std::string default_text(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::kNone:
      return "None";
    case IValue::Tag::kBool:
      return value.as_bool() ? "True" : "False";
    case IValue::Tag::kInt:
      return std::to_string(value.as_int());
    case IValue::Tag::kFloat:
      return fmt::format("{:.17g}", value.as_float());
    case IValue::Tag::kString:
      return fmt::format("\"{}\"", printable(value.as_string()));
    case IValue::Tag::kList: {
      std::string text;
      for (const IValue& item : value.items()) {
        text += text.empty() ? "[" : ", ";
        text += item.is(IValue::Tag::kList) ? "..." : default_text(item);
      }
      return text.empty() ? "[]" : text + "]";
    }
    default:
      return "...";
  }
}

}  // namespace

std::string to_string(const Signature& signature) {
  std::string text = signature.name;
  if (!signature.overload.empty()) text += "." + signature.overload;
  std::string_view comma = "(";
  bool is_kwarg_only = false;
  const auto add = [&](const std::string& added) {
    text += comma;
    text += added;
    comma = ", ";
  };
  for (const Argument& argument : signature.arguments) {
    if (argument.is_kwarg_only && !std::exchange(is_kwarg_only, true)) add("*");
    add(argument.type.to_string() + " " + argument.name);
    if (argument.default_value) text += "=" + default_text(*argument.default_value);
  }
  if (signature.is_vararg) add("...");
  text += signature.arguments.empty() && !signature.is_vararg ? "() -> " : ") -> ";
  const bool is_single = signature.returns.size() == 1 && !signature.is_varret;
  if (!is_single) text += "(";
  for (const Type& type : signature.returns) {
    if (&type != signature.returns.data()) text += ", ";
    text += type.to_string();
  }
  if (signature.is_varret) text += signature.returns.empty() ? "..." : ", ...";
  return is_single ? text : text + ")";
}

Function::Function(const Unit& unit, std::string qualified_name, Step declare, Step compile)
    : qualified_name_(std::move(qualified_name)),
      lock_(unit.lock_),
      declare_(std::move(declare)),
      compile_(std::move(compile)) {}

Function::Function(std::string qualified_name, Signature signature, std::shared_ptr<ir::Graph> graph)
    : qualified_name_(std::move(qualified_name)), lock_(std::make_shared<std::recursive_mutex>()) {
  set_signature(std::move(signature));
  if (graph) set_graph(std::move(graph));
}

std::string_view Function::name() const {
  const std::string_view all = qualified_name_;
  return all.substr(all.rfind('.') + 1);
}

void Function::set_signature(Signature signature) {
  signature_ = std::move(signature);
  is_declared_.store(true, std::memory_order_release);
}

void Function::set_graph(std::shared_ptr<ir::Graph> graph) {
  graph_ = std::move(graph);
  is_compiled_.store(true, std::memory_order_release);
}

const Signature& Function::signature() const {
  if (!is_declared()) const_cast<Function*>(this)->make_signature();
  return signature_;
}

const std::shared_ptr<ir::Graph>& Function::graph() const {
  if (!is_compiled()) const_cast<Function*>(this)->make_graph();
  return graph_;
}

void Function::make_signature() {
  const std::lock_guard lock(*lock_);
  if (!is_declared() && declare_ && !is_declaring_) {
    const WhileRunning running(is_declaring_);
    declare_(*this);
  }
  if (is_declared()) return;
  // Its result is what its body returns.
  if (is_compiling_ || is_declaring_) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("the function {} calls itself before its result is known", printable(qualified_name_)),
        "annotate the type that it returns");
  }
  make_graph();
}

void Function::make_graph() {
  const std::lock_guard lock(*lock_);
  if (is_compiled()) return;
  if (!compile_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} has no code: it is declared in an interface", printable(qualified_name_)));
  }
  if (is_compiling_) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("the function {} needs its own graph while it is compiled", printable(qualified_name_)));
  }
  if (!is_declared() && declare_ && !is_declaring_) {
    const WhileRunning running(is_declaring_);
    declare_(*this);
  }
  const WhileRunning running(is_compiling_);
  compile_(*this);
  if (!is_compiled() || !is_declared())
    throw Error(ErrorCode::kInternal, fmt::format("{} was not compiled", printable(qualified_name_)));
}

std::optional<size_t> NameIndex::find(std::string_view name, size_t count,
                                      const std::function<std::string_view(size_t)>& name_at) const {
  constexpr size_t kFew = 16;
  if (count <= kFew) {
    for (size_t i = 0; i < count; ++i)
      if (name_at(i) == name) return i;
    return std::nullopt;
  }
  const std::lock_guard lock(lock_);
  if (count < count_) {
    places_.clear();
    count_ = 0;
  }
  for (; count_ < count; ++count_) places_.try_emplace(std::string(name_at(count_)), count_);
  const auto found = places_.find(std::string(name));
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

void NameIndex::clear() {
  const std::lock_guard lock(lock_);
  places_.clear();
  count_ = 0;
}

std::optional<size_t> Class::find_attribute(std::string_view name) const {
  return attribute_index_.find(name, attributes.size(),
                               [&](size_t i) -> std::string_view { return attributes[i].name; });
}

const ClassConstant* Class::find_constant(std::string_view name) const { return find_named(constants, name); }

const Enumerator* Class::find_enumerator(std::string_view name) const {
  return find_named(enumerators, name);
}

const std::shared_ptr<Function>* Class::find_method(std::string_view name) const {
  const std::optional<size_t> found =
      method_index_.find(name, methods.size(), [&](size_t i) { return methods[i]->name(); });
  return found ? &methods[*found] : nullptr;
}

void Class::names_changed() {
  attribute_index_.clear();
  method_index_.clear();
}

Type Class::tuple_type() const {
  std::vector<Type> types;
  types.reserve(attributes.size());
  for (const Attribute& field : attributes) types.push_back(field.type);
  return Type::tuple(std::move(types));
}

Unit::Unit(const std::shared_ptr<const SchemaTable>& operators)
    : Unit(std::make_shared<const OperatorTable>(operators)) {}

Unit::Unit(std::shared_ptr<const OperatorTable> operators)
    : operators_(std::move(operators)), lock_(std::make_shared<std::recursive_mutex>()) {}

Unit::~Unit() = default;

const SchemaTable& Unit::operators() const { return operators_->schemas(); }

template <typename Named>
std::shared_ptr<Named> Unit::find(const ByName<Named>& known, std::string_view name) const {
  const std::lock_guard lock(*lock_);
  auto found = known.find(name);
  if (found == known.end() && resolver_ && resolver_(const_cast<Unit&>(*this), name))
    found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

std::shared_ptr<Class> Unit::find_class(std::string_view qualified_name) const {
  return find(classes_by_name_, qualified_name);
}

std::shared_ptr<Function> Unit::find_function(std::string_view qualified_name) const {
  return find(functions_by_name_, qualified_name);
}

Class& Unit::get_class(std::string_view qualified_name) const {
  if (const std::shared_ptr<Class> found = find_class(qualified_name)) return *found;
  throw Error(ErrorCode::kNotFound, fmt::format("there is no class '{}'", printable(qualified_name)));
}

Function& Unit::get_function(std::string_view qualified_name) const {
  if (const std::shared_ptr<Function> found = find_function(qualified_name)) return *found;
  throw Error(ErrorCode::kNotFound, fmt::format("there is no function '{}'", printable(qualified_name)));
}

void Unit::require_free(std::string_view name) const {
  if (classes_by_name_.contains(name) || functions_by_name_.contains(name))
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the name '{}' is defined twice", printable(name)));
}

void Unit::add(std::shared_ptr<Class> added) {
  const std::lock_guard lock(*lock_);
  require_free(added->qualified_name());
  classes_.push_back(added);
  classes_by_name_.emplace(added->qualified_name(), std::move(added));
}

void Unit::add(std::shared_ptr<Function> added) {
  const std::lock_guard lock(*lock_);
  require_free(added->qualified_name());
  functions_.push_back(added);
  functions_by_name_.emplace(added->qualified_name(), std::move(added));
}

void Unit::keep_first(size_t classes, size_t functions) {
  const std::lock_guard lock(*lock_);
  while (classes_.size() > classes) {
    classes_by_name_.erase(classes_.back()->qualified_name());
    classes_.pop_back();
  }
  while (functions_.size() > functions) {
    functions_by_name_.erase(functions_.back()->qualified_name());
    functions_.pop_back();
  }
}

}  // namespace flambeau::script
