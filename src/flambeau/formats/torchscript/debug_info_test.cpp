#include "flambeau/formats/torchscript/debug_info.h"

#include <gtest/gtest.h>

#include "flambeau/archive/pickle/writer.h"
#include "flambeau/base/error.h"

namespace flambeau::script {
namespace {

using pickle::Node;
using pickle::Tree;

std::vector<TextOrigin> read(const Node* root) {
  return read_debug_pickle(as_bytes(pickle::write_torch(*root)));
}

Node* record(Tree& tree, int64_t offset, Node* source, int64_t start, int64_t end) {
  return tree.tuple(
      {tree.integer(offset), tree.tuple({source, tree.integer(start), tree.integer(end)}), tree.integer(0)});
}

TEST(DebugInfoTest, ReadsTheFirstGenerations) {
  Tree tree;
  Node* source = tree.tuple({tree.string("def f(x):\n  return x\n"), tree.string("m.py"), tree.integer(7)});
  Node* unnamed = tree.tuple({tree.string("y"), tree.none(), tree.integer(1)});
  Node* untagged = tree.tuple({tree.integer(3), tree.tuple({unnamed, tree.integer(0), tree.integer(1)})});
  const auto records = read(tree.tuple({record(tree, 10, source, 12, 20), untagged}));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].offset, 3U);
  EXPECT_EQ(records[0].range.source->file_name(), "");
  EXPECT_EQ(records[1].offset, 10U);
  EXPECT_EQ(records[1].range.text(), "return x");
  EXPECT_EQ(records[1].range.source->file_name(), "m.py");
  EXPECT_EQ(records[1].range.source->first_line(), 7U);
}

TEST(DebugInfoTest, ReadsBackWhatItWrites) {
  const auto source = std::make_shared<Source>("a = 1\nb = 2\na = 1\n", "m.py", 3);
  const auto other = std::make_shared<Source>("a = 1", "");
  const std::vector<TextOrigin> written = {
      {0, {source, 0, 5}}, {7, {other, 0, 1}}, {9, {source, 6, 11}}, {12, {source, 0, 5}}};
  DebugPickler pickler;
  const std::string bytes = pickler.pickle(written);
  const auto records = read_debug_pickle(as_bytes(bytes));
  ASSERT_EQ(records.size(), 4U);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].offset, written[i].offset);
    EXPECT_EQ(records[i].range.text(), written[i].range.text());
  }
  EXPECT_EQ(records[0].range.source, records[3].range.source);
  EXPECT_EQ(records[0].range.source->text(), source->text());
  EXPECT_EQ(records[0].range.source->first_line(), 3U);
}

TEST(DebugInfoTest, WritesNoPlaceAtAll) {
  DebugPickler pickler;
  EXPECT_EQ(pickler.pickle({}),
            std::string("\x80\x02X\x18\0\0\0FORMAT_WITH_STRING_TABLEq\0X\0\0\0\0q\1\x85q\2)q\3\x87.", 48));
  const auto records = read_debug_pickle(as_bytes(pickler.pickle(std::vector<TextOrigin>{{0, {}}})));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].range.text(), "");
}

TEST(DebugInfoTest, FindsTheRangeThatApplies) {
  const auto source = std::make_shared<Source>("abc", "m.py");
  DebugPickler pickler;
  const std::string bytes = pickler.pickle(std::vector<TextOrigin>{{5, {source, 0, 1}}, {8, {source, 1, 2}}});
  int reads = 0;
  const auto origins = lazy_origins([&] {
    ++reads;
    return std::vector<uint8_t>(bytes.begin(), bytes.end());
  });
  EXPECT_EQ(reads, 0);
  EXPECT_FALSE(origins->find(4));
  EXPECT_EQ(origins->find(5)->text(), "a");
  EXPECT_EQ(origins->find(7)->text(), "a");
  EXPECT_EQ(origins->find(1000)->text(), "b");
  EXPECT_EQ(reads, 1);
}

TEST(DebugInfoTest, IgnoresWhatIsCorrupt) {
  const auto origins = lazy_origins([] { return std::vector<uint8_t>{1, 2, 3}; });
  EXPECT_FALSE(origins->find(0));
  const auto unreadable = lazy_origins([]() -> std::vector<uint8_t> { corrupt("no"); });
  EXPECT_FALSE(unreadable->find(0));
}

TEST(DebugInfoTest, RefusesWildIndices) {
  Tree tree;
  Node* format = tree.string("FORMAT_WITH_STRING_TABLE");
  Node* texts = tree.tuple({tree.string(""), tree.string("x\n")});
  const auto with_lines = [&](int64_t line, int64_t file) {
    Node* lines = tree.call(tree.global("torch.jit._pickle", "build_intlist"),
                            tree.tuple({tree.list({tree.integer(line)})}));
    Node* source = tree.tuple({lines, tree.integer(file), tree.integer(1)});
    return tree.tuple({format, texts, tree.tuple({record(tree, 0, source, 0, 1)})});
  };
  EXPECT_EQ(read(with_lines(1, 0)).size(), 1U);
  EXPECT_THROW(read(with_lines(2, 0)), Error);
  EXPECT_THROW(read(with_lines(-1, 0)), Error);
  EXPECT_THROW(read(with_lines(0, 1LL << 62)), Error);
  Node* source = tree.tuple({tree.string("abc"), tree.none(), tree.integer(1)});
  for (const auto& [start, end] : {std::pair{-1, 2}, {2, 1}, {0, 4}}) {
    EXPECT_TRUE(read(tree.tuple({record(tree, 0, source, start, end)})).empty());
  }
  EXPECT_THROW(read(tree.integer(1)), Error);
  EXPECT_THROW(read(tree.tuple({tree.tuple()})), Error);
  EXPECT_THROW(read(tree.tuple({format, texts})), Error);
}

TEST(DebugInfoTest, BoundsWhatTextsAreMadeOf) {
  Tree tree;
  const std::string line(1 << 16, 'x');
  Node* texts = tree.tuple({tree.string(""), tree.string(line)});
  std::vector<Node*> many(10000, tree.integer(1));
  Node* lines = tree.call(tree.global("torch.jit._pickle", "build_intlist"), tree.tuple({tree.list(many)}));
  Node* source = tree.tuple({lines, tree.integer(0), tree.integer(1)});
  Node* root = tree.tuple(
      {tree.string("FORMAT_WITH_STRING_TABLE"), texts, tree.tuple({record(tree, 0, source, 0, 1)})});
  EXPECT_THROW(read(root), Error);
}

}  // namespace
}  // namespace flambeau::script
