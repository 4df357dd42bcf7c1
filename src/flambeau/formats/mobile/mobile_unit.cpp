#include "flambeau/formats/mobile/mobile_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

using bytecode::Code;

constexpr std::string_view kSetState = "__setstate__";
// More slots than that no __setstate__ fills.
constexpr int64_t kMostSlots = 1 << 16;

std::string_view method_name(const Code& code) {
  return std::string_view(code.name).substr(code.name.rfind('.') + 1);
}

// PyTorch looks at the first argument: names of classes that clash are told apart there.
std::string owner_of(const Code& code) {
  if (code.schema && !code.schema->arguments.empty()) {
    const std::string& type = code.schema->arguments[0].type;
    if (type.find('.') != std::string::npos && type.find('[') == std::string::npos) return type;
  }
  return code.name.substr(0, std::min(code.name.size(), code.name.rfind('.')));
}

// How many slots an object has whose state is no dict: as many as __setstate__ sets.
size_t slots_set_by(const Code& code) {
  int64_t most = -1;
  for (const bytecode::Instruction& instruction : code.instructions) {
    if (instruction.opcode == bytecode::Opcode::kSetAttribute) most = std::max<int64_t>(most, instruction.x);
  }
  if (most >= kMostSlots) corrupt(fmt::format("{} sets slot {}", printable(code.name), most));
  return static_cast<size_t>(most + 1);
}

// Slots of such an object that get an object which __setstate__ makes, and its class: there is no other
// object to see what they hold. The compiler of bytecode stores what it made, and sets the slot from there.
std::unordered_map<size_t, std::string> made_slots(const Code& code) {
  using bytecode::Opcode;
  std::unordered_map<size_t, std::string> found;
  std::unordered_map<int32_t, std::string> made;  // by register
  for (size_t i = 0; i + 1 < code.instructions.size(); ++i) {
    const bytecode::Instruction &now = code.instructions[i], &next = code.instructions[i + 1];
    if (now.opcode == Opcode::kCreateObject && next.opcode == Opcode::kStore && now.x >= 0 &&
        static_cast<size_t>(now.x) < code.types.size())
      made[next.x] = code.types[static_cast<size_t>(now.x)];
    const bool is_read = now.opcode == Opcode::kMove || now.opcode == Opcode::kLoad;
    if (!is_read || next.opcode != Opcode::kSetAttribute || next.x < 0) continue;
    const auto object = made.find(now.x);
    if (object != made.end()) found[static_cast<size_t>(next.x)] = object->second;
  }
  return found;
}

std::shared_ptr<Class> mutable_class(const Unit& unit, const ObjectBox& object) {
  return unit.find_class(object.type->qualified_name());
}

}  // namespace

MobileUnit::MobileUnit(std::shared_ptr<Unit> unit, std::shared_ptr<const bytecode::Program> program)
    : unit_(std::move(unit)), state_(std::make_shared<State>()) {
  state_->program = std::move(program);
  for (const Code& code : state_->program->functions) state_->methods[owner_of(code)].push_back(&code);
  unit_->set_resolver([state = state_](Unit& of, std::string_view name) { return resolve(state, of, name); });
}

void MobileUnit::add_shape(const std::string& class_name, std::vector<std::string> attributes) {
  state_->shapes.try_emplace(class_name, std::move(attributes));
}

void MobileUnit::set_root(const std::string& class_name) { state_->root = class_name; }

void MobileUnit::set_locate(std::function<void(int64_t handle, ir::Node& node)> locate) {
  state_->locate = std::move(locate);
}

std::shared_ptr<Function> MobileUnit::make_method(const std::shared_ptr<State>& state, Unit& unit,
                                                  const std::string& owner, const Code& code) {
  const auto declare = [state, &unit, &code](Function& function) {
    if (!function.is_declared()) function.set_signature(bytecode::signature_of(code, unit));
  };
  const auto compile = [state, &unit, &code](Function& function) {
    bytecode::LiftOptions options;
    options.operator_version = state->program->operator_version;
    options.locate = state->locate;
    function.set_graph(bytecode::lift(code, function.signature(), unit, options));
  };
  return std::make_shared<Function>(unit, fmt::format("{}.{}", owner, method_name(code)), declare, compile);
}

bool MobileUnit::resolve(const std::shared_ptr<State>& state, Unit& unit, std::string_view name) {
  const std::string key(name);
  if (is_native_class(name)) {
    unit.add(make_native_class(unit, name));
    return true;
  }
  const auto shape = state->shapes.find(key);
  const auto methods = state->methods.find(key);
  if (shape == state->shapes.end() && methods == state->methods.end()) return false;
  std::vector<std::string> attributes;
  std::unordered_map<size_t, std::string> made_by_state;
  bool is_module = key == state->root;
  if (shape != state->shapes.end()) {
    attributes = shape->second;
    is_module = is_module || std::ranges::find(attributes, "training") != attributes.end();
  } else {
    is_module = true;
    for (const Code* code : methods->second) {
      if (method_name(*code) != kSetState) continue;
      for (size_t i = 0; i < slots_set_by(*code); ++i) attributes.push_back(fmt::format("slot{}", i));
      made_by_state = made_slots(*code);
    }
  }
  auto made = std::make_shared<Class>(is_module ? ClassKind::kModule : ClassKind::kPlain, key);
  for (std::string& attribute : attributes) {
    Attribute slot;
    slot.name = std::move(attribute);
    slot.type = TypeKind::kAny;
    const auto native = made_by_state.find(made->attributes.size());
    if (native != made_by_state.end() && is_native_class(native->second))
      slot.type = Type::class_named(native->second);
    made->attributes.push_back(std::move(slot));
  }
  if (methods != state->methods.end()) {
    for (const Code* code : methods->second) {
      if (made->find_method(method_name(*code)) == nullptr)
        made->methods.push_back(make_method(state, unit, key, *code));
    }
  }
  unit.add(std::move(made));
  return true;
}

void MobileUnit::take_types(const IValue& module) {
  std::vector<IValue> left{module};
  std::unordered_set<const void*> seen;
  std::unordered_set<const Class*> typed;
  while (!left.empty()) {
    const IValue value = std::move(left.back());
    left.pop_back();
    if (value.identity() == nullptr || !seen.insert(value.identity()).second) continue;
    if (value.is(IValue::Tag::kTuple) || value.is(IValue::Tag::kList)) {
      left.insert(left.end(), value.items().begin(), value.items().end());
    } else if (value.is(IValue::Tag::kDict)) {
      for (const DictItems::Entry& entry : value.as_dict().items.entries()) left.push_back(entry.value);
    }
    if (!value.is(IValue::Tag::kObject)) continue;
    const ObjectBox& object = value.as_object();
    left.insert(left.end(), object.slots.begin(), object.slots.end());
    const std::shared_ptr<Class> type = mutable_class(*unit_, object);
    if (type == nullptr || type.get() != object.type.get()) continue;
    const bool is_first = typed.insert(type.get()).second;
    for (size_t i = 0; i < object.slots.size() && i < type->attributes.size(); ++i) {
      Attribute& attribute = type->attributes[i];
      const Type found = runtime_type(object.slots[i]);
      attribute.type =
          is_first ? found : unify_types(unit_.get(), attribute.type, found).value_or(Type(TypeKind::kAny));
      const bool is_tensor = type->is_module() && object.slots[i].is(IValue::Tag::kTensor);
      attribute.is_parameter =
          attribute.is_parameter || (is_tensor && object.slots[i].as_tensor().requires_grad());
      attribute.is_buffer = !attribute.is_parameter && (attribute.is_buffer || is_tensor);
    }
  }
  for (const std::shared_ptr<Class>& type : unit_->classes()) {
    const auto methods = state_->methods.find(type->qualified_name());
    if (methods == state_->methods.end()) continue;
    for (std::shared_ptr<Function>& method : type->methods) {
      if (!method->is_compiled()) continue;
      for (const Code* code : methods->second) {
        if (method_name(*code) == method->name())
          method = make_method(state_, *unit_, type->qualified_name(), *code);
      }
    }
  }
}

}  // namespace flambeau::script
