#include "flambeau/interpreter/quick_call.h"

#include <algorithm>
#include <bit>

#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/operators.h"
#include "flambeau/interpreter/same_description.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/overlap.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/ops/mechanism/sparse_calls.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

bool is_list_of(const std::vector<IValue>& items, std::span<const int64_t> numbers) {
  return std::ranges::equal(items, numbers, [](const IValue& item, int64_t number) {
    return item.is(Tag::kInt) && item.as_int() == number;
  });
}

// Whether an operator would do with it what it did with the known value.
bool is_as_known(const IValue& given, const Value& known) {
  switch (given.tag()) {
    case Tag::kTensor: {
      const Tensor* const tensor = known.get_if<Tensor>();
      return tensor != nullptr && is_described_as(given.as_tensor(), *tensor);
    }
    case Tag::kNone:
      return known.is_none();
    case Tag::kBool: {
      const bool* const flag = known.get_if<bool>();
      return flag != nullptr && *flag == given.as_bool();
    }
    case Tag::kInt: {
      const int64_t* const number = known.get_if<int64_t>();
      return number != nullptr && *number == given.as_int();
    }
    case Tag::kFloat: {
      const double* const number = known.get_if<double>();
      return number != nullptr &&
             std::bit_cast<uint64_t>(*number) == std::bit_cast<uint64_t>(given.as_float());
    }
    case Tag::kList: {
      const Dims* const numbers = known.get_if<Dims>();
      return numbers != nullptr && is_list_of(given.items(), *numbers);
    }
    default:
      return false;
  }
}

// The elements of all lie in the same order, each beside the next.
bool lies_as(const Tensor& tensor, const Tensor& out) {
  return tensor.element_count() == out.element_count() && tensor.sizes() == out.sizes() &&
         tensor.is_contiguous();
}

// The loop over all elements at once that a body is for such a result; null where it takes more than that.
ops::Row flat_row(const ops::Body& body, const Tensor& out) {
  const std::span<const ops::Input> inputs = body.inputs();
  if (body.rows.plain == nullptr || body.row != out.dtype() || !out.is_contiguous() ||
      out.element_count() > std::max<int64_t>(ops::kGrain / std::max(body.cost, 1), 256))
    return nullptr;
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
  if (!std::ranges::all_of(inputs, is_read)) return nullptr;
  if (std::ranges::all_of(inputs, is_array)) return body.rows.plain;
  if (inputs.size() == 2 && is_array(inputs[0]) && is_one(inputs[1])) return body.rows.second_is_one;
  if (inputs.size() == 2 && is_one(inputs[0]) && is_array(inputs[1])) return body.rows.first_is_one;
  return nullptr;
}

}  // namespace

bool QuickCall::learn_arguments(std::span<const Value> arguments) {
  forget();
  given_.clear();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (site_.arguments[i].constant) continue;
    const Tensor* const tensor = arguments[i].get_if<Tensor>();
    if (tensor != nullptr && (!is_ordinary(*tensor) || tensor->is_meta())) return false;
    given_.push_back({.index = i, .known = &arguments[i]});
  }
  return true;
}

bool QuickCall::learn_row(std::span<const Value> arguments, const ops::Body& body, const Tensor& out) {
  row_ = flat_row(body, out);
  if (row_ == nullptr || out.element_count() == 0 || !body.views.empty() || !learn_arguments(arguments))
    return false;
  body_ = body;
  count_ = static_cast<size_t>(out.element_count());
  source_count_ = 0;
  for (const ops::Input& input : body_.inputs()) {
    Source& source = sources_[source_count_++];
    source = {.argument = 0, .number = input.number.data()};
    if (input.tensor == nullptr) continue;
    const auto place =
        std::ranges::find(arguments, input.tensor, [](const Value& value) { return value.get_if<Tensor>(); });
    if (place == arguments.end()) return false;
    source = {.argument = static_cast<size_t>(place - arguments.begin()), .number = nullptr};
    // A tensor that is a constant has its memory there, not in the call.
    if (site_.arguments[source.argument].constant) return false;
  }
  return true;
}

void QuickCall::learn_body(std::span<const Value> arguments, const ops::Body& body, const Tensor& result,
                           size_t bytes) {
  if (bytes > kMostSpareBytes || site_.results.size() != 1 || !learn_row(arguments, body, result)) return;
  result_ = result;
  result_.set_storage(nullptr, 0);
  bytes_ = bytes;
  kind_ = Kind::kBody;
}

void QuickCall::learn_in_place(std::span<const Value> arguments) {
  forget();
  const ops::Operator& base = *site_.op->base;
  if (base.kind != ops::Kind::kKernel || base.body == nullptr || site_.results.size() != 1 ||
      site_.results[0].same_as != size_t{0} || site_.arguments[0].constant || ops::has_sparse(arguments) ||
      ops::takes_quantized(arguments))
    return;
  const Tensor* const self = arguments[0].get_if<Tensor>();
  if (self == nullptr || !is_ordinary(*self) || self->is_meta() || self->element_count() > ops::kGrain ||
      ops::has_internal_overlap(*self))
    return;
  const ops::Infos<Size> infos = base.shape(arguments);
  if (infos.size() != 1 || infos[0].dtype != self->dtype() || !(infos[0].sizes == self->sizes())) return;
  const ops::Body body = base.body(arguments, *self);
  if (learn_row(arguments, body, *self)) kind_ = Kind::kInPlace;
}

void QuickCall::learn_view(std::span<const Value> arguments, const Tensor& result) {
  if (site_.results.size() != 1 || !learn_arguments(arguments)) return;
  for (base_ = 0; base_ < arguments.size() && !arguments[base_].is_tensor();) ++base_;
  if (base_ == arguments.size() || site_.arguments[base_].constant) return;
  result_ = result;
  result_.set_storage(nullptr, result.offset());
  bytes_ = static_cast<size_t>(arguments[base_].tensor().offset());
  kind_ = Kind::kView;
}

void QuickCall::learn_alias(std::span<const Value> arguments, const Value& result) {
  const Schema& schema = site_.entry->schema;
  const Tensor* const view = result.get_if<Tensor>();
  if (view == nullptr || schema.returns.size() != 1 || !schema.returns[0].alias ||
      schema.returns[0].alias->is_write || !is_ordinary(*view) || view->is_wrapped_number())
    return;
  const Tensor* base = nullptr;
  for (const Value& argument : arguments) {
    if (argument.is<TensorList>() || (base != nullptr && argument.is_tensor())) return;
    if (argument.is_tensor()) base = argument.get_if<Tensor>();
  }
  if (base != nullptr && base->storage() != nullptr && base->storage() == view->storage())
    learn_view(arguments, *view);
}

void QuickCall::learn_answer(std::span<const Value> arguments, const Value& result) {
  const bool is_number = result.is<int64_t>() || result.is<bool>();
  if (!is_number || site_.results.size() != 1 || !learn_arguments(arguments)) return;
  answer_ = to_ivalue(result);
  kind_ = Kind::kAnswer;
}

// What is read is other memory than what is written, or element by element the same.
bool QuickCall::is_apart(const Call& call) const {
  const Tensor& self = call[0].as_tensor();
  return std::ranges::all_of(given_, [&](const Given& given) {
    if (given.index == 0 || !call[given.index].is(Tag::kTensor)) return true;
    const Tensor& read = call[given.index].as_tensor();
    return read.storage() != self.storage() ||
           (read.offset() == self.offset() && is_described_as(read, self));
  });
}

void QuickCall::run_row(const Call& call, void* to) const {
  std::array<const void*, ops::Body::kMostInputs> in{};
  for (size_t i = 0; i < source_count_; ++i) {
    in[i] = sources_[i].number != nullptr
                ? sources_[i].number
                : static_cast<const void*>(call[sources_[i].argument].as_tensor().data());
  }
  row_(in.data(), &to, count_, body_.parameters.data());
}

bool QuickCall::run(ops::Context& context, Call& call) {
  for (const Given& given : given_) {
    if (!is_as_known(call[given.index], *given.known)) return false;
  }
  const auto run_known = [&] {
    switch (kind_) {
      case Kind::kNone:
        return false;
      case Kind::kBody: {
        context.step();
        IValue result = spares_.take(context, result_, bytes_);
        run_row(call, result.as_tensor().mutable_data());
        call.give(std::move(result));
        return true;
      }
      case Kind::kInPlace: {
        if (!is_apart(call)) return false;
        context.step();
        run_row(call, call[0].as_tensor().mutable_data());
        call.give(call[0]);
        return true;
      }
      case Kind::kAnswer:
        context.step();
        call.give(answer_);
        return true;
      case Kind::kView: {
        const Tensor& base = call[base_].as_tensor();
        if (base.offset() != static_cast<int64_t>(bytes_)) return false;
        context.step();
        IValue result = IValue::adopt(new script::TensorBox(result_));
        result.tensor_box().tensor.set_storage(base.storage(), result_.offset());
        call.give(std::move(result));
        return true;
      }
    }
    return false;
  };
  return ops::at_operator([&] { return site_.op->name(); }, run_known);
}

}  // namespace flambeau::interpreter
