// Each pass on small programs, written as PyTorch prints them: before, and after.
#include "flambeau/passes/passes.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/passes/test_cases.h"

namespace flambeau::passes {
namespace {

using DeadNodes = PassCases;
using EqualNodes = PassCases;
using EqualSizes = PassCases;
using FoldConstants = PassCases;
using Passes = PassCases;

const std::string kX = "x: \"f32[4]\"";

TEST_F(DeadNodes, BeforeAndAfter) {
  expect(remove_dead_nodes,
         {
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  b: "f32[4]" = torch.ops.aten.cos.default(x)
                  return (b,))~",
              R"~(b: "f32[4]" = torch.ops.aten.cos.default(x)
              return (b,))~"},
             // What only dead ones use is dead.
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  b: "f32[4]" = torch.ops.aten.cos.default(a)
                  c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                  return (x,))~",
              "return (x,)"},
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  return (a,))~",
              ""},
             // What is written stays, and so does what writes.
             {kX, R"~(a: "f32[4]" = torch.ops.aten.add_.Tensor(x, 1)
                  return (x,))~",
              ""},
             {kX, R"~(v: "f32[2]" = torch.ops.aten.slice.Tensor(x, 0, 0, 2)
                  w: "f32[2]" = torch.ops.aten.mul_.Tensor(v, 2)
                  return (x,))~",
              ""},
             // Random numbers: those behind would be others.
             {kX, R"~(r: "f32[4]" = torch.ops.aten.rand.default([4])
                  q: "f32[4]" = torch.ops.aten.rand.default([4])
                  return (q,))~",
              ""},
             // An assertion gives nothing and is called for what it does.
             {"x: \"f32[s0]\"", R"~(n: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                                ge: "Sym(s0 >= 2)" = n >= 2
                                _assert_scalar = torch.ops.aten._assert_scalar.default(ge, 'small')
                                return (x,))~",
              ""},
             {"x: \"f32[s0]\"", R"~(n: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                                add: "Sym(s0 + 1)" = n + 1
                                return (x,))~",
              "return (x,)"},
             // Nobody knows what this does.
             {kX, R"~(a: "f32[4]" = torch.ops.my.note.default(x)
                  return (x,))~",
              ""},
             // One of several results is enough.
             {kX, R"~(split = torch.ops.aten.split.Tensor(x, 2)  #| (self, split_size); -> items
                  a: "f32[2]" = split[0]  #| item
                  b: "f32[2]" = split[1]  #| item
                  return (a,))~",
              ""},
             {kX, R"~(split = torch.ops.aten.split.Tensor(x, 2)  #| (self, split_size); -> items
                  a: "f32[2]" = split[0]  #| item
                  b: "f32[2]" = split[1]  #| item
                  return (x,))~",
              "return (x,)"},
         });
}

TEST_F(EqualNodes, BeforeAndAfter) {
  expect(merge_equal_nodes,
         {
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  b: "f32[4]" = torch.ops.aten.sin.default(x)
                  c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                  return (c,))~",
              R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
              c: "f32[4]" = torch.ops.aten.add.Tensor(a, a)
              return (c,))~"},
             // What uses them becomes equal, too.
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  b: "f32[4]" = torch.ops.aten.sin.default(x)
                  c: "f32[4]" = torch.ops.aten.mul.Tensor(a, 2)
                  d: "f32[4]" = torch.ops.aten.mul.Tensor(b, 2)
                  e: "f32[4]" = torch.ops.aten.sub.Tensor(c, d)
                  return (e,))~",
              R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
              c: "f32[4]" = torch.ops.aten.mul.Tensor(a, 2)
              e: "f32[4]" = torch.ops.aten.sub.Tensor(c, c)
              return (e,))~"},
             // Other numbers, other orders, another sign of zero.
             {kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(x, 2)
                  b: "f32[4]" = torch.ops.aten.mul.Tensor(x, 3)
                  c: "f32[4]" = torch.ops.aten.sub.Tensor(a, b)
                  d: "f32[4]" = torch.ops.aten.sub.Tensor(b, a)
                  e: "f32[4]" = torch.ops.aten.mul.Tensor(c, d)
                  return (e,))~",
              ""},
             {kX, R"~(a: "f32[4]" = torch.ops.aten.add.Tensor(x, 0.0)
                  b: "f32[4]" = torch.ops.aten.add.Tensor(x, -0.0)
                  c: "f32[4]" = torch.ops.aten.div.Tensor(a, b)
                  return (c,))~",
              ""},
             {kX, R"~(a: "f32[4]" = torch.ops.aten.rand.default([4])
                  b: "f32[4]" = torch.ops.aten.rand.default([4])
                  c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                  return (c,))~",
              ""},
             // Between the two it is another number.
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  w: "f32[4]" = torch.ops.aten.add_.Tensor(x, 1)
                  b: "f32[4]" = torch.ops.aten.sin.default(x)
                  c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                  return (c,))~",
              ""},
             // The same through a view; and results that are written to are not the same one.
             {kX, R"~(v: "f32[4]" = torch.ops.aten.view.default(x, [4])
                  a: "f32[4]" = torch.ops.aten.sin.default(x)
                  w: "f32[4]" = torch.ops.aten.add_.Tensor(v, 1)
                  b: "f32[4]" = torch.ops.aten.sin.default(x)
                  c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                  return (c,))~",
              ""},
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  b: "f32[4]" = torch.ops.aten.sin.default(x)
                  w: "f32[4]" = torch.ops.aten.add_.Tensor(b, 1)
                  c: "f32[4]" = torch.ops.aten.add.Tensor(a, w)
                  return (c,))~",
              ""},
             // A caller gets two tensors.
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  b: "f32[4]" = torch.ops.aten.sin.default(x)
                  return (a, b))~",
              ""},
             {kX, R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
                  b: "f32[4]" = torch.ops.aten.sin.default(x)
                  c: "f32[4]" = torch.ops.aten.neg.default(a)
                  return (c, b))~",
              R"~(a: "f32[4]" = torch.ops.aten.sin.default(x)
              c: "f32[4]" = torch.ops.aten.neg.default(a)
              return (c, a))~"},
             {kX, R"~(a: "f32[4]" = torch.ops.my.note.default(x)
                  b: "f32[4]" = torch.ops.my.note.default(x)
                  c: "f32[4]" = torch.ops.aten.add.Tensor(a, b)
                  return (c,))~",
              ""},
             // Lists.
             {kX, R"~(split = torch.ops.aten.split.Tensor(x, 2)  #| (self, split_size); -> items
                  a: "f32[2]" = split[0]  #| item
                  b: "f32[2]" = split[1]  #| item
                  split_1 = torch.ops.aten.split.Tensor(x, 2)  #| (self, split_size); -> items
                  c: "f32[2]" = split_1[0]  #| item
                  d: "f32[2]" = split_1[1]  #| item
                  e: "f32[2]" = torch.ops.aten.add.Tensor(a, d)
                  f: "f32[2]" = torch.ops.aten.add.Tensor(b, c)
                  g: "f32[2]" = torch.ops.aten.mul.Tensor(e, f)
                  return (g,))~",
              R"~(split = torch.ops.aten.split.Tensor(x, 2)  #| (self, split_size); -> items
              a: "f32[2]" = split[0]  #| item
              b: "f32[2]" = split[1]  #| item
              e: "f32[2]" = torch.ops.aten.add.Tensor(a, b)
              f: "f32[2]" = torch.ops.aten.add.Tensor(b, a)
              g: "f32[2]" = torch.ops.aten.mul.Tensor(e, f)
              return (g,))~"},
         });
}

TEST_F(EqualSizes, BeforeAndAfter) {
  const std::string two = "x: \"f32[s0]\", w: \"f32[s1]\", y: \"f32[s0]\"";
  expect(merge_equal_sizes,
         {
             {two, R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                      b: "Sym(s0)" = torch.ops.aten.sym_size.int(y, 0)
                      z: "f32[s0]" = torch.ops.aten.zeros.default([b])
                      return (z, a))~",
              R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                 z: "f32[s0]" = torch.ops.aten.zeros.default([a])
                 return (z, a))~"},
             {two, R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                      b: "Sym(s1)" = torch.ops.aten.sym_size.int(w, 0)
                      z: "f32[s0*s1]" = torch.ops.aten.zeros.default([a, b])
                      return (z,))~",
              ""},
             // Computed in two ways.
             {two, R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                      b: "Sym(2*s0)" = a * 2
                      c: "Sym(2*s0)" = a + a
                      z: "f32[4*s0**2]" = torch.ops.aten.zeros.default([b, c])
                      return (z,))~",
              R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                 b: "Sym(2*s0)" = a * 2
                 z: "f32[4*s0**2]" = torch.ops.aten.zeros.default([b, b])
                 return (z,))~"},
             // Back to a size that is there.
             {two, R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                      b: "Sym(2*s0)" = a * 2
                      c: "Sym(s0)" = b // 2
                      z: "f32[s0]" = torch.ops.aten.zeros.default([c])
                      return (z,))~",
              R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                 b: "Sym(2*s0)" = a * 2
                 z: "f32[s0]" = torch.ops.aten.zeros.default([a])
                 return (z,))~"},
             // What is known is written down.
             {"x: \"f32[4]\", y: \"f32[s0]\"", R"~(a: "Sym(4)" = torch.ops.aten.sym_size.int(x, 0)
                                      z: "f32[4]" = torch.ops.aten.zeros.default([a])
                                      return (z,))~",
              R"~(a: "Sym(4)" = torch.ops.aten.sym_size.int(x, 0)
                 z: "f32[4]" = torch.ops.aten.zeros.default([4])
                 return (z,))~"},
             {"x: \"f32[4]\", y: \"f32[s0]\"", R"~(a: "Sym(4)" = torch.ops.aten.sym_size.int(x, 0)
                                      b: "Sym(s0)" = torch.ops.aten.sym_size.int(y, 0)
                                      z: "f32[4*s0]" = torch.ops.aten.zeros.default([a, b])
                                      return (z,))~",
              R"~(a: "Sym(4)" = torch.ops.aten.sym_size.int(x, 0)
                 b: "Sym(s0)" = torch.ops.aten.sym_size.int(y, 0)
                 z: "f32[4*s0]" = torch.ops.aten.zeros.default([4, b])
                 return (z,))~"},
             {"x: \"f32[4]\", y: \"f32[s0]\"", R"~(a: "Sym(4)" = torch.ops.aten.sym_size.int(x, 0)
                                      v: "f32[4]" = torch.ops.aten.narrow.default(x, 0, 0, a)
                                      return (v,))~",
              R"~(a: "Sym(4)" = torch.ops.aten.sym_size.int(x, 0)
                 v: "f32[4]" = torch.ops.aten.narrow.default(x, 0, 0, 4)
                 return (v,))~"},
             // An output stays what it is.
             {"x: \"f32[4]\"", R"~(a: "Sym(4)" = torch.ops.aten.sym_size.int(x, 0)
                                  return (a,))~",
              ""},
             {two, R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                      b: "Sym(s0)" = torch.ops.aten.sym_size.int(y, 0)
                      return (a, b))~",
              R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                 return (a, a))~"},
             // An input is there already.
             {"x: \"f32[s0]\", n: \"Sym(s0)\"", R"~(a: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                                                   z: "f32[s0]" = torch.ops.aten.zeros.default([a])
                                                   return (z,))~",
              R"~(z: "f32[s0]" = torch.ops.aten.zeros.default([n])
                 return (z,))~"},
         });
}

TEST_F(FoldConstants, BeforeAndAfter) {
  expect(fold_constants,
         {
             {"c_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_t, 2)
                                        b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                                        return (b,))~",
              R"~(b: "f32[4]" = torch.ops.aten.add.Tensor(x, c_folded_0)
              return (b,))~"},
             // Of a chain the end; what led there is dead.
             {"c_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_t, 2)
                                        d: "f32[4]" = torch.ops.aten.sin.default(a)
                                        b: "f32[4]" = torch.ops.aten.add.Tensor(x, d)
                                        return (b,))~",
              R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_t, 2)
              b: "f32[4]" = torch.ops.aten.add.Tensor(x, c_folded_0)
              return (b,))~"},
             // Made of nothing.
             {kX, R"~(a: "i64[4]" = torch.ops.aten.arange.default(4)
                  b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                  return (b,))~",
              R"~(b: "f32[4]" = torch.ops.aten.add.Tensor(x, c_folded_0)
              return (b,))~"},
             // Large ones are cheaper to make than to store.
             {"x: \"f32[1000, 1000]\"", R"~(a: "f32[1000, 1000]" = torch.ops.aten.zeros.default([1000, 1000])
                                        b: "f32[1000, 1000]" = torch.ops.aten.add.Tensor(x, a)
                                        return (b,))~",
              ""},
             // Views cost nothing.
             {"c_t: \"f32[2, 2]\", x: \"f32[2, 2]\"", R"~(a: "f32[2, 2]" = torch.ops.aten.t.default(c_t)
                                                      b: "f32[2, 2]" = torch.ops.aten.add.Tensor(x, a)
                                                      return (b,))~",
              ""},
             // The state dict may be exchanged.
             {"b_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(b_t, 2)
                                        b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                                        return (b,))~",
              ""},
             {"k_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(k_t, 2)
                                        b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                                        return (b,))~",
              R"~(b: "f32[4]" = torch.ops.aten.add.Tensor(x, c_folded_0)
              return (b,))~"},
             // What runs change is no constant, whether it is written before or after.
             {"c_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_t, 2)
                                        w: "f32[4]" = torch.ops.aten.add_.Tensor(c_t, 1)
                                        b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                                        return (b,))~",
              ""},
             {kX, R"~(a: "f32[4]" = torch.ops.aten.zeros.default([4])
                  w: "f32[4]" = torch.ops.aten.add_.Tensor(a, x)
                  return (w,))~",
              ""},
             {kX, R"~(r: "f32[4]" = torch.ops.aten.rand.default([4])
                  b: "f32[4]" = torch.ops.aten.add.Tensor(x, r)
                  return (b,))~",
              ""},
             // What a caller gets is his own.
             {"c_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_t, 2)
                                        return (a,))~",
              ""},
             {"x: \"f32[s0]\"", R"~(n: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                                a: "f32[s0]" = torch.ops.aten.zeros.default([n])
                                b: "f32[s0]" = torch.ops.aten.add.Tensor(x, a)
                                return (b,))~",
              ""},
         });
}

TEST_F(FoldConstants, WhatACallerSeesThroughAViewIsHisOwn) {
  expect(fold_constants, {{"c_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_t, 2)
                                                        v: "f32[2]" = torch.ops.aten.slice.Tensor(a, 0, 0, 2)
                                                        return (v,))~",
                           ""}});
}

TEST_F(FoldConstants, WhatFailsStaysAndFailsLater) {
  expect(fold_constants, {{"c_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.select.int(c_t, 7, 0)
                                                        m: "f32[4]" = torch.ops.aten.mul.Tensor(a, 2)
                                                        b: "f32[4]" = torch.ops.aten.add.Tensor(x, m)
                                                        return (b,))~",
                           ""},
                          // It says less than it takes.
                          {kX, R"~(a: "f32[4]" = torch.ops.aten.zeros.default([4000000000])
                                   b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                                   return (b,))~",
                           ""}});
}

// Strangers' programs: no recursion along a chain, nothing that is done for each pair of nodes, no growth
// without end.
TEST_F(Passes, LongProgramsTakeLinearTime) {
  constexpr int kNodes = 5'000;
  std::string chain;
  std::string equal;
  std::string ranges;
  std::string last = "c_t";
  std::string sum = "x";
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    chain += name + ": \"f32[4]\" = torch.ops.aten.neg.default(" + last + ")\n";
    equal += name + ": \"f32[4]\" = torch.ops.aten.sin.default(x)\n";
    ranges += name + ": \"f32[4000]\" = torch.ops.aten.ones.default([4000])\n";
    ranges += "m" + name + ": \"f32[4000]\" = torch.ops.aten.add.Tensor(x, " + name + ")\n";
    last = name;
  }
  graph::ExportedProgram program =
      parse("c_t: \"f32[4]\", " + kX,
            chain + "b: \"f32[4]\" = torch.ops.aten.add.Tensor(x, " + last + ")\nreturn (b,)");
  EXPECT_TRUE(simplify(program, library));
  EXPECT_EQ(program.graph().node_count(), 1U);
  program = parse(kX, equal + "b: \"f32[4]\" = torch.ops.aten.neg.default(" + last + ")\nreturn (b,)");
  EXPECT_TRUE(simplify(program, library));
  EXPECT_EQ(program.graph().node_count(), 2U);
  program = parse("x: \"f32[4000]\"", ranges + "return (m" + last + ",)");
  EXPECT_TRUE(fold_constants(program, library));
  int64_t bytes = 0;
  for (const graph::Weight& weight : program.constants)
    bytes += static_cast<int64_t>(weight.tensor.byte_count());
  EXPECT_LE(bytes, 1 << 20);
}

TEST_F(FoldConstants, TheConstantIsWhatTheNodeGave) {
  graph::ExportedProgram program =
      parse("c_t: \"f32[4]\", " + kX, R"~(a: "f32[4]" = torch.ops.aten.mul.Tensor(c_t, 2)
                                         b: "f32[4]" = torch.ops.aten.add.Tensor(x, a)
                                         return (b,))~");
  ASSERT_TRUE(fold_constants(program, library));
  ASSERT_EQ(program.constants.size(), 2U);
  EXPECT_EQ(program.constants[1].name, "folded_0");
  EXPECT_EQ(program.constants[1].tensor.data<float>()[3], 6.0F);
  ASSERT_EQ(program.signature.inputs.size(), 3U);
  EXPECT_EQ(program.signature.inputs[1].target, "folded_0");
  EXPECT_EQ(program.signature.inputs[2].kind, graph::InputKind::kUserInput);
}

TEST_F(Passes, TogetherTheyLeaveLittle) {
  graph::ExportedProgram program = parse("c_t: \"f32[4]\", x: \"f32[s0, 4]\"",
                                         R"~(n: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                                             a: "f32[4]" = torch.ops.aten.mul.Tensor(c_t, 2)
                                             d: "f32[4]" = torch.ops.aten.sin.default(a)
                                             m: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
                                             e: "f32[4]" = torch.ops.aten.sin.default(a)
                                             b: "f32[s0, 4]" = torch.ops.aten.add.Tensor(x, d)
                                             f: "f32[s0, 4]" = torch.ops.aten.add.Tensor(b, e)
                                             v: "f32[4*s0]" = torch.ops.aten.view.default(f, [-1])
                                             z: "f32[s0]" = torch.ops.aten.zeros.default([m])
                                             return (v,))~");
  EXPECT_TRUE(simplify(program, library));
  EXPECT_EQ(code_of(program), lines_of(R"~(b: "f32[s0, 4]" = torch.ops.aten.add.Tensor(x, c_folded_0)
                                           f: "f32[s0, 4]" = torch.ops.aten.add.Tensor(b, c_folded_0)
                                           v: "f32[4*s0]" = torch.ops.aten.view.default(f, [-1])
                                           return (v,))~"));
  EXPECT_FALSE(simplify(program, library));
}

TEST_F(Passes, HaveNames) {
  EXPECT_EQ(find_pass("dead-nodes").run, &remove_dead_nodes);
  try {
    find_pass("dead");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no pass 'dead' (the passes are: equal-sizes, equal-nodes, "
                 "fold-constants, dead-nodes)");
  }
}

}  // namespace
}  // namespace flambeau::passes
