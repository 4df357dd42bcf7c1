// Which values of a graph may share memory: as much of it as tells which writes nobody can see. Values are
// put into classes; what may be known outside of the graph, or was taken out of something, is in a class of
// its own kind: the shared one.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script {

class AliasClasses {
 public:
  explicit AliasClasses(const ir::Graph& graph);

  // The number of a value's class. Values that nobody can change have none that matters.
  size_t find(const ir::Value* value) const;
  // Whether others than the graph's own values may be in it.
  bool is_shared(size_t found) const { return classes_[found].is_shared; }
  // The classes of what a list, tuple, dict or object of this class holds.
  std::vector<size_t> contained(size_t found) const;
  // The values that the node writes to.
  static std::vector<const ir::Value*> written_by(const ir::Node& node);

 private:
  struct Entry {
    size_t parent;
    bool is_shared = false;
    std::vector<const ir::Value*> contained = {};
  };
  void add_node(const ir::Node& node);
  void add_operator(const ir::Node& node);
  size_t root_of(const ir::Value* value);
  void unite(const ir::Value* a, const ir::Value* b);
  void share(const ir::Value* value) { classes_[root_of(value)].is_shared = true; }

  std::vector<Entry> classes_;
  std::unordered_map<const ir::Value*, size_t> numbers_;
};

// Which values something in the graph may write to.
class WrittenValues {
 public:
  explicit WrittenValues(const ir::Graph& graph);

  bool may_be_written(const ir::Value* value) const;
  // By that node, or one in its blocks.
  bool may_write(const ir::Node& node, const ir::Value* value) const;

 private:
  static std::vector<const ir::Value*> written_by(const ir::Node& node);
  bool may_be_same(const ir::Value* written, const ir::Value* value) const;

  AliasClasses classes_;
  std::unordered_set<size_t> written_;
  std::vector<Type> shared_;  // types of shared values that are written to
};

}  // namespace flambeau::script
