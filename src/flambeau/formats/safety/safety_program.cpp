#include "flambeau/formats/safety/safety_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/value/operator_name.h"
#include "flambeau/value/pytree.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::safety {
namespace {

// What these rules forbid, PyTorch would run as code.
constexpr std::string_view kRulesOfTrust[] = {"unsafe-name",      "unsafe-guard",     "bad-expression",
                                              "malformed-target", "unknown-function", "range-constraint"};

// Whose operators reach beyond the program's own tensors.
constexpr std::string_view kWorldlySpaces[] = {
    "prim", "c10d", "c10d_functional", "_c10d_functional", "_dtensor", "symm_mem", "profiler", "inductor",
    "streams", "fsdp", "static_runtime", "_test", "debug_mode_ops", "_c10d_functional_autograd",
    // of torchvision, torchaudio and torchcodec: files and streams
    "image", "video_reader", "torchaudio", "torchcodec_ns"};
constexpr std::string_view kPlainSpaces[] = {"aten",
                                             "prims",
                                             "quantized",
                                             "quantized_decomposed",
                                             "_quantized",
                                             "mkldnn",
                                             "mkldnn_prepacked",
                                             "onednn",
                                             "sparse",
                                             "mkl",
                                             "torch_attn",
                                             "export",
                                             "rngprims",
                                             "inductor_prims",
                                             "quantization",
                                             "onnx_symbolic"};

// The function that programs with an autograd function of somebody's own call.
constexpr std::string_view kImporter =
    "torch.export.custom_ops._call_custom_autograd_function_in_pre_dispatch";
constexpr std::string_view kMembersOfTorchOps[] = {"import_module", "load_library", "loaded_libraries",
                                                   "_dir", "higher_order"};

template <size_t kCount>
bool contains(const std::string_view (&list)[kCount], std::string_view name) {
  return std::ranges::find(list, name) != std::end(list);
}

class ProgramChecker {
 public:
  ProgramChecker(const graph::ExportedProgram& program, const Report& report)
      : program_(program), report_(report) {}

  void run() {
    for (const graph::Finding& finding : graph::verify(program_)) {
      report_(contains(kRulesOfTrust, finding.rule) ? Severity::kDanger : Severity::kCaution,
              fmt::format("{}: {} [{}]", finding.where, finding.message, finding.rule));
    }
    check_operators(program_.graph());
    for (const std::string& name : strangers_) {
      report_(Severity::kInfo,
              fmt::format("calls {}, an operator that is not PyTorch's own", printable(name)));
    }
    for (const graph::ModuleCallEntry& entry : program_.module_call_graph) {
      if (!entry.signature) continue;
      check_tree(entry.signature->in_spec);
      check_tree(entry.signature->out_spec);
    }
    if (!program_.extras.empty() || !program_.graph_module_extras.empty()) {
      report_(Severity::kCaution,
              "the program has parts that no schema known here has: a newer PyTorch may act on them");
    }
  }

 private:
  void check_operators(const graph::Graph& root) {
    std::vector<const graph::Graph*> open = {&root};
    while (!open.empty()) {
      const graph::Graph& graph = *open.back();
      open.pop_back();
      for (const graph::Node& node : graph.nodes()) {
        check_target(node.target);
        for (const graph::NamedArgument& input : node.inputs()) {
          using K = graph::ArgumentKind;
          if (input.argument.is(K::kOperator))
            check_target(graph::Target(input.argument.get<K::kOperator>()));
          if (!input.argument.is(K::kGraph)) continue;
          const graph::GraphArgument& inner = input.argument.get<K::kGraph>();
          if (inner.graph != nullptr) open.push_back(inner.graph.get());
        }
      }
    }
  }

  void check_target(const graph::Target& target) {
    const bool is_function = target.kind() == graph::TargetKind::kFunction;
    const bool is_operator = target.kind() == graph::TargetKind::kOperator;
    if ((!is_function && !is_operator) || !targets_.insert(target.text()).second) return;
    if (is_function) {
      if (target.text() != kImporter) return;  // the verifier knows the others
      return report_(
          Severity::kDanger,
          fmt::format("running it calls {}, which imports the module that the program names", target.text()));
    }
    const OperatorName* const name = target.op();
    if (is_pythons_own(target)) {
      return report_(Severity::kDanger,
                     fmt::format("{} is no operator: PyTorch would take it for an attribute of Python's",
                                 printable(target.text())));
    }
    const std::string_view space = name->name_space();
    if (touches_files(name->name)) {
      report_(Severity::kDanger,
              fmt::format("running it calls {}, which reads or writes files", name->to_string()));
    } else if (contains(kWorldlySpaces, space)) {
      report_(Severity::kCaution,
              fmt::format("running it calls {}, which acts on more than the program's own tensors",
                          printable(name->to_string())));
    } else if (!contains(kPlainSpaces, space)) {
      strangers_.insert(name->to_string());
    }
  }

  // PyTorch finds an operator by its name as attributes of attributes, torch.ops.x.y.z. Those that every
  // object of Python's has lead elsewhere, and so do the methods of torch.ops.
  bool is_pythons_own(const graph::Target& target) const {
    const std::string_view text = target.text();
    const bool is_known = !schemas_.overloads(target.op()->name).empty();
    return text.find(".__", is_known ? text.rfind('.') : 0) != std::string_view::npos ||
           contains(kMembersOfTorchOps, target.op()->name_space());
  }

  // In any of its forms.
  bool touches_files(std::string_view name) const {
    return std::ranges::any_of(schemas_.overloads(name), [&](const std::string& overload) {
      return schemas_.get(name, overload).has(OperatorFlag::kFiles);
    });
  }

  // Contexts of containers name modules, which PyTorch imports.
  void check_tree(const std::string& text) {
    TreeSpec spec;
    try {
      spec = parse_treespec(text);
    } catch (const Error&) {
      return;  // the verifier has said so
    }
    std::vector<const TreeSpec*> open = {&spec};
    while (!open.empty()) {
      const TreeSpec& at = *open.back();
      open.pop_back();
      for (const TreeSpec& child : at.children()) open.push_back(&child);
      check_context(at);
    }
  }

  void check_context(const TreeSpec& spec) {
    const json::Value value = json::parse(spec.context_json());
    if (value.is_string()) find_enums(value.as_string());
    if (spec.kind() != TreeKind::kDefaultDict) return;
    const auto text_of = [&](std::string_view key) {
      const json::Value* const member = value.is_object() ? value.find(key) : nullptr;
      return member != nullptr && member->is_string() ? std::string(member->as_string()) : std::string();
    };
    const std::string module = text_of("default_factory_module");
    const std::string name = text_of("default_factory_name");
    constexpr std::string_view kPlainTypes[] = {"list",  "dict", "set",   "int",
                                                "float", "str",  "tuple", "bool"};
    if (module == "builtins" && contains(kPlainTypes, name)) return;
    if (module == "collections" && name == "OrderedDict") return;
    import(module + "." + name, "a default dict's factory");
  }

  // The context of most containers is JSON in a text; members of enumerations may stand anywhere in it.
  void find_enums(std::string_view text) {
    json::Value root;
    try {
      root = json::parse(text);
    } catch (const Error&) {
      return;  // the name of a class, which PyTorch must know already
    }
    std::vector<const json::Value*> open = {&root};
    while (!open.empty()) {
      const json::Value& at = *open.back();
      open.pop_back();
      if (at.is_array()) {
        for (const json::Value& item : at.as_array()) open.push_back(&item);
      } else if (at.is_object()) {
        if (at.find("__enum__") != nullptr) import(json::dump(at), "an enumeration");
        for (const auto& [key, member] : at.as_object()) open.push_back(&member);
      }
    }
  }

  void import(std::string_view what, std::string_view why) {
    std::string message = fmt::format(
        "loading it imports a module for {} that its inputs or outputs name: {}", why, printable(what, 200));
    if (imports_.insert(message).second) report_(Severity::kDanger, std::move(message));
  }

  const graph::ExportedProgram& program_;
  const Report& report_;
  const SchemaTable schemas_;
  std::set<std::string> targets_;
  std::set<std::string> strangers_;
  std::set<std::string> imports_;
};

}  // namespace

void check_program(const graph::ExportedProgram& program, const Report& report) {
  ProgramChecker(program, report).run();
}

}  // namespace flambeau::safety
