// Prepared layers: the arguments of a primitive, and the layers that are one primitive over any layout.
#include <algorithm>
#include <array>

#include "flambeau/base/error.h"
#include "flambeau/kernels/onednn/internal.h"

extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace flambeau::kernels::onednn {
struct Layer::Prepared::Arguments {
  dnnl::stream stream{engine()};
  std::vector<dnnl::memory> memories;  // arrays, operands, scratch, constants
  std::vector<dnnl_exec_arg_t> list;
};

Layer::Prepared::Prepared(dnnl::primitive the_primitive, const dnnl::memory::desc& scratch, std::string name)
    : primitive(std::move(the_primitive)),
      scratch_desc(scratch),
      implementation(std::move(name)),
      threads(omp_get_max_threads()) {}

Layer::Prepared::~Prepared() = default;

void Layer::Prepared::add_array(int argument, const dnnl::memory::desc& desc) {
  arrays.emplace_back(argument, desc);
}

void Layer::Prepared::add_operands(std::span<const PostOp> post) {
  for (size_t i = 0; i < post.size(); ++i) {
    if (post[i].kind != PostOp::Kind::kAdd && post[i].kind != PostOp::Kind::kMultiply) continue;
    operands.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1,
                          desc_of(post[i].operand));
  }
}

void Layer::Prepared::add_constant(int argument, const dnnl::memory::desc& desc,
                                   std::shared_ptr<const void> data) {
  constants.push_back({argument, desc, std::move(data)});
}

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
  const auto add = [&](int argument, const dnnl::memory::desc& desc, void* data) {
    made->memories.emplace_back(desc, engine(), data);
    made->list.push_back({argument, made->memories.back().get()});
  };
  for (const auto& [argument, desc] : arrays) add(argument, desc, DNNL_MEMORY_NONE);
  for (const auto& [argument, desc] : operands) add(argument, desc, DNNL_MEMORY_NONE);
  add(DNNL_ARG_SCRATCHPAD, scratch_desc, DNNL_MEMORY_NONE);
  for (const Constant& constant : constants) {
    add(constant.argument, constant.desc, const_cast<void*>(constant.data.get()));
  }
  return made;
}

void Layer::Prepared::give_back(std::unique_ptr<Arguments> arguments) {
  const std::lock_guard lock(mutex);
  idle.push_back(std::move(arguments));
}

void Layer::Prepared::execute(std::span<const void* const> addresses,
                              std::span<const float* const> operand_addresses, void* scratch) {
  if (addresses.size() != arrays.size() || operand_addresses.size() != operands.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a layer was run with fewer or more arrays than it was made for");
  }
  std::unique_ptr<Arguments> arguments = take();
  size_t next = 0;
  const auto set = [&](const void* address) {
    dnnl_memory_set_data_handle(arguments->memories[next++].get(), const_cast<void*>(address));
  };
  for (const void* const address : addresses) set(address);
  for (const float* const address : operand_addresses) set(address);
  set(scratch);
  // Loops were cut for this number of threads when the layer was made.
  const int before = omp_get_max_threads();
  if (before != threads) omp_set_num_threads(threads);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), arguments->stream.get(),
                             static_cast<int>(arguments->list.size()), arguments->list.data());
  if (before != threads) omp_set_num_threads(before);
  give_back(std::move(arguments));
  if (status != dnnl_success) {
    throw Error(status == dnnl_out_of_memory ? ErrorCode::kLimit : ErrorCode::kInternal,
                std::string("oneDNN could not run a layer: ") + dnnl_status2str(status));
  }
}

Layer::Layer() = default;
Layer::~Layer() = default;
Layer::Layer(Layer&&) noexcept = default;
Layer& Layer::operator=(Layer&&) noexcept = default;

size_t Layer::scratch_bytes() const { return prepared_->scratch_desc.get_size(); }
std::string Layer::implementation() const { return prepared_->implementation; }

void Layer::execute(std::span<const void* const> arrays, std::span<const float* const> operands,
                    void* scratch) const {
  prepared_->execute(arrays, operands, scratch);
}

Reorder::Reorder(const Layout& from, const Layout& to) {
  translate("a change of layout", [&] {
    const dnnl::reorder::primitive_desc desc(engine(), desc_of(from), engine(), desc_of(to), attributes({}));
    prepared_ = prepare<dnnl::reorder>(desc);
    prepared_->add_array(DNNL_ARG_FROM, desc_of(from));
    prepared_->add_array(DNNL_ARG_TO, desc_of(to));
  });
}

void Reorder::run(const float* from, float* to, void* scratch) const {
  execute(std::array<const void*, 2>{from, to}, {}, scratch);
}

Elementwise::Elementwise(const Layout& layout, const PostOp& operation) {
  translate("an elementwise layer", [&] {
    const float alpha = operation.kind == PostOp::Kind::kSilu ? 1.0F : operation.alpha;
    const dnnl::eltwise_forward::desc wanted(dnnl::prop_kind::forward_inference, algorithm_of(operation.kind),
                                             desc_of(layout), alpha, operation.beta);
    const dnnl::eltwise_forward::primitive_desc desc(wanted, attributes({}), engine());
    prepared_ = prepare<dnnl::eltwise_forward>(desc);
    prepared_->add_array(DNNL_ARG_SRC, desc_of(layout));
    prepared_->add_array(DNNL_ARG_DST, desc_of(layout));
  });
}

void Elementwise::run(const float* from, float* to, void* scratch) const {
  execute(std::array<const void*, 2>{from, to}, {}, scratch);
}

Binary::Binary(BinaryKind kind, const Layout& left, const Layout& right, std::span<const PostOp> post) {
  constexpr std::array kAlgorithms = {dnnl::algorithm::binary_add, dnnl::algorithm::binary_sub,
                                      dnnl::algorithm::binary_mul, dnnl::algorithm::binary_div,
                                      dnnl::algorithm::binary_max, dnnl::algorithm::binary_min};
  translate("an elementwise layer of two arrays", [&] {
    const dnnl::binary::desc wanted(kAlgorithms[static_cast<size_t>(kind)], desc_of(left), desc_of(right),
                                    desc_of(left));
    const dnnl::binary::primitive_desc desc(wanted, attributes(post), engine());
    prepared_ = prepare<dnnl::binary>(desc);
    prepared_->add_array(DNNL_ARG_SRC_0, desc_of(left));
    prepared_->add_array(DNNL_ARG_SRC_1, desc_of(right));
    prepared_->add_array(DNNL_ARG_DST, desc_of(left));
    prepared_->add_operands(post);
  });
}

void Binary::run(const float* left, const float* right, float* to, void* scratch,
                 std::span<const float* const> operands) const {
  execute(std::array<const void*, 3>{left, right, to}, operands, scratch);
}

}  // namespace flambeau::kernels::onednn
