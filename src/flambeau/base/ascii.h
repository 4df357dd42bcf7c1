// What the characters of names and numbers are, whatever the locale.
#pragma once

namespace flambeau {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_word(char c) { return is_word_start(c) || is_digit(c); }

}  // namespace flambeau
