// A real cubin, intact and damaged in every way: the reader returns a value or an Error and never crashes.
#include "compile/cubin.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "compile/compiler.h"

namespace warpwright {
namespace {

std::vector<std::byte> RealCubin() {
  const auto compiler = compile::Compiler::Create({});
  const auto outcome =
      compiler->Compile({"k.cu",
                         "__global__ void __launch_bounds__(64) k(float* p, int n) { float a[90]; for (int i = 0; i < "
                         "90; ++i) a[i] = p[i]; for (int i = 0; i < 90; ++i) a[(i * n) % 90] += a[i]; p[0] = a[n]; }",
                         {},
                         {"k"},
                         "sm_90"});
  return std::get<core::CompiledModule>(*outcome).cubin;
}

TEST(Cubin, StatesItsResources) {
  const auto kernels = compile::ReadCubin(RealCubin());
  ASSERT_TRUE(kernels) << kernels.error().Format();
  ASSERT_EQ(kernels->size(), 1u);
  const compile::CubinKernel& k = kernels->at("_Z1kPfi");
  EXPECT_GT(k.registers, 4);
  EXPECT_GE(k.stack_bytes, 360);
  EXPECT_GT(k.constant_bytes, 12);
  EXPECT_EQ(k.max_threads, 64);
}

TEST(Cubin, DamageIsAnErrorOrAnotherAnswer) {
  const auto cubin = RealCubin();
  EXPECT_FALSE(compile::ReadCubin({}));
  for (size_t size = 0; size < cubin.size(); size += 37) (void)compile::ReadCubin(std::span(cubin).first(size));
  const base::CounterRandom random(1, 2);
  uint64_t at = 0;
  for (int round = 0; round < 3000; ++round) {
    auto damaged = cubin;
    for (int i = 0; i < 4; ++i) {
      // Mostly in the headers and the small tables, where damage matters most.
      const size_t where = random.Below(at++, i % 2 == 0 ? 64 : damaged.size());
      damaged[where] = static_cast<std::byte>(random.Bits(at++));
    }
    (void)compile::ReadCubin(damaged);
  }
}

}  // namespace
}  // namespace warpwright
