#include "judge/ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

// Processes that write down what they build, and can be held while they do.
struct Builders {
  core::ProcessSource source() {
    return [this]() -> Result<core::OtherProcess> {
      ++started;
      struct Builder final : core::Evaluator {
        explicit Builder(Builders& all_in) : all(all_in) {}
        Result<core::Inspection> Inspect(const core::SourceRef&) override { return Fail(ErrorCode::kUsage, ""); }
        Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest&) override {
          return Fail(ErrorCode::kUsage, "");
        }
        Result<core::SpliceOutcome> Splice(const core::SpliceRequest&) override { return Fail(ErrorCode::kUsage, ""); }
        Result<core::TimeOutcome> Time(const core::TimeRequest&) override { return Fail(ErrorCode::kUsage, ""); }
        Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
          const std::lock_guard turn(all.held);
          const std::lock_guard lock(all.mutex);
          all.built.push_back(request);
          return core::ExecuteOutcome(core::Executed{});
        }
        Builders& all;
      };
      return core::OtherProcess{std::make_unique<Builder>(*this), [this] { ++abandoned; }};
    };
  }
  std::vector<std::string> texts() {
    const std::lock_guard lock(mutex);
    std::vector<std::string> all;
    for (const core::ExecuteRequest& request : built) all.push_back(request.source.text);
    return all;
  }
  std::mutex held, mutex;
  std::vector<core::ExecuteRequest> built;
  std::atomic<int> started = 0, abandoned = 0;
};

std::vector<core::ExecuteRequest> CallsOf(const std::vector<std::string>& texts) {
  std::vector<core::ExecuteRequest> calls;
  for (const std::string& text : texts) calls.emplace_back().source.text = text;
  return calls;
}

TEST(Ahead, BuildsAllButTheFirstAndIsWaitedFor) {
  Builders builders;
  {
    judge::Ahead ahead(builders.source());
    ahead.Expect(CallsOf({"a", "b"}));
    for (const char* text : {"a", "b"}) ahead.Await(text);
    const auto texts = builders.texts();
    EXPECT_TRUE(texts.empty() || texts == std::vector<std::string>{"b"}) << "b is taken back where nobody has begun";
  }
  EXPECT_GE(builders.started, 1);
  EXPECT_EQ(builders.abandoned, builders.started);
}

TEST(Ahead, WhatNobodyHasBegunIsForgotten) {
  Builders builders;
  judge::Ahead ahead(builders.source());
  {
    const std::lock_guard hold(builders.held);
    ahead.Expect(CallsOf({"a", "b", "c", "d", "e", "f", "g", "h"}));
    ahead.Expect(CallsOf({"x", "y"}));
  }
  for (const char* text : {"b", "c", "d", "e", "f", "g", "h", "y"}) ahead.Await(text);
  const auto texts = builders.texts();
  EXPECT_LE(texts.size(), static_cast<size_t>(builders.started) + 1) << "one for each process, and y";
}

TEST(Ahead, StartsNothingForOneVersionOrWithoutProcesses) {
  Builders builders;
  judge::Ahead ahead(builders.source());
  ahead.Expect(CallsOf({"a"}));
  ahead.Await("a");
  EXPECT_EQ(builders.started, 0);
  judge::Ahead none({});
  none.Expect(CallsOf({"a", "b"}));
  none.Await("b");
}

// What the judge asks for: a build, in a timed case, of buffers that are not made whole.
TEST(Ahead, TheJudgeAsksForBuildsAlone) {
  Builders builders;
  JudgeBench bench(ElementwiseSpec(core::DType::kF32, 100'000), Twice);
  bench.options.another = builders.source();
  judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
  judge.Expect({MarkedSource("one"), MarkedSource("two")});
  EXPECT_EQ(builders.started, 0) << "nothing is known of the cases yet";
  ASSERT_TRUE(judge.Prepare());
  const std::vector<std::string> before = builders.texts();
  EXPECT_TRUE(before.empty());
  judge.Expect({MarkedSource("one"), MarkedSource("two")});
  for (int i = 0; i < 10'000 && builders.texts().empty(); ++i) std::this_thread::yield();
  bench.untrusted.Add("two", Twice);
  ASSERT_TRUE(judge.Evaluate(MarkedSource("two"), bench.untrusted, judge::VerificationLevel::kQuick));
  for (const core::ExecuteRequest& request : builders.built) {
    EXPECT_EQ(request.source.text, MarkedSource("two").text);
    EXPECT_TRUE(request.options.build_only);
    EXPECT_EQ(request.device, "sim:h200");
    for (const core::BufferContent& buffer : request.buffers) EXPECT_LE(buffer.bytes.size(), 4096u) << buffer.name;
    EXPECT_EQ(request.buffers.front().Size(), 400'000u);
  }
}

// What a search expected is forgotten when it is over, and a version's own evaluation waits for its own build alone;
// not the build that comes after that evaluation.
TEST(Ahead, TheRealBuildIsNeitherForgottenNorWaitedFor) {
  Builders builders;
  judge::Ahead ahead(builders.source());
  const auto real = [&] {
    const std::lock_guard lock(builders.mutex);
    return std::any_of(builders.built.begin(), builders.built.end(),
                       [](const core::ExecuteRequest& call) { return call.options.nvcc; });
  };
  core::ExecuteRequest winner;
  winner.source.text = "winner";
  winner.options.nvcc = true;
  {
    const std::lock_guard hold(builders.held);
    ahead.Begin(winner);
    ahead.Expect({});
    ahead.Await("winner");
    EXPECT_FALSE(real());
  }
  while (!real()) std::this_thread::yield();
}

TEST(Ahead, TheJudgeAsksForTheRealBuild) {
  Builders builders;
  JudgeBench bench(ElementwiseSpec(core::DType::kF32, 100'000), Twice);
  bench.options.another = builders.source();
  judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
  ASSERT_TRUE(judge.Prepare());
  judge.ExpectRealBuild(MarkedSource("winner"));
  while (builders.texts().empty()) std::this_thread::yield();
  EXPECT_EQ(builders.texts().front(), MarkedSource("winner").text);
  EXPECT_TRUE(builders.built.front().options.nvcc);
  EXPECT_TRUE(builders.built.front().options.build_only);
}

}  // namespace
}  // namespace warpwright
