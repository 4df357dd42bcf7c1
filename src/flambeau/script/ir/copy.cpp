// Copies of nodes, within a graph and into another one.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/graph.h"

namespace flambeau::script::ir {

namespace {

class Copier {
 public:
  Copier(Graph& to, Graph::ValueMap& values, std::shared_ptr<const CallFrame> frame, int depth)
      : to_(to), values_(values), frame_(std::move(frame)), depth_(depth) {}

  // Nodes go before `place`.
  void copy_nodes(const Block& from, Node* place) {
    if (++depth_ > kMostBlockDepth) {
      throw Error(ErrorCode::kLimit, fmt::format("blocks are nested deeper than {}", kMostBlockDepth));
    }
    for (const Node* node = from.first(); node != nullptr; node = node->next()) copy_node(*node, place);
    --depth_;
  }

  Value* map(Value* value) const {
    const auto found = values_.find(value);
    if (found != values_.end()) return found->second;
    if (&value->node()->graph() == &to_) return value;
    throw Error(ErrorCode::kInternal,
                fmt::format("a copied node uses the value '{}' of outside", printable(value->name())));
  }

  void copy_value(Value* from, Value* to) {
    if (from->has_name()) to->set_name(from->name());
    values_[from] = to;
  }

  void copy_inputs(const Block& from, Block& to) {
    for (Value* input : from.inputs()) copy_value(input, to.add_input(input->type()));
  }

  void copy_outputs(const Block& from, Block& to) {
    for (Value* output : from.outputs()) to.add_output(map(output));
  }

 private:
  void copy_node(const Node& from, Node* place) {
    Node* node = to_.make(from.kind(), {}, 0);
    for (Value* input : from.inputs()) node->add_input(map(input));
    node->copy_fields(from);
    node->frame = extend(from.frame);
    // A copy is changed apart from its original, also inside.
    if (from.subgraph != nullptr) node->subgraph = copy_whole(*from.subgraph);
    node->insert_before(place);
    for (Value* output : from.outputs()) copy_value(output, node->add_output(output->type()));
    for (const Block* block : from.blocks()) {
      Block* copied = node->add_block();
      copy_inputs(*block, *copied);
      copy_nodes(*block, copied->return_node());
      copy_outputs(*block, *copied);
    }
  }

  std::shared_ptr<Graph> copy_whole(const Graph& from) {
    auto graph = std::make_shared<Graph>();
    Graph::ValueMap values;
    Copier copier(*graph, values, frame_, depth_);
    copier.copy_inputs(from.block(), graph->block());
    copier.copy_nodes(from.block(), graph->block().return_node());
    copier.copy_outputs(from.block(), graph->block());
    return graph;
  }

  // The same calls, inside of the one that is inlined now.
  std::shared_ptr<const CallFrame> extend(const std::shared_ptr<const CallFrame>& inner) {
    if (frame_ == nullptr || inner == nullptr) return inner == nullptr ? frame_ : inner;
    std::vector<const CallFrame*> chain;
    std::shared_ptr<const CallFrame> extended = frame_;
    for (const CallFrame* frame = inner.get(); frame != nullptr; frame = frame->outer.get()) {
      if (const auto found = frames_.find(frame); found != frames_.end()) {
        extended = found->second;
        break;
      }
      chain.push_back(frame);
    }
    for (auto frame = chain.rbegin(); frame != chain.rend(); ++frame) {
      auto made = std::make_shared<CallFrame>(**frame);
      made->outer = extended;
      extended = made;
      frames_[*frame] = std::move(made);
    }
    return extended;
  }

  Graph& to_;
  Graph::ValueMap& values_;
  std::shared_ptr<const CallFrame> frame_;
  std::unordered_map<const CallFrame*, std::shared_ptr<const CallFrame>> frames_;
  int depth_;
};

}  // namespace

std::shared_ptr<Graph> Graph::copy() const {
  auto graph = std::make_shared<Graph>();
  ValueMap values;
  Copier copier(*graph, values, nullptr, 0);
  copier.copy_inputs(block(), graph->block());
  copier.copy_nodes(block(), graph->block().return_node());
  copier.copy_outputs(block(), graph->block());
  return graph;
}

std::vector<Value*> Graph::inline_graph(const Graph& from, std::span<Value* const> arguments,
                                        const std::shared_ptr<const CallFrame>& frame) {
  if (arguments.size() != from.inputs().size()) {
    throw Error(ErrorCode::kInternal, fmt::format("a graph of {} inputs was given {} arguments",
                                                  from.inputs().size(), arguments.size()));
  }
  ValueMap values;
  for (size_t i = 0; i < arguments.size(); ++i) values[from.inputs()[i]] = arguments[i];
  Copier copier(*this, values, frame, insert_point_->block()->depth());
  copier.copy_nodes(from.block(), insert_point_);
  std::vector<Value*> outputs;
  for (Value* output : from.outputs()) outputs.push_back(copier.map(output));
  return outputs;
}

void Graph::copy_block(const Block& from, Block& to, ValueMap& values) {
  Copier(*this, values, nullptr, to.depth()).copy_nodes(from, to.return_node());
}

}  // namespace flambeau::script::ir
