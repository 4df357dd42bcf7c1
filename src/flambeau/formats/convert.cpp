#include "flambeau/formats/convert.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/nearest.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/tensor_pieces.h"
#include "flambeau/tensor/elements/convert.h"

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

class DTypeConverter {
 public:
  DTypeConverter(DType to, bool keep_sharing, ThreadPool* pool)
      : to_(to), keep_sharing_(keep_sharing), pool_(pool) {}

  Tensor operator()(const Tensor& tensor) {
    if (const SparseParts* parts = tensor.sparse_parts()) {
      SparseParts converted = *parts;
      converted.values = (*this)(parts->values);
      return like(tensor, Tensor::sparse(tensor.layout(), tensor.sizes(), std::move(converted)));
    }
    if (!dtype_info(tensor.dtype()).is_floating || tensor.dtype() == to_) return tensor;
    if (tensor.is_meta()) return like(tensor, convert_meta(tensor));
    return like(tensor, keep_sharing_ ? convert_storage(tensor) : convert_alone(tensor));
  }

 private:
  static Tensor like(const Tensor& tensor, Tensor result) {
    result.set_requires_grad(tensor.requires_grad());
    result.set_device(tensor.device());
    return result;
  }

  Tensor convert_meta(const Tensor& tensor) const {
    const auto size = static_cast<size_t>(storage_extent(tensor.geometry())) * dtype_size(to_);
    return Tensor::strided(to_, tensor.geometry(), Storage::meta(size), tensor.device());
  }

  std::shared_ptr<Storage> convert_later(const Tensor& tensor) const {
    const auto size = static_cast<size_t>(tensor.element_count()) * dtype_size(to_);
    return Storage::lazy_storage(size, [tensor, to = to_, pool = pool_] {
      std::shared_ptr<Storage> made = convert(for_one_pass(tensor), to, pool).storage();
      tensor.storage()->check_unchanged();
      return made;
    });
  }

  Tensor convert_alone(const Tensor& tensor) const {
    return Tensor::contiguous(to_, tensor.sizes(), convert_later(tensor));
  }

  // Converts the storage whole, once for all tensors that are views of it.
  Tensor convert_storage(const Tensor& tensor) {
    Converted& entry = converted_[{tensor.storage().get(), tensor.dtype()}];
    if (!entry.storage) {
      // Bytes behind the last whole element belong to no tensor of this type.
      const auto count = static_cast<int64_t>(tensor.storage()->size() / tensor.element_size());
      const Tensor whole = Tensor::strided(tensor.dtype(), {{count}, {1}, 0}, tensor.storage());
      entry = {tensor.storage(), convert_later(whole)};
    }
    return Tensor::strided(to_, tensor.geometry(), entry.storage);
  }

  struct Converted {
    std::shared_ptr<Storage> original;  // keeps the key alive
    std::shared_ptr<Storage> storage;
  };

  DType to_;
  bool keep_sharing_;
  ThreadPool* pool_;
  std::map<std::pair<const Storage*, DType>, Converted> converted_;
};

void require_bounded(const Checkpoint& checkpoint) {
  ExpansionBudget budget(checkpoint.tensors());
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    with_location("tensor", entry.name, [&] { budget.spend(entry.tensor); });
  }
}

void need_floating(DType dtype) {
  if (dtype_info(dtype).is_floating) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("weights cannot be converted to {}", dtype_name(dtype)),
              "choose a floating-point type: float32, float16, bfloat16, float64 or one of the float8 types");
}

const WeightWriter& writer_of(FileKind kind) {
  const Format& format = format_of(kind);
  if (format.can_write()) return format.writer;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} cannot be written", format.description),
              "write a .pt, .safetensors or .npz file");
}

// As torch.save chooses it: the file's name without its last ending; "archive" where the path is not ASCII.
std::string top_folder_for(const std::string& path) {
  std::string name = path.substr(path.find_last_of("/\\") + 1);
  name.resize(std::min(name.size(), name.rfind('.')));
  const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain && !name.empty() && name != "." && name != ".." ? name : "archive";
}

}  // namespace

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

std::string pattern_remedy(const std::vector<std::string>& patterns, const Checkpoint& checkpoint) {
  constexpr std::string_view kOtherwise = "'flambeau inspect' shows the names";
  std::set<std::string> parts;
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    parts.insert(entry.name);
    for (size_t dot = entry.name.find('.'); dot != std::string::npos; dot = entry.name.find('.', dot + 1))
      parts.insert(entry.name.substr(0, dot));
    if (parts.size() > 10'000) break;
  }
  const std::vector<std::string> names(parts.begin(), parts.end());
  for (const std::string& pattern : patterns) {
    if (pattern.starts_with('!')) continue;
    const std::string plain = pattern.substr(0, pattern.find_last_not_of(".*") + 1);
    if (const std::string hint = did_you_mean(plain, names); !hint.empty())
      return fmt::format("{} {}", hint, kOtherwise);
  }
  return std::string(kOtherwise);
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
                  pattern_remedy(options.patterns, checkpoint));
    }
    checkpoint = Checkpoint::from_tensors(std::move(kept), checkpoint.metadata());
  }
  if (options.dtype) {
    need_floating(*options.dtype);
    // Converted one by one, tensors no longer know what they shared.
    if (!options.keep_sharing) require_bounded(checkpoint);
    DTypeConverter convert_tensor(*options.dtype, options.keep_sharing, options.pool);
    checkpoint.replace_tensors([&](const Tensor& tensor) { return convert_tensor(tensor); });
  }
  return checkpoint;
}

void write_checkpoint(ByteSink& sink, const Checkpoint& checkpoint, FileKind format,
                      const std::string& top_folder, Progress& progress) {
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    if (entry.tensor.dim() <= kMostDimensions) continue;
    throw Error(ErrorCode::kUnsupported,
                fmt::format("it has {} dimensions, and what has more than {} is not read again",
                            entry.tensor.dim(), kMostDimensions))
        .add_location("tensor", entry.name);
  }
  const WeightWriter& writer = writer_of(format);
  // A format that keeps the structure writes the storages, whatever views there are of them.
  if (!writer.keeps_structure) require_bounded(checkpoint);
  writer.write(sink, checkpoint, top_folder, progress);
}

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path, FileKind format,
                     Progress& progress, FileApi& api) {
  AtomicFile file(path, api);
  write_checkpoint(file, checkpoint, format, top_folder_for(path), progress);
  file.commit();
}

}  // namespace flambeau
