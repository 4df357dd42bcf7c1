// Lines of Python that are not too long: what stands in brackets goes on in the next line.
#pragma once

#include <string>
#include <string_view>

namespace flambeau::script {

// The statement, indented so many levels of four spaces, and a newline behind it.
std::string python_line(std::string_view statement, size_t level);

}  // namespace flambeau::script
