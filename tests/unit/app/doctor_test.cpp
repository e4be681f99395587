// What doctor finds, from workers that respond, stop halfway or never start.
#include "app/doctor.h"

#include "app/machine_report.h"
#include "tests/unit/app/app_bench.h"
#include "worker/machine_json.h"

namespace warpwright {
namespace {

class DoctorTest : public AppTest {
 protected:
  DoctorTest() {
    answer_.out = "libnvml: hello\n" + worker::EncodeMachine(machine_) + "\n";
    device_.kernels.Add("doctor_kernel", TwiceOf);
  }
  app::DoctorFacts Examine(const std::string& device = "") {
    const app::DoctorRequest request{.device = device,
                                     .repository = repository_.path(),
                                     .cache = folder_.path() / "cache",
                                     .scratch = folder_.path(),
                                     .worker = {"worker", "--cache", "c"}};
    const app::DoctorServices services{.ask_worker =
                                           [&](const std::vector<std::string>& question) {
                                             question_ = question;
                                             return answer_failure_ ? Result<base::Completed>(Fail(*answer_failure_))
                                                                    : Result<base::Completed>(answer_);
                                           },
                                       .make_worker =
                                           [&](bool gpu) {
                                             workers_.push_back(gpu);
                                             return app::DoctorWorker{
                                                 std::make_unique<Lost>(device_, start_failure_),
                                                 [] { return std::string("worker 1\nno Landlock\nno seccomp"); }};
                                           },
                                       .worker_log = [] { return std::string("loading\nno libclang\n"); }};
    return app::ExamineMachine(request, services);
  }
  // Another process using the same device.
  class Lost final : public core::Evaluator {
   public:
    Lost(FakeDevice& device, const std::optional<Error>& failure) : device_(device), failure_(failure) {}
    Result<core::Inspection> Inspect(const core::SourceRef& source) override {
      return failure_ ? Result<core::Inspection>(Fail(*failure_)) : device_.Inspect(source);
    }
    Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
      return device_.Rewrite(request);
    }
    Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override { return device_.Splice(request); }
    Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
      return device_.Execute(request);
    }
    Result<core::TimeOutcome> Time(const core::TimeRequest& request) override { return device_.Time(request); }

   private:
    FakeDevice& device_;
    const std::optional<Error>& failure_;
  };

  static core::Machine MachineWithGpu() {
    core::Machine machine;
    machine.toolkit = {"/usr/local/cuda", true, true, {}};
    machine.driver = {13000, 1, {}};
    machine.device.emplace().pci = "00000000:19:00.0";
    return machine;
  }
  core::Machine machine_ = MachineWithGpu();
  base::Completed answer_;
  std::optional<Error> answer_failure_, start_failure_;
  std::vector<std::string> question_;
  std::vector<bool> workers_;  // with a GPU?
};

TEST_F(DoctorTest, FindsOutEverythingAndTriesAKernel) {
  const app::DoctorFacts facts = Examine();
  EXPECT_EQ(question_, (std::vector<std::string>{"--doctor", "cuda"}));
  EXPECT_FALSE(facts.worker) << facts.worker.message;
  ASSERT_TRUE(facts.machine.toolkit);
  EXPECT_EQ(facts.machine.toolkit->root, "/usr/local/cuda");
  EXPECT_FALSE(facts.start->problem);
  EXPECT_EQ(facts.sandbox_notes, (std::vector<std::string>{"no Landlock", "no seccomp"}));
  EXPECT_FALSE(facts.simulated->problem) << facts.simulated->problem.message;
  EXPECT_FALSE(facts.ran->problem) << facts.ran->problem.message;
  EXPECT_EQ(workers_, (std::vector<bool>{false, true}));
  EXPECT_FALSE(facts.cache_problem);
  EXPECT_GT(facts.free_disk_bytes.value_or(0), 0u);
  EXPECT_EQ(facts.author, "warpwright <warpwright@localhost>");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "cache")) << "nothing is left behind";
}

TEST_F(DoctorTest, AWorkerThatEndsEarlyHasToldSomething) {
  answer_.out += "{\"nvrtc";
  answer_.exit_code = 139;
  answer_.err = "warning\nSegmentation fault\n";
  const app::DoctorFacts facts = Examine("cuda:1");
  EXPECT_EQ(facts.worker.message,
            "worker --doctor ended with 139; the last part that it reported was: nvrtc; Segmentation fault");
  EXPECT_EQ(facts.worker.remedy, "run it directly: worker --cache c --doctor cuda:1");
  EXPECT_TRUE(facts.machine.toolkit) << "what was told before is known";
}

TEST_F(DoctorTest, AWorkerThatCannotBeStarted) {
  answer_failure_ = Error{.code = ErrorCode::kEnvironment, .message = "no such program"};
  start_failure_ = Error{.code = ErrorCode::kEnvironment, .message = "it does not start"};
  const app::DoctorFacts facts = Examine();
  EXPECT_EQ(facts.worker.message, "no such program");
  EXPECT_EQ(facts.start->problem.message, "it does not start: no libclang");
  EXPECT_EQ(facts.start->problem.remedy, "run it directly: worker --cache c");
  EXPECT_FALSE(facts.parsed);
  EXPECT_FALSE(facts.simulated);
  EXPECT_EQ(workers_, std::vector<bool>{false});
}

TEST_F(DoctorTest, WhatAKernelCanDo) {
  struct Row {
    FakeKernel kernel;
    std::string message;
  };
  for (const Row& row :
       {Row{ThriceOf, "gives a wrong result"},
        Row{[](FakeRun& run) { run.outcome = core::ExecuteOutcome(core::CompileFailed{"log"}); },
            "does not compile: log"},
        Row{[](FakeRun& run) { run.outcome = core::ExecuteOutcome(core::Refused{core::Check::kDeadline, "too slow"}); },
            "is refused: too slow"}}) {
    device_.kernels = FakeEvaluator();
    device_.kernels.Add("doctor_kernel", row.kernel);
    EXPECT_EQ(Examine("sim:h200").simulated->problem.message, "a small kernel " + row.message);
  }
}

TEST(MachineReport, ReadsPartsBetweenWhatLibrariesPrint) {
  EXPECT_EQ(app::ReadMachineReport("").last, "nothing");
  EXPECT_EQ(app::ReadMachineReport("text\n{").last, "");
  const app::MachineReport report =
      app::ReadMachineReport("{\"driver\": {\"version\": 13000, \"gpus\": 1}}\n{broken}\n");
  EXPECT_TRUE(report.problem);
  ASSERT_TRUE(report.machine.driver);
  EXPECT_EQ(report.machine.driver->version, 13000);
}

}  // namespace
}  // namespace warpwright
