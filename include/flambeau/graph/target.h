// What a node calls: the text that the file has, read once. Copies share it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "flambeau/graph/higher_order.h"
#include "flambeau/value/operator_name.h"

namespace flambeau::graph {

enum class TargetKind : uint8_t {
  kOperator,     // "torch.ops.aten.add.Tensor"
  kExtension,    // an operator of somebody's extension of the format: "#namespace:name"
  kHigherOrder,  // "torch.ops.higher_order.cond"
  kFunction,     // of Python: "_operator.mul"
  kMalformed,    // looks like an operator, and is none
};

class Target {
 public:
  Target();  // empty
  explicit Target(std::string text);
  Target& operator=(std::string_view text) { return *this = Target(std::string(text)); }

  const std::string& text() const { return read_->text; }
  TargetKind kind() const { return read_->kind; }
  bool is_higher_order() const { return kind() == TargetKind::kHigherOrder; }
  // Whether Python finds it in torch.ops.
  bool is_in_torch_ops() const;
  // The name of an operator or of an extension's; null for others.
  const OperatorName* op() const { return read_->op.name.empty() ? nullptr : &read_->op; }
  // Of a higher-order operator, "cond"; else the text.
  std::string_view name() const;
  // What is known of a higher-order operator; null for one that PyTorch does not have, and for others.
  const HigherOrder* higher_order() const { return read_->higher_order; }

  bool operator==(const Target& other) const { return text() == other.text(); }
  bool operator==(std::string_view other) const { return text() == other; }

 private:
  struct Read {
    std::string text;
    TargetKind kind = TargetKind::kMalformed;
    OperatorName op;
    const HigherOrder* higher_order = nullptr;
  };
  static std::shared_ptr<const Read> read(std::string text);

  std::shared_ptr<const Read> read_;
};

// "torch.ops.higher_order.cond".
std::string higher_order_target(std::string_view name);

}  // namespace flambeau::graph
