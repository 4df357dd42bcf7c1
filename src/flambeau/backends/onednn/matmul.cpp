#include "flambeau/backends/onednn/internal.h"

namespace flambeau::backends::onednn {

Layer matmul(const kernels::GemmShape& shape, const float* right, const float* bias,
             kernels::Epilogues epilogues, std::span<const Weights> same) {
  return translate("a matrix product", [&] {
    const auto matrix = [](const kernels::MatrixSteps& steps, int64_t rows, int64_t columns) {
      return strided({rows, columns}, {steps.row, steps.column});
    };
    const memory::desc source = matrix(shape.left, shape.rows, shape.depth);
    const memory::desc plain = matrix(shape.right, shape.depth, shape.columns);
    const memory::desc out = matrix(shape.out, shape.rows, shape.columns);
    const memory::desc biases = strided({1, shape.columns}, {shape.columns, 1});
    const dnnl::matmul::desc wanted = bias != nullptr ? dnnl::matmul::desc(source, any(plain), biases, out)
                                                      : dnnl::matmul::desc(source, any(plain), out);
    const dnnl::matmul::primitive_desc desc(wanted, attributes(epilogues), engine());
    std::vector<std::unique_ptr<Layer::Prepared>> pieces;
    pieces.push_back(std::make_unique<Layer::Prepared>(
        dnnl::matmul(desc), desc, packed(right, 0, plain, desc.weights_desc(), same), biases, bias));
    return Layer(std::move(pieces));
  });
}

}  // namespace flambeau::backends::onednn
