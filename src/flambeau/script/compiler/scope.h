// The variables of a function while it is compiled: a chain of frames, one for each block that a statement
// opens. Values are stored and loaded by name; what is no value is known to the frame alone.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/script/compiler/meaning.h"
#include "flambeau/script/ir/graph.h"
#include "flambeau/value/type.h"

namespace flambeau::script::compiler {

class Frame {
 public:
  Frame(ir::Block& block, Frame* outer) : block_(block), outer_(outer) {}

  ir::Block& block() const { return block_; }
  Frame* outer() const { return outer_; }

  // A variable as it is now, loaded at the graph's insert point; nothing when there is none in this frame, or
  // in any.
  std::optional<Meaning> find_here(const std::string& name) const;
  std::optional<Meaning> find(const std::string& name) const;
  std::optional<Meaning> find_outside(const std::string& name) const;
  bool has(const std::string& name) const;  // in any frame, without loading it

  // Stores a value at the insert point; the variable has that type from now on.
  void store(const std::string& name, ir::Value* value, Type type, const SourceRange& range);
  void set_type(const std::string& name, Type type) { types_.insert_or_assign(name, std::move(type)); }
  void set_meaning(const std::string& name, Meaning meaning) {
    meanings_.insert_or_assign(name, std::move(meaning));
  }
  // From all frames; false when none had it.
  bool remove(const std::string& name);
  // Those that hold values.
  std::vector<std::string> variables() const;
  // All that people gave a name, of this frame.
  std::vector<std::string> all_names() const;

 private:
  ir::Block& block_;
  Frame* outer_;
  std::map<std::string, Type> types_;
  std::map<std::string, Meaning> meanings_;
};

// Whether a name says something to people: "_12" and "$tmp" do not, and no value is called so.
bool is_meaningful(std::string_view name);

}  // namespace flambeau::script::compiler
