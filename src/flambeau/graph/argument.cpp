#include "flambeau/graph/argument.h"

#include "flambeau/graph/graph.h"

namespace flambeau::graph {

GraphArgument::GraphArgument() = default;
GraphArgument::~GraphArgument() = default;
GraphArgument::GraphArgument(GraphArgument&&) noexcept = default;
GraphArgument& GraphArgument::operator=(GraphArgument&&) noexcept = default;

std::string_view argument_kind_key(ArgumentKind kind) {
  static constexpr std::string_view kKeys[kArgumentKinds] = {
      "as_none",
      "as_tensor",
      "as_tensors",
      "as_int",
      "as_ints",
      "as_float",
      "as_floats",
      "as_string",
      "as_strings",
      "as_sym_int",
      "as_sym_ints",
      "as_scalar_type",
      "as_memory_format",
      "as_layout",
      "as_device",
      "as_bool",
      "as_bools",
      "as_sym_bool",
      "as_sym_bools",
      "as_graph",
      "as_optional_tensors",
      "as_custom_obj",
      "as_operator",
      "as_sym_float",
      "as_sym_floats",
      "as_optional_tensor",
      "as_complex",
      "as_nested_tensors",
      "as_int_lists",
      "as_string_to_argument",
      "as_float_lists",
      "",
  };
  return kKeys[static_cast<size_t>(kind)];
}

Value* Argument::value() const {
  switch (kind()) {
    case ArgumentKind::kTensor:
      return get<ArgumentKind::kTensor>().get();
    case ArgumentKind::kOptionalTensor:
      return get<ArgumentKind::kOptionalTensor>().get();
    case ArgumentKind::kSymInt:
      return get<ArgumentKind::kSymInt>().ref.get();
    case ArgumentKind::kSymFloat:
      return get<ArgumentKind::kSymFloat>().ref.get();
    case ArgumentKind::kSymBool:
      return get<ArgumentKind::kSymBool>().ref.get();
    case ArgumentKind::kCustomObj:
      return get<ArgumentKind::kCustomObj>().ref.get();
    default:
      return nullptr;
  }
}

void Argument::attach(ValueRef::Role role, Node* user) {
  for_each_ref([&](ValueRef& ref) { ref.attach(role, user); });
}

}  // namespace flambeau::graph
