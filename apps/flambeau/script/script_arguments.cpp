// Arguments of a script's method from the command line: "random:8x128", "x=photo.npy", "[1, 2]",
// "{'a': 1.5}".
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "flambeau/error.h"
#include "flambeau/made_inputs.h"
#include "model_inputs.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

using script::IValue;

constexpr int kMostArgumentDepth = 50;

template <typename Number>
std::optional<Number> script_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

class ArgumentReader {
 public:
  ArgumentReader(uint64_t seed, uint64_t integers) : integers_(integers) { generator_.manual_seed(seed); }

  size_t shapes() const { return shapes_; }

  IValue read(std::string_view text, int depth = 0) {
    text = trimmed(text);
    if (depth > kMostArgumentDepth)
      throw Error(ErrorCode::kInvalidArgument, "an argument is nested too deep");
    if (text == "None") return {};
    if (text == "True" || text == "False") return text == "True";
    if (const std::optional<int64_t> number = script_number<int64_t>(text)) return *number;
    if (const std::optional<double> number = script_number<double>(text)) return *number;
    if (is_between(text, '\'', '\'') || is_between(text, '"', '"')) return text.substr(1, text.size() - 2);
    if (is_between(text, '[', ']')) return script::make_list(read_all(text, depth));
    if (is_between(text, '(', ')')) return IValue::tuple(read_all(text, depth));
    if (is_between(text, '{', '}')) return read_dict(text, depth);
    if (std::optional<Tensor> tensor = made_tensor(text)) return *std::move(tensor);
    if (is_shape(text)) return shaped_tensor(text);
    return file_tensor(std::string(text));
  }

 private:
  static bool is_between(std::string_view text, char open, char close) {
    return text.size() >= 2 && text.front() == open && text.back() == close;
  }

  // At commas (or colons) that stand in no brackets and no quotes.
  static std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    int depth = 0;
    char quote = 0;
    size_t begin = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '[' || c == '(' || c == '{') {
        ++depth;
      } else if (c == ']' || c == ')' || c == '}') {
        --depth;
      } else if (c == at && depth == 0) {
        parts.push_back(text.substr(begin, i - begin));
        begin = i + 1;
      }
    }
    if (!trimmed(text.substr(begin)).empty()) parts.push_back(text.substr(begin));
    return parts;
  }

  std::vector<IValue> read_all(std::string_view text, int depth) {
    std::vector<IValue> items;
    for (const std::string_view part : split(text.substr(1, text.size() - 2), ','))
      items.push_back(read(part, depth + 1));
    return items;
  }

  IValue read_dict(std::string_view text, int depth) {
    std::vector<std::pair<IValue, IValue>> items;
    for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
      const size_t colon = split(part, ':').front().size();
      if (colon >= part.size()) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("'{}' has a key without a value", printable(text)), "write {'a': 1, 'b': 2}");
      }
      items.emplace_back(read(part.substr(0, colon), depth + 1), read(part.substr(colon + 1), depth + 1));
    }
    return script::make_dict(std::move(items));
  }

  // "1x3x224x224"; "16x" for a list.
  static bool is_shape(std::string_view text) {
    return text.find('x') != std::string_view::npos && text.front() != 'x' &&
           text.find("xx") == std::string_view::npos &&
           text.find_first_not_of("0123456789x") == std::string_view::npos;
  }
  Tensor shaped_tensor(std::string_view text) {
    const Dims sizes = read_sizes(text, text);
    const bool has_integers = shapes_ < 64 && (integers_ >> shapes_ & 1) != 0;
    ++shapes_;
    return has_integers ? random_tensor(DType::kInt64, sizes, generator_, {0, 2})
                        : random_tensor(DType::kFloat32, sizes, generator_);
  }

  static Dims read_sizes(std::string_view rest, std::string_view text) {
    Dims sizes;
    while (!rest.empty()) {
      const size_t cross = std::min(rest.find('x'), rest.size());
      const std::optional<int64_t> size = script_number<int64_t>(rest.substr(0, cross));
      if (!size || *size < 0) {
        throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no sizes", printable(text)),
                    "write random:8x128");
      }
      sizes.push_back(*size);
      rest.remove_prefix(std::min(cross + 1, rest.size()));
    }
    return sizes;
  }

  // "ones:2x3", "zeros:2x3", "random:2x3" (as torch.randn), "random:2x3:0..9" (integers).
  std::optional<Tensor> made_tensor(std::string_view text) {
    const std::vector<std::string_view> parts = split(text, ':');
    if (parts[0] != "ones" && parts[0] != "zeros" && parts[0] != "random") return {};
    const Dims sizes = read_sizes(parts.size() > 1 ? parts[1] : "", text);
    if (parts[0] != "random") return filled_tensor(DType::kFloat32, sizes, parts[0] == "ones" ? 1 : 0);
    if (parts.size() < 3) return random_tensor(DType::kFloat32, sizes, generator_);
    const size_t dots = parts[2].find("..");
    const auto least = script_number<int64_t>(parts[2].substr(0, dots));
    const int64_t most = dots == std::string_view::npos
                             ? INT64_MAX
                             : script_number<int64_t>(parts[2].substr(dots + 2)).value_or(INT64_MAX);
    if (!least || most < *least || most == INT64_MAX) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no range", printable(text)),
                  "write random:8x128:0..99");
    }
    return random_tensor(DType::kInt64, sizes, generator_, {*least, most + 1});
  }

  static IValue file_tensor(const std::string& text) {
    std::vector<std::pair<std::string, Tensor>> tensors;
    try {
      tensors = tensors_of_file(text);
    } catch (Error& error) {
      if (error.code() != ErrorCode::kNotFound) throw;
      throw Error(ErrorCode::kNotFound, fmt::format("'{}' is no file and no value", printable(text)),
                  "give a file with one tensor, random:8x128, a number, 'text', [1, 2] or {'a': 1}");
    }
    if (tensors.size() != 1) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' holds {}", printable(text), counted(tensors.size(), "tensor")),
                  "give a file with one tensor, a number, 'text', or random:8x128");
    }
    return tensors[0].second;
  }

  Generator generator_;
  uint64_t integers_;
  size_t shapes_ = 0;
};

bool is_argument_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

ScriptArguments script_arguments(const std::vector<std::string>& inputs, uint64_t seed, uint64_t integers) {
  ScriptArguments arguments;
  ArgumentReader reader(seed, integers);
  for (const std::string& input : inputs) {
    const size_t equals = input.find('=');
    const bool is_named =
        equals != std::string::npos && is_argument_name(std::string_view(input).substr(0, equals));
    IValue value = reader.read(is_named ? std::string_view(input).substr(equals + 1) : input);
    if (is_named) {
      arguments.keywords.emplace_back(input.substr(0, equals), std::move(value));
    } else {
      arguments.positional.push_back(std::move(value));
    }
  }
  arguments.shapes = reader.shapes();
  return arguments;
}

script::ScriptRunOptions script_run_options() {
  script::ScriptRunOptions how;
  how.print = [](std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); };
  how.warn = [](const std::string& text) { print_to_stderr("warning: {}\n", printable(text, 2000)); };
  return how;
}

}  // namespace flambeau::cli
