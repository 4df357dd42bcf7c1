// The inside of CodePrinter: statements, expressions, classes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/printer/inlining.h"
#include "flambeau/script/printer/name_maker.h"
#include "flambeau/script/printer/printer.h"

namespace flambeau::script {

class CodeWriter {
 public:
  CodeWriter(const Unit& unit, ConstantTable& constants, Dependencies& dependencies, ClassNames names)
      : unit_(unit), constants_(constants), dependencies_(dependencies), printed_names_(std::move(names)) {}

  void write_class(const Class& written);
  void write_function(const Function& function, bool with_first_type);
  const TaggedText& body() const { return body_; }
  int64_t version() const { return version_; }

 private:
  // code_writer.cpp: the text, and what stands for a value in it.
  friend class RangeScope;
  const SourceRange& range() const { return ranges_.back(); }
  void put(std::string_view piece);
  void put(TaggedText& to, std::string_view piece) const { to.append(piece, range()); }
  void indent();
  void append_use(TaggedText& to, const ir::Value* value) const;
  void append_uses(TaggedText& to, std::span<ir::Value* const> values) const;
  std::string text_of(const ir::Value* value) const;
  void assign_name(const ir::Value* value);
  void assign_names(std::span<ir::Value* const> values);
  std::string type_of(const Type& type) const { return annotation_text(type, printed_names_); }
  bool is_interface(const Type& type) const;
  const Class* find_class(const Type& type) const;
  void mention(const Type& type);
  void mention_types(const ir::Node& node);

  // functions.cpp
  void write_body(const ir::Block& body);
  void write_default(const Argument& argument);
  void write_block(const ir::Block& block, bool has_more);
  void collect_constants(const ir::Block& block, std::vector<const ir::Node*>& found);

  // statements.cpp
  void write_node(const ir::Node& node);
  void write_statement(const ir::Node& node);
  void write_expression_node(const ir::Node& node);
  void write_if(const ir::Node& node);
  void write_loop(const ir::Node& node);
  void write_closure(const ir::Node& node, std::string_view word);
  void write_assignment(std::span<ir::Value* const> targets, std::span<ir::Value* const> values);
  void write_first_assignments(std::span<ir::Value* const> targets, std::span<ir::Value* const> values);
  void write_definition(const ir::Node& node, const TaggedText& expression);
  void split_long_inlines(const ir::Value* value);
  bool is_long(const TaggedText& text) const;

  // expressions.cpp
  void append_expression(TaggedText& to, const ir::Node& node);
  void append_operator(TaggedText& to, const ir::Node& node);
  void append_call(TaggedText& to, const ir::Node& node);
  void append_constant(TaggedText& to, const ir::Node& node);
  void append_list(TaggedText& to, const ir::Node& node);
  void append_dict(TaggedText& to, const ir::Node& node);
  void append_around(TaggedText& to, std::string_view before, const ir::Node& node, std::string_view after);
  void append_typed(TaggedText& to, std::string_view word, const Type& type, const ir::Value* value);
  void append_types(TaggedText& to, const std::vector<Type>& types);
  void append_method_call(TaggedText& to, const ir::Node& node);

  // classes.cpp
  void write_plain_class(const Class& written);
  void write_attributes(const Class& written);
  void write_names(std::string_view word, const std::vector<std::string>& names);
  void write_named_tuple(const Class& written);
  void write_interface(const Class& written);
  void write_enum(const Class& written);

  const Unit& unit_;
  ConstantTable& constants_;
  Dependencies& dependencies_;
  ClassNames printed_names_;
  TaggedText body_;
  std::vector<SourceRange> ranges_ = {SourceRange()};  // the innermost is the one of what is printed now
  size_t level_ = 0;
  int depth_ = 0;
  int64_t version_ = 1;
  NameMaker names_;
  std::unordered_set<std::string> mentioned_;  // classes whose parts were looked at

  // Of the function that is printed.
  Inlining inlining_;
  std::unordered_map<const ir::Value*, std::string> variables_;
  std::unordered_map<const ir::Value*, std::shared_ptr<const TaggedText>> expressions_;
  std::unordered_set<const ir::Value*> annotated_;
  std::unordered_set<const ir::Node*> seen_constants_;
  // By the user of inlined values: up to which input these were looked at for lines that became too long.
  std::unordered_map<const ir::Node*, int64_t> split_inputs_;
};

// While it lives, what is printed comes from the node's place.
class RangeScope {
 public:
  RangeScope(CodeWriter& writer, const ir::Node& node);
  ~RangeScope() { writer_.ranges_.pop_back(); }
  RangeScope(const RangeScope&) = delete;
  RangeScope& operator=(const RangeScope&) = delete;

 private:
  CodeWriter& writer_;
};

}  // namespace flambeau::script
