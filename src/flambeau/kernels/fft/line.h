// One line by its plan, whatever it is: in lanes, as a matrix, or as a convolution.
#pragma once

#include "flambeau/base/parallel.h"
#include "flambeau/kernels/fft/loops.h"

namespace flambeau::kernels::fft {

// Both lines have the plan's length. `from` may be `to`.
template <typename T>
void transform_line(ThreadPool& pool, const LinePlan<T>& plan, const Line<const T>& from, const Line<T>& to,
                    T scale);

// The same forward, of packed numbers, on this thread.
template <typename T>
void transform_packed(const LinePlan<T>& plan, const std::complex<T>* from, std::complex<T>* to);

}  // namespace flambeau::kernels::fft
