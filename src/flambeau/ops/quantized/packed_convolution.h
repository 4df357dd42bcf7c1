// Convolutions over packed weights, and their transposes, in one to three dimensions.
#pragma once

#include "flambeau/ops/quantized/packed.h"

namespace flambeau::ops {

// Of either class. Throws Error(kInvalidArgument) for another object.
const PackedConvolution& packed_convolution(const Value& value);
Object make_convolution(Tensor weight, Tensor bias, PackedConvolution::Parameters parameters);

// Quantized in and out.
Tensor convolve(Context& context, const Tensor& input, const PackedConvolution& convolution, double scale,
                int64_t zero_point, bool has_relu);
// Real numbers in and out, quantized on the way.
Tensor convolve_dynamic(Context& context, const Tensor& input, const PackedConvolution& convolution,
                        bool reduce_range);

Object convolution_from_state(const Value& state);
Value convolution_state(const Object& object);

}  // namespace flambeau::ops
