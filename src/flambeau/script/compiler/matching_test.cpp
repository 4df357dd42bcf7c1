#include "flambeau/script/compiler/matching.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/types/text.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

class Matching : public ::testing::Test {
 protected:
  ir::Value* input(std::string_view type) {
    return graph.block().add_input(parse_annotation(type), "x" + std::to_string(graph.inputs().size()));
  }

  // The nodes, without the lines around them.
  std::string emit(std::string_view name, const Call& call) {
    emit_operator(context, name, call);
    return nodes();
  }

  std::string nodes() const {
    const std::string text = ir::to_text(graph);
    const size_t begin = text.find(":\n") + 2;
    return text.substr(begin, text.rfind("  return") - begin);
  }

  std::string error(std::string_view name, const Call& call) {
    try {
      emit_operator(context, name, call);
    } catch (const Error& thrown) {
      EXPECT_EQ(nodes(), "");
      return thrown.message();
    }
    return "no error";
  }

  Unit unit{std::make_shared<const SchemaTable>()};
  ir::Graph graph;
  CallContext context{unit, graph, {}, true};
};

TEST_F(Matching, TakesTheFirstThatFits) {
  EXPECT_EQ(emit("aten::add", {{input("int"), input("int")}}), "  %0 : int = aten::add.int(%x0, %x1)\n");
}

TEST_F(Matching, FillsDefaults) {
  EXPECT_EQ(emit("aten::add", {{input("Tensor"), input("Tensor")}}),
            "  %0 : int = prim::Constant[value=1]()\n"
            "  %1 : Tensor = aten::add.Tensor(%x0, %x1, %0)\n");
}

TEST_F(Matching, TakesKeywordsAndSelf) {
  Call call;
  call.self = input("Tensor");
  call.keyword.emplace_back("dim", input("int"));
  EXPECT_EQ(emit("aten::max", call),
            "  %0 : bool = prim::Constant[value=False]()\n"
            "  %1 : Tensor, %2 : Tensor = aten::max.dim(%x0, %x1, %0)\n"
            "  %3 : (Tensor, Tensor) = prim::TupleConstruct(%1, %2)\n");
  EXPECT_EQ(graph.block().last()->output()->type().fields().size(), 2U);
}

TEST_F(Matching, ConvertsOnlyInTheSecondRound) {
  EXPECT_EQ(emit("aten::relu", {{}, {{"input", input("Tensor")}}}), "  %0 : Tensor = aten::relu(%x0)\n");
  graph.block().last()->destroy();
  EXPECT_EQ(emit("aten::select", {{input("Tensor"), input("Tensor"), input("bool")}}),
            "  %0 : int = aten::IntImplicit(%x2)\n"
            "  %1 : int = aten::Int.bool(%x3)\n"
            "  %2 : Tensor = aten::select.int(%x1, %0, %1)\n");
}

TEST_F(Matching, RepeatsNumbersAndCollectsTheRest) {
  EXPECT_EQ(emit("aten::zeros", {{IValue(2), IValue(3)}}).substr(0, 120),
            "  %0 : int = prim::Constant[value=2]()\n"
            "  %1 : int = prim::Constant[value=3]()\n"
            "  %2 : int[] = prim::ListConstruct(%0, %1)");
}

TEST_F(Matching, RepeatsANumberForAListOfFixedSize) {
  emit("aten::max_pool2d", {{input("Tensor"), input("int")}});
  EXPECT_EQ(nodes().substr(0, 52), "  %0 : int[] = prim::ListConstruct(%x1, %x1)\n  %1 : ");
}

TEST_F(Matching, BindsTypeVariables) {
  ir::Value* const result = emit_operator(context, "aten::__getitem__", {{input("List[str]"), IValue(0)}});
  EXPECT_EQ(result->type(), TypeKind::kString);
  EXPECT_EQ(result->node()->op->schema.name.overload, "t");
  ir::Value* const found =
      emit_operator(context, "aten::__getitem__", {{input("Dict[str, Tensor]"), input("str")}});
  EXPECT_EQ(found->node()->op->schema.name.overload, "Dict_str");
}

TEST_F(Matching, MakesListsOfTuples) {
  EXPECT_EQ(emit("aten::cat", {{input("Tuple[Tensor, Tensor]")}}),
            "  %0 : Tensor, %1 : Tensor = prim::TupleUnpack(%x0)\n"
            "  %2 : Tensor[] = prim::ListConstruct(%0, %1)\n"
            "  %3 : int = prim::Constant[value=0]()\n"
            "  %4 : Tensor = aten::cat(%2, %3)\n");
}

TEST_F(Matching, UsesOldSchemas) {
  context.archive_version = 3;
  ir::Value* const result = emit_operator(context, "aten::div", {{input("Tensor"), input("Tensor")}});
  EXPECT_EQ(result->node()->op->schema.name.overload, "Tensor");
  EXPECT_NE(result->node()->op, unit.operators().find("aten::div", "Tensor"));
  EXPECT_EQ(emit_operator(context, "aten::div", {{input("int"), input("int")}})->node()->op,
            unit.operators().find("aten::div", "int"));
}

TEST_F(Matching, TakesWhateverFollows) {
  ir::Value* const result =
      emit_operator(context, "aten::format", {{input("str"), input("int"), input("Tensor")}});
  EXPECT_EQ(result->node()->inputs().size(), 3U);
}

TEST_F(Matching, NamesEveryCandidate) {
  const std::string text = error("aten::mm", {{input("Tensor"), input("str")}});
  EXPECT_EQ(text,
            "the arguments (Tensor, str) fit none of:\n"
            "  aten::mm(Tensor self, Tensor mat2) -> Tensor: argument 'mat2' is of type Tensor, found str\n"
            "  aten::mm.out(Tensor self, Tensor mat2, *, Tensor out) -> Tensor: argument 'mat2' is of type "
            "Tensor, found str\n"
            "  aten::mm.dtype_out(Tensor self, Tensor mat2, int out_dtype, *, Tensor out) -> Tensor: "
            "argument 'mat2' is of type "
            "Tensor, found str\n"
            "  aten::mm.dtype(Tensor self, Tensor mat2, int out_dtype) -> Tensor: argument "
            "'mat2' is of type Tensor, found str\n");
  EXPECT_EQ(
      error("aten::numel", {{input("Tensor"), input("int")}}),
      "the arguments do not fit aten::numel(Tensor self) -> int: it takes 1 positional argument, found 2");
  EXPECT_EQ(
      error("aten::numel", {{input("Tensor")}, {{"dim", IValue(1)}}}),
      "the arguments do not fit aten::numel(Tensor self) -> int: the keyword argument 'dim' is unknown");
  EXPECT_EQ(error("aten::numel", {}),
            "the arguments do not fit aten::numel(Tensor self) -> int: argument 'self' is not given");
  EXPECT_EQ(error("aten::nummel", {}), "there is no operator 'aten::nummel'");
}

TEST_F(Matching, ConvertsElementsOfTuples) {
  const Type wanted = parse_annotation("Optional[Tuple[int, List[float]]]");
  ir::Value* const made =
      convert_implicitly(context, wanted, input("Tuple[Tensor, Tuple[float, float]]"), true, {});
  EXPECT_EQ(annotation_text(made->type()), "Tuple[int, List[float]]");
  EXPECT_EQ(nodes(),
            "  %0 : Tensor, %1 : (float, float) = prim::TupleUnpack(%x0)\n"
            "  %2 : int = aten::IntImplicit(%0)\n"
            "  %3 : float, %4 : float = prim::TupleUnpack(%1)\n"
            "  %5 : float[] = prim::ListConstruct(%3, %4)\n"
            "  %6 : (int, float[]) = prim::TupleConstruct(%2, %5)\n");
}

TEST_F(Matching, GivesEmptyListsTheirType) {
  ir::Node* const literal = graph.insert(graph.make(ir::NodeKind::kEmptyListLiteral));
  literal->output()->set_type(Type::list(TypeKind::kTensor));
  ir::Value* const made =
      convert_implicitly(context, parse_annotation("List[str]"), literal->output(), false, {});
  EXPECT_EQ(made->type(), parse_annotation("List[str]"));
  EXPECT_NE(made, literal->output());
}

TEST_F(Matching, MatchesFunctions) {
  Signature signature{"f"};
  signature.arguments = {{"a", TypeKind::kFloat}, {"b", Type::optional(TypeKind::kString), IValue()}};
  signature.returns = {TypeKind::kInt};
  const MatchedCall matched = match_signature(context, signature, {{input("number")}});
  ASSERT_EQ(matched.inputs.size(), 2U);
  EXPECT_EQ(matched.inputs[0]->type(), TypeKind::kFloat);
  EXPECT_EQ(matched.inputs[1]->type(), TypeKind::kNone);
  EXPECT_EQ(matched.returns[0], TypeKind::kInt);
}

}  // namespace
}  // namespace flambeau::script
