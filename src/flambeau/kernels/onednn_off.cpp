// Stands in for the folder onednn/ in builds without the library: nothing is available, nothing can be made.
#include "flambeau/base/error.h"
#include "flambeau/kernels/onednn/convolution.h"
#include "flambeau/kernels/onednn/matmul.h"
#include "flambeau/kernels/onednn/onednn.h"
#include "flambeau/kernels/onednn/pooled.h"

namespace flambeau::kernels::onednn {
namespace {

[[noreturn]] void missing() {
  throw Error(ErrorCode::kUnsupported, "this build has no oneDNN",
              "use the portable kernels, or build with FLAMBEAU_ONEDNN=ON");
}

}  // namespace

struct Layout::Desc {};
struct Layer::Prepared {};

bool available() { return false; }
std::string version() { return {}; }
void set_threads(int) {}
ThreadsScope::ThreadsScope(int) : before_(0) {}
ThreadsScope::~ThreadsScope() { static_cast<void>(before_); }

Layout Layout::plain(std::span<const int64_t>) { missing(); }
Layout Layout::channels_last(std::span<const int64_t>) { missing(); }
Layout Layout::strided(std::span<const int64_t>, std::span<const int64_t>) { missing(); }
Layout Layout::any(std::span<const int64_t>) { missing(); }
std::vector<int64_t> Layout::sizes() const { return {}; }
size_t Layout::bytes() const { return 0; }
bool Layout::is_any() const { return false; }
bool Layout::is_blocked() const { return false; }
bool Layout::equals(const Layout&) const { return true; }  // there is only the empty one
std::string Layout::name() const { return "none"; }

Layer::Layer() = default;
Layer::~Layer() = default;
Layer::Layer(Layer&&) noexcept = default;
Layer& Layer::operator=(Layer&&) noexcept = default;
size_t Layer::scratch_bytes() const { missing(); }
std::string Layer::implementation() const { missing(); }

Reorder::Reorder(const Layout&, const Layout&) { missing(); }
void Reorder::run(const float*, float*, void*) const { missing(); }
Elementwise::Elementwise(const Layout&, const PostOp&) { missing(); }
void Elementwise::run(const float*, float*, void*) const { missing(); }
Binary::Binary(BinaryKind, const Layout&, const Layout&, std::span<const PostOp>) { missing(); }
void Binary::run(const float*, const float*, float*, void*, std::span<const float* const>) const {
  missing();
}

Matmul::Matmul(const MatmulShape&, const float*, const float*, std::span<const PostOp>,
               std::span<const Weights>) {
  missing();
}
void Matmul::run(const float*, const float*, float*, void*, std::span<const float* const>) const {
  missing();
}
void sgemm(int64_t, int64_t, int64_t, float, const float*, bool, int64_t, const float*, bool, int64_t, float,
           float*, int64_t) {
  missing();
}

ConvolutionLayer::ConvolutionLayer(const ConvolutionShape&, const Layout&, const Layout&, const float*,
                                   const float*, std::span<const PostOp>, const Weights&) {
  missing();
}
std::pair<Layout, Layout> ConvolutionLayer::choose(const ConvolutionShape&, const Layout&, const Layout&,
                                                   std::span<const PostOp>) {
  missing();
}
void ConvolutionLayer::run(const float*, float*, void*, std::span<const float* const>) const { missing(); }
PoolingLayer::PoolingLayer(const PoolingShape&, const Layout&, const Layout&, std::span<const PostOp>) {
  missing();
}
void PoolingLayer::run(const float*, float*, void*, std::span<const float* const>) const { missing(); }

PooledMatmul::PooledMatmul(int, const MatmulShape&, const float*, const float*, std::span<const PostOp>,
                           PackedColumns*) {
  missing();
}
void PooledMatmul::run(ThreadPool&, const float*, const float*, float*, void*,
                       std::span<const float* const>) const {
  missing();
}
PooledConvolution::PooledConvolution(int, const ConvolutionShape&, const Layout&, const Layout&, const float*,
                                     const float*, std::span<const PostOp>) {
  missing();
}
void PooledConvolution::run(ThreadPool&, const float*, float*, void*, std::span<const float* const>) const {
  missing();
}

}  // namespace flambeau::kernels::onednn
