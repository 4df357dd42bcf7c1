#include "flambeau/script/compiler/archive_code.h"

#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/script/compiler/classes.h"
#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/compiler/names.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/syntax/parser.h"

namespace flambeau::script::compiler {
namespace {

using syntax::fail_at;
using syntax::Kind;

class ArchiveNames : public OuterNames, public std::enable_shared_from_this<ArchiveNames> {
 public:
  ArchiveNames(Unit& unit, ArchiveCode code) : unit_(unit), code_(std::move(code)) {}

  std::optional<Meaning> find(Emitter& emitter, std::string_view name,
                              const SourceRange& range) const override {
    struct NamedForm {
      std::string_view name;
      Form form;
    };
    static constexpr NamedForm kForms[] = {
        {"annotate", Form::kAnnotate},           {"unchecked_cast", Form::kUncheckedCast},
        {"uninitialized", Form::kUninitialized}, {"fork", Form::kFork},
        {"awaitable", Form::kAwaitable},
    };
    if (name == "torch") return Meaning::of(Meaning::Kind::kTorch);
    if (name == "ops") return Meaning::of(Meaning::Kind::kOps);
    if (name == "CONSTANTS") return Meaning::of(Meaning::Kind::kConstants);
    if (name == "__torch__") return Meaning::of(Meaning::Kind::kNamespace, std::string(name));
    for (const NamedForm& form : kForms) {
      if (form.name == name) return Meaning::of(form.form);
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
    const auto number = [&](IValue value) {
      return Meaning::of(insert_constant(emitter.graph(), value, range));
    };
    if (name == "inf") return number(kInfinity);
    if (name == "nan") return number(kNotANumber);
    if (name == "infj") return number(std::complex<double>(0, kInfinity));
    if (name == "nanj") return number(std::complex<double>(0, kNotANumber));
    return std::nullopt;
  }

  std::shared_ptr<Class> find_class(std::string_view name) const override { return unit_.find_class(name); }

  IValue constant(std::string_view name, const SourceRange& range) const override {
    size_t index = 0;
    const std::string_view digits = name.substr(std::min<size_t>(name.size(), 1));
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (!name.starts_with('c') || digits.empty() || read.ec != std::errc() ||
        read.ptr != digits.data() + digits.size()) {
      fail_at(range, "a constant is called c0, c1 and so on, not '" + printable(name) + "'");
    }
    if (index >= code_.constants.size()) {
      fail_at(range, "there is no constant " + std::to_string(index) + ": the archive has " +
                         std::to_string(code_.constants.size()));
    }
    return code_.constants[index];
  }

  std::optional<int64_t> version() const override { return code_.version; }

  // Adds what the name means to the unit.
  bool resolve(std::string_view name) {
    if (is_native_class(name)) {
      unit_.add(make_native_class(name));
      return true;
    }
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return false;
    read_text(name.substr(0, dot));
    const auto found = definitions_.find(std::string(name));
    if (found == definitions_.end()) return false;
    const Definition definition = found->second;
    definitions_.erase(found);
    const std::string full(name);
    if (definition.node->is(Kind::kClass)) {
      define_class(unit_, shared_from_this(), definition.tree, *definition.node, full);
    } else {
      unit_.add(make_function(unit_, shared_from_this(), definition.tree, *definition.node, full, nullptr));
    }
    return true;
  }

 private:
  struct Definition {
    std::shared_ptr<const syntax::Tree> tree;
    const syntax::Node* node = nullptr;
  };

  void read_text(std::string_view qualifier) {
    if (!read_.insert(std::string(qualifier)).second) return;
    const std::shared_ptr<const Source> source = code_.find_text(qualifier);
    if (source == nullptr) return;
    const std::shared_ptr<const syntax::Tree> tree = syntax::parse_file(source);
    for (const syntax::Node* node : tree->definitions) {
      definitions_.insert_or_assign(std::string(qualifier) + "." + node->text, Definition{tree, node});
    }
  }

  Unit& unit_;
  ArchiveCode code_;
  std::unordered_set<std::string> read_;                     // qualifiers, whether there was a text or not
  std::unordered_map<std::string, Definition> definitions_;  // that nobody has asked for yet
};

}  // namespace

void use_archive_code(Unit& unit, ArchiveCode code) {
  const auto names = std::make_shared<ArchiveNames>(unit, std::move(code));
  unit.set_resolver([names](Unit&, std::string_view name) { return names->resolve(name); });
}

}  // namespace flambeau::script::compiler
