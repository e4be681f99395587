#include "repo/repository.h"

#include <gtest/gtest.h>

#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

bool Everything(std::string_view) { return true; }

class RepositoryTest : public testing::Test {
 protected:
  void SetUp() override {
    temp.Write("src/a.cu", "one\ntwo\nthree\n");
    temp.Write("README", "read me\n");
    first = temp.Commit("first");
    temp.Write("src/a.cu", "one\n2\nthree\n");
    temp.Git({"mv", "README", "README.md"});
    second = temp.Commit("second");
  }
  Repository Open() { return std::move(*Repository::Open(temp.path() / "src")); }
  BranchCommit Request() {
    return {"warpwright/a", second, "src/a.cu", "one\n2\nfaster\n", "Faster a\n\nOptimized-by: warpwright\n", {}};
  }
  TempRepository temp;
  std::string first, second;
};

TEST_F(RepositoryTest, ReadsRevisionsFilesAndDifferences) {
  const Repository repository = Open();
  EXPECT_EQ(std::filesystem::canonical(repository.root()), std::filesystem::canonical(temp.path()));
  EXPECT_EQ(*repository.Resolve("HEAD"), second);
  EXPECT_EQ(*repository.Resolve("main~1"), first);
  EXPECT_EQ(*repository.ChangedFiles(first, second), (std::vector<std::string>{"README.md", "src/a.cu"}));
  EXPECT_EQ(*repository.Read(first, "src/a.cu"), "one\ntwo\nthree\n");
  EXPECT_EQ(*repository.Read(first, "src/none.cu"), std::nullopt);
  EXPECT_NE(repository.Diff(first, second, "src/a.cu")->find("-two\n+2\n"), std::string::npos);
  EXPECT_EQ(*repository.List(second, Everything), (std::vector<std::string>{"README.md", "src/a.cu"}));
}

TEST_F(RepositoryTest, UnknownRevisionIsAUsageError) {
  const auto resolved = Open().Resolve("no-such-branch");
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().code, ErrorCode::kUsage);
}

TEST_F(RepositoryTest, ExportWritesOnlyWhatIsWanted) {
  const auto folder = std::move(*TemporaryDirectory::Create("ww-export"));
  ASSERT_TRUE(Open().Export(first, [](std::string_view path) { return path.ends_with(".cu"); }, folder.path() / "tree"));
  EXPECT_EQ(*ReadFile(folder.path() / "tree/src/a.cu"), "one\ntwo\nthree\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "tree/README"));
}

TEST_F(RepositoryTest, LinksAndLfsPointersAreNotFollowed) {
  std::filesystem::create_symlink("/etc/passwd", temp.path() / "link.cu");
  temp.Write("big.cu", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  const std::string commit = temp.Commit("third");
  const Repository repository = Open();
  EXPECT_FALSE(repository.Read(commit, "link.cu"));
  EXPECT_FALSE(repository.Read(commit, "big.cu"));
  EXPECT_EQ(*repository.List(commit, [](std::string_view p) { return p == "link.cu"; }), std::vector<std::string>{});
}

TEST_F(RepositoryTest, PublishTouchesNeitherTreeNorCheckedOutBranch) {
  temp.Write("src/a.cu", "the user is editing\n");
  const std::string status = temp.Git({"status", "--porcelain"});
  Repository repository = Open();
  const auto published = repository.Publish(Request());
  ASSERT_TRUE(published) << published.error().Format();
  EXPECT_TRUE(published->changed);
  EXPECT_EQ(temp.Git({"status", "--porcelain"}), status);
  EXPECT_EQ(temp.Git({"rev-parse", "main"}), second + "\n");
  EXPECT_EQ(temp.Git({"show", "warpwright/a:src/a.cu"}), "one\n2\nfaster\n");
  EXPECT_EQ(temp.Git({"rev-parse", "warpwright/a~1"}), second + "\n");
  EXPECT_EQ(temp.Git({"show", "-s", "--format=%an <%ae>", "warpwright/a"}), "warpwright <warpwright@localhost>\n");
  EXPECT_EQ(temp.Git({"fsck", "--strict"}), "");
}

TEST_F(RepositoryTest, PublishingAgainChangesNothingAndANewResultReplacesOurs) {
  Repository repository = Open();
  const auto once = repository.Publish(Request());
  const auto again = repository.Publish(Request());
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->commit, once->commit);
  BranchCommit better = Request();
  better.content = "one\n2\nfastest\n";
  const auto replaced = repository.Publish(better);
  ASSERT_TRUE(replaced);
  EXPECT_TRUE(replaced->changed);
  EXPECT_EQ(temp.Git({"rev-list", "--count", "main..warpwright/a"}), "1\n");
}

TEST_F(RepositoryTest, ForeignTipsCheckedOutBranchesAndOtherNamesAreRefused) {
  Repository repository = Open();
  temp.Git({"branch", "warpwright/a", first});
  EXPECT_FALSE(repository.Publish(Request()));
  temp.Git({"branch", "-D", "warpwright/a"});
  ASSERT_TRUE(repository.Publish(Request()));
  temp.Git({"checkout", "-q", "warpwright/a"});
  BranchCommit other = Request();
  other.content = "x";
  EXPECT_FALSE(repository.Publish(other));
  for (const char* name : {"main", "warpwright/../main", "warpwright/a..b", "warpwright/"}) {
    other.branch = name;
    EXPECT_FALSE(repository.Publish(other)) << name;
  }
}

TEST(Signature, IsParsedStrictly) {
  EXPECT_EQ(Signature::Parse("A B <a@b.c>")->name, "A B");
  EXPECT_EQ(Signature::Parse("A B <a@b.c>")->email, "a@b.c");
  for (const char* bad : {"", "A", "<a@b>", "A <>", "A <a@b> x", "A\nB <a@b>"}) EXPECT_FALSE(Signature::Parse(bad)) << bad;
}

TEST(Repository, NoRepositoryIsSaidWithARemedy) {
  const auto folder = std::move(*TemporaryDirectory::Create("ww-none"));
  const auto repository = Repository::Open(folder.path());
  ASSERT_FALSE(repository);
  EXPECT_NE(repository.error().remedy.find("--repo"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
