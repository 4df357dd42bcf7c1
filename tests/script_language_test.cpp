// The examples of docs/torchscript-language.md and docs/after-torch-jit.md: each compiles, each call gives
// what stands below it, and what is said to be refused is refused with these messages.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/script_build.h"

namespace flambeau::script {
namespace {

struct Call {
  std::string expression;
  std::string result;
};
struct Block {
  size_t line = 0;
  std::string text;
  std::vector<Call> calls;
  bool is_refused = false;
  std::vector<std::string> messages;
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Block> blocks_of(const std::vector<std::string>& lines) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == "```text" && !blocks.empty()) {
      for (++i; lines.at(i) != "```"; ++i) blocks.back().messages.push_back(lines[i]);
    }
    if (lines[i] != "```python") continue;
    Block block;
    block.line = i + 1;
    block.is_refused = i > 0 && lines[i - 1] == "<!-- refused -->";
    for (++i; lines.at(i) != "```"; ++i) {
      constexpr std::string_view kCall = "# >>> ";
      if (lines[i].starts_with(kCall)) {
        block.calls.push_back({lines[i].substr(kCall.size()), lines.at(i + 1).substr(2)});
        ++i;
      } else {
        block.text += lines[i] + "\n";
      }
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// How many calls were made.
size_t check_examples(const std::string& page) {
  SCOPED_TRACE(page);
  const auto bytes = Mapping::open(FLAMBEAU_GOLDEN_DIR "/../../docs/" + page);
  size_t calls = 0;
  for (const Block& block : blocks_of(lines_of(as_text(bytes->bytes())))) {
    SCOPED_TRACE("line " + std::to_string(block.line));
    try {
      CompilationUnit unit(block.text);
      EXPECT_FALSE(block.is_refused);
      for (size_t i = 0; i < block.calls.size(); ++i) {
        const std::string name = "example_" + std::to_string(i);
        unit.define("def " + name + "():\n  return " + block.calls[i].expression + "\n");
        EXPECT_EQ(to_text(unit.run(name)), block.calls[i].result) << block.calls[i].expression;
        ++calls;
      }
    } catch (const CompileError& error) {
      EXPECT_TRUE(block.is_refused) << error.what();
      EXPECT_EQ(error.diagnostics().size(), block.messages.size()) << error.what();
      for (size_t i = 0; i < std::min(block.messages.size(), error.diagnostics().size()); ++i) {
        const Diagnostic& found = error.diagnostics()[i];
        EXPECT_EQ(std::to_string(found.line) + ":" + std::to_string(found.column) + ": " + found.message,
                  block.messages[i]);
      }
    }
  }
  return calls;
}

TEST(ScriptLanguage, ExamplesDoWhatTheDocumentationSays) {
  EXPECT_GE(check_examples("torchscript-language.md"), 30U);
  check_examples("after-torch-jit.md");
}

}  // namespace
}  // namespace flambeau::script
