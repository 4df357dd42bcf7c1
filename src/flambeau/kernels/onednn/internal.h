// What the files of this folder share: oneDNN's own types, prepared layers. Included nowhere else.
#pragma once

#include <oneapi/dnnl/dnnl_debug.h>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

#include "flambeau/kernels/onednn/onednn.h"

namespace flambeau::kernels::onednn {

struct Layout::Desc {
  dnnl::memory::desc value;
};

const dnnl::engine& engine();
Layout layout_of(const dnnl::memory::desc& desc);
inline const dnnl::memory::desc& desc_of(const Layout& layout) { return layout.desc().value; }
inline dnnl::memory::dims dims_of(std::span<const int64_t> sizes) { return {sizes.begin(), sizes.end()}; }

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

dnnl::algorithm algorithm_of(PostOp::Kind kind);
// Attributes with the post-ops and scratch memory that the caller brings.
dnnl::primitive_attr attributes(std::span<const PostOp> post);

// A primitive with its arguments. Argument objects hold addresses while they run, so every concurrent run
// needs a set of its own; sets are kept for the next run.
struct Layer::Prepared {
  Prepared(dnnl::primitive the_primitive, const dnnl::memory::desc& scratch, std::string name);
  ~Prepared();

  // An argument whose address is given at each run; the order of calls is the order at execute().
  void add_array(int argument, const dnnl::memory::desc& desc);
  void add_operands(std::span<const PostOp> post);
  // An argument that never changes.
  void add_constant(int argument, const dnnl::memory::desc& desc, std::shared_ptr<const void> data);

  void execute(std::span<const void* const> arrays, std::span<const float* const> operands, void* scratch);

  struct Arguments;
  std::unique_ptr<Arguments> take();
  void give_back(std::unique_ptr<Arguments> arguments);

  dnnl::primitive primitive;
  dnnl::memory::desc scratch_desc;
  std::string implementation;
  int threads;
  std::vector<std::pair<int, dnnl::memory::desc>> arrays, operands;
  struct Constant {
    int argument;
    dnnl::memory::desc desc;
    std::shared_ptr<const void> data;
  };
  std::vector<Constant> constants;

  std::mutex mutex;  // guards `idle`
  std::vector<std::unique_ptr<Arguments>> idle;
};

template <typename Primitive, typename PrimitiveDesc>
std::unique_ptr<Layer::Prepared> prepare(const PrimitiveDesc& desc) {
  return std::make_unique<Layer::Prepared>(Primitive(desc), desc.scratchpad_desc(), desc.impl_info_str());
}

// `from` copied into memory of the layout.
std::shared_ptr<const void> reordered(const float* from, const Layout& from_layout, const Layout& to_layout);
std::shared_ptr<const void> copied(const float* from, size_t count);

}  // namespace flambeau::kernels::onednn
