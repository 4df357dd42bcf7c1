// Names of variables in printed code: what a value was called, made an identifier that is not taken yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace flambeau::script {

// Letters, digits and underscores, not a digit first. Words of the language are identifiers here.
bool is_identifier(std::string_view text);
// The same text with other characters replaced by underscores.
std::string make_identifier(std::string_view text);

class NameMaker {
 public:
  // The name itself, or with a number behind it when it is taken or a word of the language. Throws
  // Error(kLimit) where names are chosen such that looking for a free one takes forever.
  std::string make(const std::string& wanted);
  // All names are free again. Numbers go on where they were, as PyTorch's do throughout a file.
  void forget() { used_.clear(); }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, uint64_t> next_numbers_;
  uint64_t steps_ = 0;
};

}  // namespace flambeau::script
