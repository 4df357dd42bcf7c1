// What the inputs and outputs mean: each has one entry of the signature, in its place, that names it and what
// it stands for.
#include <fmt/format.h>

#include <optional>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

using K = ArgumentKind;

// "'x'", or what it is when it has no name.
std::string words(const Argument& argument) {
  const Value* const value = argument.value();
  return value != nullptr ? fmt::format("'{}'", printable(value->name())) : std::string(kind_words(argument));
}

// The value of a constant as people write it; nothing for what is no constant.
std::optional<std::string> constant_text(const Argument& argument) {
  switch (argument.kind()) {
    case K::kNone:
      return "none";
    case K::kInt:
      return std::to_string(argument.get<K::kInt>());
    case K::kFloat:
      return fmt::format("{} (float)", argument.get<K::kFloat>());
    case K::kBool:
      return argument.get<K::kBool>() ? "true" : "false";
    case K::kString:
      return fmt::format("'{}'", argument.get<K::kString>());
    default:
      return std::nullopt;
  }
}

Argument to_argument(const ConstantValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return Argument::make<K::kInt>(*number);
  if (const auto* real = std::get_if<double>(&value)) return Argument::make<K::kFloat>(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return Argument::make<K::kString>(*text);
  if (const auto* truth = std::get_if<bool>(&value)) return Argument::make<K::kBool>(*truth);
  return {};
}

class SignatureVerifier {
 public:
  explicit SignatureVerifier(Context& context)
      : context_(context), signature_(context.program.signature), graph_(context.program.graph()) {}

  void run() {
    check_count("signature-inputs", "inputs", graph_.inputs().size(), signature_.inputs.size());
    for (size_t i = 0; i < signature_.inputs.size(); ++i) check_input(i, signature_.inputs[i]);
    check_count("signature-outputs", "outputs", graph_.outputs().size(), signature_.outputs.size());
    for (size_t i = 0; i < signature_.outputs.size(); ++i) check_output(i, signature_.outputs[i]);
  }

 private:
  void check_count(std::string_view rule, std::string_view what, size_t graph, size_t signature) {
    if (graph == signature) return;
    context_.add(rule, "signature", fmt::format("it has {} {}, but the graph has {}", signature, what, graph),
                 kExportAgain);
  }

  void add(std::string_view rule, std::string message, std::string_view remedy = kExportAgain) {
    context_.add(rule, where_, std::move(message), remedy);
  }

  void check_input(size_t i, const InputSpec& spec) {
    where_ = fmt::format("signature: input {}", i);
    if (const Value* value = spec.argument.value())
      where_ += fmt::format(" ('{}')", printable(value->name()));
    const Argument* const input = i < graph_.inputs().size() ? &graph_.inputs()[i] : nullptr;
    switch (spec.kind) {
      case InputKind::kUnknown:
        add("unknown-kind",
            fmt::format("'{}' is a kind of input of a newer schema, which cannot be checked",
                        printable(spec.unknown.first)),
            "use a newer version, or export with an older PyTorch");
        return;
      case InputKind::kConstantInput:
        if (input != nullptr) check_constant("constant-input", "input", to_argument(spec.value), *input);
        return;
      case InputKind::kUserInput:
        if (spec.argument.value() != nullptr) user_inputs_.insert(spec.argument.value());
        break;
      case InputKind::kParameter:
        parameters_.insert(spec.target);
        check_target(spec, targets_);
        break;
      case InputKind::kBuffer:
        buffers_.insert(spec.target);
        check_target(spec, targets_);
        break;
      case InputKind::kTensorConstant:
      case InputKind::kCustomObj:
        if (spec.target.empty()) add("signature-target", "it does not say which constant it is");
        break;
      case InputKind::kToken:
        break;
    }
    const bool is_object = spec.kind == InputKind::kCustomObj;
    if (spec.kind != InputKind::kUserInput &&
        !spec.argument.is(is_object ? ArgumentKind::kCustomObj : ArgumentKind::kTensor)) {
      add("signature-kind", fmt::format("a {} is {}; expected {}", input_kind_key(spec.kind),
                                        kind_words(spec.argument), is_object ? "an object" : "a tensor"));
    }
    if (input == nullptr || spec.argument.value() == input->value()) return;
    add("signature-name",
        fmt::format("it names {}, but input {} of the graph is {}", words(spec.argument), i, words(*input)));
  }

  void check_target(const InputSpec& spec, std::unordered_set<std::string_view>& targets) {
    if (spec.target.empty()) {
      add("signature-target", fmt::format("it does not say which {} it is", input_kind_key(spec.kind)));
    } else if (!targets.insert(spec.target).second) {
      add("duplicate-target", fmt::format("'{}' is an input already; a parameter or buffer comes in once",
                                          printable(spec.target)));
    }
  }

  void check_output(size_t i, const OutputSpec& spec) {
    where_ = fmt::format("signature: output {}", i);
    if (const Value* value = spec.argument.value())
      where_ += fmt::format(" ('{}')", printable(value->name()));
    switch (spec.kind) {
      case OutputKind::kUnknown:
        add("unknown-kind",
            fmt::format("'{}' is a kind of output of a newer schema, which cannot be checked",
                        printable(spec.unknown.first)),
            "use a newer version, or export with an older PyTorch");
        return;
      case OutputKind::kToken:
        in_order(0, spec.kind);
        break;
      case OutputKind::kBufferMutation:
        in_order(1, spec.kind);
        check_named(spec, buffers_, "mutation-target", "a buffer");
        break;
      case OutputKind::kParameterMutation:
        in_order(1, spec.kind);
        check_named(spec, parameters_, "mutation-target", "a parameter");
        break;
      case OutputKind::kUserInputMutation:
        in_order(1, spec.kind);
        check_user_input(spec, "mutation-target");
        break;
      case OutputKind::kUserOutput:
      case OutputKind::kLossOutput:
        in_order(2, spec.kind);
        break;
      case OutputKind::kGradientToParameter:
        in_order(3, spec.kind);
        check_named(spec, parameters_, "gradient-target", "a parameter");
        break;
      case OutputKind::kGradientToUserInput:
        in_order(3, spec.kind);
        check_user_input(spec, "gradient-target");
        break;
    }
    if (spec.kind != OutputKind::kUserOutput && !spec.argument.is(ArgumentKind::kTensor)) {
      add("signature-kind", fmt::format("a {} is {}; expected a tensor", output_kind_key(spec.kind),
                                        kind_words(spec.argument)));
    }
    check_output_name(i, spec);
  }

  void check_output_name(size_t i, const OutputSpec& spec) {
    if (i >= graph_.outputs().size()) return;
    const Argument& output = graph_.outputs()[i];
    const bool is_same = spec.argument.value() == output.value() &&
                         (output.value() != nullptr || spec.argument.kind() == output.kind());
    if (is_same) {
      if (output.value() == nullptr) check_constant("constant-output", "output", spec.argument, output);
      return;
    }
    add("signature-name",
        fmt::format("it names {}, but output {} of the graph is {}", words(spec.argument), i, words(output)));
  }

  void check_constant(std::string_view rule, std::string_view what, const Argument& said,
                      const Argument& found) {
    const std::optional<std::string> a = constant_text(said);
    const std::optional<std::string> b = constant_text(found);
    if (a == b) return;
    add(rule, fmt::format("it says that the {} is the constant {}, but that of the graph is {}", what,
                          printable(a.value_or(words(said))), printable(b.value_or(words(found)))));
  }

  // Tokens, then mutations, then what the caller gets, then gradients: PyTorch takes them apart by number.
  void in_order(int group, OutputKind kind) {
    static constexpr std::string_view kGroups[] = {"tokens", "mutations", "the outputs of the caller",
                                                   "gradients"};
    if (group < group_) {
      add("output-order",
          fmt::format("a {} stands behind {}; expected tokens, mutations, outputs, gradients",
                      output_kind_key(kind), kGroups[group_]),
          "put the outputs into that order, in the graph too");
    }
    group_ = std::max(group_, group);
  }

  void check_named(const OutputSpec& spec, const std::unordered_set<std::string_view>& there,
                   std::string_view rule, std::string_view what) {
    if (there.contains(spec.target)) return;
    add(rule, fmt::format("it is for '{}', but no input is {} of that name", printable(spec.target), what));
  }

  void check_user_input(const OutputSpec& spec, std::string_view rule) {
    if (spec.input && user_inputs_.contains(spec.input.get())) return;
    add(rule, spec.input ? fmt::format("it is for '{}', which is no input of the caller",
                                       printable(spec.input->name()))
                         : std::string("it does not say for which input of the caller it is"));
  }

  Context& context_;
  const GraphSignature& signature_;
  const Graph& graph_;
  std::string where_;
  std::unordered_set<std::string_view> targets_;
  std::unordered_set<std::string_view> parameters_;
  std::unordered_set<std::string_view> buffers_;
  std::unordered_set<const Value*> user_inputs_;
  int group_ = 0;
};

}  // namespace

void verify_signature(Context& context) { SignatureVerifier(context).run(); }

}  // namespace flambeau::graph::verifying
