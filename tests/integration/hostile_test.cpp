// Every candidate of tests/hostile is stopped by the check intended for it, and every one of tests/honest is accepted:
// CUDA files through the real workers. tests/hostile/README.md describes how to run this on a GPU.
//
//   WW_DEVICE    sim:h200 unless given; "cuda" for a GPU
//   WW_SLOW      also what waits for a limit of half a minute
//   WW_RESULTS   a file to which one line of JSON is added per row
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "config/manifest.h"
#include "core/device_name.h"
#include "judge/judge.h"
#include "judge/lift_shapes.h"
#include "tests/support/worker_process.h"

namespace warpwright {
namespace {

struct Row {
  std::string suite;  // "hostile", "honest"
  std::string group, candidate, kernel, case_part, on, pending, slow;
  std::vector<std::string> checks;
  bool full_only = false;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.suite << "/" << row.candidate << " as " << row.kernel; }

std::filesystem::path Tests() { return std::filesystem::path(WW_SOURCE_DIR) / "tests"; }
std::filesystem::path Originals() { return Tests() / "originals"; }

std::string Device() {
  const char* device = std::getenv("WW_DEVICE");
  return device == nullptr || *device == '\0' ? "sim:h200" : device;
}
bool OnSimulator() { return core::IsSimulated(Device()); }

std::vector<Row> Rows(const std::string& suite) {
  std::vector<Row> rows;
  for (const YAML::Node& node : YAML::LoadFile((Tests() / suite / "expected.yml").string())) {
    const auto text = [&](const char* key) { return node[key] ? node[key].as<std::string>() : std::string(); };
    Row row{suite,        text("group"), text("candidate"), text("kernel"),
            text("case"), text("on"),    text("pending"),   text("slow"),
            {},           false};
    if (node["check"]) row.checks = node["check"].as<std::vector<std::string>>();
    row.full_only = text("effort") == "full";
    if (node["pending_on"] && text("pending_on") != (OnSimulator() ? "sim" : "cuda")) row.pending.clear();
    rows.push_back(std::move(row));
  }
  return rows;
}
std::string TestName(const testing::TestParamInfo<Row>& info) { return info.param.candidate + "_" + info.param.kernel; }

std::string TextOf(const std::filesystem::path& path) {
  auto text = base::ReadFile(path);
  EXPECT_TRUE(text) << text.error().Format();
  return text ? *text : std::string();
}

std::unique_ptr<worker::WorkerEvaluator> Start() {
  worker::WorkerCommand command = WorkerCommandFor(WW_SOURCE_DIR);
  if (!OnSimulator()) command.argv.emplace_back("--gpu");
  return std::make_unique<worker::WorkerEvaluator>(std::move(command));
}

// One trusted worker, one for all candidates, and one judge for each kernel: as in a search.
class Court {
 public:
  Court() : manifest_(config::LoadManifest(Originals())) { EXPECT_TRUE(manifest_) << manifest_.error().Format(); }

  const std::vector<core::KernelSpec>& kernels() const { return manifest_->kernels; }
  const core::KernelSpec* Find(const std::string& kernel) const {
    for (const core::KernelSpec& spec : kernels())
      if (spec.name == kernel) return &spec;
    return nullptr;
  }
  static core::SourceRef Source(const core::KernelSpec& spec, const std::filesystem::path& file) {
    return {Originals().string(), spec.file, TextOf(file)};
  }
  judge::Judge& JudgeOf(const core::KernelSpec& spec) {
    std::unique_ptr<judge::Judge>& judge = judges_[spec.name];
    if (judge == nullptr) {
      judge::JudgeOptions options;
      options.repository = Originals();
      options.secret_seed = secret_seed_;
      options.lift = [this, spec] {
        return trusted_->Lift(judge::MakeLiftRequest(Source(spec, Originals() / spec.file), spec, "sim:h200"));
      };
      judge = std::make_unique<judge::Judge>(spec, Source(spec, Originals() / spec.file), Device(), *trusted_, options);
    }
    return *judge;
  }
  core::Evaluator& trusted() { return *trusted_; }
  core::Evaluator& untrusted() { return *untrusted_; }

 private:
  std::unique_ptr<worker::WorkerEvaluator> trusted_ = Start(), untrusted_ = Start();
  Result<core::Manifest> manifest_;
  // Drawn once for all candidates, of which none can know it: they share what the original gives for it.
  const uint64_t secret_seed_ = base::SecretSeed();
  std::map<std::string, std::unique_ptr<judge::Judge>> judges_;
};
Court& TheCourt() {
  static Court court;
  return court;
}

std::string CheckOf(const core::Verdict& verdict) {
  return std::visit(Overload{[](const core::CompileFailed&) { return std::string("compile"); },
                             [](const core::Refused& v) { return v.check.text(); },
                             [](const core::WrongResult& v) { return std::string(Name(v.check)); },
                             [](const core::Faulted& v) { return std::string(core::Name(v.fault.kind)); },
                             [](const core::Measured&) { return std::string(); }},
                    verdict);
}
std::string CaseOf(const core::Verdict& verdict) {
  if (const auto* wrong = std::get_if<core::WrongResult>(&verdict)) return wrong->case_name;
  if (const auto* faulted = std::get_if<core::Faulted>(&verdict)) return faulted->case_name;
  return {};
}

struct Judged {
  core::Verdict verdict;
  double seconds = 0;
};
std::optional<Judged> JudgeRow(const Row& row, judge::VerificationLevel effort) {
  Court& court = TheCourt();
  const core::KernelSpec* spec = court.Find(row.kernel);
  EXPECT_NE(spec, nullptr) << "tests/originals has no kernel " << row.kernel;
  if (spec == nullptr) return std::nullopt;
  const core::SourceRef candidate = Court::Source(*spec, Tests() / row.suite / "candidate" / (row.candidate + ".cu"));
  const auto begin = std::chrono::steady_clock::now();
  const auto verdict = court.JudgeOf(*spec).Evaluate(candidate, court.untrusted(), effort);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_TRUE(verdict) << verdict.error().Format();
  if (!verdict) return std::nullopt;
  return Judged{*verdict, seconds};
}

void Log(const Row& row, const Judged& judged) {
  const char* path = std::getenv("WW_RESULTS");
  if (path == nullptr || *path == '\0') return;
  const nlohmann::ordered_json line = {{"suite", row.suite},
                                       {"group", row.group},
                                       {"candidate", row.candidate},
                                       {"kernel", row.kernel},
                                       {"device", Device()},
                                       {"verdict", core::VerdictName(judged.verdict)},
                                       {"check", CheckOf(judged.verdict)},
                                       {"expected", row.checks},
                                       {"pending", row.pending},
                                       {"message", core::VerdictMessage(judged.verdict)},
                                       {"seconds", std::round(judged.seconds * 1000) / 1000}};
  std::ofstream(path, std::ios::app) << base::DumpJson(line) << "\n";
}

// Rows for another device, and slow ones without WW_SLOW, are not instantiated.
bool RunsHere(const Row& row) {
  return (row.on.empty() || row.on == (OnSimulator() ? "sim" : "cuda")) &&
         (row.slow.empty() || std::getenv("WW_SLOW") != nullptr);
}
std::vector<Row> RowsHere(const std::string& suite) {
  std::vector<Row> rows = Rows(suite);
  std::erase_if(rows, [](const Row& row) { return !RunsHere(row); });
  return rows;
}
bool IsExpected(const Row& row, const core::Verdict& verdict) {
  return !core::Passed(verdict) &&
         std::find(row.checks.begin(), row.checks.end(), CheckOf(verdict)) != row.checks.end() &&
         CaseOf(verdict).find(row.case_part) != std::string::npos;
}

class Hostile : public testing::TestWithParam<Row> {};
TEST_P(Hostile, IsStoppedByItsCheck) {
  const Row& row = GetParam();
  const auto full = JudgeRow(row, judge::VerificationLevel::kFull);
  if (!full) return;
  Log(row, *full);
  const std::string said = fmt::format("{}: {}", CheckOf(full->verdict), core::VerdictMessage(full->verdict));
  if (!row.pending.empty()) {
    EXPECT_FALSE(IsExpected(row, full->verdict)) << "no longer pending: take that out of expected.yml. " << said;
    std::cout << "pending: " << row.pending << " (" << said << ")\n";
    return;
  }
  EXPECT_TRUE(IsExpected(row, full->verdict))
      << "by " << fmt::format("{}", fmt::join(row.checks, " or ")) << ", not by " << said;
  if (row.full_only) return;
  const auto quick = JudgeRow(row, judge::VerificationLevel::kQuick);
  ASSERT_TRUE(quick);
  EXPECT_TRUE(IsExpected(row, quick->verdict)) << "in a quick evaluation: " << core::VerdictMessage(quick->verdict);
}
INSTANTIATE_TEST_SUITE_P(Judge, Hostile, testing::ValuesIn(RowsHere("hostile")), TestName);

class Honest : public testing::TestWithParam<Row> {};
TEST_P(Honest, IsAccepted) {
  const Row& row = GetParam();
  const auto judged = JudgeRow(row, judge::VerificationLevel::kFull);
  if (!judged) return;
  Log(row, *judged);
  EXPECT_TRUE(core::Passed(judged->verdict)) << core::VerdictMessage(judged->verdict);
  judge::Judge& judge = TheCourt().JudgeOf(*TheCourt().Find(row.kernel));
  EXPECT_TRUE(judge.Prepare()->truth.starts_with("float64")) << judge.Prepare()->truth;
  // These originals support every check; shapes that take much more than the declared ones are left out.
  for (const std::string& note : judge.notes())
    if (!note.starts_with("odd-shape: not tested with")) ADD_FAILURE() << note;
}
INSTANTIATE_TEST_SUITE_P(Judge, Honest, testing::ValuesIn(RowsHere("honest")), TestName);

// A repository of one kernel whose manifest or references an attacker edits.
class EditedRepository : public testing::Test {
 protected:
  void Write(const std::string& manifest) {
    ASSERT_TRUE(base::WriteFileAtomically(folder_.path() / config::kManifestName, manifest));
    ASSERT_TRUE(base::WriteFileAtomically(folder_.path() / "scale.cu", TextOf(Originals() / "scale.cu")));
  }
  Result<core::Manifest> Load() const { return config::LoadManifest(folder_.path()); }
  std::unique_ptr<judge::Judge> MakeJudge(const core::KernelSpec& spec) {
    judge::JudgeOptions options;
    options.repository = folder_.path();
    const core::SourceRef original{Originals().string(), spec.file, TextOf(Originals() / spec.file)};
    return std::make_unique<judge::Judge>(spec, original, Device(), TheCourt().trusted(), options);
  }
  static std::string ManifestWith(const std::string& line) {
    return "version: 1\nkernels:\n  - name: scale\n    file: scale.cu\n    entry: scale\n    args:\n"
           "      out: {buffer: f32, shape: [n], role: out}\n      x: {buffer: f32, shape: [n], role: in}\n"
           "      n: {scalar: i32}\n    cases:\n      - {n: 4000}\n" +
           line;
  }

  base::TemporaryDirectory folder_ = std::move(*base::TemporaryDirectory::Create("edited"));
};

TEST_F(EditedRepository, CompilerOptionsAreNoneOfTheManifests) {
  Write(ManifestWith("    nvcc: [-rdc=true]\n"));
  const auto manifest = Load();
  ASSERT_FALSE(manifest);
  EXPECT_NE(manifest.error().message.find("nvcc"), std::string::npos) << manifest.error().Format();
}

TEST_F(EditedRepository, AnotherSeedIsNotWhatWasRecorded) {
  Write(ManifestWith(""));
  const auto manifest = Load();
  ASSERT_TRUE(manifest) << manifest.error().Format();
  const core::KernelSpec& spec = manifest->kernels[0];
  const auto report = MakeJudge(spec)->Record();
  ASSERT_TRUE(report) << report.error().Format();
  ASSERT_TRUE(MakeJudge(spec)->Prepare());
  const auto path = folder_.path() / report->cases.at(0).path;
  auto record = nlohmann::json::parse(TextOf(path));
  record["seed"] = "2";
  ASSERT_TRUE(base::WriteFileAtomically(path, record.dump()));
  const auto baseline = MakeJudge(spec)->Prepare();
  ASSERT_FALSE(baseline);
  EXPECT_NE(baseline.error().message.find("no longer gives what was recorded"), std::string::npos)
      << baseline.error().Format();
}

// Each file has a row, so that none is forgotten.
TEST(Suites, NameEveryFile) {
  for (const std::string suite : {"hostile", "honest"}) {
    const std::vector<Row> rows = Rows(suite);
    for (const auto& entry : std::filesystem::directory_iterator(Tests() / suite / "candidate"))
      EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.candidate == entry.path().stem().string();
      })) << entry.path();
  }
}

// The original is its own best candidate: accepted, and measured as the same.
TEST(Identity, IsAcceptedAndNoFaster) {
  for (const Row& row : Rows("honest")) {
    if (!RunsHere(row)) continue;
    const core::KernelSpec& spec = *TheCourt().Find(row.kernel);
    judge::Judge& judge = TheCourt().JudgeOf(spec);
    const auto verdict = judge.Evaluate(Court::Source(spec, Originals() / spec.file), TheCourt().untrusted(),
                                        judge::VerificationLevel::kQuick);
    ASSERT_TRUE(verdict) << verdict.error().Format();
    ASSERT_TRUE(core::Passed(*verdict)) << spec.name << ": " << core::VerdictMessage(*verdict);
    const double speedup =
        core::Speedup(std::get<core::Measured>(judge.Prepare()->original), std::get<core::Measured>(*verdict));
    if (!OnSimulator()) continue;  // a measured one has noise
    EXPECT_DOUBLE_EQ(speedup, 1) << spec.name;
  }
}

}  // namespace
}  // namespace warpwright
