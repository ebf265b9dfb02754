#include "pits/cuda/device/blas.cuh"

#include <cublas_v2.h>

#include <string>

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/device/library.cuh"

namespace pits::cuda {
namespace {

constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

void check(cublasStatus_t status, const char* operation) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw GpuFailure(std::string(operation) + ": cuBLAS status " + std::to_string(static_cast<int>(status)));
  }
}

std::string library_name() { return "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR); }

void* open_blas() {
  if (void* found = open_library(library_name())) return found;
  throw GpuFailure(
      "networks of more than one hidden layer, of more than 63 units or 16 actions, linear models and "
      "clouds of more than 64 particles need " +
      library_name() + ", which the system does not find; LD_LIBRARY_PATH can name its directory");
}

}  // namespace

struct Blas::Library {
  void* opened;
  cublasHandle_t handle = nullptr;
  cublasComputeType_t compute;
  DeviceArray<char> workspace{workspace_bytes};  // given, so that graphs can be captured
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k, const void* alpha,
                         const void* A, cudaDataType, int lda, long long strideA, const void* B, cudaDataType, int ldb,
                         long long strideB, const void* beta, void* C, cudaDataType, int ldc, long long strideC,
                         int count, cublasComputeType_t, cublasGemmAlgo_t);

  explicit Library(GpuPrecision precision)
      : opened(open_blas()),
        compute(precision == GpuPrecision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC) {
    find_function(opened, create, "cublasCreate_v2");
    find_function(opened, destroy, "cublasDestroy_v2");
    find_function(opened, set_stream, "cublasSetStream_v2");
    find_function(opened, set_workspace, "cublasSetWorkspace_v2");
    find_function(opened, gemm, "cublasGemmStridedBatchedEx");
    check(create(&handle), "cublasCreate");
  }
  ~Library() { destroy(handle); }  // the library itself stays loaded

  struct Side {
    const BatchOf& of;
    cublasOperation_t as;
  };
  // In cuBLAS's columns: Cᵀ = Bᵀ Aᵀ.
  void run(const ProductShape& s, const Side& b, const Side& a, float factor, float keep, const BatchOf& c) {
    check(gemm(handle, b.as, a.as, s.columns, s.rows, s.inner, &factor, b.of.data, CUDA_R_32F, b.of.stride, b.of.step,
               a.of.data, CUDA_R_32F, a.of.stride, a.of.step, &keep, c.data, CUDA_R_32F, c.stride, c.step, s.count,
               compute, CUBLAS_GEMM_DEFAULT),
          "cublasGemmStridedBatchedEx");
  }
};

Blas::Blas(GpuPrecision precision) : library_(std::make_unique<Library>(precision)) {}
Blas::~Blas() = default;

void Blas::use(cudaStream_t stream) {
  check(library_->set_stream(library_->handle, stream), "cublasSetStream");
  check(library_->set_workspace(library_->handle, library_->workspace.data(), workspace_bytes), "cublasSetWorkspace");
}

void Blas::product(const ProductShape& shape, const BatchOf& a, const BatchOf& b, float keep, const BatchOf& c,
                   float factor) {
  library_->run(shape, {b, CUBLAS_OP_N}, {a, CUBLAS_OP_N}, factor, keep, c);
}

void Blas::product_with_transposed(const ProductShape& shape, const BatchOf& a, const BatchOf& b, float keep,
                                   const BatchOf& c) {
  library_->run(shape, {b, CUBLAS_OP_T}, {a, CUBLAS_OP_N}, 1.0F, keep, c);
}

void Blas::transposed_product(const ProductShape& shape, const BatchOf& a, const BatchOf& b, float keep,
                              const BatchOf& c) {
  library_->run(shape, {b, CUBLAS_OP_N}, {a, CUBLAS_OP_T}, 1.0F, keep, c);
}

}  // namespace pits::cuda
