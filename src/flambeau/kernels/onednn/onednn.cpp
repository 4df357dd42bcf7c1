#include "flambeau/kernels/onednn/onednn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/base/isa.h"
#include "flambeau/kernels/gemm/scratch.h"
#include "flambeau/kernels/onednn/internal.h"

// The two functions of OpenMP's runtime that are needed; its header comes with some compilers only.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace flambeau::kernels::onednn {
namespace {

// Must come before the first use of the library: it looks at the processor once. No float32 loop wants more
// than AVX-512, and version 2.6.3 picks loops with AMX and bfloat16 instructions where a virtual machine
// announces but does not have them.
dnnl::engine make_engine() {
  const Isa isa = current_isa();
  dnnl::set_max_cpu_isa(isa == Isa::kAvx512 ? dnnl::cpu_isa::avx512_core
                        : isa == Isa::kAvx2 ? dnnl::cpu_isa::avx2
                                            : dnnl::cpu_isa::sse41);
  return dnnl::engine(dnnl::engine::kind::cpu, 0);
}

dnnl::memory::dims packed_strides(std::span<const int64_t> sizes) {
  dnnl::memory::dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine the_engine = make_engine();
  return the_engine;
}

bool available() { return true; }

std::string version() {
  const dnnl_version_t* const found = dnnl_version();
  return fmt::format("{}.{}.{}", found->major, found->minor, found->patch);
}

void set_threads(int threads) { omp_set_num_threads(std::max(threads, 1)); }

ThreadsScope::ThreadsScope(int threads) : before_(omp_get_max_threads()) { set_threads(threads); }
ThreadsScope::~ThreadsScope() { omp_set_num_threads(before_); }

void rethrow(const char* what, const dnnl::error& error) {
  const bool lacks = error.status == dnnl_unimplemented;
  throw Error(lacks ? ErrorCode::kUnsupported : ErrorCode::kInvalidArgument,
              fmt::format("oneDNN cannot prepare {}: {}", what, error.what()),
              lacks ? "use the portable kernel" : "");
}

Layout layout_of(const dnnl::memory::desc& desc) {
  return Layout(std::make_shared<const Layout::Desc>(Layout::Desc{desc}));
}

Layout Layout::plain(std::span<const int64_t> sizes) { return strided(sizes, packed_strides(sizes)); }

Layout Layout::channels_last(std::span<const int64_t> sizes) {
  if (sizes.size() < 3) return plain(sizes);
  std::vector<int64_t> last(sizes.begin(), sizes.end());
  last.erase(last.begin() + 1);
  last.push_back(sizes[1]);
  std::vector<int64_t> steps = packed_strides(last);
  steps.insert(steps.begin() + 1, steps.back());
  steps.pop_back();
  return strided(sizes, steps);
}

Layout Layout::strided(std::span<const int64_t> sizes, std::span<const int64_t> steps) {
  return translate("a memory layout", [&] {
    return layout_of(dnnl::memory::desc(dims_of(sizes), dnnl::memory::data_type::f32, dims_of(steps)));
  });
}

Layout Layout::any(std::span<const int64_t> sizes) {
  return translate("a memory layout", [&] {
    return layout_of(
        dnnl::memory::desc(dims_of(sizes), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any));
  });
}

std::vector<int64_t> Layout::sizes() const {
  const dnnl::memory::dims dims = desc_ ? desc_->value.dims() : dnnl::memory::dims{};
  return {dims.begin(), dims.end()};
}
size_t Layout::bytes() const { return desc_ ? desc_->value.get_size() : 0; }
bool Layout::is_any() const { return desc_ && desc_->value.data.format_kind == dnnl_format_kind_any; }
bool Layout::is_blocked() const {
  return desc_ && desc_->value.data.format_kind == dnnl_blocked &&
         desc_->value.data.format_desc.blocking.inner_nblks > 0;
}

bool Layout::equals(const Layout& other) const {
  if (desc_ == other.desc_) return true;
  return desc_ && other.desc_ && desc_->value == other.desc_->value;
}

std::string Layout::name() const {
  if (!desc_) return "none";
  const dnnl_memory_desc_t& data = desc_->value.data;
  std::string text;
  for (int i = 0; i < data.ndims; ++i) text += fmt::format("{}{}", i > 0 ? "x" : "", data.dims[i]);
  if (is_any()) return text + " any";
  if (data.format_kind != dnnl_blocked) return text + " packed";
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  // oneDNN's own way: dimensions from outermost to innermost, a capital for one that is also blocked.
  std::vector<int> order(static_cast<size_t>(data.ndims));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
  text += ' ';
  for (const int dim : order) {
    const bool blocked = std::find(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks, dim) !=
                         blocking.inner_idxs + blocking.inner_nblks;
    text += static_cast<char>((blocked ? 'A' : 'a') + dim);
  }
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    text += fmt::format("{}{}", blocking.inner_blks[i], static_cast<char>('a' + blocking.inner_idxs[i]));
  }
  return text;
}

dnnl::algorithm algorithm_of(PostOp::Kind kind) {
  switch (kind) {
    case PostOp::Kind::kRelu:
      return dnnl::algorithm::eltwise_relu;
    case PostOp::Kind::kClip:
      return dnnl::algorithm::eltwise_clip;
    case PostOp::Kind::kGeluErf:
      return dnnl::algorithm::eltwise_gelu_erf;
    case PostOp::Kind::kGeluTanh:
      return dnnl::algorithm::eltwise_gelu_tanh;
    case PostOp::Kind::kSilu:
      return dnnl::algorithm::eltwise_swish;
    case PostOp::Kind::kTanh:
      return dnnl::algorithm::eltwise_tanh;
    case PostOp::Kind::kSigmoid:
      return dnnl::algorithm::eltwise_logistic;
    case PostOp::Kind::kHardSwish:
      return dnnl::algorithm::eltwise_hardswish;
    case PostOp::Kind::kElu:
      return dnnl::algorithm::eltwise_elu;
    case PostOp::Kind::kLinear:
      return dnnl::algorithm::eltwise_linear;
    case PostOp::Kind::kExp:
      return dnnl::algorithm::eltwise_exp;
    case PostOp::Kind::kSquare:
      return dnnl::algorithm::eltwise_square;
    case PostOp::Kind::kSqrt:
      return dnnl::algorithm::eltwise_sqrt;
    case PostOp::Kind::kAbs:
      return dnnl::algorithm::eltwise_abs;
    case PostOp::Kind::kAdd:
      return dnnl::algorithm::binary_add;
    case PostOp::Kind::kMultiply:
      return dnnl::algorithm::binary_mul;
    case PostOp::Kind::kSum:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument, "a sum with the output is no operation of its own");
}

dnnl::primitive_attr attributes(std::span<const PostOp> post) {
  dnnl::post_ops operations;
  for (const PostOp& operation : post) {
    if (operation.kind == PostOp::Kind::kSum) {
      operations.append_sum(operation.alpha);
    } else if (operation.kind == PostOp::Kind::kAdd || operation.kind == PostOp::Kind::kMultiply) {
      operations.append_binary(algorithm_of(operation.kind), desc_of(operation.operand));
    } else {
      const float alpha = operation.kind == PostOp::Kind::kSilu ? 1.0F : operation.alpha;
      operations.append_eltwise(1.0F, algorithm_of(operation.kind), alpha, operation.beta);
    }
  }
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(operations);
  return attr;
}

std::shared_ptr<const void> copied(const float* from, size_t count) {
  std::shared_ptr<void> memory = aligned_memory(count * sizeof(float));
  std::memcpy(memory.get(), from, count * sizeof(float));
  return memory;
}

std::shared_ptr<const void> reordered(const float* from, const Layout& from_layout, const Layout& to_layout) {
  std::shared_ptr<void> memory = aligned_memory(std::max<size_t>(to_layout.bytes(), 1));
  const Reorder reorder(from_layout, to_layout);
  const std::shared_ptr<void> scratch = aligned_memory(std::max<size_t>(reorder.scratch_bytes(), 1));
  reorder.run(from, static_cast<float*>(memory.get()), scratch.get());
  return memory;
}

}  // namespace flambeau::kernels::onednn
