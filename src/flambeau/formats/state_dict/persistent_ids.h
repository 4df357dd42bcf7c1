// The ids under which PyTorch's pickles refer to storages:
//   ('storage', torch.FloatStorage, key, location, element count[, view])
#pragma once

#include <optional>
#include <string_view>

#include "flambeau/formats/state_dict/rebuild.h"

namespace flambeau {

struct StorageId {
  DType dtype;
  bool is_untyped;
  std::string_view key;
  Device device;
  uint64_t byte_count;
  // Legacy files: a part of the storage, in elements.
  struct View {
    std::string_view key;
    int64_t offset;
    int64_t size;
  };
  std::optional<View> view;
};

// Throws Error(kCorrupt) saying what is wrong with the id.
StorageId parse_storage_id(const pickle::Node& id);

// Older files keep the source text of pickled classes in such ids: ('module', class, file, text), in the tar
// form (class, file, text). The class then; null for every other id.
const pickle::Node* class_in_persistent_id(const pickle::Node& id);

}  // namespace flambeau
