#include "flambeau/formats/state_dict/tensor_pickler.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau {

using pickle::Node;

TensorPickler::TensorPickler(pickle::Tree& tree) : tree_(tree), storage_word_(tree.string("storage")) {}

void TensorPickler::announce(const Tensor& tensor) {
  if (const SparseParts* parts = tensor.sparse_parts()) {
    for (const Tensor* part :
         {&parts->indices, &parts->compressed_indices, &parts->plain_indices, &parts->values}) {
      if (part->defined()) announce(*part);
    }
    return;
  }
  if (const Quantizer* params = tensor.quantizer(); params != nullptr && params->is_per_channel()) {
    announce(params->scales);
    announce(params->zero_points);
  }
  const auto [known, is_new] = known_.try_emplace(tensor.storage().get(), Known{tensor.dtype()});
  if (!is_new && known->second.dtype != tensor.dtype()) known->second.has_two_types = true;
}

Node* TensorPickler::describe(const Tensor& tensor) {
  const Description parts = describe_parts(tensor);
  return tree_.call(parts.function, parts.args);
}

TensorPickler::Description TensorPickler::describe_parts(const Tensor& tensor) {
  const auto utils = [&](std::string_view name) { return global("torch._utils", name); };
  Node* requires_grad = tree_.boolean(tensor.requires_grad());
  if (tensor.is_meta()) {
    return {utils("_rebuild_meta_tensor_no_storage"),
            tree_.tuple({global("torch", dtype_name(tensor.dtype())), dims(tensor.sizes()),
                         dims(tensor.strides()), requires_grad})};
  }
  if (const SparseParts* parts = tensor.sparse_parts()) {
    std::vector<Node*> data;
    if (tensor.layout() == Layout::kSparseCoo) {
      data = {describe(parts->indices), describe(parts->values), size(tensor.sizes()),
              tree_.boolean(parts->is_coalesced)};
    } else {
      data = {describe(parts->compressed_indices), describe(parts->plain_indices), describe(parts->values),
              size(tensor.sizes())};
    }
    return {utils("_rebuild_sparse_tensor"), tree_.tuple({layout(tensor.layout()), tree_.tuple(data)})};
  }
  const bool is_untyped = needs_untyped(tensor);
  Node* storage = persistent_storage(tensor, is_untyped);
  std::vector<Node*> args = {storage, tree_.integer(tensor.offset()), dims(tensor.sizes()),
                             dims(tensor.strides())};
  if (const Quantizer* params = tensor.quantizer()) {
    if (is_untyped) {
      throw Error(ErrorCode::kUnsupported, "a quantized tensor whose storage is also seen as another type");
    }
    args.insert(args.end(), {quantizer(*params), requires_grad, hooks()});
    return {utils("_rebuild_qtensor"), tree_.tuple(std::move(args))};
  }
  args.insert(args.end(), {requires_grad, hooks()});
  if (is_untyped) args.push_back(global("torch", dtype_name(tensor.dtype())));
  return {utils(is_untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2"), tree_.tuple(std::move(args))};
}

Node* TensorPickler::describe_storage(const Tensor& tensor, bool is_untyped) {
  return persistent_storage(tensor, is_untyped || needs_untyped(tensor));
}

bool TensorPickler::needs_untyped(const Tensor& tensor) const {
  const DTypeInfo& info = dtype_info(tensor.dtype());
  const auto known = known_.find(tensor.storage().get());
  return info.storage.empty() || (known != known_.end() && known->second.has_two_types) ||
         tensor.storage()->size() % info.size != 0;
}

// ('storage', class, key, location, element count)
Node* TensorPickler::persistent_storage(const Tensor& tensor, bool is_untyped) {
  const std::shared_ptr<Storage>& storage = tensor.storage();
  Known& known = known_.try_emplace(storage.get(), Known{tensor.dtype()}).first->second;
  if (known.key == nullptr) {
    known.key = tree_.string(std::to_string(storages_.size()));
    storages_.push_back(storage);
  }
  const DTypeInfo& info = dtype_info(tensor.dtype());
  Node* storage_class =
      is_untyped ? global("torch.storage", "UntypedStorage") : global("torch", info.storage);
  // A backend of another name cannot be named here: its bytes are in host memory.
  const bool is_other = tensor.device().type == DeviceType::kOther;
  const std::string location = is_other ? "cpu" : tensor.device().to_string();
  Node*& location_node = locations_[location];
  if (location_node == nullptr) location_node = tree_.string(location);
  const auto count = static_cast<int64_t>(storage->size() / (is_untyped ? 1 : info.size));
  return tree_.persistent(
      tree_.tuple({storage_word_, storage_class, known.key, location_node, tree_.integer(count)}));
}

Node* TensorPickler::quantizer(const Quantizer& quantizer) {
  Node* scheme = global("torch", scheme_name(quantizer.scheme));
  if (!quantizer.is_per_channel()) {
    return tree_.tuple({scheme, tree_.real(quantizer.scale), tree_.integer(quantizer.zero_point)});
  }
  return tree_.tuple(
      {scheme, describe(quantizer.scales), describe(quantizer.zero_points), tree_.integer(quantizer.axis)});
}

Node* TensorPickler::global(std::string_view module, std::string_view name) {
  Node*& node = globals_[fmt::format("{}\n{}", module, name)];
  if (node == nullptr) node = tree_.global(module, name);
  return node;
}

Node* TensorPickler::layout(Layout layout) {
  Node*& node = layouts_[layout];  // one object in Python
  if (node == nullptr) {
    node = tree_.call(global("torch.serialization", "_get_layout"),
                      tree_.tuple({tree_.string(fmt::format("torch.{}", layout_name(layout)))}));
  }
  return node;
}

Node* TensorPickler::dims(const Dims& values) {
  std::vector<Node*> items;
  items.reserve(values.size());
  for (const int64_t value : values) items.push_back(tree_.integer(value));
  return tree_.tuple(std::move(items));
}

Node* TensorPickler::size(const Dims& values) {
  return tree_.call(global("torch", "Size"), tree_.tuple({dims(values)}));
}

Node* TensorPickler::hooks() { return tree_.call(global("collections", "OrderedDict"), tree_.tuple()); }

}  // namespace flambeau
