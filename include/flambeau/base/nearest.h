// The name that somebody meant: "did you mean" for the messages of errors.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace flambeau {

// Insertions, removals, replacements and swaps of neighbours that make one text the other; upper and lower
// case are the same.
size_t edit_distance(std::string_view a, std::string_view b);

// "did you mean 'x' or 'y'?" with the names nearest to `name`, three at most, then `rest`; `rest` alone where
// none is near. Of very many names only the first ten thousand are looked at.
std::string did_you_mean(std::string_view name, std::span<const std::string> names,
                         std::string_view rest = {});

}  // namespace flambeau
