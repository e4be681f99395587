// `warpwright plan` as the daemon and the Action run it: on a bare mirror, with the real worker.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/compiled_cache.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Names = std::set<std::string>;

class PlanTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy(fs::path(WW_SOURCE_DIR) / "config/examples/kernels", repository.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    first = repository.Commit("kernels");
  }
  base::Completed Plan(std::vector<std::string> arguments) {
    base::Command command;
    command.argv = {std::string(WW_BINARY_DIR) + "/daemon/cli/warpwright", "plan"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    for (const auto& argument : {"--repo", repository.path().c_str(), "--cache", CompiledCache().c_str()})
      command.argv.push_back(argument);
    command.env = base::MinimalEnvironment();
    const auto done = ::warpwright::base::Run(command);
    EXPECT_TRUE(done);
    return done ? *done : base::Completed{};
  }
  json PlanJson(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const base::Completed done = Plan(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out, nullptr, false);
  }
  static Names Changed(const json& plan) {
    Names names;
    for (const json& entry : plan.at("entries"))
      if (entry.at("changed")) names.insert(entry.at("kernel"));
    return names;
  }
  Names ChangedSinceLast() { return Changed(PlanJson({"--changed-since", "HEAD~1"})); }
  static json Entry(const json& plan, const std::string& kernel) {
    for (const json& entry : plan.at("entries"))
      if (entry.at("kernel") == kernel) return entry;
    return {};
  }
  void Edit(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = *base::ReadFile(repository.path() / file);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    repository.Write(file, text.replace(at, from.size(), to));
  }

  TempRepository repository;
  std::string first;
};

TEST_F(PlanTest, OnlyWhatMeansSomethingElseCounts) {
  Edit("src/softmax.cu", "float maxval = -INFINITY", "float maxval = -1e30f");
  repository.Commit("softmax");
  const json plan = PlanJson({"--changed-since", "HEAD~1"});
  EXPECT_EQ(Changed(plan), Names{"softmax"});
  EXPECT_EQ(plan.at("base"), first);
  EXPECT_EQ(plan.at("device"), "sim:h200");
  EXPECT_EQ(Entry(plan, "softmax").at("file"), "src/softmax.cu");
  EXPECT_EQ(Entry(plan, "softmax").at("key").get<std::string>().size(), 64u);
  EXPECT_EQ(Entry(plan, "gelu").at("key"), "");

  Edit("src/softmax.cu", "// Softmax", "// SoftMax");
  repository.Commit("a comment");
  EXPECT_EQ(ChangedSinceLast(), Names{});

  Edit("include/common.cuh", "return (a + b - 1) / b", "return a / b + (a % b != 0)");
  repository.Commit("a header");
  const Names users = ChangedSinceLast();
  EXPECT_GT(users.size(), 3u);
  EXPECT_EQ(users.count("transpose"), 0u) << "it does not use ceil_div";
  EXPECT_EQ(users.count("row_sum"), 1u);

  repository.Git({"mv", "src/gelu.cu", "src/activation.cu"});
  for (const char* kernel : {"gelu", "gelu_half"}) {
    SCOPED_TRACE(kernel);
    Edit(".warpwright.yml", "src/gelu.cu", "src/activation.cu");
  }
  repository.Commit("a file moves");
  EXPECT_EQ(ChangedSinceLast(), Names{});

  std::string manifest = *base::ReadFile(repository.path() / ".warpwright.yml");
  const size_t kernel = manifest.find("name: gelu"), weight = manifest.find("cases:", kernel);
  repository.Write(".warpwright.yml", "# first line\n" + manifest.insert(weight, "tolerance: {relative: 1e-3}\n    "));
  repository.Commit("the manifest");
  EXPECT_EQ(ChangedSinceLast(), Names{"gelu"});
}

TEST_F(PlanTest, KeysSayWhichWorkIsTheSame) {
  const std::string key = Entry(PlanJson({"--kernel", "gelu"}), "gelu").at("key");
  const auto now = [&](std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--kernel", "gelu"});
    return Entry(PlanJson(more), "gelu").at("key").get<std::string>();
  };
  Edit("src/gelu.cu", "//", "// another comment\n//");
  repository.Commit("comment");
  EXPECT_EQ(now(), key);
  EXPECT_NE(now({"--device", "sim:a100"}), key);
  EXPECT_NE(now({"--device", "cuda"}), key) << "planning for a GPU needs no GPU";
  repository.Write(".warpwright/references/gelu/reference.json", "{}");
  repository.Commit("references");
  EXPECT_NE(now(), key);
}

TEST_F(PlanTest, WithoutABaseEverythingCountsAndShardsAreGitHubsMatrix) {
  const json all = PlanJson({});
  EXPECT_EQ(Changed(all).size(), all.at("entries").size());
  EXPECT_EQ(all.at("base"), nullptr);
  EXPECT_EQ(Changed(PlanJson({"--changed-since", std::string(40, '0')})), Changed(all)) << "a branch's first push";

  const base::Completed done = Plan({"--shards", "4"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 1);
  const json matrix = json::parse(done.out, nullptr, false);
  Names dealt;
  for (const json& shard : matrix.at("include")) {
    std::istringstream kernels(shard.at("kernels").get<std::string>());
    for (std::string kernel; kernels >> kernel;) EXPECT_TRUE(dealt.insert(kernel).second);
  }
  EXPECT_EQ(matrix.at("include").size(), 4u);
  EXPECT_EQ(dealt, Changed(all));
  EXPECT_EQ(Plan({"--changed-since", "HEAD", "--shards", "4"}).out, "{\"include\":[]}\n");
}

TEST_F(PlanTest, WhatCannotBeReadIsSaid) {
  repository.Write("src/gelu.cu", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  repository.Git({"rm", "-q", "--cached", "src/transpose.cu"});
  fs::remove(repository.path() / "src/transpose.cu");
  repository.Commit("moved into LFS");
  const json plan = PlanJson({"--changed-since", "HEAD~1"});
  EXPECT_EQ(Changed(plan), (Names{"gelu", "gelu_half", "transpose"}));
  EXPECT_NE(Entry(plan, "gelu").at("note").get<std::string>().find("Git LFS pointer"), std::string::npos);
  EXPECT_NE(Entry(plan, "transpose").at("note").get<std::string>().find("not in this revision"), std::string::npos);
}

TEST_F(PlanTest, ExitCodesSayWhoseFaultItIs) {
  EXPECT_EQ(Plan({"--revision", "no-such-branch"}).exit_code, 2);
  EXPECT_EQ(Plan({"--changed-since", "0123456789012345678901234567890123456789"}).exit_code, 2);
  EXPECT_EQ(Plan({"--kernel", "none"}).exit_code, 2);
  EXPECT_EQ(Plan({"--device", "tpu"}).exit_code, 2);
  EXPECT_EQ(Plan({"--shards", "0"}).exit_code, 2);
  EXPECT_EQ(Plan({"--worker", "/does/not/exist"}).exit_code, 3);
  repository.Write(".warpwright.yml", "version: 1\nkernel: []\n");
  repository.Commit("broken");
  EXPECT_EQ(Plan({}).exit_code, 78);
}

}  // namespace
}  // namespace warpwright
