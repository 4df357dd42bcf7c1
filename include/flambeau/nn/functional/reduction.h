// Sums, extremes, norms and orders along dimensions.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor sum(Input x, std::optional<DType> dtype = {});
Tensor sum(Input x, const Dims& dims, bool keepdim = false, std::optional<DType> dtype = {});
Tensor sum(Input x, int64_t dim, bool keepdim = false, std::optional<DType> dtype = {});
Tensor mean(Input x, std::optional<DType> dtype = {});
Tensor mean(Input x, const Dims& dims, bool keepdim = false, std::optional<DType> dtype = {});
Tensor mean(Input x, int64_t dim, bool keepdim = false, std::optional<DType> dtype = {});
Tensor prod(Input x, int64_t dim, bool keepdim = false);
Tensor var(Input x, const Dims& dims, bool unbiased = true, bool keepdim = false);
Tensor var(Input x, int64_t dim, bool unbiased = true, bool keepdim = false);
Tensor std(Input x, int64_t dim, bool unbiased = true, bool keepdim = false);
Tensor logsumexp(Input x, int64_t dim, bool keepdim = false);
Tensor cumsum(Input x, int64_t dim);
Tensor cumprod(Input x, int64_t dim);

Tensor max(Input x);
Tensor min(Input x);
// Values and where they were found.
std::pair<Tensor, Tensor> max(Input x, int64_t dim, bool keepdim = false);
std::pair<Tensor, Tensor> min(Input x, int64_t dim, bool keepdim = false);
Tensor amax(Input x, int64_t dim, bool keepdim = false);
Tensor amax(Input x, const Dims& dims, bool keepdim = false);
Tensor amin(Input x, int64_t dim, bool keepdim = false);
Tensor amin(Input x, const Dims& dims, bool keepdim = false);
Tensor argmax(Input x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor argmin(Input x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor any(Input x);
Tensor any(Input x, int64_t dim, bool keepdim = false);
Tensor all(Input x);
Tensor all(Input x, int64_t dim, bool keepdim = false);

std::pair<Tensor, Tensor> topk(Input x, const SymInt& k, int64_t dim = -1, bool largest = true,
                               bool sorted = true);
std::pair<Tensor, Tensor> sort(Input x, int64_t dim = -1, bool descending = false);
Tensor argsort(Input x, int64_t dim = -1, bool descending = false);

Tensor vector_norm(Input x, const Number& ord = 2, const std::optional<Dims>& dims = {},
                   bool keepdim = false);
Tensor normalize(Input x, double p = 2.0, int64_t dim = 1, double eps = 1e-12);

}  // namespace flambeau::nn
