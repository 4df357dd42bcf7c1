// Counts what the values of a text take while they are made.
#pragma once

#include <string>
#include <vector>

#include "flambeau/archive/json/json.h"

namespace flambeau::json {

class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits), left_(limits.bytes) {}

  // Room for one more item, as a vector takes it: twice as much at a time. Throws Error(kLimit), as all do.
  template <typename Item>
  void make_room(std::vector<Item>& items) {
    if (items.size() == items.capacity()) reserve(items, items.empty() ? 1 : 2 * items.size());
  }
  template <typename Item>
  void reserve(std::vector<Item>& items, size_t count) {
    const uint64_t before = items.capacity() * sizeof(Item);
    charge(count * sizeof(Item));
    items.reserve(count);
    left_ += before;
  }
  void charge_string(size_t size) {
    constexpr size_t kInPlace = 15;  // shorter ones need no memory of their own
    if (size > limits_.longest_string) fail_string(size);
    if (size > kInPlace) charge(size + 1);
  }

 private:
  void charge(uint64_t bytes) {
    if (bytes > left_) fail();
    left_ -= bytes;
  }
  [[noreturn]] void fail() const;
  [[noreturn]] void fail_string(size_t size) const;

  Limits limits_;
  uint64_t left_;
};

}  // namespace flambeau::json
