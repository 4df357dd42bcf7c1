// Writes JSON as Python's json.dumps does, to the byte.
#include <fmt/format.h>

#include <iterator>

#include "flambeau/archive/json/json.h"
#include "flambeau/archive/json/text.h"

namespace flambeau::json {

class Printer {
 public:
  explicit Printer(int indent) : indent_(indent) {}

  void print(const Value& value) {
    std::visit([this](const auto& data) { print(data); }, value.data_);
  }
  std::string take() { return std::move(out_); }

 private:
  void print(std::monostate) { out_ += "null"; }
  void print(bool value) { out_ += value ? "true" : "false"; }
  void print(int64_t value) { fmt::format_to(std::back_inserter(out_), "{}", value); }
  void print(uint64_t value) { fmt::format_to(std::back_inserter(out_), "{}", value); }
  void print(double value) { append_double(out_, value); }
  void print(const std::string& text) { append_string(out_, text); }
  void print(const Array& array) {
    print_items('[', array, ']', [this](const Value& item) { print(item); });
  }
  void print(const Object& object) {
    print_items('{', object, '}', [this](const Member& member) {
      append_string(out_, member.first);
      out_ += ": ";
      print(member.second);
    });
  }

  template <typename Items, typename PrintItem>
  void print_items(char open, const Items& items, char close, PrintItem print_item) {
    out_ += open;
    if (!items.empty()) {
      ++depth_;
      bool is_first = true;
      for (const auto& item : items) {
        if (!is_first) out_ += indent_ < 0 ? ", " : ",";
        is_first = false;
        new_line();
        print_item(item);
      }
      --depth_;
      new_line();
    }
    out_ += close;
  }
  void new_line() {
    if (indent_ >= 0) out_.append(1, '\n').append(static_cast<size_t>(indent_) * depth_, ' ');
  }

  std::string out_;
  int indent_;
  size_t depth_ = 0;
};

std::string dump(const Value& value, int indent) {
  Printer printer(indent);
  printer.print(value);
  return printer.take();
}

}  // namespace flambeau::json
