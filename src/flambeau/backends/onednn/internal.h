// What the files of this folder share: oneDNN's own types, prepared layers. Included nowhere else.
#pragma once

#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

#include "flambeau/backends/onednn/layer.h"

namespace flambeau::backends::onednn {

using dnnl::memory;

const dnnl::engine& engine();

// An array of float32 whose elements lie so many apart.
inline memory::desc strided(const memory::dims& sizes, const memory::dims& steps) {
  return {sizes, memory::data_type::f32, steps};
}
// One that lies as the layer is fastest with.
inline memory::desc any(const memory::desc& like) {
  return {like.dims(), memory::data_type::f32, memory::format_tag::any};
}

// Runs `body`; what oneDNN throws becomes an Error that names `what`.
[[noreturn]] void rethrow(const char* what, const dnnl::error& error);
template <typename Body>
decltype(auto) translate(const char* what, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const dnnl::error& error) {
    rethrow(what, error);
  }
}

// Attributes with the epilogues, and scratch memory that the caller brings.
dnnl::primitive_attr attributes(kernels::Epilogues epilogues);

struct PackedArray {
  memory::desc desc;
  int64_t begin;  // which element of the plain weights is its first
  std::shared_ptr<const void> data;
};
// One of `same` that lies as wanted, or a copy that does of the weights from element `begin` on.
Weights packed(const float* weights, int64_t begin, const memory::desc& from_desc, const memory::desc& wanted,
               std::span<const Weights> same);

// A primitive with its arguments. Argument objects hold addresses while they run, so every concurrent run
// needs a set of its own; sets are kept for the next run.
struct Layer::Prepared {
  Prepared(dnnl::primitive the_primitive, const dnnl::primitive_desc_base& desc, Weights the_weights,
           const memory::desc& bias_desc, const float* bias);
  ~Prepared();
  void execute(const float* source, float* out, void* scratch);

  struct Arguments;
  std::unique_ptr<Arguments> take();

  dnnl::primitive primitive;
  memory::desc source_desc, out_desc, scratch_desc;
  int64_t source_begin = 0;  // the element of the source to begin with
  Weights weights, bias;     // null: no bias
  int threads;

  std::mutex mutex;  // guards `idle`
  std::vector<std::unique_ptr<Arguments>> idle;
};

}  // namespace flambeau::backends::onednn
