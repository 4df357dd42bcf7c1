#include "flambeau/archive/zip/deflate.h"
#include "flambeau/base/files/mapping.h"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <random>

#include "support/zip_test_files.h"

namespace flambeau::zip {
namespace {

std::string inflated(const std::string& deflated, size_t size) {
  std::string out(size, '\0');
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  const libdeflate_result result = libdeflate_deflate_decompress(
      decompressor, deflated.data(), deflated.size(), out.data(), out.size(), nullptr);
  libdeflate_free_decompressor(decompressor);
  return result == LIBDEFLATE_SUCCESS ? out : "damaged";
}

// What any decompressor makes of it: the same bytes. That the choices are PyTorch's is tested with its files.
TEST(ZipDeflate, RoundTrips) {
  std::mt19937 random(7);
  for (int kind = 0; kind < 4; ++kind) {
    for (const size_t size : {0, 1, 3, 47, 48, 300, 5000, 31 * 1024 + 1, 70000, 200000}) {
      std::string data;
      while (data.size() < size) {
        switch (kind) {
          case 0:
            data.push_back(static_cast<char>(random()));
            break;
          case 1:
            data.push_back('x');
            break;
          case 2:
            data += "x" + std::to_string(random() % 50) + " = torch.relu(y)\n";
            break;
          default:
            data.push_back(static_cast<char>(random() % 5 == 0 ? random() : data.size()));
            break;
        }
      }
      data.resize(size);
      const std::string deflated = deflate_like_pytorch(as_bytes(data));
      ASSERT_EQ(inflated(deflated, size), data) << kind << " " << size;
      EXPECT_LE(deflated.size(), size + 16 + size / 1000);
    }
  }
}

TEST(ZipDeflate, MakesPyTorchsChoicesInEveryFixture) {
  const std::vector<std::string> paths = fixture_archives();
  if (paths.empty()) GTEST_SKIP() << "no fixtures here";
  size_t compared = 0;
  for (const std::string& path : paths) {
    if (path.find("pt2-old-layout") != std::string::npos) continue;  // written by Python's zipfile
    const Reader reader = Reader::open(Mapping::open(path));
    for (const Entry& entry : reader.entries()) {
      if (entry.method != Method::kDeflated) continue;
      const ByteSpan original = reader.mapping()->bytes().subspan(entry.data_offset, entry.compressed_size);
      EXPECT_EQ(deflate_like_pytorch(reader.read(entry)), as_text(original)) << path << " " << entry.name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 100U);
}

}  // namespace
}  // namespace flambeau::zip
