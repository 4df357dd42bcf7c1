#include "flambeau/graph/higher_order.h"

#include <algorithm>
#include <iterator>

namespace flambeau::graph {
namespace {

// Every higher-order operator of PyTorch 2.13, in order of name.
constexpr HigherOrder kHigherOrder[] = {
    {"_export_tracepoint", ""},
    {"aoti_call_delegate", ""},
    {"associative_scan", "Gl.", GraphFit::kAssociative},
    {"auto_functionalized", "o.", GraphFit::kNone, false},
    {"auto_functionalized_v2", "o.", GraphFit::kNone, false},
    {"autograd_function_apply", ""},
    {"call_torchbind", "cs."},
    {"cond", "pGGl", GraphFit::kCond},
    {"custom_function_call", ""},
    {"dynamo_bypassing_wrapper", ""},
    {"executorch_call_delegate", ""},
    {"flat_apply", ""},
    {"flex_attention", "tttG."},
    {"flex_attention_backward", ""},
    {"foreach_map", ""},
    {"graphsafe_run_with_rng_state", ""},
    {"hints_wrapper", "Gl."},
    {"inductor_compiled_code", ""},
    {"inline_asm_elementwise", ""},
    {"invoke_leaf_function", ""},
    {"invoke_quant", ""},
    {"invoke_quant_packed", ""},
    {"invoke_subgraph", "GS.", GraphFit::kOperands},
    {"local_map_hop", ""},
    {"map_impl", "Gll", GraphFit::kLists},
    {"out_dtype", "o.", GraphFit::kNone, false},
    {"print", "s."},
    {"register_hook", ""},
    {"run_and_save_rng_state", ""},
    {"run_const_graph", "Gl", GraphFit::kLists},
    {"run_dtensor_rng_op", ""},
    {"run_with_rng_state", ""},
    {"scan", "Gll.", GraphFit::kScan},
    {"strict_mode", "Gl", GraphFit::kLists},
    {"tag_activation_checkpoint", "G."},
    {"trace_wrapped", ""},
    {"triton_kernel_wrapper_functional", ""},
    {"triton_kernel_wrapper_mutation", ""},
    {"while_loop", "GGll", GraphFit::kWhile},
    {"while_loop_stack_output", "GGll"},
    {"with_effects", "to.", GraphFit::kNone, false},
    {"wrap", "G."},
    {"wrap_activation_checkpoint", "G."},
    {"wrap_with_autocast", "sdbnG.", GraphFit::kOperands},
    {"wrap_with_set_grad_enabled", "bG.", GraphFit::kOperands},
};

}  // namespace

std::span<const HigherOrder> all_higher_order() { return kHigherOrder; }

const HigherOrder* find_higher_order(std::string_view name) {
  const auto found = std::ranges::lower_bound(kHigherOrder, name, {}, &HigherOrder::name);
  return found != std::end(kHigherOrder) && found->name == name ? found : nullptr;
}

}  // namespace flambeau::graph
