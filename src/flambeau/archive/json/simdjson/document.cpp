// Texts read by simdjson; what it refuses, the fallback reads. Builds that must bring no such library have
// json/simdjson_off.cpp in its place.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "flambeau/archive/json/budget.h"
#include "flambeau/archive/json/cursor.h"
#include "flambeau/archive/json/document.h"
#include "flambeau/archive/json/fallback.h"
#include "flambeau/base/error.h"

namespace flambeau::json {
namespace {

// Gives up quietly, by false: the fallback then finds the place and the words.
bool convert(simdjson::dom::element from, Value& to, int depth, Budget& budget) {
  using simdjson::dom::element_type;
  switch (from.type()) {
    case element_type::OBJECT: {
      if (depth == kMostDepth) return false;
      const simdjson::dom::object object = from.get_object().value_unsafe();
      Object members;
      budget.reserve(members, object.size());
      for (const auto& field : object) {
        budget.make_room(members);  // simdjson's counts end at 2^24
        budget.charge_string(field.key.size());
        members.emplace_back(std::string(field.key), Value());
        if (!convert(field.value, members.back().second, depth + 1, budget)) return false;
      }
      refuse_duplicate_keys(members);
      to = Value(std::move(members));
      return true;
    }
    case element_type::ARRAY: {
      if (depth == kMostDepth) return false;
      const simdjson::dom::array array = from.get_array().value_unsafe();
      Array items;
      budget.reserve(items, array.size());
      for (const simdjson::dom::element item : array) {
        budget.make_room(items);
        if (!convert(item, items.emplace_back(), depth + 1, budget)) return false;
      }
      to = Value(std::move(items));
      return true;
    }
    case element_type::STRING:
      budget.charge_string(from.get_string_length().value_unsafe());
      to = Value(from.get_string().value_unsafe());
      return true;
    case element_type::INT64:
      to = Value(from.get_int64().value_unsafe());
      return true;
    case element_type::UINT64:
      to = Value(from.get_uint64().value_unsafe());
      return true;
    case element_type::DOUBLE:
      to = Value(from.get_double().value_unsafe());
      return true;
    case element_type::BOOL:
      to = Value(from.get_bool().value_unsafe());
      return true;
    case element_type::NULL_VALUE:
      to = Value();
      return true;
  }
  return false;
}

bool parse_fast(simdjson::dom::parser& parser, std::string_view text, const Limits& limits,
                simdjson::dom::element& root) {
  if (text.empty()) return false;  // it may be at no address, which simdjson copies from
  // The parser's tables, which it makes by the text's size before it looks at it.
  constexpr uint64_t kTables = 16;
  if (kTables * text.size() > limits.bytes) return false;
  if (parser.allocate(std::max<size_t>(text.size(), 64), kMostDepth + 8) != simdjson::SUCCESS) return false;
  return parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS;
}

}  // namespace

Value parse(std::string_view text) { return parse(text, Limits::for_text(text.size())); }

Value parse(std::string_view text, const Limits& limits) {
  {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    Value value;
    Budget budget(limits);
    if (parse_fast(parser, text, limits, root) && convert(root, value, 0, budget)) return value;
  }
  return parse_slowly(text, limits);
}

struct Document::State {
  Limits limits;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::optional<Value> slow;
};

Document::Document(std::string_view text) : Document(text, Limits::for_text(text.size())) {}
Document::Document(std::string_view text, const Limits& limits) : state_(std::make_unique<State>()) {
  state_->limits = limits;
  // Nesting within the parser's own limit may still be beyond ours.
  if (!parse_fast(state_->parser, text, limits, state_->root)) state_->slow = parse_slowly(text, limits);
}
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

namespace {

static_assert(sizeof(simdjson::dom::element) <= 16 && std::is_trivially_copyable_v<simdjson::dom::element>);

simdjson::dom::element fast_element(const unsigned char* bytes) {
  simdjson::dom::element element;
  std::memcpy(static_cast<void*>(&element), bytes, sizeof element);
  return element;
}

}  // namespace

Document::Element Document::root() const {
  Element element;
  element.limits_ = &state_->limits;
  if (state_->slow) {
    element.slow_ = &*state_->slow;
  } else {
    std::memcpy(element.fast_, &state_->root, sizeof state_->root);
  }
  return element;
}

Value Document::Element::value() const {
  if (slow_ != nullptr) return *slow_;
  Value made;
  Budget budget(*limits_);
  if (convert(fast_element(fast_), made, depth_, budget)) return made;
  throw Error(ErrorCode::kLimit, fmt::format("JSON is nested deeper than {} levels", kMostDepth));
}

std::vector<std::pair<std::string_view, Document::Element>> Document::Element::members() const {
  std::vector<std::pair<std::string_view, Element>> found;
  if (slow_ != nullptr) {
    for (const Member& member : slow_->as_object()) {
      Element element;
      element.slow_ = &member.second;
      found.emplace_back(member.first, element);
    }
    return found;
  }
  const simdjson::dom::element element = fast_element(fast_);
  if (!element.is_object()) fail_kind("an object", value());
  std::vector<std::string_view> keys;
  const simdjson::dom::object object = element.get_object().value_unsafe();
  for (const auto& field : object) {
    Element inner = *this;
    std::memcpy(inner.fast_, &field.value, sizeof field.value);
    inner.depth_ = depth_ + 1;
    found.emplace_back(field.key, inner);
    keys.push_back(field.key);
  }
  refuse_duplicate_keys(std::move(keys));
  return found;
}

std::vector<Document::Element> Document::Element::items() const {
  std::vector<Element> found;
  if (slow_ != nullptr) {
    for (const Value& item : slow_->as_array()) {
      Element element;
      element.slow_ = &item;
      found.push_back(element);
    }
    return found;
  }
  const simdjson::dom::element element = fast_element(fast_);
  if (!element.is_array()) fail_kind("an array", value());
  const simdjson::dom::array array = element.get_array().value_unsafe();
  for (const simdjson::dom::element item : array) {
    Element inner = *this;
    std::memcpy(inner.fast_, &item, sizeof item);
    inner.depth_ = depth_ + 1;
    found.push_back(inner);
  }
  return found;
}

}  // namespace flambeau::json
