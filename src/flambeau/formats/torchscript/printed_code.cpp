#include "flambeau/formats/torchscript/printed_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/printer/printer.h"

namespace flambeau::script {
namespace {

constexpr int64_t kOldestWrittenVersion = 3;

class CodeCollector {
 public:
  explicit CodeCollector(const Unit& unit) : unit_(unit) {}

  void add(const std::vector<ValuePickler::Met>& met, const std::string& root) {
    for (const ValuePickler::Met& object : met) print_class(object.name, object.type.get());
    mentioned_.add_class(root);
    for (; next_ < mentioned_.size(); ++next_) {  // grows meanwhile
      const Dependency next = mentioned_.at(next_);
      if (next.is_function) {
        print_function(next.name);
      } else {
        print_class(next.name, nullptr);
      }
    }
  }
  size_t constant_count() const { return constants_.values().size(); }

  PrintedCode finish() {
    PrintedCode code;
    code.version = kOldestWrittenVersion;
    for (const File& file : files_) {
      code.files.push_back({file.qualifier, file.printer.text(), file.printer.origins()});
      code.version = std::max(code.version, file.printer.version());
    }
    code.constants = constants_.values();
    return code;
  }

 private:
  struct File {
    std::string qualifier;
    CodePrinter printer;
  };

  // The file that the definition stands in: all of its name but the last part.
  CodePrinter& file_of(const std::string& name) {
    const size_t dot = name.rfind('.');
    std::string qualifier = dot == std::string::npos ? std::string() : name.substr(0, dot);
    const auto [place, is_new] = by_qualifier_.try_emplace(qualifier, files_.size());
    if (is_new) {
      files_.push_back({std::move(qualifier), CodePrinter(unit_, constants_, mentioned_, ClassNames())});
    }
    return files_[place->second].printer;
  }

  void print_class(const std::string& name, const Class* known) {
    if (!done_.insert({name, false}).second) return;
    const std::shared_ptr<Class> found = known == nullptr ? unit_.find_class(name) : nullptr;
    if (is_native_class(name) && (found == nullptr || !is_printed_native_class(*found))) {
      file_of(name);
      return;
    }
    const Class* type = known == nullptr ? found.get() : known;
    if (type == nullptr) {
      throw Error(ErrorCode::kNotFound, fmt::format("nothing defines the class {}", printable(name)));
    }
    CodePrinter& printer = file_of(name);
    with_location("class", printable(name), [&] { printer.print(*type); });
  }

  void print_function(const std::string& name) {
    if (!done_.insert({name, true}).second) return;
    std::shared_ptr<Function> function = find_hook(name);
    if (function == nullptr) function = unit_.find_function(name);
    if (function == nullptr) {
      throw Error(ErrorCode::kNotFound, fmt::format("nothing defines the function {}", printable(name)));
    }
    CodePrinter& printer = file_of(name);
    with_location("function", printable(name), [&] { printer.print(*function); });
  }

  // A hook is called like a function, by a name inside of its class.
  std::shared_ptr<Function> find_hook(const std::string& name) const {
    const size_t dot = name.rfind('.');
    const std::shared_ptr<Class> owner =
        dot == std::string::npos ? nullptr : unit_.find_class(std::string_view(name).substr(0, dot));
    if (owner == nullptr) return nullptr;
    for (const auto* hooks : {&owner->forward_hooks, &owner->forward_pre_hooks}) {
      for (const std::shared_ptr<Function>& hook : *hooks) {
        if (hook->qualified_name() == name) return hook;
      }
    }
    return nullptr;
  }

  const Unit& unit_;
  ConstantTable constants_;
  Dependencies mentioned_;
  size_t next_ = 0;  // of those mentioned
  std::deque<File> files_;
  std::unordered_map<std::string, size_t> by_qualifier_;
  std::set<std::pair<std::string, bool>> done_;
};

}  // namespace

PrintedCode print_code(const Unit& unit, const std::vector<ValuePickler::Met>& met, const std::string& root) {
  CodeCollector collector(unit);
  collector.add(met, root);
  return collector.finish();
}

PrintedCode print_code(const Unit& unit, const std::vector<PrintedRoot>& roots,
                       std::vector<size_t>& constant_counts) {
  CodeCollector collector(unit);
  for (const PrintedRoot& each : roots) {
    collector.add(each.met, each.root);
    constant_counts.push_back(collector.constant_count());
  }
  return collector.finish();
}

}  // namespace flambeau::script
