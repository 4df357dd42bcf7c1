// The way from any square matrix to its Schur form a = z * t * z^H: t is triangular, of real matrices with
// blocks of two rows where eigenvalues are complex.
#pragma once

#include "flambeau/kernels/linalg/matrix.h"

namespace flambeau::kernels::linalg {

// a becomes t, z is multiplied by the transformation; where z has no data only the eigenvalues will be right.
// False where the iteration does not end. Columns lie packed.
template <typename T>
void make_hessenberg(ThreadPool& pool, Matrix<T> a, Matrix<T> z);
bool iterate_schur(Matrix<double> h, Matrix<double> z, std::complex<double>* values);
bool iterate_schur(Matrix<std::complex<double>> h, Matrix<std::complex<double>> z,
                   std::complex<double>* values);

}  // namespace flambeau::kernels::linalg
