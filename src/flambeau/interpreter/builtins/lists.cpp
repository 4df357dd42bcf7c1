// Lists: places, growing and shrinking, what is in them.
#include <algorithm>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"
#include "flambeau/interpreter/builtins/tensors.h"

namespace flambeau::interpreter {
namespace {

using script::ListBox;
using Items = std::vector<IValue>;

size_t place_in(const ListBox& list, int64_t index) {
  const int64_t place = place_of(index, list.items.size());
  if (place < 0 || place >= static_cast<int64_t>(list.items.size()))
    throw Error(ErrorCode::kInvalidArgument, "list index out of range");
  return static_cast<size_t>(place);
}

IValue like(const ListBox& list, Items items) { return IValue::list(list.element, std::move(items)); }

IValue list_copy(ListBox& list) {
  require_room(list.items.size(), sizeof(IValue));
  return like(list, list.items);
}

// Gives the list back, as the one it is.
void list_append(Call& call) {
  ListBox& list = call[0].as_list();
  list.items.push_back(call.take(1));
  call.give(call.take(0));
}

void list_insert(ListBox& list, int64_t index, const IValue& value) {
  const auto size = static_cast<int64_t>(list.items.size());
  const int64_t place = std::clamp<int64_t>(place_of(index, list.items.size()), 0, size);
  list.items.insert(list.items.begin() + place, value);
}

IValue list_pop(ListBox& list, int64_t index) {
  if (list.items.empty()) throw Error(ErrorCode::kInvalidArgument, "pop from empty list");
  const size_t place = place_in(list, index);
  IValue value = std::move(list.items[place]);
  list.items.erase(list.items.begin() + static_cast<std::ptrdiff_t>(place));
  return value;
}

void extend(ListBox& list, const ListBox& by) {
  const size_t count = by.items.size();  // they may be the same list
  require_room(list.items.size() + count, sizeof(IValue));
  list.items.reserve(list.items.size() + count);
  for (size_t i = 0; i < count; ++i) list.items.push_back(by.items[i]);
}

IValue repeated(const ListBox& list, int64_t times) {
  const uint64_t count = times <= 0 ? 0 : static_cast<uint64_t>(times);
  uint64_t total = 0;
  if (__builtin_mul_overflow(list.items.size(), count, &total)) total = UINT64_MAX;
  require_room(total, sizeof(IValue));
  Items items;
  items.reserve(total);
  if (!list.items.empty()) {
    for (uint64_t i = 0; i < count; ++i) items.insert(items.end(), list.items.begin(), list.items.end());
  }
  return like(list, std::move(items));
}

IValue sliced_list(const ListBox& list, std::optional<int64_t> start, std::optional<int64_t> end,
                   int64_t step) {
  const Slice slice = slice_of(list.items.size(), start, end, step);
  require_room(static_cast<uint64_t>(slice.count), sizeof(IValue));
  Items items;
  items.reserve(static_cast<size_t>(slice.count));
  for (int64_t i = 0; i < slice.count; ++i)
    items.push_back(list.items[static_cast<size_t>(slice.start + i * slice.step)]);
  return like(list, std::move(items));
}

// ---- what is in a list
bool is_equal(Call& call, const IValue& a, const IValue& b) {
  if (a.is(IValue::Tag::kTensor)) return all_equal(call, b.as_tensor(), a.as_tensor());
  if (a.is(IValue::Tag::kFloat)) return a.as_float() == float_of(b);
  return script::equal_keys(a, b);
}

std::optional<size_t> find(Call& call, const ListBox& list, const IValue& value) {
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (is_equal(call, list.items[i], value)) return i;
  }
  return {};
}

void list_remove(Call& call, ListBox& list, const IValue& value) {
  const std::optional<size_t> place = find(call, list, value);
  if (!place) throw Error(ErrorCode::kInvalidArgument, "list.remove(x): x not in list");
  list.items.erase(list.items.begin() + static_cast<std::ptrdiff_t>(*place));
}

int64_t index_of(Call& call, ListBox& list, const IValue& value) {
  const std::optional<size_t> place = find(call, list, value);
  if (!place) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not in list", printable(text_of(call, value))));
  }
  return static_cast<int64_t>(*place);
}

int64_t count_in(Call& call, ListBox& list, const IValue& value) {
  return std::count_if(list.items.begin(), list.items.end(),
                       [&](const IValue& item) { return is_equal(call, item, value); });
}

// ---- what a list adds up to
bool is_true(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::kBool:
      return value.as_bool();
    case IValue::Tag::kInt:
      return value.as_int() != 0;
    case IValue::Tag::kString:
      return !value.as_string().empty();
    default:
      return float_of(value) != 0;
  }
}

// In an int of 32 bits: a quirk of PyTorch's.
int64_t sum_of_ints(ListBox& list) {
  uint32_t sum = 0;
  for (const IValue& item : list.items) sum += static_cast<uint32_t>(item.as_int());
  return int64_t{static_cast<int32_t>(sum)};
}

void define_sums(const Definer& define) {
  define({"aten::all.int", "aten::all.float", "aten::all.bool"},
         [](ListBox& list) { return std::ranges::all_of(list.items, is_true); });
  define({"aten::any.int", "aten::any.float", "aten::any.bool", "aten::any.str"},
         [](ListBox& list) { return std::ranges::any_of(list.items, is_true); });
  define("aten::sum.int", sum_of_ints);
  define("aten::sum.bool", [](ListBox& list) { return int64_t{std::ranges::count_if(list.items, is_true)}; });
  define("aten::sum.float", [](ListBox& list) {
    double sum = 0;
    for (const IValue& item : list.items) sum += item.as_float();
    return sum;
  });
  define("aten::sum.complex", [](ListBox& list) {
    Complex sum = 0;
    for (const IValue& item : list.items) sum += item.as_complex();
    return sum;
  });
}

// ---- sizes
std::vector<int64_t> numbers_of(const ListBox& list) {
  std::vector<int64_t> numbers;
  for (const IValue& item : list.items) numbers.push_back(item.as_int());
  return numbers;
}

IValue list_of_ints(const std::vector<int64_t>& numbers) {
  Items items;
  items.reserve(numbers.size());
  for (const int64_t number : numbers) items.emplace_back(number);
  return IValue::list(TypeKind::kInt, std::move(items));
}

IValue broadcast(ListBox& a, ListBox& b) {
  std::vector<int64_t> wide = numbers_of(a), narrow = numbers_of(b);
  if (wide.size() < narrow.size()) std::swap(wide, narrow);
  const size_t shift = wide.size() - narrow.size();
  for (size_t i = 0; i < narrow.size(); ++i) {
    int64_t& size = wide[shift + i];
    if (size == narrow[i] || narrow[i] == 1) continue;
    if (size != 1) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton "
                      "dimension {}",
                      a.items.size() >= b.items.size() ? size : narrow[i],
                      a.items.size() >= b.items.size() ? narrow[i] : size, shift + i));
    }
    size = narrow[i];
  }
  return list_of_ints(wide);
}

IValue reduced(ListBox& sizes, ListBox& axes, bool keep) {
  std::vector<int64_t> numbers = numbers_of(sizes);
  std::vector<int64_t> places = numbers_of(axes);
  std::sort(places.begin(), places.end(), std::greater<>());
  for (const int64_t place : places) {
    if (place < 0 || place >= static_cast<int64_t>(numbers.size()))
      throw Error(ErrorCode::kInvalidArgument, "list index out of range");
    if (keep) {
      numbers[static_cast<size_t>(place)] = 1;
    } else {
      numbers.erase(numbers.begin() + place);
    }
  }
  return list_of_ints(numbers);
}

void define_sizes(const Definer& define) {
  define({"aten::_infer_size", "aten::broadcast_shapes"}, broadcast);
  define("aten::_size_if_not_equal", [](Call& call, ListBox& a, ListBox& b) {
    return numbers_of(a) == numbers_of(b) ? IValue() : call[0];
  });
  define("aten::Size", [](const IValue& list) { return list; });
  define("prim::ReductionSizes", reduced);
  define("prim::rangelist", [](int64_t count) {
    require_room(static_cast<uint64_t>(std::max<int64_t>(count, 0)), sizeof(IValue));
    Items items;
    for (int64_t i = 0; i < count; ++i) items.emplace_back(i);
    return IValue::list(TypeKind::kInt, std::move(items));
  });
}

}  // namespace

void define_lists(Builtins& builtins) {
  const Definer define(builtins);
  define({"aten::__getitem__.t", "aten::select.t"},
         [](ListBox& list, int64_t index) { return list.items[place_in(list, index)]; });
  define("aten::_set_item.t", [](Call& call) {
    ListBox& list = call[0].as_list();
    IValue& place = list.items[place_in(list, call[1].as_int())];
    place = call.take(2);
    call.give(call.take(0));
  });
  define("aten::append.t", list_append);
  define("aten::insert.t", list_insert);
  define("aten::pop.t", list_pop);
  define("aten::Delete.t", [](ListBox& list, int64_t index) {
    if (list.items.empty()) throw Error(ErrorCode::kInvalidArgument, "pop index out of range");
    list_pop(list, index);
  });
  define("aten::extend.t", [](ListBox& list, ListBox& by) { extend(list, by); });
  define("aten::clear.t", [](ListBox& list) { list.items.clear(); });
  define("aten::reverse.t", [](ListBox& list) { std::reverse(list.items.begin(), list.items.end()); });
  define({"aten::copy.t", "aten::list.t"}, list_copy);
  define("aten::add.t", [](ListBox& a, ListBox& b) {
    IValue sum = list_copy(a);
    extend(sum.as_list(), b);
    return sum;
  });
  define("aten::add_.t", [](Call& call, ListBox& a, ListBox& b) {
    extend(a, b);
    return call[0];
  });
  define("aten::mul.left_t", [](ListBox& list, int64_t times) { return repeated(list, times); });
  define("aten::mul.right_", [](int64_t times, ListBox& list) { return repeated(list, times); });
  define("aten::mul_.t", [](Call& call, ListBox& list, int64_t times) {
    list.items = std::move(repeated(list, times).items());
    return call[0];
  });
  define("aten::slice.t", [](ListBox& list, std::optional<int64_t> start, std::optional<int64_t> end,
                             int64_t step) { return sliced_list(list, start, end, step); });
  define("aten::len.t", [](ListBox& list) { return static_cast<int64_t>(list.items.size()); });
  define("aten::len.any", [](const IValue& list) { return static_cast<int64_t>(list.items().size()); });
  for (const char* const kind : {"int", "float", "bool", "Tensor", "str"}) {
    define(std::string("aten::remove.") + kind, list_remove);
    define(std::string("aten::index.list_") + kind, index_of);
    define(std::string("aten::count.") + kind, count_in);
  }
  define({"aten::__contains__.int_list", "aten::__contains__.float_list", "aten::__contains__.str_list"},
         [](Call& call, ListBox& list, const IValue& value) { return find(call, list, value).has_value(); });
  define_sums(define);
  define_sizes(define);
}

}  // namespace flambeau::interpreter
