// Numbers below the smallest normal float count as zero while this lives, in this thread. A weight that only the prior
// moves decays past them, and a product with one of them takes a processor a hundred times as long.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace pits {

class FlushDenormals {
 public:
  FlushDenormals() : saved_(control()) { set_control(saved_ | flush); }
  ~FlushDenormals() { set_control(saved_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr std::uint64_t flush = 0x8040;  // MXCSR: results (FTZ) and operands (DAZ)
  static std::uint64_t control() { return _mm_getcsr(); }
  static void set_control(std::uint64_t word) { _mm_setcsr(static_cast<unsigned>(word)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t flush = std::uint64_t{1} << 24;  // FPCR: FZ
  static std::uint64_t control() {
    std::uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set_control(std::uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
  static constexpr std::uint64_t flush = 0;
  static std::uint64_t control() { return 0; }
  static void set_control(std::uint64_t) {}
#endif

  std::uint64_t saved_;
};

}  // namespace pits
