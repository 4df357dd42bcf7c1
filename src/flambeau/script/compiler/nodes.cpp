// The nodes that emission makes by itself, without matching a signature.
#include <cmath>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/compiler/type_reader.h"
#include "flambeau/script/types/relations.h"

namespace flambeau::script::compiler {
namespace {

// Where constants of the whole function stand: before everything.
ir::Node* front_of(ir::Graph& graph) {
  ir::Node* first = graph.block().first();
  return first != nullptr ? first : graph.block().return_node();
}

}  // namespace

ir::Value* Emitter::number(int64_t value, const SourceRange& place) {
  Value*& made = ints_[value];
  if (made == nullptr) {
    const InsertAt guard(*graph_, front_of(*graph_));
    made = constant(value, place);
  }
  return made;
}

// As in PyTorch, whichever zero comes first stands for both of them.
ir::Value* Emitter::number(double value, const SourceRange& place) {
  if (std::isnan(value)) return constant(value, place);
  Value*& made = floats_[value];
  if (made == nullptr) {
    const InsertAt guard(*graph_, front_of(*graph_));
    made = constant(value, place);
  }
  return made;
}

ir::Value* Emitter::number(std::complex<double> value, const SourceRange& place) {
  Value*& made = complexes_[{value.real(), value.imag()}];
  if (made == nullptr) {
    const InsertAt guard(*graph_, front_of(*graph_));
    made = constant(value, place);
  }
  return made;
}

ir::Value* Emitter::insert_one(ir::NodeKind kind, std::span<Value* const> inputs, Type type,
                               const SourceRange& place) {
  ir::Node* node = graph_->insert(graph_->make(kind, inputs, 1));
  node->output()->set_type(std::move(type));
  node->range = place;
  return node->output();
}

ir::Value* Emitter::make_tuple(std::span<Value* const> values) {
  std::vector<Type> types;
  types.reserve(values.size());
  for (const Value* value : values) types.push_back(value->type());
  return insert_one(ir::NodeKind::kTupleConstruct, values, Type::tuple(std::move(types)));
}

ir::Value* Emitter::make_list(const Type& element, std::span<Value* const> values) {
  return insert_one(ir::NodeKind::kListConstruct, values, Type::list(element));
}

std::vector<ir::Value*> Emitter::unpack_tuple(Value* tuple) {
  const std::optional<Type> type = tuple_type(tuple->type());
  // One that was just made need not be unpacked.
  if (tuple->node()->is(ir::NodeKind::kTupleConstruct)) {
    const auto inputs = tuple->node()->inputs();
    return {inputs.begin(), inputs.end()};
  }
  Value* const inputs[] = {tuple};
  ir::Node* node = graph_->insert(graph_->make(ir::NodeKind::kTupleUnpack, inputs, 0));
  for (const Type& element : type->elements()) node->add_output(element);
  return {node->outputs().begin(), node->outputs().end()};
}

ir::Value* Emitter::cast_unchecked(Value* value, const Type& type) {
  Value* const inputs[] = {value};
  return insert_one(ir::NodeKind::kUncheckedCast, inputs, type);
}

std::optional<IValue> Emitter::constant_of(const Value* value) const {
  const ir::Node* node = value->node();
  if (!node->is(ir::NodeKind::kConstant) || !node->name.empty()) return std::nullopt;
  return node->constant;
}

Type Emitter::read_type(const Node& node) const { return compiler::read_type(unit_, names_, tree_, node); }

bool Emitter::is_subtype(const Type& type, const Type& of) const {
  return script::is_subtype(&unit_, type, of);
}

std::optional<Type> Emitter::unify(const Type& a, const Type& b, bool default_to_union,
                                   const Type* hint) const {
  return unify_types(&unit_, a, b, default_to_union, hint);
}

std::optional<Type> Emitter::tuple_type(const Type& type) const { return as_tuple_type(&unit_, type); }

std::shared_ptr<Class> Emitter::class_of(const Type& type) const {
  if (!type.is(TypeKind::kClass)) return nullptr;
  std::shared_ptr<Class> found = unit_.find_class(type.name());
  return found != nullptr && found->kind() != ClassKind::kNamedTuple ? found : nullptr;
}

bool Emitter::is_object(const Type& type) const {
  const std::shared_ptr<Class> found = class_of(type);
  return found != nullptr && (found->kind() == ClassKind::kPlain || found->kind() == ClassKind::kModule);
}

void Emitter::push_frame(ir::Block& block) {
  frames_.push_back(std::make_unique<Frame>(block, frames_.empty() ? nullptr : frames_.back().get()));
}

std::unique_ptr<Frame> Emitter::pop_frame() {
  std::unique_ptr<Frame> last = std::move(frames_.back());
  frames_.pop_back();
  return last;
}

}  // namespace flambeau::script::compiler
