#include "flambeau/formats/torchscript/value_reader.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

using pickle::CallKind;
using pickle::Kind;
using pickle::Node;

// Modules in modules, lists in lists: real files stay far below.
constexpr int kMostNesting = 400;

std::span<Node* const> arguments_of(const Node::Call& call, size_t count, std::string_view what) {
  if (!call.args->is(Kind::kTuple) || call.args->items().size() != count) {
    corrupt(fmt::format("{} takes {} arguments", what, count));
  }
  return call.args->items();
}

std::string qualified_name(const Node::GlobalName& name) {
  return fmt::format("{}.{}", name.module, name.name);
}

}  // namespace

class ValueReader::Reading {
 public:
  Reading(ValueReader& reader, PersistentSource& storages) : reader_(reader), tensors_(storages) {}

  IValue read(const Node& node, int depth);

 private:
  IValue make(const Node& node, int depth);
  IValue read_call(const Node& node, int depth);
  IValue read_list(const Node::Call& call, const Type& element, int depth);
  IValue read_tagged(const Node::Call& call, int depth);
  IValue read_instance(const Node::Call& call, int depth);
  IValue read_object(const std::shared_ptr<const Class>& type, const Node& state, int depth);
  IValue read_tensor(const Node& node);
  void fill_items(const Node& list, IValue& to, int depth);
  std::vector<IValue> read_items(std::span<Node* const> nodes, int depth);
  void set_attributes(const IValue& object, const Node& state, int depth);

  ValueReader& reader_;
  Rebuilder tensors_;
  std::unordered_map<const Node*, IValue> done_;
  std::unordered_map<std::string_view, Type> tags_;
  IValue empty_tuple_ = IValue::tuple({});  // one for all, as PyTorch has it
};

IValue ValueReader::read(const Node& root, PersistentSource& storages) {
  IValue value = Reading(*this, storages).read(root, 0);
  if (version_ <= 2 && value.is(IValue::Tag::kObject)) {
    restore_types(value, value.as_object().type->type(), unit_);
  }
  return value;
}

IValue ValueReader::Reading::read(const Node& node, int depth) {
  switch (node.kind()) {
    case Kind::kNone:
      return {};
    case Kind::kBool:
      return node.as_bool();
    case Kind::kInt:
      return node.as_int();
    case Kind::kFloat:
      return node.as_float();
    default:
      break;
  }
  if (depth > kMostNesting) {
    throw Error(ErrorCode::kLimit, fmt::format("values are nested more than {} deep", kMostNesting));
  }
  // What is being read is there as "uninitialized", which no pickle can say.
  const auto [place, is_new] = done_.try_emplace(&node, IValue::uninitialized());
  if (!is_new) {
    if (place->second.is(IValue::Tag::kUninitialized)) corrupt("a value contains itself");
    return place->second;
  }
  IValue value = make(node, depth);
  done_[&node] = value;
  return value;
}

IValue ValueReader::Reading::make(const Node& node, int depth) {
  switch (node.kind()) {
    case Kind::kString:
      return node.as_string();
    case Kind::kTuple:
      return node.items().empty() ? empty_tuple_ : IValue::tuple(read_items(node.items(), depth));
    case Kind::kList: {
      IValue list = IValue::list(TypeKind::kAny);
      fill_items(node, list, depth);
      return list;
    }
    case Kind::kDict: {
      IValue dict = IValue::dict(TypeKind::kAny, TypeKind::kAny);
      for (const pickle::Pair& pair : node.pairs()) {
        IValue key = read(*pair.key, depth + 1);
        dict.as_dict().items.set(std::move(key), read(*pair.value, depth + 1));
      }
      return dict;
    }
    case Kind::kCall:
      return read_call(node, depth);
    case Kind::kGlobal:
      // Data types are ints to scripts, whoever pickled them.
      if (const std::optional<DType> dtype = dtype_from_name(node.as_global().dotted()))
        return static_cast<int64_t>(*dtype);
      corrupt(fmt::format("'{}' is nothing that a script holds", printable(node.as_global().dotted())));
    case Kind::kBigInt:
      corrupt("an int that takes more than 64 bits");
    default:
      corrupt(fmt::format("{} is nothing that a script holds", a_kind(node.kind())));
  }
}

void ValueReader::Reading::fill_items(const Node& list, IValue& to, int depth) {
  to.items() = read_items(list.items(), depth);
}

std::vector<IValue> ValueReader::Reading::read_items(std::span<Node* const> nodes, int depth) {
  std::vector<IValue> items;
  items.reserve(nodes.size());
  for (const Node* node : nodes) items.push_back(read(*node, depth + 1));
  return items;
}

IValue ValueReader::Reading::read_call(const Node& node, int depth) {
  const Node::Call call = node.as_call();
  if (!call.callee->is(Kind::kGlobal)) corrupt("a call of something that has no name");
  if (!call.items.empty() || !call.pairs.empty() || call.state_setter != nullptr) {
    corrupt("an object that is filled in a way TorchScript does not know");
  }
  const Node::GlobalName& name = call.callee->as_global();
  if (name.module == "torch.jit._pickle") {
    if (name.name == "restore_type_tag") return read_tagged(call, depth);
    if (name.name == "build_intlist") return read_list(call, TypeKind::kInt, depth);
    if (name.name == "build_doublelist") return read_list(call, TypeKind::kFloat, depth);
    if (name.name == "build_boollist") return read_list(call, TypeKind::kBool, depth);
    if (name.name == "build_tensorlist") return read_list(call, TypeKind::kTensor, depth);
  } else if (name.module == "torch._utils" || name.module == "torch._tensor") {
    return read_tensor(node);
  } else if ((name.module == "builtins" || name.module == "__builtin__") && name.name == "complex") {
    const std::span<Node* const> parts = arguments_of(call, 2, "a complex number");
    return std::complex<double>(parts[0]->as_float(), parts[1]->as_float());
  } else if (name.module == "torch" && name.name == "device") {
    // Python's own pickles have the index apart.
    const std::span<Node* const> parts =
        arguments_of(call, call.args->is(Kind::kTuple) && call.args->items().size() == 2 ? 2 : 1, "a device");
    std::string text(parts[0]->as_string());
    if (parts.size() == 2) text += fmt::format(":{}", parts[1]->as_int());
    const std::optional<Device> device = parse_device(text);
    if (!device) corrupt(fmt::format("'{}' is not a device", printable(text)));
    return *device;
  } else if (name.module == "collections" && name.name == "OrderedDict") {
    return {};  // the hooks of a tensor, which are never kept
  } else if (call.how == CallKind::kNewObject || name.module == "__torch__" ||
             name.module.starts_with("__torch__.")) {
    return read_instance(call, depth);  // delegates' classes have other prefixes
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("'{}' is nothing that TorchScript's archives hold", printable(name.dotted())));
}

IValue ValueReader::Reading::read_tensor(const Node& node) {
  const Rebuilt* rebuilt = tensors_.find(node);
  if (rebuilt == nullptr) {
    throw Error(ErrorCode::kUnsupported, fmt::format("'{}' makes no tensor that TorchScript has",
                                                     printable(node.as_call().callee->as_global().dotted())));
  }
  return rebuilt->tensor;
}

IValue ValueReader::Reading::read_list(const Node::Call& call, const Type& element, int depth) {
  const Node& items = *arguments_of(call, 1, "a list")[0];
  if (!items.is(Kind::kList)) corrupt(fmt::format("a list is expected, found {}", a_kind(items.kind())));
  IValue list = IValue::list(element);
  fill_items(items, list, depth);
  for (const IValue& item : list.items()) {
    const bool fits = element.is(TypeKind::kInt)     ? item.is(IValue::Tag::kInt)
                      : element.is(TypeKind::kFloat) ? item.is(IValue::Tag::kFloat)
                      : element.is(TypeKind::kBool)  ? item.is(IValue::Tag::kBool)
                                                     : item.is(IValue::Tag::kTensor);
    if (!fits) corrupt(fmt::format("{} in a list of {}", item.kind_name(), element.to_string()));
  }
  return list;
}

// (list or dict, its type)
IValue ValueReader::Reading::read_tagged(const Node::Call& call, int depth) {
  const std::span<Node* const> parts = arguments_of(call, 2, "a value with its type");
  const std::string_view text = parts[1]->as_string();
  auto found = tags_.find(text);
  if (found == tags_.end()) found = tags_.emplace(text, parse_annotation(text)).first;
  IValue value = read(*parts[0], depth + 1);
  give_type(value, found->second, text);
  return value;
}

IValue ValueReader::Reading::read_instance(const Node::Call& call, int depth) {
  const std::string name = qualified_name(call.callee->as_global());
  // Made of a state, or (an enumerator) of its argument, which is no tuple.
  const bool is_object = call.how == CallKind::kNewObject;
  if (is_object && call.state == nullptr) {
    corrupt(fmt::format("an object of {} without a state", printable(name)));
  }
  const Node& held = is_object ? *call.state : *call.args;
  if (name.starts_with(kNativeClassPrefix)) {
    IValue state = with_location("object", printable(name), [&] { return read(held, depth + 1); });
    return reader_.objects_.make_native(name, std::move(state));
  }
  const std::shared_ptr<Class> type = reader_.objects_.get_class(name);
  if (type->kind() == ClassKind::kEnum) return ObjectMaker::enumerator(type, read(held, depth + 1));
  if (!is_object || type->is_interface() || type->kind() == ClassKind::kNamedTuple) {
    corrupt(fmt::format("{} is no class of objects", printable(name)));
  }
  return read_object(type, held, depth);
}

IValue ValueReader::Reading::read_object(const std::shared_ptr<const Class>& type, const Node& state,
                                         int depth) {
  IValue object = IValue::object(type);
  if (!has_state_methods(*type)) {
    set_attributes(object, state, depth);
    return object;
  }
  reader_.objects_.set_state(object, read(state, depth + 1));
  return object;
}

void ValueReader::Reading::set_attributes(const IValue& object, const Node& state, int depth) {
  ObjectBox& box = object.as_object();
  const std::string name = printable(box.type->qualified_name());
  if (!state.is(Kind::kDict)) {
    corrupt(fmt::format("the state of {} should be a dict, found {}", name, a_kind(state.kind())));
  }
  // Attributes stand in their order: looking behind the last one found finds nearly all at once.
  const std::span<const pickle::Pair> pairs = state.pairs();
  std::unordered_map<std::string_view, const Node*> by_name;
  const auto find = [&](size_t at, std::string_view wanted) -> const Node* {
    if (at < pairs.size() && pairs[at].key->is(Kind::kString) && pairs[at].key->as_string() == wanted) {
      return pairs[at].value;
    }
    if (by_name.empty()) {
      for (const pickle::Pair& pair : pairs) {
        if (pair.key->is(Kind::kString)) by_name[pair.key->as_string()] = pair.value;
      }
    }
    const auto found = by_name.find(wanted);
    return found == by_name.end() ? nullptr : found->second;
  };
  for (size_t i = 0; i < box.slots.size(); ++i) {
    const std::string& attribute = box.type->attributes.at(i).name;
    const Node* value = find(i, attribute);
    if (value == nullptr) {
      corrupt(fmt::format("the state of {} has no attribute '{}'", name, printable(attribute)));
    }
    box.slots[i] = with_location("attribute", printable(attribute), [&] { return read(*value, depth + 1); });
  }
}

}  // namespace flambeau::script
