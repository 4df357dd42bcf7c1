// Many threads at once: files opened, read, converted and saved, with checkpoints of one's own and shared.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/archive/zip/reader.h"
#include "flambeau/formats/convert.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/safety/safety.h"
#include "flambeau/tensor/elements/compare.h"
#include "flambeau/tensor/elements/convert.h"
#include "flambeau/tensor/elements/statistics.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::golden_file;
using testing::TemporaryFolder;
using testing::TensorLines;

constexpr int kThreads = 8;

// Runs the same work in all threads; what one throws fails the test.
void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        work(i);
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(i)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, std::vector<std::string>(kThreads));
}

// Files whose storages are computed when somebody first asks: inflated, swapped, conjugated, or none of it.
const char* const kFiles[] = {"deflated.pt",          "big_endian.pt",     "marks_2.13.pt", "views_2.13.pt",
                              "legacy_types_2.13.pt", "quantized_2.13.pt", "sparse_2.13.pt"};

TEST(Threads, OpenAndReadFilesOfTheirOwn) {
  for (const char* name : kFiles) {
    const std::vector<std::string> expected = TensorLines::of(load_checkpoint(golden_file(name)));
    in_threads([&](int) { EXPECT_EQ(TensorLines::of(load_checkpoint(golden_file(name))), expected); });
  }
}

TEST(Threads, ReadOneCheckpointTogether) {
  for (const char* name : kFiles) {
    const std::vector<std::string> expected = TensorLines::of(load_checkpoint(golden_file(name)));
    const Checkpoint shared = load_checkpoint(golden_file(name));
    in_threads([&](int) { EXPECT_EQ(TensorLines::of(shared), expected); });
  }
}

TEST(Threads, OpenOneMappingTogether) {
  for (const char* name : kFiles) {
    const std::shared_ptr<Mapping> mapping = Mapping::open(golden_file(name));
    const std::vector<std::string> expected = TensorLines::of(load_checkpoint(golden_file(name)));
    const std::function<void()> kinds_of_work[] = {
        [&] { EXPECT_EQ(TensorLines::of(load_checkpoint(mapping)), expected); },
        [&] { EXPECT_TRUE(check_file(mapping).is_harmless()); },
        [&] { EXPECT_FALSE(inspect_file(mapping).checkpoint->tensors().empty()); },
        [&] { list_records(mapping); },
    };
    in_threads([&](int i) { kinds_of_work[i % 4](); });
  }
}

TEST(Threads, ConvertTypesOfOneCheckpointTogether) {
  ThreadPool pool(2);
  for (const char* name : {"deflated.pt", "big_endian.pt", "marks_2.13.pt"}) {
    const Checkpoint shared = load_checkpoint(golden_file(name));
    in_threads([&](int i) {
      for (const CheckpointTensor& entry : shared.tensors()) {
        if (!dtype_info(entry.tensor.dtype()).is_floating) continue;
        const Tensor converted =
            convert(entry.tensor, i % 2 == 0 ? DType::kFloat64 : DType::kBFloat16, &pool);
        EXPECT_EQ(converted.element_count(), entry.tensor.element_count());
        statistics(entry.tensor, &pool);
        EXPECT_TRUE(bitwise_equal(entry.tensor, entry.tensor));
      }
    });
  }
}

TEST(Threads, TransformWithOnePool) {
  ThreadPool pool(2);
  in_threads([&](int i) {
    ConvertOptions options;
    options.dtype = i % 2 == 0 ? DType::kFloat16 : DType::kFloat64;
    options.pool = &pool;
    const Checkpoint checkpoint = transform(load_checkpoint(golden_file("deflated.pt")), options);
    EXPECT_EQ(checkpoint.find("base")->dtype(), *options.dtype);
  });
}

TEST(Threads, SaveOneCheckpointInEveryFormatTogether) {
  const TemporaryFolder folder;
  for (const char* name : {"deflated.pt", "marks_2.13.pt"}) {
    const Checkpoint shared = load_checkpoint(golden_file(name));
    const Checkpoint first = load_checkpoint(golden_file(name));
    in_threads([&](int i) {
      constexpr std::pair<const char*, FileKind> kFormats[] = {
          {".pt", FileKind::kTorchSave}, {".safetensors", FileKind::kSafetensors}, {".npz", FileKind::kNpz}};
      const auto& [ending, format] = kFormats[i % 3];
      const std::string path = folder / (std::to_string(i) + ending);
      save_checkpoint(shared, path, format);
      const Checkpoint again = load_checkpoint(path);
      for (const CheckpointTensor& entry : again.tensors()) {
        EXPECT_TRUE(bitwise_equal(entry.tensor, *first.find(entry.name))) << path << " " << entry.name;
      }
    });
  }
}

// Values are converted when they are read: by all who save the result, at once.
TEST(Threads, SaveOneConvertedCheckpointTogether) {
  const TemporaryFolder folder;
  ThreadPool pool(2);
  ConvertOptions options;
  options.dtype = DType::kFloat16;
  options.pool = &pool;
  for (const char* name : {"deflated.pt", "big_endian.pt", "views_2.13.pt"}) {
    const std::vector<std::string> expected =
        TensorLines::of(transform(load_checkpoint(golden_file(name)), options));
    const Checkpoint shared = transform(load_checkpoint(golden_file(name)), options);
    in_threads([&](int i) {
      const std::string path = folder / (std::to_string(i) + ".pt");
      save_checkpoint(shared, path, FileKind::kTorchSave);
      EXPECT_EQ(TensorLines::of(load_checkpoint(path)), expected);
      EXPECT_EQ(TensorLines::of(shared), expected);
    });
  }
}

TEST(Threads, SaveToOneFileTogether) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.pt";
  const Checkpoint shared = load_checkpoint(golden_file("deflated.pt"));
  const std::vector<std::string> expected = TensorLines::of(load_checkpoint(golden_file("deflated.pt")));
  save_checkpoint(shared, path, FileKind::kTorchSave);
  in_threads([&](int i) {
    for (int round = 0; round < 4; ++round) {
      if (i % 2 == 0) save_checkpoint(shared, path, FileKind::kTorchSave);
      EXPECT_EQ(TensorLines::of(load_checkpoint(path)), expected);
    }
  });
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.pt"});
}

// A storage whose bytes cannot be had: everybody who asks is told, again and again.
TEST(Threads, FailTogether) {
  testing::TorchFileBuilder file;
  MemorySink sink;
  zip::Writer writer(sink, {});
  file.tree.set_root(file.tree.dict(
      {{file.tree.string("x"), file.tensor_v2(file.storage_id("FloatStorage", "0", 600), 0, {600}, {1})}}));
  writer.add_text("data.pkl", pickle::write_python(*file.tree.root()));
  std::vector<uint8_t> noise(2400);
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<uint8_t>(i * i / 7);
  writer.add_deflated("data/0", noise);
  writer.finish();
  std::vector<uint8_t> broken = sink.take();
  const zip::Reader reader = zip::Reader::open(Mapping::from_buffer(broken));
  const zip::Entry& entry = reader.entries()[1];
  broken[entry.data_offset + entry.compressed_size / 2] ^= 0x55;
  const Checkpoint checkpoint = load_checkpoint(Mapping::from_buffer(broken));
  in_threads([&](int) {
    for (int round = 0; round < 3; ++round) EXPECT_THROW(checkpoint.find("x")->storage()->bytes(), Error);
  });
}

}  // namespace
}  // namespace flambeau
