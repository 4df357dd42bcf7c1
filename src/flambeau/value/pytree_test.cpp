#include "flambeau/value/pytree.h"
#include "flambeau/archive/json/json.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "support/message_of.h"

namespace flambeau {
namespace {

constexpr std::string_view kLeaf = R"({"type": null, "context": null, "children_spec": []})";

std::string parse_error(std::string_view text) {
  return message_of([&] { parse_treespec(text); });
}

// The text of a root with those leaves.
std::string spec_text(std::string_view type, std::string_view context, size_t leaves) {
  std::string text = R"([1, {"type": ")" + std::string(type) + R"(", "context": )" + std::string(context) +
                     R"(, "children_spec": [)";
  for (size_t i = 0; i < leaves; ++i) text.append(i == 0 ? "" : ", ").append(kLeaf);
  return text + "]}]";
}

TEST(TreeSpec, ReadsAndWritesPyTorchsText) {
  // tree_structure(((1, 2), {"x": 3})), dumped by PyTorch 2.13.
  const std::string_view text = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)"
                                R"({"type": "builtins.tuple", "context": "null", "children_spec": [)"
                                R"({"type": null, "context": null, "children_spec": []}, )"
                                R"({"type": null, "context": null, "children_spec": []}]}, )"
                                R"({"type": "builtins.dict", "context": "[\"x\"]", "children_spec": [)"
                                R"({"type": null, "context": null, "children_spec": []}]}]}])";
  const TreeSpec spec = parse_treespec(text);
  EXPECT_EQ(dump_treespec(spec), text);
  EXPECT_EQ(spec.num_leaves(), 3U);
  EXPECT_EQ(spec.num_nodes(), 6U);
  EXPECT_EQ(spec.depth(), 3);
  EXPECT_EQ(spec.kind(), TreeKind::kTuple);
  EXPECT_EQ(spec.type_name(), "builtins.tuple");
  EXPECT_EQ(spec.context_json(), R"("null")");
  EXPECT_EQ(spec.to_string(), "((*, *), {'x': *})");
  ASSERT_EQ(spec.child(1).keys().size(), 1U);
  EXPECT_EQ(spec.child(1).keys()[0].as_string(), "x");
  EXPECT_NE(spec.child(1).find("x"), nullptr);
  EXPECT_EQ(spec.child(1).find("y"), nullptr);
  EXPECT_EQ(leaf_paths(spec), (std::vector<std::string>{"[0][0]", "[0][1]", "[1]['x']"}));
  EXPECT_EQ(input_leaf_paths(spec), (std::vector<std::string>{"args[0]", "args[1]", "kwargs['x']"}));
  EXPECT_EQ(spec, TreeSpec::tuple({TreeSpec::tuple({{}, {}}), TreeSpec::dict({"x"}, {TreeSpec()})}));
}

TEST(TreeSpec, ALeaf) {
  const TreeSpec leaf = parse_treespec(R"([1, {"type": null, "context": null, "children_spec": []}])");
  EXPECT_TRUE(leaf.is_leaf());
  EXPECT_EQ(leaf, TreeSpec());
  EXPECT_EQ(leaf.num_leaves(), 1U);
  EXPECT_EQ(leaf.to_string(), "*");
  EXPECT_EQ(leaf.context_json(), "null");
  EXPECT_TRUE(leaf.children().empty());
  EXPECT_EQ(leaf_paths(leaf, "x"), std::vector<std::string>{"x"});
  EXPECT_EQ(input_leaf_paths(leaf), std::vector<std::string>{"inputs"});
}

TEST(TreeSpec, ShowsEveryContainerLikePython) {
  const TreeSpec leaf;
  EXPECT_EQ(TreeSpec::tuple({leaf}).to_string(), "(*,)");
  EXPECT_EQ(TreeSpec::tuple({}).to_string(), "()");
  EXPECT_EQ(TreeSpec::list({leaf, leaf}).to_string(), "[*, *]");
  EXPECT_EQ(TreeSpec::ordered_dict({"a", 1}, {leaf, leaf}).to_string(), "OrderedDict({'a': *, 1: *})");
  EXPECT_EQ(TreeSpec::deque({}, {leaf}).to_string(), "deque([*])");
  EXPECT_EQ(TreeSpec::deque(3, {leaf}).to_string(), "deque([*], maxlen=3)");
  EXPECT_EQ(TreeSpec::named_tuple("module.Point", {leaf, leaf}).to_string(), "Point(*, *)");
  EXPECT_EQ(TreeSpec::dataclass("module.Box", {"x", "y"}, {"z"}, {leaf, leaf}).to_string(), "Box(x=*, y=*)");
  EXPECT_EQ(TreeSpec::other("module.Thing", "whatever", {leaf}).to_string(), "Thing(*)");
  const TreeSpec counted = parse_treespec(spec_text(
      "collections.defaultdict",
      R"({"default_factory_module": "builtins", "default_factory_name": "int", "dict_context": ["k"]})", 1));
  EXPECT_EQ(counted.to_string(), "defaultdict(int, {'k': *})");
  EXPECT_EQ(
      parse_treespec(spec_text("torch.fx.immutable_collections.immutable_list", R"("null")", 1)).to_string(),
      "immutable_list([*])");
  EXPECT_EQ(parse_treespec(spec_text("torch.fx.immutable_collections.immutable_dict", R"("[\"a\"]")", 1))
                .to_string(),
            "immutable_dict({'a': *})");
}

TEST(TreeSpec, ShowsKeysLikePython) {
  const json::Array keys = {"it's",
                            "say \"it's\"",
                            "a\\b\n\x01",
                            -3,
                            1.5,
                            true,
                            nullptr,
                            TreeSpec::enum_key("module", "Outer.Color", "RED"),
                            json::Array{"a", 1},
                            json::Array{"b"}};
  const TreeSpec spec = TreeSpec::dict(keys, std::vector<TreeSpec>(keys.size()));
  EXPECT_EQ(leaf_paths(spec, "d"),
            (std::vector<std::string>{R"(d["it's"])", R"(d['say "it\'s"'])", R"(d['a\\b\n\x01'])", "d[-3]",
                                      "d[1.5]", "d[True]", "d[None]", "d[Outer.Color.RED]", "d[('a', 1)]",
                                      "d[('b',)]"}));
  EXPECT_EQ(parse_treespec(dump_treespec(spec)), spec);
}

TEST(TreeSpec, PathsThroughFields) {
  const TreeSpec box = TreeSpec::dataclass("module.Box", {"x", "y"}, {}, {{}, TreeSpec::list({{}})});
  const TreeSpec spec =
      TreeSpec::tuple({TreeSpec::tuple({TreeSpec::dict({"b"}, {box})}), TreeSpec::dict({}, {})});
  EXPECT_EQ(input_leaf_paths(spec), (std::vector<std::string>{"args[0]['b'].x", "args[0]['b'].y[0]"}));
  EXPECT_EQ(box.find("y"), &box.child(1));
  EXPECT_EQ(dump_treespec(box).substr(0, 63),
            R"([1, {"type": "module.Box", "context": "[[\"x\", \"y\"], []]", ")");
}

TEST(TreeSpec, UnknownTypesAndMembersAreKept) {
  for (const std::string& text :
       {spec_text("a.B", R"("not json")", 1), spec_text("a.B", R"({"k": [1, 2.5, null, NaN]})", 0),
        spec_text("a.B", R"("[[\"x\"], [1]]")", 1), spec_text("a.B", "null", 2),
        spec_text("a.B", R"("[[\"x\"], []]")", 2), spec_text("\\u00e9", R"("\ud83d\ude00")", 1)}) {
    EXPECT_EQ(dump_treespec(parse_treespec(text)), text);
  }
  const std::string_view more =
      R"([1, {"type": "builtins.list", "context": "null", "children_spec": )"
      R"([{"type": null, "context": null, "children_spec": [], "x": 1}], "y": {"z": []}}])";
  EXPECT_EQ(dump_treespec(parse_treespec(more)), more);
  EXPECT_EQ(parse_treespec(more).num_leaves(), 1U);
}

TEST(TreeSpec, EqualityMindsTypesContextsAndOrder) {
  const TreeSpec leaf;
  EXPECT_NE(TreeSpec::tuple({leaf}), TreeSpec::list({leaf}));
  EXPECT_NE(TreeSpec::tuple({leaf}), TreeSpec::tuple({leaf, leaf}));
  EXPECT_NE(TreeSpec::dict({"a", "b"}, {leaf, leaf}), TreeSpec::dict({"b", "a"}, {leaf, leaf}));
  EXPECT_NE(TreeSpec::named_tuple("A", {leaf}), TreeSpec::named_tuple("B", {leaf}));
  EXPECT_NE(TreeSpec::deque(1, {leaf}), TreeSpec::deque({}, {leaf}));
  EXPECT_EQ(TreeSpec::deque(1, {leaf}), TreeSpec::deque(1, {leaf}));
  EXPECT_NE(TreeSpec::tuple({}), leaf);
}

TEST(TreeSpec, BadTextIsALocatedError) {
  EXPECT_EQ(parse_error("[1, {]").substr(0, 7), "byte 5:");
  EXPECT_EQ(parse_error("{}"), "byte 0: the text of a tree is not a list of its protocol and its root");
  EXPECT_EQ(parse_error("[1]"), "byte 0: the text of a tree is not a list of its protocol and its root");
  EXPECT_EQ(parse_error("[null, {}]"), "byte 0: the protocol of a tree is not a number");
  EXPECT_EQ(parse_error("[2, {}]"), "a tree is written in protocol 2; 1 is known");
  EXPECT_EQ(parse_error("[-1, {}]"), "a tree is written in protocol -1; 1 is known");
  EXPECT_EQ(parse_error("[1, []]"), "node 'root': expected an object, found an array");
  EXPECT_EQ(parse_error("[1, {}]"), "node 'root': a node of a tree has no 'type'");
  EXPECT_EQ(parse_error(R"([1, {"type": null}])"), "node 'root': a node of a tree has no 'context'");
  EXPECT_EQ(parse_error(R"([1, {"type": null, "context": null}])"),
            "node 'root': a node of a tree has no 'children_spec'");
  EXPECT_EQ(parse_error(R"([1, {"type": null, "context": "null", "children_spec": []}])"),
            "node 'root': a leaf has a context or children");
  EXPECT_EQ(parse_error(R"([1, {"type": 5, "context": "null", "children_spec": []}])"),
            "node 'root': expected a string, found the integer 5");
  EXPECT_EQ(parse_error(R"([1, {"type": "builtins.list", "context": "null", "children_spec": [{"type": )"
                        R"("builtins.list", "context": "null", "children_spec": [5]}]}])"),
            "node 'children_spec[0].children_spec[0]': expected an object, found the integer 5");
}

TEST(TreeSpec, ContextsOfKnownTypesAreChecked) {
  EXPECT_EQ(parse_error(spec_text("builtins.dict", R"("[\"x\"]")", 2)),
            "node 'root': builtins.dict has 1 keys for 2 children");
  EXPECT_EQ(parse_error(spec_text("builtins.dict", "null", 0)),
            "node 'root': the context of builtins.dict is not a string of JSON");
  EXPECT_EQ(parse_error(spec_text("builtins.dict", R"("[")", 0))
                .starts_with("node 'root': the context of builtins.dict is not a string of JSON: byte 1: "),
            true);
  EXPECT_EQ(parse_error(spec_text("collections.OrderedDict", R"("{}")", 0)),
            "node 'root': the context of collections.OrderedDict is not a list of keys");
  EXPECT_EQ(
      parse_error(spec_text("collections.defaultdict", R"("[]")", 0)),
      "node 'root': the context of collections.defaultdict is not an object with the keys in dict_context");
  EXPECT_EQ(parse_error(spec_text("collections.namedtuple", "[]", 0)),
            "node 'root': the context of collections.namedtuple is not the name of a class");
  EXPECT_EQ(parse_error(spec_text("collections.deque", R"("\"x\"")", 0)),
            "node 'root': the context of collections.deque is not a number or null");
}

TEST(TreeSpec, MisuseIsAnError) {
  EXPECT_EQ(message_of([] { TreeSpec::dict({"a"}, {}); }), "a dict has 1 keys for 0 children");
  EXPECT_EQ(message_of([] { TreeSpec::dataclass("A", {"a"}, {}, {}); }),
            "a dataclass has 1 fields for 0 children");
  EXPECT_EQ(message_of([] { TreeSpec::list({}).child(0); }), "there is no child 0 of 0");
  EXPECT_EQ(message_of([] { TreeSpec().child_path(3); }), "there is no child 3 of 0");
}

TEST(TreeSpec, NestingIsLimited) {
  TreeSpec spec;
  for (int i = 1; i < kMostTreeDepth; ++i) spec = TreeSpec::list({spec});
  EXPECT_EQ(spec.depth(), kMostTreeDepth);
  EXPECT_EQ(parse_treespec(dump_treespec(spec)), spec);
  EXPECT_EQ(message_of([&] { TreeSpec::list({spec}); }), "a tree nests deeper than 255 levels");
  std::string text = "[1, ";
  for (int i = 0; i < 100'000; ++i)
    text += R"({"type": "builtins.list", "context": "null", "children_spec": [)";
  EXPECT_THROW(parse_treespec(text), Error);
}

TEST(TreeSpec, PathsAreLimited) {
  const TreeSpec many = TreeSpec::list(std::vector<TreeSpec>(100));
  const TreeSpec spec = TreeSpec::dict({std::string(1 << 20, 'k')}, {many});
  EXPECT_EQ(message_of([&] { leaf_paths(spec); }), "the paths of a tree's leaves take more than 64 MiB");
  size_t leaves = 0;
  visit_leaf_paths(spec, "x", [&](std::string_view path) { leaves += path.starts_with("x['kkk") ? 1 : 0; });
  EXPECT_EQ(leaves, 100U);
}

}  // namespace
}  // namespace flambeau
