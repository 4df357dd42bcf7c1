#include "flambeau/archive/tar_reader.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "flambeau/base/error.h"

namespace flambeau::tar {
namespace {

std::string padded(std::string data) {
  data.resize((data.size() + 511) / 512 * 512);
  return data;
}

// A header and its data, as tar(1) writes them.
std::string member(std::string_view name, std::string_view data, char type = '0', std::string_view size = "",
                   std::string_view prefix = "") {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  char octal[13];
  std::snprintf(octal, sizeof octal, "%011zo", data.size());
  header.replace(124, 11, size.empty() ? std::string_view(octal, 11) : size);
  header[156] = type;
  header.replace(257, 5, "ustar");
  header.replace(345, prefix.size(), prefix);
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<uint8_t>(c);
  std::snprintf(octal, sizeof octal, "%06o", sum);
  header.replace(148, 7, std::string(octal, 6) + '\0');
  return header + padded(std::string(data));
}

const std::string kEnd(1024, '\0');

std::string error_of(const std::string& bytes) {
  try {
    read_members(as_bytes(bytes));
  } catch (const Error& error) {
    return std::string(error_code_name(error.code())) + ": " + error.what();
  }
  return "no error";
}

std::vector<std::string> names(const std::vector<Member>& members) {
  std::vector<std::string> found;
  for (const Member& entry : members) found.emplace_back(entry.name);
  return found;
}

TEST(TarReader, ReadsMembersInPlace) {
  const std::string bytes =
      member("a", "hello") + member("empty", "") + member("b", std::string(700, 'x')) + kEnd;
  const std::vector<Member> members = read_members(as_bytes(bytes));
  ASSERT_EQ(names(members), (std::vector<std::string>{"a", "empty", "b"}));
  EXPECT_EQ(as_text(members[0].data), "hello");
  EXPECT_EQ(members[0].offset, 512U);
  EXPECT_EQ(members[0].data.data(), as_bytes(bytes).data() + 512);
  EXPECT_EQ(members[1].data.size(), 0U);
  EXPECT_EQ(members[2].data.size(), 700U);
  EXPECT_TRUE(looks_like_tar(as_bytes(bytes)));
}

TEST(TarReader, NeedsNoEndAndNoLastPadding) {
  const std::string bytes = member("a", "hello");
  EXPECT_EQ(names(read_members(as_bytes(bytes))).size(), 1U);
  EXPECT_EQ(names(read_members(as_bytes(bytes).first(512 + 5))).size(), 1U);
  EXPECT_EQ(names(read_members(as_bytes(bytes + kEnd + member("behind", "")))).size(), 1U);
}

TEST(TarReader, PassesOverWhatIsNoPlainFile) {
  const std::string bytes = member("folder/", "", '5') + member("link", "", '2') + member("old", "x", '\0') +
                            member("x", "17 path=pickle\n", 'x') + member("far", "", '0', "", "away") + kEnd;
  EXPECT_EQ(names(read_members(as_bytes(bytes))), std::vector<std::string>{"old"});
  EXPECT_EQ(names(read_other_members(as_bytes(bytes))),
            (std::vector<std::string>{"folder/", "link", "x", "far"}));
}

TEST(TarReader, ExtendedHeadersWithTimesAreHarmless) {
  const auto others = [](std::string_view data) {
    return read_other_members(as_bytes(member("x", data, 'x') + member("a", "") + kEnd)).size();
  };
  EXPECT_EQ(others("26 mtime=1484131200.500000\n"), 1U) << "the length counts itself";
  EXPECT_EQ(others("27 mtime=1484131200.500000\n"), 0U);
  EXPECT_EQ(others("11 mtime=1\n12 uname=me\n"), 0U);
  EXPECT_EQ(others("15 path=pickle\n"), 1U);
  EXPECT_EQ(others("11 mtime=1\n10 path=x\n"), 1U);
  EXPECT_EQ(others("99 mtime=1\n"), 1U);
  EXPECT_EQ(others("0 mtime=1\n"), 1U);
  EXPECT_EQ(others("mtime=1\n"), 1U);
  EXPECT_EQ(others("99999999999999999999999 mtime=1\n"), 1U);
}

TEST(TarReader, SaysWhatIsBroken) {
  std::string wrong = member("a", "hello");
  wrong[3] = 'x';
  EXPECT_EQ(error_of(wrong), "corrupt: byte 0: a tar header has a wrong checksum");
  EXPECT_EQ(error_of(member("a", "hello") + wrong), "corrupt: byte 1024: a tar header has a wrong checksum");
  EXPECT_EQ(error_of(member("a", "x", '0', "zzzzzzzzzzz")),
            "corrupt: byte 0: a tar header has no readable size");
  EXPECT_EQ(error_of(member("a", "x", '0', "77777777777")),
            "corrupt: byte 512: a tar member needs 8589934591 bytes, 512 are left");
  EXPECT_EQ(error_of(member("a", "x", '0', "\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff")),
            "corrupt: byte 0: a tar header has no readable size");
  EXPECT_EQ(error_of("short"), "no error");
  EXPECT_FALSE(looks_like_tar(as_bytes(wrong)));
  EXPECT_FALSE(looks_like_tar(as_bytes(kEnd)));
  EXPECT_FALSE(looks_like_tar(as_bytes("short")));
}

}  // namespace
}  // namespace flambeau::tar
