// The frames of protocol 4 and 5: stretches of about 64 KiB with their length in front, and large texts
// between them. Their borders are CPython's, so that the bytes are.
#pragma once

#include <string>
#include <string_view>

#include "flambeau/archive/pickle/opcodes.h"
#include "flambeau/base/bytes.h"

namespace flambeau::pickle {

class Frames {
 public:
  explicit Frames(bool enabled) : enabled_(enabled) {}

  // What is written here becomes part of the current frame.
  ByteWriter& out() { return frame_; }

  // Between two objects: here a frame that is full may end.
  void object_starts() {
    if (enabled_ && frame_.size() >= kTarget) end_frame();
  }

  // A text's header and the text itself; a large one stands outside of frames.
  void text(std::string_view header, std::string_view data) {
    if (!enabled_ || data.size() < kTarget) {
      frame_.text(header);
      frame_.text(data);
      return;
    }
    end_frame();
    done_.text(header);
    done_.text(data);
  }

  // `head`: what precedes the first frame.
  std::string finish(std::string_view head) {
    end_frame();
    ByteWriter all;
    all.text(head);
    all.text(done_.str());
    return all.take();
  }

 private:
  static constexpr size_t kTarget = 65536;
  static constexpr size_t kLeast = 4;  // a shorter stretch gets no length in front

  void end_frame() {
    if (enabled_ && frame_.size() >= kLeast) {
      done_.u8(static_cast<uint8_t>(Opcode::kFrame));
      done_.le(static_cast<uint64_t>(frame_.size()));
    }
    done_.text(frame_.str());
    frame_ = ByteWriter();
  }

  bool enabled_;
  ByteWriter done_;
  ByteWriter frame_;
};

}  // namespace flambeau::pickle
