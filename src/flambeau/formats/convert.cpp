#include "flambeau/formats/convert.h"

#include <fmt/format.h>

#include <map>

#include "flambeau/base/atomic_file.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/npy/npz.h"
#include "flambeau/formats/safetensors/safetensors.h"
#include "flambeau/formats/state_dict/torch_writer.h"
#include "flambeau/tensor/convert.h"

namespace flambeau {
namespace {

// Linear in text times the number of stars: the classic two-pointer match.
bool glob_matches(std::string_view text, std::string_view pattern) {
  size_t t = 0, p = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == text[t]))) {
      ++t, ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// Converts each storage once and whole, so that views of it stay views of one storage, and cost no more than
// it does, however often they repeat it.
class DTypeConverter {
 public:
  DTypeConverter(const ConvertOptions& options) : to_(*options.dtype), options_(options) {}

  Tensor operator()(const Tensor& tensor) {
    const bool applies = tensor.layout() == Layout::kStrided && dtype_info(tensor.dtype()).is_floating &&
                         tensor.dtype() != to_ && !tensor.is_meta();
    advance_or_cancel(*options_.progress, tensor.byte_count());
    if (!applies) return tensor;
    Tensor result = convert_via_storage(tensor);
    result.set_requires_grad(tensor.requires_grad());
    result.set_device(tensor.device());
    return result;
  }

 private:
  Tensor convert_via_storage(const Tensor& tensor) {
    Converted& entry = converted_[{tensor.storage().get(), tensor.dtype()}];
    if (!entry.storage) {
      // Bytes behind the last whole element belong to no tensor of this type.
      const auto count = static_cast<int64_t>(tensor.storage()->size() / tensor.element_size());
      const Tensor whole = Tensor::strided(tensor.dtype(), {{count}, {1}, 0}, tensor.storage());
      entry = {tensor.storage(), convert(whole, to_, options_.pool).storage()};
    }
    return Tensor::strided(to_, tensor.geometry(), entry.storage);
  }

  struct Converted {
    std::shared_ptr<Storage> original;  // keeps the key alive
    std::shared_ptr<Storage> storage;
  };

  DType to_;
  const ConvertOptions& options_;
  std::map<std::pair<const Storage*, DType>, Converted> converted_;
};

void need_floating(DType dtype) {
  if (dtype_info(dtype).is_floating) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("weights cannot be converted to {}", dtype_name(dtype)),
              "choose a floating-point type: float32, float16, bfloat16, float64 or one of the float8 types");
}

std::string top_folder_for(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name.empty() ? "archive" : name;
}

}  // namespace

std::optional<WeightFormat> weight_format_for(std::string_view path) {
  for (const std::string_view ending : {".pt", ".pth", ".bin", ".ckpt"}) {
    if (path.ends_with(ending)) return WeightFormat::kTorchSave;
  }
  if (path.ends_with(".safetensors")) return WeightFormat::kSafetensors;
  if (path.ends_with(".npz")) return WeightFormat::kNpz;
  return std::nullopt;
}

bool name_matches(std::string_view name, const std::vector<std::string>& patterns) {
  bool has_positive = false;
  bool is_kept = false;
  for (const std::string& pattern : patterns) {
    if (pattern.starts_with('!')) {
      if (glob_matches(name, std::string_view(pattern).substr(1))) return false;
    } else {
      has_positive = true;
      is_kept = is_kept || glob_matches(name, pattern);
    }
  }
  return is_kept || !has_positive;
}

Checkpoint transform(Checkpoint checkpoint, const ConvertOptions& options) {
  if (!options.patterns.empty()) {
    NamedTensors kept;
    for (const CheckpointTensor& entry : checkpoint.tensors()) {
      if (name_matches(entry.name, options.patterns)) kept.push_back({entry.name, entry.tensor});
    }
    if (kept.empty()) {
      throw Error(ErrorCode::kNotFound,
                  fmt::format("none of the {} tensors is kept by the filter", checkpoint.tensors().size()),
                  "'flambeau inspect' shows the names");
    }
    checkpoint = Checkpoint::from_tensors(std::move(kept));
  }
  if (options.dtype) {
    need_floating(*options.dtype);
    uint64_t total = 0;
    for (const CheckpointTensor& entry : checkpoint.tensors()) total += entry.tensor.byte_count();
    options.progress->begin("converting", total);
    DTypeConverter convert_tensor(options);
    checkpoint.replace_tensors([&](const Tensor& tensor) { return convert_tensor(tensor); });
  }
  return checkpoint;
}

void write_checkpoint(ByteSink& sink, const Checkpoint& checkpoint, WeightFormat format,
                      const std::string& top_folder, Progress& progress) {
  if (format == WeightFormat::kTorchSave)  // writes the storages, whatever views there are of them
    return write_torch_zip(sink, checkpoint, {top_folder}, progress);
  ExpansionBudget budget(checkpoint.tensors());
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    with_location("tensor", entry.name, [&] { budget.spend(entry.tensor); });
  }
  if (format == WeightFormat::kSafetensors) {
    return write_safetensors(sink, checkpoint.named(), checkpoint.metadata(), progress);
  }
  write_npz(sink, checkpoint.named(), progress);
}

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path, WeightFormat format,
                     Progress& progress) {
  AtomicFile file(path);
  write_checkpoint(file, checkpoint, format, top_folder_for(path), progress);
  file.commit();
}

}  // namespace flambeau
