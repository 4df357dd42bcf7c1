// Stands in for the folder simdjson/ in builds that must bring no such library: the same values and errors,
// more slowly.
#include "flambeau/archive/json/document.h"
#include "flambeau/archive/json/fallback.h"

namespace flambeau::json {

Value parse(std::string_view text) { return parse_slowly(text); }
Value parse(std::string_view text, const Limits& limits) { return parse_slowly(text, limits); }

struct Document::State {
  Limits limits;
  Value root;
};

Document::Document(std::string_view text) : Document(text, Limits::for_text(text.size())) {}
Document::Document(std::string_view text, const Limits& limits)
    : state_(std::make_unique<State>(State{limits, parse_slowly(text, limits)})) {}
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

Document::Element Document::root() const {
  Element element;
  element.limits_ = &state_->limits;
  element.slow_ = &state_->root;
  return element;
}

Value Document::Element::value() const { return *slow_; }

std::vector<std::pair<std::string_view, Document::Element>> Document::Element::members() const {
  std::vector<std::pair<std::string_view, Element>> found;
  for (const Member& member : slow_->as_object()) {
    Element element = *this;
    element.slow_ = &member.second;
    found.emplace_back(member.first, element);
  }
  return found;
}

std::vector<Document::Element> Document::Element::items() const {
  std::vector<Element> found;
  for (const Value& item : slow_->as_array()) {
    Element element = *this;
    element.slow_ = &item;
    found.push_back(element);
  }
  return found;
}

}  // namespace flambeau::json
