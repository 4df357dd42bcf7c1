#include "flambeau/ops/engines/block_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "flambeau/tensor/elements/compute.h"

namespace flambeau::ops {
namespace {

// As elements lie in memory; null where C has no such type.
const char* stored_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kInt64:
      return "int64_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kInt8:
      return "int8_t";
    case DType::kUInt8:
    case DType::kBool:
      return "uint8_t";
    case DType::kBFloat16:
    case DType::kFloat16:
      return "uint16_t";
    default:
      return nullptr;
  }
}
bool is_integer(DType dtype) {
  return dtype == DType::kInt64 || dtype == DType::kInt32 || dtype == DType::kInt16 ||
         dtype == DType::kInt8 || dtype == DType::kUInt8;
}
bool is_float(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

// What integers wrap in.
std::string_view wrapping_type(std::string_view type) {
  if (type == "int64_t") return "uint64_t";
  if (type == "int32_t") return "uint32_t";
  return type;
}

// As it is, but so that the compiler does not know (kernels/source.cpp).
std::string apart(const std::string& value, DType type) {
  return fmt::format("{}({}, zero)", type == DType::kFloat32 ? "apart_f" : "apart_d", value);
}

// As convert_row() does it; nothing where the processor's way is another one.
std::optional<std::string> converted(const std::string& value, DType from, DType to) {
  if (from == to) return value;
  if (from == DType::kFloat16 || to == DType::kFloat16 || stored_type(from) == nullptr ||
      stored_type(to) == nullptr)
    return {};
  if (from == DType::kBFloat16) return converted(fmt::format("widened({})", value), DType::kFloat32, to);
  if (to == DType::kBFloat16) {
    if (from != DType::kFloat32) return {};
    return fmt::format("narrowed({})", value);
  }
  if (to == DType::kBool) return fmt::format("(uint8_t)({} != 0)", value);
  if (from == DType::kBool) {
    const std::string number = fmt::format("({})({} != 0)", stored_type(to), value);
    return is_float(to) ? apart(number, to) : number;
  }
  if (is_float(from) && is_integer(to)) return {};
  return fmt::format("({})({})", stored_type(to), value);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool mentions(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

// Two steps must stay two: a product and a sum that follows could become one operation, which rounds once
// where two operators round twice; and what a compiler computes itself, of an argument that has few values,
// it rounds after each operation.
bool must_be_apart(std::string_view code, std::string_view next) {
  const auto has = [](std::string_view text, char c) { return text.find(c) != std::string_view::npos; };
  const bool is_function = next.find("_of(") != std::string_view::npos;
  const bool has_sum = has(next, '+') || has(next, '-');
  const bool has_product = has(code, '*') || code.find("_of(") != std::string_view::npos;
  return is_function || (has_sum && (has_product || has(next, '*')));
}

class Writer {
 public:
  Writer(std::span<const BlockOperand> inputs, std::span<const BlockStep> steps)
      : inputs_(inputs), steps_(steps) {}

  std::optional<BlockCode> write() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const char* const type = stored_type(inputs_[i].dtype);
      if (type == nullptr) return {};
      head_ += inputs_[i].is_single
                   ? fmt::format("  const {0} v{1} = *(const {0}*)in[{1}];\n", type, i)
                   : fmt::format("  const {0}* restrict i{1} = (const {0}*)in[{1}];\n", type, i);
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (loops_.empty() || (is_long(i) && loops_.back().is_long)) loops_.emplace_back();
      loops_.back().is_long = loops_.back().is_long || is_long(i);
      loop_of_.push_back(loops_.size() - 1);
      if (!add(i)) return {};
    }
    for (const size_t step : kept_) {
      loops_[loop_of_[step]].text += fmt::format("    t{0}[i - begin] = r{0};\n", step);
      head_ += fmt::format("  {} t{}[BLOCK];\n", stored_type(steps_[step].dtype), step);
    }
    code_.text = parts_ +
                 "void KERNEL(const void* const* in, void* const* out, const void* const* constants, "
                 "int64_t count) {\n  const int64_t zero = *(const int64_t*)constants[0];\n" +
                 head_;
    // What one loop gives the next stays in the first-level cache.
    code_.text += loops_.size() == 1
                      ? "  const int64_t begin = 0, end = count;\n  {\n"
                      : "  for (int64_t begin = 0; begin < count; begin += BLOCK) {\n"
                        "  const int64_t end = begin + BLOCK < count ? begin + BLOCK : count;\n";
    for (const Loop& loop : loops_)
      code_.text += "  LOOP for (int64_t i = begin; i < end; ++i) {\n" + loop.text + "  }\n";
    code_.text += "  }\n}\n";
    return std::move(code_);
  }

 private:
  // A processor looks some hundred instructions ahead: of a loop with two long functions in it, one after the
  // other, it sees too few elements at once. So each has a loop of its own, with the short steps around it.
  struct Loop {
    std::string text;
    bool is_long = false;
    std::set<std::string> values;  // that it has read
  };
  bool is_long(size_t step) const {
    return steps_[step].body.rows.plain != nullptr && steps_[step].body.cost >= 4;
  }

  // Makes a value that another loop has computed, or a packed input, known to the step's.
  void read_value(size_t step, const std::string& name, DType dtype, const std::string& from) {
    Loop& loop = loops_[loop_of_[step]];
    if (loop.values.insert(name).second)
      loop.text += fmt::format("    const {} {} = {};\n", stored_type(dtype), name, from);
  }

  size_t add_constant(size_t step, std::optional<size_t> input) {
    code_.constants.push_back({step, input});
    return code_.constants.size();
  }

  // An input of the step in the type that its row reads.
  std::optional<std::string> read(size_t index, size_t which) {
    const BlockStep& step = steps_[index];
    const Input& input = step.body.inputs()[which];
    const BlockSource& source = step.sources[which];
    if (source.kind == BlockSource::Kind::kNumber) {
      const size_t constant = add_constant(index, which);
      if (stored_type(input.row) == nullptr) return {};
      head_ +=
          fmt::format("  const {0} n{1} = *(const {0}*)constants[{1}];\n", stored_type(input.row), constant);
      return fmt::format("n{}", constant);
    }
    const bool is_step = source.kind == BlockSource::Kind::kStep;
    const DType stored = is_step ? steps_[source.index].dtype : inputs_[source.index].dtype;
    std::string value = fmt::format("{}{}", is_step ? 'r' : 'v', source.index);
    if (is_step && loop_of_[source.index] != loop_of_[index]) {
      kept_.insert(source.index);
      read_value(index, value, stored, fmt::format("t{}[i - begin]", source.index));
    } else if (!is_step && !inputs_[source.index].is_single) {
      read_value(index, value, stored, fmt::format("i{}[i]", source.index));
    }
    if (is_step && is_float(stored) &&
        must_be_apart(steps_[source.index].body.code.text, step.body.code.text))
      value = apart(value, stored);
    if (input.reads(stored)) return value;
    if (input.common == input.row || input.common == stored) return converted(value, stored, input.row);
    const std::optional<std::string> common = converted(value, stored, input.common);
    return common ? converted(*common, input.common, input.row) : std::nullopt;
  }

  bool add(size_t index) {
    const BlockStep& step = steps_[index];
    const Body& body = step.body;
    if (stored_type(step.dtype) == nullptr) return false;
    std::optional<std::string> value;
    if (body.rows.plain == nullptr) {
      value = read(index, 0);
      if (value) value = converted(*value, body.inputs()[0].row, step.dtype);
    } else {
      value = call(index);
      if (value) value = converted(*value, body.row, step.dtype);
    }
    if (!value) return false;
    std::string& text = loops_.back().text;
    text += fmt::format("    const {} r{} = {};\n", stored_type(step.dtype), index, *value);
    if (!step.is_output) return true;
    head_ += fmt::format("  {0}* restrict o{1} = ({0}*)out[{1}];\n", stored_type(step.dtype), outputs_);
    text += fmt::format("    o{}[i] = r{};\n", outputs_++, index);
    return true;
  }

  // Its row as a function, and a call of it.
  std::optional<std::string> call(size_t index) {
    const Body& body = steps_[index].body;
    const std::string_view code = body.code.text;
    if (code.empty() || stored_type(body.row) == nullptr) return {};
    const auto computed_type = [&](DType row) -> const char* {
      if (row == DType::kBFloat16 && !body.code.moves) return "float";
      return stored_type(row);
    };
    std::string parameters;
    std::string arguments;
    for (size_t i = 0; i < body.inputs().size(); ++i) {
      const DType row = body.inputs()[i].row;
      if (computed_type(row) == nullptr || (row == DType::kFloat16 && !body.code.moves)) return {};
      std::optional<std::string> value = read(index, i);
      if (!value) return {};
      if (row == DType::kBFloat16 && !body.code.moves) value = fmt::format("widened({})", *value);
      parameters +=
          fmt::format("{}{} {}", i == 0 ? "" : ", ", computed_type(row), static_cast<char>('a' + i));
      arguments += (i == 0 ? "" : ", ") + *value;
    }
    const std::string_view type = computed_type(body.inputs()[0].row);
    std::string inside = fmt::format("typedef {} T; typedef {} U; ", type, wrapping_type(type));
    const bool is_real = type == "float" || type == "double";
    bool needs_parameters = mentions(code, "parameters");
    for (size_t i = 0; i < 3; ++i) {
      const char name = static_cast<char>('x' + i);
      if (!mentions(code, std::string_view(&name, 1))) continue;
      needs_parameters = true;
      // HotNumbers has the two integers behind the two doubles.
      inside += is_real ? fmt::format("const T {} = (T)parameters[{}]; ", name, i)
                        : fmt::format("const T {} = (T)((const int64_t*)parameters)[{}]; ", name, i + 2);
    }
    if (needs_parameters) {
      const size_t constant = add_constant(index, {});
      parameters += ", const double* parameters";
      arguments += fmt::format(", (const double*)constants[{}]", constant);
    }
    parts_ += fmt::format("INLINE {} PART({})({}) {{ {}{} }}\n", computed_type(body.row), index, parameters,
                          inside, code);
    const std::string made = fmt::format("PART({})({})", index, arguments);
    return body.row == DType::kBFloat16 && !body.code.moves ? fmt::format("narrowed({})", made) : made;
  }

  std::span<const BlockOperand> inputs_;
  std::span<const BlockStep> steps_;
  BlockCode code_;
  std::string parts_;
  std::string head_;
  std::vector<Loop> loops_;
  std::vector<size_t> loop_of_;  // beside the steps
  std::set<size_t> kept_;        // steps whose results another loop reads
  size_t outputs_ = 0;
};

}  // namespace

std::optional<BlockCode> block_code(std::span<const BlockOperand> inputs, std::span<const BlockStep> steps) {
  return Writer(inputs, steps).write();
}

}  // namespace flambeau::ops
