// What PyTorch reads otherwise than it is written, for the sake of archives that quantization wrote long ago.
#pragma once

#include <string>
#include <string_view>

namespace flambeau {
class SchemaTable;
struct OperatorEntry;
struct OperatorName;
}  // namespace flambeau

namespace flambeau::script {

// The operator that a function of an old archive means when it calls this one; empty when it is meant.
std::string_view legacy_operator(std::string_view function, std::string_view operator_name);

// The type of an attribute that old archives call a Tensor though it holds packed weights: the class's name;
// empty where it is a Tensor. `class_name` may have mangled parts.
std::string_view packed_attribute_class(std::string_view class_name, std::string_view attribute);

// What a quantized convolution of 1.3, which was told its strides although the packed weights know them, is
// today; null for other operators. Of its eight arguments those first two and last two are left.
const OperatorEntry* new_convolution(const SchemaTable& operators, const OperatorName& old);

// Names without their "___torch_mangle_3" parts.
std::string without_mangling(std::string_view qualified_name);

}  // namespace flambeau::script
