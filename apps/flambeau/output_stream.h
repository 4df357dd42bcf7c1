// Where the command writes: a file that is saved atomically, or standard output for "-".
#pragma once

#include <memory>
#include <string>

#include "flambeau/files.h"

namespace flambeau::cli {

inline bool is_standard_output(const std::string& path) { return path == "-"; }

class OutputStream final : public ByteSink {
 public:
  explicit OutputStream(const std::string& path, Durability durability = Durability::kSynced);

  void write(ByteSpan bytes) override;
  uint64_t position() const override { return file_ ? file_->position() : written_; }
  // A file is in its place after this.
  void commit();

 private:
  std::unique_ptr<AtomicFile> file_;  // null: standard output
  uint64_t written_ = 0;
};

}  // namespace flambeau::cli
