#include "pits/cuda/device.h"

#include <gtest/gtest.h>

#include "pits/core/error.h"

namespace pits::cuda {
namespace {

constexpr Address address{.seed = 0x123456789ABCDEFULL, .realization = 7, .purpose = Purpose::minibatch, .step = 99};
constexpr std::size_t draws = 100'003;  // not a multiple of four, more than one thread block

TEST(CudaRandom, WordsAreTheCpusBitForBit) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  const std::vector<std::uint32_t> drawn = words(address, draws);
  ASSERT_EQ(drawn.size(), draws);
  Stream stream(address);
  for (std::size_t i = 0; i < draws; ++i) ASSERT_EQ(drawn[i], stream.word()) << "word " << i;
}

TEST(CudaRandom, UniformsAreTheCpusBitForBit) {
  if (device_count() == 0) GTEST_SKIP() << "no GPU here";
  const std::vector<float> drawn = uniforms(address, draws);
  Stream stream(address);
  for (std::size_t i = 0; i < draws; ++i) ASSERT_EQ(drawn[i], stream.uniform_float()) << "uniform " << i;
}

TEST(CudaRandom, WithoutACardAskingForDrawsIsAClearError) {
  if (device_count() > 0) GTEST_SKIP() << "there is a GPU here";
  try {
    words(address, 4);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cuda: cudaMalloc"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace pits::cuda
