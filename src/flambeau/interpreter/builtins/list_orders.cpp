// Lists in order, and their least and greatest.
#include <algorithm>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"
#include "flambeau/interpreter/builtins/tensors.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"

namespace flambeau::interpreter {
namespace {

using script::ListBox;
using Tag = IValue::Tag;

bool is_before(Call& call, const IValue& a, const IValue& b);

[[noreturn]] void fail_order(const IValue& value) {
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("Contained elements in {} are not sortable. Only Int, Bool, Float, String, Tensor, a User "
                  "Defined Class with __lt__ method defined or Tuples of aforementioned types can be sorted.",
                  printable(script::runtime_type(value).to_string())));
}

bool is_tensor_before(Call& call, const Tensor& a, const Tensor& b) {
  const Value arguments[] = {a, b};
  return truth_of(call_tensor(call, "aten::lt.Tensor", arguments));
}

bool is_tuple_before(Call& call, const std::vector<IValue>& a, const std::vector<IValue>& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (is_before(call, a[i], b[i])) return true;
    if (is_before(call, b[i], a[i])) return false;
  }
  return a.size() < b.size();
}

bool is_before(Call& call, const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Only values of same type can be compared. Found {} and {}",
                            printable(a.kind_name()), printable(b.kind_name())));
  }
  switch (a.tag()) {
    case Tag::kInt:
      return a.as_int() < b.as_int();
    case Tag::kFloat:
      return a.as_float() < b.as_float();
    case Tag::kBool:
      return !a.as_bool() && b.as_bool();
    case Tag::kString:
      return a.as_string() < b.as_string();
    case Tag::kTensor:
      return a.identity() != b.identity() && is_tensor_before(call, a.as_tensor(), b.as_tensor());
    case Tag::kTuple:
      return is_tuple_before(call, a.items(), b.items());
    case Tag::kObject:
      return call.machine().call_inside(a, "__lt__", {b}).as_bool();
    default:
      fail_order(a);
  }
}

// A sort of our own making: comparisons may be a script's, and need not be consistent, which std::sort would
// not survive. Merging; what is equal stays in its order.
void sort_items(Call& call, std::vector<IValue>& items, bool reverse) {
  WorkPoller poll;
  const auto before = [&](const IValue& a, const IValue& b) {
    poll();
    return reverse ? is_before(call, b, a) : is_before(call, a, b);
  };
  // The list may change while a script's __lt__ runs: it is sorted apart.
  require_room(items.size(), 2 * sizeof(IValue));
  std::vector<IValue> from = items, to(items.size());
  for (size_t width = 1; width < from.size(); width *= 2) {
    for (size_t begin = 0; begin < from.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, from.size()),
                   end = std::min(begin + 2 * width, from.size());
      size_t left = begin, right = middle;
      for (size_t at = begin; at < end; ++at) {
        const bool takes_right = left == middle || (right != end && before(from[right], from[left]));
        to[at] = std::move(takes_right ? from[right++] : from[left++]);
      }
    }
    from.swap(to);
  }
  items = std::move(from);
}

// Of lists whose elements only their values tell: all must be of one type, and that one must have an order.
bool has_order(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kInt:
    case TypeKind::kFloat:
    case TypeKind::kBool:
    case TypeKind::kString:
    case TypeKind::kTensor:
    case TypeKind::kClass:
      return true;
    case TypeKind::kTuple:
      return std::ranges::all_of(type.elements(), has_order);
    default:
      return false;
  }
}
void check_order(const std::vector<IValue>& items) {
  if (items.empty()) return;
  const Type type = script::runtime_type(items[0]);
  for (const IValue& item : items) {
    if (const Type other = script::runtime_type(item); !(other == type)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("Only values of same type can be compared. Found {} and {}",
                      printable(script::annotation_text(type)), printable(script::annotation_text(other))));
    }
  }
  if (!has_order(type)) fail_order(items[0]);
}

// ---- the least and the greatest
template <bool kLeast>
const IValue& extreme(ListBox& list) {
  if (list.items.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                kLeast ? "min() arg is an empty sequence" : "max() arg is an empty sequence");
  }
  const IValue* found = &list.items[0];
  for (const IValue& item : list.items) {
    const double a = item.is(Tag::kFloat) ? item.as_float() : 0,
                 b = found->is(Tag::kFloat) ? found->as_float() : 0;
    bool is_better = false;
    if (item.is(Tag::kFloat)) is_better = kLeast ? a < b : a > b;
    if (item.is(Tag::kInt))
      is_better = kLeast ? item.as_int() < found->as_int() : item.as_int() > found->as_int();
    if (item.is(Tag::kBool))
      is_better = kLeast ? !item.as_bool() && found->as_bool() : item.as_bool() && !found->as_bool();
    if (is_better) found = &item;
  }
  return *found;
}

// The list that comes first in the order of words.
template <bool kLeast>
IValue extreme_list(Call& call) {
  const std::vector<IValue>& a = call[0].items();
  const std::vector<IValue>& b = call[1].items();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto number = [](const IValue& value) {
      return value.is(Tag::kBool) ? IValue(int64_t{value.as_bool()}) : value;
    };
    const IValue x = number(a[i]), y = number(b[i]);
    const bool is_less = x.is(Tag::kInt) ? x.as_int() < y.as_int() : x.as_float() < y.as_float();
    const bool is_same = x.is(Tag::kInt) ? x.as_int() == y.as_int() : x.as_float() == y.as_float();
    const bool is_greater = x.is(Tag::kInt) ? x.as_int() > y.as_int() : x.as_float() > y.as_float();
    if (!is_same) return (kLeast ? is_less : is_greater) ? call[0] : call[1];
  }
  return (kLeast ? a.size() < b.size() : a.size() > b.size()) ? call[0] : call[1];
}

}  // namespace

void define_list_orders(Builtins& builtins) {
  const Definer define(builtins);
  for (const char* const kind : {"int", "float", "bool", "str", "Tensor", "any"}) {
    define(std::string("aten::sort.") + kind, [](Call& call, ListBox& list, bool reverse) {
      check_order(list.items);
      sort_items(call, list.items, reverse);
    });
    define(std::string("aten::sorted.") + kind, [](Call& call, ListBox& list) {
      check_order(list.items);
      IValue copy = IValue::list(list.element, list.items);
      sort_items(call, copy.as_list().items, false);
      return copy;
    });
  }
  for (const char* const kind : {"int", "float", "bool"}) {
    define(std::string("prim::min.self_") + kind, [](ListBox& list) { return extreme<true>(list); });
    define(std::string("prim::max.self_") + kind, [](ListBox& list) { return extreme<false>(list); });
    define(std::string("prim::min.") + kind + "_list", extreme_list<true>);
    define(std::string("prim::max.") + kind + "_list", extreme_list<false>);
  }
}

}  // namespace flambeau::interpreter
