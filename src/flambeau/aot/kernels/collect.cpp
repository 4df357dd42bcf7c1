#include "flambeau/aot/kernels/collect.h"

#include <algorithm>
#include <mutex>

#include "flambeau/backends/choice.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/example_inputs.h"
#include "flambeau/ops/engines/block_kernel.h"
#include "flambeau/runtime/program.h"

namespace flambeau::aot {
namespace {

// Has none, and keeps what is asked for.
class Collector : public ops::BlockKernels {
 public:
  ops::BlockKernel find(std::string_view code) const override {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(codes_, code) == codes_.end()) codes_.emplace_back(code);
    return nullptr;
  }
  std::vector<std::string> take() { return std::move(codes_); }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::string> codes_;
};

}  // namespace

std::vector<std::string> collect_kernels(const graph::ExportedProgram& program) {
  if (!pt2::has_example_inputs(program)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the program has no example inputs, and kernels are made for what a run with them does",
                "export the model with torch.export.save, which keeps them, or compile it without kernels");
  }
  const auto collector = std::make_shared<Collector>();
  // Compiled models have no other backend.
  runtime::Program trial(program.clone(),
                         {.backend = backends::make_backend("portable"), .kernels = collector});
  trial.prepare(pt2::read_example_inputs(program));
  return collector->take();
}

}  // namespace flambeau::aot
