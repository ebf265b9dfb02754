#include "pits/cuda/rectified_blas.cuh"

#include <cublasLt.h>

#include "pits/cuda/device_array.cuh"
#include "pits/cuda/library.cuh"

namespace pits::cuda {
namespace {

constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

void check(cublasStatus_t status, const char* operation) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw CardFailure(std::string(operation) + ": cuBLASLt status " + std::to_string(static_cast<int>(status)));
  }
}

}  // namespace

struct RectifiedBlas::Library {
  void* opened = nullptr;
  cublasLtHandle_t handle = nullptr;
  DeviceArray<char> workspace;
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmulDescCreate) make_product;
  decltype(&cublasLtMatmulDescDestroy) drop_product;
  decltype(&cublasLtMatmulDescSetAttribute) set_product;
  decltype(&cublasLtMatrixLayoutCreate) make_layout;
  decltype(&cublasLtMatrixLayoutDestroy) drop_layout;
  decltype(&cublasLtMatrixLayoutSetAttribute) set_layout;
  decltype(&cublasLtMatmulPreferenceCreate) make_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) drop_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&cublasLtMatmulAlgoGetHeuristic) choose;
  decltype(&cublasLtMatmul) multiply;

  Library() : opened(open_library("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR))) {
    if (opened == nullptr) return;
    find_function(opened, create, "cublasLtCreate");
    find_function(opened, destroy, "cublasLtDestroy");
    find_function(opened, make_product, "cublasLtMatmulDescCreate");
    find_function(opened, drop_product, "cublasLtMatmulDescDestroy");
    find_function(opened, set_product, "cublasLtMatmulDescSetAttribute");
    find_function(opened, make_layout, "cublasLtMatrixLayoutCreate");
    find_function(opened, drop_layout, "cublasLtMatrixLayoutDestroy");
    find_function(opened, set_layout, "cublasLtMatrixLayoutSetAttribute");
    find_function(opened, make_preference, "cublasLtMatmulPreferenceCreate");
    find_function(opened, drop_preference, "cublasLtMatmulPreferenceDestroy");
    find_function(opened, set_preference, "cublasLtMatmulPreferenceSetAttribute");
    find_function(opened, choose, "cublasLtMatmulAlgoGetHeuristic");
    find_function(opened, multiply, "cublasLtMatmul");
    check(create(&handle), "cublasLtCreate");
    workspace = DeviceArray<char>(workspace_bytes);
  }
  ~Library() {
    if (handle != nullptr) destroy(handle);
  }

  // A row-major matrix is its transpose in cuBLAS's columns.
  cublasLtMatrixLayout_t layout(const BatchOf& of, int rows, int columns, int count) const {
    cublasLtMatrixLayout_t made = nullptr;
    check(make_layout(&made, CUDA_R_32F, static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows),
                      of.stride),
          "layout");
    const std::int64_t step = of.step;
    const std::int32_t matrices = count;
    check(set_layout(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &matrices, sizeof matrices), "layout");
    check(set_layout(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step), "layout");
    return made;
  }

  cublasLtMatmulDesc_t description(bool transposed, cublasLtEpilogue_t end, const BitsOf& above) const {
    cublasLtMatmulDesc_t made = nullptr;
    check(make_product(&made, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F), "product");
    const cublasOperation_t as = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const void* bits = above.data;
    check(set_product(made, CUBLASLT_MATMUL_DESC_TRANSA, &as, sizeof as), "product");
    check(set_product(made, CUBLASLT_MATMUL_DESC_EPILOGUE, &end, sizeof end), "product");
    check(set_product(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &bits, sizeof bits), "product");
    check(set_product(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &above.stride, sizeof above.stride), "product");
    check(set_product(made, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, &above.step, sizeof above.step), "product");
    return made;
  }

  bool run(const ProductShape& s, const BatchOf& a, const BatchOf& b, bool b_transposed, const BatchOf& c,
           cublasLtEpilogue_t end, const BitsOf& above, cudaStream_t stream) const {
    if (handle == nullptr) return false;
    const cublasLtMatmulDesc_t product = description(b_transposed, end, above);
    const cublasLtMatrixLayout_t left =
        b_transposed ? layout(b, s.columns, s.inner, s.count) : layout(b, s.inner, s.columns, s.count);
    const cublasLtMatrixLayout_t right = layout(a, s.rows, s.inner, s.count);
    const cublasLtMatrixLayout_t result = layout(c, s.rows, s.columns, s.count);
    cublasLtMatmulPreference_t preference = nullptr;
    check(make_preference(&preference), "preference");
    check(set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                         sizeof workspace_bytes),
          "preference");
    cublasLtMatmulHeuristicResult_t choice{};
    int found = 0;
    const cublasStatus_t status = choose(handle, product, left, right, result, result, preference, 1, &choice, &found);
    const bool offered = status == CUBLAS_STATUS_SUCCESS && found > 0;
    if (offered) {
      const float one = 1.0F, zero = 0.0F;
      check(multiply(handle, product, &one, b.data, left, a.data, right, &zero, c.data, result, c.data, result,
                     &choice.algo, workspace.data(), workspace_bytes, stream),
            "cublasLtMatmul");
    }
    drop_preference(preference);
    for (const cublasLtMatrixLayout_t used : {left, right, result}) drop_layout(used);
    drop_product(product);
    return offered;
  }
};

RectifiedBlas::RectifiedBlas() : library_(std::make_unique<Library>()) {}
RectifiedBlas::~RectifiedBlas() = default;

bool RectifiedBlas::product_with_transposed(const ProductShape& shape, const BatchOf& a, const BatchOf& b,
                                            const BatchOf& c, const BitsOf& above, cudaStream_t stream) {
  return library_->run(shape, a, b, true, c, CUBLASLT_EPILOGUE_RELU_AUX, above, stream);
}

bool RectifiedBlas::product(const ProductShape& shape, const BatchOf& a, const BatchOf& b, const BatchOf& c,
                            const BitsOf& above, cudaStream_t stream) {
  return library_->run(shape, a, b, false, c, CUBLASLT_EPILOGUE_DRELU, above, stream);
}

}  // namespace pits::cuda
