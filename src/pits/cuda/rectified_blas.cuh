// Products with a ReLU, or with its slope, at their end, which spares a pass over the result: cuBLASLt in TF32.
#pragma once

#include <memory>

#include "pits/cuda/blas.cuh"

namespace pits::cuda {

// One bit for each element of a product, rows of `stride` bits, `step` bits from matrix to matrix; multiples of 128.
struct BitsOf {
  std::uint8_t* data;
  std::int64_t stride, step;
};

class RectifiedBlas {
 public:
  RectifiedBlas();
  ~RectifiedBlas();
  RectifiedBlas(const RectifiedBlas&) = delete;
  RectifiedBlas& operator=(const RectifiedBlas&) = delete;

  // Both do nothing and return false where cuBLASLt has no such product.
  // C = max(A · Bᵀ, 0), and where it is above 0.
  bool product_with_transposed(const ProductShape& shape, const BatchOf& a, const BatchOf& b, const BatchOf& c,
                               const BitsOf& above, cudaStream_t stream);
  // C = A · B where `above` has a bit, else 0.
  bool product(const ProductShape& shape, const BatchOf& a, const BatchOf& b, const BatchOf& c, const BitsOf& above,
               cudaStream_t stream);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace pits::cuda
