// The hold of the stream on a real GPU: what ran behind one that was waited out to its end had gaps, and is told so
// once.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "base/file.h"
#include "gpu/tools.h"

namespace warpwright::gpu {
namespace {

TEST(HoldGpu, OneThatRanOutIsNoticedOnce) {
  auto context = Context::Create(0);
  if (!context) GTEST_SKIP() << context.error().Format();
  const auto folder = base::TemporaryDirectory::Create("ww-hold");
  ASSERT_TRUE(folder);
  auto compiler = compile::Compiler::Create(folder->path());
  ASSERT_TRUE(compiler) << compiler.error().Format();
  auto made = Tools::Create(*context, *compiler);
  ASSERT_TRUE(made) << made.error().Format();
  Tools& tools = **made;

  const auto lasted = [&](bool in_time) {
    EXPECT_TRUE(tools.Hold());
    if (!in_time) {
      const auto begin = std::chrono::steady_clock::now();
      const auto fault = context->Wait(tools.stream(), std::chrono::seconds(60));
      EXPECT_TRUE(fault && !*fault);
      std::printf("an unreleased hold ended after %.2f s\n",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    tools.Release();
    const auto result = tools.NoHoldTimedOut();
    EXPECT_TRUE(result);
    return result && *result;
  };
  EXPECT_TRUE(lasted(true));
  EXPECT_FALSE(lasted(false));
  EXPECT_TRUE(lasted(true));  // asks of its own holds
}

}  // namespace
}  // namespace warpwright::gpu
