#include "flambeau/shapes/dynamic_shapes.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau::trace {
namespace {

InputLeaf tensor(std::vector<int64_t> sizes, const void* identity = nullptr) {
  InputLeaf leaf;
  leaf.kind = InputLeaf::Kind::kTensor;
  leaf.sizes = std::move(sizes);
  leaf.identity = identity;
  return leaf;
}

InputLeaf integer(int64_t value) {
  InputLeaf leaf;
  leaf.kind = InputLeaf::Kind::kInteger;
  leaf.value = value;
  return leaf;
}

InputLeaf other(std::string type) {
  InputLeaf leaf;
  leaf.type = std::move(type);
  return leaf;
}

InputArgument argument(std::string name, InputLeaf leaf) {
  return {.name = std::move(name), .spec = TreeSpec(), .leaves = {std::move(leaf)}};
}

std::string resolved(const DynamicShapes& shapes, std::vector<InputArgument> arguments) {
  try {
    std::string text;
    for (const ShapeSpec& spec : shapes.resolve(arguments))
      text += (text.empty() ? "" : "; ") + spec.to_string();
    return text;
  } catch (const Error& error) {
    return error.message() + " | " + error.remedy();
  }
}

const Dim kBatch("batch");
using Dims = std::map<int64_t, Dim>;
using Shape = std::vector<Dim>;

TEST(DynamicShapes, AreGivenByNameOrByPosition) {
  const std::vector<InputArgument> arguments = {argument("x", tensor({4, 3})), argument("y", tensor({4}))};
  EXPECT_EQ(resolved({}, arguments), "None; None");
  EXPECT_EQ(resolved(DynamicShapes::by_name({{"y", Shape{kBatch}}, {"x", Dims{{0, kBatch}}}}), arguments),
            "{0: Dim('batch')}; (Dim('batch'))");
  EXPECT_EQ(resolved(DynamicShapes::by_position({Dims{{0, Dim::AUTO}}, {}}), arguments),
            "{0: Dim.AUTO}; None");
  EXPECT_EQ(
      resolved(DynamicShapes::by_name({{"x", Dims{{0, kBatch}}}}), arguments),
      "shapes are given for the arguments ['x'], but the arguments are ['x', 'y'] | Name every argument, "
      "with None for what is static, or give the shapes by position");
  EXPECT_EQ(
      resolved(DynamicShapes::by_position({ShapeSpec()}), arguments),
      "shapes are given for 1 arguments, but there are 2: ['x', 'y'] | Give one for each argument, None "
      "for what is static");
}

TEST(DynamicShapes, FitTheirTensors) {
  const auto one = [](ShapeSpec spec, InputLeaf leaf) {
    return resolved(DynamicShapes::by_name({{"x", std::move(spec)}}), {argument("x", std::move(leaf))});
  };
  EXPECT_EQ(
      one(Shape{kBatch}, tensor({4, 3})),
      "1 dimensions are given for inputs['x'], which has 2: (Dim('batch')) | Give one for each dimension, "
      "or a map from index to Dim");
  EXPECT_EQ(one(Dims{{2, kBatch}}, tensor({4, 3})),
            "dimension 2 is given for inputs['x'], which has 2 | Count dimensions from 0");
  EXPECT_EQ(
      one(Dims{{0, kBatch}}, other("float")),
      "shapes {0: Dim('batch')} are given for inputs['x'], which is no tensor but float | Give None there");
  EXPECT_EQ(
      one(kBatch, tensor({4})),
      "Dim('batch') is given for the tensor inputs['x'] | Give one Dim for each dimension, or a map from "
      "index to Dim");
  EXPECT_EQ(one(Dim::DYNAMIC, integer(3)), "Dim.DYNAMIC");
  EXPECT_EQ(
      one(kBatch, integer(3)),
      "inputs['x'] is an integer, and Dim('batch') is given for it | Give Dim::AUTO, Dim::DYNAMIC or None: "
      "names are for the dimensions of tensors");
  EXPECT_EQ(
      one(Shape{kBatch, Dim("batch", {.min = 3})}, tensor({4, 4})),
      "the dimension batch is defined twice: as Dim('batch') and as Dim('batch', min=3) | Define it once "
      "and use that Dim everywhere");
}

TEST(DynamicShapes, NestAsTheArguments) {
  InputArgument nested{.name = "x",
                       .spec = TreeSpec::list({TreeSpec(), TreeSpec::dict({"k"}, {TreeSpec()})}),
                       .leaves = {tensor({4}), tensor({5, 6})}};
  std::vector<InputArgument> arguments = {nested};
  name_leaves(arguments);
  EXPECT_EQ(arguments[0].leaves[1].source, "L['x'][1]['k']");
  EXPECT_EQ(arguments[0].leaves[1].path, "['x'][1]['k']");
  const auto with = [&](ShapeSpec spec) {
    return resolved(DynamicShapes::by_name({{"x", std::move(spec)}}), arguments);
  };
  EXPECT_EQ(with(ShapeSpec::list({Dims{{0, kBatch}}, ShapeSpec::dict({{"k", {}}})})),
            "{0: Dim('batch')}; None");
  EXPECT_EQ(
      with({}),
      "the argument at inputs['x'] is a list, but the shapes given for it are None | Give a container of "
      "the same kind, with None for what is static");
  EXPECT_EQ(
      with(ShapeSpec::tuple({{}, ShapeSpec::dict({{"k", {}}})})),
      "the argument at inputs['x'] is a list, but the shapes given for it are (None, {'k': None}) | Give a "
      "container of the same kind, with None for what is static");
  EXPECT_EQ(
      with(ShapeSpec::list({ShapeSpec()})),
      "the argument at inputs['x'] has 2 elements, but the shapes given for it have 1 | Give one for each "
      "element, None for what is static");
  EXPECT_EQ(
      with(ShapeSpec::list({{}, ShapeSpec::dict({{"j", {}}})})),
      "the shapes given for inputs['x'][1] have keys ['j'], and none for ['k'] | Give the keys that the "
      "argument has, with None for what is static");
  const std::vector<InputArgument> dict = {
      {.name = "d", .spec = TreeSpec::dict({"k"}, {TreeSpec()}), .leaves = {tensor({4})}}};
  EXPECT_EQ(resolved(DynamicShapes::by_name({{"k", {}}}), dict),
            "shapes are given for the arguments ['k'], but the arguments are ['d'] | Give the shapes by "
            "position: the one argument is a dict, and these look like its keys");
}

TEST(DynamicShapes, AreGivenByTensor) {
  const int first = 0;
  const int second = 0;
  ShapesCollection collection;
  collection.set(&second, Dims{{0, kBatch}});
  const std::vector<InputArgument> arguments = {argument("x", tensor({4}, &first)),
                                                argument("y", tensor({4}, &second))};
  EXPECT_EQ(resolved(DynamicShapes::of(collection), arguments), "None; {0: Dim('batch')}");
  EXPECT_EQ(
      resolved(DynamicShapes::of(collection), {arguments[0]}),
      "of 1 tensors that were given shapes, 0 are among the arguments | Pass the very tensors that were "
      "given shapes, not copies");
  EXPECT_THROW(collection.set(&second, Dims{{0, Dim::AUTO}}), Error);
}

TEST(DynamicShapes, FollowFromExamples) {
  const std::vector<InputArgument> example = {argument("x", tensor({4, 3})), argument("n", integer(5))};
  const std::vector<std::vector<InputArgument>> others = {
      {argument("x", tensor({6, 3})), argument("n", integer(5))},
      {argument("x", tensor({7, 3})), argument("n", integer(6))}};
  EXPECT_EQ(resolved(DynamicShapes::of_examples(example, others), example), "{0: Dim.DYNAMIC}; Dim.DYNAMIC");
  const std::vector<std::vector<InputArgument>> unlike = {
      {argument("x", tensor({6})), argument("n", integer(5))}};
  EXPECT_THROW(DynamicShapes::of_examples(example, unlike), Error);
}

}  // namespace
}  // namespace flambeau::trace
