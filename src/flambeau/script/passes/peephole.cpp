// Small simplifications that look at a node and its inputs alone: tests for None that types settle, casts to
// what a value is, sums with 0.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/rewrites/peepholes.h"
#include "flambeau/script/passes/alias_classes.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

using ir::NodeKind;

Peephole peephole_of(const ir::Node& node) {
  return node.is(NodeKind::kOperator) ? find_peephole(node.op->schema.name.name) : Peephole::kNone;
}

bool must_be_none(const ir::Value& value) {
  const ir::Node& node = *value.node();
  return value.type().is(TypeKind::kNone) ||
         (node.is(NodeKind::kConstant) && node.name.empty() && node.constant.is_none());
}

bool must_not_be_none(const ir::Value& value) {
  if (value.type().is(TypeKind::kNone) || value.type().is(TypeKind::kOptional)) return false;
  return !value.type().is(TypeKind::kUnion) || !may_be_none(value.type());
}

template <typename T, IValue::Tag kTag>
std::optional<T> constant_as(const ir::Value& value) {
  const ir::Node& node = *value.node();
  if (!node.is(NodeKind::kConstant) || !node.constant.is(kTag)) return std::nullopt;
  if constexpr (kTag == IValue::Tag::kBool) {
    return node.constant.as_bool();
  } else {
    return node.constant.as_int();
  }
}

std::optional<int64_t> int_constant(const ir::Value& value) {
  return constant_as<int64_t, IValue::Tag::kInt>(value);
}

bool is_plain(const Type& type) {
  return type.is(TypeKind::kBool) || type.is(TypeKind::kInt) || type.is(TypeKind::kFloat) ||
         type.is(TypeKind::kNone);
}

// Comparing values of the type cannot fail.
bool is_comparable(const Type& type) {
  if (!type.is(TypeKind::kList) && !type.is(TypeKind::kDict)) return is_plain(type);
  for (const Type& element : type.elements()) {
    if (!is_plain(element)) return false;
  }
  return true;
}

class PeepholePass {
 public:
  PeepholePass(ir::Graph& graph, const Unit& unit) : graph_(graph), unit_(unit) {}

  bool run() {
    block(graph_.block(), 0, &PeepholePass::tensor_node);
    has_changed_ = use_known_containers(graph_) || has_changed_;
    block(graph_.block(), 0, &PeepholePass::dimension_node);
    block(graph_.block(), 0, &PeepholePass::plain_node);
    graph_.set_insert_point(graph_.block());
    return has_changed_;
  }

 private:
  void block(ir::Block& of, int depth, void (PeepholePass::*visit)(ir::Node&)) {
    if (depth > ir::kMostBlockDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", ir::kMostBlockDepth));
    }
    for (ir::Node* node = of.first(); node != nullptr; node = node->next()) {
      for (ir::Block* const inner : node->blocks()) block(*inner, depth + 1, visit);
      (this->*visit)(*node);
    }
  }
  void replace(ir::Value& value, ir::Value& with) {
    value.replace_uses_with(&with);
    has_changed_ = true;
  }
  ir::Value& constant_before(ir::Node& node, IValue value, const Type& type) {
    graph_.set_insert_point(&node);
    return *graph_.insert(graph_.make_constant(std::move(value), type))->output();
  }

  void tensor_node(ir::Node& node) {
    const Peephole kind = peephole_of(node);
    if (kind == Peephole::kNone || node.inputs().empty()) return;
    const ir::Node& maker = *node.input(0)->node();
    const bool is_number = kind == Peephole::kToInt || kind == Peephole::kToNumber;
    if (is_number && peephole_of(maker) == Peephole::kToTensor)
      return replace(*node.output(), *maker.input(0));
    if (kind == Peephole::kTranspose && peephole_of(maker) == Peephole::kTranspose)
      replace(*node.output(), *maker.input(0));
  }

  // What a convolution gives has as many dimensions as its name says, unless something could write to it
  // before somebody asks.
  void dimension_node(ir::Node& node) {
    if (peephole_of(node) != Peephole::kDimensionCount) return;
    ir::Value& tensor = *node.input(0);
    const ir::Node& maker = *tensor.node();
    const int64_t count = result_dimensions(maker);
    if (count == 0) return;
    if (!written_) written_.emplace(graph_);
    if (written_->may_be_written(&tensor) && !is_unwritten_between(maker, node, tensor)) return;
    replace(*node.output(), constant_before(node, count, TypeKind::kInt));
  }
  static int64_t result_dimensions(const ir::Node& node) {
    switch (peephole_of(node)) {
      case Peephole::kConvolution1d:
        return 3;
      case Peephole::kConvolution2d:
        return 4;
      case Peephole::kConvolution3d:
        return 5;
      default:
        return 0;
    }
  }
  bool is_unwritten_between(const ir::Node& maker, const ir::Node& node, const ir::Value& tensor) const {
    if (maker.block() != node.block()) return false;
    for (const ir::Node* next = maker.next(); next != &node; next = next->next()) {
      if (next == nullptr || written_->may_write(*next, &tensor)) return false;
    }
    return true;
  }

  // An int with a constant one, which is the second then.
  std::optional<int64_t> arithmetic_constant(ir::Node& node) {
    if (node.inputs().size() != 2 || !node.input(0)->type().is(TypeKind::kInt) ||
        !node.input(1)->type().is(TypeKind::kInt)) {
      return std::nullopt;
    }
    const Peephole kind = peephole_of(node);
    if (kind == Peephole::kPlus || kind == Peephole::kCommutedTimes) {
      if (const std::optional<int64_t> first = int_constant(*node.input(0))) {
        const std::vector<size_t> order = {1, 0};
        node.reorder_inputs(order);
        return first;
      }
    }
    return int_constant(*node.input(1));
  }
  void sum(ir::Node& node) {
    const std::optional<int64_t> constant = arithmetic_constant(node);
    if (!constant) return;
    if (*constant == 0) return replace(*node.output(), *node.input(0));
    ir::Node& inner = *node.input(0)->node();
    const Peephole kind = peephole_of(node);
    if (peephole_of(inner) != Peephole::kPlus && peephole_of(inner) != Peephole::kMinus) return;
    const std::optional<int64_t> other = arithmetic_constant(inner);
    if (!other) return;
    // Numbers of scripts wrap.
    const auto a = static_cast<uint64_t>(*constant), b = static_cast<uint64_t>(*other);
    const auto merged = static_cast<int64_t>(peephole_of(inner) == kind ? a + b : a - b);
    if (merged == 0) return replace(*node.output(), *inner.input(0));
    node.replace_input(0, inner.input(0));
    node.replace_input(1, &constant_before(node, merged, TypeKind::kInt));
    has_changed_ = true;
  }

  void if_node(ir::Node& node) {
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      ir::Value& output = *node.output(i);
      const ir::Value& first = *node.block(0)->output(i);
      const ir::Value& second = *node.block(1)->output(i);
      if (output.type().is(TypeKind::kBool) && constant_as<bool, IValue::Tag::kBool>(first).value_or(false) &&
          !constant_as<bool, IValue::Tag::kBool>(second).value_or(true)) {
        replace(output, *node.input(0));
      }
    }
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Type& first = node.block(0)->output(i)->type();
      const Type& second = node.block(1)->output(i)->type();
      if (!node.output(i)->type().is(TypeKind::kOptional) || first.is(TypeKind::kOptional) ||
          second.is(TypeKind::kOptional)) {
        continue;
      }
      if (const std::optional<Type> both = unify_types(&unit_, first, second)) {
        node.output(i)->set_type(*both);
        has_changed_ = true;
      }
    }
  }

  void plain_node(ir::Node& node) {
    if (node.is(NodeKind::kConstant)) return;
    for (ir::Value* const output : node.outputs()) {
      if (output->type().is(TypeKind::kNone)) replace(*output, constant_before(node, {}, TypeKind::kNone));
    }
    if (node.is(NodeKind::kIf)) return if_node(node);
    if (node.is(NodeKind::kUncheckedCast)) {
      if (is_subtype(&unit_, node.input(0)->type(), node.output()->type()))
        replace(*node.output(), *node.input(0));
      return;
    }
    const Peephole kind = peephole_of(node);
    switch (kind) {
      case Peephole::kIs:
      case Peephole::kIsNot:
        for (const size_t at : {0, 1}) {
          if (!must_be_none(*node.input(at)) || !must_not_be_none(*node.input(1 - at))) continue;
          replace(*node.output(), constant_before(node, kind == Peephole::kIsNot, TypeKind::kBool));
        }
        return;
      case Peephole::kUnwrap:
        if (must_not_be_none(*node.input(0))) replace(*node.output(), *node.input(0));
        return;
      case Peephole::kToInt:
      case Peephole::kRoundUp:
        if (node.inputs().size() == 1 && node.input(0)->type().is(TypeKind::kInt))
          replace(*node.output(), *node.input(0));
        return;
      case Peephole::kEqual:
      case Peephole::kNotEqual:
        if (node.inputs().size() == 2 && node.input(0) == node.input(1) &&
            is_comparable(node.input(0)->type()))
          replace(*node.output(), constant_before(node, kind == Peephole::kEqual, TypeKind::kBool));
        return;
      case Peephole::kTimes:
      case Peephole::kCommutedTimes:
        if (arithmetic_constant(node) == 1) replace(*node.output(), *node.input(0));
        return;
      case Peephole::kPlus:
      case Peephole::kMinus:
        return sum(node);
      default:
        return;
    }
  }

  ir::Graph& graph_;
  const Unit& unit_;
  std::optional<WrittenValues> written_;
  bool has_changed_ = false;
};

}  // namespace

bool simplify_nodes(ir::Graph& graph, const Unit& unit) {
  const bool has_changed = PeepholePass(graph, unit).run();
  if (has_changed) eliminate_dead_code(graph);
  return has_changed;
}

}  // namespace flambeau::script
