#include "app/workspace.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

TEST(Workspace, KeepsTheTreesThatAreUsedAndAFewOthers) {
  TempRepository repository;
  const base::TemporaryDirectory state = std::move(*base::TemporaryDirectory::Create("ww-workspace"));
  const auto open = [&] {
    return app::Workspace(std::move(*repo::Repository::Open(repository.path())), state.path(), {}, {});
  };
  std::vector<std::string> commits;
  for (int i = 0; i < 20; ++i) {
    repository.Write("a.cu", std::to_string(i));
    commits.push_back(repository.Commit("edition"));
  }
  std::optional<app::Workspace> first(open());
  const auto tree = first->ExportTree(commits[0]);
  ASSERT_TRUE(tree) << tree.error().Format();
  for (const std::string& commit : commits) {
    const app::Workspace job = open();
    ASSERT_TRUE(job.ExportTree(commit));
    ASSERT_TRUE(job.ExportTree(commit)) << "a second time";
  }
  const auto count = [&] {
    size_t trees = 0;
    for (const auto& entry : fs::directory_iterator(state.path() / "trees")) trees += entry.is_directory();
    return trees;
  };
  EXPECT_EQ(*base::ReadFile(*tree / "a.cu"), "0") << "it is in use";
  EXPECT_LE(count(), 10u);
  EXPECT_TRUE(fs::exists(state.path() / "trees" / commits.back() / "a.cu"));
  EXPECT_FALSE(first->HasTree(commits[1]));
  ASSERT_TRUE(first->ExportTree(commits[1])) << "again when it is needed";
}

}  // namespace
}  // namespace warpwright
