#include "flambeau/formats/flatbuffer/flat_module.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::script {
namespace {

using flat::ExtraFileFields;
using flat::ModuleFields;
using flat::ObjectKind;
using flat::ObjectTypeFields;

constexpr size_t kMostObjectTypes = size_t{1} << 20;

flatbuffer::Table root_of(const flatbuffer::Buffer& buffer) {
  if (buffer.identifier() != flat::kIdentifier) {
    corrupt(fmt::format("a mobile module has the identifier '{}' at byte 4, found '{}'", flat::kIdentifier,
                        printable(buffer.identifier())));
  }
  return flatbuffer::Table::root(buffer);
}

}  // namespace

bool is_flatbuffer_module(ByteSpan bytes) {
  return bytes.size() >= 8 && as_text(bytes).substr(4, 4) == flat::kIdentifier;
}

FlatModule::FlatModule(std::shared_ptr<Mapping> mapping)
    : mapping_(std::move(mapping)),
      buffer_(mapping_->bytes()),
      root_(root_of(buffer_)),
      values_(root_.tables(ModuleFields::kValues, "the values")) {
  const auto version = root_.number<uint32_t>(ModuleFields::kVersion, "the version");
  if (version != flat::kVersion) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("bytecode of version {} in a flatbuffer; {} is known", version, flat::kVersion),
                version > flat::kVersion ? "a newer Flambeau may know it" : "");
  }
  operator_version_ = root_.number<uint32_t>(ModuleFields::kOperatorVersion, "the version of operators");
  state_ = root_.number<uint32_t>(ModuleFields::kState, "the module");
  // Older files do not say: then all of them are.
  mobile_value_count_ = root_.number<uint32_t>(ModuleFields::kMobileValues, "the number of values");
  if (mobile_value_count_ == 0) mobile_value_count_ = values_.size();
  if (mobile_value_count_ > values_.size()) {
    corrupt(fmt::format("the module says it has {} values, and has {}", mobile_value_count_, values_.size()));
  }
  if (state_ >= mobile_value_count_) {
    corrupt(fmt::format("the module is value {} of {}", state_, mobile_value_count_));
  }
  const flatbuffer::Numbers<uint32_t> methods =
      root_.numbers<uint32_t>(ModuleFields::kMethods, "the methods");
  for (size_t i = 0; i < methods.size(); ++i) {
    if (methods[i] >= mobile_value_count_) {
      corrupt(fmt::format("method {} is value {} of {}", i, methods[i], mobile_value_count_));
    }
    const auto kind = values_[methods[i]].number<uint8_t>(flat::ValueFields::kKind, "the kind of a value");
    if (kind != static_cast<uint8_t>(flat::ValueKind::kFunction))
      corrupt(fmt::format("method {} is value {}, which is no function", i, methods[i]));
  }
  read_files();
  read_storages();
  read_object_types();
}

void FlatModule::read_files() {
  const flatbuffer::Tables extra = root_.tables(ModuleFields::kExtraFiles, "the extra files");
  for (size_t i = 0; i < extra.size(); ++i) {
    const flatbuffer::Table file = extra[i];
    extra_files_.emplace_back(file.text(ExtraFileFields::kName, "the name of an extra file"),
                              file.text(ExtraFileFields::kContents, "an extra file"));
  }
  const flatbuffer::Tables sources = root_.tables(ModuleFields::kSources, "the sources");
  for (size_t i = 0; i < sources.size(); ++i) {
    const flatbuffer::Table file = sources[i];
    std::string name(file.text(ExtraFileFields::kName, "the name of a source"));
    if (!source_texts_.emplace(name, file.text(ExtraFileFields::kContents, "a source")).second)
      corrupt(fmt::format("the source '{}' is there twice", printable(name)));
    source_names_.push_back(std::move(name));
  }
}

void FlatModule::read_storages() {
  const auto said = root_.number<int32_t>(ModuleFields::kStorageCount, "the number of storages");
  const flatbuffer::Tables storages = root_.tables(ModuleFields::kStorages, "the storages");
  if (said < 0 || static_cast<size_t>(said) != storages.size()) {
    corrupt(fmt::format("the module says it has {} storages, and has {}", said, storages.size()));
  }
  for (size_t i = 0; i < storages.size(); ++i) {
    const ByteSpan bytes = storages[i].blob(flat::StorageFields::kData, "the bytes of a storage");
    const size_t offset = bytes.empty() ? 0 : static_cast<size_t>(bytes.data() - mapping_->bytes().data());
    storages_.push_back(Storage::view(mapping_, offset, bytes.size()));
  }
}

void FlatModule::read_object_types() {
  const flatbuffer::Tables types = root_.tables(ModuleFields::kObjectTypes, "the types of objects");
  if (types.size() > kMostObjectTypes) throw Error(ErrorCode::kLimit, "more than a million types of objects");
  for (size_t i = 0; i < types.size(); ++i) {
    const flatbuffer::Table type = types[i];
    ObjectType& made = object_types_.emplace_back();
    made.name = type.text(ObjectTypeFields::kName, "the name of a type");
    const auto kind = type.number<uint8_t>(ObjectTypeFields::kKind, "the kind of a type");
    if (kind > static_cast<uint8_t>(ObjectKind::kNone))
      corrupt(fmt::format("the type {} is of kind {}, which is not known", printable(made.name), kind));
    made.kind = static_cast<ObjectKind>(kind);
    const flatbuffer::Strings names = type.texts(ObjectTypeFields::kAttributes, "the attributes of a type");
    for (size_t k = 0; k < names.size(); ++k) made.attributes.emplace_back(names[k]);
  }
}

const FlatModule::ObjectType& FlatModule::object_type(uint32_t number) const {
  if (number >= object_types_.size())
    corrupt(fmt::format("an object is of type {} of {}", number, object_types_.size()));
  return object_types_[number];
}

const FlatModule::ObjectType& FlatModule::root_type() const {
  const flatbuffer::Table value = values_[state_];
  const auto kind = value.number<uint8_t>(flat::ValueFields::kKind, "the kind of a value");
  if (kind != static_cast<uint8_t>(flat::ValueKind::kObject))
    corrupt(fmt::format("the module is value {}, which is no object", state_));
  const flatbuffer::Table object = value.table(flat::ValueFields::kValue, "the module");
  return object_type(object.number<uint32_t>(flat::ObjectFields::kType, "the type of the module"));
}

const std::shared_ptr<Storage>& FlatModule::storage(uint32_t number) const {
  if (number >= storages_.size())
    corrupt(fmt::format("a tensor is in storage {} of {}", number, storages_.size()));
  return storages_[number];
}

flatbuffer::Numbers<uint32_t> FlatModule::constants() const {
  return root_.numbers<uint32_t>(ModuleFields::kConstants, "the constants of the sources");
}

std::shared_ptr<const Source> FlatModule::find_source(std::string_view qualifier) const {
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find(qualifier);
  if (found != sources_.end()) return found->second;
  std::shared_ptr<const Source> source;
  const auto text = source_texts_.find(qualifier);
  if (text != source_texts_.end())
    source = std::make_shared<const Source>(std::string(text->second), code_record(qualifier));
  sources_.emplace(qualifier, source);
  return source;
}

std::vector<std::string> FlatModule::qualifiers() const { return source_names_; }

std::vector<std::string> FlatModule::extra_files() const {
  std::vector<std::string> names;
  for (const auto& [name, contents] : extra_files_) names.push_back(name);
  return names;
}

std::string FlatModule::extra_file(std::string_view wanted) const {
  for (const auto& [name, contents] : extra_files_) {
    if (name == wanted) return std::string(contents);
  }
  throw Error(ErrorCode::kNotFound, fmt::format("there is no extra file '{}'", printable(wanted)));
}

}  // namespace flambeau::script
