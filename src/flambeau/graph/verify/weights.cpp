// The weights that came with a program: all there, of the right sort, and shaped as the graph says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

class WeightVerifier {
 public:
  explicit WeightVerifier(Context& context) : context_(context), program_(context.program) {}

  void run() {
    collect(program_.state_dict, state_dict_, "state dict");
    collect(program_.constants, constants_, "constants");
    for (const NamedObject& object : program_.objects) objects_.insert(object.name);
    for (size_t i = 0; i < program_.signature.inputs.size(); ++i) {
      const InputSpec& spec = program_.signature.inputs[i];
      where_ = fmt::format("signature: input {} ('{}')", i, printable(spec.target));
      check(spec);
    }
  }

 private:
  using Tensors = std::unordered_map<std::string_view, const Weight*>;

  void collect(const std::vector<Weight>& from, Tensors& to, std::string_view what) {
    for (const Weight& tensor : from) {
      if (to.try_emplace(tensor.name, &tensor).second) continue;
      context_.add("duplicate-weight", std::string(what),
                   fmt::format("it has '{}' twice", printable(tensor.name)), "remove one of them");
    }
  }

  void add(std::string_view rule, std::string message, std::string_view remedy = kExportAgain) {
    context_.add(rule, where_, std::move(message), remedy);
  }

  static const Weight* find(const Tensors& tensors, std::string_view name) {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : found->second;
  }

  void check(const InputSpec& spec) {
    const Weight* tensor = nullptr;
    switch (spec.kind) {
      case InputKind::kParameter:
        tensor = find(state_dict_, spec.target);
        if (tensor == nullptr) {
          add("missing-weight",
              fmt::format("the parameter '{}' is not in the state dict", printable(spec.target)));
        } else if (!tensor->is_parameter) {
          add("not-a-parameter",
              fmt::format("'{}' is in the state dict, but not as a parameter", printable(spec.target)));
        }
        break;
      case InputKind::kBuffer:
        tensor = buffer(spec);
        break;
      case InputKind::kTensorConstant:
        tensor = find(constants_, spec.target);
        // A tensor of a class of somebody's own is kept as an object.
        if (tensor == nullptr && !objects_.contains(spec.target)) {
          add("missing-weight",
              fmt::format("the constant '{}' is not among the constants", printable(spec.target)));
        }
        break;
      case InputKind::kCustomObj:
        if (!objects_.contains(spec.target) && find(constants_, spec.target) == nullptr) {
          add("missing-weight",
              fmt::format("the object '{}' is not among the constants", printable(spec.target)));
        }
        break;
      default:
        break;
    }
    if (tensor != nullptr && tensor->tensor.defined() && spec.argument.value() != nullptr &&
        spec.argument.value()->tensor() != nullptr)
      compare(tensor->tensor, *spec.argument.value()->tensor());
  }

  const Weight* buffer(const InputSpec& spec) {
    const Weight* const saved = find(state_dict_, spec.target);
    const Weight* const constant = find(constants_, spec.target);
    if (!spec.persistent && saved != nullptr) {
      add("buffer-persistence",
          fmt::format("the buffer '{}' is in the state dict, but is not persistent", printable(spec.target)),
          "move it to the constants, or mark it persistent");
      return saved;
    }
    // PyTorch lifts some constants of subgraphs as persistent buffers and leaves them among the constants.
    if (saved == nullptr && constant == nullptr && !objects_.contains(spec.target)) {
      add("missing-weight", fmt::format("the buffer '{}' is not {}", printable(spec.target),
                                        spec.persistent ? "in the state dict" : "among the constants"));
    }
    return saved != nullptr ? saved : constant;
  }

  void compare(const Tensor& tensor, const TensorMeta& meta) {
    if (tensor.dtype() != meta.dtype) {
      add("weight-dtype",
          fmt::format("it is {}, but the graph says {}", dtype_name(tensor.dtype()), dtype_name(meta.dtype)));
    }
    if (tensor.layout() != meta.layout) {
      add("weight-layout", fmt::format("it is {}, but the graph says {}", layout_name(tensor.layout()),
                                       layout_name(meta.layout)));
      return;
    }
    if (!agree(tensor.sizes(), meta.sizes, nullptr)) {
      add("weight-shape", fmt::format("its sizes are [{}], but the graph says [{}]",
                                      fmt::join(tensor.sizes(), ", "), words(meta.sizes)));
      return;
    }
    if (meta.layout != Layout::kStrided || tensor.element_count() == 0) return;
    if (!agree(tensor.strides(), meta.strides, &tensor)) {
      add("weight-strides", fmt::format("its strides are [{}], but the graph says [{}]",
                                        fmt::join(tensor.strides(), ", "), words(meta.strides)));
    }
  }

  // An expression agrees with every number. A stride along a size of 1 means nothing.
  static bool agree(const Dims& numbers, const std::vector<SymInt>& expected, const Tensor* strided) {
    if (numbers.size() != expected.size()) return false;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (strided != nullptr && strided->sizes()[i] <= 1) continue;
      if (expected[i].is_literal() && expected[i].literal() != numbers[i]) return false;
    }
    return true;
  }

  static std::string words(const std::vector<SymInt>& list) {
    std::string text;
    for (const SymInt& number : list) {
      if (!text.empty()) text += ", ";
      text += number.is_literal() ? std::to_string(number.literal()) : printable(number.expr().text);
    }
    return text;
  }

  Context& context_;
  const ExportedProgram& program_;
  std::string where_;
  Tensors state_dict_;
  Tensors constants_;
  std::unordered_set<std::string_view> objects_;
};

}  // namespace

void verify_weights(Context& context) {
  if (context.program.has_weights) WeightVerifier(context).run();
}

}  // namespace flambeau::graph::verifying
