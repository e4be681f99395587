// The supervisor and the evaluator against workers that misbehave (fake_worker.cpp). Real processes, real pipes, short
// deadlines.
#include "worker/supervisor.h"

#include <gtest/gtest.h>

#include <future>

#include "base/file.h"
#include "worker/codec.h"
#include "worker/worker_evaluator.h"

namespace warpwright {
namespace {

using std::chrono::milliseconds;

class SupervisorTest : public ::testing::Test {
 protected:
  worker::WorkerCommand Fake(const std::string& mode, bool once = false) const {
    worker::WorkerCommand command{{WW_FAKE_WORKER, mode}, folder.path() / "log"};
    if (once) command.argv.push_back((folder.path() / "played").string());
    return command;
  }
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ww-supervisor"));
  worker::CallLimits limits{milliseconds(2000), {}};
};

TEST_F(SupervisorTest, StartsOneWorkerForManyCalls) {
  worker::Supervisor supervisor(Fake("echo"));
  EXPECT_EQ(supervisor.starts(), 0);
  const std::vector<std::byte> large(5'000'000, std::byte{7});
  for (int i = 0; i < 3; ++i) {
    worker::FrameView call{worker::FrameKind::kMessage, "call " + std::to_string(i), {}};
    call.Attach(large);
    const auto answer = supervisor.Call(call, limits);
    ASSERT_TRUE(answer) << answer.error().Format();
    EXPECT_EQ(answer->header, call.header);
    EXPECT_EQ(answer->attachments.at(0), large);
  }
  EXPECT_EQ(supervisor.starts(), 1);
  EXPECT_EQ(supervisor.hello(), "fake worker");
  supervisor.Stop();
  EXPECT_TRUE(supervisor.Call({worker::FrameKind::kMessage, "again", {}}, limits));
  EXPECT_EQ(supervisor.starts(), 2);
}

TEST_F(SupervisorTest, SharesMemoryWithAWorkerThatTakesIt) {
  worker::Supervisor supervisor(Fake("shares"));
  const std::vector<std::byte> large(5'000'000, std::byte{7}), small(10, std::byte{8});
  for (int i = 0; i < 3; ++i) {
    worker::FrameView call{worker::FrameKind::kMessage, "call", {}};
    call.Attach(large);
    call.Attach(small);
    const auto answer = supervisor.Call(call, limits);
    ASSERT_TRUE(answer) << answer.error().Format();
    EXPECT_EQ(answer->attachments.at(0), large);
    EXPECT_EQ(answer->attachments.at(1), small);
    EXPECT_EQ(supervisor.hello(), "fake worker");
    if (i == 1) supervisor.Stop();  // and the next one has its own areas
  }
  EXPECT_EQ(supervisor.starts(), 2);
}

struct Misbehaviour {
  const char* mode;
  ErrorCode code;
  const char* message;
};
class SupervisorMeets : public SupervisorTest, public ::testing::WithParamInterface<Misbehaviour> {};
TEST_P(SupervisorMeets, AndReplacesTheWorker) {
  worker::Supervisor supervisor(Fake(GetParam().mode, true));
  limits.total = milliseconds(400);
  const auto start = std::chrono::steady_clock::now();
  const auto answer = supervisor.Call({worker::FrameKind::kMessage, "call", {}}, limits);
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(3000));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, GetParam().code) << answer.error().Format();
  EXPECT_NE(answer.error().message.find(GetParam().message), std::string::npos) << answer.error().Format();
  EXPECT_FALSE(supervisor.pid());  // killed, and reaped
  limits.total = milliseconds(2000);
  EXPECT_TRUE(supervisor.Call({worker::FrameKind::kMessage, "call", {}}, limits)) << "the next worker is honest";
}
INSTANTIATE_TEST_SUITE_P(All, SupervisorMeets,
                         ::testing::Values(Misbehaviour{"crash", ErrorCode::kWorkerDied,
                                                        "signal 11 (Segmentation fault)"},
                                           Misbehaviour{"exit", ErrorCode::kWorkerDied, "exit code 4"},
                                           Misbehaviour{"hang", ErrorCode::kTimeout, "deadline"},
                                           Misbehaviour{"half", ErrorCode::kTimeout, "deadline"},
                                           Misbehaviour{"garbage", ErrorCode::kCorrupt, "wrong magic"},
                                           Misbehaviour{"huge", ErrorCode::kCorrupt, "more than 8 GiB"},
                                           Misbehaviour{"endless-stages", ErrorCode::kCorrupt, "that is no reply"},
                                           Misbehaviour{"compile-crash", ErrorCode::kWorkerDied, "stage 'compile'"},
                                           Misbehaviour{"compile-hang", ErrorCode::kTimeout, "stage 'compile'"},
                                           Misbehaviour{"banner", ErrorCode::kEnvironment, "wrong magic"},
                                           Misbehaviour{"broken-environment", ErrorCode::kEnvironment, "exit code 3"}));

TEST_F(SupervisorTest, AWorkerThatDoesNotReadCannotHoldTheCaller) {
  worker::Supervisor supervisor(Fake("deaf"));
  const std::vector<std::byte> large(50'000'000);
  worker::FrameView call;
  call.Attach(large);
  limits.total = milliseconds(200);
  EXPECT_EQ(supervisor.Call(call, limits).error().code, ErrorCode::kTimeout);
}

TEST_F(SupervisorTest, AStageHasADeadlineOfItsOwn) {
  worker::Supervisor supervisor(Fake("compile-hang"));
  limits = {milliseconds(60'000), {{"compile", milliseconds(100)}}};
  EXPECT_EQ(supervisor.Call({}, limits).error().code, ErrorCode::kTimeout);
  worker::Supervisor other(Fake("stages"));
  EXPECT_TRUE(other.Call({}, limits));
  EXPECT_EQ(other.stage(), "run");
}

TEST_F(SupervisorTest, AProgramThatDoesNotExistIsAnEnvironmentError) {
  worker::Supervisor supervisor({{"/no/such/worker"}, {}});
  EXPECT_EQ(supervisor.Call({}, limits).error().code, ErrorCode::kEnvironment);
}

class EvaluatorTest : public SupervisorTest {
 protected:
  core::ExecuteRequest request;
  worker::WorkerDeadlines deadlines{milliseconds(500), milliseconds(500), milliseconds(200), milliseconds(200)};
};

TEST_F(EvaluatorTest, ACandidateThatKillsTheWorkerTwiceIsRefused) {
  request.source.file = "a.cu";
  worker::WorkerEvaluator evaluator(Fake("crash"), deadlines);
  const auto outcome = evaluator.Execute(request);
  ASSERT_TRUE(outcome) << outcome.error().Format();
  ASSERT_TRUE(std::holds_alternative<core::Refused>(*outcome));
  EXPECT_EQ(std::get<core::Refused>(*outcome).check, core::Check::kCrash);
  EXPECT_EQ(std::get<core::Refused>(*outcome).file, "a.cu");
  EXPECT_NE(std::get<core::Refused>(*outcome).reason.find("Segmentation fault"), std::string::npos);
  EXPECT_EQ(evaluator.supervisor().starts(), 2);
  EXPECT_EQ(evaluator.Rewrite({}).error().code, ErrorCode::kWorkerDied);
}

TEST_F(EvaluatorTest, OneDeathIsForgiven) {
  worker::WorkerEvaluator evaluator(Fake("crash", true), deadlines);
  const auto outcome = evaluator.Execute(request);  // the second worker echoes the call, which is not a reply
  EXPECT_EQ(evaluator.supervisor().starts(), 2);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kCorrupt);
}

TEST_F(EvaluatorTest, ACompilerBeyondItsLimitIsACompileFailure) {
  worker::WorkerEvaluator slow(Fake("compile-hang"), deadlines);
  const auto late = slow.Execute(request);
  ASSERT_TRUE(late && std::holds_alternative<core::CompileFailed>(*late));
  EXPECT_NE(std::get<core::CompileFailed>(*late).log.find("the compiler exceeded its limit"), std::string::npos);
  EXPECT_EQ(slow.supervisor().starts(), 1) << "not worth another wait";
  worker::WorkerEvaluator large(Fake("compile-crash"), deadlines);
  const auto died = large.Execute(request);
  ASSERT_TRUE(died && std::holds_alternative<core::CompileFailed>(*died));
  EXPECT_NE(std::get<core::CompileFailed>(*died).log.find("memory"), std::string::npos);
  EXPECT_EQ(large.supervisor().starts(), 2);
}

// No command calls a user's file a failure of the machine.
TEST_F(EvaluatorTest, ASourceThatTheParserDoesNotSurviveIsAMistakeInIt) {
  for (const auto& [mode, why] : {std::pair("hang", "the parser exceeded its limit of 0.5 s"),
                                  std::pair("crash", "the parser exceeded its limit of memory, or crashed: ")}) {
    worker::WorkerEvaluator evaluator(Fake(mode), deadlines);
    const auto inspected = evaluator.Inspect({"/tmp", "k.cu", ""});
    ASSERT_FALSE(inspected) << mode;
    EXPECT_EQ(inspected.error().code, ErrorCode::kConfig) << mode;
    EXPECT_EQ(inspected.error().file, "k.cu") << mode;
    EXPECT_NE(inspected.error().message.find(why), std::string::npos) << inspected.error().Format();
  }
}

TEST_F(EvaluatorTest, WhatTheTasksDeadlineCutsShortSaysNothingOfTheCandidate) {
  const base::SystemClock clock;
  base::Deadline deadline(clock);
  worker::WorkerEvaluator hanging(Fake("hang"), {});
  hanging.SetDeadline(deadline);
  const auto begin = clock.Steady();
  deadline.Set(begin + milliseconds(200));
  const auto outcome = hanging.Execute(request);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(deadline.broke_off());
  EXPECT_GE(hanging.seconds().at(hanging.supervisor().stage()), 0.1) << "and what it took is known";
  EXPECT_EQ(hanging.supervisor().starts(), 1);
  EXPECT_FALSE(hanging.Execute(request)) << "and nothing else begins";
  EXPECT_EQ(hanging.supervisor().starts(), 1);
  EXPECT_LT(clock.Steady() - begin, std::chrono::seconds(10));
  deadline.Clear();
  EXPECT_FALSE(deadline.broke_off());
}

TEST_F(EvaluatorTest, AMissedDeadlineIsRefusedAndABrokenEnvironmentIsAnError) {
  worker::WorkerEvaluator hanging(Fake("hang"), deadlines);
  const auto outcome = hanging.Execute(request);
  ASSERT_TRUE(outcome && std::holds_alternative<core::Refused>(*outcome));
  EXPECT_EQ(std::get<core::Refused>(*outcome).check, core::Check::kDeadline);
  EXPECT_EQ(hanging.Splice({}).error().code, ErrorCode::kTimeout);
  worker::WorkerEvaluator broken(Fake("broken-environment"), deadlines);
  EXPECT_EQ(broken.Execute(request).error().code, ErrorCode::kEnvironment);
  worker::WorkerEvaluator garbage(Fake("garbage"), deadlines);
  EXPECT_EQ(garbage.Execute(request).error().code, ErrorCode::kCorrupt);
}

TEST_F(SupervisorTest, AnAbandonedWorkerEndsTheCallThatWaitsForIt) {
  worker::WorkerEvaluator evaluator(Fake("hang"));
  ASSERT_TRUE(evaluator.Begin());
  EXPECT_EQ(evaluator.supervisor().starts(), 1);
  auto answer = std::async(std::launch::async, [&] { return evaluator.Inspect({"/tmp", "k.cu", ""}); });
  evaluator.Abandon();
  const auto inspected = answer.get();
  ASSERT_FALSE(inspected);
  EXPECT_EQ(inspected.error().code, ErrorCode::kWorkerDied);
  EXPECT_FALSE(evaluator.Inspect({"/tmp", "k.cu", ""}));
  EXPECT_EQ(evaluator.supervisor().starts(), 1) << "it is not started again";
}

}  // namespace
}  // namespace warpwright
