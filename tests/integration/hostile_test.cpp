// The hostile candidates of tests/hostile are each stopped by the check that is meant for them, and the honest ones of
// tests/honest are accepted: real CUDA files through the real workers on the simulated H200.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <ostream>

#include "base/file.h"
#include "config/manifest.h"
#include "judge/judge.h"
#include "tests/support/worker_process.h"

namespace warpwright {
namespace {

struct Row {
  std::string folder, candidate, kernel, verdict, check, case_part;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.folder << "/" << row.candidate << " as " << row.kernel; }

std::filesystem::path Root(const std::string& folder) {
  return std::filesystem::path(WW_SOURCE_DIR) / "tests" / folder;
}

std::vector<Row> Rows(const std::string& folder) {
  std::vector<Row> rows;
  for (const YAML::Node& node : YAML::LoadFile((Root(folder) / "expected.yml").string())) {
    const auto text = [&](const char* key) { return node[key] ? node[key].as<std::string>() : std::string(); };
    rows.push_back({folder, text("candidate"), text("kernel"), text("verdict"), text("check"), text("case")});
  }
  return rows;
}

struct Workers {
  std::unique_ptr<WorkerEvaluator> trusted = StartWorker(WW_SOURCE_DIR), untrusted = StartWorker(WW_SOURCE_DIR);
};
Workers& SharedWorkers() {
  static Workers workers;
  return workers;
}

struct Judged {
  Verdict verdict;
  std::vector<std::string> notes;
  std::string truth;
};
Judged JudgeRow(const Row& row, Effort effort) {
  const auto manifest = LoadManifest(Root(row.folder));
  EXPECT_TRUE(manifest) << manifest.error().Format();
  const KernelSpec* spec = nullptr;
  for (const KernelSpec& kernel : manifest->kernels)
    if (kernel.name == row.kernel) spec = &kernel;
  EXPECT_NE(spec, nullptr);
  const std::string root = Root(row.folder).string();
  const SourceRef original{root, spec->file, *ReadFile(Root(row.folder) / spec->file)};
  const SourceRef candidate{root, spec->file, *ReadFile(Root(row.folder) / "candidate" / (row.candidate + ".cu"))};
  JudgeOptions options;
  options.repository = Root(row.folder);
  Judge judge(*spec, original, "sim:h200", *SharedWorkers().trusted, options);
  const auto verdict = judge.Evaluate(candidate, *SharedWorkers().untrusted, effort);
  EXPECT_TRUE(verdict) << verdict.error().Format();
  if (!verdict) return {};
  return {*verdict, judge.notes(), judge.Prepare()->truth};
}

std::string CheckOf(const Verdict& verdict) {
  if (const auto* wrong = std::get_if<WrongResult>(&verdict)) return wrong->check;
  if (const auto* refused = std::get_if<Refused>(&verdict)) return refused->check;
  if (const auto* faulted = std::get_if<Faulted>(&verdict)) return std::string(Name(faulted->fault.kind));
  return {};
}
std::string CaseOf(const Verdict& verdict) {
  if (const auto* wrong = std::get_if<WrongResult>(&verdict)) return wrong->case_name;
  if (const auto* faulted = std::get_if<Faulted>(&verdict)) return faulted->case_name;
  return {};
}

class Hostile : public testing::TestWithParam<Row> {};
TEST_P(Hostile, IsStoppedByItsCheck) {
  for (const Effort effort : {Effort::kQuick, Effort::kFull}) {
    const Verdict verdict = JudgeRow(GetParam(), effort).verdict;
    EXPECT_EQ(VerdictName(verdict), GetParam().verdict) << VerdictMessage(verdict);
    EXPECT_EQ(CheckOf(verdict), GetParam().check) << VerdictMessage(verdict);
    EXPECT_NE(CaseOf(verdict).find(GetParam().case_part), std::string::npos) << CaseOf(verdict);
    RecordProperty(effort == Effort::kQuick ? "quick" : "full", VerdictMessage(verdict));
  }
}
INSTANTIATE_TEST_SUITE_P(Judge, Hostile, testing::ValuesIn(Rows("hostile")),
                         [](const auto& info) { return info.param.candidate + "_" + info.param.kernel; });

class Honest : public testing::TestWithParam<Row> {};
TEST_P(Honest, IsAccepted) {
  const Judged judged = JudgeRow(GetParam(), Effort::kFull);
  EXPECT_TRUE(Passed(judged.verdict)) << VerdictMessage(judged.verdict);
  EXPECT_EQ(judged.truth, "float64 shadow");
  for (const std::string& note : judged.notes)
    ADD_FAILURE() << note;  // the originals here can do everything that is asked
}
INSTANTIATE_TEST_SUITE_P(Judge, Honest, testing::ValuesIn(Rows("honest")),
                         [](const auto& info) { return info.param.candidate; });

// The original is its own best candidate: accepted, and measured as the same.
TEST(Identity, IsAcceptedAndNoFaster) {
  const auto manifest = LoadManifest(Root("honest"));
  ASSERT_TRUE(manifest) << manifest.error().Format();
  for (const KernelSpec& spec : manifest->kernels) {
    const SourceRef original{Root("honest").string(), spec.file, *ReadFile(Root("honest") / spec.file)};
    JudgeOptions options;
    options.repository = Root("honest");
    Judge judge(spec, original, "sim:h200", *SharedWorkers().trusted, options);
    const auto verdict = judge.Evaluate(original, *SharedWorkers().untrusted, Effort::kQuick);
    ASSERT_TRUE(verdict) << verdict.error().Format();
    ASSERT_TRUE(Passed(*verdict)) << spec.name << ": " << VerdictMessage(*verdict);
    EXPECT_DOUBLE_EQ(Speedup(std::get<Measured>(judge.Prepare()->original), std::get<Measured>(*verdict)), 1)
        << spec.name;
  }
}

}  // namespace
}  // namespace warpwright
