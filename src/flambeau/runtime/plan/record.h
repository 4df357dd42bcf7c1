// Stands at the entry of all operators while a program runs on tensors without data, and writes down the
// kernel calls a real run will make.
#pragma once

#include <memory>
#include <unordered_set>

#include "flambeau/runtime/layers/image_order.h"
#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {

class Recorder final : public ops::Interceptor {
 public:
  Recorder(Plan& plan, const Code& code) : plan_(plan), order_(code, *plan.backend) {}

  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override;
  // A tensor like this one in memory that the plan has yet to place.
  Tensor stand_in(const Tensor& like, Buffer buffer);
  // The same values as the program believes them to lie in memory.
  Tensor restored(const Tensor& tensor, const ops::Library& library);
  // Which node the next calls belong to.
  void set_node(std::string node) { node_ = std::move(node); }

 private:
  bool is_known(const Tensor& tensor) const { return !plan_.find_buffer(tensor).has_value(); }
  bool is_known(std::span<const Value> arguments) const;
  bool may_fold(const ops::Operator& op, std::span<const Value> arguments) const;
  std::vector<Value> fold(ops::Context& context, const ops::Operator& op, std::span<const Value> arguments);
  std::vector<Value> record(ops::Context& context, const ops::Operator& op, std::span<const Value> arguments);
  std::vector<Value> add_kernel(const ops::Library& library, const ops::Operator& op,
                                std::span<const Value> given);
  Tensor turned(const Tensor& image, const ops::Library& library);
  // It is written to: copies of it in another order are no longer the same.
  void forget(const Tensor& tensor) {
    restored_.erase(tensor.storage().get());
    turned_.erase(tensor.storage().get());
  }
  std::vector<Value> add_function(ops::Context& context, const ops::Operator& op,
                                  std::span<const Value> arguments);
  std::vector<Value> add_in_place(ops::Context& context, const ops::Operator& op,
                                  std::span<const Value> arguments);
  void add_step(const ops::Operator& op, std::span<const Value> arguments, std::vector<Tensor> outputs);
  void demote(const std::shared_ptr<Storage>& storage, const ops::Library& library);
  Tensor fresh(const ops::Info<Size>& info);

  Plan& plan_;
  ImageOrder order_;
  std::unordered_map<const Storage*, Tensor> restored_;
  std::unordered_map<const Storage*, std::pair<Tensor, Tensor>> turned_;  // the image, and its copy
  std::string node_;
  // Storages that planning itself made and filled: nobody else sees what happens to them.
  std::unordered_set<const Storage*> own_;
  std::vector<std::shared_ptr<Storage>> kept_;  // so that their addresses are not used again
  // Constants that a step reads: they must stay as they are.
  std::unordered_set<const Storage*> read_;
};

}  // namespace flambeau::runtime
