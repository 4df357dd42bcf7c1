#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/gguf/gguf.h"
#include "flambeau/formats/gguf/gguf_metadata.h"
#include "flambeau/formats/gguf/gguf_types.h"

namespace flambeau {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr uint64_t kMostAlignment = 1ULL << 20;
constexpr uint32_t kMostDimensions = 16;

struct Info {
  std::string name;
  Dims shape;
  const GgufType* type = nullptr;  // null: a number that nobody knows
  uint32_t type_number = 0;
  uint64_t offset = 0;  // from the start of the data
  uint64_t bytes = 0;
};

std::shared_ptr<Storage> decode_later(const GgufType& type, std::shared_ptr<Storage> blocks, size_t count) {
  return Storage::lazy_storage(count * sizeof(float), [&type, blocks = std::move(blocks), count] {
    std::shared_ptr<Storage> values = Storage::uninitialized(count * sizeof(float));
    auto* const to = reinterpret_cast<float*>(values->mutable_bytes().data());
    const uint8_t* const from = blocks->bytes().data();
    for (size_t block = 0; block < count / type.elements; ++block)
      type.decode(from + block * type.bytes, to + block * type.elements);
    return values;
  });
}

class Reader {
 public:
  explicit Reader(const std::shared_ptr<Mapping>& mapping)
      : mapping_(mapping), reader_(mapping->bytes()), budget_(mapping->size()) {}

  GgufFile read() {
    read_start();
    for (uint64_t i = 0; i < metadata_count_; ++i) read_metadata();
    refuse_duplicates(file_.metadata, &GgufMetadata::key, "keys");
    for (uint64_t i = 0; i < tensor_count_; ++i) infos_.push_back(read_info());
    refuse_duplicates(infos_, &Info::name, "tensors");
    find_data();
    check_overlaps();
    for (Info& info : infos_) with_location("tensor", std::string(info.name), [&] { add_tensor(info); });
    return std::move(file_);
  }

 private:
  void read_start() {
    if (reader_.text(4, "the magic") != kMagic) reader_.fail_at(0, "the file does not start with 'GGUF'");
    file_.version = reader_.le<uint32_t>("the version");
    if (file_.version != 2 && file_.version != 3) {
      const uint32_t swapped = byte_swapped(file_.version);
      const bool is_big = swapped == 2 || swapped == 3;
      throw Error(ErrorCode::kUnsupported,
                  is_big ? std::string("is a big-endian GGUF file")
                         : fmt::format("is a GGUF file of version {}", file_.version),
                  "versions 2 and 3, little-endian, are read: convert it with llama.cpp's own tools");
    }
    tensor_count_ = read_count("tensors", 24);
    metadata_count_ = read_count("metadata entries", 13);
  }

  // Compared with what the file could hold: each takes at least `least` bytes.
  uint64_t read_count(std::string_view what, uint64_t least) {
    const size_t at = reader_.offset();
    const auto count = reader_.le<uint64_t>(fmt::format("the number of {}", what));
    if (count > reader_.remaining() / least) {
      reader_.fail_at(at, fmt::format("the file is said to have {} {}, and {} bytes are left for them", count,
                                      what, reader_.remaining()));
    }
    return count;
  }

  std::string read_name(std::string_view what) {
    const size_t at = reader_.offset();
    std::string name(read_gguf_string(reader_, what));
    if (!is_valid_utf8(name)) reader_.fail_at(at, fmt::format("{} is not UTF-8", what));
    budget_.charge(2 * name.size() + 256);
    return name;
  }

  void read_metadata() {
    std::string key = read_name("a key");
    GgufMetadata value = with_location("key", key, [&] { return read_gguf_value(reader_); });
    budget_.charge(value.text.size());
    if (key == kAlignmentKey) with_location("key", key, [&] { set_alignment(value); });
    value.key = std::move(key);
    file_.metadata.push_back(std::move(value));
  }

  void set_alignment(const GgufMetadata& value) {
    if (value.type != "uint32") corrupt(fmt::format("expected a uint32, found {}", value.type));
    file_.alignment = std::stoull(value.text);
    if (!std::has_single_bit(file_.alignment) || file_.alignment > kMostAlignment)
      corrupt(
          fmt::format("{} is no alignment: a power of two up to {} is expected", value.text, kMostAlignment));
  }

  Info read_info() {
    Info info;
    info.name = read_name("the name of a tensor");
    with_location("tensor", std::string(info.name), [&] {
      const auto dimensions = reader_.le<uint32_t>("the number of dimensions");
      if (dimensions > kMostDimensions)
        corrupt(fmt::format("it has {} dimensions, {} are the most", dimensions, kMostDimensions));
      std::vector<int64_t> sizes(dimensions);
      // The fastest dimension comes first there, and last in PyTorch.
      for (size_t i = sizes.size(); i-- > 0;)
        sizes[i] = checked_cast<int64_t>(reader_.le<uint64_t>("a size"), "a size of the shape");
      info.shape = Dims(sizes);
      info.type_number = reader_.le<uint32_t>("the type of a tensor");
      info.type = find_gguf_type(info.type_number);
      info.offset = reader_.le<uint64_t>("the offset of a tensor");
      if (info.type != nullptr) info.bytes = bytes_of(info);
    });
    return info;
  }

  static uint64_t bytes_of(const Info& info) {
    const auto count = static_cast<uint64_t>(element_count(info.shape));
    const uint64_t row =
        info.shape.size() == 0 ? 1 : static_cast<uint64_t>(info.shape[info.shape.size() - 1]);
    if (row % info.type->elements != 0) {
      corrupt(fmt::format("rows of {} values are no whole blocks of type {}, which has {} in one", row,
                          info.type->name, info.type->elements));
    }
    // float32 of it must have a size, too.
    checked_mul<uint64_t>(count, 8, "its size in bytes");
    return checked_mul<uint64_t>(count / info.type->elements, info.type->bytes, "its size in bytes");
  }

  void find_data() {
    const uint64_t end = reader_.offset();
    data_ = (end + file_.alignment - 1) / file_.alignment * file_.alignment;
    // A file without tensors may end before the padding.
    data_size_ = data_ > mapping_->size() ? 0 : mapping_->size() - data_;
    for (const Info& info : infos_) {
      with_location("tensor", info.name, [&] {
        if (info.offset % file_.alignment != 0)
          corrupt(fmt::format("it starts at byte {} of the data, no multiple of {}", info.offset,
                              file_.alignment));
        if (info.offset > data_size_ || info.bytes > data_size_ - info.offset) {
          throw Error(ErrorCode::kCorrupt,
                      fmt::format("it takes {} bytes at byte {} of the data, which has {}", info.bytes,
                                  info.offset, data_size_),
                      "the file may be cut short: copy or download it again");
        }
      });
    }
  }

  // A byte that two own could be two things.
  void check_overlaps() const {
    std::vector<const Info*> sorted;
    for (const Info& info : infos_) {
      if (info.bytes != 0) sorted.push_back(&info);
    }
    std::ranges::sort(sorted, {}, [](const Info* info) { return info->offset; });
    for (size_t i = 1; i < sorted.size(); ++i) {
      const Info& before = *sorted[i - 1];
      if (before.offset + before.bytes <= sorted[i]->offset) continue;
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("it starts at byte {} of the data, before '{}' ends at {}", sorted[i]->offset,
                              printable(before.name), before.offset + before.bytes))
          .add_location("tensor", sorted[i]->name);
    }
  }

  void add_tensor(Info& info) {
    const GgufType* const type = info.type;
    if (type == nullptr || (!type->dtype && type->decode == nullptr)) {
      file_.skipped.emplace_back(
          info.name, type == nullptr ? fmt::format("of the unknown type {}", info.type_number)
                                     : fmt::format("of type {}, which is not decoded", type->name));
      budget_.charge(2 * info.name.size() + 256);
      return;
    }
    // The data of nothing may begin behind the end of the file.
    std::shared_ptr<Storage> bytes =
        info.bytes == 0 ? Storage::own({}) : Storage::view(mapping_, data_ + info.offset, info.bytes);
    GgufTensor made{info.name, type->name, {}, !type->dtype};
    if (type->dtype) {
      made.tensor = Tensor::contiguous(*type->dtype, info.shape, std::move(bytes));
    } else {
      const auto count = static_cast<size_t>(element_count(info.shape));
      made.tensor =
          Tensor::contiguous(DType::kFloat32, info.shape, decode_later(*type, std::move(bytes), count));
    }
    budget_.charge(made.tensor, info.name);
    file_.tensors.push_back(std::move(made));
  }

  template <typename Item>
  static void refuse_duplicates(const std::vector<Item>& items, std::string Item::* name,
                                std::string_view what) {
    std::vector<std::string_view> names;
    names.reserve(items.size());
    for (const Item& item : items) names.push_back(item.*name);
    std::ranges::sort(names);
    const auto same = std::ranges::adjacent_find(names);
    if (same != names.end()) corrupt(fmt::format("two {} are named '{}'", what, printable(*same)));
  }

  const std::shared_ptr<Mapping>& mapping_;
  ByteReader reader_;
  DescriptionBudget budget_;
  GgufFile file_;
  std::vector<Info> infos_;
  uint64_t tensor_count_ = 0;
  uint64_t metadata_count_ = 0;
  uint64_t data_ = 0;  // where it starts
  uint64_t data_size_ = 0;
};

}  // namespace

GgufFile read_gguf(const std::shared_ptr<Mapping>& mapping) {
  const auto read = [&] { return Reader(mapping).read(); };
  return mapping->path().empty() ? read() : with_location("file", mapping->path(), read);
}

bool looks_like_gguf(ByteSpan bytes) { return as_text(bytes).starts_with(kMagic); }

}  // namespace flambeau
