// Which of two nodes runs first. Each node of a block has a number that grows along the block; one that is
// put between two others takes a number between theirs. Where there is none left, the numbers around are
// spread over the smallest range that has room, which keeps the cost of an insertion logarithmic on average
// wherever nodes are inserted.
#include "flambeau/script/ir/graph.h"

namespace flambeau::script::ir {

namespace {

constexpr int kPositionBits = 62;
constexpr uint64_t kPositionEnd = uint64_t{1} << kPositionBits;
constexpr uint64_t kPositionStep = uint64_t{1} << 32;
// Of a range twice as large, a node may have that much less: between 1, where spreading is rare but wide, and
// 2.
constexpr double kPositionGrowth = 4.0 / 3.0;

}  // namespace

void Node::take_position() {
  const uint64_t low = previous_ != nullptr ? previous_->position_ : 0;
  const uint64_t high = next_ != nullptr ? next_->position_ : kPositionEnd;
  if (previous_ == nullptr && next_ == nullptr) {
    position_ = kPositionEnd / 2;
  } else if (next_ == nullptr && high - low > kPositionStep) {
    position_ = low + kPositionStep;
  } else if (previous_ == nullptr && high > kPositionStep) {
    position_ = high - kPositionStep;
  } else if (high - low >= 2) {
    position_ = low + (high - low) / 2;
  } else {
    spread_positions();
  }
}

void Node::spread_positions() {
  const uint64_t near = previous_ != nullptr ? previous_->position_ : next_->position_;
  Node* first = this;
  Node* last = this;
  uint64_t count = 1;
  double room = 1;
  for (int bits = 1; bits <= kPositionBits; ++bits) {
    const uint64_t size = uint64_t{1} << bits;
    const uint64_t start = near & ~(size - 1);
    room *= kPositionGrowth;
    for (; first->previous_ != nullptr && first->previous_->position_ >= start; ++count)
      first = first->previous_;
    for (; last->next_ != nullptr && last->next_->position_ - start < size; ++count) last = last->next_;
    if (bits < kPositionBits && (static_cast<double>(count) >= room || size / (count + 1) < 2)) continue;
    uint64_t position = start;
    for (Node* node = first;; node = node->next_) {
      position += size / (count + 1);
      node->position_ = position;
      if (node == last) return;
    }
  }
}

bool Node::is_inside(const Node* other) const {
  const Node* node = this;
  while (node != nullptr && node != other) node = node->block_ != nullptr ? node->block_->owner_ : nullptr;
  return node == other && this != other;
}

int Block::depth() const {
  int depth = 0;
  for (const Node* node = owner_; node != nullptr && node->block_ != nullptr; node = node->block_->owner_) {
    ++depth;
  }
  return depth;
}

bool Node::is_before(const Node* other) const {
  if (this == other || block_ == nullptr || other->block_ == nullptr) return false;
  const Node* mine = this;
  const Node* theirs = other;
  int my_depth = mine->block_->depth();
  int their_depth = theirs->block_->depth();
  for (; my_depth > their_depth; --my_depth) mine = mine->block_->owner_;
  for (; their_depth > my_depth; --their_depth) theirs = theirs->block_->owner_;
  // One is inside of the other: the outer one comes first.
  if (mine == theirs) return mine == this;
  while (mine->block_ != theirs->block_) {
    const Node* my_owner = mine->block_->owner_;
    const Node* their_owner = theirs->block_->owner_;
    if (my_owner == their_owner) {
      for (const Block* block : my_owner->blocks_) {
        if (block == mine->block_) return true;
        if (block == theirs->block_) return false;
      }
    }
    if (my_owner == nullptr || their_owner == nullptr) return false;
    mine = my_owner;
    theirs = their_owner;
  }
  if (mine->is(NodeKind::kParameters) || theirs->is(NodeKind::kReturn)) return true;
  if (theirs->is(NodeKind::kParameters) || mine->is(NodeKind::kReturn)) return false;
  return mine->position_ < theirs->position_;
}

}  // namespace flambeau::script::ir
