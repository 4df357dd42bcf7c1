#include "flambeau/graph/report/dot.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/graph/node_modules.h"
#include "flambeau/graph/text/notes.h"

namespace flambeau::graph {
namespace {

// In double quotes. Graphviz reads backslash escapes in labels, and nothing else there.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + '"';
}

// "aten.add.Tensor" for "torch.ops.aten.add.Tensor", "mul" for "_operator.mul"; ".default" says nothing.
std::string short_target(const Target& target) {
  std::string_view text = target.name();
  for (const std::string_view prefix : {"torch.ops.", "_operator."}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    break;
  }
  if (text.ends_with(".default")) text.remove_suffix(8);
  return std::string(text);
}

// The modules around a node, outermost first, by their full names.
std::vector<std::string> module_path(const Node& node) {
  constexpr size_t kDeepest = 64;  // boxes inside of boxes; nothing that a person draws has as many
  std::vector<std::string> path;
  for (const NodeModule& module : modules_of(node)) {
    if (!module.path.empty() && path.size() < kDeepest) path.emplace_back(module.path);
  }
  return path;
}

class DotPrinter {
 public:
  DotPrinter(const ExportedProgram& program, const DotOptions& options)
      : options_(options), context_{program, {}, ExprNames(false), {}, {}, {}} {
    for (const InputSpec& spec : program.signature.inputs) {
      if (const Value* const value = spec.argument.value()) specs_.emplace(value, &spec);
    }
  }

  std::string print() {
    out_ =
        "digraph program {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    graph(context_.program.graph(), "g");
    return out_ + edges_ + "}\n";
  }

 private:
  // The innermost group that is open is where nodes go.
  void open_modules(const std::vector<std::string>& path) {
    size_t common = 0;
    while (common < path.size() && common < modules_.size() && path[common] == modules_[common]) ++common;
    close_modules(common);
    for (size_t i = common; i < path.size(); ++i) {
      // A module that is called twice, or left and entered again, has a box for each time.
      line(fmt::format("subgraph {} {{", in_quotes(fmt::format("cluster_module_{}", clusters_++))));
      ++indent_;
      line(fmt::format("label={}; style=dashed; color=gray;", in_quotes(path[i])));
      modules_.push_back(path[i]);
    }
  }

  void close_modules(size_t keep) {
    for (; modules_.size() > keep; modules_.pop_back()) {
      --indent_;
      line("}");
    }
  }

  void line(std::string_view text) {
    out_.append(2 * indent_, ' ');
    out_ += text;
    out_ += '\n';
  }

  void node(const std::string& id, std::string_view label, std::string_view style) {
    line(fmt::format("{} [label={}{}];", in_quotes(id), in_quotes(label), style));
  }

  void edge(const std::string& from, const std::string& to, const Value& value) {
    edges_ += fmt::format("  {} -> {}", in_quotes(from), in_quotes(to));
    if (options_.shapes && !type_of(value).empty())
      edges_ += fmt::format(" [label={}]", in_quotes(type_of(value)));
    edges_ += ";\n";
  }

  // Made once and cut: a hostile program may use a value of many dimensions thousands of times.
  const std::string& type_of(const Value& value) {
    const auto [found, is_new] = types_.try_emplace(&value);
    if (is_new) found->second = printable(type_text(context_, value), 200);
    return found->second;
  }

  void uses(const Argument& argument, const std::string& id) {
    argument.for_each_value([&](const Value& value) {
      const auto found = givers_.find(&value);
      if (found != givers_.end()) {
        edge(found->second, id, value);
      } else if (undefined_.insert(&value).second) {
        node(id + "?" + value.name(), value.name() + "?", ", style=dashed, color=red");
        givers_.emplace(&value, id + "?" + value.name());
        edge(id + "?" + value.name(), id, value);
      }
    });
  }

  std::string input_style(const Value& value, std::string& label) const {
    const auto found = specs_.find(&value);
    if (found == specs_.end()) return ", shape=ellipse";
    const InputSpec& spec = *found->second;
    if (!spec.target.empty()) label = spec.target;
    switch (spec.kind) {
      case InputKind::kParameter:
        return ", shape=cylinder, style=filled, fillcolor=\"#cfe8cf\"";
      case InputKind::kBuffer:
        return ", shape=cylinder, style=filled, fillcolor=\"#fff2cc\"";
      case InputKind::kTensorConstant:
      case InputKind::kCustomObj:
        return ", shape=cylinder, style=filled, fillcolor=\"#e6e6e6\"";
      case InputKind::kToken:
        return ", shape=plaintext, style=dashed";
      default:
        return ", shape=ellipse, style=filled, fillcolor=\"#cfe2f3\"";
    }
  }

  void graph(const Graph& graph, const std::string& prefix) {
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const Value* const value = graph.inputs()[i].value();
      const std::string id = fmt::format("{}.input{}", prefix, i);
      if (value == nullptr) {
        node(id, "constant", ", shape=ellipse, style=dashed");
        continue;
      }
      std::string label = value->name();
      const std::string style = input_style(*value, label);
      node(id, label, style);
      givers_.emplace(value, id);
    }
    size_t index = 0;
    for (const Node& each : graph.nodes()) {
      const std::string id = fmt::format("{}.node{}", prefix, index++);
      if (options_.modules) open_modules(module_path(each));
      node(id, fmt::format("{}\n{}", short_target(each.target), each.label()), "");
      for (const Argument& output : each.outputs()) {
        output.for_each_value([&](const Value& value) { givers_.emplace(&value, id); });
      }
      for (const NamedArgument& input : each.inputs()) {
        uses(input.argument, id);
        if (input.argument.is(ArgumentKind::kGraph)) {
          subgraph(input.argument.get<ArgumentKind::kGraph>(), id);
        }
      }
    }
    close_modules(0);
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const std::string id = fmt::format("{}.output{}", prefix, i);
      const Value* const value = graph.outputs()[i].value();
      node(id, value != nullptr ? value->name() : "constant",
           ", shape=ellipse, style=filled, fillcolor=\"#f4cccc\"");
      uses(graph.outputs()[i], id);
    }
  }

  void subgraph(const GraphArgument& inner, const std::string& node_id) {
    const std::string prefix = fmt::format("s{}", clusters_++);
    std::vector<std::string> outer = std::exchange(modules_, {});
    line(fmt::format("subgraph {} {{", in_quotes("cluster_" + prefix)));
    ++indent_;
    line(fmt::format("label={}; style=filled; color=\"#f5f5f5\";", in_quotes(inner.name)));
    graph(*inner.graph, prefix);
    --indent_;
    line("}");
    modules_ = std::move(outer);
    const std::string first = prefix + (!inner.graph->inputs().empty()  ? ".input0"
                                        : inner.graph->node_count() > 0 ? ".node0"
                                                                        : ".output0");
    if (inner.graph->inputs().empty() && inner.graph->node_count() == 0 && inner.graph->outputs().empty())
      return;
    edges_ += fmt::format("  {} -> {} [style=dotted, label={}];\n", in_quotes(node_id), in_quotes(first),
                          in_quotes(inner.name));
  }

  DotOptions options_;
  TextContext context_;
  std::unordered_map<const Value*, const InputSpec*> specs_;
  std::unordered_map<const Value*, std::string> givers_;
  std::unordered_map<const Value*, std::string> types_;
  std::unordered_set<const Value*> undefined_;
  std::vector<std::string> modules_;
  std::string out_;
  std::string edges_;
  size_t indent_ = 1;
  size_t clusters_ = 0;
};

}  // namespace

std::string to_dot(const ExportedProgram& program, const DotOptions& options) {
  return DotPrinter(program, options).print();
}

}  // namespace flambeau::graph
