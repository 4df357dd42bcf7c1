#include "flambeau/shapes/input_shapes.h"

#include <gtest/gtest.h>

#include <functional>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {
namespace {

using symbolic::SymInt;
using Dims = std::map<int64_t, Dim>;

class InputShapesTest : public testing::Test {
 protected:
  InputShapesTest() {
    env_.set_where([this] { return "model.cpp:" + std::to_string(line_); });
  }

  void add(std::string name, std::vector<int64_t> sizes, ShapeSpec spec = {},
           std::vector<int64_t> strides = {}, const void* identity = nullptr) {
    InputLeaf leaf;
    leaf.kind = InputLeaf::Kind::kTensor;
    leaf.sizes = std::move(sizes);
    leaf.strides = std::move(strides);
    leaf.identity = identity;
    specs_.emplace_back(name, std::move(spec));
    arguments_.push_back({.name = std::move(name), .spec = TreeSpec(), .leaves = {leaf}});
  }

  InputShapes& make() { return shapes_.emplace(env_, DynamicShapes::by_name(specs_), arguments_); }
  SymInt size(size_t leaf, size_t dim) { return shapes_->symbols()[leaf].sizes[dim]; }
  std::string text(const SymInt& value) { return to_string(env_.replace(value.expr())); }

  std::string finish() {
    try {
      std::string result;
      for (const auto& [expr, range] : shapes_->finish().ranges)
        result += (result.empty() ? "" : ", ") + to_string(expr) + ": " + range.to_string();
      return result;
    } catch (const Error& error) {
      return error.message() + "\n" + error.remedy();
    }
  }

  ShapeEnv env_;
  int line_ = 1;
  std::vector<std::pair<std::string, ShapeSpec>> specs_;
  std::vector<InputArgument> arguments_;
  std::optional<InputShapes> shapes_;
};

TEST_F(InputShapesTest, ErrorsNameTheLineAndTheFix) {
  const Dim batch("batch");
  const Dim other("other");
  add("x", {4, 3}, Dims{{0, batch}});
  add("y", {4}, Dims{{0, other}});
  make();
  line_ = 12;
  EXPECT_TRUE(size(0, 0) == size(1, 0));
  line_ = 13;
  EXPECT_TRUE(size(0, 0) > 3);
  EXPECT_EQ(finish(),
            "the trace does not accept all sizes that the dynamic shapes allow:\n"
            "  - other = L['y'].size()[0] and batch = L['x'].size()[0] have to be equal (model.cpp:12)\n"
            "  - not every size given for batch = L['x'].size()[0] satisfies 4 <= L['x'].size()[0] "
            "(model.cpp:13)\n"
            "Suggested fixes:\n"
            "  batch = Dim('batch', min=4)\n"
            "  other = batch");
}

TEST_F(InputShapesTest, ErrorsOfRelationsNameTheLine) {
  add("x", {4}, Dims{{0, Dim("a")}});
  add("y", {8}, Dims{{0, Dim("b")}});
  make();
  line_ = 5;
  EXPECT_TRUE(2 * size(0, 0) == size(1, 0));
  EXPECT_EQ(finish(),
            "the trace does not accept all sizes that the dynamic shapes allow:\n"
            "  - b = L['y'].size()[0] has to be 2*a, by L['x'].size()[0] (model.cpp:5)\n"
            "Suggested fixes:\n"
            "  b = 2*a");
}

TEST_F(InputShapesTest, ErrorsOfSpecialization) {
  add("x", {4}, Dims{{0, Dim::DYNAMIC}});
  add("y", {8}, Dims{{0, Dim("b")}});
  make();
  line_ = 7;
  env_.specialize(size(0, 0));
  line_ = 8;
  EXPECT_TRUE(size(1, 0) == 8);
  EXPECT_EQ(finish(),
            "the trace does not accept all sizes that the dynamic shapes allow:\n"
            "  - L['x'].size()[0] was marked dynamic, but the trace needs it to be 4 (model.cpp:7)\n"
            "  - b = L['y'].size()[0] was marked dynamic, but the trace needs it to be 8 (model.cpp:8)\n"
            "Use Dim::AUTO, which lets the trace choose, or Dim::STATIC");
}

TEST_F(InputShapesTest, ErrorsOfBounds) {
  add("x", {4}, Dims{{0, Dim::DYNAMIC({.max = 3})}});
  add("y", {1}, Dims{{0, Dim::DYNAMIC}});
  make();
  EXPECT_TRUE(size(0, 0) > 3);
  EXPECT_EQ(
      finish(),
      "what was said of sizes contradicts what the trace needs:\n"
      "  - inputs['x'].shape[0] is said to be from any size to 3, but the trace needs [4, int_oo]\n"
      "  - inputs['y'].shape[0] is 1, and sizes 0 and 1 of an example are taken as they are: Dim.DYNAMIC "
      "cannot be dynamic\n"
      "Change the bounds or the example, or use Dim::AUTO or Dim::STATIC");
}

TEST_F(InputShapesTest, ErrorsOfTheExample) {
  const Dim a("a");
  add("x", {4}, Dims{{0, a}});
  add("y", {9}, Dims{{0, 2 * a}});
  make();
  EXPECT_EQ(finish(),
            "L['y'].size()[0] is said to be 2*a, which is 8 where a is 4, but it is 9 in the example\n"
            "Export with an example in which this holds, or say something else of the dimension");
}

TEST_F(InputShapesTest, StridesFollowSizes) {
  add("x", {4, 3, 5}, Dims{{0, Dim::AUTO}, {2, Dim::AUTO}});
  add("t", {4, 6}, Dims{{0, Dim::AUTO}}, {1, 8});
  add("e", {4, 6}, Dims{{0, Dim("b")}}, {0, 2});
  make();
  EXPECT_EQ(text(shapes_->symbols()[0].strides[0]), "3*" + text(size(0, 2)));
  EXPECT_EQ(text(shapes_->symbols()[0].strides[1]), text(size(0, 2)));
  EXPECT_EQ(text(shapes_->symbols()[0].strides[2]), "1");
  EXPECT_EQ(text(shapes_->symbols()[1].strides[0]), "1");
  EXPECT_FALSE(shapes_->symbols()[1].strides[1].is_literal());
  EXPECT_EQ(text(shapes_->symbols()[2].strides[0]), "0");
  EXPECT_EQ(text(shapes_->symbols()[2].strides[1]), "2");
}

TEST_F(InputShapesTest, ATensorPassedTwiceHasOneShape) {
  const int identity = 0;
  add("x", {4}, Dims{{0, Dim("a")}}, {}, &identity);
  add("y", {4}, Dims{{0, Dim("a")}}, {}, &identity);
  make();
  EXPECT_EQ(text(size(0, 0)), text(size(1, 0)));
  EXPECT_EQ(finish(), "s77: VR[0, int_oo]");
}

TEST_F(InputShapesTest, ViewsOfOneMemoryHaveShapesOfTheirOwn) {
  const int identity = 0;
  add("x", {4, 6}, Dims{{0, Dim("a")}}, {6, 1}, &identity);
  add("y", {6, 4}, Dims{{0, Dim("b")}}, {1, 6}, &identity);
  make();
  EXPECT_NE(text(size(0, 0)), text(size(1, 0)));
}

TEST_F(InputShapesTest, ManySizesStayLinear) {
  for (int i = 0; i < 200; ++i) add("x" + std::to_string(i), {4}, Dims{{0, Dim("a")}});
  make();
  EXPECT_EQ(shapes_->finish().ranges.size(), 1u);
}

}  // namespace
}  // namespace flambeau::trace
