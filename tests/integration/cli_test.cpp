// The programs as a user runs them, on copies of the example repository: real workers, real git, exit codes, JSON,
// wrong input.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/compiled_cache.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class CliTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy(fs::path(WW_SOURCE_DIR) / "config/examples/kernels", repository.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    ShrinkCases();
    first = repository.Commit("kernels");
  }
  // What is simulated most often here, at a size at which its rewrites still pay: most runs are of the odd cases, and
  // what is lifted of a histogram grows with its bins.
  void ShrinkCases() {
    for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
             {"{name: vocabulary, N: 1024, C: 8192, weight: 2}", "{name: vocabulary, N: 256, C: 2048, weight: 2}"},
             {"{name: attention, N: 8192, C: 512}", "{name: attention, N: 1024, C: 128}"},
             {"{name: hidden, N: 4096, C: 2048}", "{name: hidden, N: 512, C: 1024}"},
             {"{name: odd, N: 45, C: 333, on: [sim]}", "{name: odd, N: 9, C: 77, on: [sim]}"},
             {"{name: square, M: 2048, N: 2048, K: 1024}", "{name: square, M: 512, N: 512, K: 256}"},
             {"{name: odd, M: 67, N: 45, K: 83, on: [sim]}", "{name: odd, M: 19, N: 13, K: 17, on: [sim]}"},
             {"{name: large, rows: 2048, cols: 3072}", "{name: large, rows: 1024, cols: 1536}"},
             {"{name: mlp, n: 6291456}", "{name: mlp, n: 2097152}"},
             {"shape: [256], role: out", "shape: [32], role: out"},
             {"{integers: [0, 255]}", "{integers: [0, 31]}"},
             {"{name: image, n: 4194304}", "{name: image, n: 2097152}"}})
      Edit(".warpwright.yml", from, to);
    Edit("src/histogram.cu", "NUM_BINS 256", "NUM_BINS 32");
  }

  base::Command Warpwright(std::vector<std::string> arguments) {
    base::Command command;
    command.argv = {std::string(WW_BINARY_DIR) + "/daemon/cli/warpwright"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    for (const auto& argument : {"--repo", repository.path().c_str(), "--cache", CompiledCache().c_str(), "--quiet"})
      command.argv.push_back(argument);
    command.env = base::MinimalEnvironment();
    command.deadline = std::chrono::minutes(10);
    return command;
  }
  base::Result<base::Completed> RunWithoutRepository(const std::vector<std::string>& arguments) {
    base::Command command = Warpwright({});
    command.argv = {command.argv.front()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.deadline = std::chrono::seconds(30);
    return ::warpwright::base::Run(command);
  }
  base::Completed Run_(std::vector<std::string> arguments) {
    auto done = ::warpwright::base::Run(Warpwright(std::move(arguments)));
    EXPECT_TRUE(done);
    return done ? *done : base::Completed{};
  }
  json RunJson(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.push_back("--json");
    const base::Completed done = Run_(arguments);
    EXPECT_EQ(done.exit_code, exit_code) << done.err << done.out;
    return json::parse(done.out, nullptr, false);
  }
  void Edit(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = *base::ReadFile(repository.path() / file);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    repository.Write(file, text.replace(at, from.size(), to));
  }

  TempRepository repository;
  base::TemporaryDirectory scratch = std::move(*base::TemporaryDirectory::Create("ww-cli"));
  std::string first;
};

TEST_F(CliTest, ChangedKernelBecomesABranchAndTheWorkingTreeIsLeftAlone) {
  Edit("src/softmax.cu", "float maxval = -INFINITY", "float maxval = -1e30f");
  repository.Commit("softmax: another start");
  repository.Write("src/gelu.cu", "// the user is editing this\n");
  const std::string status = repository.Git({"status", "--porcelain"});

  const std::vector<std::string> optimize = {"optimize", "--changed-since", "HEAD~1", "--max-rounds", "2"};
  const json result = RunJson(optimize);
  ASSERT_EQ(result.at("kernels").size(), 1u) << result.dump(2);
  const json& kernel = result.at("kernels").at(0);
  for (const char* key : {"name", "outcome", "gain", "modelled", "device", "rounds", "evaluations", "seconds", "branch",
                          "message", "commit", "task"})
    EXPECT_TRUE(kernel.contains(key)) << key;
  EXPECT_EQ(kernel.at("name"), "softmax");
  EXPECT_EQ(kernel.at("outcome"), "improved") << kernel.dump(2);
  EXPECT_GT(kernel.at("gain").get<double>(), 1.5);
  EXPECT_EQ(kernel.at("modelled"), true);
  EXPECT_EQ(kernel.at("branch"), "warpwright/softmax");

  EXPECT_EQ(repository.Git({"status", "--porcelain"}), status);
  EXPECT_EQ(repository.Git({"diff", "--name-only", "main", "warpwright/softmax"}), "src/softmax.cu\n");
  EXPECT_EQ(repository.Git({"rev-list", "--count", "main..warpwright/softmax"}), "1\n");
  const std::string message = repository.Git({"log", "-1", "--format=%B", "warpwright/softmax"});
  EXPECT_NE(message.find("modelled on H200 (simulated)"), std::string::npos) << message;
  for (const char* part : {"Why:", "Counters", "Verified:", "secret-seed", "Reproduce:", "Optimized-by: warpwright"})
    EXPECT_NE(message.find(part), std::string::npos) << part;

  // Again: the finished task's result is returned, and the branch does not move.
  const json again = RunJson(optimize);
  for (const char* count : {"rounds", "attempts", "evaluations"})
    EXPECT_EQ(again.at("kernels").at(0).at(count), kernel.at(count)) << count;
  EXPECT_EQ(again.at("kernels").at(0).at("commit"), kernel.at("commit"));

  const base::Completed shown = Run_({"show", "--kernel", "softmax", "--format", "html"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_NE(shown.out.find("<svg"), std::string::npos);
  EXPECT_EQ(RunJson({"show"}).at("tasks").size(), 1u);
  EXPECT_GT(RunJson({"memory", "show"}).at("experiences").get<int>(), 0);

  // The published branch can be verified as described in the commit message.
  repository.Git({"checkout", "-q", "--", "src/gelu.cu"});
  repository.Git({"checkout", "warpwright/softmax", "--", "src/softmax.cu"});
  const json verified = RunJson({"verify", "--kernel", "softmax"});
  EXPECT_EQ(verified.at("passed"), true) << verified.dump(2);
}

bool HasNvcc() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path != nullptr ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/nvcc").c_str(), X_OK) == 0) return true;
  return false;
}

// A text may find out which standard headers it has: the slice's are ours, nvcc's are the machine's.
TEST_F(CliTest, VerifyRefusesWhatNvccBuildsOtherwise) {
  if (!HasNvcc()) GTEST_SKIP() << "nvcc is not installed";
  const json same = RunJson({"verify", "--kernel", "row_sum"});
  EXPECT_EQ(same.at("passed"), true);
  EXPECT_EQ(same.at("notes").back().at("note"), "kernels as nvcc builds them: nothing found") << same.at("notes");
  Edit("src/row_sum.cu", "static __global__", R"(#include <limits>
template <class T>
__host__ __device__ constexpr float Times(...) {
  return 1.0f;
}
template <class T, int = sizeof(T::round_error())>
__host__ __device__ constexpr float Times(int) {
  return 3.0f;
}
static __global__)");
  Edit("src/row_sum.cu", "out[row] = total", "out[row] = Times<std::numeric_limits<float>>(0) * total");
  const json result = RunJson({"verify", "--kernel", "row_sum"}, 1);
  const json& refused = result.at("cases").at(0);
  EXPECT_EQ(refused.at("check"), "kernels as nvcc builds them") << refused.dump(2);
  EXPECT_NE(refused.at("message").get<std::string>().find("each is 3 times what is expected"), std::string::npos)
      << refused.dump(2);
}

// A launcher may find out whose runtime it is compiled against: the recorder's structures are not the toolkit's.
TEST_F(CliTest, VerifyRefusesWhatLaunchesOtherwiseWhereNvccBuildsIt) {
  if (!HasNvcc()) GTEST_SKIP() << "nvcc is not installed";
  const json same = RunJson({"verify", "--kernel", "row_sum"});
  EXPECT_EQ(same.at("passed"), true);
  bool clean = false;
  for (const json& note : same.at("notes")) clean |= note.at("note") == "launches as nvcc builds them: nothing found";
  EXPECT_TRUE(clean) << same.at("notes");
  Edit("src/row_sum.cu", "= ceil_div(N, threads)", "= ceil_div(N, threads) + (sizeof(cudaDeviceProp) > 900 ? 1 : 0)");
  const json refused = RunJson({"verify", "--kernel", "row_sum"}, 1).at("cases").at(0);
  EXPECT_EQ(refused.at("check"), "launches as nvcc builds them") << refused.dump(2);
  EXPECT_NE(
      refused.at("message").get<std::string>().find("the real build launches otherwise: operation 1 has a grid of"),
      std::string::npos)
      << refused.dump(2);
}

// The slice makes constexpr functions those of the device too, as nvcc does only where it is told.
TEST_F(CliTest, VerifyRefusesWhatNvccRefusesUnlessTheProjectBuildsItSo) {
  if (!HasNvcc()) GTEST_SKIP() << "nvcc is not installed";
  Edit("src/row_sum.cu", "static __global__", "constexpr float One() { return 1.0f; }\nstatic __global__");
  Edit("src/row_sum.cu", "out[row] = total", "out[row] = One() * total");
  const json refused = RunJson({"verify", "--kernel", "row_sum"}, 1).at("cases").at(0);
  EXPECT_EQ(refused.at("check").get<std::string>().substr(0, 10), "nvcc -arch") << refused.dump(2);
  EXPECT_NE(refused.at("message").get<std::string>().find("constexpr __host__ function"), std::string::npos)
      << refused.dump(2);
  repository.Git({"stash", "-q"});
  Edit(".warpwright.yml", "kernels:", "build: {flags: [--expt-relaxed-constexpr]}\nkernels:");
  repository.Commit("say how it is built");
  repository.Git({"stash", "pop", "-q"});
  EXPECT_EQ(RunJson({"verify", "--kernel", "row_sum"}).at("passed"), true);
}

// Rounds, attempts and evaluations are the same wherever they stand, of a kernel that became faster and of one that did
// not: in the terminal, as JSON, in the commit, on the page, in the body, in the summary and in what `show` prints.
TEST_F(CliTest, CountsAgreeEverywhere) {
  Edit(".warpwright.yml", "min_speedup: 1.05", "min_speedup: 4");
  repository.Commit("ask for more");
  const std::string report = (scratch.path() / "report").string();
  const std::vector<std::string> optimize = {"optimize", "--kernel",     "softmax", "--kernel",
                                             "residual", "--max-rounds", "2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), optimize.begin(), optimize.end());
    return more;
  };
  const json result = RunJson(with({"--report", report, "--summary", report + ".md"}));
  const base::Completed terminal = Run_(optimize);
  const json reported = json::parse(*base::ReadFile(report + "/report.json"));
  const std::string summary = *base::ReadFile(report + ".md");
  std::set<std::string> outcomes;
  for (const json& kernel : result.at("kernels")) {
    const std::string name = kernel.at("name");
    const int rounds = kernel.at("rounds"), attempts = kernel.at("attempts"), evaluations = kernel.at("evaluations");
    const std::string effort = fmt::format("{} round{}, {} attempt{} ({} evaluated)", rounds, rounds == 1 ? "" : "s",
                                           attempts, attempts == 1 ? "" : "s", evaluations);
    outcomes.insert(kernel.at("outcome"));
    const json shown = RunJson({"show", "--kernel", name});
    std::set<int> counted;
    std::set<std::string> candidates;
    for (const json& attempt : shown.at("attempts")) {
      if (!attempt.at("candidate").get<std::string>().empty()) candidates.insert(attempt.at("candidate"));
      if (!attempt.at("round").is_null() && attempt.at("round") > 0) counted.insert(attempt.at("round").get<int>());
    }
    EXPECT_EQ(shown.at("attempts").size(), static_cast<size_t>(attempts)) << name;
    EXPECT_EQ(counted.size(), static_cast<size_t>(rounds)) << name << shown.dump(1);
    EXPECT_EQ(candidates.size(), static_cast<size_t>(evaluations)) << name;
    for (const char* count : {"rounds", "evaluations"}) EXPECT_EQ(shown.at(count), kernel.at(count)) << name;
    EXPECT_EQ(reported.at("kernels"), result.at("kernels"));
    const bool improved = kernel.at("outcome") == "improved";
    std::map<std::string, std::string> places = {{"terminal", terminal.out},
                                                 {"show", Run_({"show", "--kernel", name}).out},
                                                 {"page", Run_({"show", "--kernel", name, "--format", "html"}).out}};
    if (!improved) places["check and summary"] = summary;
    if (improved) {
      places["commit"] = repository.Git({"log", "-1", "--format=%B", "warpwright/" + name});
      places["body"] = *base::ReadFile(report + "/" + name + ".md");
      EXPECT_NE(summary.find(fmt::format("of {} attempt", attempts)), std::string::npos) << summary;
    }
    for (const auto& [place, text] : places)
      EXPECT_NE(text.find(effort), std::string::npos) << name << ", " << place << ": " << effort << "\n" << text;
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"improved", "unchanged"}));
  // Told again, a finished task says the same of its cases and its roofline.
  const json again = RunJson(optimize);
  for (size_t i = 0; i < result.at("kernels").size(); ++i)
    for (const char* part : {"cases", "roofline_pct", "rounds", "attempts", "evaluations", "gain", "message"})
      EXPECT_EQ(again.at("kernels").at(i).at(part), result.at("kernels").at(i).at(part)) << part;
}

TEST_F(CliTest, NothingChangedMeansNothingToDo) {
  Edit("src/softmax.cu", "// Softmax", "// SoftMax");
  repository.Commit("a comment");
  EXPECT_EQ(RunJson({"optimize", "--changed-since", "HEAD~1"}).at("kernels"), json::array());
  // A header that several kernels include changes all those whose slices change.
  Edit("include/common.cuh", "return (a + b - 1) / b", "return a / b + (a % b != 0)");
  repository.Commit("ceil_div");
  const json result = RunJson({"optimize", "--changed-since", "HEAD~1", "--publish", "none", "--max-rounds", "1",
                               "--kernel", "row_sum", "--kernel", "transpose"});
  ASSERT_EQ(result.at("kernels").size(), 1u) << "transpose does not use ceil_div";
  EXPECT_EQ(result.at("kernels").at(0).at("name"), "row_sum");
  EXPECT_EQ(result.at("kernels").at(0).at("branch"), nullptr);
}

// Asked to end, it prints what it has, in the form of its result; the next run goes on from there.
TEST_F(CliTest, ARunThatIsAskedToEndPrintsItsJson) {
  const fs::path outputs = scratch.path() / "outputs", summary = scratch.path() / "summary.md";
  base::Command optimize =
      Warpwright({"optimize", "--kernel", "row_sum", "--max-rounds", "3", "--json", "--output", outputs.string(),
                  "--summary", summary.string(), "--report", (scratch.path() / "report").string()});
  std::erase(optimize.argv, "--quiet");
  const fs::path progress = scratch.path() / "stderr";
  auto child = base::Child::Start(optimize, progress);
  ASSERT_TRUE(child);
  const auto under_way = [&] {
    const auto told = base::ReadFile(progress);
    return told && told->find("round 1") != std::string::npos;
  };
  for (int tries = 0; tries < 6000 && !under_way(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(under_way());
  ::kill(child->pid(), SIGTERM);
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = ::read(child->from_child(), buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<size_t>(n));
  const json told = json::parse(out);
  EXPECT_EQ(told.at("interrupted"), "TERM");
  const json& kernel = told.at("kernels").at(0);
  EXPECT_EQ(kernel.at("name"), "row_sum");
  EXPECT_EQ(kernel.at("outcome"), "unfinished");
  EXPECT_NE(kernel.at("message").get<std::string>().find("The same command goes on from there."), std::string::npos)
      << kernel.dump(2);
  // What a cancelled job shows.
  const std::string said = base::ReadFile(summary).value_or(""), set = base::ReadFile(outputs).value_or("");
  EXPECT_NE(said.find("row\\_sum"), std::string::npos) << said;
  EXPECT_NE(said.find("The same command goes on from there"), std::string::npos) << said;
  EXPECT_NE(set.find("\nerror\n"), std::string::npos) << set;
  EXPECT_NE(set.find("\"outcome\":\"unfinished\""), std::string::npos) << set;
  EXPECT_EQ(json::parse(base::ReadFile(scratch.path() / "report/report.json").value_or("")).at("interrupted"), "TERM");
}

// Killed at several moments and run again: the same result as without interruption, and no evaluation is repeated.
TEST_F(CliTest, AKilledRunGoesOnWhereItWas) {
  const auto optimize = Warpwright({"optimize", "--kernel", "row_sum", "--max-rounds", "2", "--json"});
  for (const int milliseconds : {200, 400, 700, 1100, 1600}) {
    auto child = base::Child::Start(optimize, scratch.path() / "stderr");
    ASSERT_TRUE(child);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    child->Kill();
  }
  const json resumed = RunJson({"optimize", "--kernel", "row_sum", "--max-rounds", "2"}).at("kernels").at(0);
  EXPECT_EQ(resumed.at("outcome"), "improved");

  std::map<std::string, int> evaluated;
  const json shown = RunJson({"show", "--kernel", "row_sum"});
  for (const json& attempt : shown.at("attempts"))
    if (!attempt.at("candidate").get<std::string>().empty()) ++evaluated[attempt.at("candidate")];
  EXPECT_GT(evaluated.size(), 2u);
  for (const auto& [candidate, times] : evaluated) EXPECT_EQ(times, 1) << candidate;

  const json fresh =
      RunJson({"optimize", "--kernel", "row_sum", "--max-rounds", "2", "--state", (scratch.path() / "fresh").string()})
          .at("kernels")
          .at(0);
  EXPECT_EQ(fresh.at("gain"), resumed.at("gain"));
  EXPECT_EQ(fresh.at("rounds"), RunJson({"show", "--kernel", "row_sum"}).at("rounds"));
}

TEST_F(CliTest, VerifySeesWhatTheEditBreaks) {
  Edit("src/row_sum.cu", "c < C; c++", "c < C - 1; c++");
  const json result = RunJson({"verify", "--kernel", "row_sum"}, 1);
  EXPECT_EQ(result.at("passed"), false);
  int wrong = 0;
  for (const json& row : result.at("cases")) {
    for (const char* key : {"kernel", "case", "verdict", "check", "message"}) EXPECT_TRUE(row.contains(key));
    wrong += row.at("verdict") == "wrong_result" ? 1 : 0;
  }
  EXPECT_EQ(wrong, 1) << result.dump(2);
}

TEST_F(CliTest, RecordWritesReferencesThatVerifyUses) {
  const json recorded = RunJson({"record", "--kernel", "row_sum"});
  EXPECT_TRUE(fs::exists(repository.path() / ".warpwright/references/row_sum/odd.json"));
  uint64_t bytes = 0;
  for (const auto& file : fs::recursive_directory_iterator(repository.path() / ".warpwright"))
    if (file.is_regular_file()) bytes += file.file_size();
  EXPECT_LT(bytes, 1u << 20) << "references must fit into git";
  repository.Commit("references");
  EXPECT_EQ(RunJson({"check", "--kernel", "row_sum"}).at("ok"), true);
  EXPECT_EQ(RunJson({"verify", "--kernel", "row_sum"}).at("passed"), true);
}

TEST_F(CliTest, ProfileGivesCountersAndEvidence) {
  const json kernel = RunJson({"profile", "--kernel", "transpose"}).at("kernels").at(0);
  const json& launch = kernel.at("cases").at(0).at("launches").at(0);
  EXPECT_EQ(kernel.at("operation"), "transpose");
  EXPECT_GT(launch.at("counters").at("global_load_sectors").get<uint64_t>(), 0u);
  EXPECT_GT(kernel.at("evidence").at("store_sectors_per_request").get<double>(), 8);
}

// A header in a folder that only the project's build names, and names that only it defines.
TEST_F(CliTest, WhatTheProjectIsBuiltWithIsGuessedAndHolds) {
  repository.Write("src/scaled.cu", R"(#include <scaling.cuh>
__global__ void scale(REAL* out, const REAL* in, int n) {
  const int i = blockIdx.x * TILE + threadIdx.x;
  if (i < n) out[i] = kScale * in[i];
}
void scaled(REAL* out, const REAL* in, int n) { scale<<<(n + TILE - 1) / TILE, TILE>>>(out, in, n); }
)");
  repository.Write("third_party/scaling/inc/scaling.cuh", "#pragma once\nconstexpr float kScale = 3;\n");
  repository.Write("CMakeLists.txt", R"(add_library(scaled src/scaled.cu)
set(CMAKE_CUDA_STANDARD 20)
target_include_directories(scaled PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/third_party/scaling/inc other)
target_compile_definitions(scaled PRIVATE TILE=64 REAL=float UNUSED)
)");
  for (const auto& entry : fs::directory_iterator(repository.path() / "src"))
    if (entry.path().filename() != "scaled.cu") fs::remove_all(entry.path());
  fs::remove(repository.path() / ".warpwright.yml");
  ASSERT_EQ(Run_({"init", "--no-workflow"}).exit_code, 0);
  const std::string draft = *base::ReadFile(repository.path() / ".warpwright.yml");
  const std::string build = "build: {include: [third_party/scaling/inc], define: {REAL: float, TILE: 64}, std: c++20}";
  ASSERT_NE(draft.find(build + "  # what the code needs of CMakeLists.txt\n"), std::string::npos) << draft;
  ASSERT_NE(draft.find("out: {buffer: f32, shape: [n], role: out}"), std::string::npos) << draft;
  Edit(".warpwright.yml", "n: \"?\"", "n: 100000");
  repository.Commit("a project with a build of its own");
  EXPECT_EQ(Run_({"check"}).exit_code, 0);
  EXPECT_EQ(RunJson({"verify"}).at("passed"), true);
  const json lifted = RunJson({"lift"});
  EXPECT_NE(lifted.at("kernels").at(0).at("text").get<std::string>().find("out[i0] = 3 * in[i0]"), std::string::npos)
      << lifted.dump(2);

  // Without it the same file cannot be read; and a folder that is not there is said with its line.
  Edit(".warpwright.yml", "include: [third_party/scaling/inc]", "include: [third_party/none]");
  const base::Completed missing = Run_({"check"});
  EXPECT_EQ(missing.exit_code, 78);
  EXPECT_NE(missing.err.find(".warpwright.yml:3: the path 'third_party/none' does not exist in the repository"),
            std::string::npos)
      << missing.err << missing.out;
  Edit(".warpwright.yml", "include: [third_party/none], ", "");
  EXPECT_EQ(Run_({"check"}).exit_code, 1);
}

TEST_F(CliTest, InitDraftsAManifestWithQuestions) {
  fs::remove(repository.path() / ".warpwright.yml");
  const std::set<std::string> drafted = {"softmax.cu", "gelu.cu", "residual.cu",
                                         "rmsnorm.cu"};  // `check` runs them all
  for (const auto& file : std::vector<fs::directory_entry>(fs::directory_iterator(repository.path() / "src"), {}))
    if (!drafted.contains(file.path().filename())) fs::remove(file.path());
  EXPECT_EQ(Run_({"init"}).exit_code, 0);
  const std::string text = *base::ReadFile(repository.path() / ".warpwright.yml");
  for (const char* part :
       {"entry: softmax_forward", "file: src/gelu.cu", "buffer: f16", "buffer: bf16", "role: out", "scalar: i32"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  const base::Completed checked = Run_({"check"});
  EXPECT_EQ(checked.exit_code, 78);
  EXPECT_NE(checked.err.find(".warpwright.yml:"), std::string::npos) << checked.err;
  EXPECT_NE(Run_({"init"}).exit_code, 0) << "an existing manifest is not replaced";
}

std::string StatusOf(const json& answer, const std::string& check) {
  for (const json& row : answer.at("checks"))
    if (row.at("name") == check) return row.at("status");
  return "";
}

TEST_F(CliTest, DoctorTriesEverythingWithoutAManifest) {
  fs::remove(repository.path() / ".warpwright.yml");
  const json answer = RunJson({"doctor", "--device", "sim:h200"});
  EXPECT_EQ(answer.at("ok"), true);
  for (const char* check :
       {"worker", "start", "toolkit", "nvrtc", "host_compiler", "libclang", "simulator", "cache", "git_identity"})
    EXPECT_EQ(StatusOf(answer, check), "ok") << check;
  for (const json& row : answer.at("checks"))
    EXPECT_EQ(row.at("remedy").get<std::string>().empty(), row.at("status") == "ok") << row;
  EXPECT_EQ(StatusOf(answer, "gpu"), "") << "not asked for";

  repository.Git({"config", "warpwright.author", "me"});
  EXPECT_EQ(StatusOf(RunJson({"doctor", "--device", "sim:h200"}, 3), "git_identity"), "error");
}

TEST_F(CliTest, DoctorOutsideOfARepositoryWithoutAGpu) {
  if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU";
  const auto doctor = [&](std::vector<std::string> more, int exit_code) {
    base::Command command = Warpwright({});
    command.argv = {command.argv.front(),    "doctor", "--json", "--repo", scratch.path().string(), "--cache",
                    CompiledCache().string()};
    command.argv.insert(command.argv.end(), more.begin(), more.end());
    const auto done = ::warpwright::base::Run(command);
    EXPECT_TRUE(done);
    EXPECT_EQ(done->exit_code, exit_code) << done->out << done->err;
    return json::parse(done->out);
  };
  const json found = doctor({}, 0);
  EXPECT_EQ(found.at("ok"), true);
  for (const char* check : {"gpu", "driver", "git_identity"}) EXPECT_EQ(StatusOf(found, check), "warning") << check;
  const json asked = doctor({"--device", "cuda"}, 3);
  EXPECT_EQ(asked.at("ok"), false);
  EXPECT_EQ(StatusOf(asked, "gpu"), "error");
  const json absent = doctor({"--worker", "/no/such/worker"}, 3);
  EXPECT_EQ(StatusOf(absent, "worker"), "error");

  // A library that ends the worker only affects the rows after it.
  const fs::path dying = scratch.path() / "dying-worker";
  ASSERT_TRUE(base::WriteFileAtomically(
      dying,
      "#!/bin/sh\necho 'hello from a library'\necho '{\"toolkit\": {\"root\": \"/opt/cuda\"}}'\nkill -SEGV $$\n"));
  fs::permissions(dying, fs::perms::owner_all);
  const json died = doctor({"--worker", dying.string()}, 3);
  EXPECT_EQ(StatusOf(died, "toolkit"), "ok");
  EXPECT_EQ(StatusOf(died, "driver"), "warning") << "not known";
  EXPECT_EQ(StatusOf(died, "worker"), "error");
}

struct WrongInput {
  const char* name;
  std::vector<std::string> arguments;
  int exit_code;
  const char* message;
};
class CliErrors : public CliTest, public testing::WithParamInterface<WrongInput> {};
TEST_P(CliErrors, AreSaidOnStderrWithTheirExitCode) {
  const base::Completed done = Run_(GetParam().arguments);
  EXPECT_EQ(done.exit_code, GetParam().exit_code) << done.err;
  EXPECT_NE((done.err + (GetParam().exit_code == 2 ? done.out : "")).find(GetParam().message), std::string::npos)
      << done.err;
}
INSTANTIATE_TEST_SUITE_P(
    All, CliErrors,
    testing::Values(
        WrongInput{"no_kernel", {"optimize", "--kernel", "softmx"}, 2, "the manifest has no kernel 'softmx'"},
        WrongInput{"no_revision", {"optimize", "--revision", "nope"}, 2, "'nope' is not a revision"},
        WrongInput{"no_device", {"profile", "--device", "sim:h300"}, 2, "h300"},
        WrongInput{"no_kind_of_device", {"optimize", "--device", "gpu"}, 2, "unknown device"},
        WrongInput{"no_such_gpu", {"optimize", "--device", "cuda:99"}, 3, "remedy: "},  // nor, perhaps, a driver
        WrongInput{"no_command", {"optimise"}, 2, "unknown command 'optimise'"},
        WrongInput{"no_author", {"optimize", "--author", "me"}, 2, "not an author"},
        WrongInput{"no_worker", {"check", "--worker", "/no/such/worker"}, 3, "/no/such/worker"},
        WrongInput{"no_skills", {"skills", "check", "/no/such/folder"}, 2, "/no/such/folder"},
        WrongInput{"no_evidence", {"skills", "match", "/no/such/file"}, 2, "/no/such/file"},
        WrongInput{"no_method", {"skills", "show", "magic"}, 2, "no method 'magic'"},
        WrongInput{"no_skills_option", {"skills", "list", "--skills", "/no/such/folder"}, 2, "remedy: "},
        WrongInput{
            "skills_of_check", {"check", "--kernel", "softmax", "--skills", "/no/such/folder"}, 2, "--skills: /no"},
        WrongInput{"no_draft", {"skills", "accept", "/no/draft.yml", "--skills", "/tmp/none"}, 2, "draft: /no/draft"},
        WrongInput{"no_place_for_summary", {"optimize", "--summary", "/no/such/folder/x"}, 2, "--summary: /no/such"},
        WrongInput{"no_place_for_output", {"optimize", "--output", "/no/such/folder/x"}, 2, "--output: /no/such"},
        WrongInput{"no_place_for_page", {"show", "--output", "/no/such/folder/x"}, 2, "remedy: make the folder"},
        WrongInput{"a_folder_for_output", {"optimize", "--output", "/"}, 2, "--output: / is a folder"},
        WrongInput{"no_store", {"memory", "show", "/no/such/store"}, 2, "stores: /no/such/store does not exist"}),
    [](const auto& row) { return row.param.name; });

// Nor is what a user's launcher or kernel does to the process that runs it.
TEST_F(CliTest, WhatCrashesIsTheUsersAndNotTheEnvironments) {
  const std::pair<const char*, const char*> rows[] = {
      {"__builtin_trap();", "the launcher crashes (signal"},
      {"(void)*(volatile int*)8;", "the launcher crashes (signal"},
      {"exit(0);", "the launcher ended the process"},
  };
  Edit("src/softmax.cu", "#include", "#include <cstdlib>\n#include");
  std::string before = "const int block_size";
  for (const auto& [line, why] : rows) {
    const std::string now = line + std::string(" const int block_size");
    Edit("src/softmax.cu", before, now);
    before = now;
    repository.Commit(why);
    for (const char* command : {"check", "record", "optimize", "verify", "profile", "lift"}) {
      const base::Completed done = Run_({command, "--kernel", "softmax", "--json"});
      EXPECT_EQ(done.exit_code, 1) << command << done.err << done.out;
      EXPECT_NE((done.out + done.err).find(why), std::string::npos) << command << done.out << done.err;
    }
  }
}

// A file of the repository that its owner can mend is not the machine's fault.
TEST_F(CliTest, DamagedReferencesAreTheRepositorys) {
  for (const char* suffix : {".json", ".safetensors"}) {
    const std::string file = std::string(".warpwright/references/row_sum/odd") + suffix;
    repository.Write(file, "damaged");
    if (suffix == std::string(".json"))
      repository.Write(".warpwright/references/row_sum/odd.outputs.safetensors", std::string("\2\0\0\0\0\0\0\0{}", 10));
    const base::Completed done = Run_({"check"});
    EXPECT_EQ(done.exit_code, 78) << done.err;
    EXPECT_NE(done.err.find(file), std::string::npos) << done.err;
    fs::remove(repository.path() / file);
  }
}

TEST_F(CliTest, NoRepositoryIsAMistakeAndNotTheEnvironments) {
  base::Command command = Warpwright({});
  command.argv = {command.argv.front(), "optimize", "--repo", "/no/such/folder", "--device", "sim:h200"};
  const auto done = ::warpwright::base::Run(command);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->exit_code, 2) << done->err;
}

TEST_F(CliTest, UncommittedChangesAreMentioned) {
  const auto detect = [&] {
    base::Command command = Warpwright({"optimize", "--dry-run", "detect"});
    command.argv.pop_back();  // --quiet
    const auto done = ::warpwright::base::Run(command);
    EXPECT_TRUE(done && done->exit_code == 0);
    return done ? done->err : "";
  };
  repository.Git({"commit", "-q", "-a", "--allow-empty", "-m", "all"});
  std::ofstream(repository.path() / "notes.txt") << "not a source";
  EXPECT_EQ(detect().find("uncommitted"), std::string::npos);
  std::ofstream(repository.path() / "src/softmax.cu", std::ios::app) << "// another thought\n";
  const std::string said = detect();
  EXPECT_NE(said.find("uncommitted changes are not part of it: src/softmax.cu"), std::string::npos) << said;
}

// The two commands that read the operator's file.
std::vector<std::vector<std::string>> ReadersOf(const fs::path& file) {
  return {{"config", "check", "--operator", file.string()}, {"serve", "--config", file.string()}};
}

// What `serve` refuses, `config check` has said before.
TEST_F(CliTest, ConfigCheckRefusesWhatServeRefuses) {
  struct Row {
    const char *line, *why;
  };
  for (const Row& row :
       {Row{"devices: [gpu0]", "gpu0"}, Row{"devices: [\"sim:h9000\"]", "h9000"},
        Row{"listen: {status: \"127.0.0.1\"}", "port"}, Row{"listen: {status: \"127.0.0.1:99999\"}", "status"},
        Row{"nights: {at: \"61 * * * *\"}", "61"}}) {
    const fs::path file = scratch.path() / "config.yml";
    std::string text = "version: 1\nstate: " + (scratch.path() / "state").string() + "\n" + row.line +
                       "\nrepositories: [{url: " + repository.path().string() + ", publish: branch}]\n";
    if (text.find("devices:") == std::string::npos) text += "devices: [\"sim:h200\"]\n";
    ASSERT_TRUE(base::WriteFileAtomically(file, text));
    for (const std::vector<std::string>& arguments : ReadersOf(file)) {
      const auto done = RunWithoutRepository(arguments);
      ASSERT_TRUE(done) << done.error().Format() << row.line;
      EXPECT_EQ(done->exit_code, 78) << arguments[0] << ": " << row.line << "\n" << done->err;
      EXPECT_NE(done->err.find(row.why), std::string::npos) << arguments[0] << ": " << row.line << "\n" << done->err;
    }
  }
}

// The same of what this machine refuses, which is no mistake in the file.
TEST_F(CliTest, ConfigCheckFindsWhatServeWouldFindHere) {
  struct Row {
    std::string state, listen, why;
  };
  const std::string here = (scratch.path() / "made/of/it").string();
  for (const Row& row : {Row{"/proc/nope", "127.0.0.1:0", "state: create /proc/nope"},
                         Row{here, "10.255.255.1:8421", "give an address of this machine"}}) {
    const fs::path file = scratch.path() / "config.yml";
    ASSERT_TRUE(base::WriteFileAtomically(
        file, fmt::format("version: 1\nstate: {}\nlisten: {{status: \"{}\"}}\ndevices: [\"sim:h200\"]\n"
                          "repositories: [{{url: {}, publish: branch}}]\n",
                          row.state, row.listen, repository.path().string())));
    for (const std::vector<std::string>& arguments : ReadersOf(file)) {
      const auto done = RunWithoutRepository(arguments);
      ASSERT_TRUE(done) << done.error().Format() << row.why;
      EXPECT_EQ(done->exit_code, 3) << arguments[0] << "\n" << done->out << done->err;
      if (arguments[0] != "config") continue;
      EXPECT_NE(done->err.find(row.why), std::string::npos) << done->err;
      EXPECT_NE(done->err.find(file.string() + ":"), std::string::npos) << done->err;
      EXPECT_FALSE(fs::exists(scratch.path() / "made")) << "what was tried is taken back";
    }
  }
}

struct BadManifest {
  const char* name;
  const char* from;
  const char* to;
  const char* message;
};
class CliManifests : public CliTest, public testing::WithParamInterface<BadManifest> {};
TEST_P(CliManifests, NameFileLineAndRemedy) {
  Edit(".warpwright.yml", GetParam().from, GetParam().to);
  const base::Completed done = Run_({"check", "--kernel", "softmax"});  // the others would be run
  EXPECT_EQ(done.exit_code, 78) << done.err << done.out;
  EXPECT_NE(done.err.find(".warpwright.yml:"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find(GetParam().message), std::string::npos) << done.err;
}
INSTANTIATE_TEST_SUITE_P(
    All, CliManifests,
    testing::Values(BadManifest{"key", "entry: softmax_forward", "entri: softmax_forward", "did you mean 'entry'"},
                    BadManifest{"entry", "entry: softmax_forward", "entry: softmax_backward",
                                "has no entry 'softmax_backward'"},
                    BadManifest{"dtype", "out: {buffer: f32, shape: [N, C], role: out}",
                                "out: {buffer: f16, shape: [N, C], role: out}", "is f32 in the source"},
                    BadManifest{"count", "      C: {scalar: i32}\n", "", "C"},
                    BadManifest{"file", "file: src/softmax.cu", "file: src/../../softmax.cu", "src/../../softmax.cu"}),
    [](const auto& row) { return row.param.name; });

// One example for each kind of kernel, one round: none slower, all verified, much faster (modelled). All examples:
// tests/bench/MEASUREMENTS.md.
TEST_F(CliTest, EveryKindOfExampleIsOptimized) {
  std::vector<std::string> arguments = {"optimize", "--max-rounds", "1"};
  const std::set<std::string> kinds = {"gelu", "histogram", "matmul", "transpose"};  // rows: the tests above
  for (const std::string& kernel : kinds) arguments.insert(arguments.end(), {"--kernel", kernel});
  const json result = RunJson(arguments);
  std::set<std::string> improved;
  for (const json& kernel : result.at("kernels")) {
    EXPECT_GT(kernel.at("gain").get<double>(), 1.5) << kernel.dump(2);
    if (kernel.at("outcome") == "improved") improved.insert(kernel.at("name").get<std::string>());
    EXPECT_EQ(repository.Git({"diff", "--name-only", "main", kernel.at("branch")}).find("src/"), 0u);
  }
  EXPECT_EQ(improved, kinds);
}

}  // namespace
}  // namespace warpwright
