#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/debug_info.h"

namespace flambeau::script {
namespace {

using pickle::Kind;
using pickle::Node;

constexpr std::string_view kStringTable = "FORMAT_WITH_STRING_TABLE";
// The texts of all sources may be so many times the record, which repeats each line by a number.
constexpr uint64_t kTextPerByte = 256;
constexpr uint64_t kFixedText = 1ULL << 20;

std::span<Node* const> tuple_of(const Node& node, size_t least, size_t most, std::string_view what) {
  if (!node.is(Kind::kTuple))
    corrupt(fmt::format("{} should be a tuple, found {}", what, a_kind(node.kind())));
  const std::span<Node* const> items = node.items();
  if (items.size() < least || items.size() > most) {
    corrupt(fmt::format("{} should have {} parts, found {}", what, least, items.size()));
  }
  return items;
}

class DebugReader {
 public:
  explicit DebugReader(uint64_t byte_count)
      : text_left_(kFixedText + kTextPerByte * std::min<uint64_t>(byte_count, 1ULL << 40)) {}

  std::vector<TextOrigin> read(const Node& root) {
    if (!root.is(Kind::kTuple)) corrupt(fmt::format("a tuple is expected, found {}", a_kind(root.kind())));
    const Node* records = &root;
    if (!root.items().empty() && root.items()[0]->is(Kind::kString) &&
        root.items()[0]->as_string() == kStringTable) {
      const std::span<Node* const> parts = tuple_of(root, 3, 3, "debug information with a table of texts");
      texts_ = parts[1];
      records = parts[2];
      if (!texts_->is(Kind::kTuple)) corrupt("the table of texts should be a tuple");
      if (!records->is(Kind::kTuple)) corrupt("the ranges should be a tuple");
    }
    std::vector<TextOrigin> found;
    found.reserve(records->items().size());
    for (const Node* record : records->items()) add(*record, found);
    std::stable_sort(found.begin(), found.end(),
                     [](const TextOrigin& a, const TextOrigin& b) { return a.offset < b.offset; });
    return found;
  }

 private:
  // (offset, (source, start, end)[, tag])
  void add(const Node& record, std::vector<TextOrigin>& to) {
    const std::span<Node* const> parts = tuple_of(record, 2, 3, "a range's record");
    const std::span<Node* const> range = tuple_of(*parts[1], 3, 3, "a range");
    const int64_t offset = parts[0]->as_int();
    const std::shared_ptr<const Source>& source = source_of(*range[0]);
    const int64_t start = range[1]->as_int();
    const int64_t end = range[2]->as_int();
    // Delegated backends' ranges stand at no byte at all.
    if (offset < 0 || start < 0 || end < start || std::cmp_greater(end, source->text().size())) return;
    to.push_back(
        {static_cast<size_t>(offset), {source, static_cast<uint32_t>(start), static_cast<uint32_t>(end)}});
  }

  const std::shared_ptr<const Source>& source_of(const Node& node) {
    std::shared_ptr<const Source>& source = sources_[&node];
    if (source == nullptr) source = make_source(node);
    return source;
  }

  // (text, file or None, first line), or (lines' numbers, file's number, first line)
  std::shared_ptr<const Source> make_source(const Node& node) {
    const std::span<Node* const> parts = tuple_of(node, 3, 3, "a source");
    std::string text;
    std::string file;
    if (texts_ != nullptr) {
      for (const Node* line : int_list(*parts[0])) append(text, text_at(line->as_int()));
      append(file, text_at(parts[1]->as_int()));
    } else {
      append(text, parts[0]->as_string());
      if (!parts[1]->is(Kind::kNone)) append(file, parts[1]->as_string());
    }
    const int64_t first_line = parts[2]->as_int();
    if (first_line < 0) corrupt(fmt::format("a source begins at line {}", first_line));
    return std::make_shared<Source>(std::move(text), std::move(file), static_cast<size_t>(first_line));
  }

  // torch.jit._pickle.build_intlist([...])
  static std::span<Node* const> int_list(const Node& node) {
    if (node.is(Kind::kList)) return node.items();
    const Node::Call call = node.as_call();
    if (!call.callee->is_global("torch.jit._pickle.build_intlist") || !call.args->is(Kind::kTuple) ||
        call.args->items().size() != 1 || !call.args->items()[0]->is(Kind::kList)) {
      corrupt("a source's lines should be a list of numbers");
    }
    return call.args->items()[0]->items();
  }

  std::string_view text_at(int64_t index) const {
    if (index < 0 || std::cmp_greater_equal(index, texts_->items().size())) {
      corrupt(fmt::format("text {} of {} is asked for", index, texts_->items().size()));
    }
    return texts_->items()[static_cast<size_t>(index)]->as_string();
  }

  void append(std::string& to, std::string_view text) {
    if (text.size() > text_left_) {
      throw Error(ErrorCode::kLimit, "the original sources take too much for the size of the record");
    }
    text_left_ -= text.size();
    to += text;
  }

  uint64_t text_left_;
  const Node* texts_ = nullptr;
  std::unordered_map<const Node*, std::shared_ptr<const Source>> sources_;
};

class LazyOrigins final : public SourceOrigins {
 public:
  explicit LazyOrigins(std::function<std::vector<uint8_t>()> read) : read_(std::move(read)) {}

  std::optional<SourceRange> find(size_t offset) const override {
    const std::lock_guard lock(mutex_);
    if (read_ != nullptr) {
      try {
        records_ = read_debug_pickle(read_());
      } catch (const Error&) {
        records_.clear();  // a model runs without it
      }
      read_ = nullptr;
    }
    const auto behind =
        std::upper_bound(records_.begin(), records_.end(), offset,
                         [](size_t at, const TextOrigin& record) { return at < record.offset; });
    if (behind == records_.begin()) return std::nullopt;
    return std::prev(behind)->range;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::function<std::vector<uint8_t>()> read_;  // empty once it was read
  mutable std::vector<TextOrigin> records_;
};

}  // namespace

std::vector<TextOrigin> read_debug_pickle(ByteSpan bytes) {
  const pickle::Parsed parsed = pickle::parse(bytes, nullptr);
  return DebugReader(bytes.size()).read(*parsed.tree.root());
}

std::shared_ptr<const SourceOrigins> lazy_origins(std::function<std::vector<uint8_t>()> read) {
  return std::make_shared<LazyOrigins>(std::move(read));
}

}  // namespace flambeau::script
