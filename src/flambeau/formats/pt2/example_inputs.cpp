#include "flambeau/formats/pt2/example_inputs.h"

#include <fmt/format.h>

#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/formats/file_kind.h"
#include "flambeau/formats/state_dict/rebuild.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau::pt2 {
namespace {

using pickle::Kind;
using pickle::Node;
using pickle::Pair;

// What a dict is searched by: the type and the text of a key. Empty for keys that have neither, e.g. members
// of an enum.
std::string key_text(const Node& key) {
  switch (key.kind()) {
    case Kind::kString:
      return fmt::format("s{}", key.as_string());
    case Kind::kInt:
      return fmt::format("n{}", key.as_int());
    case Kind::kBool:  // True and 1 are the same key to Python
      return key.as_bool() ? "n1" : "n0";
    case Kind::kFloat:
      return fmt::format("f{}", key.as_float());
    default:
      return {};
  }
}

std::string key_text(const json::Value& key) {
  if (key.is_string()) return "s" + key.as_string();
  if (key.is_bool()) return key.as_bool() ? "n1" : "n0";
  if (key.is_integer()) return fmt::format("n{}", key.as_int());
  if (key.is_double()) return fmt::format("f{}", key.as_double());
  return {};
}

bool is_sequence(const Node& node) { return node.is(Kind::kTuple) || node.is(Kind::kList); }

// "a dict", "an object of the class x.Y".
std::string describe(const Node& node) {
  if (node.is(Kind::kCall) && node.as_call().callee->is(Kind::kGlobal))
    return fmt::format("an object made by {}", printable(node.as_call().callee->as_global().dotted()));
  if (node.is(Kind::kGlobal)) return printable(node.as_global().dotted());
  return a_kind(node.kind());
}

class InputReader {
 public:
  explicit InputReader(Rebuilder& rebuilder) : rebuilder_(rebuilder) {}

  // Work and depth are those of the spec, whatever the pickle repeats.
  void flatten(const TreeSpec& spec, const Node& node) {
    if (spec.is_leaf()) {
      leaves_.push_back(leaf(node));
      return;
    }
    const std::vector<const Node*> parts = parts_of(spec, node);
    if (parts.size() != spec.children().size()) {
      throw Error(ErrorCode::kCorrupt, fmt::format("the example inputs have a container of {}, where the "
                                                   "program's in_spec has one of {}",
                                                   parts.size(), spec.children().size()));
    }
    for (size_t i = 0; i < parts.size(); ++i) flatten(spec.child(i), *parts[i]);
  }

  size_t count() const { return leaves_.size(); }
  std::vector<Value> take() { return std::move(leaves_); }

 private:
  [[noreturn]] static void fail(const TreeSpec& spec, const Node& node) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("the example inputs have {}, where the program's in_spec has {}", describe(node),
                            printable(spec.type_name())));
  }

  static std::vector<const Node*> parts_of(const TreeSpec& spec, const Node& node) {
    switch (spec.kind()) {
      case TreeKind::kDict:
      case TreeKind::kOrderedDict:
      case TreeKind::kDefaultDict:
      case TreeKind::kImmutableDict:
        return values_of(spec, node);
      case TreeKind::kOther:
        return fields_of(spec, node);
      default:
        return items_of(spec, node);
    }
  }

  static std::vector<const Node*> items_of(const TreeSpec& spec, const Node& node) {
    const auto all = [](std::span<Node* const> items) {
      return std::vector<const Node*>(items.begin(), items.end());
    };
    if (is_sequence(node)) return all(node.items());
    if (!node.is(Kind::kCall) || !node.as_call().args->is(Kind::kTuple)) fail(spec, node);
    const Node::Call call = node.as_call();
    // A deque is filled after it was made; a named tuple is made of its fields; a list that cannot change, of
    // one tuple with all of them.
    if (spec.kind() == TreeKind::kDeque) return all(call.items);
    const std::span<Node* const> args = call.args->items();
    const bool is_one_tuple = !args.empty() && args[0]->is(Kind::kTuple) &&
                              (spec.kind() == TreeKind::kImmutableList ||
                               (call.how == pickle::CallKind::kReduce && args.size() <= 2));
    return all(is_one_tuple ? args[0]->items() : args);
  }

  // The pairs of any kind of dict.
  static std::vector<Pair> pairs_of(const TreeSpec& spec, const Node& node) {
    if (node.is(Kind::kDict)) return {node.pairs().begin(), node.pairs().end()};
    if (!node.is(Kind::kCall)) fail(spec, node);
    const Node::Call call = node.as_call();
    std::vector<Pair> pairs;
    // Some are made of a list of pairs, others are filled after they were made.
    if (call.args->is(Kind::kTuple) && call.args->items().size() == 1 &&
        is_sequence(*call.args->items()[0])) {
      for (const Node* const entry : call.args->items()[0]->items()) {
        if (!is_sequence(*entry) || entry->items().size() != 2) fail(spec, node);
        pairs.push_back({entry->items()[0], entry->items()[1]});
      }
    }
    pairs.insert(pairs.end(), call.pairs.begin(), call.pairs.end());
    return pairs;
  }

  static std::vector<const Node*> values_of(const TreeSpec& spec, const Node& node) {
    const std::vector<Pair> pairs = pairs_of(spec, node);
    std::unordered_map<std::string, const Node*> by_key;
    for (const Pair& pair : pairs) {
      if (std::string key = key_text(*pair.key); !key.empty()) by_key[std::move(key)] = pair.value;
    }
    std::vector<const Node*> values;
    for (size_t i = 0; i < spec.keys().size(); ++i) {
      const std::string key = key_text(spec.keys()[i]);
      const auto found = by_key.find(key);
      if (found != by_key.end()) {
        values.push_back(found->second);
      } else if (key.empty() && pairs.size() == spec.keys().size()) {
        values.push_back(pairs[i].value);  // keys that only their class can compare stand in the same order
      } else {
        throw Error(ErrorCode::kCorrupt, fmt::format("the example inputs have no key '{}'",
                                                     printable(key.empty() ? key : key.substr(1))));
      }
    }
    return values;
  }

  // A dataclass: its fields are the state of the object.
  static std::vector<const Node*> fields_of(const TreeSpec& spec, const Node& node) {
    const Node* const state = node.is(Kind::kCall) ? node.as_call().state : nullptr;
    std::vector<const Node*> fields;
    for (size_t i = 0; i < spec.children().size(); ++i) {
      const std::string path = spec.child_path(i);
      const Node* const field =
          state != nullptr && path.starts_with('.') ? state->find(path.substr(1)) : nullptr;
      if (field == nullptr) {
        throw Error(
            ErrorCode::kUnsupported,
            fmt::format("the example inputs have {}, and how it is taken apart is known to Python alone",
                        describe(node)),
            "give the inputs yourself");
      }
      fields.push_back(field);
    }
    return fields;
  }

  Value leaf(const Node& node) {
    switch (node.kind()) {
      case Kind::kNone:
        return {};
      case Kind::kBool:
        return node.as_bool();
      case Kind::kInt:
        return node.as_int();
      case Kind::kFloat:
        return node.as_float();
      case Kind::kString:
        return node.as_string();
      case Kind::kGlobal:
        if (node.as_global().module == "torch") {
          if (const std::optional<DType> dtype = dtype_from_name(node.as_global().name)) return *dtype;
        }
        break;
      case Kind::kCall:
      case Kind::kPersistent:
        if (const Rebuilt* const found = rebuilder_.find(node)) return own(found->tensor);
        if (node.is(Kind::kCall)) return called(node);
        break;
      default:
        break;
    }
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the example input is {}, which is no input of a program", describe(node)),
                "give the inputs yourself");
  }

  static Value called(const Node& node) {
    const Node::Call call = node.as_call();
    if (call.args->is(Kind::kTuple)) {
      const std::span<Node* const> args = call.args->items();
      const auto number = [&](size_t i) {
        return args[i]->is(Kind::kInt) ? static_cast<double>(args[i]->as_int()) : args[i]->as_float();
      };
      const bool is_complex =
          call.callee->is_global("builtins.complex") || call.callee->is_global("__builtin__.complex");
      if (is_complex && args.size() == 2) return std::complex<double>(number(0), number(1));
    }
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the example input is {}, which only Python can make", describe(node)),
                "give the inputs yourself");
  }

  // On the CPU, and aligned as kernels need it: a file may lay its storages anywhere.
  Tensor own(Tensor tensor) {
    if (tensor.is_meta()) return tensor;
    tensor.set_device({});
    tensor.set_requires_grad(false);
    if (tensor.layout() != Layout::kStrided || tensor.element_count() == 0) return tensor;
    const std::shared_ptr<Storage>& storage = tensor.storage();
    const size_t word = dtype_info(tensor.dtype()).word;
    if (reinterpret_cast<uintptr_t>(storage->bytes().data()) % word != 0) {
      std::shared_ptr<Storage>& copy = aligned_[storage];
      if (copy == nullptr) copy = Storage::own({storage->bytes().begin(), storage->bytes().end()});
      tensor.set_storage(copy, tensor.offset());
    }
    return tensor;
  }

  Rebuilder& rebuilder_;
  std::unordered_map<std::shared_ptr<Storage>, std::shared_ptr<Storage>> aligned_;
  std::vector<Value> leaves_;
};

// Paths are made for the one input that is wrong: in all they may be far longer than the spec.
void locate(Error& error, const TreeSpec& in_spec, size_t leaf) {
  const bool is_call = in_spec.kind() == TreeKind::kTuple && in_spec.children().size() == 2;
  size_t index = 0;
  const auto visit = [&](std::string_view path) {
    if (index++ == leaf) error.add_location("example input", printable(path));
  };
  if (!is_call) return visit_leaf_paths(in_spec, "inputs", visit);
  visit_leaf_paths(in_spec.child(0), "args", visit);
  visit_leaf_paths(in_spec.child(1), "kwargs", visit);
}

TorchFile open_file(const std::shared_ptr<Mapping>& mapping) {
  const RecognizedFile file = recognize_file(mapping);
  switch (file.kind) {
    case FileKind::kTorchSave:
      return read_torch_zip(file.archive);
    case FileKind::kTorchSaveLegacy:
      return read_torch_legacy(mapping);
    default:
      throw Error(ErrorCode::kCorrupt, fmt::format("the example inputs are {}, not what torch.save writes",
                                                   file_kind_info(file.kind).description));
  }
}

}  // namespace

std::vector<Value> read_example_inputs(ByteSpan bytes, const TreeSpec& in_spec) {
  const auto mapping = Mapping::from_buffer({bytes.begin(), bytes.end()});
  const TorchFile file = with_location("record", "example inputs", [&] { return open_file(mapping); });
  Rebuilder rebuilder(*file.source);
  InputReader reader(rebuilder);
  try {
    reader.flatten(in_spec, *file.tree.root());
  } catch (Error& error) {
    locate(error, in_spec, reader.count());
    throw;
  }
  return reader.take();
}

bool has_example_inputs(const graph::ExportedProgram& program) {
  return program.example_inputs != nullptr && program.example_inputs->size() != 0;
}

std::vector<Value> read_example_inputs(const graph::ExportedProgram& program) {
  if (!has_example_inputs(program)) {
    throw Error(ErrorCode::kNotFound, "the program has no example inputs", "give the inputs yourself");
  }
  if (const graph::ModuleCallSignature* const call = program.root_call())
    return read_example_inputs(program.example_inputs->bytes(), parse_treespec(call->in_spec));
  throw Error(ErrorCode::kUnsupported, "the program does not say how its inputs are nested",
              "give the inputs yourself");
}

}  // namespace flambeau::pt2
