#include "flambeau/formats/safety/pickle_tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/expansion.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

// Functions that give every element a place of its own, also where strides of 0 made one of many.
bool lays_out(const Node& node) {
  if (!node.is(Kind::kCall) || !node.as_call().callee->is(Kind::kGlobal)) return false;
  const Node::Call call = node.as_call();
  Node::GlobalName name = call.callee->as_global();
  const bool is_wrapped = name.name.starts_with("_rebuild_from_type") && call.args->is(Kind::kTuple) &&
                          !call.args->items().empty() && call.args->items()[0]->is(Kind::kGlobal);
  if (is_wrapped) name = call.args->items()[0]->as_global();
  return name.name == "_rebuild_qtensor" || name.name.starts_with("_rebuild_device_tensor") ||
         name.name == "_rebuild_xla_tensor";
}

class Finder {
 public:
  Finder(const TorchFile& file, uint64_t file_size, size_t most)
      : file_(file), rebuilder_(*file.source), budget_(file_size), file_size_(file_size), most_(most) {}

  std::vector<std::string> run() {
    look_at(file_.tree.persistents());
    look_at(file_.tree.calls());
    return std::move(found_);
  }

 private:
  void look_at(std::span<Node* const> nodes) {
    for (const Node* node : nodes) {
      if (found_.size() >= most_) return;
      try {
        look_at(*node);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kCancelled) throw;
        if (error.code() != ErrorCode::kUnsupported) add(error.what());
        if (error.code() == ErrorCode::kLimit) return;
      }
    }
  }

  void look_at(const Node& node) {
    const Rebuilt* const rebuilt = rebuilder_.find(node);
    if (rebuilt == nullptr) return;
    const Tensor& tensor = rebuilt->tensor;
    budget_.charge(tensor, "");
    if (tensor.layout() != Layout::kStrided) check_indices(tensor);
    if (!lays_out(node)) return;
    // Of at most 16 bytes, the largest element.
    const uint64_t most = most_laid_out() / 16;
    if (static_cast<uint64_t>(tensor.element_count()) > most) {
      add(fmt::format("makes room for {} elements, which the file does not hold", tensor.element_count()));
    }
  }

  // PyTorch believes the indices of a sparse tensor: those outside of it are read and written outside of
  // memory.
  void check_indices(const Tensor& tensor) {
    const SparseParts& parts = *tensor.sparse_parts();
    for (const Tensor* part : {&parts.indices, &parts.compressed_indices, &parts.plain_indices}) {
      if (!part->defined()) continue;
      if (part->is_meta()) return;
      const auto count = static_cast<uint64_t>(part->element_count());
      if (count > (most_laid_out() - indices_) / sizeof(int64_t)) {
        throw Error(ErrorCode::kLimit,
                    fmt::format("the indices of {} are more than the file holds", tensor.summary()));
      }
      indices_ += count * sizeof(int64_t);
    }
    validate_sparse_indices(tensor);
  }

  uint64_t most_laid_out() const { return ExpansionBudget::kFree + ExpansionBudget::kFactor * file_size_; }

  void add(std::string problem) {
    if (std::ranges::find(found_, problem) == found_.end()) found_.push_back(std::move(problem));
  }

  const TorchFile& file_;
  Rebuilder rebuilder_;
  DescriptionBudget budget_;
  uint64_t file_size_;
  size_t most_;
  uint64_t indices_ = 0;  // bytes of those that were looked at
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> find_false_tensors(const TorchFile& file, uint64_t file_size, size_t most) {
  return Finder(file, file_size, most).run();
}

}  // namespace flambeau
