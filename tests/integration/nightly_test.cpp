// Nightly runs over a temporary repository on the simulator: a slowed kernel is found, attributed to its commit by
// bisection, and reported once.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/compiled_cache.h"
#include "tests/support/elementwise_entry.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kManifest =
    ManifestOf(ElementwiseEntry("scale", "{N: 262144}") + ElementwiseEntry("relu", "{N: 65536}"));
constexpr const char* kRelu = R"(__global__ void relu_kernel(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(in[i], 0.0f);
}
void relu(float* out, const float* in, int N) { relu_kernel<<<(N + 255) / 256, 256>>>(out, in, N); }
)";

class NightlyTest : public testing::Test {
 protected:
  NightlyTest() {
    repository.Write(".warpwright.yml", kManifest);
    repository.Write("relu.cu", kRelu);
    repository.Write("scale.cu", ScaleSource(1, "2.0f"));
    repository.Commit("kernels");
  }
  base::Completed Nightly(std::vector<std::string> arguments, int exit_code) {
    // A nightly run is identified by its second.
    static std::chrono::steady_clock::time_point last;
    const auto turn = last + std::chrono::milliseconds(1100);
    while (std::chrono::steady_clock::now() < turn) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    base::Command command;
    command.argv = {std::string(WW_BINARY_DIR) + "/daemon/cli/warpwright",
                    "nightly",
                    "--repo",
                    repository.path().string(),
                    "--cache",
                    CompiledCache().string(),
                    "--quiet"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.env = base::MinimalEnvironment();
    command.deadline = std::chrono::minutes(5);
    auto done = ::warpwright::base::Run(command);
    last = std::chrono::steady_clock::now();
    EXPECT_TRUE(done);
    if (!done) return {};
    EXPECT_EQ(done->exit_code, exit_code) << done->err << done->out;
    return *done;
  }
  json Night(int exit_code = 0) {
    return json::parse(Nightly({"--json", "--fail-on", "regression", "--pages", pages.path().string()}, exit_code).out,
                       nullptr, false);
  }
  static json Kernel(const json& night, const std::string& name) {
    for (const json& kernel : night.at("kernels"))
      if (kernel.at("name") == name) return kernel;
    return {};
  }

  TempRepository repository;
  base::TemporaryDirectory pages = std::move(*base::TemporaryDirectory::Create("ww-nightly-pages"));
};

TEST_F(NightlyTest, ASlowedKernelIsFoundAttributedToItsCommitAndReportedOnce) {
  const json first = Night();
  EXPECT_EQ(first.at("outcome"), "checked") << first.dump(2);
  EXPECT_EQ(first.at("modelled"), true);
  for (const char* name : {"scale", "relu"}) EXPECT_EQ(Kernel(first, name).at("state"), "first") << first.dump(2);
  EXPECT_EQ(first.at("branch"), "warpwright-history");

  // Six commits, of which four change the kernel and one makes it slower.
  repository.Write("scale.cu", ScaleSource(1, "3.0f"));
  repository.Commit("another factor");
  repository.Write("README", "nothing");
  repository.Commit("words");
  repository.Write("scale.cu", ScaleSource(1, "3.0f * 1.0f"));
  repository.Commit("more factors");
  repository.Write("scale.cu", ScaleSource(16, "3.0f"));
  const std::string first_bad = repository.Commit("scale: <b>transposed</b> order");
  repository.Write("scale.cu", ScaleSource(16, "4.0f"));
  repository.Commit("yet another factor");
  repository.Write("relu.cu", std::string("// a comment\n") + kRelu);
  repository.Commit("relu: comment");

  const json second = Night(1);
  EXPECT_EQ(second.at("outcome"), "regression");
  ASSERT_EQ(second.at("findings").size(), 1u) << second.dump(2);
  const json& finding = second.at("findings").at(0);
  EXPECT_EQ(finding.at("kernel"), "scale");
  EXPECT_EQ(finding.at("cause"), "code");
  EXPECT_EQ(finding.at("commit"), first_bad) << finding.dump(2);
  EXPECT_EQ(finding.at("subject"), "scale: <b>transposed</b> order");
  EXPECT_EQ(finding.at("confirmed"), true);
  EXPECT_GT(finding.at("ratio").get<double>(), 1.05);
  EXPECT_EQ(finding.at("modelled"), true);
  EXPECT_EQ(Kernel(second, "scale").at("state"), "slower");
  EXPECT_EQ(Kernel(second, "relu").at("state"), "same");
  EXPECT_LE(Kernel(second, "scale").at("comparisons").get<int>(), 1 + 2 + 2);  // four versions after the reference

  // In the third run it is known, and not reported.
  const json third = Night();
  EXPECT_EQ(third.at("outcome"), "checked");
  EXPECT_TRUE(third.at("findings").empty());
  EXPECT_EQ(Kernel(third, "scale").at("state"), "slower");
  EXPECT_EQ(Kernel(third, "scale").at("comparisons"), 1);
  // Modelled times are the same every night.
  EXPECT_EQ(Kernel(third, "scale").at("cases"), Kernel(second, "scale").at("cases"));

  // Reverted: recovered.
  repository.Write("scale.cu", ScaleSource(1, "4.0f"));
  repository.Commit("scale: straight order again");
  EXPECT_EQ(Kernel(Night(), "scale").at("state"), "same");

  EXPECT_EQ(repository.Git({"rev-list", "--count", "warpwright-history"}), "4\n");
  EXPECT_EQ(repository.Git({"ls-tree", "--name-only", "warpwright-history"}), "relu.jsonl\nscale.jsonl\n");
  const std::string history = repository.Git({"show", "warpwright-history:scale.jsonl"});
  for (const char* word : {"\"state\":\"open\"", "\"state\":\"recovered\""})
    EXPECT_NE(history.find(word), std::string::npos) << word;
  EXPECT_EQ(repository.Git({"status", "--porcelain"}), "");
  // Trees that only the bisection needed are removed: those of four runs' tips and of the reference are kept.
  size_t trees = 0;
  for (const auto& entry : fs::directory_iterator(repository.path() / ".git/warpwright/trees"))
    trees += entry.is_directory();
  EXPECT_LE(trees, 3u);

  for (const char* page : {"index.html", "scale.html", "scale.svg", "relu.html"})
    EXPECT_TRUE(fs::exists(pages.path() / page)) << page;
  const std::string html = *base::ReadFile(pages.path() / "scale.html");
  EXPECT_EQ(html.find("<b>transposed"), std::string::npos);
}

TEST_F(NightlyTest, HistoryInAFolderUsageAndEntriesThatFail) {
  const base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ww-nightly-history"));
  repository.Write("relu.cu",
                   "__global__ void relu_kernel(float* out) { out[0] = undeclared; }\nvoid relu(float* out, const "
                   "float* in, int N) { relu_kernel<<<1, 1>>>(out); }\n");
  repository.Commit("relu: broken");
  const base::Completed text = Nightly({"--history", folder.path().string(), "--kernel", "relu"}, 0);
  EXPECT_NE(text.out.find("failed"), std::string::npos) << text.out;
  EXPECT_TRUE(fs::exists(folder.path() / "relu.jsonl"));
  EXPECT_EQ(repository.Git({"branch", "--list", "warpwright-history"}), "");
  EXPECT_NE(Nightly({"--history", "x", "--history-branch", "y"}, 2).err.find("exclusive"), std::string::npos);
  Nightly({"--optimize", "--json"}, 2);
  Nightly({"--merge", "/nowhere/experience.jsonl", "--kernel", "relu", "--history", folder.path().string()}, 2);
  repository.Write(".warpwright.yml", kManifest + "nightly: {enabled: false}\n");
  repository.Commit("no nights");
  EXPECT_NE(Nightly({}, 0).out.find("disabled in the manifest"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
