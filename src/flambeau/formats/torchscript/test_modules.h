// For tests: units with classes made by hand, and archives in memory.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/archive/pickle/writer.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/zip/writer.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::testing {

inline std::shared_ptr<Unit> make_unit() {
  return std::make_shared<Unit>(std::make_shared<const SchemaTable>());
}

inline std::shared_ptr<Class> make_class(Unit& unit, ClassKind kind, const std::string& name,
                                         const std::vector<std::pair<std::string, Type>>& attributes) {
  auto made = std::make_shared<Class>(kind, name);
  for (const auto& [called, type] : attributes) {
    Attribute attribute;
    attribute.name = called;
    attribute.type = type;
    made->attributes.push_back(std::move(attribute));
  }
  unit.add(made);
  return made;
}

// Records by name, behind "archive/".
inline std::shared_ptr<const RecordArchive> make_archive(
    const std::vector<std::pair<std::string, std::string>>& records) {
  MemorySink sink;
  zip::Writer writer(sink, {});
  for (const auto& [name, contents] : records) writer.add_text(name, contents);
  writer.finish();
  return std::make_shared<const RecordArchive>(RecordArchive::open(Mapping::from_buffer(sink.take())));
}

// A call as PyTorch's pickler writes an object.
inline pickle::Node* object(pickle::Tree& tree, std::string_view module, std::string_view name,
                            pickle::Node* state) {
  pickle::Node* made = tree.call(tree.global(module, name), tree.tuple(), pickle::CallKind::kNewObject);
  tree.set_state(made, state);
  return made;
}

}  // namespace flambeau::script::testing
