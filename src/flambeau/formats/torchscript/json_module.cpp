#include "flambeau/formats/torchscript/json_module.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <unordered_set>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/tensor/elements/byte_order.h"

namespace flambeau::script {
namespace {

constexpr std::string_view kRecord = "model.json";
// Modules inside of each other; PyTorch's own are rarely ten deep.
constexpr size_t kMostDepth = 256;
// A tensor may be named any number of times.
constexpr size_t kMostDimensions = 64;
// Names of all tensors together: a long name at the top is a part of each one below.
constexpr uint64_t kMostNameBytes = uint64_t{64} << 20;

// caffe2's numbers and names of data types.
struct TypeName {
  std::string_view name;
  int64_t number;
  DType dtype;
  std::optional<DType> quantized = {};
};
constexpr TypeName kTypes[] = {
    {"FLOAT", 1, DType::kFloat32},
    {"INT32", 2, DType::kInt32, DType::kQInt32},
    {"BYTE", 3, DType::kUInt8},
    {"BOOL", 5, DType::kBool},
    {"UINT8", 6, DType::kUInt8, DType::kQUInt8},
    {"INT8", 7, DType::kInt8, DType::kQInt8},
    {"INT16", 9, DType::kInt16},
    {"INT64", 10, DType::kInt64},
    {"FLOAT16", 12, DType::kFloat16},
    {"DOUBLE", 13, DType::kFloat64},
};

// A message of protobuf as JSON: members that are left out have their defaults, integers may be strings, and
// names are in either spelling.
class Message {
 public:
  Message(const json::Value& value, std::string_view what) : value_(value) {
    if (!value.is_object()) corrupt(fmt::format("{} in {} should be an object", what, kRecord));
  }

  const json::Value* find(std::string_view name, std::string_view proto_name = {}) const {
    const json::Value* found = value_.find(name);
    if (found == nullptr && !proto_name.empty()) found = value_.find(proto_name);
    return found == nullptr || found->is_null() ? nullptr : found;
  }
  int64_t integer(std::string_view name, std::string_view proto_name = {}) const {
    const json::Value* const found = find(name, proto_name);
    return found == nullptr ? 0 : integer_of(*found, name);
  }
  Dims integers(std::string_view name) const {
    const json::Array& numbers = items(name);
    if (numbers.size() > kMostDimensions) {
      throw Error(ErrorCode::kLimit,
                  fmt::format("a tensor of {} dimensions, more than {}", numbers.size(), kMostDimensions));
    }
    Dims list;
    for (const json::Value& item : numbers) list.push_back(integer_of(item, name));
    return list;
  }
  bool flag(std::string_view name, std::string_view proto_name) const {
    const json::Value* const found = find(name, proto_name);
    return found != nullptr && found->as_bool();
  }
  double real(std::string_view name) const {
    const json::Value* const found = find(name);
    return found == nullptr ? 0.0 : found->as_double();
  }
  std::string text(std::string_view name, std::string_view proto_name = {}) const {
    const json::Value* const found = find(name, proto_name);
    return found == nullptr ? std::string() : found->as_string();
  }
  const json::Array& items(std::string_view name) const {
    static const json::Array kNone;
    const json::Value* const found = find(name);
    return found == nullptr ? kNone : found->as_array();
  }

 private:
  static int64_t integer_of(const json::Value& value, std::string_view name) {
    if (!value.is_string()) return value.as_int();
    const std::string& text = value.as_string();
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
      corrupt(fmt::format("'{}' should be an integer, found '{}'", name, printable(text, 40)));
    return number;
  }

  const json::Value& value_;
};

class Reader {
 public:
  explicit Reader(const std::shared_ptr<const RecordArchive>& archive)
      : archive_(archive), is_big_endian_(archive->byteorder() == ByteOrder::kBig) {}

  JsonModule read() {
    const json::Value parsed =
        RecordJsonReader(archive_->zip())
            .read(archive_->get(kRecord), [](std::string_view text, const json::Limits& limits) {
              return json::parse(text, limits);
            });
    const Message model(parsed, "the model");
    for (const json::Value& item : model.items("tensors")) tensors_.push_back(&item);
    const json::Value* const main = model.find("mainModule", "main_module");
    if (main == nullptr)
      corrupt("model.json describes no main module", "the file is incomplete: get it again");
    read_module(Message(*main, "a module"), "", 0);
    return std::move(made_);
  }

 private:
  void read_module(const Message& module, const std::string& path, size_t depth) {
    if (depth > kMostDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("modules are nested more than {} deep", kMostDepth));
    }
    for (const json::Value& item : module.items("parameters")) {
      const Message parameter(item, "a parameter");
      const bool is_buffer = parameter.flag("isBuffer", "is_buffer");
      CheckpointTensor entry = {.name = name_at(path, parameter.text("name")),
                                .tensor = tensor(parameter.integer("tensorId", "tensor_id")),
                                .role = is_buffer ? TensorRole::kTensor : TensorRole::kParameter};
      if (!names_.insert(entry.name).second)
        corrupt(fmt::format("two tensors are called '{}'", printable(entry.name)));
      made_.tensors.push_back(std::move(entry));
    }
    for (const json::Value& item : module.items("attributes")) {
      const Message attribute(item, "an attribute");
      made_.attributes.push_back(name_at(path, attribute.text("name")));
    }
    for (const json::Value& item : module.items("submodules")) {
      const Message inner(item, "a module");
      read_module(inner, name_at(path, inner.text("name")), depth + 1);
    }
  }

  std::string name_at(const std::string& path, const std::string& name) {
    if (name.empty()) corrupt(fmt::format("something in the module '{}' has no name", printable(path)));
    name_bytes_ += path.size() + name.size() + 1;
    if (name_bytes_ > kMostNameBytes) {
      throw Error(ErrorCode::kLimit,
                  fmt::format("the names of what is in the module take more than {} bytes", kMostNameBytes));
    }
    return path.empty() ? name : path + "." + name;
  }

  Tensor tensor(int64_t index) {
    if (index < 0 || static_cast<uint64_t>(index) >= tensors_.size())
      corrupt(fmt::format("tensor {} is asked for, there are {}", index, tensors_.size()));
    return with_location("tensor", std::to_string(index), [&] {
      return made_tensor(Message(*tensors_[static_cast<size_t>(index)], "a tensor"));
    });
  }

  static const TypeName& type_of(const Message& description) {
    const json::Value* const found = description.find("dataType", "data_type");
    for (const TypeName& type : kTypes) {
      if (found == nullptr) break;
      if (found->is_string() ? found->as_string() == type.name : found->as_int() == type.number) return type;
    }
    throw Error(ErrorCode::kUnsupported, fmt::format("a tensor of the data type {}, which PyTorch never had",
                                                     found == nullptr     ? std::string("undefined")
                                                     : found->is_string() ? printable(found->as_string(), 40)
                                                                          : std::to_string(found->as_int())));
  }

  Tensor made_tensor(const Message& description) {
    const TypeName& type = type_of(description);
    const bool is_quantized = description.flag("isQuantized", "is_quantized");
    if (is_quantized && !type.quantized) corrupt(fmt::format("a quantized tensor of the type {}", type.name));
    const json::Value* const data = description.find("data");
    if (data == nullptr) corrupt("a tensor without data");
    const DType dtype = is_quantized ? *type.quantized : type.dtype;
    Geometry geometry{description.integers("dims"), description.integers("strides"),
                      description.integer("offset")};
    Tensor made = Tensor::strided(dtype, std::move(geometry),
                                  storage(Message(*data, "the data of a tensor").text("key"), type.dtype));
    if (is_quantized) {
      made = Tensor::quantized(
          std::move(made),
          {.scale = description.real("scale"), .zero_point = description.integer("zeroPoint", "zero_point")});
    }
    made.set_requires_grad(description.flag("requiresGrad", "requires_grad"));
    return made;
  }

  std::shared_ptr<Storage> storage(const std::string& key, DType dtype) {
    const size_t word = dtype_size(dtype);
    const auto [place, is_new] = storages_.try_emplace(key);
    auto& [storage, first_word] = place->second;
    if (!is_new) {
      if (is_big_endian_ && first_word != word)
        corrupt(fmt::format("the record '{}' holds numbers of two sizes", printable(key)));
      return storage;
    }
    first_word = word;
    const zip::Entry& entry = archive_->get(key);
    if (entry.method == zip::Method::kStored && !(is_big_endian_ && word > 1)) {
      storage = Storage::view(archive_->zip().mapping(), entry.data_offset, entry.size);
    } else {
      storage = Storage::lazy(entry.size, [archive = archive_, &entry, word, swaps = is_big_endian_] {
        std::vector<uint8_t> bytes = archive->zip().read(entry);
        if (swaps) swap_byte_order(bytes, word);
        return bytes;
      });
    }
    return storage;
  }

  struct Held {
    std::shared_ptr<Storage> storage;
    size_t word = 0;
  };

  std::shared_ptr<const RecordArchive> archive_;
  bool is_big_endian_;
  std::vector<const json::Value*> tensors_;
  std::map<std::string, Held> storages_;
  std::unordered_set<std::string> names_;
  uint64_t name_bytes_ = 0;
  JsonModule made_;
};

}  // namespace

JsonModule read_json_module(const std::shared_ptr<const RecordArchive>& archive) {
  return with_location("record", std::string(kRecord), [&] { return Reader(archive).read(); });
}

}  // namespace flambeau::script
