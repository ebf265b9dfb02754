#include "pits/cuda/device/device.h"

#include <gtest/gtest.h>

#include "pits/cuda/device/on_gpu.h"
#include "pits/cuda/lockstep.h"

namespace pits::cuda {
namespace {

TEST(Device, WithoutAGpuAskingForItIsAClearError) {
  if (device_count() > 0) GTEST_SKIP() << "there is a GPU here";
  try {
    on_gpu([] { return free_bytes(); });
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cuda: cudaMemGetInfo"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace pits::cuda
