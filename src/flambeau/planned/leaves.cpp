#include "flambeau/planned/leaves.h"

#include <algorithm>
#include <unordered_map>

#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::planned {
namespace {

using Tag = IValue::Tag;

constexpr int kMostNesting = 64;
constexpr size_t kLongestKey = 4096;

void append(std::string& key, int64_t number) {
  key += std::to_string(number);
  key += ',';
}

class LeafCollector {
 public:
  explicit LeafCollector(Leaves& leaves) : leaves_(leaves) {}

  void add(const IValue& value, int depth) {
    if (depth > kMostNesting || leaves_.key.size() > kLongestKey) leaves_.is_plain = false;
    if (!leaves_.is_plain) return;
    std::string& key = leaves_.key;
    append(key, static_cast<int64_t>(value.tag()));
    switch (value.tag()) {
      case Tag::kNone:
        return;
      case Tag::kBool:
        return append(key, value.as_bool() ? 1 : 0);
      case Tag::kInt:
        return append(key, value.as_int());
      case Tag::kFloat: {
        const double number = value.as_float();
        key.append(reinterpret_cast<const char*>(&number), sizeof number);
        return;
      }
      case Tag::kString:
        append(key, static_cast<int64_t>(value.as_string().size()));
        key += value.as_string();
        return;
      case Tag::kDevice:
        key += value.as_device().to_string();
        return;
      case Tag::kTensor:
        return add_tensor(value);
      case Tag::kTuple:
        if (value.as_tuple().named != nullptr) key += value.as_tuple().named->qualified_name();
        return add_items(value.items(), depth);
      case Tag::kList:
        key += value.as_list().element.to_string();
        return add_items(value.items(), depth);
      case Tag::kDict:
        append(key, static_cast<int64_t>(value.as_dict().items.size()));
        for (const script::DictItems::Entry& entry : value.as_dict().items.entries()) {
          add(entry.key, depth + 1);
          add(entry.value, depth + 1);
        }
        return;
      default:
        leaves_.is_plain = false;
    }
  }

 private:
  void add_items(const std::vector<IValue>& items, int depth) {
    append(leaves_.key, static_cast<int64_t>(items.size()));
    for (const IValue& item : items) add(item, depth + 1);
  }

  void add_tensor(const IValue& value) {
    const Tensor& tensor = value.as_tensor();
    if (!tensor.defined() || tensor.layout() != Layout::kStrided || tensor.quantizer() != nullptr ||
        tensor.is_traced()) {
      leaves_.is_plain = false;
      return;
    }
    std::string& key = leaves_.key;
    const auto known = std::ranges::find(leaves_.tensors, value.identity(), &IValue::identity);
    append(key, known - leaves_.tensors.begin());
    if (known != leaves_.tensors.end()) return;
    leaves_.tensors.push_back(value);
    append(key, static_cast<int64_t>(tensor.dtype()));
    key += tensor.device().to_string();
    for (const int64_t size : tensor.sizes()) append(key, size);
    key += '/';
    for (const int64_t stride : tensor.strides()) append(key, stride);
  }

  Leaves& leaves_;
};

class Replacer {
 public:
  explicit Replacer(const std::function<IValue(const IValue&)>& other) : other_(other) {}

  // No deeper than what a LeafCollector has taken.
  IValue replace(const IValue& value) {
    if (!value.is(Tag::kTensor) && !value.is(Tag::kTuple) && !value.is(Tag::kList) && !value.is(Tag::kDict))
      return value;
    if (const auto found = made_.find(value.identity()); found != made_.end()) return found->second;
    IValue made = remade(value);
    made_.emplace(value.identity(), made);
    return made;
  }

 private:
  std::vector<IValue> replaced(const std::vector<IValue>& items) {
    std::vector<IValue> made;
    made.reserve(items.size());
    for (const IValue& item : items) made.push_back(replace(item));
    return made;
  }

  IValue remade(const IValue& value) {
    if (value.is(Tag::kTensor)) return other_(value);
    if (value.is(Tag::kList)) return IValue::list(value.as_list().element, replaced(value.items()));
    if (value.is(Tag::kTuple)) {
      std::vector<IValue> items = replaced(value.items());
      if (value.as_tuple().named != nullptr)
        return IValue::named_tuple(std::move(items), value.as_tuple().named);
      return IValue::tuple(std::move(items));
    }
    IValue dict = IValue::dict(value.as_dict().key, value.as_dict().value);
    for (const script::DictItems::Entry& entry : value.as_dict().items.entries())
      dict.as_dict().items.set(replace(entry.key), replace(entry.value));
    return dict;
  }

  const std::function<IValue(const IValue&)>& other_;
  std::unordered_map<const void*, IValue> made_;
};

}  // namespace

void add_leaves(const IValue& value, Leaves& leaves) { LeafCollector(leaves).add(value, 0); }

IValue with_tensors(const IValue& value, const std::function<IValue(const IValue& tensor)>& other) {
  return Replacer(other).replace(value);
}

}  // namespace flambeau::planned
