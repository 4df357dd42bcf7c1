// The C++ side of bench/script/run: reads what to measure from lines of its input, and answers each with a
// line of times in nanoseconds. What is loaded stays until the next one.
//   load FILE ROUNDS          one time for each round
//   open FILE                 "ok": for what follows
//   freeze                    "ok"
//   call TIMES ARGUMENT...    one time for each call; arguments are 12, 0.5 or float32:1x3x224x224,
//   int64:2x16
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/script.h"

namespace {

using namespace flambeau;
using script::IValue;
using Clock = std::chrono::steady_clock;

int64_t nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

// Numbers that repeat after a while: what they are does not matter to the time.
IValue tensor_of(const std::string& text) {
  const size_t colon = text.find(':');
  std::vector<int64_t> sizes;
  std::stringstream rest(text.substr(colon + 1));
  for (std::string size; std::getline(rest, size, 'x');)
    if (!size.empty()) sizes.push_back(std::stoll(size));
  const bool is_float = text.starts_with("float32");
  Tensor tensor = Tensor::zeros(is_float ? DType::kFloat32 : DType::kInt64, sizes);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    if (is_float) {
      tensor.mutable_data<float>()[i] = static_cast<float>(i % 17) / 8.0F - 1.0F;
    } else {
      tensor.mutable_data<int64_t>()[i] = i % 17;
    }
  }
  return tensor;
}

IValue argument_of(const std::string& text) {
  if (text.find(':') != std::string::npos) return tensor_of(text);
  if (text.find('.') != std::string::npos) return std::stod(text);
  return static_cast<int64_t>(std::stoll(text));
}

class Session {
 public:
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb, file;
    words >> verb;
    if (verb == "load") {
      int rounds = 1;
      words >> file >> rounds;
      std::string times;
      for (int i = 0; i < rounds; ++i) {
        const auto begin = Clock::now();
        const script::ScriptModule loaded = script::load_script(file, options_);
        times += fmt::format("{} ", nanoseconds_since(begin));
      }
      return times;
    }
    if (verb == "open") {
      words >> file;
      module_ = script::load_script(file, options_);
      return "ok";
    }
    if (verb == "freeze") {
      module_->eval();
      module_ = script::freeze(*module_);
      return "ok";
    }
    if (verb == "call") return call(words);
    return "what?";
  }

 private:
  std::string call(std::istringstream& words) {
    int times = 1;
    words >> times;
    std::vector<IValue> arguments;
    for (std::string word; words >> word;) arguments.push_back(argument_of(word));
    std::string text;
    for (int i = 0; i < times; ++i) {
      const auto begin = Clock::now();
      module_->run_method("forward", arguments);
      text += fmt::format("{} ", nanoseconds_since(begin));
    }
    return text;
  }

  script::ScriptLoadOptions options_ = {.threads = 1};
  std::optional<script::ScriptModule> module_;
};

}  // namespace

int main() {
  Session session;
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer;
    try {
      answer = session.answer(line);
    } catch (const Error& error) {
      answer = "error " + error.message();
    }
    for (char& letter : answer) letter = letter == '\n' ? ' ' : letter;
    std::cout << answer << std::endl;
  }
  return 0;
}
