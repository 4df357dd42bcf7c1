#include "flambeau/formats/torchscript/value_pickler.h"

#include <fmt/format.h>

#include <unordered_set>

#include "flambeau/archive/pickle/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

using pickle::CallKind;
using pickle::Node;
using pickle::Tree;

constexpr int kMostWrittenNesting = 400;

[[noreturn]] void cannot_save(const IValue& value, std::string_view why) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} cannot be saved: {}", printable(value.kind_name()), why));
}

}  // namespace

std::string ValuePickler::pickle(const IValue& value, bool is_held) {
  tree_ = Tree();
  done_.clear();
  storage_nodes_.clear();
  storages_.clear();
  classes_.clear();
  made_.clear();
  native_tensors_.clear();
  native_depth_ = 0;
  empty_tuple_ = nullptr;
  Node* root = save(value, 0);
  if (is_held) Tree::set_memoized(root);
  return pickle::write_torch(*root);
}

Node* ValuePickler::save(const IValue& value, int depth, uint32_t copies) {
  switch (value.tag()) {
    case IValue::Tag::kNone:
      return tree_.none();
    case IValue::Tag::kBool:
      return tree_.boolean(value.as_bool());
    case IValue::Tag::kInt:
      return tree_.integer(value.as_int());
    case IValue::Tag::kFloat:
      return tree_.real(value.as_float());
    case IValue::Tag::kString:
      return tree_.string(value.as_string());
    case IValue::Tag::kDevice:
      return tree_.call(tree_.global("torch", "device"),
                        tree_.tuple({tree_.string(value.as_device().to_string())}));
    case IValue::Tag::kUninitialized:
      cannot_save(value, "it was never given a value");
    default:
      break;
  }
  if (depth > kMostWrittenNesting) {
    throw Error(ErrorCode::kLimit, fmt::format("values are nested more than {} deep", kMostWrittenNesting));
  }
  const auto [place, is_new] = done_.try_emplace(value.identity(), nullptr);
  if (!is_new) {
    if (place->second == nullptr) cannot_save(value, "it contains itself");
    return place->second;
  }
  Node* node = save_boxed(value, depth);
  done_[value.identity()] = node;
  const uint32_t own = copies + (kept_.contains(value.identity()) ? 1 : 0);
  if (owners_ == Owners::kCounted && value.owners() > own) Tree::set_memoized(node);
  return node;
}

Node* ValuePickler::save_boxed(const IValue& value, int depth) {
  switch (value.tag()) {
    case IValue::Tag::kTensor:
      return native_depth_ == 0 ? save_tensor(value.as_tensor()) : save_native_tensor(value.as_tensor());
    case IValue::Tag::kComplex:
      return tree_.call(
          tree_.global("builtins", "complex"),
          tree_.tuple({tree_.real(value.as_complex().real()), tree_.real(value.as_complex().imag())}));
    case IValue::Tag::kTuple: {
      if (owners_ == Owners::kNone && value.items().empty()) {
        if (empty_tuple_ != nullptr) Tree::set_memoized(empty_tuple_);
        if (empty_tuple_ == nullptr) empty_tuple_ = tree_.tuple();
        return empty_tuple_;
      }
      std::vector<Node*> items;
      items.reserve(value.items().size());
      for (const IValue& item : value.items()) items.push_back(save(item, depth + 1));
      return tree_.tuple(items);
    }
    case IValue::Tag::kList:
      return save_list(value, depth);
    case IValue::Tag::kDict:
      return save_dict(value, depth);
    case IValue::Tag::kObject:
      return save_object(value, depth);
    case IValue::Tag::kEnum: {
      const EnumBox& held = value.as_enum();
      return tree_.call(class_global(held.type->qualified_name()), save(held.value, depth + 1));
    }
    case IValue::Tag::kNative: {
      const Object& object = value.as_native().object;
      if (!hooks_.native_state || !object.class_name.starts_with(kNativeClassPrefix)) {
        cannot_save(value, "nothing says what its state is");
      }
      made_.push_back(hooks_.native_state(object));
      return save_native(object.class_name, made_.back(), depth);
    }
    default:
      cannot_save(value, "files have no form for it");
  }
}

Node* ValuePickler::tagged(Node* value, const Type& type) {
  return tree_.call(tree_.global("torch.jit._pickle", "restore_type_tag"),
                    tree_.tuple({value, tree_.string(annotation_text(type))}));
}

Node* ValuePickler::save_list(const IValue& value, int depth) {
  const ListBox& list = value.as_list();
  const bool holds_tensors = list.element.is(TypeKind::kTensor);
  std::vector<Node*> items;
  items.reserve(list.items.size());
  for (const IValue& item : list.items) {
    items.push_back(save(item, depth + 1));
    // PyTorch copies such a list to write it, so that each tensor has a second owner.
    if (holds_tensors && item.is(IValue::Tag::kTensor)) Tree::set_memoized(items.back());
  }
  Node* node = tree_.list(items);
  std::string_view builder;
  if (holds_tensors) builder = "build_tensorlist";
  if (list.element.is(TypeKind::kInt)) builder = "build_intlist";
  if (list.element.is(TypeKind::kFloat)) builder = "build_doublelist";
  if (list.element.is(TypeKind::kBool)) builder = "build_boollist";
  if (builder.empty()) return tagged(node, Type::list(list.element));
  return tree_.call(tree_.global("torch.jit._pickle", builder), tree_.tuple({node}));
}

Node* ValuePickler::save_dict(const IValue& value, int depth) {
  const DictBox& dict = value.as_dict();
  Node* node = tree_.dict();
  for (const DictItems::Entry& entry : dict.items.entries()) {  // which are copies
    Node* key = save(entry.key, depth + 1, 2);
    tree_.set_item(node, key, save(entry.value, depth + 1, 2));
  }
  return tagged(node, Type::dict(dict.key, dict.value));
}

Node* ValuePickler::class_global(const std::string& qualified_name) {
  const size_t dot = qualified_name.rfind('.');
  if (dot == std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the class '{}' has no qualified name", printable(qualified_name)));
  }
  return tree_.global(std::string_view(qualified_name).substr(0, dot),
                      std::string_view(qualified_name).substr(dot + 1));
}

Node* ValuePickler::save_native(const std::string& name, const IValue& state, int depth) {
  classes_.push_back({name, nullptr});
  Node* object = tree_.call(class_global(name), tree_.tuple(), CallKind::kNewObject);
  ++native_depth_;
  with_state(object, state, depth);
  --native_depth_;
  mark_native_state(state);
  return object;
}

// Such objects share what they were made of, such as the bias of a cell and of its layer; weights are
// unpacked anew for each.
Node* ValuePickler::save_native_tensor(const Tensor& tensor) {
  if (tensor.quantizer() != nullptr || tensor.storage() == nullptr) return save_tensor(tensor);
  const auto [place, is_new] = native_tensors_.try_emplace({tensor.storage().get(), tensor.offset()});
  if (is_new) {
    place->second = {tensor.sizes(), save_tensor(tensor)};
    return place->second.node;
  }
  if (place->second.sizes != tensor.sizes()) return save_tensor(tensor);
  Tree::set_memoized(place->second.node);
  return place->second.node;
}

// What a method gave has a second owner while it is written.
Node* ValuePickler::with_state(Node* object, const IValue& state, int depth) {
  Node* saved = save(state, depth + 1);
  if (state.is_boxed() && !state.is(IValue::Tag::kString)) Tree::set_memoized(saved);
  tree_.set_state(object, saved);
  return object;
}

// PyTorch's own objects own what they did not unpack to be written: everything but the weight, which comes
// first.
void ValuePickler::mark_native_state(const IValue& state) {
  const auto mark = [&](const IValue& value) { Tree::set_memoized(done_.at(value.identity())); };
  if (!state.is(IValue::Tag::kTuple)) return;
  for (size_t i = 1; i < state.items().size(); ++i) {
    const IValue& item = state.items()[i];
    if (item.is(IValue::Tag::kTensor)) mark(item);
    if (!item.is(IValue::Tag::kList)) continue;
    for (const IValue& element : item.items()) {
      if (element.is(IValue::Tag::kTensor)) mark(element);
    }
  }
}

// What __getstate__ took out of such an object is still owned by it, but for the weight.
void ValuePickler::mark_owned(const IValue& state, const Object& native) {
  if (!hooks_.native_state || !native.class_name.starts_with(kNativeClassPrefix)) return;
  const IValue held = hooks_.native_state(native);
  if (!state.is(IValue::Tag::kTuple) || !held.is(IValue::Tag::kTuple)) return;
  std::unordered_set<const Storage*> owned;
  const auto own = [&](const IValue& value) {
    if (value.is(IValue::Tag::kTensor)) owned.insert(value.as_tensor().storage().get());
  };
  for (size_t i = 1; i < held.items().size(); ++i) {
    own(held.items()[i]);
    if (i > 1 && held.items()[i].is(IValue::Tag::kList)) {
      for (const IValue& element : held.items()[i].items()) own(element);
    }
  }
  for (const IValue& item : state.items()) {
    if (item.is(IValue::Tag::kTensor) && owned.contains(item.as_tensor().storage().get()))
      Tree::set_memoized(done_.at(item.identity()));
  }
}

Node* ValuePickler::save_object(const IValue& value, int depth) {
  const ObjectBox& object = value.as_object();
  const std::shared_ptr<const Class>& type = object.type;
  const std::string& name = type->qualified_name();
  if (name.starts_with(kNativeClassPrefix)) return save_native(name, object.slots.at(0), depth);
  classes_.push_back({name, type});
  Node* node = tree_.call(class_global(name), tree_.tuple(), CallKind::kNewObject);
  // Python holds on to every module of a loaded file.
  if (type->is_module()) Tree::set_memoized(node);
  if (has_state_methods(*type)) {
    const auto kept = kept_.find(value.identity());
    if (kept != kept_.end()) {
      return with_state(node, kept->second.state, depth);
    }
    if (!hooks_.get_state) cannot_save(value, "its __getstate__ would have to run");
    made_.push_back(hooks_.get_state(**type->find_method("__getstate__"), value));
    with_state(node, made_.back(), depth);
    for (const IValue& slot : object.slots) {
      if (slot.is(IValue::Tag::kNative)) mark_owned(made_.back(), slot.as_native().object);
    }
    return node;
  }
  Node* state = tree_.dict();
  for (size_t i = 0; i < object.slots.size(); ++i) {
    const std::string& attribute = type->attributes.at(i).name;
    tree_.set_item(state, tree_.string(attribute), with_location("attribute", printable(attribute), [&] {
                     return save(object.slots[i], depth + 1);
                   }));
  }
  tree_.set_state(node, state);
  return node;
}

}  // namespace flambeau::script
