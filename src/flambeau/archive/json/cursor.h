// Reads JSON from front to back without keeping it: for texts whose values would take many times their size.
// As strict as parse(), with the same words and places in its errors.
#pragma once

#include <string>
#include <string_view>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"

namespace flambeau::json {

constexpr int kMostDepth = 512;

class Cursor {
 public:
  // Stands at the text's value. Throws Error(kCorrupt) when there is none.
  explicit Cursor(std::string_view text);

  bool at_object() const { return peek('{'); }
  bool at_array() const { return peek('['); }

  // Calls member(key) for each member of the object; it must take the value, by one of these functions.
  template <typename Member>
  void object(Member&& member) {
    enter();
    if (!leave_empty('}')) {
      do member(key());
      while (another('}', "an object"));
    }
    --depth_;
  }
  // Calls item() for each item of the array; it must take the value.
  template <typename Item>
  void array(Item&& item) {
    enter();
    if (!leave_empty(']')) {
      do item();
      while (another(']', "an array"));
    }
    --depth_;
  }
  // A value that is neither object nor array.
  Value scalar();
  // A value of any kind, of which only the kind is kept: objects and arrays come out empty.
  Value shallow();

  // Throws Error(kCorrupt) unless nothing follows.
  void finish();

 private:
  [[noreturn]] void fail_at(size_t offset, std::string message, ErrorCode code = ErrorCode::kCorrupt) const;
  [[noreturn]] void fail(std::string message) const { fail_at(at_, std::move(message)); }
  std::string here() const;

  bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word);
  void skip_space();

  void enter();
  bool leave_empty(char close);
  std::string key();
  bool another(char close, std::string_view what);
  std::string string();
  void escape(std::string& to);
  uint32_t four_digits(size_t start);
  Value number();
  void skip_digits();
  void need_digits(size_t start, std::string_view after);

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace flambeau::json
