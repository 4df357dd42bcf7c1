#include "flambeau/script/python/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/evaluate.h"
#include "flambeau/script/operators/python/layers.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/reachable.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

namespace {

using ir::Node;
using ir::NodeKind;
using ir::Value;

// Whether a list of words or alternatives has it.
bool has_word(std::string_view words, std::string_view word, char between) {
  if (words == "*") return true;
  while (!words.empty()) {
    const std::string_view next = words.substr(0, words.find(between));
    if (next == word) return true;
    words.remove_prefix(std::min(words.size(), next.size() + 1));
  }
  return false;
}

bool gives_tensor(const Schema& schema) {
  return std::ranges::any_of(schema.returns, [](const SchemaArgument& result) {
    return result.type.is(TypeKind::kTensor) ||
           (result.type.is(TypeKind::kList) && result.type.element().is(TypeKind::kTensor));
  });
}

constexpr int kMostSimplifying = 4;
constexpr int64_t kMostGroups = int64_t{1} << 31;

class LayerReader {
 public:
  LayerReader(PythonFile& file, const ObjectBox& module, const LayerFact& layer)
      : file_(file), module_(module), layer_(layer) {}

  std::optional<std::string> run() {
    if (!has_its_tensors() || !does_what_it_should()) return {};
    std::string text = fmt::format("nn.{}(", layer_.name.substr(layer_.name.rfind('.') + 1));
    bool is_first = true;
    for (const LayerArgument& argument : layer_.arguments) {
      const std::optional<std::string> value = text_of(argument);
      if (!value) return {};
      if (argument.source == LayerSource::kRequired) {
        if (!value->empty() && !has_word(argument.usual, *value, '|')) return {};
        continue;
      }
      if (value->empty() || (!argument.usual.empty() && has_word(argument.usual, *value, '|'))) continue;
      text += is_first ? "" : ", ";
      is_first = false;
      if (!argument.usual.empty()) text += fmt::format("{}=", argument.name);
      text += *value;
    }
    if (const std::optional<std::string> dtype = weight_dtype())
      text += fmt::format("{}dtype={}", is_first ? "" : ", ", *dtype);
    return text + ")";
  }

 private:
  const IValue* slot(std::string_view name) const {
    const std::optional<size_t> found = module_.type->find_attribute(name);
    return found ? &module_.slots.at(*found) : nullptr;
  }
  const Tensor* tensor(std::string_view name) const {
    const IValue* const value = slot(name);
    return value != nullptr && value->is(IValue::Tag::kTensor) && value->as_tensor().defined()
               ? &value->as_tensor()
               : nullptr;
  }

  // Nothing that the layer would not have.
  bool has_its_tensors() const {
    for (size_t i = 0; i < module_.slots.size(); ++i) {
      const Attribute& attribute = module_.type->attributes.at(i);
      const IValue& value = module_.slots[i];
      if (value.is(IValue::Tag::kTensor)) {
        const bool is_plain = value.as_tensor().layout() == Layout::kStrided &&
                              value.as_tensor().quantizer() == nullptr && !value.as_tensor().is_meta();
        if (!is_plain || !(attribute.is_parameter || attribute.is_buffer)) return false;
        if (!has_word(layer_.tensors, attribute.name, ' ')) return false;
      }
      const bool is_inside = value.is(IValue::Tag::kObject) || value.is(IValue::Tag::kNative);
      if (is_inside && !(layer_.tensors == "*" && attribute.name == "out_proj")) return false;
    }
    // Before PyTorch 0.4.1 nobody counted batches.
    const bool counts = tensor("num_batches_tracked") != nullptr || tensor("running_mean") == nullptr;
    return counts && module_.type->forward_hooks.empty() && module_.type->forward_pre_hooks.empty();
  }

  const Function* forward() const {
    for (const std::string_view name : {"forward", "forward__0"}) {
      if (const auto* found = module_.type->find_method(name)) return found->get();
    }
    return nullptr;
  }

  bool does_what_it_should() {
    const Function* const function = forward();
    if (function == nullptr) return false;
    const Signature& signature = function->signature();
    if (signature.returns.size() != 1 || annotation_text(signature.returns[0]) != layer_.result) return false;
    for (size_t i = 0; i < signature.arguments.size(); ++i) {
      if (i > 1 && !signature.arguments[i].default_value && layer_.others != "*") return false;
    }
    if (signature.arguments.size() < 2) return false;
    graph_ = function->graph()->copy();
    try {
      inline_calls(*graph_, file_.unit());
    } catch (const Error&) {
      return false;
    }
    // Functions ask what their arguments decide: whether to write in place, for instance.
    for (int round = 0; round < kMostSimplifying; ++round) {
      const bool has_changed = simplify_nodes(*graph_, file_.unit());
      if (!propagate_constants(*graph_, file_.unit(), evaluate_operator) && !has_changed) break;
    }
    eliminate_dead_code(*graph_);
    bool is_right = true;
    size_t count = 0;
    visit_nodes(*graph_, [&](const Node& node) {
      if (node.is(NodeKind::kCallMethod) || node.is(NodeKind::kCallFunction) || node.is(NodeKind::kFork)) {
        is_right = is_right && layer_.others == "*";
      }
      if (node.is(NodeKind::kSetAttr) && node.name != "num_batches_tracked") is_right = false;
      if (!node.is(NodeKind::kOperator) || !gives_tensor(node.op->schema)) return;
      if (has_word(layer_.operators, node.op->schema.name.name, ' ') && !layer_.operators.empty()) {
        ++count;
        operator_ = &node;
      } else if (!has_word(layer_.others, node.op->schema.name.name, ' ')) {
        is_right = false;
      }
    });
    if (!is_right) return false;
    if (layer_.operators.empty()) return graph_->outputs()[0] == graph_->inputs()[1];
    return (count == 1 || (count > 1 && layer_.others == "*")) && trains_as_it_should();
  }

  // A traced module does as it did when it was traced.
  bool trains_as_it_should() const {
    const IValue* const training = slot("training");
    for (const std::string_view name : {"train", "training"}) {
      const std::optional<size_t> index = operator_->op->schema.find_argument(name);
      if (!index || *index >= operator_->inputs().size()) continue;
      const std::optional<IValue> given = value_of(operator_->input(*index));
      if (!given || !given->is(IValue::Tag::kBool)) continue;
      if (training == nullptr || !training->is(IValue::Tag::kBool)) return false;
      if (training->as_bool() != given->as_bool() && layer_.others != "*") return false;
    }
    return true;
  }

  // Where it is known before anything runs.
  std::optional<IValue> value_of(const Value* value) const {
    const Node& node = *value->node();
    if (node.is(NodeKind::kConstant) && node.name.empty()) return node.constant;
    if (node.is(NodeKind::kGetAttr) && node.input(0) == graph_->inputs()[0]) {
      const IValue* const found = slot(node.name);
      return found == nullptr ? std::nullopt : std::optional(*found);
    }
    if (!node.is(NodeKind::kListConstruct)) return {};
    std::vector<IValue> items;
    for (const Value* item : node.inputs()) {
      std::optional<IValue> known = value_of(item);
      if (!known) return {};
      items.push_back(*std::move(known));
    }
    return IValue::list(value->type().element(), std::move(items));
  }

  std::optional<IValue> constant(std::string_view name) const {
    if (const ClassConstant* found = module_.type->find_constant(name)) return found->value;
    const IValue* const found = slot(name);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }

  std::optional<IValue> given(const LayerArgument& argument) const {
    std::string_view names = argument.from;
    while (!names.empty() && operator_ != nullptr) {
      const std::string_view name = names.substr(0, names.find('|'));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      const std::optional<size_t> index = operator_->op->schema.find_argument(name);
      if (!index || *index >= operator_->inputs().size()) continue;
      if (std::optional<IValue> value = value_of(operator_->input(*index))) return value;
    }
    return constant(argument.name);
  }

  static std::string size_text(const Tensor* from, int64_t number, int64_t times) {
    if (from == nullptr || static_cast<size_t>(number) >= from->dim()) return {};
    int64_t product = 0;
    if (__builtin_mul_overflow(from->sizes()[static_cast<size_t>(number)], times, &product)) return {};
    return std::to_string(product);
  }

  // One number for equal ones.
  std::string sizes_text(const IValue& value) const {
    const bool is_list = value.is(IValue::Tag::kList) || value.is(IValue::Tag::kTuple);
    if (is_list && !value.items().empty()) {
      const std::string first = file_.literal(value.items()[0]);
      const bool are_equal = std::ranges::all_of(
          value.items(), [&](const IValue& item) { return file_.literal(item) == first; });
      if (are_equal) return first;
      return file_.literal(IValue::tuple(value.items()));
    }
    return file_.literal(value);
  }

  // Nothing where it is not known; empty where it is not to be written.
  std::optional<std::string> text_of(const LayerArgument& argument) const {
    switch (argument.source) {
      case LayerSource::kInput:
      case LayerSource::kConstant: {
        const auto value = argument.source == LayerSource::kInput ? given(argument) : constant(argument.name);
        if (value) return file_.literal(*value);
        return argument.usual.empty() ? std::nullopt : std::optional(std::string());
      }
      case LayerSource::kSizes:
      case LayerSource::kStride: {
        const std::optional<IValue> value = given(argument);
        if (!value) return {};
        const bool is_empty = value->is(IValue::Tag::kList) && value->items().empty();
        std::string text = sizes_text(*value);
        if (argument.source == LayerSource::kSizes) return text;
        const std::optional<IValue> kernel = given({"kernel_size", LayerSource::kSizes, "kernel_size"});
        return is_empty || (kernel && sizes_text(*kernel) == text) ? std::string() : text;
      }
      case LayerSource::kSize:
      case LayerSource::kChannels: {
        std::string_view names = argument.from;
        int64_t times = 1;
        if (argument.source == LayerSource::kChannels) {
          const std::optional<IValue> groups = given({"groups", LayerSource::kInput, "groups"});
          if (!groups || !groups->is(IValue::Tag::kInt) || groups->as_int() < 1 ||
              groups->as_int() > kMostGroups) {
            return {};
          }
          times = groups->as_int();
        }
        while (!names.empty()) {
          const std::string_view name = names.substr(0, names.find('|'));
          names.remove_prefix(std::min(names.size(), name.size() + 1));
          if (std::string text = size_text(tensor(name), argument.number, times); !text.empty()) return text;
        }
        const std::optional<IValue> value = constant(argument.name);
        return value ? std::optional(file_.literal(*value)) : std::nullopt;
      }
      case LayerSource::kKernel: {
        const Tensor* const weight = tensor(argument.from);
        if (weight == nullptr || weight->dim() < 3) return {};
        std::vector<IValue> sizes;
        for (size_t i = 2; i < weight->dim(); ++i) sizes.emplace_back(weight->sizes()[i]);
        return sizes_text(IValue::tuple(std::move(sizes)));
      }
      case LayerSource::kHas:
        return tensor(argument.from) != nullptr ? "True" : "False";
      case LayerSource::kHasBeside:
        return tensor("weight") == nullptr        ? std::string()
               : tensor(argument.from) != nullptr ? "True"
                                                  : "False";
      case LayerSource::kInPlace:
        return operator_->op->schema.name.name.ends_with('_') ? "True" : "False";
      case LayerSource::kRequired: {
        const std::optional<size_t> index = operator_->op->schema.find_argument(argument.from);
        if (!index || *index >= operator_->inputs().size()) return std::string();
        const std::optional<IValue> value = value_of(operator_->input(*index));
        return value ? std::optional(file_.literal(*value)) : std::nullopt;
      }
    }
    return {};
  }

  // Where it is not the usual one.
  std::optional<std::string> weight_dtype() const {
    for (size_t i = 0; i < module_.slots.size(); ++i) {
      if (!module_.type->attributes.at(i).is_parameter || !module_.slots[i].is(IValue::Tag::kTensor))
        continue;
      const DType dtype = module_.slots[i].as_tensor().dtype();
      if (dtype == DType::kFloat32) return {};
      return PythonFile::dtype_text(static_cast<int64_t>(dtype));
    }
    return {};
  }

  PythonFile& file_;
  const ObjectBox& module_;
  const LayerFact& layer_;
  std::shared_ptr<ir::Graph> graph_;
  const Node* operator_ = nullptr;
};

// Whether it calls its modules in order, each with what the one before gave.
bool is_a_chain(const Function& forward, const std::vector<std::string>& names) {
  const ir::Graph& graph = *forward.graph();
  if (graph.inputs().size() != 2 || graph.outputs().size() != 1) return false;
  const Value* last = graph.inputs()[1];
  size_t next = 0;
  for (const Node* node = graph.block().first(); node != nullptr; node = node->next()) {
    if (node->is(NodeKind::kGetAttr) || node->is(NodeKind::kConstant)) continue;
    if (!node->is(NodeKind::kCallMethod) || node->name != "forward" || next == names.size()) return false;
    const Node& module = *node->input(0)->node();
    if (!module.is(NodeKind::kGetAttr) || module.name != names[next++] ||
        module.input(0) != graph.inputs()[0] || node->inputs().size() != 2 || node->input(1) != last) {
      return false;
    }
    last = node->output();
  }
  return next == names.size() && graph.outputs()[0] == last;
}

}  // namespace

bool is_of_every_module(const Attribute& attribute) {
  return attribute.name == "training" || attribute.name == "_is_full_backward_hook";
}

bool has_methods_of_its_own(const Class& type) {
  return std::ranges::any_of(type.methods, [](const std::shared_ptr<Function>& method) {
    const std::string_view name = method->name();
    return !name.starts_with('_') && name != "forward" && name != "extra_repr" &&
           !name.starts_with("forward__");
  });
}

std::optional<std::string> layer_text(PythonFile& file, const ObjectBox& module) {
  const LayerFact* const layer = find_layer(unmangled(module.type->qualified_name()));
  if (layer == nullptr || file.has_other_calls(module.type->qualified_name())) return {};
  return LayerReader(file, module, *layer).run();
}

PythonContainer container_of(const ObjectBox& module) {
  constexpr std::pair<std::string_view, PythonContainer> kContainers[] = {
      {"torch.nn.modules.container.Sequential", PythonContainer::kSequential},
      {"torch.nn.modules.container.ModuleList", PythonContainer::kModuleList},
      {"torch.nn.modules.container.ModuleDict", PythonContainer::kModuleDict},
  };
  const std::string name = unmangled(module.type->qualified_name());
  const auto* const found =
      std::ranges::find(kContainers, name, &std::pair<std::string_view, PythonContainer>::first);
  if (found == std::end(kContainers) || !module.type->forward_hooks.empty() ||
      !module.type->forward_pre_hooks.empty()) {
    return PythonContainer::kNone;
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < module.slots.size(); ++i) {
    const Attribute& attribute = module.type->attributes.at(i);
    if (is_of_every_module(attribute)) continue;
    const IValue& value = module.slots[i];
    if (!value.is(IValue::Tag::kObject) || !value.as_object().type->is_module())
      return PythonContainer::kNone;
    const bool is_next = attribute.name == std::to_string(names.size());
    if (found->second != PythonContainer::kModuleDict && !is_next) return PythonContainer::kNone;
    names.push_back(attribute.name);
  }
  const std::shared_ptr<Function>* const forward = module.type->find_method("forward");
  for (const std::shared_ptr<Function>& method : module.type->methods) {
    const bool is_known = method->name() == "__len__" || method->name() == "__contains__";
    if (!is_known && !(found->second == PythonContainer::kSequential && method->name() == "forward")) {
      return PythonContainer::kNone;
    }
  }
  if (forward != nullptr && !is_a_chain(**forward, names)) return PythonContainer::kNone;
  return found->second;
}

}  // namespace flambeau::script
