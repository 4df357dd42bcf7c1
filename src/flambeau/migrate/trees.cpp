#include "flambeau/migrate/trees.h"

#include <fmt/format.h>

#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/tensor/elements/dequantize.h"

namespace flambeau::migration {
namespace {

using Tag = IValue::Tag;

[[noreturn]] void fail_kind(const IValue& value) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("an exported program cannot take or give {}", printable(value.kind_name())),
              "give tensors, numbers, texts, and tuples, lists and dicts of them");
}

nn::Tree dict_tree(const script::DictItems& items, int depth);

nn::Tree tree_within(const IValue& value, int depth) {
  if (depth > kMostTreeDepth) throw Error(ErrorCode::kLimit, "a value is nested too deep");
  switch (value.tag()) {
    case Tag::kNone:
    case Tag::kBool:
    case Tag::kInt:
    case Tag::kFloat:
    case Tag::kTensor:
    case Tag::kString:
    case Tag::kComplex:
    case Tag::kDevice:
    case Tag::kSymbolic:
      return nn::Tree::leaf(interpreter::to_value(value));
    case Tag::kTuple:
    case Tag::kList: {
      std::vector<nn::Tree> children;
      for (const IValue& item : value.items()) children.push_back(tree_within(item, depth + 1));
      return value.is(Tag::kTuple) ? nn::Tree::tuple(children) : nn::Tree::list(children);
    }
    case Tag::kDict:
      return dict_tree(value.as_dict().items, depth);
    default:
      fail_kind(value);
  }
}

nn::Tree dict_tree(const script::DictItems& items, int depth) {
  json::Array keys;
  std::vector<TreeSpec> specs;
  std::vector<Value> leaves;
  for (const script::DictItems::Entry& entry : items.entries()) {
    if (entry.key.is(Tag::kString)) {
      keys.emplace_back(entry.key.as_string());
    } else if (entry.key.is(Tag::kInt)) {
      keys.emplace_back(entry.key.as_int());
    } else if (entry.key.is(Tag::kFloat)) {
      keys.emplace_back(entry.key.as_float());
    } else {
      fail_kind(entry.key);
    }
    nn::Tree child = tree_within(entry.value, depth + 1);
    specs.push_back(std::move(child.spec));
    leaves.insert(leaves.end(), child.leaves.begin(), child.leaves.end());
  }
  return {TreeSpec::dict(keys, std::move(specs)), std::move(leaves)};
}

// What a list holds when nothing says so.
Type type_of_items(const std::vector<IValue>& items) {
  if (items.empty() || items[0].is(Tag::kTensor)) return TypeKind::kTensor;
  if (items[0].is(Tag::kInt) || items[0].is(Tag::kSymbolic)) return TypeKind::kInt;
  if (items[0].is(Tag::kFloat)) return TypeKind::kFloat;
  if (items[0].is(Tag::kBool)) return TypeKind::kBool;
  if (items[0].is(Tag::kString)) return TypeKind::kString;
  return TypeKind::kAny;
}

}  // namespace

nn::Tree to_tree(const IValue& value) { return tree_within(value, 0); }

nn::Tree to_real_tree(const IValue& value) {
  nn::Tree tree = to_tree(value);
  for (Value& leaf : tree.leaves) {
    Tensor* const tensor = leaf.get_if<Tensor>();
    if (tensor != nullptr && tensor->defined() && tensor->quantizer() != nullptr)
      *tensor = dequantize(*tensor);
  }
  return tree;
}

IValue from_tree(const nn::Tree& tree, const Type& type) {
  const Type& plain = type.without_optional();
  if (tree.spec.is_leaf()) return interpreter::to_ivalue(tree.leaves.at(0), plain);
  const std::vector<nn::Tree> children = tree.children();
  const Type any = TypeKind::kAny;
  switch (tree.spec.kind()) {
    case TreeKind::kTuple: {
      const bool is_typed = plain.is(TypeKind::kTuple) && plain.elements().size() == children.size();
      std::vector<IValue> items;
      for (size_t i = 0; i < children.size(); ++i)
        items.push_back(from_tree(children[i], is_typed ? plain.elements()[i] : any));
      return IValue::tuple(std::move(items));
    }
    case TreeKind::kList: {
      const bool is_typed = plain.is(TypeKind::kList);
      std::vector<IValue> items;
      for (const nn::Tree& child : children)
        items.push_back(from_tree(child, is_typed ? plain.element() : any));
      const Type element = is_typed ? Type(plain.element()) : type_of_items(items);
      return IValue::list(element, std::move(items));
    }
    case TreeKind::kDict: {
      const bool is_typed = plain.is(TypeKind::kDict);
      const Type value_type = is_typed ? Type(plain.elements()[1]) : any;
      IValue dict = IValue::dict(is_typed ? Type(plain.elements()[0]) : Type(TypeKind::kString), value_type);
      for (size_t i = 0; i < children.size(); ++i) {
        const json::Value& key = tree.spec.keys()[i];
        IValue item = from_tree(children[i], value_type);
        if (key.is_string()) {
          dict.as_dict().items.set(IValue(key.as_string()), std::move(item));
        } else if (is_typed && plain.elements()[0].is(TypeKind::kFloat)) {
          dict.as_dict().items.set(IValue(key.as_double()), std::move(item));
        } else {
          dict.as_dict().items.set(IValue(key.as_int()), std::move(item));
        }
      }
      return dict;
    }
    default:
      throw Error(ErrorCode::kUnsupported, fmt::format("a script cannot take {}", tree.spec.to_string()));
  }
}

IValue with_own_tensors(const IValue& value, const Type& type) {
  nn::Tree tree = to_tree(value);
  for (Value& leaf : tree.leaves) {
    Tensor* const tensor = leaf.get_if<Tensor>();
    if (tensor == nullptr || !tensor->defined() || tensor->layout() != Layout::kStrided ||
        tensor->quantizer() != nullptr)
      continue;
    const Tensor from = tensor->to_contiguous();
    Tensor copy = Tensor::zeros(from.dtype(), from.sizes());
    const ByteSpan bytes = from.contiguous_bytes();
    if (!bytes.empty()) std::memcpy(copy.mutable_data(), bytes.data(), bytes.size());
    *tensor = std::move(copy);
  }
  return from_tree(tree, type);
}

}  // namespace flambeau::migration
