#include "flambeau/backends/onednn/layer.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <cstring>

#include "flambeau/backends/onednn/internal.h"
#include "flambeau/base/error.h"
#include "flambeau/base/isa.h"
#include "flambeau/kernels/gemm/scratch.h"

// The two functions of OpenMP's runtime that are needed; its header comes with some compilers only.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace flambeau::backends::onednn {
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

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine the_engine = make_engine();
  return the_engine;
}

ThreadsScope::ThreadsScope(int threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(std::max(threads, 1));
}
ThreadsScope::~ThreadsScope() { omp_set_num_threads(before_); }

void rethrow(const char* what, const dnnl::error& error) {
  const bool lacks = error.status == dnnl_unimplemented;
  throw Error(lacks ? ErrorCode::kUnsupported : ErrorCode::kInvalidArgument,
              fmt::format("oneDNN cannot prepare {}: {}", what, error.what()),
              lacks ? "use the portable kernel" : "");
}

dnnl::primitive_attr attributes(kernels::Epilogues epilogues) {
  using A = dnnl::algorithm;
  // In the order of the epilogues' kinds, but for the sum, which comes last.
  static constexpr A kAlgorithms[] = {A::eltwise_relu,      A::eltwise_clip,     A::eltwise_gelu_erf,
                                      A::eltwise_gelu_tanh, A::eltwise_swish,    A::eltwise_tanh,
                                      A::eltwise_logistic,  A::eltwise_hardswish};
  using Kind = kernels::Epilogue::Kind;
  static_assert(std::size(kAlgorithms) == static_cast<size_t>(Kind::kSum));
  dnnl::post_ops operations;
  for (const kernels::Epilogue& epilogue : epilogues) {
    if (epilogue.kind == Kind::kSum) {
      operations.append_sum(epilogue.alpha);
      continue;
    }
    const float alpha = epilogue.kind == Kind::kSilu ? 1.0F : epilogue.alpha;
    operations.append_eltwise(1.0F, kAlgorithms[static_cast<size_t>(epilogue.kind)], alpha, epilogue.beta);
  }
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(operations);
  return attr;
}

Weights packed(const float* weights, int64_t begin, const memory::desc& from_desc, const memory::desc& wanted,
               std::span<const Weights> same) {
  const auto found = std::ranges::find_if(
      same, [&](const Weights& one) { return one->begin == begin && one->desc == wanted; });
  if (found != same.end()) return *found;
  const std::shared_ptr<void> data = kernels::aligned_memory(std::max<size_t>(wanted.get_size(), 1));
  memory source(from_desc, engine(), const_cast<float*>(weights + begin)),
      target(wanted, engine(), data.get());
  dnnl::stream stream(engine());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
  return std::make_shared<const PackedArray>(PackedArray{wanted, begin, data});
}

struct Layer::Prepared::Arguments {
  dnnl::stream stream{engine()};
  memory source, out, scratch;
  std::vector<memory> constants;
  std::vector<dnnl_exec_arg_t> list;
};

Layer::Prepared::Prepared(dnnl::primitive the_primitive, const dnnl::primitive_desc_base& desc,
                          Weights the_weights, const memory::desc& bias_desc, const float* bias_data)
    : primitive(std::move(the_primitive)),
      source_desc(desc.query_md(dnnl::query::src_md)),
      out_desc(desc.query_md(dnnl::query::dst_md)),
      scratch_desc(desc.query_md(dnnl::query::scratchpad_md)),
      weights(std::move(the_weights)),
      threads(omp_get_max_threads()) {
  if (bias_data == nullptr) return;
  const std::shared_ptr<void> copy = kernels::aligned_memory(bias_desc.get_size());
  std::memcpy(copy.get(), bias_data, bias_desc.get_size());
  bias = std::make_shared<const PackedArray>(PackedArray{bias_desc, 0, copy});
}
Layer::Prepared::~Prepared() = default;

std::unique_ptr<Layer::Prepared::Arguments> Layer::Prepared::take() {
  {
    const std::lock_guard lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<Arguments> found = std::move(idle.back());
      idle.pop_back();
      return found;
    }
  }
  auto made = std::make_unique<Arguments>();
  const auto add = [&](int argument, const memory::desc& desc, const void* data) {
    memory object(desc, engine(), const_cast<void*>(data));
    made->list.push_back({argument, object.get()});
    return object;
  };
  made->source = add(DNNL_ARG_SRC, source_desc, DNNL_MEMORY_NONE);
  made->out = add(DNNL_ARG_DST, out_desc, DNNL_MEMORY_NONE);
  made->scratch = add(DNNL_ARG_SCRATCHPAD, scratch_desc, DNNL_MEMORY_NONE);
  made->constants.push_back(add(DNNL_ARG_WEIGHTS, weights->desc, weights->data.get()));
  if (bias) made->constants.push_back(add(DNNL_ARG_BIAS, bias->desc, bias->data.get()));
  return made;
}

void Layer::Prepared::execute(const float* source, float* out, void* scratch) {
  std::unique_ptr<Arguments> arguments = take();
  dnnl_memory_set_data_handle(arguments->source.get(), const_cast<float*>(source));
  dnnl_memory_set_data_handle(arguments->out.get(), out);
  dnnl_memory_set_data_handle(arguments->scratch.get(), scratch);
  // Loops were cut for this number of threads when the layer was made.
  const int before = omp_get_max_threads();
  if (before != threads) omp_set_num_threads(threads);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), arguments->stream.get(),
                             static_cast<int>(arguments->list.size()), arguments->list.data());
  if (before != threads) omp_set_num_threads(before);
  {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(arguments));
  }
  if (status != dnnl_success) {
    throw Error(status == dnnl_out_of_memory ? ErrorCode::kLimit : ErrorCode::kInternal,
                std::string("oneDNN could not run a layer: ") + dnnl_status2str(status));
  }
}

Layer::Layer(std::vector<std::unique_ptr<Prepared>> pieces) : pieces_(std::move(pieces)) {}
Layer::~Layer() = default;
Layer::Layer(Layer&&) noexcept = default;
Layer& Layer::operator=(Layer&&) noexcept = default;

size_t Layer::scratch_bytes() const {
  size_t most = 0;
  for (const auto& piece : pieces_) most = std::max(most, piece->scratch_desc.get_size());
  return most;
}
void Layer::share_weights(std::vector<Weights>& same) const {
  for (const auto& piece : pieces_) {
    if (std::ranges::find(same, piece->weights) == same.end()) same.push_back(piece->weights);
  }
}
void Layer::run(const float* source, float* out, void* scratch) const {
  for (const auto& piece : pieces_) piece->execute(source + piece->source_begin, out, scratch);
}

}  // namespace flambeau::backends::onednn
