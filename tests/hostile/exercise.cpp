#include "hostile/exercise.h"

#include <stdexcept>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/convert.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/safety/safety.h"
#include "flambeau/tensor/elements/compare.h"
#include "flambeau/tensor/elements/statistics.h"
#include "hostile/exercise_program.h"
#include "hostile/exercise_script.h"

namespace flambeau::hostile {
namespace {

// Looks at the bytes, so that the sanitizers see each of them, and forgets them.
class DiscardingSink final : public ByteSink {
 public:
  void write(ByteSpan bytes) override {
    position_ += bytes.size();
    for (size_t at = 0; at < bytes.size(); at += 64) sum_ = sum_ + bytes[at];
    if (!bytes.empty()) sum_ = sum_ + bytes.back();
  }
  uint64_t position() const override { return position_; }

 private:
  uint64_t position_ = 0;
  volatile unsigned sum_ = 0;
};

template <typename Body>
std::optional<ErrorCode> attempt(Body&& body) {
  try {
    body();
    return std::nullopt;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal)
      throw std::logic_error(std::string("an internal error: ") + error.what());
    return error.code();
  }
}

// As 'flambeau inspect --stats' and 'flambeau diff' do.
void read_values(const Checkpoint& checkpoint) {
  ExpansionBudget budget(checkpoint.tensors());
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    budget.spend(entry.tensor);
    attempt([&] { statistics(entry.tensor); });
    attempt([&] {
      if (!compare(entry.tensor, entry.tensor).is_same())
        throw std::logic_error("a tensor differs from itself");
    });
    attempt([&] {
      if (entry.tensor.layout() != Layout::kStrided) validate_sparse_indices(entry.tensor);
    });
  }
}

// As 'flambeau convert' does, to each format.
void convert_and_write(const std::shared_ptr<Mapping>& mapping) {
  DiscardingSink sink;
  ConvertOptions options;
  options.dtype = DType::kFloat16;
  const Checkpoint converted = transform(load_checkpoint(mapping), options);
  for (const FileKind format : {FileKind::kTorchSave, FileKind::kSafetensors, FileKind::kNpz}) {
    attempt([&] { write_checkpoint(sink, converted, format); });
  }
}

// What inflates to much on request is no surprise to whoever asks for it; it is left out here.
constexpr uint64_t kMostInflated = 24ULL << 20;

bool inflates_to_much(const Checkpoint& checkpoint) {
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    const Storage* storage = entry.tensor.storage().get();
    if (storage != nullptr && !storage->is_ready() && storage->size() > kMostInflated) return true;
  }
  return false;
}

void extract_all(const std::shared_ptr<Mapping>& mapping) {
  const RecordExtractor extractor(mapping);
  for (const RecordInfo& record : list_records(mapping)) {
    if (record.is_compressed && record.size > kMostInflated) continue;
    attempt([&] {
      if (extractor.extract(record.name).size() != record.size)
        throw std::logic_error("a record has another size than the list says");
    });
  }
}

bool is_program(FileKind kind) {
  return kind == FileKind::kPt2 || kind == FileKind::kPt2OldLayout || kind == FileKind::kProgramJson;
}
bool is_script(FileKind kind) {
  return kind == FileKind::kTorchScript || kind == FileKind::kTorchScriptMobile ||
         kind == FileKind::kMobileFlatBuffer || kind == FileKind::kTorchPackage;
}

}  // namespace

std::optional<ErrorCode> exercise(const std::shared_ptr<Mapping>& mapping) {
  FileKind kind = FileKind::kUnknown;
  attempt([&] { kind = recognize(mapping); });
  attempt([&] { inspect_file(mapping); });
  attempt([&] { extract_all(mapping); });
  attempt([&] { check_file(mapping); });
  bool is_large = false;
  const std::optional<ErrorCode> refused = attempt([&] {
    const Checkpoint checkpoint = load_checkpoint(mapping);
    is_large = inflates_to_much(checkpoint);
    if (is_large) return;
    attempt([&] { read_values(checkpoint); });
    attempt([&] {
      DiscardingSink sink;
      write_checkpoint(sink, checkpoint, FileKind::kTorchSave);
    });
  });
  if (!refused && !is_large) attempt([&] { convert_and_write(mapping); });
  if (is_program(kind)) return exercise_package(mapping);
  if (is_script(kind)) exercise_script(mapping);
  return refused;
}

}  // namespace flambeau::hostile
