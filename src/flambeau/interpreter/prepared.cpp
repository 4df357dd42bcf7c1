#include "flambeau/interpreter/prepared.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/interpreter/operators.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/ops/mechanism/sparse_calls.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

// Larger pieces of memory are not kept: making them costs little beside filling them.
constexpr size_t kMostSpareBytes = 4096;

// Described by its type and geometry alone.
bool is_ordinary(const Tensor& tensor) {
  return tensor.defined() && tensor.layout() == Layout::kStrided && !tensor.is_traced() &&
         tensor.quantizer() == nullptr;
}

bool has_same_description(const Tensor& a, const Tensor& b) {
  return is_ordinary(a) && is_ordinary(b) && a.dtype() == b.dtype() && a.device() == b.device() &&
         a.offset() == b.offset() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.requires_grad() == b.requires_grad() && a.is_wrapped_number() == b.is_wrapped_number();
}

bool is_list_of(const IValue& given, std::span<const int64_t> numbers) {
  const std::vector<IValue>& items = given.items();
  return std::ranges::equal(items, numbers, [](const IValue& item, int64_t number) {
    return item.is(Tag::kInt) && item.as_int() == number;
  });
}

// Whether the value in the slot is the given one; numbers are put there.
template <typename T>
bool put_number(Value& slot, T number) {
  T* const known = slot.get_if<T>();
  if (known == nullptr) {
    slot = Value(number);
    return false;
  }
  const bool is_same = *known == number;
  *known = number;
  return is_same;
}

// What needs no fitting, and is most of all arguments.
bool fits_as_it_is(const Value& value, const Type& type) {
  switch (type.kind()) {
    case TypeKind::kTensor:
      return value.is_tensor() && value.tensor().defined();
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      return value.is<int64_t>();
    case TypeKind::kFloat:
      return value.is<double>();
    case TypeKind::kBool:
      return value.is<bool>();
    case TypeKind::kNumber:
      return value.is_number();
    case TypeKind::kList:
      return value.is<Dims>() || value.is<TensorList>();
    default:
      return false;
  }
}

// Numbers that are not known are sizes and scalars alone: others become the example's.
[[gnu::cold]] Value specialized(Value value, const Type& type, const Machine& machine) {
  const auto& specialize = machine.options().specialize;
  if (const SymInt* const number = value.get_if<SymInt>()) {
    if (type.is(TypeKind::kSymInt) || type.is(TypeKind::kNumber)) return value;
    const int64_t known = specialize(*number);
    return type.is(TypeKind::kFloat) ? Value(static_cast<double>(known)) : Value(known);
  }
  const SymIntList* const numbers = value.get_if<SymIntList>();
  if (numbers == nullptr || (type.is(TypeKind::kList) && type.element().is(TypeKind::kSymInt))) return value;
  Dims known;
  for (const SymInt& number : *numbers) known.push_back(specialize(number));
  return known;
}

[[noreturn, gnu::cold]] void fail_data(const OperatorSite& site, size_t index, const Type& type) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} takes a fixed {} for '{}', and this one depends on the data of the inputs",
                          site.entry->schema.name.to_string(), type.to_string(),
                          site.entry->schema.arguments[index].name),
              "give a number that is known, or use operators that take tensors");
}

// The elements of all lie in the same order, each beside the next.
bool lies_as(const Tensor& tensor, const Tensor& out) {
  return tensor.element_count() == out.element_count() && tensor.sizes() == out.sizes() &&
         tensor.is_contiguous();
}

}  // namespace

// While it lasts the arguments have their memory.
class PreparedCall::Turn {
 public:
  explicit Turn(PreparedCall& prepared) : prepared_(prepared) { prepared.is_running_ = true; }
  ~Turn() {
    for (const size_t index : prepared_.tensors_) {
      Value& argument = prepared_.arguments_[index];
      Tensor* const tensor = argument.get_if<Tensor>();
      if (tensor == nullptr) continue;
      if (is_ordinary(*tensor)) {
        tensor->set_storage(nullptr, tensor->offset());
      } else {
        argument = Value();
      }
    }
    for (const size_t index : prepared_.lists_) prepared_.arguments_[index] = Value();
    for (Tensor& result : prepared_.results_) result.set_storage(nullptr, result.offset());
    prepared_.is_running_ = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  PreparedCall& prepared_;
};

PreparedCall::PreparedCall(const OperatorSite& site) : site_(site), arguments_(site.arguments.size()) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const OperatorSite::Argument& argument = site.arguments[i];
    if (argument.constant) {
      arguments_[i] = *argument.constant;
    } else if (argument.type->is(TypeKind::kTensor)) {
      tensors_.push_back(i);
    } else if (argument.type->is(TypeKind::kList) || argument.type->is(TypeKind::kAny)) {
      if (!argument.type->is(TypeKind::kList) ||
          argument.type->element().without_optional().is(TypeKind::kTensor))
        lists_.push_back(i);
    }
  }
}

bool PreparedCall::take_argument(const Machine& machine, size_t index, const IValue& given) {
  Value& slot = arguments_[index];
  const Type& type = *site_.arguments[index].type;
  switch (given.tag()) {
    case Tag::kTensor: {
      if (!type.is(TypeKind::kTensor)) break;
      const Tensor& tensor = given.as_tensor();
      Tensor* const known = slot.get_if<Tensor>();
      if (known != nullptr && has_same_description(*known, tensor)) {
        known->set_storage(tensor.storage(), tensor.offset());
        return true;
      }
      slot = tensor;
      return false;
    }
    case Tag::kInt:
      if (!type.is(TypeKind::kInt) && !type.is(TypeKind::kSymInt) && !type.is(TypeKind::kNumber)) break;
      return put_number(slot, given.as_int());
    case Tag::kFloat:
      if (!type.is(TypeKind::kFloat) && !type.is(TypeKind::kNumber)) break;
      return put_number(slot, given.as_float());
    case Tag::kBool:
      if (!type.is(TypeKind::kBool)) break;
      return put_number(slot, given.as_bool());
    case Tag::kList:
      if (const Dims* const known = slot.get_if<Dims>(); known != nullptr && is_list_of(given, *known))
        return true;
      break;
    default:
      break;
  }
  Value value = to_value(given, type);
  // None is refused where it must be, and other kinds become what they can.
  if (!fits_as_it_is(value, type)) {
    if (machine.options().specialize) value = specialized(std::move(value), type, machine);
    // A number that data decides stays the tensor that it is, for whoever answers the calls.
    const bool is_data = given.is(Tag::kSymbolic) && value.is_tensor();
    if (is_data && !type.is(TypeKind::kNumber)) fail_data(site_, index, type);
    if (!is_data) value = ops::fit_argument(site_.op->schema, index, value);
  }
  const bool is_same = value.is_none() && slot.is_none();
  slot = std::move(value);
  return is_same;
}

bool PreparedCall::take_arguments(Call& call) {
  bool is_same = is_known_;
  is_known_ = false;  // until everything is there
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!site_.arguments[i].constant) is_same = take_argument(call.machine(), i, call[i]) && is_same;
  }
  return is_same;
}

bool PreparedCall::is_plain() const {
  const ops::Operator& op = *site_.op;
  if ((op.kind != ops::Kind::kKernel && op.kind != ops::Kind::kView) || op.returns_list() ||
      ops::has_sparse(arguments_) || ops::takes_quantized(arguments_))
    return false;
  return std::ranges::none_of(site_.results,
                              [](const OperatorSite::Result& result) { return result.same_as.has_value(); });
}

void PreparedCall::run(ops::Context& context, Call& call) {
  const Turn turn(*this);
  const bool is_same = take_arguments(call);
  if (context.interceptor != nullptr || (!is_same && !is_plain())) return run_anything(context, call);
  context.step();
  ops::at_operator([&] { return site_.op->name(); },
                   [&] {
                     if (site_.op->kind == ops::Kind::kView) return run_view(call, is_same);
                     run_kernel(context, call, is_same);
                   });
}

std::shared_ptr<Storage> PreparedCall::take_memory(ops::Context& context, size_t result) {
  const size_t bytes = bytes_[result];
  if (results_.size() != 1 || bytes > kMostSpareBytes || context.allocator != nullptr)
    return context.allocate_storage(bytes);
  for (const std::shared_ptr<Storage>& spare : spares_) {
    if (spare == nullptr || spare->size() != bytes || spare.use_count() != 1) continue;
    // What others did to it before they let it go is done.
    std::atomic_thread_fence(std::memory_order_acquire);
    return spare;
  }
  std::shared_ptr<Storage>& spare = spares_[next_spare_];
  next_spare_ = (next_spare_ + 1) % spares_.size();
  spare = context.allocate_storage(bytes);
  return spare;
}

void PreparedCall::run_kernel(ops::Context& context, Call& call, bool is_same) {
  const ops::Operator& op = *site_.op;
  if (!is_same) {
    body_.reset();
    results_.clear();
    bytes_.clear();
    for (const ops::Info<Size>& info : op.shape(arguments_)) {
      results_.push_back(context.allocate(info));
      results_.back().set_wrapped_number(false);
      bytes_.push_back(results_.back().storage()->size());
    }
    if (results_.size() == 1 && op.body != nullptr && !results_[0].is_meta()) prepare_body();
  } else {
    for (size_t i = 0; i < results_.size(); ++i)
      results_[i].set_storage(results_[i].is_meta() ? Storage::meta(bytes_[i]) : take_memory(context, i), 0);
  }
  bool has_elements = false;
  for (const Tensor& result : results_) has_elements = has_elements || result.element_count() > 0;
  const Storage* const before = results_.empty() ? nullptr : results_[0].storage().get();
  if (has_elements && !results_[0].is_meta()) {
    if (body_) {
      run_body(context);
    } else {
      op.kernel(context, arguments_, results_);
    }
  }
  for (size_t i = 0; i < site_.results.size() && i < results_.size(); ++i)
    call.give(IValue::adopt(new script::TensorBox(results_[i])));
  // A kernel may give something else than what was made for it.
  is_known_ = !results_.empty() && results_[0].storage().get() == before;
}

void PreparedCall::run_view(Call& call, bool is_same) {
  const Tensor* base = nullptr;
  for (const Value& argument : arguments_) {
    base = argument.get_if<Tensor>();
    if (base != nullptr) break;
  }
  if (!is_same) {
    results_.clear();
    const ops::Infos<Size> infos = site_.op->shape(arguments_);
    if (base == nullptr || infos.size() != 1)
      throw Error(ErrorCode::kInternal, "a view that is not one of a tensor");
    results_.push_back(ops::viewed(*base, infos[0]));
    results_[0].set_wrapped_number(false);
  }
  Tensor& result = results_[0];
  result.set_storage(base->storage(), result.offset());
  call.give(IValue::adopt(new script::TensorBox(result)));
  is_known_ = is_ordinary(result);
}

void PreparedCall::run_anything(ops::Context& context, Call& call) {
  results_.clear();
  std::vector<Value> results = context.interceptor == nullptr
                                   ? ops::execute(context, *site_.op, arguments_)
                                   : context.interceptor->call(context, *site_.op, arguments_);
  for (size_t i = 0; i < site_.results.size() && i < results.size(); ++i) {
    const OperatorSite::Result& result = site_.results[i];
    if (!result.same_as || !call[*result.same_as].is(Tag::kTensor)) {
      call.give(to_ivalue(std::move(results[i]), *result.type));
      continue;
    }
    // Operators that change a description, such as squeeze_, give another one of the same memory.
    IValue same = call[*result.same_as];
    if (results[i].is_tensor() && results[i].tensor().defined()) {
      Tensor& tensor = same.tensor_box().tensor;
      const bool requires_grad = tensor.requires_grad();
      tensor = std::move(std::get<Tensor>(results[i].data()));
      tensor.set_requires_grad(requires_grad);
    }
    call.give(std::move(same));
  }
}

// What the operator does to each element, where that follows from the descriptions alone.
void PreparedCall::prepare_body() {
  const Tensor& out = results_[0];
  ops::Body body = site_.op->body(arguments_, out);
  flat_row_ = nullptr;
  if (!body.views.empty()) return;  // they hold memory
  body_ = std::move(body);
  const std::span<const ops::Input> inputs = body_->inputs();
  if (body_->rows.plain == nullptr || body_->row != out.dtype() || !out.is_contiguous() ||
      out.element_count() > std::max<int64_t>(ops::kGrain / std::max(body_->cost, 1), 256))
    return;
  const auto is_read = [](const ops::Input& input) {
    return input.tensor == nullptr || (input.reads(input.tensor->dtype()) && !input.tensor->is_meta());
  };
  const auto is_one = [](const ops::Input& input) {
    return input.tensor == nullptr || input.tensor->element_count() == 1;
  };
  const auto is_array = [&](const ops::Input& input) {
    return input.tensor != nullptr ? lies_as(*input.tensor, out) || out.element_count() == 1
                                   : out.element_count() == 1;
  };
  if (!std::ranges::all_of(inputs, is_read)) return;
  if (std::ranges::all_of(inputs, is_array)) {
    flat_row_ = body_->rows.plain;
  } else if (inputs.size() == 2 && is_array(inputs[0]) && is_one(inputs[1])) {
    flat_row_ = body_->rows.second_is_one;
  } else if (inputs.size() == 2 && is_one(inputs[0]) && is_array(inputs[1])) {
    flat_row_ = body_->rows.first_is_one;
  }
}

void PreparedCall::run_body(ops::Context& context) {
  const Tensor& out = results_[0];
  if (flat_row_ == nullptr) return ops::run_body(context, *body_, out);
  std::array<const void*, ops::Body::kMostInputs> in{};
  const std::span<const ops::Input> inputs = body_->inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    in[i] = inputs[i].tensor == nullptr ? inputs[i].number.data()
                                        : static_cast<const void*>(inputs[i].tensor->data());
  void* const to = out.mutable_data();
  flat_row_(in.data(), &to, static_cast<size_t>(out.element_count()), body_->parameters.data());
}

}  // namespace flambeau::interpreter
