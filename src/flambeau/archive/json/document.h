// A JSON text of which parts become values one after the other, and need not all exist at once: for documents
// of hundreds of megabytes, whose values would take many times that.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/archive/json/json.h"

namespace flambeau::json {

class Document {
 public:
  // As strict as parse(), with the same errors; duplicate keys are found when an object is looked at.
  explicit Document(std::string_view text);
  // `limits` hold for the values of one element at a time; where the text is a lot for them, for all.
  Document(std::string_view text, const Limits& limits);
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  // A place in the document; valid as long as that is.
  class Element {
   public:
    // Everything below, made now.
    Value value() const;
    // Each throws Error(kCorrupt, "expected X, found Y") for another kind; members() also for duplicate keys.
    std::vector<std::pair<std::string_view, Element>> members() const;
    std::vector<Element> items() const;

   private:
    friend class Document;
    const Limits* limits_ = nullptr;          // the document's
    const Value* slow_ = nullptr;             // of a text that simdjson refuses
    alignas(8) unsigned char fast_[16] = {};  // a simdjson element, whose header stays out of ours
    int depth_ = 0;
  };
  Element root() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flambeau::json
