#include "flambeau/ops/mechanism/type_names.h"

namespace flambeau::ops {

std::string_view dtype_type_name(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return "unsigned char";
    case DType::kInt8:
      return "signed char";
    case DType::kInt16:
      return "short int";
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "long int";
    case DType::kFloat16:
      return "c10::Half";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kComplex32:
      return "c10::complex<c10::Half>";
    case DType::kComplex64:
      return "c10::complex<float>";
    case DType::kComplex128:
      return "c10::complex<double>";
    case DType::kBool:
      return "bool";
    case DType::kBFloat16:
      return "c10::BFloat16";
    case DType::kQInt8:
      return "c10::qint8";
    case DType::kQUInt8:
      return "c10::quint8";
    case DType::kQInt32:
      return "c10::qint32";
    default:
      return dtype_name(dtype);
  }
}

}  // namespace flambeau::ops
