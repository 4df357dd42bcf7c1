// Constants behind a layer become parts of its weights.
#include <algorithm>
#include <cmath>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/rewrites/foldings.h"
#include "flambeau/script/optimize/optimize.h"
#include "flambeau/script/unit.h"
#include "flambeau/tensor/elements/convert.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Value;

const IValue* known_constant(const Value* value) {
  const Node& node = *value->node();
  return node.is(NodeKind::kConstant) && node.name.empty() ? &node.constant : nullptr;
}

const Tensor* known_tensor(const Value* value) {
  const IValue* const known = known_constant(value);
  if (known == nullptr || !known->is(IValue::Tag::kTensor) || !known->as_tensor().defined()) return nullptr;
  const Tensor& tensor = known->as_tensor();
  const bool is_plain =
      tensor.layout() == Layout::kStrided && tensor.quantizer() == nullptr && !tensor.is_meta();
  return is_plain && dtype_info(tensor.dtype()).is_floating ? &tensor : nullptr;
}

bool is_known_none(const Value* value) {
  const IValue* const known = known_constant(value);
  return known != nullptr && known->is_none();
}

Folding folding_of_node(const Node& node) {
  return node.is(NodeKind::kOperator) ? folding_of(node.op->schema.name) : Folding::kNone;
}

class WeightFolder {
 public:
  WeightFolder(ir::Graph& graph, const Unit& unit, const Evaluator& evaluator)
      : graph_(graph), unit_(unit), evaluator_(evaluator) {}

  bool run() {
    ir::for_each_node(graph_.block(), [&](Node& node) {
      switch (folding_of_node(node)) {
        case Folding::kRank:
          return ask_input(node);
        case Folding::kBatchNorm:
          return fold_norm(node);
        case Folding::kAdd:
        case Folding::kSubtract:
        case Folding::kMultiply:
        case Folding::kDivide:
          return fold_arithmetic(node);
        default:
          return;
      }
    });
    return has_changed_;
  }

 private:
  struct Layer {
    Node* node = nullptr;
    const Tensor* weight = nullptr;
    const Tensor* bias = nullptr;  // null when it has none
    explicit operator bool() const { return node != nullptr; }
    int64_t channels() const { return weight->sizes()[0]; }
  };

  // Batch norms check how many dimensions they are given: as many as the layer before them was given.
  void ask_input(Node& node) {
    const Node& layer = *node.input(0)->node();
    const Folding folding = folding_of_node(layer);
    if (folding != Folding::kConvolution && folding != Folding::kLinear) return;
    Value* const input = layer.input(0);
    const bool is_written = std::ranges::any_of(input->uses(), [](const ir::Use& use) {
      return use.user->is(NodeKind::kOperator) && use.user->op->schema.is_mutable();
    });
    if (is_written) return;
    node.replace_input(0, input);
    has_changed_ = true;
  }

  // The layer that gives this value to nobody else.
  static Layer layer_of(const Value* value, bool may_be_linear) {
    Node& node = *value->node();
    const Folding folding = folding_of_node(node);
    const bool fits = folding == Folding::kConvolution || (may_be_linear && folding == Folding::kLinear);
    if (!fits || value->uses().size() != 1 || node.inputs().size() < 3) return {};
    Layer layer{&node, known_tensor(node.input(1)), known_tensor(node.input(2))};
    if (layer.weight == nullptr || layer.weight->dim() < 2 || layer.channels() == 0) return {};
    if (layer.bias == nullptr && !is_known_none(node.input(2))) return {};
    return layer;
  }

  std::optional<Tensor> compute(std::string_view name, std::string_view overload,
                                const std::vector<IValue>& inputs) const {
    const OperatorEntry* const op = unit_.operators().find(name, overload);
    if (op == nullptr || !evaluator_) return {};
    const std::optional<std::vector<IValue>> made = evaluator_(*op, inputs);
    if (!made || made->size() != 1 || !made->front().is(IValue::Tag::kTensor)) return {};
    return made->front().as_tensor();
  }
  std::optional<Tensor> plus(const Tensor& a, const Tensor& b, int sign = 1) const {
    return compute("aten::add", "Tensor", {a, b, sign});
  }
  std::optional<Tensor> times(const Tensor& a, const Tensor& b) const {
    return compute("aten::mul", "Tensor", {a, b});
  }

  // One number for each channel, as it multiplies the weight.
  static Tensor along_weight(const Tensor& numbers, const Tensor& weight) {
    Geometry geometry;
    geometry.offset = numbers.offset();
    for (size_t i = 0; i < weight.dim(); ++i) {
      geometry.sizes.push_back(i == 0 ? numbers.element_count() : 1);
      geometry.strides.push_back(1);
    }
    return numbers.with_geometry(std::move(geometry));
  }

  void replace(const Layer& layer, const Tensor& weight, const Tensor& bias, Node& gone) {
    const auto put = [&](size_t index, const Tensor& tensor) {
      Node* const constant = graph_.make_constant(tensor, TypeKind::kTensor);
      constant->insert_before(layer.node);
      layer.node->replace_input(index, constant->output());
    };
    put(1, weight);
    put(2, bias);
    gone.output()->replace_uses_with(layer.node->output());
    gone.destroy();
    has_changed_ = true;
  }

  void fold_norm(Node& node) {
    const Layer layer = layer_of(node.input(0), true);
    if (!layer || node.inputs().size() < 8) return;
    const IValue* const trains = known_constant(node.input(5));
    const IValue* const eps = known_constant(node.input(7));
    const Tensor* const mean = known_tensor(node.input(3));
    const Tensor* const variance = known_tensor(node.input(4));
    const Tensor* const scale = known_tensor(node.input(1));
    const Tensor* const shift = known_tensor(node.input(2));
    if (trains == nullptr || !trains->is(IValue::Tag::kBool) || trains->as_bool() || eps == nullptr ||
        !eps->is(IValue::Tag::kFloat) || mean == nullptr || variance == nullptr) {
      return;
    }
    if ((scale == nullptr && !is_known_none(node.input(1))) ||
        (shift == nullptr && !is_known_none(node.input(2))))
      return;
    for (const Tensor* each : {mean, variance, scale, shift, layer.bias}) {
      if (each != nullptr && (each->dtype() != layer.weight->dtype() || each->dim() != 1 ||
                              each->element_count() != layer.channels())) {
        return;
      }
    }
    std::optional<Tensor> factor = compute("aten::add", "Scalar", {*variance, eps->as_float(), 1});
    if (factor) factor = compute("aten::rsqrt", "", {*factor});
    if (factor && scale != nullptr) factor = times(*factor, *scale);
    if (!factor) return;
    std::optional<Tensor> bias =
        layer.bias != nullptr ? plus(*layer.bias, *mean, -1) : compute("aten::neg", "", {*mean});
    if (bias) bias = times(*bias, *factor);
    if (bias && shift != nullptr) bias = plus(*bias, *shift);
    const std::optional<Tensor> weight = times(*layer.weight, along_weight(*factor, *layer.weight));
    if (bias && weight) replace(layer, *weight, *bias, node);
  }

  // A number for each channel, or one for all, of the weight's type; nothing for what would change more.
  std::optional<Tensor> numbers_of(const Value* value, const Layer& layer) const {
    const IValue* const known = known_constant(value);
    if (known == nullptr) return {};
    const IValue size = IValue::list(TypeKind::kInt, {layer.channels()});
    const IValue dtype(static_cast<int64_t>(layer.weight->dtype()));
    if (known->is(IValue::Tag::kInt) || known->is(IValue::Tag::kFloat)) {
      return compute("aten::full", "", {size, *known, dtype, IValue(), IValue(), IValue()});
    }
    const Tensor* const tensor = known_tensor(value);
    // Its channels stand behind the batch, and it must not make the result larger.
    const size_t rank = layer.weight->dim();
    if (tensor == nullptr || tensor->dtype() != layer.weight->dtype() || tensor->dim() > rank) return {};
    for (size_t i = 0; i < tensor->dim(); ++i) {
      const bool is_channel = i + rank - tensor->dim() == 1;
      const int64_t length = tensor->sizes()[i];
      if (length != 1 && !(is_channel && length == layer.channels())) return {};
    }
    const std::optional<Tensor> flat =
        compute("aten::reshape", "", {*tensor, IValue::list(TypeKind::kInt, {int64_t{-1}})});
    if (!flat) return {};
    if (flat->element_count() == layer.channels()) return flat->to_contiguous();
    const std::optional<Tensor> zeros =
        compute("aten::full", "", {size, 0.0, dtype, IValue(), IValue(), IValue()});
    return zeros ? plus(*zeros, *flat) : std::nullopt;
  }

  // Products with the others would be no numbers where the result itself is one, or infinite.
  static bool are_factors(const Tensor& numbers) {
    const Tensor doubles = convert(numbers, DType::kFloat64);
    for (int64_t i = 0; i < doubles.element_count(); ++i) {
      const double number = doubles.data<double>()[i];
      if (!std::isfinite(number) || number == 0) return false;
    }
    return true;
  }

  void fold_arithmetic(Node& node) {
    const Folding folding = folding_of_node(node);
    const bool commutes = folding == Folding::kAdd || folding == Folding::kMultiply;
    size_t place = 0;
    Layer layer = layer_of(node.input(0), false);
    if (!layer && commutes) {
      layer = layer_of(node.input(1), false);
      place = 1;
    }
    if (!layer) return;
    if (node.inputs().size() == 3) {
      const IValue* const alpha = known_constant(node.input(2));
      if (alpha == nullptr || !alpha->is(IValue::Tag::kInt) || alpha->as_int() != 1) return;
    }
    const std::optional<Tensor> numbers = numbers_of(node.input(1 - place), layer);
    if (!numbers || (layer.bias != nullptr && layer.bias->dtype() != layer.weight->dtype())) return;
    if (folding == Folding::kAdd || folding == Folding::kSubtract) {
      const int sign = folding == Folding::kAdd ? 1 : -1;
      std::optional<Tensor> bias = layer.bias != nullptr
                                       ? plus(*layer.bias, *numbers, sign)
                                       : (sign > 0 ? numbers : compute("aten::neg", "", {*numbers}));
      if (bias) replace(layer, *layer.weight, *bias, node);
      return;
    }
    if (!are_factors(*numbers)) return;
    const auto scaled = [&](const Tensor& tensor, const Tensor& factors) {
      return folding == Folding::kMultiply ? times(tensor, factors)
                                           : compute("aten::div", "Tensor", {tensor, factors});
    };
    const std::optional<Tensor> weight = scaled(*layer.weight, along_weight(*numbers, *layer.weight));
    std::optional<Tensor> bias;
    if (layer.bias != nullptr) {
      bias = scaled(*layer.bias, *numbers);
    } else {
      bias = Tensor::zeros(layer.weight->dtype(), Dims{layer.channels()});
    }
    if (weight && bias) replace(layer, *weight, *bias, node);
  }

  ir::Graph& graph_;
  const Unit& unit_;
  const Evaluator& evaluator_;
  bool has_changed_ = false;
};

}  // namespace

bool fold_into_weights(ir::Graph& graph, const Unit& unit, const Evaluator& evaluator) {
  return WeightFolder(graph, unit, evaluator).run();
}

}  // namespace flambeau::script
