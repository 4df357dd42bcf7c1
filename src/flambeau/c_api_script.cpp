// TorchScript modules in C: values nested as the script nests them, methods, attributes, files.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "flambeau/base/files/mapping.h"
#include "flambeau/c_api_parts.h"
#include "flambeau/script.h"

struct flambeau_object {
  flambeau::script::IValue value;
};

struct flambeau_script {
  explicit flambeau_script(flambeau::script::ScriptModule loaded) : module(std::move(loaded)) {}
  flambeau::script::ScriptModule module;
  // Texts that C is shown: made when it first asks.
  mutable std::mutex mutex;
  mutable std::vector<flambeau::script::ModuleMethod> methods;
  mutable std::vector<flambeau::script::ModuleAttribute> attributes;
  std::vector<std::unique_ptr<std::string>> files;
};

namespace {

using flambeau::Error;
using flambeau::ErrorCode;
using flambeau::c::copy_text;
using flambeau::c::guarded;
using flambeau::c::kind_of;
using flambeau::c::read_plain;
using flambeau::c::require;
using flambeau::script::IValue;
using flambeau::script::ScriptModule;

constexpr int kMostValueDepth = 64;

struct ItemsHeld : flambeau_items {
  std::vector<flambeau_value> held;
};

IValue read_script_value(const flambeau_value& value, const std::string& what, int depth = 0) {
  require(depth < kMostValueDepth, fmt::format("{} is nested too deep", what));
  const int32_t kind = kind_of(value);
  const auto items = [&] {
    require(value.as.items != nullptr, fmt::format("{} has items that are NULL", what));
    require(value.as.items->items != nullptr || value.as.items->count == 0,
            fmt::format("{} has items that are NULL", what));
    std::vector<IValue> read;
    for (size_t i = 0; i < value.as.items->count; ++i)
      read.push_back(read_script_value(value.as.items->items[i], what, depth + 1));
    return read;
  };
  if (std::optional<IValue> plain = read_plain<IValue>(value, what)) return *std::move(plain);
  switch (kind) {
    case FLAMBEAU_LIST_VALUE:
      return flambeau::script::make_list(items());
    case FLAMBEAU_TUPLE_VALUE:
      return IValue::tuple(items());
    case FLAMBEAU_DICT_VALUE: {
      std::vector<IValue> all = items();
      require(all.size() % 2 == 0, fmt::format("{} is a dict with a key that has no value", what));
      std::vector<std::pair<IValue, IValue>> pairs;
      for (size_t i = 0; i < all.size(); i += 2) pairs.emplace_back(all[i], all[i + 1]);
      return flambeau::script::make_dict(std::move(pairs));
    }
    case FLAMBEAU_OBJECT_VALUE:
      require(value.as.object != nullptr, fmt::format("{} is an object that is NULL", what));
      return value.as.object->value;
    case FLAMBEAU_COMPLEX_VALUE:
      require(value.as.parts != nullptr, fmt::format("{} is a complex number that is NULL", what));
      return std::complex<double>(value.as.parts[0], value.as.parts[1]);
    default:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is of the unknown kind {}", what, kind));
}

// Makes values for C; those that were made are freed where one cannot be.
class ResultMaker {
 public:
  flambeau_value make(const IValue& value, int depth = 0) {
    if (depth >= kMostValueDepth || --left_ == 0)
      throw Error(ErrorCode::kLimit, "the result is too large for C, or holds itself");
    flambeau_value made = {};
    switch (value.tag()) {
      case IValue::Tag::kNone:
        return made;
      case IValue::Tag::kTensor:
        made.kind = FLAMBEAU_TENSOR_VALUE;
        made.as.tensor = new flambeau_tensor{value.as_tensor()};
        return made;
      case IValue::Tag::kInt:
        made.kind = FLAMBEAU_INT_VALUE;
        made.as.integer = value.as_int();
        return made;
      case IValue::Tag::kFloat:
        made.kind = FLAMBEAU_FLOAT_VALUE;
        made.as.number = value.as_float();
        return made;
      case IValue::Tag::kBool:
        made.kind = FLAMBEAU_BOOL_VALUE;
        made.as.flag = value.as_bool() ? 1 : 0;
        return made;
      case IValue::Tag::kString:
        made.kind = FLAMBEAU_STRING_VALUE;
        made.as.text = copy_text(value.as_string());
        return made;
      case IValue::Tag::kList:
        return make_items(FLAMBEAU_LIST_VALUE, value.items(), depth);
      case IValue::Tag::kTuple:
        return make_items(FLAMBEAU_TUPLE_VALUE, value.items(), depth);
      case IValue::Tag::kDict: {
        std::vector<IValue> all;
        for (auto& [key, held] : flambeau::script::dict_items(value)) {
          all.push_back(key);
          all.push_back(held);
        }
        return make_items(FLAMBEAU_DICT_VALUE, all, depth);
      }
      case IValue::Tag::kComplex: {
        auto* const numbers = new double[2]{value.as_complex().real(), value.as_complex().imag()};
        made.kind = FLAMBEAU_COMPLEX_VALUE;
        made.as.parts = numbers;
        return made;
      }
      default:
        made.kind = FLAMBEAU_OBJECT_VALUE;
        made.as.object = new flambeau_object{value};
        return made;
    }
  }

 private:
  flambeau_value make_items(flambeau_kind kind, const std::vector<IValue>& items, int depth) {
    auto held = std::make_unique<ItemsHeld>();
    try {
      for (const IValue& item : items) held->held.push_back(make(item, depth + 1));
    } catch (...) {
      for (flambeau_value& value : held->held) flambeau_value_clear(&value);
      throw;
    }
    held->items = held->held.data();
    held->count = held->held.size();
    flambeau_value made = {};
    made.kind = kind;
    made.as.items = held.release();
    return made;
  }

  size_t left_ = size_t{1} << 22;
};

flambeau::script::ScriptLoadOptions read_script_options(const flambeau_script_options* options) {
  flambeau::script::ScriptLoadOptions read;
  if (options == nullptr) return read;
  require(options->threads >= 0, "the number of threads cannot be negative");
  read.threads = options->threads;
  read.run_set_state = options->is_inert == 0;
  if (options->most_steps != 0) read.most_steps = options->most_steps;
  return read;
}

// The items of a list that is made once; `index` is one of them.
template <typename Item, typename Make>
const Item& shown(const flambeau_script& script, std::vector<Item>& items, const Make& make, size_t index,
                  std::string_view what) {
  const std::lock_guard lock(script.mutex);
  if (items.empty()) items = make();
  require(index < items.size(), fmt::format("there is no {} {}, only {} of them", what, index, items.size()));
  return items[index];
}

}  // namespace

extern "C" {

void flambeau_value_clear(flambeau_value* value) {
  if (value == nullptr) return;
  switch (kind_of(*value)) {
    case FLAMBEAU_TENSOR_VALUE:
      delete value->as.tensor;
      break;
    case FLAMBEAU_STRING_VALUE:
      std::free(const_cast<char*>(value->as.text));
      break;
    case FLAMBEAU_LIST_VALUE:
    case FLAMBEAU_TUPLE_VALUE:
    case FLAMBEAU_DICT_VALUE: {
      auto* const held = static_cast<ItemsHeld*>(const_cast<flambeau_items*>(value->as.items));
      for (flambeau_value& item : held->held) flambeau_value_clear(&item);
      delete held;
      break;
    }
    case FLAMBEAU_OBJECT_VALUE:
      delete value->as.object;
      break;
    case FLAMBEAU_COMPLEX_VALUE:
      delete[] value->as.parts;
      break;
    default:
      break;
  }
  *value = {};
}

flambeau_status flambeau_value_to_text(const flambeau_value* value, char** text) {
  return guarded([&] {
    require(value != nullptr && text != nullptr, "the value or the place for the text is NULL");
    *text = copy_text(flambeau::script::to_text(read_script_value(*value, "the value")));
  });
}
void flambeau_text_free(char* text) { std::free(text); }

flambeau_status flambeau_script_load(const char* path, const flambeau_script_options* options,
                                     flambeau_script** script) {
  return guarded([&] {
    require(path != nullptr && script != nullptr, "the path or the place for the module is NULL");
    *script = new flambeau_script(flambeau::script::load_script(path, read_script_options(options)));
  });
}

flambeau_status flambeau_script_load_bytes(const void* bytes, size_t size,
                                           const flambeau_script_options* options, flambeau_script** script) {
  return guarded([&] {
    require((bytes != nullptr || size == 0) && script != nullptr,
            "the bytes or the place for the module are NULL");
    const auto* const first = static_cast<const uint8_t*>(bytes);
    *script = new flambeau_script(flambeau::script::load_script(
        flambeau::Mapping::from_buffer(std::vector<uint8_t>(first, first + size)),
        read_script_options(options)));
  });
}

void flambeau_script_free(flambeau_script* script) { delete script; }

flambeau_status flambeau_script_submodule(const flambeau_script* script, const char* path,
                                          flambeau_script** part) {
  return guarded([&] {
    require(script != nullptr && path != nullptr && part != nullptr,
            "the module, the path or the place is NULL");
    *part = new flambeau_script(script->module.submodule(path));
  });
}

size_t flambeau_script_method_count(const flambeau_script* script) {
  size_t count = 0;
  guarded([&] {
    if (script != nullptr) count = script->module.methods().size();
  });
  return count;
}

flambeau_status flambeau_script_method(const flambeau_script* script, size_t index, flambeau_method* method) {
  return guarded([&] {
    require(script != nullptr && method != nullptr, "the module or the method is NULL");
    const auto& found =
        shown(*script, script->methods, [&] { return script->module.methods(); }, index, "method");
    *method = {.name = found.name.c_str(), .signature = found.signature.c_str()};
  });
}

size_t flambeau_script_attribute_count(const flambeau_script* script) {
  size_t count = 0;
  guarded([&] {
    if (script != nullptr) count = script->module.attributes().size();
  });
  return count;
}

flambeau_status flambeau_script_attribute(const flambeau_script* script, size_t index,
                                          flambeau_attribute* attribute) {
  return guarded([&] {
    require(script != nullptr && attribute != nullptr, "the module or the attribute is NULL");
    const auto& found =
        shown(*script, script->attributes, [&] { return script->module.attributes(); }, index, "attribute");
    *attribute = {.name = found.name.c_str(),
                  .type = found.type.c_str(),
                  .slot_kind = static_cast<int32_t>(found.kind)};
  });
}

flambeau_status flambeau_script_get(const flambeau_script* script, const char* name, flambeau_value* value) {
  return guarded([&] {
    require(script != nullptr && name != nullptr && value != nullptr,
            "the module, the name or the value is NULL");
    *value = ResultMaker().make(script->module.attribute(name));
  });
}

flambeau_status flambeau_script_set(flambeau_script* script, const char* name, const flambeau_value* value) {
  return guarded([&] {
    require(script != nullptr && name != nullptr && value != nullptr,
            "the module, the name or the value is NULL");
    script->module.set_attribute(name, read_script_value(*value, "the value"));
  });
}

flambeau_status flambeau_script_train(flambeau_script* script, int32_t is_training) {
  return guarded([&] {
    require(script != nullptr, "the module is NULL");
    script->module.train(is_training != 0);
  });
}

flambeau_status flambeau_script_to(flambeau_script* script, int32_t dtype) {
  return guarded([&] {
    require(script != nullptr, "the module is NULL");
    script->module.to(flambeau::c::read_dtype(dtype));
  });
}

flambeau_status flambeau_script_run(const flambeau_script* script, const char* method,
                                    const flambeau_value* arguments, const char* const* names,
                                    size_t argument_count, const flambeau_run_options* options,
                                    flambeau_value* result) {
  return guarded([&] {
    require(script != nullptr && method != nullptr && result != nullptr,
            "the module, the method or the place for the result is NULL");
    require(arguments != nullptr || argument_count == 0, "the arguments are NULL");
    std::vector<IValue> given;
    ScriptModule::Keywords keywords;
    for (size_t i = 0; i < argument_count; ++i) {
      IValue value = read_script_value(arguments[i], fmt::format("argument {}", i));
      if (names != nullptr && names[i] != nullptr) {
        keywords.emplace_back(names[i], std::move(value));
        continue;
      }
      require(keywords.empty(), fmt::format("argument {} has no name, and stands behind one that has", i));
      given.push_back(std::move(value));
    }
    flambeau::script::ScriptRunOptions how;
    if (options != nullptr) {
      how.most_steps = options->most_steps;
      how.most_bytes = options->most_bytes;
      how.most_seconds = options->most_seconds;
      if (options->cancel != nullptr) how.cancel = &options->cancel->flag;
    }
    *result = ResultMaker().make(script->module.run_method(method, std::move(given), keywords, how));
  });
}

flambeau_status flambeau_script_code(const flambeau_script* script, const char* method, char** text) {
  return guarded([&] {
    require(script != nullptr && text != nullptr, "the module or the place for the text is NULL");
    *text = copy_text(method == nullptr ? script->module.code() : script->module.code(method));
  });
}

flambeau_status flambeau_script_extra_file(flambeau_script* script, const char* name,
                                           flambeau_extra_file* file) {
  return guarded([&] {
    require(script != nullptr && name != nullptr && file != nullptr,
            "the module, the name or the file is NULL");
    auto contents = std::make_unique<std::string>(script->module.extra_file(name));
    const std::lock_guard lock(script->mutex);
    const std::string& held = *script->files.emplace_back(std::move(contents));
    *file = {.name = name, .bytes = held.data(), .size = held.size()};
  });
}

flambeau_status flambeau_script_save(const flambeau_script* script, const char* path,
                                     const flambeau_extra_file* extra_files, size_t extra_file_count) {
  return guarded([&] {
    require(script != nullptr && path != nullptr, "the module or the path is NULL");
    require(extra_files != nullptr || extra_file_count == 0, "the extra files are NULL");
    std::vector<std::pair<std::string, std::string>> files;
    for (size_t i = 0; i < extra_file_count; ++i) {
      const flambeau_extra_file& file = extra_files[i];
      require(file.name != nullptr && (file.bytes != nullptr || file.size == 0),
              fmt::format("the name or the bytes of extra file {} are NULL", i));
      files.emplace_back(file.name, std::string(static_cast<const char*>(file.bytes), file.size));
    }
    flambeau::script::save_script(script->module, path, files);
  });
}

}  // extern "C"
