// Values and errors of scripts, as users of flambeau/script.h see them.
#include <fmt/format.h>

#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/traceback.h"
#include "flambeau/script.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

// Of all of them; Any where they differ, and of none.
Type common_type(const std::vector<const IValue*>& values) {
  if (values.empty()) return TypeKind::kAny;
  Type first = runtime_type(*values.front());
  for (const IValue* const value : values) {
    if (runtime_type(*value) != first) return TypeKind::kAny;
  }
  return first;
}

struct ValueText {
  static constexpr int kMostDepth = 20;
  static constexpr size_t kMostBytes = size_t{1} << 20;

  void add(const IValue& value, int depth) {
    if (depth > kMostDepth || all.size() > kMostBytes) {
      all += "...";
      return;
    }
    switch (value.tag()) {
      case IValue::Tag::kTensor:
        all += value.as_tensor().summary();
        return;
      case IValue::Tag::kList:
        return add_items(value.items(), "[", "]", depth);
      case IValue::Tag::kTuple: {
        const std::shared_ptr<const Class>& named = value.as_tuple().named;
        if (named != nullptr)
          all += printable(named->qualified_name().substr(named->qualified_name().rfind('.') + 1));
        return add_items(value.items(), "(", value.items().size() == 1 ? ",)" : ")", depth);
      }
      case IValue::Tag::kDict: {
        std::string_view comma;
        all += "{";
        for (const DictItems::Entry& entry : value.as_dict().items.entries()) {
          all += std::exchange(comma, ", ");
          add(entry.key, depth + 1);
          all += ": ";
          add(entry.value, depth + 1);
        }
        all += "}";
        return;
      }
      case IValue::Tag::kEnum:
        all += fmt::format("{}.{}", printable(value.kind_name()), printable(value.as_enum().name));
        return;
      case IValue::Tag::kObject:
      case IValue::Tag::kNative:
      case IValue::Tag::kFuture:
        all += fmt::format("<{}>", printable(value.kind_name()));
        return;
      default:
        all += ir::to_text(value);
    }
  }
  void add_items(const std::vector<IValue>& items, std::string_view open, std::string_view close, int depth) {
    std::string_view comma;
    all += open;
    for (const IValue& item : items) {
      all += std::exchange(comma, ", ");
      if (all.size() > kMostBytes) break;
      add(item, depth + 1);
    }
    all += close;
  }

  std::string all;
};

std::string frame_place(const SourceRange& range) {
  if (!range) return {};
  return fmt::format("{}:{}",
                     range.source->file_name().empty() ? "<string>" : printable(range.source->file_name()),
                     range.source->line_of(range.start));
}

}  // namespace

std::string to_text(const IValue& value) {
  ValueText text;
  text.add(value, 0);
  return std::move(text.all);
}

std::string type_text(const IValue& value) { return annotation_text(runtime_type(value)); }

IValue make_list(std::vector<IValue> items) {
  std::vector<const IValue*> all;
  for (const IValue& item : items) all.push_back(&item);
  const Type element = common_type(all);
  return IValue::list(element, std::move(items));
}

IValue make_dict(std::vector<std::pair<IValue, IValue>> items) {
  std::vector<const IValue*> keys, values;
  for (const auto& [key, value] : items) {
    keys.push_back(&key);
    values.push_back(&value);
  }
  IValue made = IValue::dict(common_type(keys), common_type(values));
  for (auto& [key, value] : items) made.as_dict().items.set(std::move(key), std::move(value));
  return made;
}

std::vector<std::pair<IValue, IValue>> dict_items(const IValue& value) {
  std::vector<std::pair<IValue, IValue>> found;
  for (const DictItems::Entry& entry : value.as_dict().items.entries())
    found.emplace_back(entry.key, entry.value);
  return found;
}

std::vector<ScriptFrame> frames_of(const Error& error) {
  std::vector<ScriptFrame> found;
  const auto* const failure = dynamic_cast<const interpreter::ScriptError*>(&error);
  if (failure == nullptr) return found;
  for (const interpreter::TraceFrame& frame : failure->frames()) {
    ScriptFrame& made = found.emplace_back();
    made.function = frame.function;
    made.module_path = frame.module_path;
    made.place = frame_place(frame.range);
    if (!frame.range || frame.range.source->origins() == nullptr) continue;
    if (const std::optional<SourceRange> origin = frame.range.source->origins()->find(frame.range.start))
      made.original = frame_place(*origin);
  }
  return found;
}

std::string traceback_text(const Error& error) {
  if (const auto* const failure = dynamic_cast<const interpreter::ScriptError*>(&error))
    return interpreter::traceback_text(*failure);
  return std::string(error.what()) + "\n";
}

}  // namespace flambeau::script
