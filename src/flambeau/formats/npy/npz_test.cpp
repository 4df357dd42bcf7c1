#include "flambeau/formats/npy/npz.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/error.h"

namespace flambeau {
namespace {

std::string golden_path(const std::string& name) { return std::string(FLAMBEAU_GOLDEN_DIR) + "/npy/" + name; }
std::vector<uint8_t> bytes_of(const Tensor& tensor) {
  const Tensor contiguous = tensor.to_contiguous();
  const ByteSpan bytes = contiguous.contiguous_bytes();
  return {bytes.begin(), bytes.end()};
}
const Tensor& find(const NpzFile& file, std::string_view name) {
  return std::ranges::find(file.tensors, name, &NamedTensor::name)->tensor;
}
std::shared_ptr<Mapping> archive(const std::vector<std::pair<std::string, std::string>>& records) {
  MemorySink sink;
  zip::Writer writer(sink, {.top_folder = ""});
  for (const auto& [name, bytes] : records) writer.add_text(name, bytes);
  writer.finish();
  return Mapping::from_buffer(sink.take());
}

TEST(Npz, ReadsStoredArraysInPlace) {
  const auto mapping = Mapping::open(golden_path("stored.npz"));
  const NpzFile file = read_npz(mapping);
  ASSERT_EQ(file.tensors.size(), 4U);
  EXPECT_TRUE(file.skipped.empty());
  EXPECT_EQ(file.tensors[0].name, "weight");
  EXPECT_EQ(find(file, "bias").summary(), "int64[3]");
  EXPECT_EQ(find(file, "a/b.c").summary(), "float32[]");
  const uint8_t* data = find(file, "weight").contiguous_bytes().data();
  EXPECT_TRUE(data > mapping->bytes().data() && data < mapping->bytes().data() + mapping->size());
  EXPECT_FALSE(find(file, "big").storage()->is_ready());
  EXPECT_EQ(bytes_of(find(file, "big")), bytes_of(find(file, "weight")));
}

TEST(Npz, ReadsDeflatedArrays) {
  const NpzFile file = read_npz(Mapping::open(golden_path("deflated.npz")));
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(find(file, "weight").summary(), "float32[64, 64]");
  EXPECT_EQ(bytes_of(find(file, "weight")), std::vector<uint8_t>(64 * 64 * 4));
  EXPECT_EQ(load_le<int64_t>(bytes_of(find(file, "bias")).data() + 16), 2);
}

TEST(Npz, InflatesLargeArraysWhenAsked) {
  const auto mapping = Mapping::open(golden_path("deflated_large.npz"));
  const NpzFile file = read_npz(mapping);
  const Tensor& tensor = find(file, "x");
  EXPECT_EQ(tensor.summary(), "float32[200, 100]");
  EXPECT_EQ(tensor.strides(), (Dims{1, 200}));
  EXPECT_FALSE(tensor.storage()->is_ready());
  const std::vector<uint8_t> bytes = bytes_of(tensor);
  EXPECT_EQ(load_le<float>(bytes.data() + 4 * 12345), 4.0F);
}

TEST(Npz, ListsOtherRecordsAsSkipped) {
  const auto mapping = archive({{"notes.txt", "hello"}, {"x", "?"}});
  const NpzFile file = read_npz(mapping);
  EXPECT_TRUE(file.tensors.empty());
  EXPECT_EQ(file.skipped, (std::vector<std::string>{"notes.txt", "x"}));
}

TEST(Npz, WritesWhatItReads) {
  const NpzFile file = read_npz(Mapping::open(golden_path("stored.npz")));
  MemorySink sink;
  write_npz(sink, file.tensors);
  MemorySink second;
  write_npz(second, file.tensors);
  EXPECT_EQ(sink.buffer(), second.buffer());
  const auto mapping = Mapping::from_buffer(sink.take());
  const NpzFile again = read_npz(mapping);
  ASSERT_EQ(again.tensors.size(), file.tensors.size());
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    EXPECT_EQ(again.tensors[i].name, file.tensors[i].name);
    EXPECT_EQ(again.tensors[i].tensor.summary(), file.tensors[i].tensor.summary());
    EXPECT_EQ(bytes_of(again.tensors[i].tensor), bytes_of(file.tensors[i].tensor));
    const uint8_t* data = again.tensors[i].tensor.contiguous_bytes().data();
    EXPECT_EQ((data - mapping->bytes().data()) % 64, 0);
  }
}

std::string reading_npz(const std::shared_ptr<Mapping>& mapping, ErrorCode code) {
  try {
    read_npz(mapping);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

TEST(Npz, ErrorsNameTheRecord) {
  EXPECT_EQ(reading_npz(archive({{"x.npy", "junk and more"}}), ErrorCode::kCorrupt).substr(0, 16),
            "record 'x.npy': ");
  const auto objects = Mapping::open(golden_path("objects.npy"));
  EXPECT_EQ(
      reading_npz(archive({{"x.npy", std::string(as_text(objects->bytes()))}}), ErrorCode::kUnsafe),
      "record 'x.npy': the array holds pickled objects, which can run any code when loaded (save it with a "
      "numeric type)");
}

TEST(Npz, EveryCutOfAFileIsAnError) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto whole = Mapping::open(golden_path(name));
    for (size_t size = 0; size < whole->size(); ++size) {
      EXPECT_THROW(read_npz(Mapping::from_text(as_text(whole->bytes()).substr(0, size))), Error) << size;
    }
  }
}

std::string writing(std::string name, const Tensor& tensor = Tensor::zeros(DType::kUInt8, Dims{1})) {
  const NamedTensor named{std::move(name), tensor};
  MemorySink sink;
  try {
    write_npz(sink, {&named, 1});
  } catch (const Error& error) {
    EXPECT_EQ(sink.position(), 0U);
    return error.what();
  }
  return "no error";
}

TEST(Npz, RefusesUnsafeNames) {
  EXPECT_EQ(writing("/etc/passwd"),
            "tensor '/etc/passwd': the name is an absolute path, a .npz file cannot hold it safely (rename "
            "the tensor)");
  EXPECT_EQ(writing("a/../b"),
            "tensor 'a/../b': the name has a '..' component, a .npz file cannot hold it safely (rename the "
            "tensor)");
  EXPECT_EQ(
      writing("a\\b"),
      "tensor 'a\\b': the name contains a backslash, a .npz file cannot hold it safely (rename the tensor)");
  EXPECT_EQ(writing(std::string("a\0b", 3)),
            "tensor 'a\\x00b': the name contains a NUL byte, a .npz file cannot hold it safely (rename the "
            "tensor)");
  EXPECT_EQ(writing("a\xff"),
            "tensor 'a\\xff': the name is not UTF-8, a .npz file cannot hold it safely (rename the tensor)");
  EXPECT_EQ(writing("x", Tensor::zeros(DType::kBFloat16, Dims{1})),
            "tensor 'x': NumPy has no type for bfloat16 (use --dtype float32)");
  EXPECT_EQ(writing(""), "no error");
}

TEST(Npz, RefusesTwoTensorsOfOneName) {
  const Tensor tensor = Tensor::zeros(DType::kUInt8, Dims{1});
  const NamedTensor tensors[] = {{"x", tensor}, {"x", tensor}};
  MemorySink sink;
  try {
    write_npz(sink, tensors);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "record 'x.npy': a record of this name was already written");
  }
}

}  // namespace
}  // namespace flambeau
