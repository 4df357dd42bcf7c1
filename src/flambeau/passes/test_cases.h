// What the tests of passes share: programs in a few lines, before and after.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/graph/text/print.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/passes/passes.h"

namespace flambeau::passes {

inline std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  return matches(text, R"~(\s*([^\n]+)\n?)~");
}

// The whole text of a program: names that begin with c_ are constants, with k_ buffers outside of the state
// dict, with b_ buffers. The graphs of a condition follow behind the body, as "yes(x):" and "no(x):".
inline std::string whole(const std::string& arguments, const std::string& body) {
  std::string text =
      "#| flambeau text 1\nExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def "
      "forward(self, " +
      arguments + "):\n";
  std::string signature = "Graph signature: \n    # inputs\n";
  for (const std::string& name : matches(arguments, R"~((\w+): ")~")) {
    const std::string rest = name.substr(std::min<size_t>(2, name.size()));
    signature += "    " + name + ": " +
                 (name.starts_with("c_")   ? "CONSTANT_TENSOR target='" + rest + "'"
                  : name.starts_with("k_") ? "BUFFER target='" + rest + "' persistent=False"
                  : name.starts_with("b_") ? "BUFFER target='" + rest + "' persistent=True"
                                           : "USER_INPUT") +
                 "\n";
  }
  signature += "    \n    # outputs\n";
  std::string indent = "            ";
  for (const std::string& line : lines_of(body)) {
    std::smatch inner;
    if (std::regex_match(line, inner, std::regex(R"~((\w+)\((.*)\):)~"))) {
      text += "    \n        class " + inner[1].str() + "(torch.nn.Module):\n            def forward(self, " +
              inner[2].str() + "):\n";
      indent = "                ";
      continue;
    }
    text += indent + line + "\n";
    if (!line.starts_with("return") || indent.size() > 12) continue;
    for (const std::string& name : matches(line.substr(6), R"~((\w+))~"))
      signature += "    " + name + ": USER_OUTPUT\n";
  }
  return text + "    \n" + signature +
         "    \nRange constraints: {}\nExpressions:\n    's0' = \"Symbol('s0', positive=True, "
         "integer=True)\" hint 3\n"
         "    's1' = \"Symbol('s1', positive=True, integer=True)\" hint 5\nSchema version: 8.20\n";
}

// The lines of all graphs, without what PyTorch says about the ends of values.
inline std::vector<std::string> code_of(const graph::ExportedProgram& program) {
  std::string text = graph::to_text(program);
  text = text.substr(text.find("def forward"));
  text = text.substr(0, text.find("Graph signature"));
  std::vector<std::string> lines;
  for (std::string line : lines_of(text)) {
    line = line.substr(0, line.find(";  "));
    const bool is_code = !line.starts_with("def forward") && !line.starts_with("#") &&
                         line.find_first_not_of(" ") != std::string::npos;
    if (is_code) lines.push_back(line);
  }
  return lines;
}

inline std::vector<std::string> without_remarks(const std::string& body) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(body)) lines.push_back(line.substr(0, line.find("  #|")));
  return lines;
}

struct Case {
  std::string arguments;
  std::string before;
  std::string after;  // empty: nothing changes
};

inline Tensor counting(const graph::TensorMeta& meta) {
  Dims sizes;
  for (const graph::SymInt& size : meta.sizes) sizes.push_back(size.literal());
  Tensor tensor = Tensor::zeros(meta.dtype, sizes);
  if (meta.dtype == DType::kFloat32) {
    for (int64_t i = 0; i < tensor.element_count(); ++i)
      tensor.mutable_data<float>()[i] = static_cast<float>(i);
  }
  return tensor;
}

// With counting numbers for its constants.
inline graph::ExportedProgram parse(const std::string& arguments, const std::string& body) {
  graph::ExportedProgram program = graph::parse_text(whole(arguments, body));
  for (const graph::InputSpec& input : program.signature.inputs) {
    const bool is_state = input.kind == graph::InputKind::kBuffer && input.persistent;
    if (input.target.empty()) continue;
    auto& list = is_state ? program.state_dict : program.constants;
    list.push_back({.name = input.target, .tensor = counting(*input.argument.value()->tensor())});
  }
  return program;
}

class PassCases : public ::testing::Test {
 protected:
  void expect(Pass pass, const std::vector<Case>& cases) {
    for (const Case& one : cases) {
      SCOPED_TRACE(one.before);
      graph::ExportedProgram program = parse(one.arguments, one.before);
      const std::vector<std::string> before = code_of(program);
      EXPECT_EQ(pass(program, library), !one.after.empty());
      EXPECT_EQ(code_of(program), one.after.empty() ? before : without_remarks(one.after));
      EXPECT_TRUE(program.graph().lint().empty());
      EXPECT_FALSE(pass(program, library)) << "once is enough";
    }
  }
  ops::Library library;
};

}  // namespace flambeau::passes
