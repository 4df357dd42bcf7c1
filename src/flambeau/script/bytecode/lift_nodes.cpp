// What instructions other than moves and jumps become: one node each.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/script/bytecode/lifter.h"
#include "flambeau/script/bytecode/types.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/operators/rewrites/promoted.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/variables.h"

namespace flambeau::script::bytecode {
namespace {

using ir::NodeKind;

// How many arguments at the end are there for results: they come last whatever is left out before them.
size_t count_out_arguments(const OperatorEntry& entry) {
  size_t count = 0;
  const auto& arguments = entry.schema.arguments;
  while (count < arguments.size()) {
    const auto& argument = arguments[arguments.size() - 1 - count];
    if (!argument.is_kwarg_only || !argument.is_written()) break;
    ++count;
  }
  return count;
}

std::string shown(std::string_view name, std::string_view overload) {
  return printable(overload.empty() ? std::string(name) : fmt::format("{}.{}", name, overload));
}

}  // namespace

template <typename T>
const T& Lifter::entry(const std::vector<T>& table, int64_t index, std::string_view what) const {
  if (index < 0 || index >= static_cast<int64_t>(table.size())) {
    corrupt(fmt::format("{} {}, of {}", what, index, table.size()));
  }
  return table[static_cast<size_t>(index)];
}

ir::Node* Lifter::add(ir::Node* node) {
  graph_->insert(node);
  if (options_.locate && at_ < code_.debug_handles.size()) options_.locate(code_.debug_handles[at_], *node);
  for (ir::Value* const output : node->outputs()) push(output);
  return node;
}

ir::Value* Lifter::add_one(NodeKind kind, const Values& inputs, const Type& type) {
  ir::Node* const node = graph_->make(kind, inputs, 1);
  node->output()->set_type(type);
  return add(node)->output();
}

Type Lifter::type_at(int64_t index) {
  const std::string& text = entry(code_.types, index, "type");
  std::optional<Type>& parsed = types_[static_cast<size_t>(index)];
  if (!parsed) parsed = parse_type_text(text, unit_);
  return *parsed;
}

ir::Value* Lifter::made_constant(const IValue& value, const Type& type) {
  ir::Node* const node = graph_->make_constant(value, type);
  graph_->block().prepend(node);
  return node->output();
}

void Lifter::constant(int64_t index) {
  const IValue& value = entry(code_.constants, index, "constant");
  ir::Value*& made = constants_[static_cast<size_t>(index)];
  if (made == nullptr) made = made_constant(value, runtime_type(value));
  push(made);
}

void Lifter::operation(const Instruction& instruction) {
  const auto x = static_cast<int64_t>(instruction.x);
  const auto size_of = [&](std::string_view what) {
    if (x < 0) corrupt(fmt::format("{} of {} values", what, x));
    return static_cast<size_t>(x);
  };
  const auto need_kind = [&](const Type& type, TypeKind kind, std::string_view what) {
    if (!type.is(kind)) corrupt(fmt::format("{} of type {}", what, printable(type.to_string())));
  };
  switch (instruction.opcode) {
    case Opcode::kOp:
    case Opcode::kOpN:
      return call_operator(instruction);
    case Opcode::kLoadConstant:
      return constant(x);
    case Opcode::kGetAttribute:
    case Opcode::kSetAttribute:
      return attribute(instruction);
    case Opcode::kInterfaceCall:
      return method_call(instruction);
    case Opcode::kListUnpack: {
      const Type list = stack_.empty() ? Type(TypeKind::kAny) : stack_.back()->type().without_optional();
      const Type element = list.is(TypeKind::kList) ? list.element() : Type(TypeKind::kAny);
      if (available() > 0 && list.is(TypeKind::kList)) stack_.back() = fitted(stack_.back(), list);
      return unpack(NodeKind::kListUnpack, size_of("LIST_UNPACK"), element);
    }
    case Opcode::kTupleConstruct: {
      const Values values = pop(size_of("TUPLE_CONSTRUCT"));
      std::vector<Type> elements;
      for (const ir::Value* const value : values) elements.push_back(value->type());
      add_one(NodeKind::kTupleConstruct, values, Type::tuple(std::move(elements)));
      return;
    }
    case Opcode::kNamedTupleConstruct: {
      const Type type = type_at(x);
      need_kind(type, TypeKind::kClass, "a named tuple");
      const std::shared_ptr<Class> named = unit_.find_class(type.name());
      if (named == nullptr || named->kind() != ClassKind::kNamedTuple ||
          named->attributes.size() != instruction.n) {
        corrupt(fmt::format("{} is no named tuple of {} fields", printable(type.name()), instruction.n));
      }
      Values fields = pop(instruction.n);
      for (size_t i = 0; i < fields.size(); ++i) fields[i] = fitted(fields[i], named->attributes[i].type);
      add_one(NodeKind::kTupleConstruct, fields, type);
      return;
    }
    case Opcode::kListConstruct: {
      const Type type = type_at(x);
      need_kind(type.without_optional(), TypeKind::kList, "LIST_CONSTRUCT");
      Values items = pop(instruction.n);
      for (ir::Value*& item : items) item = fitted(item, type.without_optional().element());
      add_one(NodeKind::kListConstruct, items, type);
      return;
    }
    case Opcode::kDictConstruct: {
      const Type type = type_at(x);
      need_kind(type.without_optional(), TypeKind::kDict, "DICT_CONSTRUCT");
      if (instruction.n % 2 != 0) corrupt("DICT_CONSTRUCT of a key without a value");
      Values items = pop(instruction.n);
      const Type dict = type.without_optional();
      for (size_t i = 0; i < items.size(); ++i) items[i] = fitted(items[i], dict.elements()[i % 2]);
      add_one(NodeKind::kDictConstruct, items, type);
      return;
    }
    case Opcode::kCreateObject: {
      const Type type = type_at(x);
      need_kind(type, TypeKind::kClass, "CREATE_OBJECT");
      add_one(NodeKind::kCreateObject, {}, type);
      return;
    }
    case Opcode::kIsInstance: {
      std::vector<Type> types;
      for (int64_t i = 0; i < instruction.n; ++i) types.push_back(type_at(x + i));
      add_one(NodeKind::kIsInstance, {pop()}, TypeKind::kBool)->node()->types = std::move(types);
      return;
    }
    case Opcode::kTupleSlice: {
      ir::Value* const tuple = pop();
      const std::optional<Type> type = as_tuple_type(&unit_, tuple->type());
      const int64_t end = x + instruction.n;
      if (x < 0 || (type && end > static_cast<int64_t>(type->elements().size()))) {
        corrupt(fmt::format("elements {} to {} of a tuple that has fewer", x, end));
      }
      std::vector<Type> elements;
      for (int64_t i = x; i < end; ++i)
        elements.push_back(type ? type->elements()[static_cast<size_t>(i)] : Type(TypeKind::kAny));
      ir::Node& node = *add_one(NodeKind::kTupleSlice, {tuple}, Type::tuple(std::move(elements)))->node();
      node.begin = x;
      node.end = end;
      return;
    }
    case Opcode::kTupleIndex:
      return tuple_index();
    case Opcode::kRaiseException:
      return raise_node();
    case Opcode::kDictIndex: {
      const Values values = pop(2);
      const Type& dict = values[0]->type().without_optional();
      const Type& key = dict.is(TypeKind::kDict) ? dict.elements()[0] : values[1]->type();
      const std::string_view overload = dict_index_overload(key);
      if (overload.empty()) corrupt(fmt::format("{} is no key", printable(key.to_string())));
      return operator_node(kDictIndexOperator, overload, values);
    }
    case Opcode::kUninitialized:
      unset_.insert(add_one(NodeKind::kUninitialized, {}, TypeKind::kAny));
      return;
    case Opcode::kToList:
      return to_list();
    case Opcode::kFormat:
      return operator_node(find_promoted(instruction.opcode)->name, {}, pop(size_of("FORMAT")));
    default:
      break;
  }
  const PromotedOperator* const promoted = find_promoted(instruction.opcode);
  if (promoted == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} is no instruction of mobile modules", opcode_name(instruction.opcode)));
  }
  const Overload& overload = overload_of(promoted->name, promoted->overload);
  operator_node(promoted->name, promoted->overload, pop(overload.signature.arguments.size()));
}

const Overload& Lifter::overload_of(std::string_view name, std::string_view overload) const {
  const auto fits = [&](const Overload* candidate) { return candidate->signature.overload == overload; };
  const std::vector<const Overload*> candidates =
      unit_.operator_table().candidates(name, options_.operator_version);
  // The old one stands behind the current ones, and there is none of the current form then.
  auto found = std::ranges::find_if(candidates, fits);
  if (found != candidates.end() &&
      ((*found)->upgrader == nullptr || applies_to_bytecode(*(*found)->upgrader)))
    return **found;
  for (const Overload& current : unit_.operator_table().overloads(name)) {
    if (current.signature.overload == overload) return current;
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("the operator {} is not known", shown(name, overload)),
              unit_.operator_table().did_you_mean(name));
}

void Lifter::call_operator(const Instruction& instruction) {
  const OperatorUse& use = entry(code_.operators, instruction.x, "operator");
  if (const std::optional<NodeKind> kind = node_kind_in_bytecode(use.name))
    return kind_node(*kind, use.name, instruction, use);
  const Overload& overload = overload_of(use.name, use.overload);
  if (instruction.opcode == Opcode::kOpN || overload.signature.is_vararg) {
    if (instruction.opcode != Opcode::kOpN)
      corrupt(fmt::format("{} takes any number of arguments, and OP says none", printable(use.name)));
    return operator_node(use.name, use.overload, pop(instruction.n));
  }
  operator_node(use.name, use.overload, with_defaults(use, overload.signature, *overload.entry));
}

// The arguments on the stack, and defaults for those that are left out.
Lifter::Values Lifter::with_defaults(const OperatorUse& use, const Signature& signature,
                                     const OperatorEntry& entry) {
  const size_t count = signature.arguments.size();
  // Instructions of later versions were called like operators, with all of their arguments.
  const bool is_whole = !use.specified || *use.specified >= static_cast<int64_t>(count) ||
                        *use.specified < 0 || find_promoted(std::string_view(use.name)) != nullptr;
  if (is_whole) return pop(count);
  const auto specified = static_cast<size_t>(*use.specified);
  const size_t outs = count_out_arguments(entry);
  Values given = pop(specified);
  if (specified < outs) {
    corrupt(fmt::format("{} is given {} arguments, and {} are for its results", printable(use.name),
                        specified, outs));
  }
  Values values(given.begin(), given.end() - static_cast<ptrdiff_t>(outs));
  for (size_t i = values.size(); i < count - outs; ++i) {
    const Argument& argument = signature.arguments[i];
    if (!argument.default_value) {
      corrupt(fmt::format("{} is given no '{}', which has no default", shown(use.name, use.overload),
                          argument.name));
    }
    values.push_back(made_constant(*argument.default_value, runtime_type(*argument.default_value)));
  }
  values.insert(values.end(), given.end() - static_cast<ptrdiff_t>(outs), given.end());
  return values;
}

void Lifter::operator_node(std::string_view name, std::string_view overload, Values inputs) {
  const Overload& known = overload_of(name, overload);
  const Signature& signature = known.signature;
  fit(inputs, signature);
  if (fold(*known.entry, signature, inputs)) return;
  ir::Node* const node = graph_->make_operator(*known.entry, inputs);
  TypeBindings bindings;
  for (size_t i = 0; i < signature.arguments.size() && i < inputs.size(); ++i) {
    if (has_type_variables(signature.arguments[i].type))
      bind_type_variables(&unit_, signature.arguments[i].type, inputs[i]->type(), bindings);
  }
  for (size_t i = 0; i < signature.returns.size() && i < node->outputs().size(); ++i) {
    node->output(i)->set_type(
        resolve_type_variables(signature.returns[i], bindings).value_or(Type(TypeKind::kAny)));
  }
  add(node);
}

void Lifter::kind_node(NodeKind kind, std::string_view name, const Instruction& instruction,
                       const OperatorUse& use) {
  switch (kind) {
    case NodeKind::kTupleIndex:
      return tuple_index();
    case NodeKind::kRaiseException:
      return raise_node();
    case NodeKind::kUninitialized:
      unset_.insert(add_one(kind, {}, TypeKind::kAny));
      return;
    case NodeKind::kUncheckedCast: {
      ir::Value* const value = pop();
      add_one(kind, {value}, value->type().without_optional());
      return;
    }
    case NodeKind::kToList:
      return to_list();
    case NodeKind::kPrint:
      add(graph_->make(kind, pop(instruction.n), 0));
      return;
    case NodeKind::kTupleUnpack: {
      if (stack_.empty()) corrupt("the stack is empty");
      const std::optional<Type> tuple = as_tuple_type(&unit_, stack_.back()->type().without_optional());
      // How many there are is said by what stores them.
      const Instruction next =
          at_ + 1 < code_.instructions.size() ? code_.instructions[at_ + 1] : Instruction();
      const size_t stored = next.opcode == Opcode::kStoreN ? next.n : 1;
      const size_t count = tuple ? tuple->elements().size() : stored;
      if (tuple) stack_.back() = fitted(stack_.back(), *tuple);
      unpack(kind, count, TypeKind::kAny);
      if (!tuple) return;
      for (size_t i = 0; i < count; ++i) stack_[stack_.size() - count + i]->set_type(tuple->elements()[i]);
      return;
    }
    default:
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{} is no operator of mobile modules", shown(name, use.overload)));
  }
}

void Lifter::to_list() {
  Values inputs = pop(3);
  inputs[0] = fitted(inputs[0], TypeKind::kTensor);
  add_one(NodeKind::kToList, inputs, to_list_type(inputs));
}

// Nothing lies on the stack of its block but what it takes: before 1.11 no class.
void Lifter::raise_node() {
  Values values = pop(std::min<size_t>(available(), 2));
  if (values.empty()) corrupt("an exception without a message");
  if (values.size() == 1) values.push_back(made_constant({}, TypeKind::kNone));
  add(graph_->make(NodeKind::kRaiseException, values, 0));
}

void Lifter::unpack(NodeKind kind, size_t count, const Type& element) {
  if (count > UINT16_MAX) corrupt(fmt::format("{} values are unpacked", count));
  ir::Node* const node = graph_->make(kind, Values{pop()}, count);
  for (ir::Value* const output : node->outputs()) output->set_type(element);
  add(node);
}

void Lifter::tuple_index() {
  Values values = pop(2);
  const std::optional<Type> tuple = as_tuple_type(&unit_, values[0]->type().without_optional());
  if (tuple) values[0] = fitted(values[0], values[0]->type().without_optional());
  Type type = TypeKind::kAny;
  const ir::Node& index = *values[1]->node();
  if (tuple && index.is(NodeKind::kConstant) && index.constant.is(IValue::Tag::kInt)) {
    const auto size = static_cast<int64_t>(tuple->elements().size());
    const int64_t at = index.constant.as_int() + (index.constant.as_int() < 0 ? size : 0);
    if (at < 0 || at >= size) {
      corrupt(fmt::format("element {} of a tuple that has {}", index.constant.as_int(), size));
    }
    type = tuple->elements()[static_cast<size_t>(at)];
  }
  add_one(NodeKind::kTupleIndex, values, type);
}

void Lifter::attribute(const Instruction& instruction) {
  const bool is_set = instruction.opcode == Opcode::kSetAttribute;
  Values values = pop(is_set ? 2 : 1);
  const Type type = values[0]->type().without_optional();
  values[0] = fitted(values[0], type);
  const std::shared_ptr<Class> owner = type.is(TypeKind::kClass) ? unit_.find_class(type.name()) : nullptr;
  if (owner == nullptr) {
    corrupt(fmt::format("a slot of {}, which is no object of a known class", printable(type.to_string())));
  }
  if (instruction.x < 0 || instruction.x >= static_cast<int64_t>(owner->attributes.size())) {
    corrupt(fmt::format("slot {} of {}, which has {}", instruction.x, printable(owner->qualified_name()),
                        owner->attributes.size()));
  }
  const Attribute& slot = owner->attributes[static_cast<size_t>(instruction.x)];
  if (!is_set) {
    add_one(NodeKind::kGetAttr, values, slot.type)->node()->name = slot.name;
    return;
  }
  values[1] = fitted(values[1], slot.type);
  ir::Node* const node = graph_->make(NodeKind::kSetAttr, values, 0);
  node->name = slot.name;
  add(node);
}

void Lifter::method_call(const Instruction& instruction) {
  const IValue& name = entry(code_.constants, instruction.x, "constant");
  if (!name.is(IValue::Tag::kString)) corrupt("INTERFACE_CALL of a method whose name is no text");
  if (instruction.n == 0) corrupt("INTERFACE_CALL without an object");
  Values values = pop(instruction.n);
  Type result = TypeKind::kAny;
  const Type& type = values[0]->type();
  const std::shared_ptr<Class> owner = type.is(TypeKind::kClass) ? unit_.find_class(type.name()) : nullptr;
  if (owner != nullptr) {
    const std::shared_ptr<Function>* const method = owner->find_method(name.as_string());
    if (method == nullptr) {
      corrupt(fmt::format("{} has no method '{}'", printable(owner->qualified_name()),
                          printable(name.as_string())));
    }
    const Signature& signature = (*method)->signature();
    fit(values, signature);
    if (signature.returns.size() == 1) result = signature.returns[0];
  }
  add_one(NodeKind::kCallMethod, values, result)->node()->name = name.as_string();
}

}  // namespace flambeau::script::bytecode
