#include "flambeau/formats/state_dict/persistent_ids.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

}  // namespace

ViewBudget::ViewBudget(uint64_t file_size)
    : left_((32ULL << 20) + 8 * std::min<uint64_t>(file_size, 1ULL << 48)) {}

void ViewBudget::charge(uint64_t bytes) {
  if (bytes > left_) {
    throw Error(ErrorCode::kLimit, "the views of storages take too much for the size of the file");
  }
  left_ -= bytes;
}

StorageId parse_storage_id(const Node& id) {
  if (!id.is(Kind::kTuple))
    corrupt(fmt::format("a persistent id should be a tuple, found {}", a_kind(id.kind())));
  const std::span<Node* const> parts = id.items();
  if (parts.empty() || !parts[0]->is(Kind::kString) || parts[0]->as_string() != "storage") {
    corrupt("a persistent id should start with 'storage'");
  }
  if (parts.size() != 5 && parts.size() != 6) {
    corrupt(fmt::format("a storage's persistent id has 5 or 6 parts, found {}", parts.size()));
  }
  StorageId result{};
  const StorageClass storage_class = storage_class_from_node(*parts[1]);
  result.dtype = storage_class.dtype;
  result.is_untyped = storage_class.is_untyped;
  result.key = parts[2]->as_string();
  const std::string_view location = parts[3]->as_string();
  const std::optional<Device> device = parse_device(location);
  if (!device) corrupt(fmt::format("'{}' is not a device", printable(location)));
  result.device = *device;
  const int64_t count = parts[4]->as_int();
  if (count < 0) corrupt(fmt::format("a storage of {} elements", count));
  result.byte_count = static_cast<uint64_t>(
      checked_mul(count, static_cast<int64_t>(dtype_size(result.dtype)), "the size of a storage"));
  if (parts.size() == 6 && !parts[5]->is(Kind::kNone)) {
    const std::span<Node* const> view = parts[5]->items();
    if (view.size() != 3) corrupt("a view of a storage has 3 parts: key, offset, size");
    result.view = StorageId::View{view[0]->as_string(), view[1]->as_int(), view[2]->as_int()};
    if (result.view->offset < 0 || result.view->size < 0)
      corrupt("a view of a storage with a negative bound");
  }
  return result;
}

const Node* class_in_persistent_id(const Node& id) {
  if (!id.is(Kind::kTuple)) return nullptr;
  const std::span<Node* const> parts = id.items();
  if (parts.size() == 3 && parts[0]->is(Kind::kGlobal)) return parts[0];
  const bool is_module =
      parts.size() == 4 && parts[0]->is(Kind::kString) && parts[0]->as_string() == "module";
  return is_module && parts[1]->is(Kind::kGlobal) ? parts[1] : nullptr;
}

}  // namespace flambeau
