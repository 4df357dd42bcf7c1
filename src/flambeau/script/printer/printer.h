// Graphs, functions and classes as the text of an archive's code, byte for byte as PyTorch 2.13 writes it.
// One printer makes one file; several share a table of constants and a list of what they mention.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "flambeau/script/printer/constants.h"
#include "flambeau/script/printer/tagged_text.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

// A class or function that printed code mentions, by its own name.
struct Dependency {
  std::string name;
  bool is_function = false;
  bool operator==(const Dependency&) const = default;
};

// Each once, in the order in which they were first mentioned. Grows while its entries are printed.
class Dependencies {
 public:
  void add_class(const std::string& name) { add({name, false}); }
  void add_function(const std::string& name) { add({name, true}); }
  size_t size() const { return all_.size(); }
  const Dependency& at(size_t index) const { return all_.at(index); }

 private:
  void add(Dependency added);
  std::vector<Dependency> all_;
  std::unordered_set<std::string> classes_;
  std::unordered_set<std::string> functions_;
};

class CodeWriter;

class CodePrinter {
 public:
  // All four outlive the printer. The unit says what the classes are that types name.
  CodePrinter(const Unit& unit, ConstantTable& constants, Dependencies& dependencies, ClassNames names);
  ~CodePrinter();
  CodePrinter(CodePrinter&&) noexcept;
  CodePrinter& operator=(CodePrinter&&) noexcept;

  // Appends. May compile what is not compiled yet: throws what that throws. Throws Error(kUnsupported) for
  // graphs that no text can say, Error(kLimit) for nesting or text beyond all reason.
  void print(const Class& printed);
  void print(const Function& printed);
  // The first argument without its type: how a method is shown, not saved.
  void print_method(const Function& printed);

  const std::string& text() const;
  const std::vector<TextOrigin>& origins() const;
  // The least archive version whose readers understand every operator that was printed.
  int64_t version() const;

 private:
  std::unique_ptr<CodeWriter> writer_;
};

}  // namespace flambeau::script
