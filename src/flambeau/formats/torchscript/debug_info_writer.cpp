#include <unordered_map>

#include "flambeau/archive/pickle/writer.h"
#include "flambeau/formats/torchscript/debug_info.h"

namespace flambeau::script {
namespace {

using pickle::Node;
using pickle::Tree;

// The texts of one record, each once: text 0 is empty, and lines keep their ends.
class TextTable {
 public:
  explicit TextTable(Tree& tree) : tree_(tree) { index_of(""); }

  Node* index_of(std::string_view text) {
    const auto [place, is_new] = indices_.try_emplace(std::string(text), texts_.size());
    if (is_new) texts_.push_back(tree_.string(text));
    return tree_.integer(static_cast<int64_t>(place->second));
  }
  Node* tuple() { return tree_.tuple(texts_); }

  // A text that ends with a line's end has one more line, which is empty.
  Node* lines_of(std::string_view text) {
    std::vector<Node*> lines;
    for (size_t begin = 0;;) {
      const size_t end = text.find('\n', begin);
      if (end == std::string_view::npos) {
        lines.push_back(index_of(text.substr(begin)));
        return list(lines);
      }
      lines.push_back(index_of(text.substr(begin, end + 1 - begin)));
      begin = end + 1;
    }
  }
  Node* list(std::span<Node* const> numbers) {
    if (build_list_ == nullptr) build_list_ = tree_.global("torch.jit._pickle", "build_intlist");
    return tree_.call(build_list_, tree_.tuple({tree_.list(numbers)}));
  }

 private:
  Tree& tree_;
  Node* build_list_ = nullptr;
  std::vector<Node*> texts_;
  std::unordered_map<std::string, size_t> indices_;
};

}  // namespace

std::string DebugPickler::pickle(std::span<const TextOrigin> records) {
  Tree tree;
  TextTable table(tree);
  std::unordered_map<const Source*, Node*> sources;
  const auto describe = [&](const Source* source) {
    Node*& node = sources[source];
    if (node != nullptr) return node;
    if (source == nullptr) {
      node = tree.tuple({table.list({}), tree.integer(0), tree.integer(0)});
    } else {
      Node* lines = table.lines_of(source->text());
      Node* file = table.index_of(source->file_name());
      node = tree.tuple({lines, file, tree.integer(static_cast<int64_t>(source->first_line()))});
    }
    // The places of the memo are PyTorch's: what it holds twice while it writes.
    Tree::set_memoized(node);
    return node;
  };
  std::vector<Node*> ranges;
  ranges.reserve(records.size());
  for (const TextOrigin& record : records) {
    const SourceRange& range = record.range;
    const Key key{range.source.get(), range.start, range.end};
    const int64_t tag = tags_.try_emplace(key, static_cast<int64_t>(tags_.size())).first->second;
    Node* described =
        tree.tuple({describe(range.source.get()), tree.integer(range.start), tree.integer(range.end)});
    ranges.push_back(
        tree.tuple({tree.integer(static_cast<int64_t>(record.offset)), described, tree.integer(tag)}));
  }
  Node* all = tree.tuple(ranges);
  Node* texts = table.tuple();
  Tree::set_memoized(texts);
  Tree::set_memoized(all);
  return pickle::write_torch(*tree.tuple({tree.string("FORMAT_WITH_STRING_TABLE"), texts, all}));
}

}  // namespace flambeau::script
