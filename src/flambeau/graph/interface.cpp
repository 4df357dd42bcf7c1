#include "flambeau/graph/interface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/graph/program.h"
#include "flambeau/graph/values.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/expr.h"

namespace flambeau::graph {
namespace {

LeafKind kind_of_constant(const flambeau::Value& value) {
  if (value.is_none()) return LeafKind::kNone;
  if (value.is<int64_t>()) return LeafKind::kInt;
  if (value.is<double>()) return LeafKind::kFloat;
  if (value.is<bool>()) return LeafKind::kBool;
  if (value.is<std::string>()) return LeafKind::kString;
  return value.is<std::complex<double>>() ? LeafKind::kComplex : LeafKind::kOther;
}

// A constant that stands for an input; nothing where the argument is a value of the graph, or a list.
std::optional<flambeau::Value> constant_of(const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::kNone:
    case ArgumentKind::kInt:
    case ArgumentKind::kFloat:
    case ArgumentKind::kBool:
    case ArgumentKind::kString:
    case ArgumentKind::kComplex:
      return to_value(argument, {});
    default:
      return {};
  }
}

LeafKind kind_of_value(ValueKind kind) {
  switch (kind) {
    case ValueKind::kSymInt:
      return LeafKind::kInt;
    case ValueKind::kSymFloat:
      return LeafKind::kFloat;
    case ValueKind::kSymBool:
      return LeafKind::kBool;
    case ValueKind::kCustomObj:
      return LeafKind::kObject;
    case ValueKind::kTensor:
    case ValueKind::kUnknown:
      break;
  }
  return LeafKind::kTensor;
}

// Null where no value could ever come of it.
const symbolic::Expr* readable(const SymExpr& text) {
  const symbolic::Expr* const expr = text.find_expr();
  return expr != nullptr && !symbolic::has_unknown_functions(*expr) ? expr : nullptr;
}

LeafSize size_of(const SymInt& size) {
  LeafSize made;
  if (size.is_literal()) {
    made.literal = size.literal();
    made.text = fmt::format("{}", size.literal());
    made.expr = std::make_shared<const symbolic::Expr>(size.literal());
  } else if (const symbolic::Expr* const expr = readable(size.expr())) {
    made.text = size.expr().plain();
    made.expr = std::make_shared<const symbolic::Expr>(*expr);
    if (expr->is_integer()) made.literal = expr->integer();
  } else {
    made.text = size.expr().text;
  }
  return made;
}

using Ranges = std::unordered_map<std::string, std::shared_ptr<const SizeRange>>;  // by SizeRange::of

// Describes arguments. A hostile program may give one value of many sizes thousands of times: each is
// described once.
class Describer {
 public:
  explicit Describer(const Ranges& ranges) : ranges_(ranges) {}

  Leaf describe(const Argument& argument, std::string path) {
    Leaf leaf;
    leaf.path = std::move(path);
    if (const Value* const value = argument.value()) {
      describe(*value, leaf);
    } else if (std::optional<flambeau::Value> constant = constant_of(argument)) {
      leaf.kind = kind_of_constant(*constant);
      leaf.constant = *std::move(constant);
    }
    return leaf;
  }

 private:
  void describe(const Value& value, Leaf& leaf) {
    leaf.name = value.name();
    leaf.kind = kind_of_value(value.kind());
    if (const TensorMeta* const meta = value.tensor()) {
      leaf.dtype = meta->dtype;
      std::shared_ptr<const LeafSizes>& shape = shapes_[&value];
      if (shape == nullptr) shape = shape_of(*meta);
      leaf.shape = shape;
    } else if (const auto* const number = std::get_if<SymInt>(&value.meta())) {
      leaf.number = with_range(size_of(*number));
    }
  }
  LeafSize with_range(LeafSize size) const {
    if (const auto found = ranges_.find(size.text); found != ranges_.end()) size.range = found->second;
    return size;
  }
  std::shared_ptr<const LeafSizes> shape_of(const TensorMeta& meta) const {
    LeafSizes sizes;
    for (const SymInt& size : meta.sizes) sizes.push_back(with_range(size_of(size)));
    return std::make_shared<const LeafSizes>(std::move(sizes));
  }

  const Ranges& ranges_;
  std::unordered_map<const Value*, std::shared_ptr<const LeafSizes>> shapes_;
};

class Describing {
 public:
  Describing(const ExportedProgram& program, Trust trust) : program_(program), trust_(trust) {}

  Interface run() {
    read_ranges();
    if (const ModuleCallSignature* const call = program_.root_call()) {
      read_tree(call->in_spec, made_.in_spec);
      read_tree(call->out_spec, made_.out_spec);
      made_.argument_names = call->forward_arg_names.value_or(std::vector<std::string>());
      add_inputs(paths_of([&] { return input_leaf_paths(made_.in_spec); }));
      add_outputs(paths_of([&] { return leaf_paths(made_.out_spec, "output"); }));
    } else {
      add_inputs({});
      add_outputs({});
    }
    return std::move(made_);
  }

 private:
  using Paths = std::vector<std::string>;

  // False where it cannot be done, and need not.
  template <typename Body>
  bool tried(Body&& body) const {
    try {
      body();
    } catch (const Error&) {
      if (trust_ == Trust::kVerified) throw;
      return false;
    }
    return true;
  }
  void read_tree(const std::string& text, TreeSpec& to) {
    has_trees_ = tried([&] { to = parse_treespec(text); }) && has_trees_;
  }
  template <typename Make>
  Paths paths_of(Make&& make) const {
    Paths paths;
    if (has_trees_) tried([&] { paths = make(); });
    return paths;
  }

  void read_ranges() {
    for (const auto& [text, range] : program_.range_constraints) {
      const SymExpr expression{text, {}};
      const SizeRange made{expression.plain(), range.min, range.max};
      if (readable(expression) == nullptr) {
        made_.unreadable.push_back(SizeRange{text, range.min, range.max}.to_string());
      } else if (range.min || range.max) {
        ranges_.emplace(made.of, std::make_shared<const SizeRange>(made));
      }
    }
  }

  void add_inputs(const Paths& paths) {
    Describer describer(ranges_);
    for (const InputSpec& spec : program_.signature.inputs) {
      if (spec.kind != InputKind::kUserInput && spec.kind != InputKind::kConstantInput) continue;
      const size_t index = made_.inputs.size();
      std::string path = index < paths.size() ? paths[index] : fmt::format("inputs[{}]", index);
      Leaf& leaf = made_.inputs.emplace_back(spec.kind == InputKind::kUserInput
                                                 ? describer.describe(spec.argument, std::move(path))
                                                 : constant_leaf(spec, std::move(path)));
      note_unreadable(leaf);
    }
  }
  static Leaf constant_leaf(const InputSpec& spec, std::string path) {
    Leaf leaf;
    leaf.name = spec.target;
    leaf.path = std::move(path);
    std::visit(
        [&](const auto& constant) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(constant)>, std::monostate>)
            leaf.constant = flambeau::Value(constant);
        },
        spec.value);
    leaf.kind = kind_of_constant(leaf.constant);
    return leaf;
  }
  void note_unreadable(const Leaf& leaf) {
    const auto note = [&](size_t d, const LeafSize& size) {
      if (!size.expr) made_.unreadable.push_back(fmt::format("{}.size()[{}] == {}", leaf.name, d, size.text));
    };
    for (size_t d = 0; d < leaf.sizes().size(); ++d) note(d, leaf.sizes()[d]);
    if (leaf.number) note(0, *leaf.number);
  }

  void add_outputs(const Paths& paths) {
    const Ranges none;
    Describer describer(none);
    for (const OutputSpec& spec : program_.signature.outputs) {
      if (spec.kind != OutputKind::kUserOutput && spec.kind != OutputKind::kLossOutput) continue;
      const size_t index = made_.outputs.size();
      made_.outputs.push_back(describer.describe(
          spec.argument, index < paths.size() ? paths[index] : fmt::format("output[{}]", index)));
    }
  }

  const ExportedProgram& program_;
  Trust trust_;
  bool has_trees_ = true;
  Ranges ranges_;
  Interface made_;
};

}  // namespace

std::string_view leaf_kind_name(LeafKind kind) {
  static constexpr std::string_view kNames[] = {"",     "None", "tensor",  "int",   "float",
                                                "bool", "str",  "complex", "object"};
  return kNames[static_cast<size_t>(kind)];
}

std::string SizeRange::to_string() const {
  std::string text;
  if (min) text += fmt::format("{} <= ", *min);
  text += of;
  if (max) text += fmt::format(" <= {}", *max);
  return text;
}

std::string_view LeafSize::symbol() const {
  return expr && expr->is_symbol() ? expr->name() : std::string_view();
}

const LeafSizes& Leaf::sizes() const {
  static const LeafSizes kNone;
  return shape != nullptr ? *shape : kNone;
}

std::string Leaf::range() const {
  std::vector<std::string> texts;
  const auto add = [&](const LeafSize& size) {
    if (size.range == nullptr) return;
    std::string text = size.range->to_string();
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  };
  for (const LeafSize& size : sizes()) add(size);
  if (number) add(*number);
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string Leaf::to_string() const {
  std::string text = label() + ": ";
  if (is_tensor()) {
    std::vector<std::string_view> texts;
    for (const LeafSize& size : sizes()) texts.push_back(size.text);
    text += fmt::format("{}[{}]", dtype_name(dtype), fmt::join(texts, ", "));
  } else {
    text += leaf_kind_name(kind);
  }
  if (!constant.is_none()) text += fmt::format(" = {}", constant.summary());
  if (const std::string bounds = range(); !bounds.empty()) text += ", " + bounds;
  return text;
}

Interface interface_of(const ExportedProgram& program, Trust trust) {
  return Describing(program, trust).run();
}

}  // namespace flambeau::graph
