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
  void set_renamed(std::unordered_map<std::string, std::string> renamed) { renamed_ = std::move(renamed); }

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

  std::shared_ptr<Class> find_class(std::string_view name) const override {
    return unit_.find_class(new_name(name));
  }
  std::shared_ptr<Function> find_function(std::string_view name) const override {
    return unit_.find_function(new_name(name));
  }

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
      unit_.add(make_native_class(unit_, name));
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

  std::string new_name(std::string_view name) const {
    const auto found = renamed_.empty() ? renamed_.end() : renamed_.find(std::string(name));
    return found == renamed_.end() ? std::string(name) : found->second;
  }

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
  std::unordered_map<std::string, std::string> renamed_;     // of imported code
  std::unordered_set<std::string> read_;                     // qualifiers, whether there was a text or not
  std::unordered_map<std::string, Definition> definitions_;  // that nobody has asked for yet
};

// With a part ___torch_mangle_<n> before the last one where the name is taken.
std::string free_name(const Unit& unit, const std::string& name,
                      const std::unordered_set<std::string>& also_taken) {
  constexpr std::string_view kMangle = "___torch_mangle_";
  const auto is_free = [&](const std::string& tried) {
    return !also_taken.contains(tried) && unit.find_class(tried) == nullptr &&
           unit.find_function(tried) == nullptr;
  };
  if (is_free(name)) return name;
  const size_t dot = name.rfind('.');
  const std::string last = dot == std::string::npos ? name : name.substr(dot + 1);
  std::string qualifier = dot == std::string::npos ? std::string() : name.substr(0, dot);
  const size_t before = qualifier.rfind('.');
  const size_t atom = before == std::string::npos ? 0 : before + 1;
  if (std::string_view(qualifier).substr(atom).starts_with(kMangle))
    qualifier.resize(atom == 0 ? 0 : atom - 1);
  for (size_t number = 0;; ++number) {
    std::string tried = qualifier;
    if (!tried.empty()) tried += '.';
    tried += std::string(kMangle) + std::to_string(number) + "." + last;
    if (is_free(tried)) return tried;
  }
}

}  // namespace

void use_archive_code(Unit& unit, ArchiveCode code) {
  const auto names = std::make_shared<ArchiveNames>(unit, std::move(code));
  unit.set_resolver([names](Unit&, std::string_view name) { return names->resolve(name); });
}

CodeToImport plan_import(const Unit& unit, std::span<const NamedText> texts) {
  CodeToImport plan;
  std::unordered_set<std::string> taken;
  for (const NamedText& text : texts) {
    const std::shared_ptr<const syntax::Tree> tree = syntax::parse_file(text.source);
    for (const syntax::Node* node : tree->definitions) {
      const std::string name = text.qualifier + "." + node->text;
      const std::string free = free_name(unit, name, taken);
      taken.insert(free);
      if (free != name) plan.renamed.emplace(name, free);
      plan.definitions.push_back({tree, node, free});
    }
  }
  return plan;
}

void import_code(Unit& unit, const CodeToImport& code, std::vector<IValue> constants, int64_t version) {
  ArchiveCode archive;
  archive.constants = std::move(constants);
  archive.version = version;
  const auto names = std::make_shared<ArchiveNames>(unit, std::move(archive));
  names->set_renamed(code.renamed);
  // Classes may speak of others that stand behind them: each is defined when it is first asked for.
  std::unordered_map<std::string, const CodeToImport::Definition*> left;
  for (const CodeToImport::Definition& definition : code.definitions)
    left.emplace(definition.name, &definition);
  const auto define = [&](const CodeToImport::Definition& definition) {
    if (left.erase(definition.name) == 0) return;
    if (definition.node->is(Kind::kClass)) {
      define_class(unit, names, definition.tree, *definition.node, definition.name);
    } else {
      unit.add(make_function(unit, names, definition.tree, *definition.node, definition.name, nullptr));
    }
  };
  Unit::Resolver before = unit.resolver();
  unit.set_resolver([&](Unit& of, std::string_view name) {
    const auto found = left.find(std::string(name));
    if (found != left.end()) {
      define(*found->second);
      return true;
    }
    if (is_native_class(name)) {
      of.add(make_native_class(of, name));
      return true;
    }
    return before && before(of, name);
  });
  try {
    for (const CodeToImport::Definition& definition : code.definitions) define(definition);
  } catch (...) {
    unit.set_resolver(before);
    throw;
  }
  unit.set_resolver(std::move(before));
}

std::string free_name(const Unit& unit, const std::string& name) { return free_name(unit, name, {}); }

}  // namespace flambeau::script::compiler
