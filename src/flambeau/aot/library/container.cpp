#include "flambeau/aot/library/container.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "flambeau/aot/library/source.h"
#include "flambeau/base/error.h"
#include "flambeau/graph/verify/verify.h"

namespace flambeau::aot {
namespace {

// What limits the threads of PyTorch's own compiled models limits ours.
int threads_to_use() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return 0;
  const std::string_view words(text);
  int threads = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), threads);
  const bool is_number = error == std::errc() && (end == words.data() + words.size() || *end == ',');
  return is_number && threads > 0 && threads <= 1024 ? threads : 0;
}

Source verified(Source source) {
  graph::require_valid(source.program);
  return source;
}

}  // namespace

Container::Model::Model(Source source, std::vector<std::string> live)
    : kernels(source.kernels),
      program(std::move(source.program), {.threads = threads_to_use(),
                                          .live_weights = std::move(live),
                                          .kernels = std::move(source.kernels)}) {}

Container::Container(const std::string& folder)
    : Container(std::make_shared<Model>(verified(find_source(folder)))) {}

Container::Container(std::shared_ptr<Model> model)
    : active_(std::move(model)), constants_(active_->program.exported()) {
  active_->shared.resize(constants_.all().size());
  const graph::Interface& interface = active_->program.interface();
  bool has_dtype = false;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const graph::Leaf& leaf = interface.inputs[i];
    leaves_.push_back(leaf.constant);
    if (!leaf.is_tensor()) continue;
    input_leaves_.push_back(i);
    input_names_.push_back(leaf.label());
  }
  for (const graph::Leaf& leaf : interface.outputs) {
    if (leaf.is_tensor() && !has_dtype) output_dtype_ = leaf.dtype;
    has_dtype = has_dtype || leaf.is_tensor();
    output_names_.push_back(leaf.label());
  }
  in_spec_ = dump_treespec(interface.in_spec);
  out_spec_ = dump_treespec(interface.out_spec);
}

std::shared_ptr<Container::Model> Container::get(Which which) const {
  const std::lock_guard lock(mutex_);
  return which == Which::kActive ? active_ : inactive_;
}

void Container::put(Which which, std::shared_ptr<Model> model) {
  const std::lock_guard lock(mutex_);
  (which == Which::kActive ? active_ : inactive_).swap(model);
}

void Container::run(std::vector<HostTensorPointer> inputs, std::vector<HostTensorPointer>& outputs) {
  if (inputs.size() != input_leaves_.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the model takes {} tensors ({}), {} are given", input_leaves_.size(),
                            fmt::join(input_names_, ", "), inputs.size()));
  }
  if (outputs.size() != output_names_.size()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the model gives {} outputs, there is room for {}",
                                                         output_names_.size(), outputs.size()));
  }
  const std::shared_ptr<Model> model = get(Which::kActive);
  std::vector<Value> leaves = leaves_;
  std::vector<Tensor> views;
  views.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    views.push_back(view_of(inputs[i].get(), input_names_[i]));
    leaves[input_leaves_[i]] = views.back();
  }
  HostAllocator allocator(output_dtype_);
  runtime::RunOptions how;
  how.allocator = &allocator;
  const std::vector<Value> results = model->program.run(leaves, how);
  std::vector<HostTensorPointer> made;
  made.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    made.push_back(i < results.size() ? handle_of(results[i], views, inputs, allocator) : nullptr);
  outputs = std::move(made);
}

// Prepared layers have packed what they need of the weights, so new ones need a new program. Whatever the old
// one has changed in its own buffers goes on.
std::shared_ptr<Container::Model> Container::with(const Model& old,
                                                  const std::vector<std::pair<size_t, Tensor>>& values,
                                                  std::vector<std::shared_ptr<HostTensor>> shared) const {
  graph::ExportedProgram exported = old.program.exported().clone();
  std::vector<std::string> live;
  for (size_t i = 0; i < constants_.all().size(); ++i) {
    const std::string& name = constants_.all()[i].original;
    set_weight(exported, name, old.program.state(name));
    if (shared[i] != nullptr) live.push_back(name);
  }
  for (const auto& [index, tensor] : values) set_weight(exported, constants_.at(index).original, tensor);
  auto made = std::make_shared<Model>(Source{std::move(exported), old.kernels}, std::move(live));
  made->shared = std::move(shared);
  return made;
}

void Container::update(const NamedHandles& values, Which which, Values kind, bool must_be_all) {
  const std::lock_guard lock(update_mutex_);
  std::shared_ptr<Model> old = get(which);
  if (old == nullptr) old = get(Which::kActive);
  std::vector<std::shared_ptr<HostTensor>> shared = old->shared;
  std::vector<std::pair<size_t, Tensor>> fresh;
  std::vector<bool> is_given(constants_.all().size());
  for (const auto& [name, handle] : values) {
    const size_t index = constants_.find(name);
    if (index == constants_.all().size())
      throw Error(ErrorCode::kInvalidArgument, fmt::format("there is no constant '{}'", printable(name)));
    const Tensor view = view_of(handle, fmt::format("the constant '{}'", printable(name)));
    const Constant& constant = constants_.at(index);
    require_fit(constant, view);
    is_given[index] = true;
    shared[index] = kind == Values::kShared ? shared_handle(handle) : nullptr;
    fresh.emplace_back(index, kind == Values::kShared ? view : fitted(constant, view));
  }
  if (must_be_all) {
    std::vector<std::string> missing;
    for (size_t i = 0; i < is_given.size() && missing.size() < 10; ++i) {
      if (!is_given[i]) missing.push_back(constants_.at(i).original);
    }
    if (!missing.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("constants are left out: {}", fmt::join(missing, ", ")),
                  "give all, or do not ask for a full update");
    }
  }
  put(which, with(*old, fresh, std::move(shared)));
}

void Container::update_from_blob(const uint8_t* blob) {
  if (blob == nullptr) throw Error(ErrorCode::kInvalidArgument, "the constants are at no address");
  const std::lock_guard lock(update_mutex_);
  const std::shared_ptr<Model> old = get(Which::kActive);
  std::vector<std::pair<size_t, Tensor>> fresh;
  for (size_t i = 0; i < constants_.all().size(); ++i) {
    const Constant& constant = constants_.at(i);
    const auto bytes = static_cast<size_t>(constant.bytes);
    const Tensor values =
        Tensor::contiguous(constant.dtype, constant.sizes,
                           Storage::borrow(const_cast<uint8_t*>(blob) + constant.offset, bytes, nullptr));
    fresh.emplace_back(i, fitted(constant, values));
  }
  put(Which::kActive, with(*old, fresh, std::vector<std::shared_ptr<HostTensor>>(fresh.size())));
}

void Container::swap() {
  const std::lock_guard update(update_mutex_);
  const std::lock_guard lock(mutex_);
  if (inactive_ == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "there is no inactive set of constants to swap in",
                "update it first");
  }
  active_.swap(inactive_);
}

void Container::free_inactive() {
  const std::lock_guard update(update_mutex_);
  put(Which::kInactive, nullptr);
}

std::vector<std::pair<std::string, HostTensorPointer>> Container::copies(Which which) const {
  const std::shared_ptr<Model> model = get(which);
  if (model == nullptr) throw Error(ErrorCode::kInvalidArgument, "there is no inactive set of constants");
  std::vector<std::pair<std::string, HostTensorPointer>> all;
  for (const Constant& constant : constants_.all())
    all.emplace_back(constant.original, copy_of(model->program.state(constant.original)));
  return all;
}

}  // namespace flambeau::aot
