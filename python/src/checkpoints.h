// Files of weights from Python: names and tensors in and out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "flambeau/checkpoint.h"
#include "flambeau/tensor.h"

namespace flambeau::python {

// What Python has is never changed.
using HeldCheckpoint = std::shared_ptr<Checkpoint>;

inline HeldCheckpoint hold(Checkpoint checkpoint) {
  return std::make_shared<Checkpoint>(std::move(checkpoint));
}

inline std::optional<DType> optional_dtype(const std::string& text) {
  if (text.empty()) return {};
  const std::optional<DType> dtype = parse_dtype(text);
  if (!dtype) throw Error(ErrorCode::kInvalidArgument, "'" + printable(text) + "' is not an element type");
  return dtype;
}

// What to write, from Python's words for it; empty ones for nothing.
inline ConvertFileOptions convert_options(const std::string& dtype, std::vector<std::string> patterns,
                                          const std::string& format, const std::string& shard_size) {
  ConvertFileOptions options;
  options.patterns = std::move(patterns);
  options.dtype = optional_dtype(dtype);
  if (!format.empty()) {
    options.format = weight_format_for("x." + format);
    if (!options.format)
      throw Error(ErrorCode::kInvalidArgument, "'" + printable(format) + "' is no format of weights",
                  "use 'pt', 'safetensors' or 'npz'");
  }
  if (!shard_size.empty()) {
    options.shard_size = parse_byte_count(shard_size);
    if (!options.shard_size)
      throw Error(ErrorCode::kInvalidArgument, "'" + printable(shard_size) + "' is no size of shards",
                  "write '5GB', or a number of bytes");
  }
  return options;
}

inline py::dict written_to_python(const ConvertedFile& written) {
  py::dict result;
  result["files"] = texts_to_python(written.files);
  result["tensors"] = written.tensors;
  result["bytes"] = written.bytes;
  return result;
}

inline py::object convert_file_report(Session& session, const std::string& source, const std::string& target,
                                      const std::string& dtype, std::vector<std::string> patterns,
                                      const std::string& format, const std::string& shard_size) {
  ConvertFileOptions options = convert_options(dtype, std::move(patterns), format, shard_size);
  return written_to_python(session.locked([&] {
    ThreadPool pool(session.threads());
    options.pool = &pool;
    return convert_file(source, target, options);
  }));
}

inline HeldCheckpoint open_checkpoint(Session& session, const py::object& given, bool is_path) {
  Source source = read_source(given, is_path);
  return hold(session.locked([&] {
    if (source.is_path) return load_checkpoint(source.path);
    return load_checkpoint(Mapping::from_buffer(std::move(source.bytes)));
  }));
}

// Tensors that view one memory share one storage, as they do where they come from: torch.save files keep
// that.
class StorageJoiner {
 public:
  Tensor operator()(Tensor tensor) {
    if (tensor.layout() != Layout::kStrided || tensor.is_meta() || !tensor.storage()->is_ready())
      return tensor;
    const ByteSpan bytes = tensor.storage()->bytes();
    const auto [known, is_new] = storages_.try_emplace({bytes.data(), bytes.size()}, tensor.storage());
    if (is_new || known->second == tensor.storage()) return tensor;
    return Tensor::strided(tensor.dtype(), tensor.geometry(), known->second);
  }

 private:
  std::map<std::pair<const uint8_t*, size_t>, std::shared_ptr<Storage>> storages_;
};

inline std::vector<std::pair<std::string, std::string>> read_metadata(const py::dict& metadata) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [key, value] : metadata) {
    pairs.emplace_back(with_location("metadata", "key", [&] { return text_from_python(key); }),
                       with_location("metadata", "value", [&] { return text_from_python(value); }));
  }
  return pairs;
}

inline HeldCheckpoint make_checkpoint(const py::list& items, const py::dict& metadata) {
  NamedTensors tensors;
  StorageJoiner join;
  for (const py::handle item : items) {
    const auto pair = item.cast<std::pair<py::object, py::object>>();
    const std::string name = text_from_python(pair.first);
    with_location("tensor", name, [&] {
      std::optional<Tensor> tensor = find_tensor(pair.second);
      if (!tensor) {
        throw Error(
            ErrorCode::kInvalidArgument, "a " + type_name(pair.second) + " is no tensor",
            "give tensors of PyTorch, arrays of numpy, or something with __dlpack__; nested dicts must be "
            "flattened first");
      }
      tensors.push_back({name, join(std::move(*tensor))});
    });
  }
  return hold(Checkpoint::from_tensors(std::move(tensors), read_metadata(metadata)));
}

inline HeldCheckpoint transformed(Session& session, const HeldCheckpoint& checkpoint,
                                  const std::string& dtype, std::vector<std::string> patterns) {
  ConvertOptions options;
  options.dtype = optional_dtype(dtype);
  options.patterns = std::move(patterns);
  return hold(session.locked([&] { return transform(checkpoint->copy(), options); }));
}

inline py::object save_held_checkpoint(Session& session, const HeldCheckpoint& checkpoint,
                                       const std::string& path, const std::string& dtype,
                                       const std::string& format, const std::string& shard_size) {
  ConvertFileOptions options = convert_options(dtype, {}, format, shard_size);
  return written_to_python(session.locked([&] {
    ThreadPool pool(session.threads());
    options.pool = &pool;
    return convert_checkpoint(checkpoint->copy(), path, options);
  }));
}

inline void bind_checkpoints(py::module_& module) {
  bind_class<Checkpoint, HeldCheckpoint>(module, "Checkpoint")
      .def_property_readonly(
          "kind", [](const Checkpoint& self) { return std::string(file_kind_info(self.kind()).name); })
      .def_property_readonly("metadata",
                             [](const Checkpoint& self) { return pairs_to_python(self.metadata()); })
      .def_property_readonly("skipped",
                             [](const Checkpoint& self) { return pairs_to_python(self.skipped()); })
      .def_property_readonly("notes", [](const Checkpoint& self) { return texts_to_python(self.notes()); })
      .def("names",
           [](const Checkpoint& self) {
             py::list names;
             for (const CheckpointTensor& entry : self.tensors()) names.append(text_to_python(entry.name));
             return names;
           })
      .def("tensor", [](const Checkpoint& self, size_t index) {
        if (index >= self.tensors().size()) throw py::index_error();
        return self.tensors()[index].tensor;
      });
  module.def("load_checkpoint", &open_checkpoint);
  module.def("make_checkpoint", &make_checkpoint);
  module.def("transform_checkpoint", &transformed);
  module.def("save_checkpoint", &save_held_checkpoint);
  module.def("convert", &convert_file_report);
}

}  // namespace flambeau::python
