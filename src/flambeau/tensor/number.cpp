#include "flambeau/tensor/number.h"

#include <fmt/format.h>

namespace flambeau {

double to_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

std::string to_text(const Number& number) {
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

}  // namespace flambeau
