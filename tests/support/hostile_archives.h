// TorchScript archives made by hand, to be harmful, and what becomes of them: for the tests of hostile ones.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/work.h"
#include "flambeau/error.h"
#include "flambeau/script.h"
#include "support/patience.h"
#include "support/temporary_folder.h"

namespace flambeau::script::hostile {

using Records = std::vector<std::pair<std::string, std::string>>;

inline std::string times(size_t count, std::string_view text) {
  std::string all;
  all.reserve(count * text.size());
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}
// The same with the number of the turn in place of each '#', and the next one in place of each '@'.
inline std::string count_up(size_t count, std::string_view text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    for (const char c : text) {
      if (c == '#') {
        all += std::to_string(i);
      } else if (c == '@') {
        all += std::to_string(i + 1);
      } else {
        all += c;
      }
    }
  }
  return all;
}

// Pickles by hand: a short text, and an object of __torch__.M with such a state.
inline std::string pickled(std::string_view text) {
  return std::string("X") + static_cast<char>(text.size()) + std::string(3, '\0') + std::string(text);
}
inline std::string object(const std::string& state, std::string_view name = "__torch__\nM") {
  return fmt::format("c{}\n)\x81{}b", name, state);
}
inline std::string data(const std::string& root) { return "\x80\x02" + root + "."; }

inline Records archive(const std::string& code, const std::string& root = object("}"),
                       const std::string& version = "3\n") {
  return {{"data.pkl", data(root)},
          {"code/__torch__.py", code},
          {"constants.pkl", data(")")},
          {"version", version}};
}
// A module whose method `forward` has this body, indented by four.
inline std::string forward(const std::string& body, const std::string& before = "") {
  return before +
         "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
         "  def forward(self: __torch__.M, x: int) -> int:\n" +
         body + "    return x\n";
}
// The same that runs while the file is loaded.
inline std::string set_state(const std::string& body, const std::string& before = "") {
  return before +
         "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
         "  def __getstate__(self: __torch__.M) -> int:\n    return 1\n"
         "  def __setstate__(self: __torch__.M, x: int) -> NoneType:\n" +
         body + "    return None\n";
}
inline const std::string kState = object("K\x01");

inline ScriptModule loaded(const Records& records, const ScriptLoadOptions& options) {
  MemorySink sink;
  zip::Writer writer(sink, {});
  for (const auto& [name, contents] : records) writer.add_text(name, contents);
  writer.finish();
  return load_script(Mapping::from_buffer(sink.take()), options);
}
// Nothing of it runs.
inline ScriptModule inert(const Records& records) {
  ScriptLoadOptions options;
  options.run_set_state = false;
  return loaded(records, options);
}

// Loads, looks at everything, runs and saves; the first refusal, or "fine".
inline std::string outcome(const Records& records) {
  const flambeau::testing::TemporaryFolder folder;
  const WorkScope scope({.seconds = 20 * patience(), .bytes = uint64_t{256} << 20});
  try {
    ScriptLoadOptions load;
    load.most_steps = 100'000;
    const ScriptModule module = loaded(records, load);
    module.modules();
    module.parameters();
    for (const ModuleAttribute& attribute : module.attributes()) to_text(module.attribute(attribute.name));
    module.methods();
    module.operators();
    module.outside_calls();
    for (const CodeFinding& problem : module.problems()) {
      return "problem: " + problem.place + ": " + problem.message + "\n" + problem.excerpt;
    }
    for (const ModuleMethod& method : module.methods()) {
      module.graph(method.name);
      module.code(method.name);
      module.original_code(method.name);
    }
    save_script(module, folder / "again.pt");
    ScriptRunOptions run;
    run.most_steps = 100'000;
    for (const ModuleMethod& method : module.methods()) {
      if (method.name == "forward") module.run_method("forward", {1}, {}, run);
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "fine";
}

struct Case {
  std::string name;
  Records records;
  std::string expected;  // a part of the refusal
};

inline void check(const std::vector<Case>& cases) {
  for (const Case& given : cases) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string found = outcome(given.records);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_NE(found.find(given.expected), std::string::npos) << given.name << ":\n" << found.substr(0, 2000);
    EXPECT_LT(found.size(), 20'000U) << given.name;
    EXPECT_LT(taken.count(), 3 * patience()) << given.name;
  }
}

}  // namespace flambeau::script::hostile
