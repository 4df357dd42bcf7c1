#include "output_stream.h"

#include <unistd.h>

#include <cstdio>

#include "flambeau/error.h"

namespace flambeau::cli {
namespace {

[[noreturn]] void fail_to_write() { throw Error(ErrorCode::kIo, "standard output cannot be written"); }

}  // namespace

OutputStream::OutputStream(const std::string& path, Durability durability) {
  if (!is_standard_output(path)) {
    file_ = std::make_unique<AtomicFile>(path, FileApi::system(), durability);
  } else if (isatty(STDOUT_FILENO) == 1) {
    throw Error(ErrorCode::kInvalidArgument, "a terminal cannot take the bytes of a file",
                "send standard output to a file or a pipe, or name a file");
  }
}

void OutputStream::write(ByteSpan bytes) {
  if (file_) return file_->write(bytes);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) fail_to_write();
  written_ += bytes.size();
}

void OutputStream::commit() {
  if (file_) return file_->commit();
  if (std::fflush(stdout) != 0) fail_to_write();
}

}  // namespace flambeau::cli
