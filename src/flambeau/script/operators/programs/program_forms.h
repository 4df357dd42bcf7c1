// How operators of programs are said in TorchScript, which has no operators like them.
#pragma once

#include <cstdint>
#include <string_view>

namespace flambeau::script {

struct ProgramForm {
  enum class Kind : uint8_t {
    kMethod,       // (tensor)
    kMethodOfDim,  // (tensor, dimension)
    kNothing,      // it only tells something to whoever traces
    kAssertion,    // (condition, message)
    kConversion,   // (tensor, type or device)
    kAlias,        // (tensor)
    kElement,      // (tensor): a number of the type that the program says
  };
  std::string_view op;  // with its overload
  Kind kind;
  std::string_view method = {};
};

// Null for an operator that TorchScript has.
const ProgramForm* find_program_form(std::string_view op);

// Python's functions on numbers, as expressions over {0}, {1}, {2}; empty for one that is not known.
std::string_view function_form(std::string_view function);
// Of ints it is a float there.
bool is_power(std::string_view function);

}  // namespace flambeau::script
