#include <bit>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/passes/effects.h"
#include "flambeau/passes/passes.h"

namespace flambeau::passes {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using graph::Node;
using graph::Value;
using graph::ValueRef;

// The text that two arguments share exactly when they are the same.
class Key {
 public:
  explicit Key(const Node& node) {
    add(node.target.text());
    for (const graph::NamedArgument& input : node.inputs()) {
      add(input.name);
      add(input.argument);
    }
    for (const Argument& output : node.outputs()) {  // a list may have several lengths
      add(static_cast<uint64_t>(output.kind()));
      output.for_each_ref([&](const ValueRef& ref) { add(uint64_t{ref ? 1U : 0U}); });
    }
  }

  bool is_known() const { return is_known_; }
  const std::string& text() const { return text_; }

 private:
  void add(uint64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(int64_t number) { add(static_cast<uint64_t>(number)); }
  void add(bool flag) { add(uint64_t{flag}); }
  void add(uint8_t flag) { add(uint64_t{flag}); }
  void add(double number) { add(std::bit_cast<uint64_t>(number)); }  // -0.0 is another number than 0.0
  void add(std::complex<double> number) {
    add(number.real());
    add(number.imag());
  }
  void add(const std::string& text) {
    add(uint64_t{text.size()});
    text_ += text;
  }
  void add(const ValueRef& ref) { add(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(ref.get()))); }
  template <typename Number>
  void add(const graph::SymArgument<Number>& number) {
    add(number.ref);
    if (!number.ref) add(number.literal);
  }
  template <typename T>
    requires std::is_enum_v<T>
  void add(T item) {
    add(static_cast<uint64_t>(item));
  }
  template <typename T>
  void add(const std::vector<T>& list) {
    add(uint64_t{list.size()});
    for (const T& item : list) add(item);
  }
  void add(const graph::DeviceSpec& device) { add(device.to_string()); }
  void add(std::monostate) {}
  void add(const Argument& argument) {
    add(argument.kind());
    std::visit(
        [&](const auto& holder) {
          if constexpr (requires { add(holder.data); }) {
            add(holder.data);
          } else {
            is_known_ = false;  // a subgraph, an object, a dictionary, a kind that is not known
          }
        },
        argument.data());
  }

  std::string text_;
  bool is_known_ = true;
};

std::vector<Value*> results_of(const Node& node) {
  std::vector<Value*> results;
  for (const Argument& output : node.outputs())
    output.for_each_value([&](Value& value) { results.push_back(&value); });
  return results;
}

// The tensors that a caller gets: who gets two may write to one and read the other.
class GivenTensors {
 public:
  explicit GivenTensors(const graph::Graph& graph) {
    for (const Argument& output : graph.outputs())
      output.for_each_value([&](const Value& value) {
        if (value.kind() == graph::ValueKind::kTensor) values_.insert(&value);
      });
  }
  bool have_both(const std::vector<Value*>& first, const std::vector<Value*>& second) const {
    for (size_t i = 0; i < first.size(); ++i) {
      if (values_.contains(first[i]) && values_.contains(second[i])) return true;
    }
    return false;
  }
  void replace(const Value& value, const Value& other) {
    if (values_.erase(&value) != 0) values_.insert(&other);
  }

 private:
  std::unordered_set<const Value*> values_;
};

bool merge_in(graph::Graph& graph, const ops::Library& library) {
  const WrittenValues written(graph, library);
  GivenTensors given_out(graph);
  std::unordered_map<std::string, Node*> first_of;
  bool has_changed = false;
  for (Node* node = graph.first_node(); node != nullptr;) {
    Node* const next = node->next();
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Argument& input = node->mutable_input(i);
      if (!input.is(ArgumentKind::kGraph)) continue;
      has_changed = merge_in(*input.get<ArgumentKind::kGraph>().graph, library) || has_changed;
    }
    const Key key(*node);
    if (key.is_known() && effects_of(*node, library).is_pure() && !written.touches(*node)) {
      Node* const first = first_of.try_emplace(key.text(), node).first->second;
      if (first != node) {
        const std::vector<Value*> kept = results_of(*first);
        const std::vector<Value*> given = results_of(*node);
        if (!given_out.have_both(kept, given)) {
          for (size_t i = 0; i < given.size(); ++i) {
            given_out.replace(*given[i], *kept[i]);
            given[i]->replace_uses_with(*kept[i]);
          }
          graph.erase(*node);
          has_changed = true;
        }
      }
    }
    node = next;
  }
  return has_changed;
}

}  // namespace

bool merge_equal_nodes(graph::ExportedProgram& program, const ops::Library& library) {
  return merge_in(program.graph(), library);
}

}  // namespace flambeau::passes
