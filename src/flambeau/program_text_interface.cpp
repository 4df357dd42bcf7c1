// What a program takes and gives, as the arguments and the result of a method.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/program_text.h"

namespace flambeau {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::InputKind;
using graph::OutputKind;

std::string joined_text(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string class_text(std::string_view type_name) {
  const std::string_view last = type_name.substr(type_name.rfind('.') + 1);
  return is_plain_name(last) ? std::string(last) : "Result";
}

bool is_dict_kind(TreeKind kind) {
  return kind == TreeKind::kDict || kind == TreeKind::kOrderedDict || kind == TreeKind::kDefaultDict ||
         kind == TreeKind::kImmutableDict;
}
bool is_list_kind(TreeKind kind) {
  return kind == TreeKind::kList || kind == TreeKind::kImmutableList || kind == TreeKind::kDeque;
}

bool is_uniform(const std::vector<std::string>& types) {
  return std::ranges::all_of(types, [&](const std::string& type) { return type == types[0]; });
}

std::string key_text(const json::Value& key) {
  if (key.is_string()) return quoted_text(key.as_string());
  if (key.is_integer()) return fmt::format("{}", key.as_int());
  throw Error(ErrorCode::kUnsupported, "a dict has keys that are no texts and no ints",
              "export the program with dicts of texts");
}

}  // namespace

std::string_view leaf_type(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kTensor:
      return "Tensor";
    case ArgumentKind::kSymInt:
    case ArgumentKind::kInt:
      return "int";
    case ArgumentKind::kSymFloat:
    case ArgumentKind::kFloat:
      return "float";
    case ArgumentKind::kSymBool:
    case ArgumentKind::kBool:
      return "bool";
    case ArgumentKind::kString:
      return "str";
    default:
      return {};
  }
}

// ---- inputs

void ProgramText::leaf_input(size_t leaf, const std::string& reached) {
  if (leaf >= user_inputs_.size())
    throw Error(ErrorCode::kCorrupt, "the program's call takes more inputs than its signature has");
  const graph::InputSpec& spec = *user_inputs_[leaf];
  const auto check = [&](const std::string& value) {
    line(fmt::format("assert {} == {}, {}", reached, value,
                     quoted_text(fmt::format("the program was made for {} = {}", reached, value))));
  };
  if (spec.kind == InputKind::kConstantInput) {
    if (const auto* const flag = std::get_if<bool>(&spec.value)) return check(*flag ? "True" : "False");
    if (const auto* const whole = std::get_if<int64_t>(&spec.value)) return check(fmt::format("{}", *whole));
    if (const auto* const real = std::get_if<double>(&spec.value)) {
      if (!std::isnan(*real)) return check(float_literal(*real));
      line(fmt::format("assert math.isnan({0}), {1}", reached, quoted_text("the program was made for NaN")));
      return;
    }
    if (const auto* const text = std::get_if<std::string>(&spec.value)) return check(quoted_text(*text));
    line(fmt::format("assert {} is None, {}", reached,
                     quoted_text(fmt::format("the program was made for {} = None", reached))));
    return;
  }
  if (const graph::Value* const value = spec.argument.value()) names_[value] = reached;
  if (!spec.argument.is(ArgumentKind::kNone) && leaf_type(spec.argument.kind()).empty()) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("the input {} is no tensor, number or text, and those alone can be given", reached));
  }
}

std::string ProgramText::type_of_input(const TreeSpec& spec, size_t& leaf) const {
  if (spec.is_leaf()) {
    if (leaf >= user_inputs_.size()) return "Tensor";
    const graph::InputSpec& input = *user_inputs_[leaf++];
    if (input.kind == InputKind::kConstantInput) {
      constexpr const char* kTypes[] = {"Optional[Tensor]", "int", "float", "str", "bool"};
      return kTypes[input.value.index()];
    }
    const std::string type(leaf_type(input.argument.kind()));
    return type.empty() ? "Optional[Tensor]" : type;
  }
  std::vector<std::string> types;
  for (const TreeSpec& child : spec.children()) types.push_back(type_of_input(child, leaf));
  const bool is_dict = is_dict_kind(spec.kind());
  if (!is_dict && !is_list_kind(spec.kind()))
    return types.empty() ? "Tuple[()]" : fmt::format("Tuple[{}]", joined_text(types));
  const std::string element = types.empty() ? "Tensor" : is_uniform(types) ? types[0] : "Any";
  if (!is_dict) return fmt::format("List[{}]", element);
  const bool has_text_keys =
      std::ranges::all_of(spec.keys(), [](const json::Value& key) { return key.is_string(); });
  return fmt::format("Dict[{}, {}]", has_text_keys ? "str" : "int", element);
}

void ProgramText::reach_input(const TreeSpec& spec, std::string reached, size_t& leaf, bool is_any) {
  if (spec.kind() == TreeKind::kOther) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the input {} is of the class {}, which TorchScript does not have", reached,
                            printable(spec.type_name())),
                "export the program with tuples, lists and dicts");
  }
  if (is_any || (spec.is_leaf() && reached.find('[') != std::string::npos)) {
    const std::string name = fresh("given");
    line(fmt::format("{} = {}", name, reached));
    reached = name;
  }
  size_t ahead = leaf;
  const std::string type = type_of_input(spec, ahead);
  if (is_any && type != "Optional[Tensor]")
    line(fmt::format("assert torch.jit.isinstance({}, {})", reached, type));
  if (spec.is_leaf()) return leaf_input(leaf++, reached);
  const bool holds_any = type.ends_with(", Any]") || type == "List[Any]";
  const bool is_dict = is_dict_kind(spec.kind());
  for (size_t i = 0; i < spec.children().size(); ++i) {
    const std::string place = is_dict ? key_text(spec.keys()[i]) : fmt::format("{}", i);
    reach_input(spec.children()[i], fmt::format("{}[{}]", reached, place), leaf, holds_any);
  }
}

void ProgramText::add_inputs() {
  for (const graph::InputSpec& spec : program_.signature.inputs) {
    switch (spec.kind) {
      case InputKind::kParameter:
      case InputKind::kBuffer:
      case InputKind::kTensorConstant: {
        const graph::Value* const value = spec.argument.value();
        const auto found = attributes_.find(spec.target);
        if (found == attributes_.end()) {
          throw Error(ErrorCode::kCorrupt,
                      fmt::format("the program has no weight '{}'", printable(spec.target)));
        }
        if (value != nullptr && value->has_uses())
          line(fmt::format("{} = {}", name_of(*value), found->second));
        break;
      }
      case InputKind::kUserInput:
      case InputKind::kConstantInput:
        break;
      default:
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("the program takes an input of the kind {}, which TorchScript does not have",
                                graph::input_kind_key(spec.kind)));
    }
  }
  const TreeSpec& spec = interface_.in_spec;
  const bool is_call = spec.kind() == TreeKind::kTuple && spec.children().size() == 2 &&
                       spec.child(0).kind() == TreeKind::kTuple && is_dict_kind(spec.child(1).kind());
  size_t leaf = 0;
  std::vector<std::string> arguments = {"self"};
  const auto add = [&](const TreeSpec& its_spec, const std::string& wanted) {
    const std::string name = fresh(wanted);
    size_t ahead = leaf;
    arguments.push_back(fmt::format("{}: {}", name, type_of_input(its_spec, ahead)));
    reach_input(its_spec, name, leaf, false);
  };
  if (is_call) {
    const TreeSpec& positional = spec.child(0);
    for (size_t i = 0; i < positional.children().size(); ++i) {
      add(positional.children()[i],
          i < interface_.argument_names.size() ? interface_.argument_names[i] : fmt::format("args_{}", i));
    }
    const TreeSpec& named = spec.child(1);
    for (size_t i = 0; i < named.children().size(); ++i)
      add(named.children()[i],
          named.keys()[i].is_string() ? named.keys()[i].as_string() : fmt::format("kwargs_{}", i));
  } else {
    for (size_t i = 0; i < user_inputs_.size(); ++i) {
      const graph::Value* const value = user_inputs_[i]->argument.value();
      add(TreeSpec(), value == nullptr ? fmt::format("args_{}", i) : value->name());
    }
  }
  // What need not be given: None, at the end.
  for (size_t i = arguments.size(); i-- > 1 && arguments[i].ends_with(": Optional[Tensor]");)
    arguments[i] += "=None";
  head_ = joined_text(arguments);
}

// ---- outputs

std::string ProgramText::output_text(const TreeSpec& spec, size_t& leaf, std::string& type) {
  if (spec.is_leaf()) {
    if (leaf >= user_outputs_.size())
      throw Error(ErrorCode::kCorrupt, "the program's call gives more outputs than its signature has");
    const Argument& argument = user_outputs_[leaf++]->argument;
    type = argument.is(ArgumentKind::kNone) ? "NoneType" : leaf_type(argument.kind());
    if (type.empty()) type = "Tensor";
    return text_of(argument);
  }
  std::vector<std::string> items;
  std::vector<std::string> types;
  for (const TreeSpec& child : spec.children()) {
    items.push_back(output_text(child, leaf, type));
    types.push_back(type);
  }
  const std::string element = types.empty() ? "Tensor" : is_uniform(types) ? types[0] : "Any";
  const bool is_dict = is_dict_kind(spec.kind());
  if (is_dict) {
    std::vector<std::string> entries;
    bool has_text_keys = true;
    for (size_t i = 0; i < items.size(); ++i) {
      has_text_keys = has_text_keys && spec.keys()[i].is_string();
      entries.push_back(fmt::format("{}: {}", key_text(spec.keys()[i]), items[i]));
    }
    type = fmt::format("Dict[{}, {}]", has_text_keys ? "str" : "int", element);
    return fmt::format("torch.jit.annotate({}, {{{}}})", type, joined_text(entries));
  }
  if (is_list_kind(spec.kind())) {
    type = fmt::format("List[{}]", element);
    return list_literal(items, element);
  }
  if (spec.kind() == TreeKind::kOther) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the program gives an object of {}, which TorchScript does not have",
                            printable(spec.type_name())),
                "export the program so that it gives tuples, lists and dicts");
  }
  if (spec.kind() == TreeKind::kNamedTuple) {
    const auto known = std::ranges::find(program_.named_tuples, spec.type_name(),
                                         &graph::ExportedProgram::NamedTupleDef::name);
    if (known != program_.named_tuples.end() && known->fields.size() == items.size() &&
        std::ranges::all_of(known->fields, is_plain_name)) {
      type = fresh(class_text(spec.type_name()));
      classes_ += fmt::format("class {}(NamedTuple):\n", type);
      for (size_t i = 0; i < items.size(); ++i)
        classes_ += fmt::format("  {}: {}\n", known->fields[i], types[i]);
      return fmt::format("{}({})", type, joined_text(items));
    }
  }
  type = types.empty() ? "Tuple[()]" : fmt::format("Tuple[{}]", joined_text(types));
  return items.size() == 1 ? fmt::format("({},)", items[0]) : fmt::format("({})", joined_text(items));
}

void ProgramText::add_outputs() {
  for (const graph::OutputSpec& spec : program_.signature.outputs) {
    switch (spec.kind) {
      case OutputKind::kUserOutput:
      case OutputKind::kLossOutput:
        break;
      case OutputKind::kBufferMutation:
      case OutputKind::kParameterMutation:
        line(fmt::format("{}.copy_({})", attributes_.at(spec.target), text_of(spec.argument)));
        break;
      case OutputKind::kUserInputMutation:
        if (!spec.input) throw Error(ErrorCode::kCorrupt, "a mutation names no input");
        line(fmt::format("{}.copy_({})", name_of(*spec.input), text_of(spec.argument)));
        break;
      default:
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("the program gives an output of the kind {}, which TorchScript does not have",
                                graph::output_kind_key(spec.kind)));
    }
  }
  size_t leaf = 0;
  std::string type;
  const std::string value = output_text(interface_.out_spec, leaf, type);
  line(fmt::format("return {}", value));
  head_ += fmt::format(") -> {}", type);
}

}  // namespace flambeau
