#include "flambeau/script/printer/code_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/upgraders.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

namespace {
constexpr size_t kMostPrintedBytes = size_t{1} << 30;
}

RangeScope::RangeScope(CodeWriter& writer, const ir::Node& node) : writer_(writer) {
  // A place in an archive's text stands for the place that text was made from.
  std::optional<SourceRange> origin;
  if (node.range && node.range.source->origins() != nullptr) {
    origin = node.range.source->origins()->find(node.range.start);
  }
  writer_.ranges_.push_back(origin ? *std::move(origin) : node.range);
}

void CodeWriter::put(std::string_view piece) { body_.append(piece, range()); }

void CodeWriter::indent() {
  if (body_.text().size() > kMostPrintedBytes) {
    throw Error(ErrorCode::kLimit, fmt::format("the printed code has more than {} bytes", kMostPrintedBytes));
  }
  for (size_t i = 0; i < level_; ++i) put("  ");
}

void CodeWriter::append_use(TaggedText& to, const ir::Value* value) const {
  // Once a statement has assigned it, the variable stands for it.
  if (const auto variable = variables_.find(value); variable != variables_.end()) {
    put(to, variable->second);
    return;
  }
  const auto expression = expressions_.find(value);
  if (expression == expressions_.end()) {
    throw Error(ErrorCode::kInternal,
                fmt::format("the value '{}' is printed before it is made", printable(value->name())));
  }
  to.append(*expression->second);
}

void CodeWriter::append_uses(TaggedText& to, std::span<ir::Value* const> values) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) put(to, ", ");
    append_use(to, values[i]);
  }
}

std::string CodeWriter::text_of(const ir::Value* value) const {
  TaggedText text;
  append_use(text, value);
  return text.text();
}

void CodeWriter::assign_name(const ir::Value* value) {
  variables_[value] = names_.make(value->has_name() ? make_identifier(value->base_name()) : "_");
}

void CodeWriter::assign_names(std::span<ir::Value* const> values) {
  for (const ir::Value* value : values) assign_name(value);
}

const Class* CodeWriter::find_class(const Type& type) const {
  return type.is(TypeKind::kClass) ? unit_.find_class(type.name()).get() : nullptr;
}

bool CodeWriter::is_interface(const Type& type) const {
  const Class* found = find_class(type);
  return found != nullptr && found->is_interface();
}

// A class also mentions the types of what it holds. Types nest as deep as kMostTypeDepth; classes have no
// bound, so they wait on a list, in the order that recursion would take.
void CodeWriter::mention(const Type& type) {
  std::vector<Type> waiting = {type};
  while (!waiting.empty()) {
    const Type next = std::move(waiting.back());
    waiting.pop_back();
    std::vector<Type> inside(next.elements().begin(), next.elements().end());
    if (next.is(TypeKind::kClass)) {
      const std::string name(next.name());
      dependencies_.add_class(name);
      if (!mentioned_.insert(name).second) continue;
      if (const Class* found = find_class(next)) {
        if (found->kind() == ClassKind::kEnum) inside.push_back(found->value_type);
        for (const Attribute& attribute : found->attributes) inside.push_back(attribute.type);
      }
    }
    waiting.insert(waiting.end(), inside.rbegin(), inside.rend());
  }
}

// And the version that its operator needs.
void CodeWriter::mention_types(const ir::Node& node) {
  for (const ir::Value* input : node.inputs()) mention(input->type());
  for (const ir::Value* output : node.outputs()) mention(output->type());
  for (const Type& type : node.types) mention(type);
  if (node.is(ir::NodeKind::kOperator)) {
    version_ = std::max(version_, least_archive_version(node.op->schema.name));
  }
}

void Dependencies::add(Dependency added) {
  if ((added.is_function ? functions_ : classes_).insert(added.name).second) all_.push_back(std::move(added));
}

CodePrinter::CodePrinter(const Unit& unit, ConstantTable& constants, Dependencies& dependencies,
                         ClassNames names)
    : writer_(std::make_unique<CodeWriter>(unit, constants, dependencies, std::move(names))) {}
CodePrinter::~CodePrinter() = default;
CodePrinter::CodePrinter(CodePrinter&&) noexcept = default;
CodePrinter& CodePrinter::operator=(CodePrinter&&) noexcept = default;

void CodePrinter::print(const Class& printed) { writer_->write_class(printed); }
void CodePrinter::print(const Function& printed) { writer_->write_function(printed, true); }
void CodePrinter::print_method(const Function& printed) { writer_->write_function(printed, false); }
const std::string& CodePrinter::text() const { return writer_->body().text(); }
const std::vector<TextOrigin>& CodePrinter::origins() const { return writer_->body().origins(); }
int64_t CodePrinter::version() const { return writer_->version(); }

}  // namespace flambeau::script
