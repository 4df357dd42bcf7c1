// The root of a mobile module in a flatbuffer, and what lies directly below it: sources, extra files,
// storages, types of objects.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/flatbuffer/reader.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/flatbuffer/schema.h"
#include "flambeau/formats/torchscript/script_archive.h"
#include "flambeau/tensor/storage.h"

namespace flambeau::script {

bool is_flatbuffer_module(ByteSpan bytes);

class FlatModule final : public ScriptContents {
 public:
  struct ObjectType {
    std::string name;
    flat::ObjectKind kind = flat::ObjectKind::kUnset;
    std::vector<std::string> attributes;
  };

  // Throws Error(kCorrupt) located at the byte for a buffer that contradicts itself, Error(kUnsupported) for
  // bytecode of another version.
  explicit FlatModule(std::shared_ptr<Mapping> mapping);

  // Of the sources it is that of the bytecode, which PyTorch takes for the archive's.
  int64_t version() const override { return has_code() ? flat::kVersion : operator_version_; }
  std::shared_ptr<const Source> find_source(std::string_view qualifier) const override;
  std::vector<std::string> qualifiers() const override;
  std::vector<std::string> extra_files() const override;
  std::string extra_file(std::string_view name) const override;

  int64_t operator_version() const { return operator_version_; }
  // Whether there are sources that a unit could be made of.
  bool has_code() const { return !source_names_.empty(); }
  const flatbuffer::Table& root() const { return root_; }
  const flatbuffer::Tables& values() const { return values_; }
  // How many of the values are the mobile module's; those behind are constants of its sources.
  size_t mobile_value_count() const { return mobile_value_count_; }
  // The place of the module among the values.
  uint32_t state() const { return state_; }
  // Of the module. Throws Error(kCorrupt) where it is no object.
  const ObjectType& root_type() const;
  // Of objects, by number. Throws Error(kCorrupt) for a number that no type has.
  const ObjectType& object_type(uint32_t number) const;
  flatbuffer::Numbers<uint32_t> constants() const;
  const std::vector<ObjectType>& object_types() const { return object_types_; }
  // Throws Error(kCorrupt) for a number that no storage has.
  const std::shared_ptr<Storage>& storage(uint32_t number) const;

 private:
  void read_files();
  void read_storages();
  void read_object_types();

  std::shared_ptr<Mapping> mapping_;
  flatbuffer::Buffer buffer_;
  flatbuffer::Table root_;
  flatbuffer::Tables values_;
  int64_t operator_version_ = 0;
  uint32_t state_ = 0;
  size_t mobile_value_count_ = 0;
  std::vector<ObjectType> object_types_;
  std::vector<std::shared_ptr<Storage>> storages_;
  std::vector<std::string> source_names_;
  std::map<std::string, std::string_view, std::less<>> source_texts_;
  std::vector<std::pair<std::string, std::string_view>> extra_files_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Source>, std::less<>> sources_;
};

}  // namespace flambeau::script
