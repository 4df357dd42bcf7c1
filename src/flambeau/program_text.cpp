#include "flambeau/program_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::InputKind;
using graph::OutputKind;

// What texts mean something else by, or cannot use.
const std::unordered_set<std::string_view>& reserved_names() {
  static const std::unordered_set<std::string_view> names = {
      "False",      "None",          "True",     "and",
      "as",         "assert",        "async",    "await",
      "break",      "class",         "continue", "def",
      "del",        "elif",          "else",     "except",
      "finally",    "for",           "from",     "global",
      "if",         "import",        "in",       "is",
      "lambda",     "nonlocal",      "not",      "or",
      "pass",       "raise",         "return",   "try",
      "while",      "with",          "yield",    "self",
      "torch",      "ops",           "math",     "int",
      "float",      "bool",          "str",      "complex",
      "len",        "max",           "min",      "abs",
      "sum",        "range",         "round",    "pow",
      "list",       "dict",          "tuple",    "print",
      "any",        "all",           "sorted",   "zip",
      "enumerate",  "getattr",       "hasattr",  "isinstance",
      "annotate",   "uninitialized", "Tensor",   "List",
      "Dict",       "Tuple",         "Optional", "Any",
      "NamedTuple", "inf",           "nan",      "infj",
      "nanj",       "device",        "divmod",   "ord",
      "chr",        "bin",           "hex",      "oct",
      "hash",       "type",          "id",       "unchecked_cast",
      "fork",       "CONSTANTS",     "map",      "filter",
      "reversed",   "super",         "Final",    "Future",
      "number",     "Number",        "Device",   "Stream",
      "Generator"};
  return names;
}

}  // namespace

std::string float_literal(double number) {
  if (std::isnan(number)) return "float('nan')";
  if (std::isinf(number)) return number > 0 ? "float('inf')" : "float('-inf')";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string list_literal(const std::vector<std::string>& items, std::string_view element) {
  const std::string list = fmt::format("[{}]", fmt::join(items, ", "));
  const bool is_plain = !items.empty() && element != "Optional[Tensor]" && element != "Any";
  return is_plain ? list : fmt::format("torch.jit.annotate(List[{}], {})", element, list);
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  const bool is_word = std::ranges::all_of(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  return is_word && !reserved_names().contains(name);
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\{:03o}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

ProgramText::ProgramText(const graph::ExportedProgram& program,
                         std::unordered_map<std::string, std::string> attributes)
    : program_(program), attributes_(std::move(attributes)), interface_(graph::interface_of(program)) {
  for (const graph::InputSpec& spec : program.signature.inputs) {
    if (spec.kind == InputKind::kUserInput || spec.kind == InputKind::kConstantInput)
      user_inputs_.push_back(&spec);
  }
  for (const graph::OutputSpec& spec : program.signature.outputs) {
    if (spec.kind == OutputKind::kUserOutput || spec.kind == OutputKind::kLossOutput)
      user_outputs_.push_back(&spec);
  }
}

void ProgramText::line(const std::string& text) {
  body_.append(static_cast<size_t>(depth_) * 2, ' ');
  body_ += text;
  body_ += '\n';
}

std::string ProgramText::fresh(std::string_view base) {
  std::string name(base);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
  }
  if (!is_plain_name(name) || name.starts_with("__")) name.insert(0, "v_");
  std::string unique = name;
  for (int number = 1; !taken_.insert(unique).second; ++number) unique = fmt::format("{}_{}", name, number);
  return unique;
}

std::string ProgramText::name_of(const graph::Value& value) {
  const auto found = names_.find(&value);
  if (found != names_.end()) return found->second;
  return names_.emplace(&value, fresh(value.name())).first->second;
}

template <typename Number>
std::string ProgramText::number_text(const graph::SymArgument<Number>& number) {
  if (number.ref) return name_of(*number.ref);
  if constexpr (std::is_same_v<Number, bool>) {
    return number.literal ? "True" : "False";
  } else if constexpr (std::is_same_v<Number, double>) {
    return float_literal(number.literal);
  } else {
    return fmt::format("{}", number.literal);
  }
}

std::string ProgramText::text_of(const Argument& argument) {
  std::vector<std::string> items;
  const auto refs = [&](const auto& list, std::string_view element) {
    for (const graph::ValueRef& ref : list) items.push_back(ref ? name_of(*ref) : "None");
    return list_literal(items, element);
  };
  const auto numbers = [&](const auto& list, std::string_view element) {
    for (const auto& number : list) items.push_back(number_text(number));
    return list_literal(items, element);
  };
  switch (argument.kind()) {
    case ArgumentKind::kNone:
      return "None";
    case ArgumentKind::kTensor:
    case ArgumentKind::kOptionalTensor:
      return argument.value() == nullptr ? "None" : name_of(*argument.value());
    case ArgumentKind::kTensors:
      return refs(argument.get<ArgumentKind::kTensors>(), "Tensor");
    case ArgumentKind::kOptionalTensors:
      return refs(argument.get<ArgumentKind::kOptionalTensors>(), "Optional[Tensor]");
    case ArgumentKind::kInt:
      return fmt::format("{}", argument.get<ArgumentKind::kInt>());
    case ArgumentKind::kInts:
      for (const int64_t number : argument.get<ArgumentKind::kInts>())
        items.push_back(fmt::format("{}", number));
      return list_literal(items, "int");
    case ArgumentKind::kFloat:
      return float_literal(argument.get<ArgumentKind::kFloat>());
    case ArgumentKind::kFloats:
      for (const double number : argument.get<ArgumentKind::kFloats>())
        items.push_back(float_literal(number));
      return list_literal(items, "float");
    case ArgumentKind::kString:
      return quoted_text(argument.get<ArgumentKind::kString>());
    case ArgumentKind::kStrings:
      for (const std::string& text : argument.get<ArgumentKind::kStrings>())
        items.push_back(quoted_text(text));
      return list_literal(items, "str");
    case ArgumentKind::kBool:
      return argument.get<ArgumentKind::kBool>() ? "True" : "False";
    case ArgumentKind::kBools:
      for (const uint8_t flag : argument.get<ArgumentKind::kBools>())
        items.emplace_back(flag != 0 ? "True" : "False");
      return list_literal(items, "bool");
    case ArgumentKind::kSymInt:
      return number_text(argument.get<ArgumentKind::kSymInt>());
    case ArgumentKind::kSymInts:
      return numbers(argument.get<ArgumentKind::kSymInts>(), "int");
    case ArgumentKind::kSymFloat:
      return number_text(argument.get<ArgumentKind::kSymFloat>());
    case ArgumentKind::kSymFloats:
      return numbers(argument.get<ArgumentKind::kSymFloats>(), "float");
    case ArgumentKind::kSymBool:
      return number_text(argument.get<ArgumentKind::kSymBool>());
    case ArgumentKind::kSymBools:
      return numbers(argument.get<ArgumentKind::kSymBools>(), "bool");
    case ArgumentKind::kScalarType:
      return fmt::format("{}", static_cast<int64_t>(argument.get<ArgumentKind::kScalarType>()));
    case ArgumentKind::kMemoryFormat:
      return fmt::format("{}", static_cast<int64_t>(argument.get<ArgumentKind::kMemoryFormat>()));
    case ArgumentKind::kLayout:
      return fmt::format("{}", static_cast<int64_t>(argument.get<ArgumentKind::kLayout>()));
    case ArgumentKind::kDevice:
      return fmt::format("torch.device({})", quoted_text(argument.get<ArgumentKind::kDevice>().to_string()));
    case ArgumentKind::kComplex: {
      const std::complex<double> number = argument.get<ArgumentKind::kComplex>();
      return fmt::format("complex({}, {})", float_literal(number.real()), float_literal(number.imag()));
    }
    default:
      throw Error(ErrorCode::kUnsupported, fmt::format("TorchScript has no argument of the kind {}",
                                                       graph::argument_kind_key(argument.kind())));
  }
}

std::string ProgramText::method() {
  add_inputs();
  add_nodes(program_.graph());
  add_outputs();
  return fmt::format("def forward({}:\n{}", head_, body_);
}

}  // namespace flambeau
