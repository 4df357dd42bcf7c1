#include "flambeau/interpreter/prepared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/interpreter/operators.h"
#include "flambeau/interpreter/same_description.h"
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
  // By their bits: zeros have signs.
  const bool is_same = std::memcmp(known, &number, sizeof(T)) == 0;
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

// Longer lists are not compared with the last ones.
constexpr size_t kMostKeptTensors = 8;

// True, and they have the memory of those given, where they are described alike one by one.
bool take_tensors(const std::vector<IValue>& given, TensorList& known) {
  const auto is_like = [](const IValue& item, const Tensor& tensor) {
    return item.is(Tag::kTensor) && is_ordinary(tensor) && is_described_as(item.as_tensor(), tensor);
  };
  if (!std::ranges::equal(given, known, is_like)) return false;
  for (size_t i = 0; i < known.size(); ++i)
    known[i].set_storage(given[i].as_tensor().storage(), given[i].as_tensor().offset());
  return true;
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
    for (const size_t index : prepared_.lists_) {
      Value& argument = prepared_.arguments_[index];
      TensorList* const tensors = argument.get_if<TensorList>();
      if (tensors != nullptr && tensors->size() <= kMostKeptTensors &&
          std::ranges::all_of(*tensors, is_ordinary)) {
        for (Tensor& tensor : *tensors) tensor.set_storage(nullptr, 0);
      } else {
        argument = Value();
      }
    }
    for (Tensor& result : prepared_.results_) result.set_storage(nullptr, result.offset());
    prepared_.is_running_ = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  PreparedCall& prepared_;
};

PreparedCall::PreparedCall(const OperatorSite& site)
    : site_(site), arguments_(site.arguments.size()), quick_(site) {
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
      if (known != nullptr && is_ordinary(*known) && is_described_as(tensor, *known)) {
        // Where a view begins depends on where its base does.
        const bool is_same = site_.op->kind != ops::Kind::kView || tensor.offset() == known->offset();
        known->set_storage(tensor.storage(), tensor.offset());
        return is_same;
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
      if (TensorList* const known = slot.get_if<TensorList>();
          known != nullptr && type.is(TypeKind::kList) && take_tensors(given.items(), *known))
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
  const bool is_free = context.interceptor == nullptr && context.allocator == nullptr;
  if (is_free && quick_.is_ready() && quick_.run(context, call)) return;
  quick_.forget();
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

// Other numbers mostly give results of the same description.
bool PreparedCall::are_results(const ops::Infos<Size>& infos) const {
  return has_results_ &&
         std::ranges::equal(infos, results_, [](const ops::Info<Size>& info, const Tensor& known) {
           return info.dtype == known.dtype() && info.device == known.device() &&
                  info.sizes == known.sizes() && info.strides == known.strides();
         });
}

void PreparedCall::make_results(ops::Context& context, const ops::Infos<Size>& infos) {
  results_.clear();
  bytes_.clear();
  for (const ops::Info<Size>& info : infos) {
    results_.push_back(context.allocate(info));
    results_.back().set_wrapped_number(false);
    bytes_.push_back(results_.back().storage()->size());
  }
}

// Memory for results that are described already: a spare one's, which is given then.
IValue PreparedCall::take_memory(ops::Context& context) {
  if (results_.size() == 1 && !results_[0].is_meta() && bytes_[0] <= kMostSpareBytes &&
      context.allocator == nullptr) {
    IValue spare = spares_.take(context, results_[0], bytes_[0]);
    results_[0].set_storage(spare.as_tensor().storage(), 0);
    return spare;
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    results_[i].set_storage(
        results_[i].is_meta() ? Storage::meta(bytes_[i]) : context.allocate_storage(bytes_[i]), 0);
  }
  return {};
}

void PreparedCall::run_kernel(ops::Context& context, Call& call, bool is_same) {
  const ops::Operator& op = *site_.op;
  IValue spare;
  if (is_same) {
    spare = take_memory(context);
    if (body_ && spare.is_boxed()) quick_.learn_body(arguments_, *body_, results_[0], bytes_[0]);
  } else {
    body_.reset();
    const ops::Infos<Size> infos = op.shape(arguments_);
    if (are_results(infos)) {
      spare = take_memory(context);
    } else {
      make_results(context, infos);
    }
    if (results_.size() == 1 && op.body != nullptr && !results_[0].is_meta()) prepare_body();
  }
  has_results_ = false;
  bool has_elements = false;
  for (const Tensor& result : results_) has_elements = has_elements || result.element_count() > 0;
  const Storage* const before = results_.empty() ? nullptr : results_[0].storage().get();
  if (has_elements && !results_[0].is_meta()) {
    if (body_) {
      ops::run_body(context, *body_, results_[0]);
    } else {
      op.kernel(context, arguments_, results_);
    }
  }
  // A kernel may give something else than what was made for it.
  is_known_ = !results_.empty() && results_[0].storage().get() == before;
  has_results_ = is_known_ && std::ranges::all_of(results_, is_ordinary);
  if (spare.is_boxed() && is_known_) return call.give(std::move(spare));
  for (size_t i = 0; i < site_.results.size() && i < results_.size(); ++i)
    call.give(IValue::adopt(new script::TensorBox(results_[i])));
}

void PreparedCall::run_view(Call& call, bool is_same) {
  const Tensor* base = nullptr;
  for (const Value& argument : arguments_) {
    base = argument.get_if<Tensor>();
    if (base != nullptr) break;
  }
  if (!is_same) {
    has_results_ = false;
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
  if (is_same && is_known_) quick_.learn_view(arguments_, result);
}

void PreparedCall::run_anything(ops::Context& context, Call& call) {
  has_results_ = false;
  results_.clear();
  std::vector<Value> results = context.interceptor == nullptr
                                   ? ops::execute(context, *site_.op, arguments_)
                                   : context.interceptor->call(context, *site_.op, arguments_);
  if (context.interceptor == nullptr && results.size() == 1) {
    if (site_.asks_description) quick_.learn_answer(arguments_, results[0]);
    if (site_.op->kind == ops::Kind::kInPlace) quick_.learn_in_place(arguments_);
    if (site_.op->kind == ops::Kind::kDecomposition) quick_.learn_alias(arguments_, results[0]);
  }
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
  ops::Body body = site_.op->body(arguments_, results_[0]);
  if (body.views.empty()) body_ = std::move(body);  // they hold memory
}

}  // namespace flambeau::interpreter
