#include "app/changed_entries.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "app/shards.h"
#include "app/source_closure.h"
#include "config/manifest.h"
#include "tests/support/elementwise_entry.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

using Names = std::vector<std::string>;

// Recognizes an include only at the start of a line.
class IncludesEvaluator final : public core::Evaluator {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef&) override {
    return Fail(ErrorCode::kUnsupported, "not in this test");
  }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
    EXPECT_EQ(request.transform, core::kIncludedNames);
    core::Rewritten names;
    std::istringstream lines(request.source.text);
    for (std::string line; std::getline(lines, line);)
      if (const size_t before = line.find_last_of("/<\"", line.size() - 2); line.starts_with("#include"))
        names.text += line.substr(before + 1, line.size() - before - 2) + "\n";
    return core::RewriteOutcome(std::move(names));
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest&) override {
    return Fail(ErrorCode::kUnsupported, "not in this test");
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest&) override {
    return Fail(ErrorCode::kUnsupported, "not in this test");
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest&) override {
    return Fail(ErrorCode::kUnsupported, "not in this test");
  }
};

class SourceClosureTest : public testing::Test {
 protected:
  app::SourceClosure Of(const std::string& file) {
    auto sources = app::RevisionSources::Load(*opened, *opened->Resolve("HEAD"), worker);
    return *sources->Of(file);
  }
  Names Paths(const std::string& file) {
    Names paths;
    for (const auto& [path, blob] : Of(file).files) paths.push_back(path);
    return paths;
  }
  void Commit() {
    repository.Commit("next");
    opened = std::make_unique<repo::Repository>(std::move(*repo::Repository::Open(repository.path())));
  }
  IncludesEvaluator worker;
  TempRepository repository;
  std::unique_ptr<repo::Repository> opened;
};

TEST_F(SourceClosureTest, FollowsNamesWhereverTheyMayBeFound) {
  repository.Write("src/a.cu", "#include \"common.cuh\"\n#include <missing.h>\n");
  repository.Write("src/b.cu", "int b;\n");
  repository.Write("include/common.cuh", "#include \"deep/types.h\"\n");
  repository.Write("other/common.cuh", "// not this one, but it could be\n");
  repository.Write("include/deep/types.h", "#include \"../common.cuh\"\n");  // a cycle
  repository.Write("include/unused.h", "int unused;\n");
  repository.Write("include/missing.txt", "no source\n");
  Commit();
  EXPECT_EQ(Paths("src/a.cu"), (Names{"include/common.cuh", "include/deep/types.h", "other/common.cuh", "src/a.cu"}));
  EXPECT_EQ(Paths("src/b.cu"), Names{"src/b.cu"});
  EXPECT_EQ(Paths("src/none.cu"), Names{});
  const auto before_a = Of("src/a.cu"), before_b = Of("src/b.cu");
  repository.Write("include/deep/types.h", "#include \"../common.cuh\"\nint more;\n");
  repository.Write("include/unused.h", "int used;\n");
  Commit();
  EXPECT_NE(Of("src/a.cu"), before_a);
  EXPECT_EQ(Of("src/b.cu"), before_b);
  // A new header could now be found instead of a system header.
  const auto before = Of("src/a.cu");
  repository.Write("src/missing.h", "int found;\n");
  Commit();
  EXPECT_NE(Of("src/a.cu"), before);
}

TEST_F(SourceClosureTest, WhatCannotBeReadIsSaidAndNotExported) {
  repository.Write("a.cu", "#include \"big.cuh\"\n");
  repository.Write("big.cuh", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  Commit();
  const app::SourceClosure closure = Of("a.cu");
  ASSERT_EQ(closure.unreadable.size(), 1u);
  EXPECT_NE(closure.unreadable.at("big.cuh").find("Git LFS"), std::string::npos);
  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-closure"));
  ASSERT_TRUE(app::RevisionSources::Load(*opened, *opened->Resolve("HEAD"), worker)->Export(closure, folder.path()));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "a.cu"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "big.cuh"));
}

const std::string kManifest = ManifestOf(ElementwiseEntry("scale", "{N: 1024}"));

TEST(EntryDigest, ChangesWithEverythingThatSaysSomethingAboutTheEntry) {
  const auto digest = [](std::string text, const std::string& from = "", const std::string& to = "") {
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    const auto manifest = config::ParseManifest(text, "m");
    EXPECT_TRUE(manifest) << manifest.error().Format();
    return manifest ? app::EntryDigest(manifest->kernels[0]) : "";
  };
  const std::string before = digest(kManifest);
  struct Row {
    const char *from, *to;
    bool same;
  };
  for (const Row& row : {Row{"file: scale.cu", "file: kernels/moved.cu", true},
                         {"version: 1", "# a comment\nversion: 1", true},
                         {"entry: scale", "entry: scale2", false},
                         {"{N: 1024}", "{N: 1025}", false},
                         {"{N: 1024}", "{N: 1024, weight: 2}", false},
                         {"{N: 1024}", "{N: 1024, on: [sim]}", false},
                         {"{N: 1024}", "{name: n, N: 1024}", false},
                         {"buffer: f32, shape: [N], role: out", "buffer: f16, shape: [N], role: out", false},
                         {"shape: [N], role: in}", "shape: [N], role: in, init: {normal: [0, 2]}}", false},
                         {"shape: [N], role: in}", "shape: [N], role: inout}", false},
                         {"shape: [N], role: in}", "shape: [\"2 * N\"], role: in}", false},
                         {"    cases:", "    allow: [tf32]\n    cases:", false},
                         {"    cases:", "    tolerance: {relative: 1e-3}\n    cases:", false},
                         {"    cases:", "    launch: {grid: [N], block: [256]}\n    cases:", false},
                         {"    cases:", "    build: {define: {TILE: 32}}\n    cases:", false},
                         {"version: 1", "version: 1\nbuild: {flags: [--use_fast_math]}", false},
                         {"version: 1", "version: 1\nbuild: {std: c++17}", true},
                         {"    cases:", "    accumulation: N\n    cases:", false}})
    EXPECT_EQ(digest(kManifest, row.from, row.to) == before, row.same) << row.to;
}

TEST(Shards, AreBalancedAndMostlyStay) {
  Names kernels;
  for (int i = 0; i < 22; ++i) kernels.push_back("kernel" + std::to_string(i));
  const auto shards = app::Partition(kernels, 4);
  std::map<std::string, size_t> where;
  for (size_t i = 0; i < shards.size(); ++i) {
    EXPECT_LE(shards[i].size(), 6u);
    for (const auto& kernel : shards[i]) where[kernel] = i;
  }
  EXPECT_EQ(where.size(), kernels.size());
  std::reverse(kernels.begin(), kernels.end());
  EXPECT_EQ(app::Partition(kernels, 4), shards) << "their order is nothing";
  kernels.push_back("another");
  size_t moved = 0;
  const auto more = app::Partition(kernels, 4);
  for (size_t i = 0; i < more.size(); ++i)
    for (const auto& kernel : more[i]) moved += kernel != "another" && where[kernel] != i ? 1 : 0;
  EXPECT_LE(moved, 4u);
  EXPECT_EQ(app::Partition({}, 3), (std::vector<Names>(3)));
}

TEST(Shards, EveryKernelIsInOne) {
  const std::vector<std::string> kernels = {"softmax",   "layernorm", "rmsnorm", "gelu",     "matmul",
                                            "transpose", "row_sum",   "argmax",  "histogram"};
  std::multiset<std::string> dealt;
  for (int k = 1; k <= 4; ++k) {
    const auto mine = app::KernelsOfShard(app::ParseShard(std::to_string(k) + "/4"), kernels);
    EXPECT_LE(mine.size(), 3u);
    dealt.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(dealt, std::multiset<std::string>(kernels.begin(), kernels.end()));
  EXPECT_EQ(app::KernelsOfShard(std::nullopt, kernels), kernels);
}

}  // namespace
}  // namespace warpwright
