// The results of an operator as C++ values: a tensor, a list, a tuple of them.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "flambeau/value/value.h"

namespace flambeau {

// The caller knows what the operator gives; all of it for std::vector<Value>.
template <typename Result>
Result take_result(std::vector<Value> results) {
  if constexpr (std::is_same_v<Result, std::vector<Value>>) {
    return results;
  } else if constexpr (requires { std::tuple_size<Result>::value; }) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return Result{std::get<std::tuple_element_t<I, Result>>(std::move(results.at(I).data()))...};
    }(std::make_index_sequence<std::tuple_size_v<Result>>());
  } else {
    return std::get<Result>(std::move(results.at(0).data()));
  }
}

}  // namespace flambeau
