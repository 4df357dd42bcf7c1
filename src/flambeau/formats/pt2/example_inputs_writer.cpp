#include <fmt/format.h>

#include "flambeau/archive/pickle/writer.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/example_inputs.h"
#include "flambeau/formats/state_dict/tensor_pickler.h"
#include "flambeau/formats/state_dict/torch_writer.h"

namespace flambeau::pt2 {
namespace {

using pickle::Node;

class InputWriter {
 public:
  InputWriter() : pickler_(tree_) {}

  std::shared_ptr<Storage> write(const TreeSpec& spec, std::span<const Value> leaves) {
    for (const Value& leaf : leaves) {
      if (leaf.is_tensor() && leaf.tensor().defined()) pickler_.announce(leaf.tensor());
    }
    left_ = leaves;
    const std::string data = pickle::write_python(*node(spec), 2, nullptr);
    MemorySink sink;
    write_torch_records(sink, data, pickler_.storages(), {});
    return Storage::own(sink.take());
  }

 private:
  Node* node(const TreeSpec& spec) {
    switch (spec.kind()) {
      case TreeKind::kLeaf:
        return leaf();
      case TreeKind::kTuple:
        return tree_.tuple(std::span<Node* const>(children(spec)));
      case TreeKind::kList:
        return tree_.list(std::span<Node* const>(children(spec)));
      case TreeKind::kDict: {
        const std::vector<Node*> values = children(spec);
        Node* const dict = tree_.dict();
        for (size_t i = 0; i < values.size(); ++i) tree_.set_item(dict, key(spec.keys()[i]), values[i]);
        return dict;
      }
      default:
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("example inputs in a {} cannot be saved", printable(spec.type_name())),
                    "give tuples, lists and dicts, or save the program without them");
    }
  }
  std::vector<Node*> children(const TreeSpec& spec) {
    std::vector<Node*> nodes;
    for (const TreeSpec& child : spec.children()) nodes.push_back(node(child));
    return nodes;
  }
  Node* key(const json::Value& value) {
    if (value.is_string()) return tree_.string(value.as_string());
    if (value.is_integer()) return tree_.integer(value.as_int());
    throw Error(ErrorCode::kUnsupported, "example inputs in a dict whose keys are neither texts nor ints");
  }
  Node* leaf() {
    if (left_.empty())
      throw Error(ErrorCode::kInvalidArgument, "fewer values than leaves of the inputs' spec");
    const Value& value = left_.front();
    left_ = left_.subspan(1);
    if (value.is_none()) return tree_.none();
    if (const auto* const tensor = value.get_if<Tensor>())
      return tensor->defined() ? pickler_.describe(*tensor) : tree_.none();
    if (const auto* const flag = value.get_if<bool>()) return tree_.boolean(*flag);
    if (const auto* const number = value.get_if<int64_t>()) return tree_.integer(*number);
    if (const auto* const real = value.get_if<double>()) return tree_.real(*real);
    if (const auto* const text = value.get_if<std::string>()) return tree_.string(*text);
    throw Error(ErrorCode::kUnsupported,
                fmt::format("an example input of kind {} cannot be saved", value.kind_name()));
  }

  pickle::Tree tree_;
  TensorPickler pickler_;
  std::span<const Value> left_;
};

}  // namespace

std::shared_ptr<Storage> write_example_inputs(const TreeSpec& in_spec, std::span<const Value> leaves) {
  return InputWriter().write(in_spec, leaves);
}

}  // namespace flambeau::pt2
