#include "flambeau/graph/text/notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/checked.h"
#include "flambeau/graph/text/names.h"
#include "flambeau/graph/text/python.h"

namespace flambeau::graph {
namespace {

bool has_usual_strides(const TensorMeta& meta) {
  const std::vector<int64_t> usual = usual_strides(meta.sizes);
  if (usual.size() != meta.strides.size() || meta.sizes.size() != meta.strides.size()) return false;
  for (size_t i = 0; i < usual.size(); ++i) {
    if (!meta.strides[i].is_literal() || meta.strides[i].literal() != usual[i]) return false;
  }
  return true;
}

std::string sym_list(TextContext& context, const std::vector<SymInt>& numbers) {
  std::string out = "[";
  for (size_t i = 0; i < numbers.size(); ++i) out += (i > 0 ? ", " : "") + sym_text(context, numbers[i]);
  return out + "]";
}

void add_tensor_notes(TextContext& context, const TensorMeta& meta, Notes& notes) {
  if (meta.requires_grad) notes.add("grad");
  // In quotes, as the type is: expressions are anything.
  if (!has_usual_strides(meta)) {
    notes.add("strides " + python_repr(std::string_view(sym_list(context, meta.strides))));
  }
  if (!meta.storage_offset.is_literal() || meta.storage_offset.literal() != 0) {
    notes.add("offset " + python_repr(std::string_view(sym_text(context, meta.storage_offset))));
  }
  if (!(meta.device == DeviceSpec{})) notes.add(device_atom(meta.device));
  notes.add(extras_note("device_extra", meta.device.extras));
  if (meta.layout != Layout::kStrided) notes.add(fmt::format("layout {}", layout_name(meta.layout)));
  notes.add(extras_note("extra", meta.extras));
}

std::string passed_by_mark(const ExportedProgram& program, const NamedArgument& input, bool by_name) {
  const PassedBy usual = by_name                           ? PassedBy::kKeyword
                         : program.style.has_argument_kind ? PassedBy::kPositional
                                                           : PassedBy::kUnsaid;
  std::string mark = by_name ? "=" : "";
  if (input.passed_by == usual) return mark;
  switch (input.passed_by) {
    case PassedBy::kUnsaid:
      return mark + "~";
    case PassedBy::kUnknown:
      return mark + "?";
    case PassedBy::kPositional:
      return mark + "+";
    case PassedBy::kKeyword:
      return mark + "!";
  }
  return mark;
}

// Names stand alone here: none can be taken for something else but "_", which is no name.
std::string argument_token(const std::string& name, bool by_name) {
  if (name.empty() && !by_name) return "_";
  return is_identifier(name) && name != "_" ? name : "%" + python_repr(std::string_view(name));
}

// "(self, other: sym_int, alpha=)": the arguments in the order of the file.
std::string arguments_note(const TextContext& context, const Node& node) {
  std::string out;
  // An operator that is known gets the names of its schema when nothing is said.
  bool says_something = !node.inputs().empty() && context.schemas.find_python(node.target.text()) != nullptr;
  bool is_first = true;
  for (const NamedArgument& input : node.inputs()) {
    const bool by_name = is_passed_by_name(context, node, input);
    const std::string mark = passed_by_mark(context.program, input, by_name);
    const std::string kind = kind_note(input.argument);
    if (!is_first) out += ", ";
    is_first = false;
    out += argument_token(input.name, by_name);
    out += mark;
    if (!kind.empty()) out += ": " + kind;
    if (!input.extras.empty()) out += " " + extras_note("extra", input.extras);
    says_something =
        says_something || !input.name.empty() || !mark.empty() || !kind.empty() || !input.extras.empty();
  }
  return says_something ? "(" + out + ")" : "";
}

}  // namespace

std::string Notes::joined() const {
  std::string out;
  for (const std::string& note : notes_) {
    if (!out.empty()) out += "; ";
    out += note;
  }
  return out;
}

std::vector<int64_t> usual_strides(const std::vector<SymInt>& sizes) {
  std::vector<int64_t> strides;
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides.push_back(stride);
    if (i == 0) break;
    if (!sizes[i].is_literal() ||
        __builtin_mul_overflow(stride, std::max<int64_t>(sizes[i].literal(), 1), &stride)) {
      break;
    }
  }
  std::reverse(strides.begin(), strides.end());
  return strides;
}

std::string sym_text(TextContext& context, const SymInt& number) {
  return number.is_literal() ? std::to_string(number.literal()) : context.exprs.name(number.expr());
}

namespace {

std::string full_type_text(TextContext& context, const Value& value) {
  if (const TensorMeta* const tensor = value.tensor()) {
    std::string out = std::string(short_dtype_name(tensor->dtype)) + sym_list(context, tensor->sizes);
    if (context.options.strides) out += sym_list(context, tensor->strides);
    if (context.options.devices) out += tensor->device.to_string();
    return out;
  }
  const auto sym = [&](const auto& number) -> std::string {
    return number.is_literal() ? "" : "Sym(" + context.exprs.name(number.expr()) + ")";
  };
  if (const auto* const number = std::get_if<SymInt>(&value.meta())) return sym(*number);
  if (const auto* const number = std::get_if<SymFloat>(&value.meta())) return sym(*number);
  if (const auto* const number = std::get_if<SymBool>(&value.meta())) return sym(*number);
  return "";
}

}  // namespace

std::string type_text(TextContext& context, const Value& value) {
  std::string text = full_type_text(context, value);
  // No real type is that long; a stranger's file can give one value, with its type, many times.
  constexpr size_t kLongest = 4096;
  if (!context.options.lossless && text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}

void add_value_notes(TextContext& context, const Value& value, Notes& notes) {
  if (const TensorMeta* const tensor = value.tensor()) return add_tensor_notes(context, *tensor, notes);
  if (const auto* const number = std::get_if<SymInt>(&value.meta())) {
    if (number->is_literal()) notes.add(fmt::format("sym_int {}", number->literal()));
  } else if (const auto* const real = std::get_if<SymFloat>(&value.meta())) {
    notes.add(real->is_literal() ? "sym_float " + python_repr(real->literal()) : "sym_float");
  } else if (const auto* const flag = std::get_if<SymBool>(&value.meta())) {
    notes.add(!flag->is_literal() ? "sym_bool" : flag->literal() ? "sym_bool True" : "sym_bool False");
  } else if (const auto* const object = std::get_if<CustomObjMeta>(&value.meta())) {
    notes.add(fmt::format("object {} {}", python_repr(std::string_view(object->name)),
                          python_repr(std::string_view(object->class_fqn))));
    notes.add(extras_note("extra", object->extras));
  }
}

bool is_passed_by_name(const TextContext& context, const Node& node, const NamedArgument& input) {
  const std::string& target = node.target.text();
  // Operators on symbols take what they take in order.
  if (target.starts_with("_operator.") || target.starts_with("math.") || target.starts_with("torch.sym_") ||
      target.starts_with("torch._sym_")) {
    return false;
  }
  if (!node.target.is_in_torch_ops() || node.target.is_higher_order()) {
    return input.passed_by != PassedBy::kPositional && !input.name.empty();
  }
  if (is_python_keyword(input.name)) return false;
  if (context.options.lossless || input.passed_by == PassedBy::kPositional ||
      input.passed_by == PassedBy::kKeyword) {
    return input.passed_by == PassedBy::kKeyword;
  }
  // Where the file does not say it, PyTorch passes by name what could be left out.
  const OperatorEntry* const entry = context.schemas.find_python(target);
  if (entry == nullptr) return false;
  const std::optional<size_t> index = entry->schema.find_argument(input.name);
  return index &&
         (entry->schema.arguments[*index].default_value || entry->schema.arguments[*index].is_kwarg_only);
}

void add_call_notes(TextContext& context, const Node& node, std::string_view line_name, Notes& notes) {
  notes.add(arguments_note(context, node));
  switch (output_form(node)) {
    case OutputForm::kOne: {
      const std::string kind = kind_note(node.outputs()[0]);
      if (!kind.empty()) notes.add("as " + kind);
      break;
    }
    case OutputForm::kNothing:
      notes.add("-> nothing");
      break;
    case OutputForm::kNone:
      notes.add("-> none");
      break;
    case OutputForm::kList:
      notes.add("-> list");
      break;
    case OutputForm::kMany:
      notes.add("-> items");
      break;
  }
  if (node.is_hop_single_tensor_return) {
    notes.add(*node.is_hop_single_tensor_return ? "single" : "not single");
  }
  if (node.name && (*node.name != line_name || !context.program.style.has_node_name)) {
    notes.add("node " + name_token(*node.name));
  } else if (!node.name && context.program.style.has_node_name) {
    notes.add("no node name");
  }
  notes.add(extras_note("node_extra", node.extras));
}

std::string metadata_note(TextContext& context, const Node& node) {
  std::string out;
  for (const auto& [key, text] : node.metadata) {
    if (!out.empty()) out += "; ";
    out += name_token(key) + " = " + context.texts.reference(text);
  }
  return out;
}

std::string extras_note(std::string_view word, const Extras& extras) {
  if (extras.empty()) return "";
  return fmt::format("{} {}", word, python_repr(std::string_view(json::dump(json::Value(extras.members())))));
}

std::string kinds_note(const std::vector<Argument>& arguments) {
  std::string out;
  bool says_something = false;
  for (const Argument& argument : arguments) {
    const std::string note = kind_note(argument);
    if (!out.empty()) out += ", ";
    out += note.empty() ? "_" : note;
    says_something = says_something || !note.empty();
  }
  return says_something ? "as (" + out + ")" : "";
}

}  // namespace flambeau::graph
