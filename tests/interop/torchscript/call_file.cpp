#include "call_file.h"

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/formats/torchscript/script_file.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::torchscript_calls {

std::map<std::string, IValue> read_call(const std::string& path,
                                        const std::shared_ptr<const script::OperatorTable>& operators) {
  const auto records = std::make_shared<RecordArchive>(RecordArchive::open(Mapping::open(path)));
  const TorchFile file = read_torch_zip(records, "data.pkl", "data");
  script::Unit unit(operators);
  script::KeptStates kept;
  const script::LoadHooks hooks;
  std::map<std::string, IValue> parts;
  for (const pickle::Pair& pair : file.tree.root()->pairs()) {
    const std::string name(pair.key->as_string());
    if (name == "default_dtype") {
      parts[name] = IValue(pair.value->is(pickle::Kind::kGlobal) ? pair.value->as_global().name : "");
      continue;
    }
    script::ValueReader reader(unit, hooks, 10, kept);
    try {
      parts[name] = reader.read(*pair.value, *file.source);
    } catch (const Error&) {
      if (name == "args" || name == "kwargs" || name == "result" || name == "args_after") throw;
    }
  }
  return parts;
}

IValue typed(const IValue& value) {
  if (value.is(IValue::Tag::kTuple)) {
    std::vector<IValue> items;
    for (const IValue& item : value.items()) items.push_back(typed(item));
    return IValue::tuple(std::move(items));
  }
  const auto common = [](const std::vector<IValue>& items) -> Type {
    std::vector<Type> types;
    for (const IValue& item : items) types.push_back(script::runtime_type(item));
    const std::optional<Type> found = types.empty() ? std::nullopt : script::unify_types(nullptr, types);
    return found.value_or(TypeKind::kAny);
  };
  // New ones, as PyTorch's bindings make them of Python's.
  if (value.is(IValue::Tag::kList)) {
    std::vector<IValue> items;
    for (const IValue& item : value.items()) items.push_back(typed(item));
    const Type element = common(items);
    return IValue::list(element, std::move(items));
  }
  if (value.is(IValue::Tag::kDict)) {
    std::vector<IValue> keys, values;
    for (const script::DictItems::Entry& entry : value.as_dict().items.entries()) {
      keys.push_back(entry.key);
      values.push_back(typed(entry.value));
    }
    IValue made = IValue::dict(common(keys), common(values));
    for (size_t i = 0; i < keys.size(); ++i) made.as_dict().items.set(keys[i], values[i]);
    return made;
  }
  return value;
}

}  // namespace flambeau::torchscript_calls
