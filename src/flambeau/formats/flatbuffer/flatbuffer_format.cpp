// Mobile modules in flatbuffers as a kind of file.
#include <fmt/format.h>

#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/flatbuffer/flat_module.h"
#include "flambeau/formats/flatbuffer/flatbuffer_file.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/inspecting.h"
#include "flambeau/formats/safety/safety_checker.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau {
namespace {

using script::IValue;

// Nothing of it runs: objects keep the states that they would be given.
script::MobileFile read_inert(const std::shared_ptr<Mapping>& mapping) {
  const auto operators = std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  try {
    return script::read_flatbuffer(mapping, operators, {}, true);
  } catch (const Error& error) {
    // Bytecode defines no enumerations.
    if (error.code() != ErrorCode::kUnsupported) throw;
    return script::read_flatbuffer(mapping, operators, {}, false);
  }
}

std::string below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

Checkpoint open_flatbuffer(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  const script::ScriptFile file = read_inert(mapping).script;
  struct Step {
    std::string path;
    IValue value;
  };
  NamedTensors tensors;
  std::unordered_set<const void*> seen;
  std::vector<Step> left{{"", file.module}};
  while (!left.empty()) {
    const Step step = std::move(left.back());
    left.pop_back();
    const IValue& value = step.value;
    if (value.is(IValue::Tag::kTensor)) {
      if (value.as_tensor().defined()) tensors.push_back({step.path, value.as_tensor()});
      continue;
    }
    if (value.identity() == nullptr || !seen.insert(value.identity()).second) continue;
    std::vector<Step> inside;
    if (value.is(IValue::Tag::kTuple) || value.is(IValue::Tag::kList)) {
      for (size_t i = 0; i < value.items().size(); ++i)
        inside.push_back({below(step.path, std::to_string(i)), value.items()[i]});
    } else if (value.is(IValue::Tag::kDict)) {
      for (const script::DictItems::Entry& entry : value.as_dict().items.entries()) {
        if (entry.key.is(IValue::Tag::kString))
          inside.push_back({below(step.path, entry.key.as_string()), entry.value});
      }
    } else if (value.is(IValue::Tag::kObject)) {
      const script::ObjectBox& object = value.as_object();
      const auto kept = file.kept.find(value.identity());
      if (kept != file.kept.end()) {
        inside.push_back({step.path, kept->second.state});
      } else {
        for (size_t i = 0; i < object.slots.size(); ++i)
          inside.push_back({below(step.path, object.type->attributes.at(i).name), object.slots[i]});
      }
    }
    left.insert(left.end(), std::make_move_iterator(inside.rbegin()), std::make_move_iterator(inside.rend()));
  }
  return CheckpointBuilder::from_named(std::move(tensors));
}

void inspect_flatbuffer(Inspecting& inspecting) {
  const script::FlatModule module(inspecting.mapping());
  inspecting.result().producer = module.has_code() ? "PyTorch 1.12 or newer, with TorchScript code"
                                                   : "PyTorch 1.12 or newer, with bytecode alone";
}

void check_flatbuffer(safety::Checker& checker) {
  checker.guarded("flatbuffer", "", [&] { read_inert(checker.mapping()); });
  checker.find(Severity::kCaution, "code", "",
               "mobile bytecode, which runs when the module is loaded and called");
}

}  // namespace

constinit const Format kMobileFlatBufferFormat = {
    .name = "mobile_flatbuffer",
    .description = "a mobile module in the flatbuffer form",
    .fits = script::is_flatbuffer_module,
    .open = open_flatbuffer,
    .inspect = inspect_flatbuffer,
    .note = "its code is printed by 'flambeau code', and summed up by --code",
    .openings = bit(Opening::kModel),
    .check = check_flatbuffer,
};

}  // namespace flambeau
