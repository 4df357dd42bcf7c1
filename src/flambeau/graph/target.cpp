#include "flambeau/graph/target.h"

#include <optional>

namespace flambeau::graph {
namespace {

constexpr std::string_view kOperators = "torch.ops.";
constexpr std::string_view kHigherOrders = "torch.ops.higher_order.";

// Of "#namespace:name"; nothing for another text.
std::optional<OperatorName> extension_name(std::string_view text) {
  const size_t colon = text.find(':');
  const bool is_good = colon != std::string_view::npos && colon > 1 && colon + 1 < text.size() &&
                       text.find(':', colon + 1) == std::string_view::npos;
  if (!is_good) return {};
  std::string name(text.substr(1, colon));
  name.append(":").append(text.substr(colon + 1));
  return OperatorName{std::move(name), {}};
}

}  // namespace

Target::Target() {
  static const std::shared_ptr<const Read> kEmpty = std::make_shared<const Read>();
  read_ = kEmpty;
}

Target::Target(std::string text) : read_(read(std::move(text))) {}

std::shared_ptr<const Target::Read> Target::read(std::string text) {
  auto made = std::make_shared<Read>();
  std::optional<OperatorName> op;
  if (text.starts_with(kHigherOrders)) {
    made->kind = TargetKind::kHigherOrder;
    made->higher_order = find_higher_order(std::string_view(text).substr(kHigherOrders.size()));
  } else if (text.starts_with(kOperators)) {
    op = find_python_operator(text);
    if (op) made->kind = TargetKind::kOperator;
  } else if (text.starts_with('#')) {
    op = extension_name(text);
    if (op) made->kind = TargetKind::kExtension;
  } else {
    made->kind = TargetKind::kFunction;
  }
  if (op) made->op = *std::move(op);
  made->text = std::move(text);
  return made;
}

bool Target::is_in_torch_ops() const { return text().starts_with(kOperators); }

std::string_view Target::name() const {
  return is_higher_order() ? std::string_view(text()).substr(kHigherOrders.size()) : std::string_view(text());
}

std::string higher_order_target(std::string_view name) { return std::string(kHigherOrders).append(name); }

}  // namespace flambeau::graph
