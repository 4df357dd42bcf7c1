// What a program takes and gives, as the arguments and the result of a method.
#include <fmt/format.h>

#include <algorithm>

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

// The type of a leaf by how the program says it; empty for what is none.
std::string leaf_type(ArgumentKind kind) {
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

}  // namespace

// ---- inputs

std::string ProgramText::leaf_input(size_t leaf, const std::string& reached) {
  if (leaf >= user_inputs_.size())
    throw Error(ErrorCode::kCorrupt, "the program's call takes more inputs than its signature has");
  const graph::InputSpec& spec = *user_inputs_[leaf];
  const auto check = [&](const std::string& value, std::string type) {
    line(fmt::format("assert {} == {}, {}", reached, value,
                     quoted_text(fmt::format("the program was made for {} = {}", reached, value))));
    return type;
  };
  if (spec.kind == InputKind::kConstantInput) {
    if (const auto* const flag = std::get_if<bool>(&spec.value))
      return check(*flag ? "True" : "False", "bool");
    if (const auto* const whole = std::get_if<int64_t>(&spec.value))
      return check(fmt::format("{}", *whole), "int");
    if (const auto* const real = std::get_if<double>(&spec.value))
      return check(float_literal(*real), "float");
    if (const auto* const text = std::get_if<std::string>(&spec.value))
      return check(quoted_text(*text), "str");
    line(fmt::format("assert {} is None, {}", reached,
                     quoted_text(fmt::format("the program was made for {} = None", reached))));
    return "Optional[Tensor]";
  }
  if (const graph::Value* const value = spec.argument.value()) names_[value] = reached;
  if (spec.argument.is(ArgumentKind::kNone)) return "Optional[Tensor]";
  std::string type = leaf_type(spec.argument.kind());
  if (type.empty()) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("the input {} is no tensor, number or text, and those alone can be given", reached));
  }
  return type;
}

std::string ProgramText::input_type(const TreeSpec& spec, const std::string& reached, size_t& leaf) {
  if (spec.is_leaf()) {
    const size_t at = leaf++;
    if (reached.find('[') == std::string::npos) return leaf_input(at, reached);
    const std::string name = fresh("given");
    line(fmt::format("{} = {}", name, reached));
    return leaf_input(at, name);
  }
  if (spec.kind() == TreeKind::kOther) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the input {} is of the class {}, which TorchScript does not have", reached,
                            printable(spec.type_name())),
                "export the program with tuples, lists and dicts");
  }
  const bool is_dict = is_dict_kind(spec.kind());
  std::vector<std::string> types;
  bool has_text_keys = true;
  for (size_t i = 0; i < spec.children().size(); ++i) {
    has_text_keys = has_text_keys && (!is_dict || spec.keys()[i].is_string());
    const std::string place = is_dict ? key_text(spec.keys()[i]) : fmt::format("{}", i);
    types.push_back(input_type(spec.children()[i], fmt::format("{}[{}]", reached, place), leaf));
  }
  if (!is_dict && !is_list_kind(spec.kind()))
    return types.empty() ? "Tuple[()]" : fmt::format("Tuple[{}]", joined_text(types));
  if (!is_uniform(types)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the input {} holds things of several types, which TorchScript's lists and dicts "
                            "cannot",
                            reached),
                "export the program with tuples");
  }
  const std::string element = types.empty() ? "Tensor" : types[0];
  return is_dict ? fmt::format("Dict[{}, {}]", has_text_keys ? "str" : "int", element)
                 : fmt::format("List[{}]", element);
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
    const std::string type = input_type(its_spec, name, leaf);
    arguments.push_back(fmt::format("{}: {}", name, type));
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
  const std::string element = types.empty() ? "Tensor" : types[0];
  const bool is_dict = is_dict_kind(spec.kind());
  if ((is_dict || is_list_kind(spec.kind())) && !is_uniform(types)) {
    throw Error(ErrorCode::kUnsupported,
                "the program gives a list or dict of things of several types, which TorchScript cannot",
                "export the program so that it gives a tuple");
  }
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
