#include "flambeau/script/values/boxes.h"

#include <fmt/format.h>

#include <bit>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {
namespace {

// A slot whose key is gone: keys behind it must still be found.
constexpr uint32_t kRemovedPlace = std::numeric_limits<uint32_t>::max();

constexpr uint64_t mixed(uint64_t bits) {
  bits ^= bits >> 33;
  bits *= 0xff51afd7ed558ccdULL;
  bits ^= bits >> 33;
  bits *= 0xc4ceb9fe1a85ec53ULL;
  return bits ^ (bits >> 33);
}

uint64_t hash_of_float(double value) { return mixed(value == 0 ? 0 : std::bit_cast<uint64_t>(value)); }

uint64_t hash_of_box(const IValue& value) { return mixed(reinterpret_cast<uintptr_t>(value.identity())); }

// Compares by value, and gives up on what a few statements can build but no machine can walk through.
class Comparison {
 public:
  bool equal(const IValue& a, const IValue& b) {
    if (a.tag() != b.tag()) return false;
    switch (a.tag()) {
      case IValue::Tag::kNone:
      case IValue::Tag::kUninitialized:
        return true;
      case IValue::Tag::kBool:
        return a.as_bool() == b.as_bool();
      case IValue::Tag::kInt:
        return a.as_int() == b.as_int();
      case IValue::Tag::kFloat:
        return a.as_float() == b.as_float();
      case IValue::Tag::kDevice:
        return a.as_device() == b.as_device();
      case IValue::Tag::kComplex:
        return a.as_complex() == b.as_complex();
      case IValue::Tag::kString:
        return a.identity() == b.identity() || a.as_string() == b.as_string();
      case IValue::Tag::kTuple:
      case IValue::Tag::kList:
        return a.identity() == b.identity() || equal_items(a.items(), b.items());
      case IValue::Tag::kDict:
        return a.identity() == b.identity() || equal_dicts(a.as_dict().items, b.as_dict().items);
      case IValue::Tag::kEnum:
        return a.as_enum().type == b.as_enum().type && a.as_enum().name == b.as_enum().name;
      case IValue::Tag::kNative:
        return a.as_native().object == b.as_native().object;
      case IValue::Tag::kTensor:
      case IValue::Tag::kObject:
      case IValue::Tag::kFuture:
      case IValue::Tag::kSymbolic:
        return a.identity() == b.identity();
    }
    return false;
  }

 private:
  static constexpr int kMostDepth = 256;
  static constexpr size_t kMostSteps = 50'000'000;

  // One level deeper as long as it lives.
  struct Level {
    explicit Level(Comparison& whose) : comparison(whose) {
      if (++comparison.depth_ > kMostDepth)
        throw Error(ErrorCode::kLimit,
                    fmt::format("values nested deeper than {} levels are not compared", kMostDepth));
    }
    ~Level() { --comparison.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Comparison& comparison;
  };

  void count_step() {
    if (++steps_ > kMostSteps)
      throw Error(ErrorCode::kLimit, fmt::format("comparing two values takes over {} steps", kMostSteps));
  }

  bool equal_items(const std::vector<IValue>& a, const std::vector<IValue>& b) {
    if (a.size() != b.size()) return false;
    const Level level(*this);
    for (size_t i = 0; i < a.size(); ++i) {
      count_step();
      if (!equal(a[i], b[i])) return false;
    }
    return true;
  }

  // The order of keys says nothing.
  bool equal_dicts(const DictItems& a, const DictItems& b) {
    if (a.size() != b.size()) return false;
    const Level level(*this);
    size_t place = 0;
    while (const DictItems::Entry* const entry = a.next(place)) {
      count_step();
      const IValue* const other = b.find(entry->key);
      if (other == nullptr || !equal(entry->value, *other)) return false;
      ++place;
    }
    return true;
  }

  int depth_ = 0;
  size_t steps_ = 0;
};

}  // namespace

ObjectBox::ObjectBox(std::shared_ptr<const Class> of)
    : Box(IValue::Tag::kObject), type(std::move(of)), slots(type->attributes.size()) {}

size_t DictItems::slot_of(const IValue& key, uint64_t hash) const {
  const size_t mask = table_.size() - 1;
  size_t slot = mixed(hash ^ seed_) & mask;
  while (table_[slot] != 0) {
    if (table_[slot] != kRemovedPlace && equal_keys(order_[table_[slot] - 1]->key, key)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

IValue* DictItems::find(const IValue& key) {
  const uint64_t hash = hash_of(key);
  if (table_.empty()) return nullptr;
  const uint32_t found = table_[slot_of(key, hash)];
  return found == 0 ? nullptr : &order_[found - 1]->value;
}

void DictItems::set(IValue key, IValue value) {
  const uint64_t hash = hash_of(key);
  if (used_slots_ * 2 >= table_.size()) rebuild();
  const size_t slot = slot_of(key, hash);
  if (table_[slot] != 0) {
    order_[table_[slot] - 1]->value = std::move(value);
    return;
  }
  order_.push_back(Entry{std::move(key), std::move(value)});
  table_[slot] = static_cast<uint32_t>(order_.size());
  ++used_slots_;
}

bool DictItems::remove(const IValue& key) {
  const uint64_t hash = hash_of(key);
  if (table_.empty()) return false;
  const size_t slot = slot_of(key, hash);
  if (table_[slot] == 0) return false;
  const std::optional<Entry> removed = std::exchange(order_[table_[slot] - 1], std::nullopt);
  table_[slot] = kRemovedPlace;
  ++removed_;
  if (removed_ > 16 && removed_ * 2 > order_.size()) rebuild();
  return true;
}

DictItems::Entry DictItems::take_first() {
  while (!order_[first_]) ++first_;
  Entry first = *order_[first_];
  remove(first.key);
  return first;
}

DictItems::Entry DictItems::take_last() {
  while (!order_.back()) {
    order_.pop_back();
    --removed_;
  }
  table_[slot_of(order_.back()->key, hash_of(order_.back()->key))] = kRemovedPlace;
  Entry last = *std::move(order_.back());
  order_.pop_back();
  return last;
}

void DictItems::clear() {
  const std::vector<std::optional<Entry>> removed = std::exchange(order_, {});
  table_.clear();
  removed_ = 0;
  first_ = 0;
  used_slots_ = 0;
}

const DictItems::Entry* DictItems::next(size_t& place) const {
  while (place < order_.size() && !order_[place]) ++place;
  return place < order_.size() ? &*order_[place] : nullptr;
}

std::vector<DictItems::Entry> DictItems::entries() const {
  std::vector<Entry> all;
  all.reserve(size());
  size_t place = 0;
  while (const Entry* const entry = next(place)) {
    all.push_back(*entry);
    ++place;
  }
  return all;
}

void DictItems::rebuild() {
  if (removed_ != 0) {
    std::erase_if(order_, [](const std::optional<Entry>& entry) { return !entry; });
    removed_ = 0;
    first_ = 0;
  }
  if (order_.size() >= std::numeric_limits<uint32_t>::max() / 4)
    throw Error(ErrorCode::kLimit, "a dict holds over a billion keys");
  size_t size = 8;
  while (size < order_.size() * 4) size *= 2;
  table_.assign(size, 0);
  used_slots_ = order_.size();
  seed_ = mixed(reinterpret_cast<uintptr_t>(table_.data()) ^ size);
  for (size_t place = 0; place < order_.size(); ++place) {
    const size_t mask = size - 1;
    size_t slot = mixed(hash_of(order_[place]->key) ^ seed_) & mask;
    while (table_[slot] != 0) slot = (slot + 1) & mask;
    table_[slot] = static_cast<uint32_t>(place + 1);
  }
}

uint64_t hash_of(const IValue& key) {
  switch (key.tag()) {
    case IValue::Tag::kBool:
      return mixed(key.as_bool() ? 1 : 0);
    case IValue::Tag::kInt:
      return mixed(static_cast<uint64_t>(key.as_int()));
    case IValue::Tag::kFloat:
      return hash_of_float(key.as_float());
    case IValue::Tag::kComplex: {
      const std::complex<double> value = key.as_complex();
      return mixed(hash_of_float(value.real()) * 31 + hash_of_float(value.imag()));
    }
    case IValue::Tag::kDevice: {
      const Device device = key.as_device();
      return mixed(static_cast<uint64_t>(device.type) << 16 | static_cast<uint16_t>(device.index));
    }
    case IValue::Tag::kString:
      return std::hash<std::string_view>()(key.as_string());
    case IValue::Tag::kTensor:
      return hash_of_box(key);
    case IValue::Tag::kEnum:
      return std::hash<std::string_view>()(key.as_enum().name);
    default:
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("a value of type {} cannot be the key of a dict", printable(key.kind_name())),
                  "keys are numbers, strings, devices or tensors");
  }
}

bool equal_keys(const IValue& a, const IValue& b) { return Comparison().equal(a, b); }

}  // namespace flambeau::script
