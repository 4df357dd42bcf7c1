// The numbered places where a pickle keeps nodes that it needs again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace flambeau::pickle {

class Node;

// Picklers number from 0 without gaps, so a vector serves; an index far ahead of what was stored so far
// goes to a map, so that no index costs more memory than a fixed amount.
class ReaderMemo {
 public:
  // Null when nothing was stored there.
  Node* get(uint64_t index) const {
    if (index < dense_.size() && dense_[index] != nullptr) return dense_[index];
    if (sparse_.empty()) return nullptr;
    const auto found = sparse_.find(index);
    return found == sparse_.end() ? nullptr : found->second;
  }

  void put(uint64_t index, Node* node) {
    highest_ = std::max(highest_, index);
    if (index == dense_.size() && sparse_.empty()) {
      dense_.push_back(node);
      ++count_;
      return;
    }
    const bool is_new = get(index) == nullptr;
    if (index < 64 + 2 * count_) {
      if (index >= dense_.size()) dense_.resize(index + 1);
      dense_[index] = node;
    } else {
      sparse_[index] = node;
    }
    if (is_new) ++count_;
  }

  // How many places are taken: where MEMOIZE stores.
  uint64_t count() const { return count_; }
  uint64_t highest() const { return highest_; }

 private:
  std::vector<Node*> dense_;
  std::unordered_map<uint64_t, Node*> sparse_;
  uint64_t count_ = 0;
  uint64_t highest_ = 0;
};

}  // namespace flambeau::pickle
