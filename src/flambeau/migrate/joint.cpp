#include "flambeau/migrate/joint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/script/unit.h"
#include "flambeau/trace/fake.h"

namespace flambeau::migration {
namespace {

using Tag = IValue::Tag;

bool is_number_made_of(const IValue& value, bool is_bool) {
  if (!value.is(Tag::kSymbolic)) return false;
  const Tensor* const tensor = value.as_symbolic().get_if<Tensor>();
  return tensor != nullptr && (tensor->dtype() == DType::kBool) == is_bool;
}

bool is_boolish(const IValue& value) { return value.is(Tag::kBool) || is_data_bool(value); }
bool is_intish(const IValue& value) { return value.is(Tag::kInt) || is_data_int(value); }
bool is_floatish(const IValue& value) { return value.is(Tag::kFloat) || is_data_float(value); }

bool is_same(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  switch (a.tag()) {
    case Tag::kNone:
    case Tag::kUninitialized:
      return true;
    case Tag::kBool:
      return a.as_bool() == b.as_bool();
    case Tag::kInt:
      return a.as_int() == b.as_int();
    case Tag::kFloat: {
      const double left = a.as_float();
      const double right = b.as_float();
      return std::memcmp(&left, &right, sizeof left) == 0;
    }
    case Tag::kDevice:
      return a.as_device() == b.as_device();
    case Tag::kString:
      return a.as_string() == b.as_string();
    case Tag::kComplex:
      return a.as_complex() == b.as_complex();
    case Tag::kTensor:
      return a.identity() == b.identity() ||
             (a.as_tensor().defined() && b.as_tensor().defined() &&
              a.as_tensor().storage() == b.as_tensor().storage() && a.as_tensor().symbol() == nullptr &&
              b.as_tensor().symbol() == nullptr && nn::is_same_tensor(a.as_tensor(), b.as_tensor()));
    case Tag::kSymbolic: {
      const SymInt* const left = a.as_symbolic().get_if<SymInt>();
      const SymInt* const right = b.as_symbolic().get_if<SymInt>();
      if (left != nullptr && right != nullptr) return left->expr() == right->expr();
      const Tensor* const first = a.as_symbolic().get_if<Tensor>();
      const Tensor* const second = b.as_symbolic().get_if<Tensor>();
      return first != nullptr && second != nullptr && first->storage() == second->storage();
    }
    default:
      return a.identity() == b.identity();
  }
}

// What containers hold, in order; nothing for anything else.
std::optional<std::vector<IValue>> items_of(const IValue& value) {
  switch (value.tag()) {
    case Tag::kTuple:
    case Tag::kList:
      return value.items();
    case Tag::kDict: {
      std::vector<IValue> items;
      for (const auto& entry : value.as_dict().items.entries()) items.push_back(entry.value);
      return items;
    }
    case Tag::kObject:
      if (value.as_object().type->is_module()) return {};
      return value.as_object().slots;
    default:
      return {};
  }
}

Joint::Kind container_kind(const IValue& value) {
  switch (value.tag()) {
    case Tag::kTuple:
      return Joint::Kind::kTuple;
    case Tag::kList:
      return Joint::Kind::kList;
    case Tag::kDict:
      return Joint::Kind::kDict;
    default:
      return Joint::Kind::kObject;
  }
}

bool has_same_form(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  if (a.is(Tag::kObject)) return a.as_object().type == b.as_object().type;
  if (!a.is(Tag::kDict)) return items_of(a)->size() == items_of(b)->size();
  const auto left = a.as_dict().items.entries();
  const auto right = b.as_dict().items.entries();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto& x, const auto& y) { return is_same(x.key, y.key); });
}

[[noreturn]] void fail_join(const IValue& a, const IValue& b) {
  std::string remedy = "let both give tensors of one type";
  if (a.is_none() || b.is_none()) {
    remedy = "give a tensor on both ways, such as zeros for None, and a flag beside it";
  } else if (a.is(Tag::kString) || b.is(Tag::kString)) {
    remedy = "a program has no texts: give a number or a tensor";
  } else if ((a.is(Tag::kList) && b.is(Tag::kList)) || (a.is(Tag::kDict) && b.is(Tag::kDict))) {
    remedy = "let both have the same length and keys";
  } else if ((is_intish(a) && is_floatish(b)) || (is_floatish(a) && is_intish(b))) {
    remedy = "let both be a float, or both an int";
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("it is {} on one way and {} on another", said_of(a), said_of(b)),
              std::move(remedy));
}

Tensor made_scalar(const Value& number, DType dtype) {
  return ops::call_with<Tensor>(nn::current(), "aten::scalar_tensor", {number}, {{"dtype", dtype}});
}

Tensor unshared(const Tensor& tensor, bool copies, const TensorList& leaves) {
  bool is_shared =
      std::ranges::any_of(leaves, [&](const Tensor& other) { return other.storage() == tensor.storage(); });
  if (copies && !is_shared) {
    nn::Observer* const observer = nn::observer();
    nn::ControlFlow* const flow = observer == nullptr ? nullptr : observer->control_flow();
    is_shared = flow != nullptr && flow->is_from_outside(tensor);
  }
  return is_shared ? ops::call<Tensor>(nn::current(), "aten::clone", tensor) : tensor;
}

Tensor of_type(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  return ops::call_with<Tensor>(nn::current(), "aten::to.dtype", {tensor, dtype}, {});
}

DType type_of_kind(Joint::Kind kind) {
  if (kind == Joint::Kind::kBool) return DType::kBool;
  return kind == Joint::Kind::kInt ? DType::kInt64 : DType::kFloat64;
}

}  // namespace

bool is_data_bool(const IValue& value) { return is_number_made_of(value, true); }
bool is_data_float(const IValue& value) { return is_number_made_of(value, false); }
bool is_data_int(const IValue& value) { return value.is(Tag::kSymbolic) && value.as_symbolic().is<SymInt>(); }

std::string said_of(const IValue& value) {
  if (value.is_none()) return "None";
  if (value.is(Tag::kTensor)) {
    return value.as_tensor().defined() ? "a tensor " + value.as_tensor().summary() : "no tensor";
  }
  if (value.is(Tag::kBool)) return value.as_bool() ? "True" : "False";
  if (value.is(Tag::kInt)) return fmt::format("the int {}", value.as_int());
  if (value.is(Tag::kFloat)) return fmt::format("the float {}", value.as_float());
  if (value.is(Tag::kString)) return fmt::format("the text '{}'", printable(value.as_string(), 40));
  if (is_data_bool(value)) return "a bool";
  if (is_data_float(value)) return "a float";
  if (is_data_int(value)) return "an int";
  if (value.is(Tag::kDict)) return fmt::format("a dict of {}", value.as_dict().items.size());
  if (const auto items = items_of(value); items && !value.is(Tag::kObject))
    return fmt::format("a {} of {}", value.is(Tag::kList) ? "list" : "tuple", items->size());
  return printable(value.kind_name());
}

// A value of its own on one way: its tensors are made there.
void Joint::open(const IValue& value) {
  example_ = value;
  if (value.is(Tag::kTensor)) {
    if (!value.as_tensor().defined()) return;
    kind_ = Kind::kTensor;
    info_ = ops::symbolic_info(value.as_tensor());
  } else if (is_data_bool(value)) {
    kind_ = Kind::kBool;
  } else if (is_data_int(value)) {
    kind_ = Kind::kInt;
  } else if (is_data_float(value)) {
    kind_ = Kind::kFloat;
  } else if (const auto items = items_of(value)) {
    kind_ = container_kind(value);
    for (const IValue& item : *items) items_.emplace_back(IValue()).open(item);
  }
}

void Joint::join_items(std::span<const IValue> items) {
  for (size_t i = 0; i < items_.size(); ++i) items_[i].join(items[i]);
}

void Joint::join(const IValue& value) {
  if (kind_ != Kind::kConstant) {
    if (value.is(Tag::kUninitialized)) return;
    bool fits = false;
    switch (kind_) {
      case Kind::kTensor:
        fits = value.is(Tag::kTensor) && value.as_tensor().defined();
        break;
      case Kind::kBool:
        fits = is_boolish(value);
        break;
      case Kind::kInt:
        fits = is_intish(value);
        break;
      case Kind::kFloat:
        fits = is_floatish(value);
        break;
      default:
        fits = has_same_form(example_, value);
        if (fits) join_items(*items_of(value));
        break;
    }
    if (!fits) fail_join(example_, value);
    return;
  }
  const bool is_empty = example_.is(Tag::kUninitialized);
  if (is_empty && value.is(Tag::kUninitialized)) return;
  if (is_empty) return open(value);
  if (value.is(Tag::kUninitialized)) return open(IValue(example_));
  if (is_same(example_, value)) return;
  const bool are_tensors = example_.is(Tag::kTensor) && value.is(Tag::kTensor) &&
                           example_.as_tensor().defined() && value.as_tensor().defined();
  if (are_tensors) {
    kind_ = Kind::kTensor;
    info_ = ops::symbolic_info(example_.as_tensor());
  } else if (is_boolish(example_) && is_boolish(value)) {
    kind_ = Kind::kBool;
  } else if (is_intish(example_) && is_intish(value)) {
    kind_ = Kind::kInt;
  } else if (is_floatish(example_) && is_floatish(value)) {
    kind_ = Kind::kFloat;
  } else if (const auto items = items_of(example_); items && has_same_form(example_, value)) {
    kind_ = container_kind(example_);
    for (const IValue& item : *items) items_.emplace_back(item);
    join_items(*items_of(value));
  } else {
    fail_join(example_, value);
  }
}

bool Joint::operator==(const Joint& other) const {
  return kind_ == other.kind_ && items_ == other.items_ &&
         (kind_ != Kind::kConstant || is_same(example_, other.example_));
}

size_t Joint::leaf_count() const {
  if (kind_ == Kind::kConstant) return 0;
  if (kind_ < Kind::kTuple) return 1;
  size_t count = 0;
  for (const Joint& item : items_) count += item.leaf_count();
  return count;
}

void Joint::add_leaves(const IValue& value, bool copies, TensorList& leaves) const {
  const bool is_empty = value.is(Tag::kUninitialized);
  switch (kind_) {
    case Kind::kConstant:
      return;
    case Kind::kTensor: {
      if (!is_empty) return leaves.push_back(unshared(value.as_tensor(), copies, leaves));
      // Nobody reads it.
      SymIntList sizes;
      for (const SymInt& size : info_->sizes) {
        const bool is_known =
            size.is_literal() ||
            std::ranges::none_of(symbolic::free_symbols(size.expr()),
                                 [](const symbolic::Expr& symbol) { return symbol.name().starts_with('u'); });
        sizes.push_back(is_known ? size : SymInt(0));
      }
      return leaves.push_back(
          ops::call_with<Tensor>(nn::current(), "aten::zeros", {sizes}, {{"dtype", info_->dtype}}));
    }
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat: {
      const DType dtype = type_of_kind(kind_);
      if (is_empty) return leaves.push_back(made_scalar(int64_t{0}, dtype));
      if (const Tensor* const tensor =
              value.is(Tag::kSymbolic) ? value.as_symbolic().get_if<Tensor>() : nullptr) {
        return leaves.push_back(unshared(of_type(*tensor, dtype), copies, leaves));
      }
      return leaves.push_back(made_scalar(interpreter::to_value(value), dtype));
    }
    default: {
      const std::optional<std::vector<IValue>> items = is_empty ? std::nullopt : items_of(value);
      for (size_t i = 0; i < items_.size(); ++i)
        items_[i].add_leaves(items ? items->at(i) : IValue::uninitialized(), copies, leaves);
    }
  }
}

void Joint::add_pretended(const IValue& value, TensorList& leaves) const {
  switch (kind_) {
    case Kind::kConstant:
      return;
    case Kind::kTensor:
      leaves.push_back(
          trace::make_fake(value.is(Tag::kTensor) ? ops::symbolic_info(value.as_tensor()) : *info_));
      return;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      leaves.push_back(trace::make_fake(ops::contiguous<SymInt>(type_of_kind(kind_), {})));
      return;
    default: {
      const std::optional<std::vector<IValue>> items =
          value.is(Tag::kUninitialized) ? std::nullopt : items_of(value);
      for (size_t i = 0; i < items_.size(); ++i)
        items_[i].add_pretended(items ? items->at(i) : IValue::uninitialized(), leaves);
    }
  }
}

IValue Joint::value(std::span<const Value>& leaves) const {
  const auto take = [&] {
    const Tensor tensor = leaves.front().tensor();
    leaves = leaves.subspan(1);
    return tensor;
  };
  switch (kind_) {
    case Kind::kConstant:
      return example_;
    case Kind::kTensor:
      return take();
    case Kind::kBool:
    case Kind::kFloat:
      return IValue::symbolic(take());
    case Kind::kInt: {
      const Value arguments[] = {take()};
      return interpreter::to_ivalue(ops::call_named(nn::current(), "aten::item", arguments).at(0));
    }
    default:
      break;
  }
  std::vector<IValue> items;
  for (const Joint& item : items_) items.push_back(item.value(leaves));
  if (kind_ == Kind::kTuple) {
    const std::shared_ptr<const script::Class>& named = example_.as_tuple().named;
    return named == nullptr ? IValue::tuple(std::move(items)) : IValue::named_tuple(std::move(items), named);
  }
  if (kind_ == Kind::kList) return IValue::list(example_.as_list().element, std::move(items));
  if (kind_ == Kind::kObject) {
    IValue object = IValue::object(example_.as_object().type);
    object.as_object().slots = std::move(items);
    return object;
  }
  IValue dict = IValue::dict(example_.as_dict().key, example_.as_dict().value);
  const auto entries = example_.as_dict().items.entries();
  for (size_t i = 0; i < entries.size(); ++i) dict.as_dict().items.set(entries[i].key, std::move(items[i]));
  return dict;
}

}  // namespace flambeau::migration
