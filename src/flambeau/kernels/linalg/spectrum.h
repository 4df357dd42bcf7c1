// What matrices are made of: eigenvalues and vectors of Hermitian and of general matrices, singular values
// and vectors. Each reduces the matrix by reflections, most of it in matrix products, and then iterates on
// what is left. Numbers that are not finite are the caller's to refuse. False is an iteration that does not
// end.
#pragma once

#include "flambeau/kernels/linalg/matrix.h"

namespace flambeau::kernels::linalg {

// Of a Hermitian matrix, both halves of which are there: values, ascending; a becomes the vectors, or
// anything where they are not wanted. Columns lie packed.
template <typename T>
bool eigen_hermitian(ThreadPool& pool, Matrix<T> a, Real<T>* values, bool with_vectors);

// a = u * diagonal(values) * vh, values descending; a becomes anything. u has as many columns as a has rows,
// or as many as there are values, and vh so many rows. Not wanted where they have no data. Columns of a lie
// packed.
template <typename T>
bool singular_values(ThreadPool& pool, Matrix<T> a, Matrix<T> u, Real<T>* values, Matrix<T> vh);

// Of any square matrix: a * v = v * value, vectors of length 1. a becomes anything; columns lie packed. Not
// wanted where `vectors` has no data. T is double or complex<double>: others lose digits that cost little.
template <typename T>
bool eigen_general(ThreadPool& pool, Matrix<T> a, std::complex<double>* values,
                   Matrix<std::complex<double>> vectors);

// a becomes its exponential: a series of scaled powers, squared as often as needed. T is double or
// complex<double>.
template <typename T>
void exponential(ThreadPool& pool, Matrix<T> a);

}  // namespace flambeau::kernels::linalg
