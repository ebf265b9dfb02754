// Row-major matrices and views. The layout of every block of particles in pits is said here once:
// an (M,P) matrix, contiguous, row i is particle i.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace pits {

// A view of rows × cols numbers that it does not own. Rows lie `stride` numbers apart: stride = cols for a whole
// matrix, more for some of its columns.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, std::size_t rows, std::size_t cols) : MatrixView(data, rows, cols, cols) {}
  MatrixView(T* data, std::size_t rows, std::size_t cols, std::size_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}
  // A writable view converts to a read-only one.
  template <class U>
  requires std::is_same_v<const U, T> MatrixView(MatrixView<U> other)
      : MatrixView(other.data(), other.rows(), other.cols(), other.stride()) {}

  T* data() const { return data_; }
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t stride() const { return stride_; }
  std::size_t size() const { return rows_ * cols_; }
  T& operator()(std::size_t i, std::size_t j) const { return data_[i * stride_ + j]; }
  std::span<T> row(std::size_t i) const { return {data_ + i * stride_, cols_}; }
  // Columns first .. first+count−1.
  MatrixView columns(std::size_t first, std::size_t count) const { return {data_ + first, rows_, count, stride_}; }
  // Rows first .. first+count−1.
  MatrixView row_block(std::size_t first, std::size_t count) const {
    return {data_ + first * stride_, count, cols_, stride_};
  }
  // All numbers in order; for whole matrices only.
  std::span<T> flat() const {
    assert(stride_ == cols_ || rows_ <= 1);
    return {data_, size()};
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t stride_ = 0;
};

template <class T>
using ConstMatrixView = MatrixView<const T>;

// Cache-line alignment lets SIMD kernels load whole vectors without crossing lines.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
  bool operator==(const AlignedAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// An owned matrix, zero when made.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols) : storage_(rows * cols), rows_(rows), cols_(cols) {}

  // Sets the shape; contents are zero afterwards. Keeps the memory when it suffices.
  void reshape(std::size_t rows, std::size_t cols) {
    storage_.assign(rows * cols, T{});
    rows_ = rows;
    cols_ = cols;
  }

  T* data() { return storage_.data(); }
  const T* data() const { return storage_.data(); }
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t size() const { return storage_.size(); }
  T& operator()(std::size_t i, std::size_t j) { return storage_[i * cols_ + j]; }
  const T& operator()(std::size_t i, std::size_t j) const { return storage_[i * cols_ + j]; }
  std::span<T> row(std::size_t i) { return {data() + i * cols_, cols_}; }
  std::span<const T> row(std::size_t i) const { return {data() + i * cols_, cols_}; }
  std::span<T> flat() { return {data(), size()}; }
  std::span<const T> flat() const { return {data(), size()}; }

  MatrixView<T> view() { return {data(), rows_, cols_}; }
  ConstMatrixView<T> view() const { return {data(), rows_, cols_}; }
  operator MatrixView<T>() { return view(); }
  operator ConstMatrixView<T>() const { return view(); }

 private:
  AlignedVector<T> storage_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

// An owned matrix for column panels: wide rows start an odd number of cache lines apart. Where rows lie a power of two
// apart, the rows of a panel share few sets of the L1 cache and push one another out.
template <class T>
class PaddedMatrix {
 public:
  PaddedMatrix() = default;
  PaddedMatrix(std::size_t rows, std::size_t cols) { reshape(rows, cols); }

  // Contents are undefined where the shape changes, and stay where it does not.
  void reshape(std::size_t rows, std::size_t cols) {
    rows_ = rows;
    cols_ = cols;
    stride_ = padded(cols);
    storage_.resize(rows * stride_);
  }

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t size() const { return rows_ * cols_; }
  T& operator()(std::size_t i, std::size_t j) { return storage_[i * stride_ + j]; }
  const T& operator()(std::size_t i, std::size_t j) const { return storage_[i * stride_ + j]; }
  std::span<T> row(std::size_t i) { return {storage_.data() + i * stride_, cols_}; }
  std::span<const T> row(std::size_t i) const { return {storage_.data() + i * stride_, cols_}; }
  MatrixView<T> view() { return {storage_.data(), rows_, cols_, stride_}; }
  ConstMatrixView<T> view() const { return {storage_.data(), rows_, cols_, stride_}; }
  operator MatrixView<T>() { return view(); }
  operator ConstMatrixView<T>() const { return view(); }

 private:
  static std::size_t padded(std::size_t cols) {
    constexpr std::size_t line = 64 / sizeof(T);
    return cols < 4 * line ? cols : ((cols + line - 1) / line | 1) * line;
  }

  AlignedVector<T> storage_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t stride_ = 0;
};

// The block of particles, (M,P).
using Particles = Matrix<float>;
using ParticlesView = ConstMatrixView<float>;

inline Particles copy_of(ParticlesView theta) {
  Particles copy(theta.rows(), theta.cols());
  std::copy(theta.flat().begin(), theta.flat().end(), copy.data());
  return copy;
}

}  // namespace pits
