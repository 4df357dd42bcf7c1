#include "flambeau/migrate/traced_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/names.h"
#include "flambeau/migrate/number_rules.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/value/schema.h"

namespace flambeau::migration {
namespace {

// What is computed besides, so that scripts may look at it: no more than this many elements.
constexpr int64_t kMostKnownElements = 4096;

template <typename Visit>
void visit_tensors(std::span<const Value> values, Visit&& visit) {
  for (const Value& value : values) {
    if (const Tensor* const tensor = value.get_if<Tensor>(); tensor != nullptr && tensor->defined())
      visit(*tensor);
    if (const TensorList* const tensors = value.get_if<TensorList>()) {
      for (const Tensor& tensor : *tensors) {
        if (tensor.defined()) visit(tensor);
      }
    }
  }
}

std::string place_text(const script::SourceRange& range) {
  return fmt::format("File \"{}\", line {}", printable(range.source->file_name()),
                     range.source->line_of(range.start));
}

// As Python writes a frame, with the line itself.
std::string line_text(const interpreter::TraceFrame& frame) {
  if (!frame.range) return fmt::format("File \"<script>\", line 0, in {}", printable(frame.function));
  std::string text;
  script::SourceRange range = frame.range;
  if (const script::SourceOrigins* const origins = range.source->origins()) {
    if (const std::optional<script::SourceRange> original = origins->find(range.start); original && *original)
      range = *original;
  }
  const std::string_view name = std::string_view(frame.function).substr(frame.function.rfind('.') + 1);
  return fmt::format("  {}, in {}\n    {}\n", place_text(range), printable(name),
                     printable(range.source->line_text(range.start)));
}

bool is_native(const Type& type) { return type.is(TypeKind::kClass); }

// Packed weights, or lists of them.
bool has_packed(const Value& value) {
  if (const ValueList* const list = value.get_if<ValueList>()) return std::ranges::any_of(*list, has_packed);
  const Object* const object = value.get_if<Object>();
  return object != nullptr && nn::current().library().find_class(object->class_name) != nullptr;
}

bool is_number_tensor(const Tensor& tensor) { return tensor.defined() && tensor.symbol() != nullptr; }

}  // namespace

bool is_fake(const Tensor& tensor) { return ops::lacks_elements(tensor); }

// ---- where the script is

void TracedCalls::tell_place() {
  nn::Observer* const observer = nn::observer();
  if (observer == nullptr || machine == nullptr) return;
  const std::vector<interpreter::TraceFrame> frames = machine->where();
  std::string lines;
  constexpr size_t kMostFrames = 20;
  for (size_t i = frames.size() > kMostFrames ? frames.size() - kMostFrames : 0; i < frames.size(); ++i)
    lines += line_text(frames[i]);
  observer->set_line(lines);
  place_.clear();
  for (const interpreter::TraceFrame& frame : frames)
    place_ += fmt::format("{}:{}|", frame.function, frame.range ? frame.range.start : 0);
  const std::string& path = frames.empty() ? path_ : frames.back().module_path;
  if (path == path_ && !open_.empty() == !path.empty()) return;
  // From "a.b.c" to "a.d": out of c and b, into d.
  std::vector<std::string> names;
  for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1))
    names.push_back(path.substr(0, dot));
  if (!path.empty()) names.push_back(path);
  size_t same = 0;
  while (same < names.size() && same < open_.size() && names[same] == open_[same].first) ++same;
  for (; open_.size() > same; open_.pop_back())
    observer->leave(*open_.back().second, [] { return nn::Tree(); });
  for (size_t i = same; i < names.size(); ++i) {
    nn::Module* const module = root_.find_module(names[i]);
    if (module == nullptr) break;
    observer->enter(*module, [] { return nn::Tree(); });
    open_.emplace_back(names[i], module);
  }
  path_ = path;
}

void TracedCalls::leave_all() {
  if (nn::Observer* const observer = nn::observer()) {
    for (; !open_.empty(); open_.pop_back()) observer->leave(*open_.back().second, [] { return nn::Tree(); });
    observer->set_line({});
  }
  open_.clear();
  path_.clear();
}

// ---- what is known

std::optional<SymInt> TracedCalls::number(const Tensor& tensor) const {
  if (const SymInt* const symbol = tensor.symbol()) return *symbol;
  if (tensor.dim() != 0 || tensor.dtype() != DType::kInt64) return {};
  const std::optional<Tensor> value = known(tensor);
  if (!value) return {};
  return SymInt(ops::item(*value).to_int());
}

Tensor TracedCalls::tensor_of(const SymInt& number) const {
  return number.is_literal() ? ops::scalar_tensor(number.literal(), DType::kInt64)
                             : Tensor::of_symbol(number);
}

Tensor TracedCalls::as_tensor(const Tensor& tensor) const {
  if (!is_number_tensor(tensor)) return tensor;
  return ops::call_with<Tensor>(nn::current(), "aten::scalar_tensor", {*tensor.symbol()},
                                {{"dtype", DType::kInt64}});
}

const Storage* TracedCalls::root_of(const Tensor& tensor) const {
  const Storage* storage = tensor.storage().get();
  const auto found = bases_.find(storage);
  return found == bases_.end() ? storage : found->second.root.get();
}

std::optional<Tensor> TracedCalls::known(const Tensor& tensor) const {
  if (!tensor.defined() || tensor.storage() == nullptr) return {};
  const Storage* const root = root_of(tensor);
  if (outer_writes != nullptr) require_fresh(tensor);
  if (written_.contains(root) || unknown_.contains(root)) return {};
  if (!is_fake(tensor)) {
    relied_.insert(root);
    return tensor;
  }
  const auto found = known_.find(tensor.storage().get());
  if (found == known_.end()) return {};
  return found->second.value;
}

int64_t TracedCalls::specialize(const SymInt& number) {
  if (number.is_literal()) return number.literal();
  nn::Observer* const observer = nn::observer();
  if (observer != nullptr) {
    tell_place();
    if (const std::optional<int64_t> value = observer->specialize(number)) {
      note(story_.specialized, fmt::format("a size is fixed to {}, as in the example", *value));
      return *value;
    }
  }
  throw Error(ErrorCode::kUnsupported,
              "a number that comes from data is used where the program needs a fixed one",
              "compute with tensors here, or fix the number");
}

void TracedCalls::note(std::vector<std::string>& texts, const std::string& what) {
  const std::vector<interpreter::TraceFrame> frames =
      machine == nullptr ? std::vector<interpreter::TraceFrame>() : machine->where();
  if (frames.empty()) return;
  std::string text = fmt::format("{}:\n{}", what, line_text(frames.back()));
  if (noted_.insert(text).second) texts.push_back(std::move(text));
}

void TracedCalls::note_look(const Tensor& tensor) {
  has_looked_ = true;
  if (!is_fake(tensor)) note(story_.notes, "elements of a tensor of the file were looked at");
}

void TracedCalls::tell_story() {
  std::map<std::string, size_t> lines;
  for (const auto& [place, runs] : runs_) {
    if (runs.count > 1) lines[runs.line] = std::max(lines[runs.line], runs.count);
  }
  for (const auto& [line, count] : lines)
    story_.unrolled.push_back(fmt::format("ran {} times, and is in the program as often:\n{}", count, line));
  runs_.clear();
}

void TracedCalls::note_writes(const ops::Operator& op, std::span<const Value> arguments) {
  for (size_t i = 0; i < arguments.size() && i < op.schema.arguments.size(); ++i) {
    if (!op.schema.arguments[i].is_written()) continue;
    visit_tensors(arguments.subspan(i, 1), [&](const Tensor& tensor) {
      const Storage* const root = root_of(tensor);
      written_.insert(root);
      std::erase_if(known_, [&](const auto& entry) {
        const auto base = bases_.find(entry.first);
        return entry.first == root || (base != bases_.end() && base->second.root.get() == root);
      });
    });
  }
}

void TracedCalls::remember(const ops::Operator& op, std::span<const Value> arguments,
                           std::span<const Value> results) {
  if (op.schema.is_mutable()) return note_writes(op, arguments);
  if (op.schema.is_view() && !arguments.empty() && arguments[0].is_tensor() &&
      arguments[0].tensor().storage() != nullptr) {
    const std::shared_ptr<Storage>& given = arguments[0].tensor().storage();
    const auto base = bases_.find(given.get());
    const std::shared_ptr<Storage> root = base == bases_.end() ? given : base->second.root;
    const Tensor whole = base == bases_.end() ? arguments[0].tensor() : base->second.base;
    visit_tensors(results, [&](const Tensor& tensor) {
      if (tensor.storage() != nullptr && tensor.storage() != given)
        bases_[tensor.storage().get()] = {tensor.storage(), root, whole};
    });
  }
  bool is_known = true;
  size_t count = 0;
  const auto check_size = [&](const Tensor& tensor) {
    ++count;
    is_known = is_known && !tensor.is_traced() && tensor.layout() == Layout::kStrided &&
               tensor.storage() != nullptr && tensor.element_count() <= kMostKnownElements;
  };
  visit_tensors(results, check_size);
  if (count == 0 || !is_known) return;
  std::vector<Value> values(arguments.begin(), arguments.end());
  for (Value& value : values) {
    if (value.is<SymInt>() || value.is<SymIntList>() || value.is<Object>()) return;
    const auto replace = [&](Tensor& tensor) {
      if (!tensor.defined() || tensor.is_wrapped_number()) return;
      const std::optional<Tensor> real = known(tensor);
      if (real && real->element_count() <= kMostKnownElements) {
        tensor = *real;
      } else {
        is_known = false;
      }
    };
    if (Tensor* const tensor = value.get_if<Tensor>()) replace(*tensor);
    if (TensorList* const tensors = value.get_if<TensorList>()) std::ranges::for_each(*tensors, replace);
  }
  if (!is_known) return;
  std::vector<Value> made;
  try {
    ops::Context context = nn::current().without_interceptor();
    context.generator = nullptr;  // what is drawn is known to nobody
    made = ops::execute(context, op, values);
  } catch (const Error&) {
    return;  // then it is not known
  }
  std::vector<Tensor> fakes;
  visit_tensors(results, [&](const Tensor& tensor) { fakes.push_back(tensor); });
  std::vector<Tensor> reals;
  visit_tensors(made, [&](const Tensor& tensor) { reals.push_back(tensor); });
  if (fakes.size() != reals.size()) return;
  for (size_t i = 0; i < fakes.size(); ++i) {
    if (is_fake(fakes[i])) known_[fakes[i].storage().get()] = {fakes[i].storage(), reals[i]};
  }
}

// ---- calls

std::optional<std::vector<Value>> TracedCalls::computed_number(const ops::Operator& op,
                                                               std::span<const Value> arguments) {
  bool has_symbol = false;
  visit_tensors(arguments,
                [&](const Tensor& tensor) { has_symbol = has_symbol || is_number_tensor(tensor); });
  if (!has_symbol) return {};
  std::vector<std::optional<SymInt>> numbers;
  for (const Value& value : arguments) {
    if (const Tensor* const tensor = value.get_if<Tensor>(); tensor != nullptr && tensor->defined()) {
      numbers.push_back(number(*tensor));
      if (!numbers.back()) return {};
    } else if (const int64_t* const plain = value.get_if<int64_t>()) {
      numbers.emplace_back(SymInt(*plain));
    } else if (const SymInt* const symbol = value.get_if<SymInt>()) {
      numbers.emplace_back(*symbol);
    } else {
      numbers.emplace_back();
    }
  }
  const std::optional<SymInt> result = number_of_call(op, arguments, numbers);
  if (!result) return {};
  return std::vector<Value>{tensor_of(*result)};
}

std::optional<std::vector<Value>> TracedCalls::read_element(const ops::Operator& op,
                                                            std::span<const Value> arguments) {
  const Schema& schema = op.schema;
  if (schema.returns.size() != 1 || !schema.returns[0].type.is(TypeKind::kNumber) || arguments.empty() ||
      !arguments[0].is_tensor())
    return {};
  const Tensor& tensor = arguments[0].tensor();
  if (const SymInt* const symbol = tensor.symbol()) return std::vector<Value>{*symbol};
  const std::optional<Tensor> real = known(tensor);
  if (!real) return {};
  note_look(tensor);
  std::vector<Value> values(arguments.begin(), arguments.end());
  values[0] = *real;
  ops::Context context = nn::current().without_interceptor();
  return ops::execute(context, op, values);
}

// What is no tensor and no element is said by types and sizes, which tensors without elements have too.
std::optional<std::vector<Value>> TracedCalls::read_geometry(const ops::Operator& op,
                                                             std::span<const Value> arguments) {
  const Schema& schema = op.schema;
  if (schema.returns.empty() || schema.is_mutable() || op.is(ops::Trait::kReadsGeometry)) return {};
  for (const SchemaArgument& result : schema.returns) {
    if (!result.type.is(TypeKind::kInt) && !result.type.is(TypeKind::kBool)) return {};
  }
  bool has_symbols = false;
  visit_tensors(arguments, [&](const Tensor& tensor) { has_symbols = has_symbols || tensor.is_traced(); });
  if (has_symbols) return {};
  std::vector<Value> values(arguments.begin(), arguments.end());
  for (Value& value : values) {
    Tensor* const tensor = value.get_if<Tensor>();
    if (tensor == nullptr || !tensor->defined()) continue;
    if (const std::optional<Tensor> real = known(*tensor)) *tensor = *real;
  }
  ops::Context context = nn::current().without_interceptor();
  return ops::execute(context, op, values);
}

namespace {

// Of tensors that the file has: what it gives is one of them.
std::vector<Value> execute_known(ops::Context& context, const ops::Operator& op,
                                 std::span<const Value> given) {
  ops::Context plain = context.without_interceptor();
  return ops::execute(plain, op, given);
}

}  // namespace

std::optional<std::vector<Value>> TracedCalls::in_parts(ops::Context& context, const ops::Operator& op,
                                                        std::span<const Value> given) {
  const auto with_steps = [&](std::vector<Value> results) {
    visit_tensors(results, [&](const Tensor& tensor) {
      const Quantizer* const quantizer = tensor.quantizer();
      if (quantizer != nullptr && !quantizer->is_per_channel())
        story_.quantization_step = std::max(story_.quantization_step, quantizer->scale);
    });
    return results;
  };
  const bool makes_object =
      std::ranges::any_of(op.schema.returns, [](const auto& result) { return is_native(result.type); });
  const bool is_quantized = ops::takes_quantized(given);
  if (makes_object || (!is_quantized && ops::is_for_quantized(op))) {
    // Scales, zero points and the weights that are packed are numbers of the program.
    std::vector<Value> arguments(given.begin(), given.end());
    for (size_t i = makes_object ? 0 : 1; i < arguments.size(); ++i) {
      Tensor* const tensor = arguments[i].get_if<Tensor>();
      if (tensor == nullptr || !tensor->defined()) continue;
      std::optional<Tensor> real = known(*tensor);
      if (!real) {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("the script quantizes with a {} that depends on the inputs",
                                makes_object ? "weight" : "scale or zero point"),
                    "quantize with numbers that the file has");
      }
      *tensor = *std::move(real);
    }
    const bool is_known = makes_object || !arguments.at(0).is_tensor() || !is_fake(arguments[0].tensor());
    return with_steps(is_known ? execute_known(context, op, arguments)
                               : ops::execute(context, op, arguments));
  }
  if (!is_quantized && !std::ranges::any_of(given, has_packed)) return {};
  bool has_fake = false;
  visit_tensors(given, [&](const Tensor& tensor) { has_fake = has_fake || is_fake(tensor); });
  if (!has_fake) return with_steps(execute_known(context, op, given));
  return with_steps(ops::execute(context, op, given));
}

// PyTorch writes programs as Python, where "random.from" is no name: made of others, where the operator is.
std::optional<std::vector<Value>> TracedCalls::by_other_names(ops::Context& context, const ops::Operator& op,
                                                              std::span<const Value> arguments) {
  if (!graph::is_python_keyword(op.schema.name.overload)) return {};
  const bool is_in_place = op.kind == ops::Kind::kInPlace;
  const ops::Operator& base = is_in_place ? *op.base : op;
  if (base.decomposition == nullptr) return {};
  std::vector<Value> results = base.decomposition(context, arguments);
  if (results.empty()) return {};
  if (!is_in_place) return results;
  ops::call(context, "aten::copy_", arguments[0].tensor(), results[0].tensor());
  return std::vector<Value>{arguments[0]};
}

std::vector<Value> TracedCalls::traced(const ops::Operator& op, std::span<const Value> arguments) {
  ops::Context& context = nn::current();
  if (context.interceptor == nullptr) return ops::execute(context, op, arguments);
  return context.interceptor->call(context, op, arguments);
}

std::vector<Value> TracedCalls::call(ops::Context& context, const ops::Operator& op,
                                     std::span<const Value> given) {
  tell_place();
  struct Within {
    explicit Within(size_t& given) : depth(given) { ++depth; }
    ~Within() { --depth; }
    size_t& depth;
  } const within(depth_);
  if (depth_ == 1 && !place_.empty()) {
    Runs& runs = runs_[place_ + op.name()];
    if (++runs.count == 2) runs.line = line_text(machine->where().back());
  }
  if (std::optional<std::vector<Value>> parts = in_parts(context, op, given)) return *std::move(parts);
  if (std::optional<std::vector<Value>> element = read_element(op, given)) return *std::move(element);
  if (std::optional<std::vector<Value>> made = computed_number(op, given)) return *std::move(made);
  if (std::optional<std::vector<Value>> facts = read_geometry(op, given)) return *std::move(facts);
  // Numbers made of sizes are tensors of the program only where it takes tensors.
  std::vector<Value> arguments(given.begin(), given.end());
  const auto materialize = [&](Tensor& tensor) {
    if (is_number_tensor(tensor)) tensor = as_tensor(tensor);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (Tensor* const tensor = arguments[i].get_if<Tensor>();
        tensor != nullptr && is_number_tensor(*tensor)) {
      // x * n: the second operand may be a number.
      const bool may_be_number = i == 1 && op.schema.arguments[i].name == "other" &&
                                 arguments[0].is_tensor() && arguments[0].tensor().dim() > 0;
      if (may_be_number) {
        tensor->set_wrapped_number(true);
      } else {
        materialize(*tensor);
      }
    }
    if (TensorList* const tensors = arguments[i].get_if<TensorList>())
      std::ranges::for_each(*tensors, materialize);
  }
  if (std::optional<std::vector<Value>> renamed = by_other_names(context, op, arguments))
    return *std::move(renamed);
  const ops::Operator& called = without_data_numbers(op, arguments);
  check_outer_writes(called, arguments);
  std::vector<Value> results = traced(called, arguments);
  remember(called, arguments, results);
  return results;
}

}  // namespace flambeau::migration
