// The house rules that a compiler does not check: who may include whom, and what a header may include.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

using Rooms = std::map<std::string, std::set<std::string>>;

// Which rooms each room may include, besides itself: what the build says, "base: symbolic:base ...".
Rooms read_rooms(const std::string& text) {
  Rooms rooms;
  static const std::regex row(R"((\w+):([\w,]*))");
  static const std::regex word(R"(\w+)");
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
    const std::string others = (*at)[2];
    auto& uses = rooms[(*at)[1]];
    for (std::sregex_iterator other(others.begin(), others.end(), word); other != end; ++other)
      uses.insert(other->str());
  }
  return rooms;
}
const Rooms kMayUse = read_rooms(FLAMBEAU_ROOMS);

const fs::path kRoot = FLAMBEAU_SOURCE_DIR;

struct Include {
  fs::path file;  // relative to the root
  int line;
  std::string path;
  bool quoted;
  std::string where() const { return file.string() + ":" + std::to_string(line) + " includes " + path; }
};

bool is_source(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

// What users need of a room, and what it keeps to itself.
constexpr std::initializer_list<const char*> kLibrary = {"include/flambeau", "src/flambeau"};

// From the root.
std::vector<fs::path> sources_under(std::initializer_list<const char*> folders) {
  std::vector<fs::path> found;
  for (const char* const folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (is_source(entry.path())) found.push_back(fs::relative(entry.path(), kRoot));
  }
  return found;
}

std::vector<Include> includes_under(std::initializer_list<const char*> folders) {
  std::vector<Include> found;
  static const std::regex include_line(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  for (const fs::path& source : sources_under(folders)) {
    std::ifstream file(kRoot / source);
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
      std::smatch match;
      if (!std::regex_search(text, match, include_line)) continue;
      found.push_back({source, line, match[2], match[1] == "\""});
    }
  }
  return found;
}

// The parts of "flambeau/base/error.h": {"flambeau", "base", "error.h"}.
std::vector<std::string> parts_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  return parts;
}

// The room of an included path; empty for one of the headers that users name, "flambeau/runtime.h".
std::string room_of(const std::string& included) {
  const auto parts = parts_of(included);
  return parts.size() > 2 ? parts[1] : "";
}

// x_test.cpp, and what several tests share: x_test_files.h. They alone have tests/support/ on their path.
bool is_test(const fs::path& file) {
  const std::string stem = file.stem().string();
  return stem.find("_test") != std::string::npos || stem.starts_with("test_");
}

TEST(HouseRules, RoomsIncludeOnlyWhatTheTableAllows) {
  const auto includes = includes_under(kLibrary);
  EXPECT_GT(includes.size(), 50U) << "the sources were not found";
  for (const Include& include : includes) {
    if (!include.quoted) continue;
    const auto parts = parts_of(include.file);  // src or include, flambeau, room, ...
    if (!include.path.starts_with("flambeau/")) {
      EXPECT_TRUE(is_test(include.file) && include.path.starts_with("support/"))
          << include.where() << ": write the path from the top, \"flambeau/...\"";
      continue;
    }
    if (parts.size() < 4)
      continue;  // a header that users name, and its inside, src/flambeau/x.cpp, may use all
    const std::string& room = parts[2];
    const std::string other = room_of(include.path);
    ASSERT_TRUE(kMayUse.contains(room)) << room << " has no row in the table of rooms";
    EXPECT_TRUE(other == room || kMayUse.at(room).contains(other))
        << include.where() << ": " << room << "/ may not include "
        << (other.empty() ? "public headers" : other + "/");
  }
}

TEST(HouseRules, AppsAndExamplesIncludeOnlyPublicHeaders) {
  for (const Include& include : includes_under({"apps", "examples"})) {
    if (!include.path.starts_with("flambeau/")) continue;
    EXPECT_EQ(room_of(include.path), "") << include.where() << ", which is not a public header";
  }
}

// What is installed is include/ alone.
TEST(HouseRules, PublicHeadersNeedNoOthers) {
  for (const Include& include : includes_under({"include/flambeau"})) {
    if (!include.path.starts_with("flambeau/")) continue;
    EXPECT_TRUE(fs::exists(kRoot / "include" / include.path))
        << include.where() << ", which users do not have: declare what is needed, or move it to include/";
  }
}

// A table of contents: what each is for, and how it begins.
TEST(HouseRules, HeadersThatUsersNameShowAnExample) {
  for (const auto& entry : fs::directory_iterator(kRoot / "include/flambeau")) {
    if (entry.is_directory()) continue;
    std::ifstream file(entry.path());
    std::string text;
    bool is_shown = false;
    while (std::getline(file, text) &&
           (text.starts_with("//") || text.starts_with("/*") || text.starts_with(" *")))
      is_shown = is_shown || text.starts_with("//   ") || text.starts_with(" *   ");
    EXPECT_TRUE(is_shown) << entry.path() << ": begin with what it is for and a small example";
  }
}

TEST(HouseRules, HeadersIncludeNoHeavyLibraries) {
  for (const Include& include : includes_under(kLibrary)) {
    if (include.file.extension() != ".h" || is_test(include.file)) continue;
    for (const char* library : {"fmt/", "simdjson", "libdeflate", "CLI/", "gtest/", "benchmark/"})
      EXPECT_FALSE(include.path.starts_with(library)) << include.where() << ": use it in a .cpp file";
  }
}

TEST(HouseRules, ASourceIncludesItsOwnHeaderFirst) {
  std::set<fs::path> seen;
  for (const Include& include : includes_under({"src/flambeau"})) {
    if (include.file.extension() != ".cpp" || !seen.insert(include.file).second) continue;
    const fs::path header = fs::relative(include.file, "src").replace_extension(".h");
    if (!fs::exists(kRoot / "src" / header) && !fs::exists(kRoot / "include" / header)) continue;
    EXPECT_EQ(include.path, header.string()) << include.where() << " first";
  }
}

// That there is no Info of plain integers the compiler says. What it cannot see is a rule that leaves its
// checked numbers half way, to compute on with plain ones.
TEST(HouseRules, ShapeRulesComputeWithCheckedNumbers) {
  const auto begins_rule = [](const std::string& text) {
    for (const char* const start : {"Info<N>", "Infos<N>", "ShortList<N>", "std::tuple<Info<N>", "N "}) {
      if (text.starts_with(start)) return true;
    }
    return false;
  };
  static const std::regex plain(R"(\bint64_t \w+ = .*\w\)? [-+*/] )");
  for (const fs::path& source : sources_under({"include/flambeau/ops", "src/flambeau/ops"})) {
    std::ifstream file(kRoot / source);
    std::string text;
    bool is_inside = false;
    for (int line = 1; std::getline(file, text); ++line) {
      if (begins_rule(text)) is_inside = true;
      if (text.starts_with('}')) is_inside = false;
      if (!is_inside || text.find("int64_t ") == std::string::npos) continue;
      EXPECT_FALSE(std::regex_search(text, plain))
          << source << ":" << line << " computes with int64_t: take Size or N";
    }
  }
}

// What an operator is made of stands in its own file, once: elsewhere is only the choice, without names.
TEST(HouseRules, OperatorsAreTakenApartInOps) {
  for (const fs::path& source : sources_under(kLibrary)) {
    const std::string path = source.string().substr(source.string().find("flambeau/") + 9);
    if (is_test(source) || path.starts_with("ops/")) continue;
    std::ifstream file(kRoot / source);
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
      bool is_second = path.starts_with("trace/decompos") && text.find("\"aten::") < text.find("//");
      for (const char* const word : {"decomposition<", ".composite<"})
        is_second = is_second || text.find(word) != std::string::npos;
      EXPECT_FALSE(is_second) << path << ":" << line
                              << ": give the operator's definition in ops/ a decomposition";
    }
  }
}

// The tokens of a source: words, texts with their quotes, marks. No comments.
std::vector<std::string> tokens_of(const fs::path& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> tokens;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {
      while (end < text.size() && text[end] != text[i]) end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
    } else if ((text[i] == '=' || text[i] == '!') && end < text.size() && text[end] == '=') {
      ++end;
    }
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) tokens.push_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

// Operators' names that are compared with, or stand in a list, rather than in a call. A name without its
// namespace is only seen where an operator's own one is compared with it.
std::vector<std::string> names_known(const std::vector<std::string>& tokens) {
  static const std::regex name(R"re("(\w+::\w+(\.\w+)?|torch\.ops\.(?!higher_order)\w+\.\w+(\.\w+)?)")re");
  static const std::set<std::string> kAsks = {"==", "!=", "starts_with", "ends_with", "contains", "compare"};
  std::vector<std::string> found;
  std::vector<size_t> open;  // where brackets are
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    if (token == "(" || token == "[" || token == "{") open.push_back(i);
    if ((token == ")" || token == "]" || token == "}") && !open.empty()) open.pop_back();
    if (token[0] == '"' && std::regex_match(token, name)) {
      const bool is_in_call =
          !open.empty() && tokens[open.back()] == "(" && !kAsks.contains(tokens[open.back() - 1]);
      if (!is_in_call || kAsks.contains(tokens[i - 1]) || kAsks.contains(tokens[i + 1]))
        found.push_back(token);
    }
    if (token == "base_name" && i + 4 < tokens.size()) {
      const size_t next = i + (tokens[i + 3] == "." ? 4 : 3);
      if (kAsks.contains(tokens[next])) found.push_back("base_name() " + tokens[next]);
    }
  }
  return found;
}

// TorchScript's language names operators, too: what it makes of which stands in tables, in two folders. And
// so does PyTorch's C interface, which has a function for each.
bool may_know_operators(const fs::path& file) {
  for (const char* const home : {"/flambeau/ops/", "/flambeau/script/operators/",
                                 "/flambeau/interpreter/builtins/", "/flambeau/aot/native/"}) {
    if (file.string().find(home) != std::string::npos) return true;
  }
  return false;
}

// What an operator is, its definition says: traits and facts.
TEST(HouseRules, OnlyOpsKnowsOperatorsByName) {
  size_t sources = 0;
  for (const fs::path& file :
       sources_under({"include/flambeau", "src/flambeau", "apps", "python/src", "examples"})) {
    if (is_test(file) || may_know_operators(file)) continue;
    ++sources;
    for (const std::string& name : names_known(tokens_of(kRoot / file)))
      ADD_FAILURE() << file << " knows an operator by " << name << ": let its definition say what it is";
  }
  EXPECT_GT(sources, 300U);
}

TEST(HouseRules, NamesInListsAndComparisonsAreSeen) {
  const fs::path path = fs::path(testing::TempDir()) / "names_known.cpp";
  const auto count = [&](const std::string& code) {
    std::ofstream(path) << "int x; " << code << " ;";
    return names_known(tokens_of(path)).size();
  };
  EXPECT_EQ(count(R"(call(context, "aten::clone", x); node("torch.ops.aten.add.Tensor", {x});)"), 0U);
  EXPECT_EQ(count(R"(// op.name() == "aten::relu")"), 0U);
  EXPECT_EQ(count(R"(if (op.name() == "aten::relu" || "prims::add" != name) {})"), 2U);
  EXPECT_EQ(count(R"(constexpr char kNames[] = {"aten::add.Tensor", "aten::sub"};)"), 2U);
  EXPECT_EQ(count(R"(if (is({"aten::mm"}) || name.starts_with("aten::conv")) {})"), 2U);
  EXPECT_EQ(count(R"(if (name.base_name() == "sym_size" || name.base_name().starts_with("sym_")) {})"), 2U);
  EXPECT_EQ(count(R"(if (node.target == "torch.ops.aten.copy.default") {})"), 1U);
  EXPECT_EQ(count(R"(if (node.target == "torch.ops.higher_order.cond") {})"), 0U);
}

// What is longer, or more, is two things under one name.
TEST(HouseRules, FilesAndFoldersCanBeSeenAtOnce) {
  constexpr int kMostLines = 450;
  constexpr size_t kMostFiles = 40;
  std::map<fs::path, size_t> files;
  for (const fs::path& path :
       sources_under({"src", "include", "apps", "python", "tests", "bench", "examples"})) {
    ++files[path.parent_path()];
    std::ifstream file(kRoot / path);
    const auto lines = std::count(std::istreambuf_iterator<char>(file), {}, '\n');
    EXPECT_LE(lines, kMostLines) << path << ": give its parts files of their own";
  }
  for (const auto& [folder, count] : files)
    EXPECT_LE(count, kMostFiles) << folder << ": give what belongs together a folder";
}

TEST(HouseRules, EveryRoomHasARowAReadmeAndAFolder) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(kRoot / "src/flambeau")) {
    if (entry.is_directory()) folders.insert(entry.path().filename().string());
  }
  std::set<std::string> rooms;
  for (const auto& [room, others] : kMayUse) {
    rooms.insert(room);
    EXPECT_TRUE(fs::exists(kRoot / "src/flambeau" / room / "README.md")) << room << "/ has no README.md";
    for (const std::string& other : others) {
      ASSERT_TRUE(kMayUse.contains(other)) << other;
      EXPECT_FALSE(kMayUse.at(other).contains(room)) << room << " and " << other << " may use each other";
    }
  }
  EXPECT_EQ(rooms, folders);
  for (const auto& entry : fs::directory_iterator(kRoot / "include/flambeau")) {
    if (!entry.is_directory()) continue;
    EXPECT_TRUE(rooms.contains(entry.path().filename().string())) << entry.path();
  }
}

}  // namespace
