#include "flambeau/runtime/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/text/parse.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::runtime {
namespace {

using graph::ArgumentKind;

// Nothing where no value could ever come of it.
std::optional<symbolic::Expr> try_parse(const std::string& text) {
  try {
    symbolic::Expr expr = symbolic::parse(text);
    return symbolic::has_unknown_functions(expr) ? std::nullopt : std::optional(std::move(expr));
  } catch (const Error&) {
    return {};
  }
}

// A constant that stands for an input; nothing where the argument is a value of the graph.
std::optional<Value> constant_of(const graph::Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::kNone:
      return Value();
    case ArgumentKind::kInt:
      return Value(argument.get<ArgumentKind::kInt>());
    case ArgumentKind::kFloat:
      return Value(argument.get<ArgumentKind::kFloat>());
    case ArgumentKind::kBool:
      return Value(argument.get<ArgumentKind::kBool>());
    case ArgumentKind::kString:
      return Value(argument.get<ArgumentKind::kString>());
    case ArgumentKind::kComplex:
      return Value(argument.get<ArgumentKind::kComplex>());
    default:
      return {};
  }
}

std::string_view kind_of_constant(const Value& value) { return value.is_none() ? "None" : value.kind_name(); }

std::string_view kind_of_value(const graph::Value& value) {
  switch (value.kind()) {
    case graph::ValueKind::kSymInt:
      return "int";
    case graph::ValueKind::kSymFloat:
      return "float";
    case graph::ValueKind::kSymBool:
      return "bool";
    case graph::ValueKind::kCustomObj:
      return "object";
    default:
      return "tensor";
  }
}

std::string size_text(const graph::SymInt& size) {
  if (size.is_literal()) return fmt::format("{}", size.literal());
  const std::optional<symbolic::Expr> expr = try_parse(size.expr().text);
  return expr ? symbolic::to_string(*expr) : size.expr().text;
}

std::string range_text(const std::string& symbol, std::optional<int64_t> min, std::optional<int64_t> max) {
  std::string text;
  if (min) text += fmt::format("{} <= ", *min);
  text += symbol;
  if (max) text += fmt::format(" <= {}", *max);
  return text;
}

Leaf describe(const graph::Argument& argument, std::string path) {
  Leaf leaf;
  leaf.path = std::move(path);
  if (const std::optional<Value> constant = constant_of(argument)) {
    leaf.kind = kind_of_constant(*constant);
    leaf.constant = *constant;
    return leaf;
  }
  const graph::Value* const value = argument.value();
  if (value == nullptr) return leaf;
  leaf.name = value->name();
  leaf.kind = kind_of_value(*value);
  if (const graph::TensorMeta* const meta = value->tensor()) {
    leaf.dtype = meta->dtype;
    for (const graph::SymInt& size : meta->sizes) leaf.sizes.push_back(size_text(size));
  }
  return leaf;
}

const graph::ModuleCallSignature* root_signature(const graph::ExportedProgram& program) {
  for (const graph::ModuleCallEntry& entry : program.module_call_graph) {
    if (entry.fqn.empty() && entry.signature) return &*entry.signature;
  }
  return nullptr;
}

// "args[1]['k']" as guards name it: "L['y']['k']".
std::string local_name(const std::string& path, const std::vector<std::string>& argument_names) {
  if (path.starts_with("kwargs")) return "L" + path.substr(6);
  if (!path.starts_with("args[")) return path;
  const size_t end = path.find(']');
  const size_t index = std::stoul(path.substr(5, end - 5));
  if (index >= argument_names.size()) return fmt::format("L['flat_args'][{}]{}", index, path.substr(end + 1));
  return fmt::format("L['{}']{}", argument_names[index], path.substr(end + 1));
}

// The same for an argument of *inputs, which is called inputs_1 and which guards name "L['inputs'][1]";
// nothing for other names.
std::optional<std::string> variadic_name(const std::string& name) {
  const size_t end = name.find("']");
  if (!name.starts_with("L['") || end == std::string::npos) return {};
  const size_t underscore = name.rfind('_', end);
  const std::string digits =
      underscore == std::string::npos ? "" : name.substr(underscore + 1, end - underscore - 1);
  if (digits.empty() || underscore <= 3 || digits.find_first_not_of("0123456789") != std::string::npos)
    return {};
  return fmt::format("{}'][{}]{}", name.substr(0, underscore), digits, name.substr(end + 2));
}

// What a guard's term is in these inputs: "dimension 0 of input 'x' (args[0]) is 5".
std::string fact_text(const Guard::Term& term, const std::string& place, const Value& value) {
  using Kind = Guard::Term::Kind;
  switch (term.kind) {
    case Kind::kSize:
      return fmt::format("dimension {} of {} is {}", term.dim, place, value.tensor().sizes()[term.dim]);
    case Kind::kStride:
      return fmt::format("the stride of dimension {} of {} is {}", term.dim, place,
                         value.tensor().strides()[term.dim]);
    case Kind::kOffset:
      return fmt::format("the storage offset of {} is {}", place, value.tensor().offset());
    case Kind::kValue:
      break;
  }
  return fmt::format("{} is {}", place, value.summary());
}

// Python's equality, but a NaN is one.
bool is_same_number(const Scalar& a, const Scalar& b) {
  const std::complex<double> x = a.to_complex();
  const std::complex<double> y = b.to_complex();
  const auto same = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
  return same(x.real(), y.real()) && same(x.imag(), y.imag());
}

}  // namespace

std::string Leaf::to_string() const {
  std::string text = name.empty() ? path : name;
  text += ": ";
  text += kind == "tensor" ? fmt::format("{}[{}]", dtype_name(dtype), fmt::join(sizes, ", ")) : kind;
  if (!constant.is_none()) text += fmt::format(" = {}", constant.summary());
  if (!range.empty()) text += ", " + range;
  return text;
}

struct InputChecker::Bindings {
  struct Origin {
    size_t leaf;
    size_t dim;  // npos: the input is the number itself
  };
  symbolic::Bindings values;
  std::map<std::string, Origin, std::less<>> origins;
};

InputChecker::Size InputChecker::size_of(const graph::SymInt& size) {
  Size made;
  made.text = size_text(size);
  if (size.is_literal()) {
    made.literal = size.literal();
  } else {
    made.expr = try_parse(size.expr().text);
    if (made.expr && made.expr->is_symbol()) made.symbol = made.expr->name();
  }
  return made;
}

InputChecker::InputChecker(const graph::ExportedProgram& program) {
  read_ranges(program);
  describe(program);
  read_guards(program);
}

void InputChecker::read_ranges(const graph::ExportedProgram& program) {
  for (const auto& [text, range] : program.range_constraints) {
    if (const std::optional<symbolic::Expr> expr = try_parse(text)) {
      ranges_.push_back({symbolic::to_string(*expr), range.min, range.max});
      by_symbol_.emplace(ranges_.back().symbol, ranges_.size() - 1);
    } else {
      unknown_guards_.push_back(range_text(text, range.min, range.max));
    }
  }
}

void InputChecker::describe(const graph::ExportedProgram& program) {
  const graph::ModuleCallSignature* const signature = root_signature(program);
  std::vector<std::string> paths;
  if (signature != nullptr) {
    spec_ = parse_treespec(signature->in_spec);
    paths = input_leaf_paths(spec_);
  }
  for (const graph::InputSpec& input : program.signature.inputs) {
    if (input.kind != graph::InputKind::kUserInput && input.kind != graph::InputKind::kConstantInput)
      continue;
    const size_t index = leaves_.size();
    std::string path = index < paths.size() ? paths[index] : fmt::format("inputs[{}]", index);
    std::vector<Size> sizes;
    if (input.kind == graph::InputKind::kConstantInput) {
      Leaf leaf;
      leaf.name = input.target;
      leaf.path = std::move(path);
      std::visit(
          [&](const auto& constant) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(constant)>, std::monostate>)
              leaf.constant = Value(constant);
          },
          input.value);
      leaf.kind = kind_of_constant(leaf.constant);
      leaves_.push_back(std::move(leaf));
    } else {
      leaves_.push_back(runtime::describe(input.argument, std::move(path)));
      const graph::Value* const value = input.argument.value();
      if (value != nullptr && value->tensor() != nullptr) {
        for (const graph::SymInt& size : value->tensor()->sizes) sizes.push_back(size_of(size));
      } else if (value != nullptr) {
        if (const auto* const number = std::get_if<graph::SymInt>(&value->meta()))
          sizes.push_back(size_of(*number));
      }
    }
    std::vector<std::string> texts;
    for (size_t d = 0; d < sizes.size(); ++d) {
      Size& size = sizes[d];
      if (!size.literal && !size.expr) {
        unknown_guards_.push_back(fmt::format("{}.size()[{}] == {}", leaves_.back().name, d, size.text));
      }
      const auto found = by_symbol_.find(size.text);
      if (found == by_symbol_.end()) continue;
      const Range& range = ranges_[found->second];
      if (!range.min && !range.max) continue;
      size.range = found->second;
      const std::string text = range_text(range.symbol, range.min, range.max);
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
    }
    leaves_.back().range = fmt::format("{}", fmt::join(texts, ", "));
    sizes_.push_back(std::move(sizes));
  }
  const std::vector<std::string> no_names;
  const std::vector<std::string>& names =
      signature != nullptr && signature->forward_arg_names ? *signature->forward_arg_names : no_names;
  for (size_t i = 0; i < leaves_.size(); ++i) by_local_name_.emplace(local_name(leaves_[i].path, names), i);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    if (const std::optional<std::string> name = variadic_name(local_name(leaves_[i].path, names)))
      by_local_name_.emplace(*name, i);
  }
}

void InputChecker::read_guards(const graph::ExportedProgram& program) {
  for (const std::string& text : program.guards_code) {
    std::optional<Guard> guard = Guard::parse(text);
    const bool is_known = guard && std::ranges::all_of(guard->terms(), [&](const Guard::Term& term) {
                            return leaf_of(term.input) != leaves_.size();
                          });
    if (is_known) {
      guards_.push_back(std::move(*guard));
    } else {
      unknown_guards_.push_back(text);
    }
  }
}

size_t InputChecker::leaf_of(const std::string& local_name) const {
  const auto found = by_local_name_.find(local_name);
  return found == by_local_name_.end() ? leaves_.size() : found->second;
}

std::string InputChecker::place(size_t index) const {
  const Leaf& leaf = leaves_[index];
  return leaf.name.empty() ? fmt::format("input {}", leaf.path)
                           : fmt::format("input '{}' ({})", leaf.name, leaf.path);
}

void InputChecker::check_count(size_t given) const {
  if (given == leaves_.size()) return;
  std::vector<std::string> names;
  for (const Leaf& leaf : leaves_) names.push_back(leaf.to_string());
  const std::string problem =
      given < leaves_.size()
          ? fmt::format("{} of {} inputs are given, {} is missing", given, leaves_.size(), place(given))
          : fmt::format("{} inputs are given, the program takes {}", given, leaves_.size());
  throw Error(ErrorCode::kInvalidArgument, problem, fmt::format("it takes {}", fmt::join(names, "; ")));
}

void InputChecker::check_tensor(size_t index, const Tensor& tensor, Bindings& bindings) const {
  const Leaf& leaf = leaves_[index];
  if (tensor.layout() != Layout::kStrided || dtype_info(tensor.dtype()).is_quantized) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} is {}, a plain tensor is expected", place(index), tensor.summary()));
  }
  if (tensor.device().type != DeviceType::kCpu) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is on the device {}, and the program runs on the CPU", place(index),
                            tensor.device().to_string()),
                "copy it to the CPU first");
  }
  if (tensor.dtype() != leaf.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} has elements of type {}, {} is expected", place(index),
                            dtype_name(tensor.dtype()), dtype_name(leaf.dtype)),
                fmt::format("convert it to {}", dtype_name(leaf.dtype)));
  }
  const std::vector<Size>& sizes = sizes_[index];
  if (tensor.dim() != sizes.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} has {} dimensions {}, {} are expected: [{}]", place(index), tensor.dim(),
                            Value(tensor.sizes()).summary(), sizes.size(), fmt::join(leaf.sizes, ", ")));
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t given = tensor.sizes()[d];
    if (sizes[d].literal && *sizes[d].literal != given) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: dimension {} is {}, and must be {}", place(index), d, given, *sizes[d].literal),
          "the program was exported with this size fixed; export it with a dynamic dimension to vary it");
    }
    if (sizes[d].symbol.empty()) continue;
    const auto [known, is_new] = bindings.values.emplace(sizes[d].symbol, given);
    if (is_new) {
      bindings.origins.emplace(sizes[d].symbol, Bindings::Origin{index, d});
    } else if (!known->second.is(given)) {
      const Bindings::Origin& origin = bindings.origins.find(sizes[d].symbol)->second;
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: dimension {} is {}, and must be {}, the same as dimension {} of {}", place(index),
                      d, given, known->second.numerator(), origin.dim, place(origin.leaf)));
    }
  }
}

void InputChecker::check_leaf(size_t index, const Value& value, Bindings& bindings) const {
  const Leaf& leaf = leaves_[index];
  const auto fail = [&](std::string_view expected) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is {}, {} is expected", place(index),
                    value.is_none() ? "None" : fmt::format("{} {}", value.kind_name(), value.summary()),
                    expected));
  };
  if (leaf.kind == "tensor") {
    if (!value.is_tensor() || !value.tensor().defined()) fail("a tensor");
    return check_tensor(index, value.tensor(), bindings);
  }
  if (!leaf.name.empty() && leaf.constant.is_none() && leaf.kind != "None") {  // a number that may vary
    if (leaf.kind == "object") return;
    if (!value.is_number()) fail(leaf.kind);
    if (leaf.kind == "int" && !value.is<int64_t>()) fail("int");
    if (!sizes_[index].empty()) {
      const Size& size = sizes_[index][0];
      if (!size.symbol.empty()) {
        bindings.values.emplace(size.symbol, value.scalar().to_int());
        bindings.origins.emplace(size.symbol, Bindings::Origin{index, std::string::npos});
      }
    }
    return;
  }
  const bool is_same =
      leaf.constant.is_none() ? value.is_none()
      : leaf.constant.is<std::string>()
          ? value.is<std::string>() && value.get<std::string>() == leaf.constant.get<std::string>()
          : value.is_number() && is_same_number(value.scalar(), leaf.constant.scalar());
  if (!is_same) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} is {}, and must be {}", place(index), value.summary(), leaf.constant.summary()),
        "the program was exported for this value alone; export it again for another one");
  }
}

// Sizes that are expressions: the first use of a symbol nobody knows yet solves it, where it is linear.
void InputChecker::check_expressions(std::span<const Value> leaves, Bindings& bindings) const {
  for (size_t i = 0; i < leaves_.size(); ++i) {
    for (size_t d = 0; d < sizes_[i].size(); ++d) {
      const Size& size = sizes_[i][d];
      if (size.literal || !size.expr || !size.symbol.empty() || !leaves[i].is_tensor()) continue;
      const int64_t given = leaves[i].tensor().sizes()[d];
      std::vector<std::string> unknown;
      for (const symbolic::Expr& symbol : symbolic::free_symbols(*size.expr)) {
        if (!bindings.values.contains(std::string(symbol.name()))) unknown.emplace_back(symbol.name());
      }
      if (unknown.size() > 1) continue;
      if (unknown.size() == 1) {
        const auto at = [&](int64_t number) {
          symbolic::Bindings with = bindings.values;
          with.emplace(unknown[0], number);
          return symbolic::evaluate(*size.expr, with).to_double();
        };
        const double slope = at(3) - at(2);
        const double found = slope == 0 ? 0 : 2 + (static_cast<double>(given) - at(2)) / slope;
        bindings.values.emplace(unknown[0], static_cast<int64_t>(found));
        bindings.origins.emplace(unknown[0], Bindings::Origin{i, d});
      }
      const symbolic::Number expected = symbolic::evaluate(*size.expr, bindings.values);
      if (expected.is(given)) continue;
      std::vector<std::string> facts;
      for (const symbolic::Expr& symbol : symbolic::free_symbols(*size.expr)) {
        const std::string name(symbol.name());
        const auto origin = bindings.origins.find(name);
        if (origin == bindings.origins.end() || !unknown.empty()) continue;
        facts.push_back(fmt::format("{} is {} by dimension {} of {}", name,
                                    bindings.values.at(name).to_double(), origin->second.dim,
                                    place(origin->second.leaf)));
      }
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: dimension {} is {}, and must be {}{}{}", place(i), d, given, size.text,
                              facts.empty() ? "" : fmt::format(" = {}", expected.to_double()),
                              facts.empty() ? "" : fmt::format(" ({})", fmt::join(facts, ", "))));
    }
  }
}

// As PyTorch checks them: of what inputs are, not of the symbols in it, and no lower bound up to 2, which
// tracing assumes of every size; 0 and 1 are left to the operators.
void InputChecker::check_ranges(std::span<const Value> leaves) const {
  for (size_t i = 0; i < leaves_.size(); ++i) {
    for (size_t d = 0; d < sizes_[i].size(); ++d) {
      if (!sizes_[i][d].range) continue;
      const Range& range = ranges_[*sizes_[i][d].range];
      const bool is_size = leaves[i].is_tensor();
      if (!is_size && !leaves[i].is<int64_t>()) continue;
      const int64_t value = is_size ? leaves[i].tensor().sizes()[d] : leaves[i].get<int64_t>();
      const bool is_low = range.min && *range.min > 2 && value < *range.min;
      if (!is_low && (!range.max || value <= *range.max)) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}:{} is {}, and must fulfil {}", place(i),
                              is_size ? fmt::format(" dimension {}", d) : "", value,
                              range_text(range.symbol, range.min, range.max)),
                  "the program was exported for sizes in this range");
    }
  }
}

void InputChecker::check(std::span<const Value> leaves) const {
  check_count(leaves.size());
  Bindings bindings;
  for (size_t i = 0; i < leaves.size(); ++i) check_leaf(i, leaves[i], bindings);
  check_expressions(leaves, bindings);
  check_ranges(leaves);
  const auto input = [&](const std::string& name) -> const Value* {
    const size_t index = leaf_of(name);
    return index == leaves_.size() ? nullptr : &leaves[index];
  };
  for (const Guard& guard : guards_) {
    if (guard.holds(input)) continue;
    std::vector<std::string> facts;
    for (const Guard::Term& term : guard.terms()) {
      const std::string fact = fact_text(term, place(leaf_of(term.input)), *input(term.input));
      if (std::ranges::find(facts, fact) == facts.end()) facts.push_back(fact);
    }
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the inputs break the program's guard {}: {}", guard.text(), fmt::join(facts, ", ")),
        "the program was exported under this condition");
  }
}

std::vector<Leaf> describe_outputs(const graph::ExportedProgram& program) {
  std::vector<Leaf> leaves;
  std::vector<std::string> paths;
  if (const graph::ModuleCallSignature* const signature = root_signature(program)) {
    paths = leaf_paths(parse_treespec(signature->out_spec), "output");
  }
  for (const graph::OutputSpec& output : program.signature.outputs) {
    if (output.kind != graph::OutputKind::kUserOutput && output.kind != graph::OutputKind::kLossOutput)
      continue;
    const size_t index = leaves.size();
    leaves.push_back(
        describe(output.argument, index < paths.size() ? paths[index] : fmt::format("output[{}]", index)));
  }
  return leaves;
}

}  // namespace flambeau::runtime
