#include "flambeau/archive/pickle/tree.h"

#include "flambeau/archive/pickle/test_util.h"

namespace flambeau::pickle {
namespace {

TEST(PickleTree, HoldsEveryKind) {
  Tree tree;
  Node* list = tree.list({tree.none(), tree.boolean(true), tree.integer(-7), tree.real(1.5)});
  Node* dict = tree.dict({{tree.string("k"), tree.bytes(as_bytes("b"))}});
  Node* call = tree.call(tree.global("collections", "OrderedDict"), tree.tuple());
  tree.append(list, tree.byte_array(as_bytes("x")));
  tree.set_item(dict, tree.integer(2), tree.set({tree.integer(3)}));
  tree.append(call, tree.integer(4));
  tree.set_item(call, tree.integer(5), tree.frozen_set());
  tree.set_state(call, tree.persistent(tree.string("id")));
  tree.set_root(tree.tuple({list, dict, call}));
  EXPECT_EQ(show(tree.root()),
            "([None, True, -7, 1.5f, bytearray'x'], {'k': b'b', 2: set{3}}, "
            "reduce collections.OrderedDict() items [4] pairs {5: frozenset{}} state persistent 'id')");
}

TEST(PickleTree, TextsAreCopied) {
  Tree tree;
  std::string text = "before";
  Node* node = tree.string(text);
  text = "after!";
  EXPECT_EQ(node->as_string(), "before");
}

TEST(PickleTree, SurvivesAMove) {
  Tree tree;
  tree.set_root(tree.list({tree.string("x")}));
  Tree moved = std::move(tree);
  EXPECT_EQ(show(moved.root()), "['x']");
  moved = Tree();
  EXPECT_EQ(moved.root(), nullptr);
}

TEST(PickleTree, BigIntegersTakeTheShortestForm) {
  Tree tree;
  const uint8_t small[] = {0xFE, 0xFF, 0xFF};
  EXPECT_EQ(tree.big_integer(small)->as_int(), -2);
  const uint8_t none[] = {0};
  EXPECT_EQ(tree.big_integer(ByteSpan(none, size_t{0}))->as_int(), 0);
  const uint8_t most[] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0};
  EXPECT_EQ(show(tree.big_integer(most)), "0x008000000000000000");
  const uint8_t padded[] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0};
  EXPECT_EQ(show(tree.big_integer(padded)), "0x008000000000000000");
  const uint8_t least[] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xFF};
  EXPECT_EQ(tree.big_integer(least)->as_int(), INT64_MIN);
}

TEST(PickleTree, FindsTheLaterOfEqualKeys) {
  Tree tree;
  Node* dict = tree.dict({{tree.string("a"), tree.integer(1)},
                          {tree.integer(9), tree.integer(2)},
                          {tree.string("a"), tree.integer(3)}});
  EXPECT_EQ(dict->find("a")->as_int(), 3);
  EXPECT_EQ(dict->find("b"), nullptr);
  EXPECT_EQ(tree.integer(1)->find("a"), nullptr);
}

TEST(PickleTree, ComparesDottedNames) {
  Tree tree;
  const Node* global = tree.global("torch.nn", "Linear");
  EXPECT_TRUE(global->is_global("torch.nn.Linear"));
  EXPECT_FALSE(global->is_global("torch.nn.Linea"));
  EXPECT_FALSE(global->is_global("torch.nn_Linear"));
  EXPECT_FALSE(tree.string("torch.nn.Linear")->is_global("torch.nn.Linear"));
}

TEST(PickleTree, AccessorsSayWhatTheyFound) {
  Tree tree;
  const Node* text = tree.string("x");
  EXPECT_EQ(failure_of([&] { text->as_int(); }).text, "expected int, found string");
  EXPECT_EQ(failure_of([&] { text->items(); }).text, "expected list, tuple, set or frozenset, found string");
  EXPECT_EQ(failure_of([&] { text->pairs(); }).text, "expected dict, found string");
  EXPECT_EQ(failure_of([&] { text->as_call(); }).text, "expected call, found string");
  EXPECT_EQ(failure_of([&] { text->as_global(); }).text, "expected global, found string");
  EXPECT_EQ(failure_of([&] { tree.none()->as_bytes(); }).text, "expected bytes, found None");
  EXPECT_EQ(failure_of([&] { tree.none()->persistent_id(); }).code, ErrorCode::kCorrupt);
}

TEST(PickleTree, EditingAWrongKindIsRefused) {
  Tree tree;
  Node* tuple = tree.tuple();
  EXPECT_EQ(failure_of([&] { tree.set_item(tuple, tuple, tuple); }).text,
            "cannot set an item of a tuple, expected a dict or a call");
  EXPECT_EQ(failure_of([&] { tree.append(tree.none(), tuple); }).text,
            "cannot append to None, expected a sequence or a call");
  EXPECT_EQ(failure_of([&] { tree.set_state(tree.integer(1), tuple); }).text,
            "cannot set the state of an int, expected a call");
}

TEST(PickleTree, GrowsLongSequences) {
  Tree tree;
  Node* list = tree.list();
  for (int i = 0; i < 100'000; ++i) tree.append(list, tree.integer(i));
  ASSERT_EQ(list->items().size(), 100'000u);
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(list->items()[static_cast<size_t>(i)]->as_int(), i);
}

}  // namespace
}  // namespace flambeau::pickle
