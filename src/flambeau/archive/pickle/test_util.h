// Helpers of the pickle tests: a tree as text, golden files as lists of pickles.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/base/error.h"

namespace flambeau::pickle {

// The tree in a notation close to Python's; "..." below eight levels, so cycles end.
inline std::string show(const Node* node, int levels = 8) {
  if (node == nullptr) return "null";
  if (levels == 0) return "...";
  const auto all = [&](std::span<Node* const> items) {
    std::string text;
    for (const Node* item : items) text += (text.empty() ? "" : ", ") + show(item, levels - 1);
    return text;
  };
  const auto all_pairs = [&](std::span<const Pair> pairs) {
    std::string text;
    for (const Pair& pair : pairs) {
      text += (text.empty() ? "" : ", ") + show(pair.key, levels - 1) + ": " + show(pair.value, levels - 1);
    }
    return text;
  };
  switch (node->kind()) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return node->as_bool() ? "True" : "False";
    case Kind::kInt:
      return std::to_string(node->as_int());
    case Kind::kBigInt: {
      std::string hex;
      for (const uint8_t byte : node->as_big_int()) hex = fmt::format("{:02x}", byte) + hex;
      return "0x" + hex;
    }
    case Kind::kFloat:
      return fmt::format("{}f", node->as_float());
    case Kind::kString:
      return "'" + std::string(node->as_string()) + "'";
    case Kind::kBytes:
      return "b'" + printable(as_text(node->as_bytes())) + "'";
    case Kind::kByteArray:
      return "bytearray'" + printable(as_text(node->as_bytes())) + "'";
    case Kind::kList:
      return "[" + all(node->items()) + "]";
    case Kind::kTuple:
      return "(" + all(node->items()) + ")";
    case Kind::kDict:
      return "{" + all_pairs(node->pairs()) + "}";
    case Kind::kSet:
      return "set{" + all(node->items()) + "}";
    case Kind::kFrozenSet:
      return "frozenset{" + all(node->items()) + "}";
    case Kind::kGlobal:
      return node->as_global().dotted();
    case Kind::kPersistent:
      return "persistent " + show(node->persistent_id(), levels - 1);
    case Kind::kCall: {
      const Node::Call call = node->as_call();
      constexpr const char* kHow[] = {"reduce ", "new ", "newex ", "inst "};
      std::string text = kHow[static_cast<int>(call.how)] + show(call.callee, levels - 1);
      text += show(call.args, levels - 1);
      if (call.kwargs != nullptr) text += " kwargs " + show(call.kwargs, levels - 1);
      if (!call.items.empty()) text += " items [" + all(call.items) + "]";
      if (!call.pairs.empty()) text += " pairs {" + all_pairs(call.pairs) + "}";
      if (call.state != nullptr) text += " state " + show(call.state, levels - 1);
      if (call.state_setter != nullptr) text += " by " + show(call.state_setter, levels - 1);
      return text;
    }
  }
  return "?";
}

// Bytes from a literal that may hold '\0'.
template <size_t N>
std::string raw(const char (&literal)[N]) {
  return std::string(literal, N - 1);
}

inline Parsed parse_text(std::string_view text, const Limits& limits = {}) {
  return parse(as_bytes(text), nullptr, limits);
}

inline std::string show_pickle(std::string_view text) { return show(parse_text(text).tree.root()); }

struct Failure {
  ErrorCode code = ErrorCode::kInternal;
  std::string text;
};

template <typename Body>
Failure failure_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  ADD_FAILURE() << "no error";
  return {};
}

inline Failure parse_failure(std::string_view text, const Limits& limits = {}) {
  return failure_of([&] { parse_text(text, limits); });
}

inline std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The pickles of a golden file, one after the other.
inline std::vector<std::string> pickles_of_file(const std::string& path) {
  const std::string all = read_whole_file(path);
  EXPECT_FALSE(all.empty()) << path;
  std::vector<std::string> pickles;
  for (size_t at = 0; at < all.size();) {
    const size_t size = parse_text(std::string_view(all).substr(at)).consumed;
    pickles.push_back(all.substr(at, size));
    at += size;
  }
  return pickles;
}

inline std::vector<std::string> golden_pickles(const std::string& name) {
  return pickles_of_file(FLAMBEAU_GOLDEN_DIR "/pickle/" + name);
}

}  // namespace flambeau::pickle
