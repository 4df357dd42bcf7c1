#include "flambeau/aot/payload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::aot {
namespace {

std::shared_ptr<Mapping> library_with(PayloadKind kind, std::string_view payload) {
  return Mapping::from_buffer(with_payload(as_bytes("code"), kind, as_bytes(payload)));
}

TEST(Payload, IsFoundBehindTheCode) {
  const std::optional<Payload> found = find_payload(library_with(PayloadKind::kReference, "{}"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, PayloadKind::kReference);
  EXPECT_EQ(as_text(found->bytes->bytes()), "{}");
  EXPECT_FALSE(find_payload(Mapping::from_text("code")).has_value());
  EXPECT_FALSE(find_payload(Mapping::from_text(std::string(100, 'x'))).has_value());
}

TEST(Payload, BrokenOnesAreRefused) {
  const std::vector<uint8_t> whole = with_payload(as_bytes("code"), PayloadKind::kWhole, as_bytes("abc"));
  const auto refuses = [&](size_t from_end, uint8_t value) {
    std::vector<uint8_t> bytes = whole;
    bytes[bytes.size() - from_end] = value;
    EXPECT_THROW(find_payload(Mapping::from_buffer(bytes)), Error);
  };
  refuses(8, 4);      // one byte more than there are
  refuses(8, 2);      // one less
  refuses(1, 0x80);   // more than any file has
  refuses(16, 0x41);  // begins elsewhere
  refuses(9, 0xff);
  refuses(24, 9);  // of no known kind
  std::vector<uint8_t> cut(whole.begin() + 1, whole.end());
  EXPECT_THROW(find_payload(Mapping::from_buffer(cut)), Error);
}

TEST(Payload, KernelsLieBeforeTheProgram) {
  for (const size_t size : {0U, 1U, 23U, 24U, 25U, 64U, 100U}) {
    const std::vector<uint8_t> kernels(size, 7);
    const auto file = Mapping::from_buffer(
        with_payload(with_kernels(as_bytes("code"), kernels), PayloadKind::kWhole, as_bytes("abc")));
    const std::shared_ptr<Mapping> found = find_kernels(file);
    ASSERT_NE(found, nullptr);
    EXPECT_TRUE(std::ranges::equal(found->bytes().first(size), kernels));
    EXPECT_EQ(as_text(find_payload(file)->bytes->bytes()), "abc");
  }
  EXPECT_EQ(find_kernels(library_with(PayloadKind::kWhole, "abc")), nullptr);
  EXPECT_EQ(find_kernels(Mapping::from_text("code")), nullptr);
  // In the program's place they are none, nor is a program in theirs.
  EXPECT_THROW(find_payload(library_with(PayloadKind::kKernels, "abc")), Error);
  const std::vector<uint8_t> twice =
      with_payload(as_bytes("code"), PayloadKind::kWhole, std::vector<uint8_t>(88));
  ASSERT_EQ(twice.size() % 64, 0U);
  EXPECT_THROW(find_kernels(Mapping::from_buffer(with_payload(twice, PayloadKind::kWhole, as_bytes("abc")))),
               Error);
}

TEST(Payload, ReferencesAreTextThatReadsBack) {
  const Reference read = read_reference(write_reference({"model", "0123"}));
  EXPECT_EQ(read.model, "model");
  EXPECT_EQ(read.token, "0123");
  EXPECT_THROW(read_reference("{}"), Error);
  EXPECT_THROW(read_reference("[]"), Error);
  EXPECT_THROW(read_reference("{\"model\": 1, \"token\": \"\"}"), Error);
  EXPECT_EQ(token_record("model"), "data/aotinductor/model/flambeau.token");
}

}  // namespace
}  // namespace flambeau::aot
