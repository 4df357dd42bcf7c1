// The stub of a build without transforms.
#include "flambeau/base/error.h"
#include "flambeau/kernels/fft/fft.h"

namespace flambeau::kernels {

void run_fft(ThreadPool&, const FftLines&) {
  throw Error(ErrorCode::kUnsupported, "this build of Flambeau has no Fourier transforms",
              "build it with -DFLAMBEAU_FFT=ON");
}

bool has_fft() { return false; }

}  // namespace flambeau::kernels
