// What Python calls the operators of TorchScript: torch.add(x, y), x.view(sizes), F.gelu(x). The table is a
// fact about PyTorch 2.13, in spellings.txt.
#pragma once

#include <string>
#include <string_view>

namespace flambeau::script {

enum class PythonPlace { kNone, kFunction, kMethod };
struct PythonSpelling {
  PythonPlace place = PythonPlace::kNone;  // kNone: only torch.ops has it
  std::string word = {};                   // "torch.add", "F.gelu"; of a method "view"
};
// Of an operator of PyTorch on tensors, by its name: "aten::add".
PythonSpelling python_spelling(std::string_view operator_name);

// A function of PyTorch that is written in Python, by its name in an archive, without "__torch__.", and the
// names of its arguments: "F.relu" of "torch.nn.functional.relu" and "input,inplace". Empty when PyTorch has
// none of that name that takes the same.
std::string python_function(std::string_view name, std::string_view arguments);

// The table, as the build put it into the library.
std::string_view python_spellings_text();

}  // namespace flambeau::script
