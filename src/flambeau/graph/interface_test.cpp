#include "flambeau/graph/interface.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/bind_call.h"
#include "flambeau/graph/verify/test_programs.h"

namespace flambeau::graph {
namespace {

using Lines = std::vector<std::string>;

Lines texts(const std::vector<Leaf>& leaves) {
  Lines lines;
  for (const Leaf& leaf : leaves) lines.push_back(leaf.path + " " + leaf.to_string());
  return lines;
}

TEST(Interface, LeafByLeaf) {
  const ExportedProgram program = valid_program();
  const Interface interface = interface_of(program);
  EXPECT_EQ(texts(interface.inputs),
            (Lines{"inputs[0] x: float32[s77, 3], 0 <= s77 <= 64", "inputs[1] three: int = 3"}));
  EXPECT_EQ(texts(interface.outputs), (Lines{"output[0] getitem_3: float32[s77, 2]", "output[1] add: int"}));
  const Leaf& x = interface.inputs[0];
  EXPECT_TRUE(x.is_tensor());
  EXPECT_EQ(x.sizes()[0].symbol(), "s77");
  EXPECT_FALSE(x.sizes()[0].literal);
  EXPECT_EQ(x.sizes()[0].range->max, 64);
  EXPECT_EQ(x.sizes()[1].literal, 3);
  EXPECT_EQ(interface.inputs[1].kind, LeafKind::kInt);
  EXPECT_EQ(interface.outputs[1].number->text, "s77 + 1");
  EXPECT_EQ(interface.in_spec.num_leaves(), 2U);
  EXPECT_TRUE(interface.unreadable.empty());
}

TEST(Interface, WhatNobodyCanReadIsSaid) {
  ExportedProgram program = valid_program();
  program.range_constraints.emplace_back("s77 +", RangeConstraint{.min = 3, .max = {}});
  program.graph().find("x")->tensor()->sizes[1] = symbol("nonsense(");
  const Interface interface = interface_of(program);
  EXPECT_EQ(interface.unreadable, (Lines{"3 <= s77 +", "x.size()[1] == nonsense("}));
  EXPECT_FALSE(interface.inputs[0].sizes()[1].expr);
  EXPECT_EQ(interface.inputs[0].sizes()[1].text, "nonsense(");
}

TEST(Interface, OfAProgramThatNobodyVerified) {
  ExportedProgram program = valid_program();
  program.module_call_graph[0].signature->in_spec = "nonsense";
  EXPECT_THROW(interface_of(program), Error);
  const Interface interface = interface_of(program, Trust::kUnverified);
  EXPECT_EQ(interface.inputs[0].path, "inputs[0]");
  EXPECT_EQ(interface.outputs[1].path, "output[1]");
  EXPECT_TRUE(interface_of(ExportedProgram()).inputs.empty());
}

// f(x, (y, z), *, mask).
Interface called() {
  Interface interface;
  const TreeSpec leaf;
  interface.in_spec = TreeSpec::tuple({TreeSpec::tuple({leaf, TreeSpec::tuple({leaf, leaf})}),
                                       TreeSpec::dict({json::Value("mask")}, {leaf})});
  interface.argument_names = {"x", "pair", "mask"};
  return interface;
}

std::string bound(size_t positional, const std::vector<std::string_view>& keywords) {
  const Interface interface = called();
  std::string text;
  try {
    for (const BoundArgument& each : bind_call(interface, positional, keywords))
      text += each.path + "=" + (each.is_keyword ? "k" : "p") + std::to_string(each.index) + " " +
              each.spec->to_string() + ";";
  } catch (const Error& error) {
    return error.what();
  }
  return text;
}

TEST(BindCall, ByPositionAndByName) {
  EXPECT_EQ(bound(2, {"mask"}), "args[0]=p0 *;args[1]=p1 (*, *);kwargs['mask']=k0 *;");
  EXPECT_EQ(bound(1, {"mask", "pair"}), "args[0]=p0 *;args[1]=k1 (*, *);kwargs['mask']=k0 *;");
  EXPECT_EQ(bound(3, {"mask"}), "the program takes 2 positional arguments, 3 are given");
  EXPECT_EQ(bound(1, {"mask"}), "the argument 'pair' (args[1]) is missing");
  EXPECT_EQ(bound(2, {}), "the keyword argument 'mask' is missing");
  EXPECT_EQ(bound(2, {"mask", "other"}), "the program has no argument 'other'");
  EXPECT_EQ(bound(2, {"mask", "x"}), "the argument 'x' is given twice");
  EXPECT_EQ(bound(2, {"mask", "mask"}), "the argument 'mask' is given twice");
}

}  // namespace
}  // namespace flambeau::graph
