#include "flambeau/formats/state_dict/walk.h"

#include <gtest/gtest.h>

#include "support/torch_files.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;
using testing::error_text;
using testing::TorchFileBuilder;
using Names = std::vector<std::string>;

class Walk : public ::testing::Test {
 protected:
  Walk() : tree(file.tree) { file.record("data/0", std::string(24, '\1')); }

  Checkpoint load(Node* root) {
    tree.set_root(root);
    return load_checkpoint(file.finish());
  }
  Names names(Node* root) {
    Names found;
    const Checkpoint checkpoint = load(root);
    for (const CheckpointTensor& entry : checkpoint.tensors()) found.push_back(entry.name);
    return found;
  }
  Node* t() { return file.plain_tensor(); }
  Node* text(std::string_view value) { return tree.string(value); }

  TorchFileBuilder file;
  pickle::Tree& tree;
};

TEST_F(Walk, JoinsKeysByDots) {
  EXPECT_EQ(names(t()), Names{""});
  EXPECT_EQ(names(tree.dict({{text("a"), tree.list({t(), tree.tuple({t(), tree.dict({{text("b"), t()}})})})},
                             {tree.integer(5), tree.dict({{text("c.d"), t()}})},
                             {tree.boolean(true), t()},
                             {tree.none(), t()}})),
            (Names{"a.0", "a.1.0", "a.1.1.b", "5.c.d", "True", "None"}));
  EXPECT_EQ(names(tree.dict(
                {{tree.tuple({text("a"), tree.integer(1), tree.tuple({})}), t()}, {tree.real(0.5), t()}})),
            (Names{"(a, 1, (...))", "0.5"}));
}

TEST_F(Walk, OrderedDictsOfBothKinds) {
  Node* type = tree.global("collections", "OrderedDict");
  Node* today = tree.call(type, tree.tuple());
  tree.set_item(today, text("w"), t());
  EXPECT_EQ(names(today), Names{"w"});
  // Python 2: OrderedDict([['w', ...], ...])
  Node* pairs = tree.list({tree.list({text("w"), t()}), tree.tuple({text("b"), t()})});
  EXPECT_EQ(names(tree.call(type, tree.tuple({pairs}))), (Names{"w", "b"}));
}

TEST_F(Walk, ModulesGiveTheNamesOfTheirStateDict) {
  Node* inner = tree.call(tree.global("net", "Part"), tree.tuple(), pickle::CallKind::kNewObject);
  tree.set_state(inner, tree.dict({{text("_parameters"), tree.dict({{text("weight"), t()}})},
                                   {text("_buffers"), tree.dict({{text("mean"), t()}})},
                                   {text("_modules"), tree.dict()}}));
  Node* outer = tree.call(tree.global("net", "Net"), tree.tuple(), pickle::CallKind::kNewObject);
  tree.set_state(outer, tree.dict({{text("_parameters"), tree.dict({{text("bias"), t()}})},
                                   {text("_modules"), tree.dict({{text("part"), inner}})},
                                   {text("extra"), t()}}));
  EXPECT_EQ(names(outer), (Names{"bias", "part.weight", "part.mean", "extra"}));
}

TEST_F(Walk, ObjectsShowTheirPartsAndState) {
  Node* object = tree.call(tree.global("a", "B"), tree.tuple({t(), text("x")}));
  tree.set_state(object, tree.tuple({t()}));
  EXPECT_EQ(names(tree.dict({{text("o"), object}})), (Names{"o.0", "o.0"}));
}

TEST_F(Walk, CutsCycles) {
  Node* list = tree.list({t()});
  tree.append(list, list);
  EXPECT_EQ(names(list), Names{"0"});
  Node* dict = tree.dict({{text("t"), t()}});
  Node* other = tree.dict({{text("back"), dict}});
  tree.set_item(dict, text("other"), other);
  EXPECT_EQ(names(dict), Names{"t"});
}

TEST_F(Walk, SharedContainersAppearUnderEachName) {
  Node* shared = tree.dict({{text("w"), t()}});
  EXPECT_EQ(names(tree.dict({{text("a"), shared}, {text("b"), shared}})), (Names{"a.w", "b.w"}));
}

// Row 19: twenty levels of two references each are a million paths.
TEST_F(Walk, SharingBombIsALimit) {
  Node* node = tree.list({t()});
  for (int i = 0; i < 40; ++i) node = tree.list({node, node});
  const std::string text = error_text([&] { load(node); });
  EXPECT_TRUE(text.starts_with("limit: ")) << text;
  EXPECT_NE(text.find("describes too many tensors for its size"), std::string::npos) << text;
}

// Row 21: deep nesting.
TEST_F(Walk, DeepNestingIsALimit) {
  Node* node = t();
  for (int i = 0; i < 990; ++i) node = tree.list({node});
  EXPECT_EQ(names(node).size(), 1U);
  for (int i = 0; i < 100'000; ++i) node = tree.list({node});
  EXPECT_EQ(error_text([&] { load(node); }), "limit: values are nested more than 1000 deep");
}

TEST_F(Walk, LongNamesAreALimit) {
  Node* node = t();
  const std::string key(100'000, 'k');
  for (int i = 0; i < 300; ++i) node = tree.dict({{text(key), node}});
  EXPECT_EQ(error_text([&] { load(node); }), "limit: the pickle describes too many values for its size");
}

TEST_F(Walk, FindsAttributesAndKeys) {
  Node* noted = file.utils("_rebuild_parameter_with_state",
                           {t(), tree.boolean(true), file.hooks(), tree.dict({{text("note"), t()}})});
  Node* subclass =
      tree.call(tree.global("torch._tensor", "_rebuild_from_type_v2"),
                tree.tuple({tree.global("torch._utils", "_rebuild_tensor_v2"), tree.global("torch", "Tensor"),
                            t()->as_call().args, tree.dict({{text("more"), t()}})}));
  Node* wrapped = file.utils("_rebuild_parameter", {subclass, tree.boolean(true), file.hooks()});
  EXPECT_EQ(names(tree.dict({{text("p"), noted}, {text("w"), wrapped}, {t(), tree.integer(1)}})),
            (Names{"p", "p.note", "w", "w.more", "<call>"}));
}

TEST_F(Walk, ATensorInItsOwnAttributes) {
  Node* state = tree.dict();
  Node* x = file.utils("_rebuild_parameter_with_state", {t(), tree.boolean(true), file.hooks(), state});
  tree.set_item(state, text("self"), x);
  EXPECT_EQ(names(x), (Names{"", "self"}));
}

TEST_F(Walk, UnknownTypesAreSkippedAndTheirStoragesKept) {
  Node* untyped = tree.persistent(tree.tuple({text("storage"), tree.global("torch.storage", "UntypedStorage"),
                                              text("0"), text("cpu"), tree.integer(24)}));
  Node* v3 =
      file.utils("_rebuild_tensor_v3", {untyped, tree.integer(0), file.ints({6}), file.ints({1}),
                                        tree.boolean(false), file.hooks(), tree.global("torch", "int3")});
  const Checkpoint checkpoint = load(tree.dict({{text("x"), v3}, {text("y"), t()}}));
  ASSERT_EQ(checkpoint.tensors().size(), 2U);
  EXPECT_EQ(checkpoint.tensors()[0].name, "x.0");
  EXPECT_EQ(checkpoint.tensors()[0].role, TensorRole::kStorage);
  ASSERT_EQ(checkpoint.skipped().size(), 1U);
  EXPECT_EQ(checkpoint.skipped()[0].first, "x");
}

TEST_F(Walk, ClassesWithSourceAreNoTensors) {
  Node* net =
      tree.persistent(tree.tuple({text("module"), tree.global("net", "Net"), text("net.py"), text("...")}));
  EXPECT_EQ(names(tree.dict({{text("class"), net}, {text("x"), t()}})), Names{"x"});
}

}  // namespace
}  // namespace flambeau
