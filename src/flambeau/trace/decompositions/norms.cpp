// Normalizations: each layer's own operator becomes the native one that gives statistics, too.
#include "flambeau/trace/decompositions/parts.h"
#include "flambeau/trace/decompositions/table.h"

namespace flambeau::trace {
namespace {

using ops::Context;

Tensor batch_norm(Context& context, const Tensor& input, const Value& weight, const Value& bias,
                  const Value& mean, const Value& variance, bool is_training, const Value& momentum,
                  const Value& eps) {
  std::vector<Value> results;
  if (!is_training) {
    results = call<std::vector<Value>>(context, "aten::_native_batch_norm_legit_no_training", input, weight,
                                       bias, mean, variance, momentum, eps);
  } else if (mean.is_none()) {
    results = call<std::vector<Value>>(context, "aten::_native_batch_norm_legit.no_stats", input, weight,
                                       bias, true, momentum, eps);
  } else {
    results = call<std::vector<Value>>(context, "aten::_native_batch_norm_legit", input, weight, bias, mean,
                                       variance, true, momentum, eps);
  }
  return results.at(0).tensor();
}

std::vector<Value> instance_norm(Context& context, const Arguments& given) {
  const Tensor& input = given.tensor(0);
  const SymIntList sizes = sizes_of(input);
  SymIntList shape = {SymInt(1), sizes[0] * sizes[1]};
  for (size_t d = 2; d < sizes.size(); ++d) shape.push_back(sizes[d]);
  const auto repeated = [&](size_t index) {
    return given.has(index) ? Value(call(context, "aten::repeat", given.tensor(index), SymIntList{sizes[0]}))
                            : Value();
  };
  const Value weight = repeated(1);
  const Value bias = repeated(2);
  const Value mean = repeated(3);
  const Value variance = repeated(4);
  const Tensor packed = call(context, "aten::contiguous", input);
  const Tensor flat = call(context, "aten::view", packed, shape);
  const bool is_training = given.flag(5);
  const Tensor output =
      batch_norm(context, flat, weight, bias, mean, variance, is_training, given[6], given[7]);
  for (const size_t index : {3, 4}) {
    if (!given.has(index) || !is_training) continue;
    const Tensor rows =
        call(context, "aten::view", (index == 3 ? mean : variance).tensor(), SymIntList{sizes[0], sizes[1]});
    call(context, "aten::copy_", call(context, "aten::alias", given.tensor(index)),
         call(context, "aten::mean.dim", rows, Dims{0}));
  }
  return gives(call(context, "aten::view", output, sizes));
}

std::vector<Value> rms_norm(Context& context, const Arguments& given) {
  const Tensor& input = given.tensor(0);
  if (input.dtype() != DType::kFloat32 && input.dtype() != DType::kFloat64) return {};
  const int64_t rank = rank_of(input);
  std::vector<int64_t> dims;
  const auto count = static_cast<int64_t>(given.numbers(1).size());
  for (int64_t i = 0; i < count; ++i) dims.push_back(rank - 1 - i);
  const double least = input.dtype() == DType::kFloat32 ? 1.1920928955078125e-07 : 2.220446049250313e-16;
  const Tensor squares = call(context, "aten::pow.Tensor_Scalar", input, 2);
  const Tensor mean = call(context, "aten::mean.dim", squares, integers(dims), true);
  const Tensor moved = call(context, "aten::add.Scalar", mean, given.has(3) ? given.real(3) : least);
  const Tensor result = call(context, "aten::mul.Tensor", input, call(context, "aten::rsqrt", moved));
  return gives(given.has(2) ? call(context, "aten::mul.Tensor", result, given.tensor(2)) : result);
}

}  // namespace

void add_norms(DecompositionTable& table) {
  table.composite("aten::batch_norm", [](Context& context, const Arguments& given) {
    return gives(batch_norm(context, given.tensor(0), given[1], given[2], given[3], given[4], given.flag(5),
                            given[6], given[7]));
  });
  table.composite("aten::instance_norm", instance_norm);
  table.composite("aten::layer_norm", [](Context& context, const Arguments& given) {
    return gives(call<std::vector<Value>>(context, "aten::native_layer_norm", given[0], given[1], given[2],
                                          given[3], given[4])
                     .at(0));
  });
  table.composite("aten::group_norm", [](Context& context, const Arguments& given) {
    const Tensor input = call(context, "aten::contiguous", given.tensor(0));
    const SymIntList sizes = sizes_of(input);
    SymInt space = 1;
    for (size_t d = 2; d < sizes.size(); ++d) space *= sizes[d];
    return gives(call<std::vector<Value>>(context, "aten::native_group_norm", input, given[2], given[3],
                                          sizes[0], sizes[1], space, given[1], given[4])
                     .at(0));
  });
  table.composite("aten::rms_norm", rms_norm);
}

}  // namespace flambeau::trace
