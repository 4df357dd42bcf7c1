// Tensors in TorchScript's pickles: as torch.save describes them, but for sparse ones, meta ones, and
// storages that several share.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/value_pickler.h"

namespace flambeau::script {

using pickle::Node;

Node* ValuePickler::dims(const Dims& values) {
  std::vector<Node*> items;
  items.reserve(values.size());
  for (const int64_t value : values) items.push_back(tree_.integer(value));
  return tree_.tuple(items);
}

Node* ValuePickler::hooks_of_tensor() {
  return tree_.call(tree_.global("collections", "OrderedDict"), tree_.tuple());
}

// (storage, offset, sizes, strides[, quantizer], requires_grad, hooks)
Node* ValuePickler::save_tensor(const Tensor& tensor) {
  if (!tensor.defined()) throw Error(ErrorCode::kUnsupported, "an undefined tensor cannot be saved");
  if (tensor.sparse_parts() != nullptr) return save_sparse(tensor);
  const bool is_quantized = tensor.quantizer() != nullptr;
  std::vector<Node*> args = {save_storage(tensor), tree_.integer(tensor.offset()), dims(tensor.sizes()),
                             dims(tensor.strides())};
  if (is_quantized) args.push_back(save_quantizer(tensor));
  args.push_back(tree_.boolean(tensor.requires_grad()));
  args.push_back(hooks_of_tensor());
  return tree_.call(tree_.global("torch._utils", is_quantized ? "_rebuild_qtensor" : "_rebuild_tensor_v2"),
                    tree_.tuple(args));
}

// (layout, sizes, requires_grad, indices, values, hooks)
Node* ValuePickler::save_sparse(const Tensor& tensor) {
  const SparseParts& parts = *tensor.sparse_parts();
  std::vector<Node*> args = {tree_.integer(static_cast<int64_t>(tensor.layout())), dims(tensor.sizes()),
                             tree_.boolean(tensor.requires_grad())};
  if (tensor.layout() == Layout::kSparseCoo) {
    args.push_back(save_tensor(parts.indices));
  } else if (tensor.layout() == Layout::kSparseCsr) {
    args.push_back(save_tensor(parts.compressed_indices));
    args.push_back(save_tensor(parts.plain_indices));
  } else {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a sparse tensor of layout {} cannot be saved", layout_name(tensor.layout())));
  }
  args.push_back(save_tensor(parts.values));
  args.push_back(hooks_of_tensor());
  return tree_.call(tree_.global("torch._utils", "_rebuild_sparse_tensor"), tree_.tuple(args));
}

Node* ValuePickler::save_quantizer(const Tensor& tensor) {
  const Quantizer& quantizer = *tensor.quantizer();
  Node* scheme = tree_.global("torch", scheme_name(quantizer.scheme));
  if (!quantizer.is_per_channel()) {
    return tree_.tuple({scheme, tree_.real(quantizer.scale), tree_.integer(quantizer.zero_point)});
  }
  Node* scales = save_tensor(quantizer.scales);
  Node* zero_points = save_tensor(quantizer.zero_points);
  return tree_.tuple({scheme, scales, zero_points, tree_.integer(quantizer.axis)});
}

// ('storage', class, key, location, element count). A storage is of the type that it was first seen as.
Node* ValuePickler::save_storage(const Tensor& tensor) {
  Node*& node = storage_nodes_[tensor.storage().get()];
  if (node != nullptr) return node;
  const DTypeInfo& info = dtype_info(tensor.dtype());
  if (info.storage.empty()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a tensor of {} cannot be saved in a TorchScript archive", info.name));
  }
  auto [name, is_new] =
      shared_ != nullptr ? shared_->name_of(tensor) : std::pair(std::to_string(storages_.size()), true);
  Node* key = tree_.string(name);
  const auto count = static_cast<int64_t>(tensor.storage()->size() / info.size);
  node = tree_.persistent(tree_.tuple({tree_.string("storage"), tree_.global("torch", info.storage), key,
                                       tree_.string(tensor.device().to_string()), tree_.integer(count)}));
  if (is_new) storages_.push_back(tensor);
  return node;
}

std::pair<std::string, bool> SharedStorages::name_of(const Tensor& tensor) {
  const auto [place, is_new] = numbers.try_emplace(tensor.storage().get(), tensors.size());
  if (is_new) tensors.push_back(tensor);
  return {fmt::format("{}.storage", place->second), is_new};
}

}  // namespace flambeau::script
