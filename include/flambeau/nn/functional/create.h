// New tensors.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor zeros(const Sizes& size, std::optional<DType> dtype = {},
             std::source_location where = std::source_location::current());
Tensor ones(const Sizes& size, std::optional<DType> dtype = {},
            std::source_location where = std::source_location::current());
Tensor full(const Sizes& size, const Number& value, std::optional<DType> dtype = {},
            std::source_location where = std::source_location::current());
Tensor empty(const Sizes& size, std::optional<DType> dtype = {},
             std::source_location where = std::source_location::current());
Tensor rand(const Sizes& size, std::optional<DType> dtype = {},
            std::source_location where = std::source_location::current());
Tensor randn(const Sizes& size, std::optional<DType> dtype = {},
             std::source_location where = std::source_location::current());
Tensor randint(const SymInt& low, const SymInt& high, const Sizes& size, std::optional<DType> dtype = {},
               std::source_location where = std::source_location::current());
Tensor eye(const SymInt& n, std::optional<DType> dtype = {},
           std::source_location where = std::source_location::current());
Tensor arange(const Number& end, std::optional<DType> dtype = {},
              std::source_location where = std::source_location::current());
Tensor arange(const Number& start, const Number& end, std::optional<DType> dtype = {},
              std::source_location where = std::source_location::current());
Tensor arange(const Number& start, const Number& end, const Number& step, std::optional<DType> dtype = {},
              std::source_location where = std::source_location::current());
Tensor linspace(const Number& start, const Number& end, int64_t steps, std::optional<DType> dtype = {},
                std::source_location where = std::source_location::current());

// A tensor of one number, or of a row of them, that the model's code has in it: a constant of its program.
Tensor tensor(const Number& value, std::optional<DType> dtype = {},
              std::source_location where = std::source_location::current());
Tensor tensor(const std::vector<double>& values, std::optional<DType> dtype = {},
              std::source_location where = std::source_location::current());

Tensor zeros_like(Input x, std::optional<DType> dtype = {});
Tensor ones_like(Input x, std::optional<DType> dtype = {});
Tensor full_like(Input x, const Number& value, std::optional<DType> dtype = {});
Tensor empty_like(Input x, std::optional<DType> dtype = {});
Tensor rand_like(Input x);
Tensor randn_like(Input x);
Tensor new_zeros(Input x, const Sizes& size);
Tensor new_ones(Input x, const Sizes& size);
Tensor new_full(Input x, const Sizes& size, const Number& value);

}  // namespace flambeau::nn
