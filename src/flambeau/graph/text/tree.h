// The lossless text taken apart, before values and expressions are known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/graph/text/lines.h"
#include "flambeau/graph/text/literal.h"

namespace flambeau::graph {

struct TextString {
  std::string text;
  TextPlace place;
};

// What a line says of the value it gives.
struct ValueText {
  std::string name;
  TextPlace place;
  std::optional<TextString> type;
  // The rest is rare.
  struct Details {
    bool grad = false;
    std::optional<TextString> strides;
    std::optional<TextString> offset;
    std::optional<Literal> device;
    std::optional<TextString> device_extras;
    std::optional<Layout> layout;
    std::optional<ArgumentKind> sym;  // kSymInt, kSymFloat or kSymBool
    std::optional<Literal> number;    // of that
    std::optional<std::string> object_name;
    std::string object_class;
    std::optional<TextString> extras;
  };
  std::unique_ptr<Details> details;
  Details& more() {
    if (!details) details = std::make_unique<Details>();
    return *details;
  }
  bool is_described() const { return type || details; }
};

struct ArgumentText {
  std::string name;
  bool by_name = false;
  std::optional<PassedBy> passed_by;
  KindSpec kind;
  std::optional<TextString> extras;
  TextPlace place;
};

struct MetadataText {
  std::string key;
  std::string text;
  std::optional<uint64_t> number;  // of a long text
  TextPlace place;
};

// One line of a graph's body.
struct Statement {
  enum class Kind : uint8_t { kCall, kSubgraph, kItem };
  Kind kind = Kind::kCall;
  ValueText value;     // its name is the line's
  std::string target;  // of calls; of subgraphs the class; of items what they are taken from
  size_t index = 0;    // of items
  struct Passed {
    std::optional<std::string> name;
    Literal literal;
  };
  std::vector<Passed> arguments;
  std::vector<MetadataText> metadata;

  // ---- from the comment
  bool has_arguments = false;
  std::vector<ArgumentText> argument_notes;
  OutputForm form = OutputForm::kOne;
  std::optional<bool> single;
  std::optional<std::string> name;  // of the node, or of the subgraph
  bool no_node_name = false;
  bool is_item = false;
  bool is_list = false;
  std::optional<Literal> constant;
  KindSpec as;
  std::optional<TextString> extras;  // of the node
};

struct InputText {
  ValueText value;
  std::optional<Literal> constant;
  KindSpec as;
};

struct OrderText {
  ValueKind kind = ValueKind::kTensor;
  std::vector<std::string> names;
  TextPlace place;
};

struct GraphText {
  std::string name;
  TextPlace place;
  size_t indent = 0;
  std::vector<InputText> inputs;
  std::vector<Statement> statements;
  std::vector<Literal> outputs;
  std::vector<KindSpec> output_kinds;
  bool has_return = false;
  bool is_single = false;
  std::optional<TextString> extras;
  std::vector<ValueText> values;
  std::vector<OrderText> orders;
  std::unordered_map<std::string, std::unique_ptr<GraphText>> classes;
};

// From "class" to the end of the graph and of those inside it.
std::unique_ptr<GraphText> parse_graph_text(TextScanner& scanner);

}  // namespace flambeau::graph
