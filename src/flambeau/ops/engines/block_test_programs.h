// Random programs of blocks for tests: operators of all kinds over tensors of all types, which lie in all
// ways.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/engines/block_kernel.h"
#include "flambeau/ops/engines/block_program.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {

inline constexpr DType kTypes[] = {DType::kFloat32,   DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                   DType::kBFloat16,  DType::kInt64,   DType::kInt32,   DType::kInt16,
                                   DType::kInt8,      DType::kUInt8,   DType::kBool,    DType::kComplex64,
                                   DType::kComplex128};

class BlockPrograms : public OperatorTest {
 protected:
  size_t choose(size_t count) { return random_() % count; }
  DType any_type() { return kTypes[choose(std::size(kTypes))]; }

  // Small numbers, and such as are not.
  double any_number(bool is_floating) {
    constexpr double kOdd[] = {0.0,
                               -0.0,
                               1.0,
                               -1.0,
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN(),
                               65519.0,
                               1e-40,
                               -3e38,
                               5e-324,
                               1e-7,
                               1e-40,
                               -3e38,
                               5e-324};
    if (is_floating && choose(8) == 0) return kOdd[choose(std::size(kOdd))];
    return is_floating ? static_cast<double>(choose(2000)) / 250.0 - 4.0
                       : static_cast<double>(choose(9)) - 3.0;
  }

  Tensor filled(DType dtype, const Dims& sizes) {
    Tensor numbers = Tensor::zeros(DType::kFloat64, sizes);
    for (int64_t i = 0; i < numbers.element_count(); ++i)
      numbers.mutable_data<double>()[i] = any_number(is_floating(dtype) || is_complex(dtype));
    Tensor made = Tensor::zeros(dtype, sizes);
    copy_into(context, numbers, made);
    return made;
  }

  // Broadcasts to the sizes, and lies in one way or another.
  Tensor any_tensor(DType dtype, const Dims& sizes) {
    Dims own = sizes;
    switch (choose(6)) {
      case 0:  // other dimensions inside
        if (sizes.size() >= 2) {
          std::swap(own[0], own[sizes.size() - 1]);
          const Tensor turned = filled(dtype, own);
          Dims strides = turned.strides();
          std::swap(strides[0], strides[sizes.size() - 1]);
          return turned.with_geometry({sizes, strides, 0});
        }
        return filled(dtype, own);
      case 1:  // every second
        if (!sizes.empty()) {
          own[sizes.size() - 1] *= 2;
          const Tensor wide = filled(dtype, own);
          Dims strides = wide.strides();
          strides[sizes.size() - 1] *= 2;
          return wide.with_geometry({sizes, strides, sizes[sizes.size() - 1] > 0 ? 1 : 0});
        }
        return filled(dtype, own);
      case 2:  // one for all
        return filled(dtype, choose(2) == 0 ? Dims{} : Dims(sizes.size(), 1));
      case 3:  // one for a dimension
        for (size_t d = 0; d < own.size(); ++d) {
          if (choose(2) == 0) own[d] = 1;
        }
        return filled(dtype, own);
      default:
        return filled(dtype, own);
    }
  }

  // A value for an argument; nothing where its kind is another matter.
  std::optional<Value> any_argument(const SchemaArgument& argument, const std::vector<Tensor>& values) {
    const bool is_optional = argument.type.is(TypeKind::kOptional);
    if (is_optional && choose(2) == 0) return Value();
    switch (argument.type.without_optional().kind()) {
      case TypeKind::kTensor:
        return Value(values[choose(values.size())]);
      case TypeKind::kNumber: {
        const Scalar numbers[] = {0.5, 2, -1, 3, 1, true, -0.5, 2.0};
        return Value(numbers[choose(std::size(numbers))]);
      }
      case TypeKind::kFloat:
        return Value(0.25);
      case TypeKind::kInt:
        return Value(int64_t{argument.name == "dim" ? -1 : 2});
      case TypeKind::kBool:
        return Value(false);
      case TypeKind::kString:
        return Value(std::string(argument.name == "approximate" ? "tanh" : "trunc"));
      case TypeKind::kScalarType:
        return Value(any_type());
      default:
        return is_optional ? std::optional<Value>(Value()) : std::nullopt;
    }
  }

  // Nothing where the bits are the same. The sign of a NaN says nothing: it depends on where in a vector a
  // number stood.
  static std::string difference(const Tensor& is, const Tensor& wanted) {
    const auto bytes = static_cast<size_t>(wanted.byte_count());
    if (bytes == 0 || std::memcmp(is.data(), wanted.data(), bytes) == 0) return "";
    if (is_integral(wanted.dtype())) return "other integers";
    const DType part = is_complex(wanted.dtype()) ? to_real(wanted.dtype()) : wanted.dtype();
    const size_t count = bytes / dtype_size(part);
    const auto numbers = [&](const Tensor& tensor) {
      std::vector<double> read(count);
      load_packed(part, tensor.data(), static_cast<int64_t>(dtype_size(part)), count, DType::kFloat64,
                  read.data());
      return read;
    };
    const std::vector<double> a = numbers(is);
    const std::vector<double> b = numbers(wanted);
    for (size_t i = 0; i < count; ++i) {
      const bool is_same =
          std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]);
      if (!is_same) return fmt::format("element {}: {:.17g}, not {:.17g}", i, a[i], b[i]);
    }
    return "";
  }

  // A program of random operators: its inputs, its steps and their results, in this order.
  struct Made {
    Tensor like;
    std::vector<Tensor> values;
    size_t inputs = 0;
    std::vector<BlockStep> steps;
    std::string text;
  };
  Made make(const Dims& sizes, const std::vector<const Operator*>& operators, unsigned seed) {
    random_.seed(seed);
    std::vector<Tensor> values;
    const size_t most_inputs = 1 + choose(4);
    for (size_t i = 0; i < most_inputs; ++i) values.push_back(any_tensor(any_type(), sizes));
    values.push_back(filled(any_type(), sizes));
    const size_t inputs = values.size();
    Tensor like = values.back();
    if (sizes.size() >= 2 && choose(3) == 0) {  // channels last, so to speak
      Dims strides = sizes;
      int64_t stride = 1;
      for (size_t d = 0; d < sizes.size(); ++d) {
        strides[d] = stride;
        stride *= std::max<int64_t>(sizes[d], 1);
      }
      like = like.with_geometry({sizes, strides, 0});
    }
    std::vector<BlockStep> steps;
    std::string text = "seed " + std::to_string(seed) + ":";
    size_t outputs = 0;
    for (size_t tries = 0; tries < 60 && steps.size() < 2 + choose(10) && outputs < 3; ++tries) {
      const Operator& op = *operators[choose(operators.size())];
      std::vector<Value> arguments;
      for (const SchemaArgument& argument : op.schema.arguments) {
        std::optional<Value> value = any_argument(argument, values);
        if (!value) break;
        arguments.push_back(std::move(*value));
      }
      if (arguments.size() != op.schema.arguments.size()) continue;
      Tensor result;
      BlockStep step;
      try {
        result = call(context, op, arguments).at(0).tensor();
        step.body = op.body(arguments, result);
      } catch (const Error&) {
        continue;  // not for these types
      }
      if (result.sizes() != sizes) continue;
      bool is_known = true;
      for (const Input& input : step.body.inputs()) {
        if (input.tensor == nullptr) {
          step.sources.push_back({});
          continue;
        }
        const auto found = std::ranges::find_if(values, [&](const Tensor& value) {
          return value.storage() == input.tensor->storage() && value.sizes() == input.tensor->sizes() &&
                 value.strides() == input.tensor->strides() && value.offset() == input.tensor->offset();
        });
        is_known = is_known && found != values.end();
        const auto index = static_cast<size_t>(found - values.begin());
        step.sources.push_back(index < inputs ? BlockSource{BlockSource::Kind::kInput, index}
                                              : BlockSource{BlockSource::Kind::kStep, index - inputs});
      }
      if (!is_known) continue;
      text += " " + op.name() + " to " + std::string(dtype_name(result.dtype()));
      step.dtype = result.dtype();
      step.is_output = choose(5) == 0;
      outputs += step.is_output ? 1 : 0;
      steps.push_back(std::move(step));
      values.push_back(result);
    }
    if (!steps.empty()) steps.back().is_output = true;
    return {like, std::move(values), inputs, std::move(steps), std::move(text)};
  }

  // Whether it gives what its operators do, one after another.
  void check(const Made& made, const BlockKernels* kernels = nullptr) {
    std::vector<Tensor> found;
    const std::vector<Value> given(made.values.begin(),
                                   made.values.begin() + static_cast<std::ptrdiff_t>(made.inputs));
    for (const BlockStep& step : made.steps) {
      if (!step.is_output) continue;
      Info<Size> info{.dtype = step.dtype, .sizes = made.like.sizes(), .strides = made.like.strides()};
      found.push_back(context.allocate(info));
    }
    const std::span<const Tensor> from_outside(made.values.data(), made.inputs);
    const BlockProgram program(from_outside, made.steps, made.like, kernels);
    program.run(context, given, found);
    size_t at = 0;
    for (size_t i = 0; i < made.steps.size(); ++i) {
      if (!made.steps[i].is_output) continue;
      const Tensor is = found[at++].to_contiguous();
      const Tensor wanted = made.values[made.inputs + i].to_contiguous();
      EXPECT_EQ(difference(is, wanted), "") << "step " << i << " of " << made.text;
    }
  }

  // Says how many steps it had.
  size_t check(const Dims& sizes, const std::vector<const Operator*>& operators, unsigned seed) {
    SCOPED_TRACE(seed);
    const Made made = make(sizes, operators, seed);
    if (!made.steps.empty()) check(made);
    return made.steps.size();
  }

  std::vector<const Operator*> with_bodies() const {
    std::vector<const Operator*> found;
    for (const std::string& name : library.names()) {
      const Operator& op = library.get(name);
      if (!(op.body == nullptr)) found.push_back(&op);
    }
    return found;
  }

  std::mt19937 random_;
};

}  // namespace flambeau::ops
