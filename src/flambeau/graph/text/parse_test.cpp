#include "flambeau/graph/text/parse.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/print.h"
#include "support/patience.h"

namespace flambeau::graph {
namespace {

// Everything the form can say, in the spelling it is printed in.
std::string everything() {
  std::ifstream file(FLAMBEAU_SOURCE_DIR "/tests/fuzz/corpus/program_text/everything.txt", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string lossless(const ExportedProgram& program) { return to_text(program, {.lossless = true}); }

std::string error_of(std::string_view text) {
  try {
    parse_text(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The text of `everything()` with one change.
std::string changed(std::string_view from, std::string_view to) {
  std::string text = everything();
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TextParse, EverythingComesBack) {
  const std::string text = everything();
  EXPECT_EQ(lossless(parse_text(text)), text);
}

// A damaged file may have one; it is not the same as no name.
TEST(TextParse, AnEmptyNameComesBack) {
  const std::string text = changed("\n    n: USER_INPUT", "\n    %'': USER_INPUT");
  EXPECT_EQ(lossless(parse_text(text)), text);
  const std::string unnamed = changed("\n    n: USER_INPUT", "\n    : USER_INPUT");
  EXPECT_NE(error_of(unnamed).find("the entry names no value and has no constant"), std::string::npos);
}

TEST(TextParse, ValuesAreWhatTheTextSays) {
  const ExportedProgram program = parse_text(everything());
  const Graph& graph = program.graph();
  EXPECT_FALSE(program.has_weights);
  EXPECT_FALSE(program.style.has_verifiers);
  EXPECT_TRUE(program.style.has_bare_infinity);
  const TensorMeta& w = *graph.find("p_w")->tensor();
  EXPECT_TRUE(w.requires_grad);
  EXPECT_EQ(w.strides[1].literal(), 4);
  EXPECT_EQ(w.storage_offset.literal(), 2);
  EXPECT_EQ(w.device.to_string(), "cuda:0");
  EXPECT_EQ(w.layout, Layout::kSparseCoo);
  const TensorMeta& x = *graph.find("x")->tensor();
  EXPECT_EQ(x.dtype, DType::kBFloat16);
  EXPECT_EQ(x.sizes[1].expr().text, "Mul(Integer(2), Symbol('s0', positive=True, integer=True))");
  EXPECT_EQ(std::get<int64_t>(x.sizes[1].expr().hint), 10);
  EXPECT_EQ(graph.values_of(ValueKind::kTensor)[0]->name(), "x");
  const Node& add = *graph.nodes().begin();
  EXPECT_EQ(add.name, "plus");
  EXPECT_EQ(add.label(), "plus");
  EXPECT_EQ(add.outputs()[0].value()->name(), "add");
  EXPECT_TRUE(add.input("other")->is(ArgumentKind::kSymInt));
  EXPECT_EQ(add.inputs()[2].passed_by, PassedBy::kKeyword);
  EXPECT_EQ(program.signature.outputs[1].input->name(), "x");
}

TEST(TextParse, APersonCanEdit) {
  // A constant.
  ExportedProgram program =
      parse_text(changed("torch.ops.aten.split.Tensor(p_w, 2)", "torch.ops.aten.split.Tensor(p_w, 3)"));
  size_t found = 0;
  for (const Node& node : program.graph().nodes()) {
    if (node.target != "torch.ops.aten.split.Tensor") continue;
    EXPECT_EQ(node.input("split_size")->get<ArgumentKind::kInt>(), 3);
    ++found;
  }
  EXPECT_EQ(found, 1U);
  // A node less, a comment and a blank line more.
  std::string text = changed("            neg: \"Sym(-s0)\" = -n  #| (a)\n", "\n# gone\n");
  program = parse_text(text);
  EXPECT_EQ(program.graph().find("neg"), nullptr);
  EXPECT_NE(program.graph().find("neg_1"), nullptr);
}

TEST(TextParse, ACallWithoutCommentHasTheNamesOfItsSchema) {
  const ExportedProgram program =
      parse_text(changed("            return (add",
                         "            new: \"f32[4, 3]\" = torch.ops.aten.add.Tensor(add, 2, alpha = 3)\n    "
                         "        return (new"));
  const Node& node = *program.graph().last_node();
  ASSERT_EQ(node.inputs().size(), 3U);
  EXPECT_EQ(node.inputs()[0].name, "self");
  EXPECT_EQ(node.inputs()[1].name, "other");
  EXPECT_EQ(node.inputs()[1].passed_by, PassedBy::kPositional);
  EXPECT_EQ(node.inputs()[2].name, "alpha");
  EXPECT_EQ(node.inputs()[2].passed_by, PassedBy::kKeyword);
  EXPECT_EQ(node.name, "new");
}

TEST(TextParse, TakesPyTorchsOwnEndOfLine) {
  const ExportedProgram program = parse_text(changed(
      "effect = torch.ops.my.note.default()", "effect = torch.ops.my.note.default();  x = effect = None"));
  EXPECT_EQ(lossless(program), everything());
}

TEST(TextParse, ANewExpressionHasTheSymbolsOfTheProgram) {
  const ExportedProgram program = parse_text(changed("first: \"f32[2]\"", "first: \"f32[s0 + 1]\""));
  const SymExpr& expr = program.graph().find("first")->tensor()->sizes[0].expr();
  EXPECT_EQ(expr.text, "Add(Symbol('s0', positive=True, integer=True), Integer(1))");
}

TEST(TextParse, RenamingAValueRenamesIt) {
  std::string text = everything();
  for (size_t at = text.find("s_0"); at != std::string::npos; at = text.find("s_0", at + 1))
    text.replace(at, 3, "half");
  EXPECT_EQ(lossless(parse_text(text)), text);
}

TEST(TextParse, ErrorsSayWhere) {
  EXPECT_EQ(error_of(""), "line 1, column 1: expected 'ExportedProgram', found the end of the text");
  EXPECT_EQ(error_of("\xff"), "the text is not UTF-8");
  EXPECT_EQ(error_of("#| flambeau text 2\n"),
            "line 1, column 19: version 2 of the text form; this version knows 1");
  EXPECT_EQ(error_of(changed("alpha = 2)", "alpha = 2")),
            "line 14, column 77: expected ')', found '#| (self, other: sym_int, alpha=); node ...'");
  EXPECT_EQ(
      error_of(changed("(self, other: sym_int, alpha=)", "(self, alpha=)")),
      "line 14, column 13: the call has 3 arguments, its comment names 2 (let the call and its comment have "
      "the same arguments)");
  EXPECT_EQ(error_of(changed("(self, other: sym_int, alpha=)", "(self, other: sym_int, beta=)")),
            "line 14, column 104: expected 'alpha' here, as in the call, found 'beta'");
  EXPECT_EQ(error_of(changed("other: sym_int", "other: symint")),
            "line 14, column 95: 'symint' is no kind of argument");
  EXPECT_EQ(
      error_of(changed("add: \"f32[4, 3]\"", "add: \"g32[4, 3]\"")),
      "line 14, column 18: 'g32[4, 3]' is no type (write f32[2, s0] for a tensor and Sym(s0) for a number)");
  EXPECT_EQ(error_of(changed("getitem_4 = many_default[3]", "getitem_4 = many_default[4]")),
            "line 27, column 13: expected item 3 of 'many_default', found item 4");
  EXPECT_EQ(error_of(changed("self.true_graph", "self.false_graph")),
            "line 33, column 13: there is no class 'false_graph'");
  EXPECT_EQ(error_of(changed("'f32[7]'; grad", "'f32[7]'; groud")),
            "line 38, column 39: expected a note that belongs here, found 'groud'");
  EXPECT_EQ(error_of(changed("'aten' = 10", "'aten' = 99999999999999999999")),
            "line 88, column 14: 99999999999999999999 is beyond 64 bits");
  EXPECT_EQ(error_of(changed("'{\"p\": 1}'", "'{\"p\": 1'")).substr(0, 28), "line 93, column 8: byte 7: e");
  EXPECT_EQ(error_of(changed("Opset version", "Opset")),
            "line 87, column 1: expected a section, found 'Opset:'");
  EXPECT_EQ(error_of(changed("'2.13.0'", "'2.13.0")),
            "line 90, column 16: the string has no end in this line");
  EXPECT_EQ(error_of(changed("'2.13.0'", "'\\q'")),
            "line 90, column 18: expected one of n, t, r, x, u, U, a quote or a backslash behind a "
            "backslash, found "
            "'q''");
}

TEST(TextParse, DepthIsLimited) {
  const std::string lists = std::string(100000, '[') + std::string(100000, ']');
  const std::string found = error_of(changed("[True, False]", lists));
  EXPECT_TRUE(found.starts_with("line 21, column ") && found.ends_with(": nested more than 300 deep"))
      << found;
  std::string text = "ExportedProgram:\n";
  for (size_t depth = 1; depth < 200; ++depth) {
    text += std::string(depth, ' ') + "class g(torch.nn.Module):\n" + std::string(depth + 1, ' ') +
            "def forward(self):\n";
  }
  EXPECT_EQ(error_of(text), "line 204, column 103: graphs are nested more than 100 deep");
}

TEST(TextParse, AHundredThousandNodesTakeSeconds) {
  ExportedProgram program;
  Graph& graph = program.graph();
  TensorMeta meta;
  meta.sizes = {2, 3};
  meta.strides = {3, 1};
  Value* last = &graph.add_value("x", meta);
  graph.add_input(Argument::tensor(*last));
  for (size_t i = 0; i < 100'000; ++i) {
    Node& node = graph.append("torch.ops.aten.add.Tensor");
    node.metadata = {{"stack_trace", "File \"model.py\", line " + std::to_string(i) +
                                         ", in forward\n    x = x + 1  # and so on"}};
    node.add_input("self", Argument::tensor(*last));
    node.add_input("other", Argument::make<ArgumentKind::kInt>(1));
    last = &graph.add_value("add_" + std::to_string(i), meta);
    node.name = last->name();
    node.add_output(Argument::tensor(*last));
  }
  graph.add_output(Argument::tensor(*last));
  const auto start = std::chrono::steady_clock::now();
  const std::string text = lossless(program);
  const ExportedProgram again = parse_text(text);
  EXPECT_EQ(again.graph().node_count(), 100'000U);
  EXPECT_EQ(lossless(again), text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60) * patience());
}

}  // namespace
}  // namespace flambeau::graph
