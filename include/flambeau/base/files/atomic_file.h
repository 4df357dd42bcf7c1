// Saving that leaves the old file or the new one, never anything else: an unnamed (or temporary) file
// beside the target, fsync, rename over the target, fsync of the folder.
#pragma once

#include <memory>
#include <string>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/file_api.h"

namespace flambeau {

// When a save counts as done.
enum class Durability : uint8_t {
  kSynced,  // the file is on the disk: a loss of power leaves the old file or the new one
  kCached,  // the system has it: only a kill or an error of ours leaves the old one. For files that can be
            // made again.
};

class AtomicFile final : public ByteSink {
 public:
  // Follows symbolic links, so that a link stays a link. An existing file's mode and owner are kept, as far
  // as this user may set them.
  // Throws Error(kIo, kNotFound, kInvalidArgument) located at `path`, as do write and commit.
  explicit AtomicFile(std::string path, FileApi& api = FileApi::system(),
                      Durability durability = Durability::kSynced);
  // Without commit() nothing of the new file remains.
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // After an Error the new file is gone, and nothing more can be written.
  void write(ByteSpan bytes) override;
  uint64_t position() const override { return on_file_ + buffered_; }
  // Everything is on the disk after this, under no name yet, and the buffer's memory is given back: for
  // whoever commits several files together. Only commit() may follow.
  void finish();
  // Puts the new file in the target's place. After an Error the old file is there, unless the message
  // says otherwise.
  void commit();

 private:
  void open_temporary();
  void check_open() const;
  void flush();
  void write_direct();
  void leave_direct();
  void write_through(ByteSpan bytes);
  void keep_mode_and_owner();
  void put_in_place();
  void discard() noexcept;

  std::string path_;    // as the caller named it
  std::string target_;  // links resolved
  std::string folder_;
  std::string temporary_;  // empty while the file has no name
  FileApi& api_;
  Durability durability_;
  bool replaces_ = false;  // there was a file when we began; old_ describes it
  struct stat old_{};
  int fd_ = -1;
  int folder_fd_ = -1;
  uint64_t on_file_ = 0;
  uint64_t writeback_started_ = 0;
  uint64_t reserved_ = 0;
  enum class Mode : uint8_t { kCached, kDirect, kOnlyCached } mode_ = Mode::kCached;
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  std::unique_ptr<uint8_t, Free> buffer_;  // aligned as direct writing needs it
  size_t buffered_ = 0;
};

}  // namespace flambeau
