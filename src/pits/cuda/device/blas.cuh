// cuBLAS, loaded when it is first needed: a program built with CUDA starts where there is none, and small networks need
// none. Matrices are row-major here; cuBLAS's own columns are our rows.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

#include "pits/cuda/settings.h"

namespace pits::cuda {

// `count` matrices that lie `step` floats apart; rows lie `stride` floats apart. step 0: the same one again and again.
struct BatchOf {
  float* data;
  int stride;
  std::int64_t step;
};

struct ProductShape {
  int rows, columns, inner;  // C(rows,columns) = A(rows,inner) · B(inner,columns)
  int count;
};

class Blas {
 public:
  explicit Blas(GpuPrecision precision);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  void use(cudaStream_t stream);

  // C = factor · A · B + keep · C;  A · Bᵀ with B (columns,inner);  Aᵀ · B with A (inner,rows).
  void product(const ProductShape& shape, const BatchOf& a, const BatchOf& b, float keep, const BatchOf& c,
               float factor = 1.0F);
  void product_with_transposed(const ProductShape& shape, const BatchOf& a, const BatchOf& b, float keep,
                               const BatchOf& c);
  void transposed_product(const ProductShape& shape, const BatchOf& a, const BatchOf& b, float keep, const BatchOf& c);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace pits::cuda
