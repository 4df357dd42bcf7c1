// How JSON is broken without ceasing to be JSON, so that what comes behind the parser is reached; see
// mutator.h.
#include <algorithm>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "hostile/mutator.h"

namespace flambeau::hostile {
namespace {

using json::Array;
using json::Member;
using json::Object;
using json::Value;

// What stands somewhere in a tree, with the list or object that holds it; neither for the root.
struct Place {
  Value* value = nullptr;
  Value* holder = nullptr;
  size_t index = 0;
};

size_t child_count(const Value& value) {
  if (value.is_object()) return value.as_object().size();
  return value.is_array() ? value.as_array().size() : 0;
}

Place child(Value& value, size_t index) {
  Value& found = value.is_object() ? value.as_object()[index].second : value.as_array()[index];
  return {&found, &value, index};
}

// Goes down at random; one time in a few it stops early, so that large parts are hit too.
Place pick_place(Value& root, Random& random) {
  Place place = {&root, nullptr, 0};
  while (child_count(*place.value) != 0 && !(place.holder != nullptr && random.one_in(6))) {
    place = child(*place.value, random.below(child_count(*place.value)));
  }
  return place;
}

Value odd_value(Random& random) {
  constexpr int64_t kIntegers[] = {0, 1, -1, 2, 3, 7, 8, 13, 99, 512, 1 << 20, INT64_MAX, INT64_MIN};
  constexpr std::string_view kTexts[] = {"",
                                         "x",
                                         "_0",
                                         "Infinity",
                                         "NaN",
                                         "cpu",
                                         "../x",
                                         "weight_0",
                                         "s0",
                                         "as_tensor",
                                         "Symbol('s0', integer=True)",
                                         "torch.ops.aten.add.Tensor",
                                         "torch.ops.higher_order.cond",
                                         "\xc3\xa9\n"};
  switch (random.below(8)) {
    case 0:
      return nullptr;
    case 1:
      return random.one_in(2);
    case 2:
      return random.pick(kIntegers);
    case 3:
      return static_cast<int64_t>(random.next());
    case 4:
      return 0.5;
    case 5:
      return Value(Array());
    case 6:
      return Value(Object());
    default:
      return random.pick(kTexts);
  }
}

std::string another_key(Value& root, Random& random) {
  constexpr std::string_view kKeys[] = {"as_none", "as_int",   "as_tensor", "as_name",
                                        "as_expr", "as_graph", "later",     "name"};
  const Place place = pick_place(root, random);
  if (place.holder != nullptr && place.holder->is_object() && random.one_in(2))
    return place.holder->as_object()[place.index].first;
  return std::string(random.pick(kKeys));
}

void mutate_once(Value& root, Random& random) {
  const Place place = pick_place(root, random);
  switch (random.below(8)) {
    case 0:
      *place.value = odd_value(random);
      return;
    case 1:
    case 2: {  // what stands elsewhere; a copy first, for one may hold the other
      const Value other = *pick_place(root, random).value;
      *place.value = other;
      return;
    }
    case 3: {  // left out
      if (place.holder == nullptr) return;
      const auto at = static_cast<std::ptrdiff_t>(place.index);
      if (place.holder->is_object()) {
        Object& members = place.holder->as_object();
        members.erase(members.begin() + at);
      } else {
        Array& items = place.holder->as_array();
        items.erase(items.begin() + at);
      }
      return;
    }
    case 4: {  // several times
      if (place.holder == nullptr || !place.holder->is_array()) return;
      const Value copy = *place.value;
      Array& items = place.holder->as_array();
      items.insert(items.end(), 1 + random.below(size_t{1} << random.below(6)), copy);
      return;
    }
    case 5: {  // in another order
      if (place.holder == nullptr) return;
      const size_t other = random.below(child_count(*place.holder));
      if (place.holder->is_object()) {
        std::swap(place.holder->as_object()[place.index], place.holder->as_object()[other]);
      } else {
        std::swap(place.holder->as_array()[place.index], place.holder->as_array()[other]);
      }
      return;
    }
    case 6: {  // under another name, unless that is taken
      if (place.holder == nullptr || !place.holder->is_object()) return;
      std::string key = another_key(root, random);
      if (place.holder->find(key) == nullptr) place.holder->as_object()[place.index].first = std::move(key);
      return;
    }
    default: {  // one more member
      if (!place.value->is_object()) return;
      std::string key = another_key(root, random);
      Value value = random.one_in(2) ? odd_value(random) : *pick_place(root, random).value;
      if (place.value->find(key) == nullptr) place.value->set(std::move(key), std::move(value));
      return;
    }
  }
}

}  // namespace

void mutate_json(Bytes& bytes, Random& random) {
  std::string text;
  try {
    Value root = json::parse(as_text(bytes));
    do {
      mutate_once(root, random);
    } while (random.one_in(2));
    text = json::dump(root);
  } catch (const Error&) {
    return mutate_text(bytes, random);
  }
  bytes.assign(text.begin(), text.end());
}

}  // namespace flambeau::hostile
