#include "flambeau/formats/outline.h"
#include "flambeau/archive/pickle/tree.h"

#include <gtest/gtest.h>

#include "support/torch_files.h"

namespace flambeau {
namespace {

using pickle::Node;

std::string text_of(const std::vector<OutlineLine>& lines) {
  std::string text;
  for (const OutlineLine& line : lines) {
    text += std::string(static_cast<size_t>(line.depth), ' ');
    text += line.key.empty() ? line.description : line.key + ": " + line.description;
    text += '\n';
  }
  return text;
}

TEST(Outline, ShowsValuesAndTensors) {
  testing::TorchFileBuilder file;
  pickle::Tree& tree = file.tree;
  file.record("data/0", std::string(24, '\1'));
  const auto text = [&](std::string_view value) { return tree.string(value); };
  const uint8_t big[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  Node* model = tree.call(tree.global("collections", "OrderedDict"), tree.tuple());
  tree.set_item(model, text("w"), file.plain_tensor());
  tree.set_item(model, text("p"),
                file.utils("_rebuild_parameter", {file.plain_tensor(), tree.boolean(true), file.hooks()}));
  tree.set_root(
      tree.dict({{text("epoch"), tree.integer(7)},
                 {text("best"), tree.real(0.5)},
                 {text("name"), text("run\n1")},
                 {text("flags"), tree.tuple({tree.boolean(true), tree.none(), tree.big_integer(big)})},
                 {text("raw"), tree.bytes(as_bytes("abc"))},
                 {text("model"), model},
                 {text("type"), tree.global("torch", "float32")},
                 {text("object"), tree.call(tree.global("my", "Class"), tree.tuple({tree.integer(1)}))},
                 {tree.integer(3), tree.list()}}));
  EXPECT_EQ(text_of(outline(load_checkpoint(file.finish()))),
            "dict of 9\n"
            " epoch: 7\n"
            " best: 0.5\n"
            " name: 'run\\x0a1'\n"
            " flags: tuple of 3\n"
            "  [0]: True\n"
            "  [1]: None\n"
            "  [2]: an integer of 10 bytes\n"
            " raw: object _codecs.encode\n"
            "  [0]: 'abc'\n"
            "  [1]: 'latin1'\n"
            " model: OrderedDict of 2\n"
            "  w: float32[2, 3]\n"
            "  p: float32[2, 3]\n"
            " type: torch.float32\n"
            " object: object my.Class\n"
            "  [0]: 1\n"
            " 3: list of 0\n");
}

TEST(Outline, CutsWhatIsLong) {
  pickle::Tree tree;
  std::vector<Node*> items(100, tree.integer(1));
  tree.set_root(tree.list(items));
  OutlineLimits limits;
  limits.children = 2;
  EXPECT_EQ(text_of(outline(tree, limits)), "list of 100\n [0]: 1\n [1]: 1\n ... and 98 more\n");
  limits.children = 1000;
  limits.lines = 3;
  EXPECT_EQ(text_of(outline(tree, limits)), "list of 100\n [0]: 1\n [1]: 1\n... (cut here)\n");
  Node* deep = tree.integer(1);
  for (int i = 0; i < 10; ++i) deep = tree.list({deep});
  tree.set_root(deep);
  limits = {};
  limits.depth = 1;
  EXPECT_EQ(text_of(outline(tree, limits)), "list of 1\n [0]: list of 1\n");
}

TEST(Outline, SurvivesCyclesSharingAndEmptiness) {
  pickle::Tree tree;
  EXPECT_TRUE(outline(tree).empty());
  Node* list = tree.list();
  tree.append(list, list);
  tree.set_root(list);
  EXPECT_EQ(outline(tree).size(), 5U);
  Node* node = tree.list();
  for (int i = 0; i < 40; ++i) node = tree.list({node, node, node, node});
  tree.set_root(node);
  OutlineLimits limits;
  limits.depth = 100;
  EXPECT_EQ(outline(tree, limits).size(), 401U);
}

TEST(Outline, OnlyWrappersOfATensorLookLikeOne) {
  testing::TorchFileBuilder file;
  file.record("data/0", std::string(24, '\1'));
  Node* object = file.tree.call(file.tree.global("my", "Class"),
                                file.tree.tuple({file.plain_tensor(), file.tree.integer(1)}));
  EXPECT_EQ(text_of(outline(load_checkpoint(file.with_x(object)))),
            "dict of 1\n x: object my.Class\n  [0]: float32[2, 3]\n  [1]: 1\n");
}

}  // namespace
}  // namespace flambeau
