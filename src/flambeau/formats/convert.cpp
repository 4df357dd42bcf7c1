#include "flambeau/formats/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/base/atomic_file.h"
#include "flambeau/base/error.h"
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

// Converts each storage once and whole, so that views of it stay views of one storage.
class DTypeConverter {
 public:
  DTypeConverter(const ConvertOptions& options) : to_(*options.dtype), options_(options) {}

  Tensor operator()(const Tensor& tensor) {
    if (tensor.sparse_parts() != nullptr) {
      SparseParts parts = *tensor.sparse_parts();
      parts.values = (*this)(parts.values);
      Tensor result = Tensor::sparse(tensor.layout(), tensor.sizes(), std::move(parts));
      result.set_requires_grad(tensor.requires_grad());
      return result;
    }
    const bool applies = tensor.layout() == Layout::kStrided && dtype_info(tensor.dtype()).is_floating &&
                         tensor.dtype() != to_ && !tensor.is_meta();
    advance_or_cancel(*options_.progress, tensor.byte_count());
    if (!applies) return tensor;
    Tensor result = is_whole(tensor) ? convert_via_storage(tensor) : convert(tensor, to_, options_.pool);
    result.set_requires_grad(tensor.requires_grad());
    result.set_device(tensor.device());
    return result;
  }

 private:
  static bool is_whole(const Tensor& tensor) { return tensor.storage()->size() % tensor.element_size() == 0; }

  Tensor convert_via_storage(const Tensor& tensor) {
    Converted& entry = converted_[tensor.storage().get()];
    if (entry.storage && entry.from != tensor.dtype()) return convert(tensor, to_, options_.pool);
    if (!entry.storage) {
      const auto count = static_cast<int64_t>(tensor.storage()->size() / tensor.element_size());
      const Tensor whole = Tensor::strided(tensor.dtype(), {{count}, {1}, 0}, tensor.storage());
      entry = {tensor.storage(), tensor.dtype(), convert(whole, to_, options_.pool).storage()};
    }
    return Tensor::strided(to_, tensor.geometry(), entry.storage);
  }

  struct Converted {
    std::shared_ptr<Storage> original;  // keeps the key alive
    DType from = DType::kFloat32;
    std::shared_ptr<Storage> storage;
  };

  DType to_;
  const ConvertOptions& options_;
  std::unordered_map<const Storage*, Converted> converted_;
};

void need_floating(DType dtype) {
  if (dtype_info(dtype).is_floating) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("weights cannot be converted to {}", dtype_name(dtype)),
              "choose a floating-point type: float32, float16, bfloat16, float64 or one of the float8 types");
}

// As torch.save chooses it: the file's name without its last ending; "archive" where the path is not ASCII.
std::string top_folder_for(const std::string& path) {
  std::string name = path.substr(path.find_last_of("/\\") + 1);
  name.resize(std::min(name.size(), name.rfind('.')));
  const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain && !name.empty() && name != "." && name != ".." ? name : "archive";
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
    checkpoint = Checkpoint::from_tensors(std::move(kept), checkpoint.metadata());
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

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path, WeightFormat format,
                     Progress& progress, FileApi& api) {
  AtomicFile file(path, api);
  const auto write = [&] {
    switch (format) {
      case WeightFormat::kTorchSave:
        return write_torch_zip(file, checkpoint, {top_folder_for(path)}, progress);
      case WeightFormat::kSafetensors:
        return write_safetensors(file, checkpoint.named(), checkpoint.metadata(), progress);
      case WeightFormat::kNpz:
        return write_npz(file, checkpoint.named(), progress);
    }
  };
  write();
  file.commit();
}

}  // namespace flambeau
