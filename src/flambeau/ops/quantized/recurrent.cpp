// Recurrent networks whose weights are quantized and whose inputs are quantized on the way, step by step.
#include <fmt/format.h>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/quantized/packed.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

// The weights of one cell, which have their biases with them. The biases beside are what files keep.
struct PackedCell {
  Object input, hidden;
  Tensor input_bias, hidden_bias;
  bool reduce_range = false;
  bool is_half = false;
};

enum class CellKind : uint8_t { kLstm, kGru, kTanh, kRelu };

const PackedLinear& linear_in(const Object& object) {
  return packed_object<PackedLinear>(Value(object), kLinearClass);
}
const Object& linear_object(const Value& value) {
  packed_object<PackedLinear>(value, kLinearClass);
  return *value.get_if<Object>();
}

struct Gates {
  Tensor hidden, cell;
};

Gates step(Context& c, CellKind kind, const Tensor& from_input, const Tensor& from_hidden,
           const Gates& before) {
  using Several = std::vector<Tensor>;
  const auto sigmoid = [&](const Tensor& x) { return call(c, "aten::sigmoid", x); };
  const auto tanh = [&](const Tensor& x) { return call(c, "aten::tanh", x); };
  switch (kind) {
    case CellKind::kTanh:
      return {tanh(parts::add(c, from_input, from_hidden)), {}};
    case CellKind::kRelu:
      return {call(c, "aten::relu", parts::add(c, from_input, from_hidden)), {}};
    case CellKind::kGru: {
      const auto x = call<Several>(c, "aten::chunk", from_input, 3, 1);
      const auto h = call<Several>(c, "aten::chunk", from_hidden, 3, 1);
      const Tensor reset = sigmoid(parts::add(c, h.at(0), x.at(0)));
      const Tensor update = sigmoid(parts::add(c, h.at(1), x.at(1)));
      const Tensor fresh = tanh(parts::add(c, x.at(2), parts::mul(c, h.at(2), reset)));
      return {parts::add(c, parts::mul(c, parts::sub(c, before.hidden, fresh), update), fresh), {}};
    }
    case CellKind::kLstm:
      break;
  }
  const auto gates = call<Several>(c, "aten::chunk", parts::add(c, from_hidden, from_input), 4, 1);
  const Tensor kept = parts::mul(c, sigmoid(gates.at(1)), before.cell);
  const Tensor cell = parts::add(c, kept, parts::mul(c, sigmoid(gates.at(0)), tanh(gates.at(2))));
  return {parts::mul(c, sigmoid(gates.at(3)), tanh(cell)), cell};
}

int64_t gate_count(CellKind kind) { return kind == CellKind::kLstm ? 4 : kind == CellKind::kGru ? 3 : 1; }

void check_cell(CellKind kind, const PackedLinear& input, const PackedLinear& hidden, const Tensor& state) {
  const int64_t size = hidden.weight.sizes()[1];
  if (input.weight.sizes()[0] != hidden.weight.sizes()[0] ||
      hidden.weight.sizes()[0] != gate_count(kind) * size || !(size_of(state, -1) == SymInt(size)))
    fail_view(fmt::format("weights {} and {} are none of a cell with a state {}", input.weight.summary(),
                          hidden.weight.summary(), state.summary()));
}

// ---- layers

// One direction over a sequence [time, batch, features].
struct Direction {
  TensorList outputs;
  Gates last;
};
Direction run_direction(Context& c, CellKind kind, const PackedCell& cell, const Tensor& sequence,
                        Gates state, bool is_backward) {
  const PackedLinear& input = linear_in(cell.input);
  const PackedLinear& hidden = linear_in(cell.hidden);
  check_cell(kind, input, hidden, state.hidden);
  const Tensor from_input = linear_dynamic(c, input, sequence, cell.reduce_range);
  const int64_t steps = fixed(size_of(sequence, 0));
  Direction result;
  result.outputs.resize(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps; ++i) {
    poll_work();
    const int64_t at = is_backward ? steps - 1 - i : i;
    const Tensor from_hidden = linear_dynamic(c, hidden, state.hidden, cell.reduce_range);
    state = step(c, kind, call(c, "aten::select.int", from_input, 0, at), from_hidden, state);
    result.outputs[static_cast<size_t>(at)] = state.hidden;
  }
  result.last = state;
  return result;
}

struct Network {
  Tensor output, hidden, cell;
};
Network run_network(Context& c, CellKind kind, const Tensor& input, const Tensor& hidden, const Tensor& cell,
                    const Value& parameters, Size layer_count, double dropout, bool train,
                    bool is_bidirectional, bool batch_first) {
  const int64_t directions = is_bidirectional ? 2 : 1;
  const int64_t layers = layer_count.value();
  const int64_t states = (layer_count * Size(directions)).value();
  const auto* const cells = parameters.get_if<ValueList>();
  if (cells == nullptr || layers < 1 || static_cast<int64_t>(cells->size()) != states)
    fail_view(fmt::format("{} layers of {} directions have as many cells", layers, directions));
  if (train && dropout > 0) fail_view("quantized networks have no dropout while training");
  if (input.dim() != 3 || hidden.dim() != 3 || !(size_of(hidden, 0) == SymInt(states)))
    fail_view(fmt::format("sequences of batches, and a state for each layer, are expected, not {} and {}",
                          input.summary(), hidden.summary()));
  Tensor sequence = batch_first ? call(c, "aten::transpose.int", input, 0, 1) : input;
  if (size_of(sequence, 0) == SymInt(0)) fail_view("Expected sequence length to be larger than 0 in RNN");
  if (!(size_of(hidden, 1) == size_of(sequence, 1)))
    fail_view(fmt::format("a state {} for a sequence {}", hidden.summary(), sequence.summary()));
  TensorList last_hidden, last_cell;
  for (int64_t layer = 0; layer < layers; ++layer) {
    TensorList outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t at = layer * directions + direction;
      const auto& packed = packed_object<PackedCell>((*cells)[static_cast<size_t>(at)], kCellClass);
      Gates state{call(c, "aten::select.int", hidden, 0, at), {}};
      if (cell.defined()) state.cell = call(c, "aten::select.int", cell, 0, at);
      Direction run = run_direction(c, kind, packed, sequence, state, direction == 1);
      outputs.push_back(call(c, "aten::stack", run.outputs, 0));
      last_hidden.push_back(run.last.hidden);
      if (cell.defined()) last_cell.push_back(run.last.cell);
    }
    sequence = outputs.size() == 1 ? outputs[0] : call(c, "aten::cat", outputs, 2);
  }
  Network result;
  result.output = batch_first ? call(c, "aten::transpose.int", sequence, 0, 1) : sequence;
  result.hidden = call(c, "aten::stack", last_hidden, 0);
  if (cell.defined()) result.cell = call(c, "aten::stack", last_cell, 0);
  return result;
}

std::tuple<Tensor, Tensor, Tensor> lstm(Context& c, const Tensor& input, std::span<const Tensor> states,
                                        const Value& parameters, bool, Size layers, double dropout,
                                        bool train, bool is_bidirectional, bool batch_first,
                                        std::optional<DType>, bool) {
  if (states.size() != 2 || states[0].dim() != 3 || states[1].dim() != 3)
    fail_view("lstm expects two hidden states");
  for (int64_t d = 0; d < 3; ++d) {
    if (!(size_of(states[0], d) == size_of(states[1], d))) fail_view("lstm expects two hidden states");
  }
  const Network network = run_network(c, CellKind::kLstm, input, states[0], states[1], parameters, layers,
                                      dropout, train, is_bidirectional, batch_first);
  return {network.output, network.hidden, network.cell};
}
std::tuple<Tensor, Tensor> gru(Context& c, const Tensor& input, const Tensor& state, const Value& parameters,
                               bool, Size layers, double dropout, bool train, bool is_bidirectional,
                               bool batch_first) {
  const Network network = run_network(c, CellKind::kGru, input, state, {}, parameters, layers, dropout, train,
                                      is_bidirectional, batch_first);
  return {network.output, network.hidden};
}

// ---- single cells

Gates run_cell(Context& c, CellKind kind, const Tensor& input, const Gates& state, const Value& input_weight,
               const Value& hidden_weight) {
  const PackedLinear& from_input = linear_in(linear_object(input_weight));
  const PackedLinear& from_hidden = linear_in(linear_object(hidden_weight));
  if (input.dim() != 2 || state.hidden.dim() != 2) fail_view("cells take batches of rows");
  check_cell(kind, from_input, from_hidden, state.hidden);
  constexpr bool kReduceRange = true;
  return step(c, kind, linear_dynamic(c, from_input, input, kReduceRange),
              linear_dynamic(c, from_hidden, state.hidden, kReduceRange), state);
}
template <CellKind kKind>
Tensor simple_cell(Context& c, const Tensor& input, const Tensor& hidden, const Value& input_weight,
                   const Value& hidden_weight, const Tensor&, const Tensor&) {
  return run_cell(c, kKind, input, {hidden, {}}, input_weight, hidden_weight).hidden;
}
std::tuple<Tensor, Tensor> lstm_cell(Context& c, const Tensor& input, std::span<const Tensor> states,
                                     const Value& input_weight, const Value& hidden_weight, const Tensor&,
                                     const Tensor&) {
  if (states.size() != 2) fail_view("lstm_cell expects two hidden states");
  const Gates result =
      run_cell(c, CellKind::kLstm, input, {states[0], states[1]}, input_weight, hidden_weight);
  return {result.hidden, result.cell};
}

// ---- parameters

Object cell_dynamic(const Value& input_weight, const Value& hidden_weight, const Tensor& input_bias,
                    const Tensor& hidden_bias, bool reduce_range) {
  return make_object<PackedCell>(kCellClass, PackedCell{.input = linear_object(input_weight),
                                                        .hidden = linear_object(hidden_weight),
                                                        .input_bias = input_bias,
                                                        .hidden_bias = hidden_bias,
                                                        .reduce_range = reduce_range});
}
Object cell_half(const Value& input_weight, const Value& hidden_weight) {
  return make_object<PackedCell>(kCellClass, PackedCell{.input = linear_object(input_weight),
                                                        .hidden = linear_object(hidden_weight),
                                                        .input_bias = {},
                                                        .hidden_bias = {},
                                                        .is_half = true});
}

// A name of the kind, biases, numbers that are none, flags, and the two weights.
Object cell_from_state(const Value& state) {
  const auto* const parts = state.get_if<ValueList>();
  if (parts == nullptr || parts->size() != 5 || !(*parts)[0].is<std::string>()) fail_state(kCellClass, state);
  const auto* const weights = (*parts)[4].get_if<ValueList>();
  if (weights == nullptr || weights->size() != 2) fail_state(kCellClass, state);
  for (const Value& weight : *weights) {
    const Object* const object = weight.get_if<Object>();
    if (object == nullptr || object->class_name != kLinearClass) fail_state(kCellClass, state);
  }
  const std::string& kind = (*parts)[0].get<std::string>();
  if (kind == "quantized_fp16") return cell_half((*weights)[0], (*weights)[1]);
  const auto* const biases = (*parts)[1].get_if<TensorList>();
  const Dims* const flags = (*parts)[3].get_if<Dims>();
  if (kind != "quantized_dynamic" || biases == nullptr || biases->size() != 2 || flags == nullptr ||
      flags->size() != 1)
    fail_state(kCellClass, state);
  return cell_dynamic((*weights)[0], (*weights)[1], (*biases)[0], (*biases)[1], (*flags)[0] != 0);
}
Value cell_state(const Object& object) {
  const Value boxed(object);
  const auto& cell = packed_object<PackedCell>(boxed, kCellClass);
  const Value weights = ValueList{cell.input, cell.hidden};
  if (cell.is_half) return ValueList{"quantized_fp16", TensorList(), std::vector<double>(), Dims(), weights};
  return ValueList{"quantized_dynamic", TensorList{cell.input_bias, cell.hidden_bias}, std::vector<double>(),
                   Dims{cell.reduce_range ? 1 : 0}, weights};
}

ObjectClass cell_class() {
  return {.name = std::string(kCellClass),
          .state_type =
              "Tuple[str, List[Tensor], List[float], List[int], "
              "List[__torch__.torch.classes.quantized.LinearPackedParamsBase]]",
          .from_state = cell_from_state,
          .state = cell_state};
}

}  // namespace

void define_recurrent(Library& library) {
  library.define_class(kCellClass, cell_class);
#define FLAMBEAU_PACKED "__torch__.torch.classes.quantized.LinearPackedParamsBase"
  library
      .define("quantized::make_quantized_cell_params_dynamic(" FLAMBEAU_PACKED " w_ih, " FLAMBEAU_PACKED
              " w_hh, Tensor bias_ih, Tensor bias_hh, bool reduce_range=False) -> "
              "__torch__.torch.classes.rnn.CellParamsBase")
      .function<cell_dynamic>();
  library
      .define("quantized::make_quantized_cell_params_fp16(" FLAMBEAU_PACKED " w_ih, " FLAMBEAU_PACKED
              " w_hh) -> __torch__.torch.classes.rnn.CellParamsBase")
      .function<cell_half>();
  library
      .define("quantized::quantized_lstm_cell_dynamic(Tensor input, Tensor[] hx, " FLAMBEAU_PACKED
              " w_ih, " FLAMBEAU_PACKED " w_hh, Tensor bias_ih, Tensor bias_hh) -> (Tensor, Tensor)")
      .function<lstm_cell>();
  library
      .define("quantized::quantized_gru_cell_dynamic(Tensor input, Tensor hx, " FLAMBEAU_PACKED
              " w_ih, " FLAMBEAU_PACKED " w_hh, Tensor b_ih, Tensor b_hh) -> Tensor")
      .function<simple_cell<CellKind::kGru>>();
  library
      .define("quantized::quantized_rnn_relu_cell_dynamic(Tensor input, Tensor hx, " FLAMBEAU_PACKED
              " w_ih, " FLAMBEAU_PACKED " w_hh, Tensor b_ih, Tensor b_hh) -> Tensor")
      .function<simple_cell<CellKind::kRelu>>();
  library
      .define("quantized::quantized_rnn_tanh_cell_dynamic(Tensor input, Tensor hx, " FLAMBEAU_PACKED
              " w_ih, " FLAMBEAU_PACKED " w_hh, Tensor b_ih, Tensor b_hh) -> Tensor")
      .function<simple_cell<CellKind::kTanh>>();
#undef FLAMBEAU_PACKED
  library
      .define(
          "aten::quantized_lstm.input(Tensor input, Tensor[] hx, "
          "__torch__.torch.classes.rnn.CellParamsBase[] "
          "params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool "
          "batch_first, *, ScalarType? dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)")
      .function<lstm>();
  library
      .define(
          "aten::quantized_gru.input(Tensor input, Tensor hx, __torch__.torch.classes.rnn.CellParamsBase[] "
          "params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool "
          "batch_first) -> (Tensor, Tensor)")
      .function<gru>();
}

}  // namespace flambeau::ops
