#include "flambeau/archive/elf/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "flambeau/archive/elf/test_library.h"
#include "flambeau/base/error.h"

namespace flambeau::elf {
namespace {

std::vector<std::string> names_of(const std::vector<Symbol>& symbols) {
  std::vector<std::string> names;
  for (const Symbol& symbol : symbols) names.emplace_back(symbol.name);
  return names;
}

std::string error_of(const std::string& bytes) {
  try {
    read(as_bytes(bytes));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

template <typename T>
std::string with(std::string bytes, size_t at, T value) {
  store_le(reinterpret_cast<uint8_t*>(bytes.data()) + at, value);
  return bytes;
}

TEST(Elf, SaysWhatALoaderWouldSee) {
  const std::string bytes = TestLibrary{.needed = {"libtorch_cpu.so", "libc.so.6"},
                                        .imports = {"aoti_torch_empty_strided", "malloc"},
                                        .exports = {"AOTInductorModelContainerRun"},
                                        .search_path = "$ORIGIN/x",
                                        .initializers = 2,
                                        .has_indirect = true}
                                .bytes();
  const Library library = read(as_bytes(bytes));
  EXPECT_EQ(library.machine, "x86-64");
  EXPECT_TRUE(library.is_shared);
  EXPECT_EQ(library.needed, (std::vector<std::string_view>{"libtorch_cpu.so", "libc.so.6"}));
  EXPECT_EQ(names_of(library.imports), (std::vector<std::string>{"aoti_torch_empty_strided", "malloc"}));
  EXPECT_EQ(names_of(library.exports), (std::vector<std::string>{"AOTInductorModelContainerRun"}));
  EXPECT_EQ(library.search_paths, (std::vector<std::string_view>{"$ORIGIN/x"}));
  EXPECT_EQ(library.initializers, 2U);
  EXPECT_EQ(library.indirect_relocations, 1U);
  EXPECT_EQ(library.relocations, 1U);
  EXPECT_FALSE(library.has_executable_stack);
  EXPECT_FALSE(library.has_text_relocations);
  ASSERT_NE(library.find_export("AOTInductorModelContainerRun"), nullptr);
  EXPECT_EQ(library.find_export("AOTInductorModelContainerRun")->address, 0x40U);
  EXPECT_EQ(library.find_export("other"), nullptr);
}

TEST(Elf, TellsWhatIsOdd) {
  const std::string odd = TestLibrary{.machine = 183, .stack_flags = 7, .entries = {{22, 0}}}.bytes();
  const Library library = read(as_bytes(odd));
  EXPECT_EQ(library.machine, "aarch64");
  EXPECT_TRUE(library.has_executable_stack);
  EXPECT_TRUE(library.has_text_relocations);
  EXPECT_EQ(read(as_bytes(TestLibrary{.machine = 8}.bytes())).machine, "machine 8");
}

// Two linkers made what runs this test: a hash table of the GNU kind, versions, thousands of symbols.
TEST(Elf, ReadsThisProgram) {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  if (!in) GTEST_SKIP() << "no /proc here";
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const Library library = read(as_bytes(bytes));
  EXPECT_NE(std::ranges::find(library.needed, "libc.so.6"), library.needed.end());
  EXPECT_GT(library.imports.size(), 10U);
  EXPECT_GT(library.initializers, 0U);
  const bool asks_for_glibc = std::ranges::any_of(
      library.versions, [](const VersionNeed& need) { return need.version.starts_with("GLIBC_2."); });
  EXPECT_TRUE(asks_for_glibc);
}

TEST(Elf, RefusesWhatContradictsItself) {
  const std::string good = TestLibrary{.needed = {"libc.so.6"}, .imports = {"malloc"}}.bytes();
  EXPECT_EQ(error_of(good), "none");
  EXPECT_EQ(error_of("PK\x03\x04"), "byte 0: no ELF file: it does not begin with 7f 45 4c 46");
  EXPECT_EQ(error_of(with<uint8_t>(good, 4, 1)),
            "an ELF file of class 1 and byte order 1; libraries of 64 bits in little endian are read");
  EXPECT_EQ(error_of(with<uint16_t>(good, 54, 55)),
            "byte 54: descriptions of segments have 55 bytes, not 56");
  EXPECT_EQ(error_of(with<uint16_t>(good, 56, 60000)), "60000 segments are beyond any library");
  EXPECT_EQ(error_of(with<uint32_t>(good, 64 + 56, 9)),
            "the ELF file has no dynamic section: it is no shared library");
  EXPECT_EQ(
      error_of(with<uint64_t>(good, 64 + 32, UINT64_MAX)),
      "byte 64: a segment has bytes 0 to 18446744073709551615 of a file of " + std::to_string(good.size()));
  EXPECT_EQ(error_of(with<uint64_t>(good, 64 + 40, 3)),
            "byte 64: a segment is longer in the file than in memory");
  EXPECT_EQ(error_of(with<uint32_t>(good, 64 + 112, 2)), "byte 176: there are two dynamic sections");
  EXPECT_EQ(error_of(with<uint32_t>(good, 64 + 112, 1)),
            "byte 176: segments that are loaded overlap, or are not in the order of their addresses");
  const std::string far = TestLibrary{.entries = {{5, 1U << 30}}}.bytes();
  EXPECT_NE(error_of(far).find("at address 0x40000000 are not in the file"), std::string::npos);
  EXPECT_EQ(error_of(TestLibrary{.entries = {{1, 999}}}.bytes()).substr(0, 38),
            "byte 0: a needed library is at 999 of ");
  EXPECT_EQ(error_of(TestLibrary{.entries = {{17, 0}}}.bytes()),
            "relocations without addends are not of this machine");
}

// Millions of symbols that all have one name of megabytes would be read for hours.
TEST(Elf, BoundsTheNamesItReads) {
  TestLibrary library;
  library.exports.assign(101, "x");
  library.exports[0] = std::string(1U << 20, 'x');
  std::string bytes = library.bytes();
  EXPECT_EQ(error_of(bytes), "none");
  const size_t symbols = 64 + 3 * 56 + 1 + (1U << 20) + 1 + 100 * 2;
  for (size_t i = 2; i <= 101; ++i) bytes = with<uint32_t>(std::move(bytes), symbols + i * 24, 1);
  EXPECT_EQ(error_of(bytes), "names of symbols are longer than the file");
}

// Thousands of lists of versions in the same few bytes.
TEST(Elf, BoundsTheVersionsItReads) {
  TestLibrary library;
  library.exports = {std::string(4096, '\0')};
  std::string bytes = library.bytes();
  const size_t place = 64 + 3 * 56 + 64;  // in the zeros
  library.entries = {{0x6ffffffe, place}, {0x6fffffff, 4096}};
  bytes = library.bytes();
  for (size_t at = place; at < place + 2048; at += 16) {
    bytes = with<uint16_t>(std::move(bytes), at + 2, 60000);
    bytes = with<uint32_t>(std::move(bytes), at + 12, 16);
  }
  // Each begins with itself, and its next version is the next list.
  for (size_t at = place; at < place + 2048; at += 16) bytes = with<uint32_t>(std::move(bytes), at + 8, 16);
  EXPECT_EQ(error_of(bytes), "too many versions are asked for");
}

TEST(Elf, NeverReadsBeyondTheFile) {
  const std::string good = TestLibrary{.needed = {"libc.so.6"},
                                       .imports = {"malloc", "free"},
                                       .exports = {"a", "b"},
                                       .initializers = 1,
                                       .has_indirect = true}
                               .bytes();
  for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(error_of(good.substr(0, size)), "none") << size;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    error_of(bytes);
  }
}

}  // namespace
}  // namespace flambeau::elf
