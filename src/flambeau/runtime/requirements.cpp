#include "flambeau/runtime/requirements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "flambeau/base/error.h"

namespace flambeau::runtime {

void require_operators(const std::vector<MissingOperator>& missing) {
  if (missing.empty()) return;
  std::vector<std::string> texts;
  std::set<std::string> options;
  for (const MissingOperator& one : missing) {
    if (!one.option.empty()) options.insert(fmt::format("-D{}=ON", one.option));
    texts.push_back(fmt::format("{} ({} at node '{}')", one.target,
                                one.count == 1 ? "once," : fmt::format("{} times, first", one.count),
                                one.node));
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("the program uses operators that are not there: {}", fmt::join(texts, ", ")),
              options.empty()
                  ? "supply them: Library::add in C++, or a library of operators with --operators FILE.so"
                  : fmt::format("this build of Flambeau has left some out: build it with {}",
                                fmt::join(options, " ")));
}

void require_readable(const std::vector<std::string>& unknown) {
  if (unknown.empty()) return;
  constexpr size_t kMostShown = 10;
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(unknown.size(), kMostShown); ++i) texts.push_back(printable(unknown[i]));
  const size_t more = unknown.size() - texts.size();
  throw Error(ErrorCode::kUnsupported,
              fmt::format("conditions on the program's inputs cannot be read, and so not be checked: {}{}",
                          fmt::join(texts, "; "), more == 0 ? "" : fmt::format("; and {} more", more)),
              "run it without checking them: --ignore-guards, or ignore_guards in the options of load");
}

}  // namespace flambeau::runtime
