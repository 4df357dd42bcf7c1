// What the tests of exporting share: a function as a module, numbers of a tensor, errors as text.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/error.h"
#include "flambeau/nn.h"

namespace flambeau {

template <typename Forward>
class Function : public nn::Layer<Function<Forward>> {
 public:
  explicit Function(Forward forward) : forward_(std::move(forward)) {}
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) { return forward_(x); }

 private:
  Forward forward_;
};

inline std::vector<float> numbers(const Tensor& tensor) {
  const Tensor plain = tensor.to_contiguous();
  return {plain.data<float>(), plain.data<float>() + plain.element_count()};
}

// What it says when it refuses.
template <typename Action>
std::string error_text(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace flambeau
