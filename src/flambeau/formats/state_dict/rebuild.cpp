#include "flambeau/formats/state_dict/rebuild.h"
#include "flambeau/formats/description_budget.h"

#include <fmt/format.h>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/state_dict/numpy_pickle.h"
#include "flambeau/formats/state_dict/persistent_ids.h"
#include "flambeau/formats/state_dict/resolve_bits.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

// Parameters of subclasses of wrapped tensors: real files nest three deep.
constexpr int kMostNesting = 16;

void need_arguments(std::span<Node* const> args, size_t least, size_t most, std::string_view what) {
  if (args.size() < least || args.size() > most) {
    const std::string range = least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
    corrupt(fmt::format("{} takes {} arguments, {} are given", what, range, args.size()));
  }
}

// torch.FloatTensor, torch.cuda.HalfTensor: the classes of the earliest files.
std::optional<DType> legacy_tensor_class(const Node::GlobalName& global) {
  if (global.module != "torch" && global.module != "torch.cuda") return std::nullopt;
  if (!global.name.ends_with("Tensor") || global.name == "Tensor") return std::nullopt;
  const std::string storage = std::string(global.name.substr(0, global.name.size() - 6)) + "Storage";
  return dtype_from_storage(storage);
}

bool truthy(const Node& node) {
  return node.is(Kind::kBool) ? node.as_bool() : node.is(Kind::kInt) && node.as_int() != 0;
}

bool has_true(const Node& dict, std::string_view key) {
  const Node* value = dict.is(Kind::kDict) ? dict.find(key) : nullptr;
  return value != nullptr && truthy(*value);
}

Layout layout_from_node(const Node& node) {
  if (node.is(Kind::kInt)) {  // PyTorch's C++ pickler writes the number
    const int64_t number = node.as_int();
    for (const Layout layout : {Layout::kStrided, Layout::kSparseCoo, Layout::kSparseCsr, Layout::kSparseCsc,
                                Layout::kSparseBsr, Layout::kSparseBsc}) {
      if (static_cast<int64_t>(layout) == number) return layout;
    }
    corrupt(fmt::format("{} is not the number of a layout", number));
  }
  std::string name;
  if (node.is(Kind::kGlobal)) {
    name = node.as_global().dotted();
  } else if (node.is(Kind::kCall) && node.as_call().callee->is_global("torch.serialization._get_layout") &&
             node.as_call().args->is(Kind::kTuple) && node.as_call().args->items().size() == 1) {
    name = std::string(node.as_call().args->items()[0]->as_string());
  } else {
    corrupt(fmt::format("a layout is expected, found {}", a_kind(node.kind())));
  }
  const std::optional<Layout> layout = layout_from_name(name);
  if (!layout) corrupt(fmt::format("'{}' is not a layout", printable(name)));
  return *layout;
}

double number_of(const Node& node) {
  return node.is(Kind::kInt) ? static_cast<double>(node.as_int()) : node.as_float();
}

}  // namespace

Dims dims_from_node(const Node& node) {
  const Node* list = &node;
  if (node.is(Kind::kCall)) {
    const Node::Call& call = node.as_call();
    if (!call.callee->is_global("torch.Size") || !call.args->is(Kind::kTuple) ||
        call.args->items().size() != 1) {
      corrupt("a list of sizes is expected, found another call");
    }
    list = call.args->items()[0];
  }
  const std::span<Node* const> items = list->items();
  if (items.size() > kMostDimensions) corrupt(fmt::format("a tensor of {} dimensions", items.size()));
  Dims dims;
  dims.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) dims[i] = items[i]->as_int();
  return dims;
}

DType dtype_from_node(const Node& node) {
  if (node.is(Kind::kInt)) {
    if (const std::optional<DType> dtype = dtype_from_number(node.as_int())) return *dtype;
    corrupt(fmt::format("{} is not the number of an element type", node.as_int()));
  }
  const Node::GlobalName& global = node.as_global();
  if (global.module == "torch") {
    if (const std::optional<DType> dtype = dtype_from_name(global.name)) return *dtype;
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("'{}' is not a known element type", printable(global.dotted())),
              "a newer Flambeau may know it");
}

StorageClass storage_class_from_node(const Node& node) {
  const Node::GlobalName& global = node.as_global();
  const bool known_module =
      global.module == "torch" || global.module == "torch.cuda" || global.module == "torch.storage";
  if (known_module && (global.name == "UntypedStorage" || global.name == "_UntypedStorage")) {
    return {DType::kUInt8, true};
  }
  if (known_module) {
    if (const std::optional<DType> dtype = dtype_from_storage(global.name)) return {*dtype, false};
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("'{}' is not a known storage class", printable(global.dotted())),
              "a newer Flambeau may know it");
}

const Rebuilt* Rebuilder::find(const Node& node) { return find_at(node, 0); }

const Rebuilt* Rebuilder::find_at(const Node& node, int depth) {
  if (!node.is(Kind::kCall) && !node.is(Kind::kPersistent)) return nullptr;
  const auto found = cache_.find(&node);
  if (found != cache_.end()) return &found->second;
  std::optional<Rebuilt> rebuilt = rebuild(node, depth);
  return rebuilt ? &cache_.emplace(&node, std::move(*rebuilt)).first->second : nullptr;
}

std::optional<Rebuilt> Rebuilder::rebuild(const Node& node, int depth) {
  if (depth > kMostNesting)
    corrupt(fmt::format("tensors are wrapped in each other more than {} deep", kMostNesting));
  if (node.is(Kind::kPersistent)) {
    if (class_in_persistent_id(*node.persistent_id()) != nullptr) return std::nullopt;
    std::variant<TypedStorage, Tensor> loaded = source_.load(*node.persistent_id(), 0);
    if (Tensor* tensor = std::get_if<Tensor>(&loaded))
      return Rebuilt{std::move(*tensor), TensorRole::kTensor, &node};
    const TypedStorage& typed = std::get<TypedStorage>(loaded);
    const auto count = static_cast<int64_t>(typed.storage->size() / dtype_size(typed.dtype));
    return Rebuilt{Tensor::strided(typed.dtype, {{count}, {1}, 0}, typed.storage, typed.device),
                   TensorRole::kStorage, &node};
  }
  const Node::Call& call = node.as_call();
  if (!call.callee->is(Kind::kGlobal)) return std::nullopt;
  const Node::GlobalName& global = call.callee->as_global();
  if (is_numpy_array_call(node)) return Rebuilt{numpy_.read(node), TensorRole::kNumpyArray, &node};
  if (!call.args->is(Kind::kTuple)) return std::nullopt;
  const std::span<Node* const> args = call.args->items();
  if (global.module == "torch._utils") return rebuild_torch_utils(node, global.name, args, depth);

  const bool is_tensor_module = global.module == "torch._tensor" || global.module == "torch.tensor";
  if (is_tensor_module && (global.name == "_rebuild_from_type_v2" || global.name == "_rebuild_from_type")) {
    need_arguments(args, 4, 4, global.name);
    // (function, class, arguments, state): a subclass of Tensor, or a Tensor with attributes.
    if (!args[0]->is(Kind::kGlobal) || !args[2]->is(Kind::kTuple) ||
        args[0]->as_global().module != "torch._utils") {
      return std::nullopt;
    }
    std::optional<Rebuilt> inner =
        rebuild_torch_utils(node, args[0]->as_global().name, args[2]->items(), depth + 1);
    if (inner &&
        (args[1]->is_global("torch.nn.parameter.Parameter") || args[1]->is_global("torch.nn.Parameter"))) {
      inner->role = TensorRole::kParameter;
    }
    return inner;
  }
  if (global.module == "torch.nn.parameter" && (global.name == "Parameter" || global.name == "Buffer")) {
    // Early files: Parameter(data), with (data, requires_grad) or a dict as its state.
    const Node* data = nullptr;
    if (!args.empty()) {
      data = args[0];
    } else if (call.state != nullptr && call.state->is(Kind::kTuple) && !call.state->items().empty()) {
      data = call.state->items()[0];
    }
    const Rebuilt* inner = data == nullptr ? nullptr : find_at(*data, depth + 1);
    if (inner == nullptr) return std::nullopt;
    Rebuilt wrapped = *inner;
    wrapped.role = global.name == "Parameter" ? TensorRole::kParameter : TensorRole::kTensor;
    wrapped.tensor.set_requires_grad(wrapped.role == TensorRole::kParameter);
    return wrapped;
  }
  if (legacy_tensor_class(global)) {
    if (call.state == nullptr || !call.state->is(Kind::kTuple)) return std::nullopt;
    return Rebuilt{rebuild_strided(call.state->items(), false), TensorRole::kTensor, &node};
  }
  return std::nullopt;
}

std::optional<Rebuilt> Rebuilder::rebuild_torch_utils(const Node& node, std::string_view function,
                                                      std::span<Node* const> args, int depth) {
  const auto plain = [&](Tensor tensor) { return Rebuilt{std::move(tensor), TensorRole::kTensor, &node}; };
  if (function == "_rebuild_tensor_v2") {
    need_arguments(args, 6, 7, function);
    Tensor tensor = rebuild_strided(args, false);
    tensor.set_requires_grad(truthy(*args[4]));
    return plain(args.size() > 6
                     ? bits_.resolve(tensor, has_true(*args[6], "conj"), has_true(*args[6], "neg"))
                     : std::move(tensor));
  }
  if (function == "_rebuild_tensor_v3") {
    need_arguments(args, 7, 8, function);
    Tensor tensor = rebuild_strided(args, true);
    tensor.set_requires_grad(truthy(*args[4]));
    return plain(args.size() > 7
                     ? bits_.resolve(tensor, has_true(*args[7], "conj"), has_true(*args[7], "neg"))
                     : std::move(tensor));
  }
  if (function == "_rebuild_tensor") {
    need_arguments(args, 4, 4, function);
    return plain(rebuild_strided(args, false));
  }
  if (function == "_rebuild_parameter" || function == "_rebuild_parameter_with_state") {
    need_arguments(args, 3, 4, function);
    Rebuilt inner{part(*args[0], depth), TensorRole::kParameter, args[0]};
    inner.tensor.set_requires_grad(truthy(*args[1]));
    return inner;
  }
  if (function == "_rebuild_qtensor") return plain(rebuild_quantized(args, depth));
  if (function == "_rebuild_sparse_tensor" || function == "_rebuild_sparse_csr_tensor") {
    return plain(rebuild_sparse(args, depth));
  }
  if (function == "_rebuild_meta_tensor_no_storage") return plain(rebuild_meta(args));
  if (function == "_rebuild_device_tensor_from_cpu_tensor" ||
      function == "_rebuild_device_tensor_from_numpy" || function == "_rebuild_xla_tensor") {
    need_arguments(args, 4, 4, function);
    Tensor tensor = part(*args[0], depth);
    if (const std::optional<Device> device = parse_device(args[2]->as_string())) tensor.set_device(*device);
    tensor.set_requires_grad(truthy(*args[3]));
    // The data may be of another type than the tensor was on its device: the values are what counts.
    return Rebuilt{std::move(tensor), TensorRole::kTensor, args[0]};
  }
  return std::nullopt;  // nested tensors, wrapper subclasses: the walker shows their parts
}

Tensor Rebuilder::part(const Node& node, int depth) {
  const Rebuilt* inner = find_at(node, depth + 1);
  if (inner == nullptr) corrupt(fmt::format("a tensor is expected, found {}", a_kind(node.kind())));
  return inner->tensor;
}

// Early files keep per-channel scales as plain lists.
Tensor Rebuilder::tensor_from_list(const Node& list, DType dtype) {
  Tensor& tensor = lists_[{&list, dtype}];
  if (tensor.defined()) return tensor;
  const std::span<Node* const> items = list.items();
  tensor = Tensor::zeros(dtype, Dims{static_cast<int64_t>(items.size())});
  uint8_t* to = tensor.mutable_contiguous_bytes().data();
  for (const Node* item : items) {
    if (dtype == DType::kInt64) {
      store_le<int64_t>(to, item->as_int());
    } else if (dtype == DType::kFloat64) {
      store_le<double>(to, number_of(*item));
    } else {
      store_le<float>(to, static_cast<float>(number_of(*item)));
    }
    to += dtype_size(dtype);
  }
  return tensor;
}

TypedStorage Rebuilder::storage_of(const Node& node, size_t word) {
  // Some tar files hold the id itself where a persistent id belongs.
  const Node& id = node.is(Kind::kTuple) ? node : *node.persistent_id();
  std::variant<TypedStorage, Tensor> loaded = source_.load(id, word);
  if (TypedStorage* typed = std::get_if<TypedStorage>(&loaded)) return std::move(*typed);
  corrupt("a storage is expected, found a tensor");
}

// (storage, offset, sizes, strides, requires_grad, hooks[, dtype][, bits])
Tensor Rebuilder::rebuild_strided(std::span<Node* const> args, bool dtype_is_given) {
  need_arguments(args, 4, 8, "a tensor");
  const std::optional<DType> given = dtype_is_given ? std::optional(dtype_from_node(*args[6])) : std::nullopt;
  TypedStorage typed = storage_of(*args[0], given ? dtype_info(*given).word : 0);
  const DType dtype = given.value_or(typed.dtype);
  Geometry geometry{dims_from_node(*args[2]), dims_from_node(*args[3]), args[1]->as_int()};
  return Tensor::strided(dtype, std::move(geometry), std::move(typed.storage), typed.device);
}

// (storage, offset, sizes, strides, quantizer, requires_grad, hooks)
Tensor Rebuilder::rebuild_quantized(std::span<Node* const> args, int depth) {
  need_arguments(args, 7, 7, "_rebuild_qtensor");
  Tensor base = rebuild_strided(args.subspan(0, 4), false);
  const std::span<Node* const> params = args[4]->items();
  if (params.empty()) corrupt("a quantized tensor without a scheme");
  Quantizer quantizer;
  if (params[0]->is(Kind::kInt)) {  // PyTorch's C++ pickler writes the number
    const int64_t number = params[0]->as_int();
    if (number < 0 || number > 4)
      corrupt(fmt::format("{} is not the number of a quantization scheme", number));
    quantizer.scheme = static_cast<Quantizer::Scheme>(number);
  } else {
    const std::string name = params[0]->as_global().dotted();
    const std::optional<Quantizer::Scheme> scheme = scheme_from_name(name);
    if (!scheme) corrupt(fmt::format("'{}' is not a quantization scheme", printable(name)));
    quantizer.scheme = *scheme;
  }
  if (quantizer.is_per_channel()) {
    need_arguments(params, 4, 4, "a per-channel quantizer");
    const bool has_float_params = quantizer.scheme == Quantizer::Scheme::kPerChannelAffineFloatQParams;
    const auto parameter = [&](const Node& node, DType dtype) {
      return node.is(Kind::kList) ? tensor_from_list(node, dtype) : part(node, depth);
    };
    quantizer.scales = parameter(*params[1], has_float_params ? DType::kFloat32 : DType::kFloat64);
    quantizer.zero_points = parameter(*params[2], has_float_params ? DType::kFloat32 : DType::kInt64);
    quantizer.axis = params[3]->as_int();
  } else {
    need_arguments(params, 3, 3, "a per-tensor quantizer");
    quantizer.scale = number_of(*params[1]);
    quantizer.zero_point = params[2]->as_int();
  }
  Tensor tensor = Tensor::quantized(std::move(base), std::move(quantizer));
  tensor.set_requires_grad(truthy(*args[5]));
  return tensor;
}

// (layout, (indices, values, sizes[, coalesced])) or (layout, (compressed, plain, values, sizes))
Tensor Rebuilder::rebuild_sparse(std::span<Node* const> args, int depth) {
  if (args.size() == 6 || args.size() == 7) return rebuild_script_sparse(args, depth);
  need_arguments(args, 2, 2, "_rebuild_sparse_tensor");
  const Layout layout = layout_from_node(*args[0]);
  const std::span<Node* const> data = args[1]->items();
  SparseParts parts;
  if (layout == Layout::kSparseCoo) {
    need_arguments(data, 3, 4, "a sparse COO tensor");
    parts.indices = part(*data[0], depth);
    parts.values = part(*data[1], depth);
    parts.is_coalesced = data.size() == 4 && truthy(*data[3]);
    return Tensor::sparse(layout, dims_from_node(*data[2]), std::move(parts));
  }
  if (layout == Layout::kStrided) corrupt("a sparse tensor cannot have the strided layout");
  need_arguments(data, 4, 4, "a compressed sparse tensor");
  parts.compressed_indices = part(*data[0], depth);
  parts.plain_indices = part(*data[1], depth);
  parts.values = part(*data[2], depth);
  return Tensor::sparse(layout, dims_from_node(*data[3]), std::move(parts));
}

// As TorchScript has it: (layout, sizes, requires_grad, indices, values, hooks), with two kinds of indices
// for CSR.
Tensor Rebuilder::rebuild_script_sparse(std::span<Node* const> args, int depth) {
  const Layout layout = layout_from_node(*args[0]);
  const bool is_coo = layout == Layout::kSparseCoo;
  if (!is_coo && layout != Layout::kSparseCsr) corrupt("a sparse tensor of TorchScript is COO or CSR");
  need_arguments(args, is_coo ? 6 : 7, is_coo ? 6 : 7, "a sparse tensor");
  SparseParts parts;
  if (is_coo) {
    parts.indices = part(*args[3], depth);
  } else {
    parts.compressed_indices = part(*args[3], depth);
    parts.plain_indices = part(*args[4], depth);
  }
  parts.values = part(*args[is_coo ? 4 : 5], depth);
  Tensor tensor = Tensor::sparse(layout, dims_from_node(*args[1]), std::move(parts));
  tensor.set_requires_grad(truthy(*args[2]));
  return tensor;
}

// (dtype, sizes, strides, requires_grad)
Tensor Rebuilder::rebuild_meta(std::span<Node* const> args) {
  need_arguments(args, 4, 4, "_rebuild_meta_tensor_no_storage");
  const DType dtype = dtype_from_node(*args[0]);
  Geometry geometry{dims_from_node(*args[1]), dims_from_node(*args[2]), 0};
  const int64_t bytes = checked_mul(storage_extent(geometry), static_cast<int64_t>(dtype_size(dtype)),
                                    "the size of a tensor in bytes");
  Tensor tensor = Tensor::strided(dtype, std::move(geometry), Storage::meta(static_cast<size_t>(bytes)),
                                  Device{DeviceType::kMeta, -1});
  tensor.set_requires_grad(truthy(*args[3]));
  return tensor;
}

}  // namespace flambeau
