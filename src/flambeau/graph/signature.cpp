#include "flambeau/graph/signature.h"

namespace flambeau::graph {

std::string_view input_kind_key(InputKind kind) {
  static constexpr std::string_view kKeys[] = {"user_input", "parameter", "buffer",         "tensor_constant",
                                               "custom_obj", "token",     "constant_input", ""};
  return kKeys[static_cast<size_t>(kind)];
}

std::string_view output_kind_key(OutputKind kind) {
  static constexpr std::string_view kKeys[] = {"user_output",
                                               "loss_output",
                                               "buffer_mutation",
                                               "gradient_to_parameter",
                                               "gradient_to_user_input",
                                               "user_input_mutation",
                                               "token",
                                               "parameter_mutation",
                                               ""};
  return kKeys[static_cast<size_t>(kind)];
}

}  // namespace flambeau::graph
