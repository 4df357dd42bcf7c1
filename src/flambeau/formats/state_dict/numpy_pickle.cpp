#include "flambeau/formats/state_dict/numpy_pickle.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/state_dict/rebuild.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

bool is_multiarray(std::string_view module) {
  return module == "numpy.core.multiarray" || module == "numpy._core.multiarray";
}

struct NumpyType {
  DType dtype;
  bool is_big_endian;
};

// numpy.dtype('f4', False, True) with the state (3, '<', None, None, None, -1, -1, 0).
NumpyType numpy_type(const Node& node) {
  const Node::Call& call = node.as_call();
  if (!call.callee->is_global("numpy.dtype") || !call.args->is(Kind::kTuple) || call.args->items().empty()) {
    throw Error(ErrorCode::kUnsupported, "a NumPy array whose type is not a plain numpy.dtype");
  }
  const std::string_view code = call.args->items()[0]->as_string();
  struct Entry {
    std::string_view code;
    DType dtype;
  };
  static constexpr Entry kCodes[] = {
      {"f2", DType::kFloat16},   {"f4", DType::kFloat32},     {"f8", DType::kFloat64}, {"i1", DType::kInt8},
      {"i2", DType::kInt16},     {"i4", DType::kInt32},       {"i8", DType::kInt64},   {"u1", DType::kUInt8},
      {"u2", DType::kUInt16},    {"u4", DType::kUInt32},      {"u8", DType::kUInt64},  {"b1", DType::kBool},
      {"c8", DType::kComplex64}, {"c16", DType::kComplex128},
  };
  bool is_big_endian = false;
  if (call.state != nullptr) {
    const std::span<Node* const> state = call.state->items();
    if (state.size() < 2) corrupt("the state of a numpy.dtype is too short");
    is_big_endian = state[1]->is(Kind::kString) && state[1]->as_string() == ">";
  }
  for (const Entry& entry : kCodes) {
    if (entry.code == code) return {entry.dtype, is_big_endian};
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("a NumPy array of type '{}' has no tensor type", printable(code)));
}

// What holds an array's data: bytes; or in protocol 2 the calls _codecs.encode(text, 'latin1') and bytes()
// that stand for them; or what was a string of bytes in Python 2.
struct ArrayData {
  const Node* node;  // null for no bytes
  bool is_latin1 = false;
};

ArrayData array_data(const Node& node) {
  if (node.is(Kind::kBytes) || node.is(Kind::kByteArray) || node.is(Kind::kString)) return {&node};
  if (!node.is(Kind::kCall)) {
    corrupt(fmt::format("the data of a NumPy array should be bytes, found {}", a_kind(node.kind())));
  }
  const Node& callee = *node.as_call().callee;
  const std::span<Node* const> args = node.as_call().args->items();
  const bool is_bytes = callee.is_global("builtins.bytes") || callee.is_global("__builtin__.bytes");
  if (is_bytes && args.empty()) return {nullptr};
  if (!callee.is_global("_codecs.encode"))
    corrupt("the data of a NumPy array should be bytes, found another call");
  if (args.empty()) corrupt("_codecs.encode without a text");
  return {args[0], true};
}

std::vector<uint8_t> bytes_of(const ArrayData& data) {
  if (data.node == nullptr) return {};
  if (!data.is_latin1) {
    const ByteSpan raw =
        data.node->is(Kind::kString) ? as_bytes(data.node->as_string()) : data.node->as_bytes();
    return {raw.begin(), raw.end()};
  }
  std::vector<uint8_t> bytes;
  const std::string_view text = data.node->as_string();
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {  // UTF-8 of U+0000 to U+00FF, one byte each
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < 0x80) {
      bytes.push_back(byte);
    } else if ((byte == 0xC2 || byte == 0xC3) && i + 1 < text.size()) {
      bytes.push_back(static_cast<uint8_t>((byte & 3) << 6 | (static_cast<uint8_t>(text[++i]) & 0x3F)));
    } else {
      corrupt("the data of a NumPy array is not Latin-1 text");
    }
  }
  return bytes;
}

}  // namespace

std::shared_ptr<Storage> NumpyReader::storage_of(const Node& data, size_t word) {
  const ArrayData source = array_data(data);
  std::shared_ptr<Storage>& storage = storages_[{source.node, word}];
  if (storage) return storage;
  std::vector<uint8_t> bytes = bytes_of(source);
  for (size_t at = 0; word > 1 && at + word <= bytes.size(); at += word) {
    std::reverse(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + word));
  }
  storage = Storage::own(std::move(bytes));
  return storage;
}

Tensor NumpyReader::make(const Node& type_node, const Dims& sizes, bool is_fortran, const Node& data) {
  const NumpyType type = numpy_type(type_node);
  const DTypeInfo& info = dtype_info(type.dtype);
  const int64_t expected =
      checked_mul(element_count(sizes), static_cast<int64_t>(info.size), "the size of a NumPy array");
  std::shared_ptr<Storage> storage = storage_of(data, type.is_big_endian ? info.word : 1);
  if (static_cast<uint64_t>(expected) != storage->size()) {
    corrupt(fmt::format("a NumPy array needs {} bytes, {} are given", expected, storage->size()));
  }
  Dims strides = contiguous_strides(sizes);
  if (is_fortran) {
    int64_t step = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      strides[i] = step;
      step *= std::max<int64_t>(sizes[i], 1);  // the product was checked above
    }
  }
  return Tensor::strided(type.dtype, {sizes, std::move(strides), 0}, std::move(storage));
}

bool is_numpy_array_call(const Node& node) {
  if (!node.is(Kind::kCall) || !node.as_call().callee->is(Kind::kGlobal)) return false;
  const Node& callee = *node.as_call().callee;
  const Node::GlobalName& global = callee.as_global();
  return is_multiarray(global.module) && (global.name == "_reconstruct" || global.name == "scalar");
}

Tensor NumpyReader::read(const Node& node) {
  const Node::Call& call = node.as_call();
  const std::span<Node* const> args = call.args->items();
  if (call.callee->as_global().name == "scalar") {
    if (args.size() != 2) corrupt("a NumPy scalar needs a type and a value");
    return make(*args[0], {}, false, *args[1]);
  }
  // _reconstruct(ndarray, (0,), b'b') with the state (version, shape, dtype, is_fortran, data)
  if (call.state == nullptr) corrupt("a NumPy array without its state");
  const std::span<Node* const> state = call.state->items();
  if (state.size() != 5) corrupt("the state of a NumPy array has 5 parts");
  if (state[4]->is(Kind::kList)) {
    throw Error(ErrorCode::kUnsupported, "a NumPy array of Python objects has no tensor type");
  }
  return make(*state[2], dims_from_node(*state[1]), state[3]->as_bool(), *state[4]);
}

}  // namespace flambeau
