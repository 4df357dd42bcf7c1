// What tests of operators on tensors share: counting tensors, calls, and comparing with what PyTorch gave.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau::ops {

struct Fixture {
  Library library;
  ThreadPool pool{2};
  Context context{library, pool};

  template <typename Result = Tensor, typename... Arguments>
  Result run(std::string_view name, const Arguments&... arguments) {
    return call<Result>(context, name, arguments...);
  }
  // What the error of a call says, without its remedy.
  template <typename... Arguments>
  std::string error(std::string_view name, const Arguments&... arguments) {
    try {
      call<std::vector<Value>>(context, name, arguments...);
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  }
};

struct OperatorTest : testing::Test, Fixture {
  // The text of the error that a call ends with.
  template <typename... Arguments>
  std::string error_of(std::string_view name, const Arguments&... arguments) {
    try {
      call<std::vector<Value>>(context, name, arguments...);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

inline Tensor floats(std::initializer_list<int64_t> sizes, const std::vector<float>& values) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, Dims(sizes));
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

// 0, 1, 2, ... times a factor, plus a number.
inline Tensor ramp(std::initializer_list<int64_t> sizes, float factor = 1, float added = 0) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, Dims(sizes));
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>(i) * factor + added;
  }
  return tensor;
}

template <typename T = float>
std::vector<T> values_of(const Tensor& tensor) {
  const Tensor packed = tensor.to_contiguous();
  return {packed.data<T>(), packed.data<T>() + packed.element_count()};
}

inline void expect_values(const Tensor& tensor, const std::vector<float>& expected, float tolerance = 2e-5F) {
  const std::vector<float> values = values_of(tensor);
  ASSERT_EQ(values.size(), expected.size()) << tensor.summary();
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0F, std::abs(expected[i]))) << "at " << i;
  }
}

}  // namespace flambeau::ops
