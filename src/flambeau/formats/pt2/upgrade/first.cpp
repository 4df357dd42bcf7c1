// Major 1, what PyTorch 2.1 wrote: as the number stayed while the shape changed, each thing is converted
// where it is found.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/pt2/upgrade/steps.h"
#include "flambeau/formats/pt2/upgrade/walk.h"

namespace flambeau::pt2 {
namespace {

// "key:(path,type);..." as "key,path,type;..."; nothing when it is neither.
std::optional<std::string> module_stack(std::string_view text) {
  std::string result;
  while (true) {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view item = text.substr(0, end);
    const size_t open = item.find(":(");
    if (open == std::string_view::npos || !item.ends_with(')')) return std::nullopt;
    const std::string_view inside = item.substr(open + 2, item.size() - open - 3);
    const size_t comma = inside.find(',');
    if (comma == std::string_view::npos || inside.find(',', comma + 1) != std::string_view::npos)
      return std::nullopt;
    result += fmt::format("{},{}", item.substr(0, open), inside);
    if (end == text.size()) return result;
    result += ';';
    text.remove_prefix(end + 1);
  }
}

void metadata(UpgradeContext& context, json::Value& node) {
  json::Value& metadata = require_member(node, "metadata");
  if (json::Value* stack = find_member(metadata, "nn_module_stack")) {
    if (stack->as_string().find(":(") != std::string::npos) {
      // It is for people: better none than one that PyTorch stumbles over.
      std::optional<std::string> now = module_stack(stack->as_string());
      if (now) {
        *stack = std::move(*now);
      } else {
        remove_member(metadata, "nn_module_stack");
      }
      context.note(1, "stacks of modules rewritten as lists");
    }
  }
  for (auto& [name, text] : edit_object(metadata)) {
    if (name == "source_fn") name = "source_fn_stack";
  }
}

bool is_empty(const json::Value* value) {
  if (value == nullptr || value->is_null()) return true;
  return value->is_array() ? value->as_array().empty() : value->as_object().empty();
}

std::vector<uint8_t> decode_base64(std::string_view text) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int8_t, 256> digits;
  digits.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    digits[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  if ((text.size() + padding) % 4 != 0) throw Error(ErrorCode::kCorrupt, "the base64 text is cut short");
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int8_t digit = digits[static_cast<uint8_t>(c)];
    if (digit < 0) throw Error(ErrorCode::kCorrupt, "the text is not base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<uint8_t>(bits >> count & 0xff));
  }
  return bytes;
}

Tensor embedded_tensor(const json::Value& text) {
  const Checkpoint file =
      CheckpointBuilder::from_torch_save(Mapping::from_buffer(decode_base64(text.as_string())));
  if (file.tensors().size() != 1) {
    throw Error(ErrorCode::kCorrupt, fmt::format("expected one tensor, found {}", file.tensors().size()));
  }
  return file.tensors()[0].tensor;
}

int scalar_type(DType dtype) {
  if (dtype == DType::kBFloat16) return 13;
  // Up to bool the two lists are the same, but for UNKNOWN, which comes first here.
  if (dtype <= DType::kBool) return static_cast<int>(dtype) + 1;
  throw Error(ErrorCode::kUnsupported, fmt::format("schema 1 has no tensors of {}", dtype_name(dtype)));
}

json::Value sym_int(int64_t number) {
  json::Object one;
  one.emplace_back("as_int", number);
  return one;
}

json::Value describe_tensor(const Tensor& tensor) {
  if (tensor.layout() != Layout::kStrided) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a constant of layout {}", layout_name(tensor.layout())));
  }
  json::Array sizes;
  json::Array strides;
  for (const int64_t size : tensor.sizes()) sizes.push_back(sym_int(size));
  for (const int64_t stride : tensor.strides()) strides.push_back(sym_int(stride));
  json::Value device;
  device.set("type", "cpu");
  device.set("index", nullptr);
  json::Value meta;
  meta.set("dtype", scalar_type(tensor.dtype()));
  meta.set("sizes", std::move(sizes));
  meta.set("requires_grad", tensor.requires_grad());
  meta.set("device", std::move(device));
  meta.set("strides", std::move(strides));
  meta.set("storage_offset", sym_int(0));
  meta.set("layout", 7);  // strided
  return meta;
}

}  // namespace

void leave_major_1(UpgradeContext& context, const SchemaType& type, json::Value& value) {
  if (type.name == "ExportedProgram") {
    const json::Value equalities = remove_member(value, "equality_constraints");
    if (!is_empty(&equalities))
      context.note(1, "equality constraints dropped: equal sizes share their symbol");
    remove_member(value, "example_inputs");
    if (find_member(value, "dialect") == nullptr) value.set("dialect", "ATEN");
  } else if (type.name == "GraphArgument") {
    json::Value& graph = require_member(value, "graph");
    if (!is_empty(find_member(graph, "constants"))) {
      throw Error(ErrorCode::kUnsupported, "a graph inside the graph holds constants of its own",
                  "save the program again with PyTorch 2.2 or newer");
    }
    remove_member(graph, "constants");
  } else if (type.name == "Graph") {
    for (auto& [name, tensor] : edit_object(require_member(value, "tensor_values"))) {
      if (tensor.find("meta") == nullptr) continue;
      tensor = remove_member(tensor, "meta");
      context.note(1, "tensor values rewritten as plain metas");
    }
  } else if (type.name == "SymExpr") {
    json::Value* hint = find_member(value, "hint");
    if (hint == nullptr || !hint->is_integer()) return;
    *hint = sym_int(hint->as_int());
    context.note(1, "hints of symbolic sizes rewritten as unions");
  } else if (type.name == "SymBool") {
    auto& [name, text] = edit_object(value)[0];
    if (name != "as_expr" || !text.is_string()) return;
    json::Value expression;
    expression.set("expr_str", std::move(text));
    text = std::move(expression);
  } else if (type.name == "Node") {
    metadata(context, value);
  }
}

void lift_constants(UpgradeContext& context, json::Value& graph, json::Value& signature) {
  json::Value constants = remove_member(graph, "constants");
  if (is_empty(&constants)) return;
  json::Array& inputs = edit_array(require_member(graph, "inputs"));
  json::Array& specs = edit_array(require_member(signature, "input_specs"));
  if (inputs.size() != specs.size()) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("the graph has {} inputs and the signature {}", inputs.size(), specs.size()));
  }
  json::Value& metas = require_member(graph, "tensor_values");
  std::unordered_set<std::string> known;
  for (const auto& [name, meta] : metas.as_object()) known.insert(name);

  json::Array new_inputs;
  json::Array new_specs;
  for (auto& [name, text] : edit_object(constants)) {
    with_location("constant", name, [&] {
      if (known.contains(name)) throw Error(ErrorCode::kCorrupt, "the graph computes a tensor of that name");
      Tensor tensor = embedded_tensor(text);
      metas.set(name, describe_tensor(tensor));
      json::Value argument;
      argument.set("name", name);
      json::Value spec;
      spec.set("arg", argument);
      spec.set("tensor_constant_name", name);
      new_specs.emplace_back().set("tensor_constant", std::move(spec));
      new_inputs.emplace_back().set("as_tensor", std::move(argument));
      context.constants.emplace_back(name, std::move(tensor));
    });
  }
  const auto first_user =
      std::ranges::find_if(specs, [](const json::Value& spec) { return spec.find("user_input"); });
  const auto at = first_user - specs.begin();
  specs.insert(first_user, std::move_iterator(new_specs.begin()), std::move_iterator(new_specs.end()));
  inputs.insert(inputs.begin() + at, std::move_iterator(new_inputs.begin()),
                std::move_iterator(new_inputs.end()));
  context.note(1, "constants inside the graph made inputs of it");
}

}  // namespace flambeau::pt2
