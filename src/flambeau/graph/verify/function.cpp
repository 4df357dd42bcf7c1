// The functions of Python that a program may call, nearly all of them on symbolic numbers.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

enum class Gives : uint8_t { kNumber, kBool, kAnything };

struct Function {
  std::string_view name;
  size_t arguments;  // nothing is checked of those that give anything
  Gives gives = Gives::kNumber;
};

// Those that PyTorch's verifier allows.
constexpr Function kCheckedFunctions[] = {
    {"_operator.abs", 1},
    {"_operator.add", 2},
    {"_operator.and_", 2},
    {"_operator.eq", 2, Gives::kBool},
    {"_operator.floordiv", 2},
    {"_operator.ge", 2, Gives::kBool},
    {"_operator.getitem", 2, Gives::kAnything},
    {"_operator.gt", 2, Gives::kBool},
    {"_operator.le", 2, Gives::kBool},
    {"_operator.lshift", 2},
    {"_operator.lt", 2, Gives::kBool},
    {"_operator.mod", 2},
    {"_operator.mul", 2},
    {"_operator.ne", 2, Gives::kBool},
    {"_operator.neg", 1},
    {"_operator.not_", 1, Gives::kBool},
    {"_operator.or_", 2},
    {"_operator.pow", 2},
    {"_operator.rshift", 2},
    {"_operator.sub", 2},
    {"_operator.truediv", 2},
    {"math.ceil", 1},
    {"math.floor", 1},
    {"math.trunc", 1},
    {"torch._C._set_grad_enabled", 0, Gives::kAnything},
    {"torch._functorch.predispatch._add_batch_dim", 0, Gives::kAnything},
    {"torch._functorch.predispatch._enter_dual_level", 0, Gives::kAnything},
    {"torch._functorch.predispatch._exit_dual_level", 0, Gives::kAnything},
    {"torch._functorch.predispatch._jvp_decrement_nesting", 0, Gives::kAnything},
    {"torch._functorch.predispatch._jvp_increment_nesting", 0, Gives::kAnything},
    {"torch._functorch.predispatch._make_dual", 0, Gives::kAnything},
    {"torch._functorch.predispatch._remove_batch_dim", 0, Gives::kAnything},
    {"torch._functorch.predispatch._unpack_dual", 0, Gives::kAnything},
    {"torch._functorch.predispatch._unwrap_for_grad", 0, Gives::kAnything},
    {"torch._functorch.predispatch._vmap_decrement_nesting", 0, Gives::kAnything},
    {"torch._functorch.predispatch._vmap_increment_nesting", 0, Gives::kAnything},
    {"torch._functorch.predispatch.lazy_load_decompositions", 0, Gives::kAnything},
    {"torch._sym_sqrt", 1},
    {"torch.amp.autocast_mode._enter_autocast", 0, Gives::kAnything},
    {"torch.amp.autocast_mode._exit_autocast", 0, Gives::kAnything},
    {"torch.autograd.grad_mode.set_grad_enabled", 0, Gives::kAnything},
    {"torch.export.custom_ops._call_custom_autograd_function_in_pre_dispatch", 0, Gives::kAnything},
    {"torch.fx.experimental.symbolic_shapes.cast_symbool_to_symint_guardless", 1},
    {"torch.sym_float", 1},
    {"torch.sym_int", 1},
    {"torch.sym_ite", 3},
    {"torch.sym_max", 2},
    {"torch.sym_min", 2},
    {"torch.sym_not", 1, Gives::kBool},
    {"torch.sym_sqrt", 1},
    {"torch.sym_sum", 1, Gives::kAnything},
};

const Function* find_function(std::string_view name) {
  const auto found = std::ranges::lower_bound(kCheckedFunctions, name, {}, &Function::name);
  return found != std::end(kCheckedFunctions) && found->name == name ? found : nullptr;
}

bool is_number(const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::kInt:
    case ArgumentKind::kFloat:
    case ArgumentKind::kBool:
    case ArgumentKind::kSymInt:
    case ArgumentKind::kSymFloat:
    case ArgumentKind::kSymBool:
    case ArgumentKind::kUnknown:  // reported where its name is checked
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_function(std::string_view name) { return find_function(name) != nullptr; }

void verify_function(Context& context, const Place& place, const Node& node, std::string_view name) {
  const Function& function = *find_function(name);
  if (function.gives == Gives::kAnything) return;
  constexpr std::string_view kRemedy = "the file is damaged or its writer is wrong: export the program again";
  if (node.inputs().size() != function.arguments) {
    context.add(
        "function-arguments", place,
        fmt::format("{} has {} arguments; expected {}", name, node.inputs().size(), function.arguments),
        kRemedy);
  }
  for (const NamedArgument& input : node.inputs()) {
    if (is_number(input.argument)) continue;
    context.add("function-arguments", place,
                fmt::format("argument '{}' of {} is {}; expected a number or a symbol", printable(input.name),
                            name, kind_words(input.argument)),
                kRemedy);
  }
  if (node.outputs().size() != 1) {
    context.add("function-output", place,
                fmt::format("{} has {} outputs; expected 1", name, node.outputs().size()), kRemedy);
    return;
  }
  const Argument& output = node.outputs()[0];
  const bool is_bool = output.is(ArgumentKind::kSymBool);
  const bool is_symbol = is_bool || output.is(ArgumentKind::kSymInt) || output.is(ArgumentKind::kSymFloat);
  if (output.is(ArgumentKind::kUnknown) || (function.gives == Gives::kBool ? is_bool : is_symbol)) return;
  context.add(
      "function-output", place,
      fmt::format("{} gives {}; expected {}", name, kind_words(output),
                  function.gives == Gives::kBool ? "as_sym_bool" : "as_sym_int, as_sym_float or as_sym_bool"),
      kRemedy);
}

}  // namespace flambeau::graph::verifying
