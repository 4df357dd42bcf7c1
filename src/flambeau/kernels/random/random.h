// Arrays of random numbers, number for number as PyTorch's CPU operators draw them from the same generator:
// elements in order, each in the way of its type. Integers, uniform numbers, bernoulli, permutations and
// multinomial are PyTorch's bits; the others too, where the standard library's logarithm and sine are its own
// (normal numbers of float as PyTorch computes them on processors with AVX2).
//
// Types: float16, bfloat16, float32, float64 (complex ones are arrays of their parts, which the caller
// counts); random and bernoulli take integers and bool as well. Other types throw Error (kUnsupported).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "flambeau/kernels/random/generator.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau::kernels {

// In [from, to).
void uniform(Generator& generator, double from, double to, DType dtype, void* out, size_t n);

// With this mean and deviation. From 16 elements on PyTorch has another way if the tensor is contiguous;
// `contiguous` says whether the tensor is (`out` always is an array).
void normal(Generator& generator, double mean, double deviation, DType dtype, void* out, size_t n,
            bool contiguous = true);

// Integers in [from, to); without `to`, up to the largest of the type (of an integer that a floating-point
// type has: 2^24 for float32). Throws Error (kInvalidArgument) where PyTorch does: an empty or impossible
// range.
void random_integers(Generator& generator, int64_t from, std::optional<int64_t> to, DType dtype, void* out,
                     size_t n);
// What random_() without arguments gives: integers in [0, largest of the type].
void random_integers(Generator& generator, DType dtype, void* out, size_t n);

// 1 with probability p, else 0.
void bernoulli(Generator& generator, double p, DType dtype, void* out, size_t n);
// Each with its own probability, of a floating-point type.
void bernoulli(Generator& generator, DType p_dtype, const void* p, DType dtype, void* out, size_t n);

void exponential(Generator& generator, double lambda, DType dtype, void* out, size_t n);
void geometric(Generator& generator, double p, DType dtype, void* out, size_t n);
void cauchy(Generator& generator, double median, double sigma, DType dtype, void* out, size_t n);
void log_normal(Generator& generator, double mean, double deviation, DType dtype, void* out, size_t n);

// 0 to n-1 in random order.
void permutation(Generator& generator, int64_t* out, size_t n);

// `samples` draws from the distribution that `weights` are proportional to. Throws Error (kInvalidArgument)
// where PyTorch does: negative, infinite or only zero weights, more draws than categories.
void multinomial(Generator& generator, DType dtype, const void* weights, size_t rows, size_t categories,
                 size_t samples, bool with_replacement, int64_t* out);

}  // namespace flambeau::kernels
