// Writes JSON piece by piece as Python's json.dumps writes the whole: for trees that exist in another form
// already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "flambeau/archive/json/json.h"
#include "flambeau/archive/json/text.h"

namespace flambeau::json {

class Writer {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  // Before each value inside an object.
  void key(std::string_view name) {
    separate();
    append_string(out_, name);
    out_ += ": ";
    needs_comma_ = false;
  }

  void null() { word("null"); }
  void boolean(bool value) { word(value ? "true" : "false"); }
  void integer(int64_t value) {
    separate();
    append_integer(out_, value);
    needs_comma_ = true;
  }
  void real(double value) {
    separate();
    append_double(out_, value);
    needs_comma_ = true;
  }
  void string(std::string_view text) {
    separate();
    append_string(out_, text);
    needs_comma_ = true;
  }
  void value(const Value& tree) { word(dump(tree)); }

  size_t size() const { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  void separate() {
    if (needs_comma_) out_ += ", ";
  }
  void open(char c) {
    separate();
    out_ += c;
    needs_comma_ = false;
  }
  void close(char c) {
    out_ += c;
    needs_comma_ = true;
  }
  void word(std::string_view text) {
    separate();
    out_ += text;
    needs_comma_ = true;
  }

  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace flambeau::json
