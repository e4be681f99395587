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
  repo::Repository Open() { return std::move(*repo::Repository::Open(temp.path() / "src")); }
  repo::BranchCommit Request() {
    return {"warpwright/a", second, "src/a.cu", "one\n2\nfaster\n", "Faster a\n\nOptimized-by: warpwright\n", {}};
  }
  TempRepository temp;
  std::string first, second;
};

TEST_F(RepositoryTest, ReadsRevisionsFilesAndDifferences) {
  const repo::Repository repository = Open();
  EXPECT_EQ(std::filesystem::canonical(repository.root()), std::filesystem::canonical(temp.path()));
  EXPECT_EQ(*repository.Resolve("HEAD"), second);
  EXPECT_EQ(*repository.Resolve("main~1"), first);
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
  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-export"));
  ASSERT_TRUE(
      Open().Export(first, [](std::string_view path) { return path.ends_with(".cu"); }, folder.path() / "tree"));
  EXPECT_EQ(*base::ReadFile(folder.path() / "tree/src/a.cu"), "one\ntwo\nthree\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "tree/README"));
}

TEST_F(RepositoryTest, LinksAndLfsPointersAreNotFollowed) {
  std::filesystem::create_symlink("/etc/passwd", temp.path() / "link.cu");
  temp.Write("big.cu", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  const std::string commit = temp.Commit("third");
  const repo::Repository repository = Open();
  EXPECT_FALSE(repository.Read(commit, "link.cu"));
  EXPECT_FALSE(repository.Read(commit, "big.cu"));
  EXPECT_EQ(*repository.List(commit, [](std::string_view p) { return p == "link.cu"; }), std::vector<std::string>{});
}

TEST_F(RepositoryTest, FilesSaysIdsAndKindsAndExportLeavesOutWhatItCannotRead) {
  std::filesystem::create_symlink("a.cu", temp.path() / "src/link.cu");
  temp.Write("src/big.cu", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
  temp.Write("src/copy.cu", "one\n2\nthree\n");
  temp.Git({"update-index", "--add", "--cacheinfo", "160000," + first + ",vendor/lib"});
  temp.Git({"add", "src"});
  temp.Git({"commit", "-q", "-m", "third"});
  const repo::Repository repository = Open();
  const std::string third = *repository.Resolve("HEAD");
  std::map<std::string, repo::TreeFile> files;
  const auto listed = std::move(*repository.Files(third));
  for (const auto& file : listed) files[file.path] = file;
  EXPECT_EQ(files.size(), 6u);
  EXPECT_EQ(files["src/link.cu"].kind, repo::TreeFile::Kind::kLink);
  EXPECT_EQ(files["vendor/lib"].kind, repo::TreeFile::Kind::kSubmodule);
  EXPECT_EQ(files["vendor/lib"].id, first);
  EXPECT_EQ(files["src/a.cu"].id, files["src/copy.cu"].id);

  const auto inside = repository.Read(third, "vendor/lib/kernels/x.cu");
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(inside.error().message.find("submodule vendor/lib"), std::string::npos);

  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-export"));
  ASSERT_TRUE(repository.Export(third, Everything, folder.path() / "tree"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "tree/src/copy.cu"));
  for (const char* absent : {"src/link.cu", "src/big.cu", "vendor"})
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "tree" / absent)) << absent;
}

TEST_F(RepositoryTest, TouchedPathsHasBothNamesOfARenamedFile) {
  EXPECT_EQ(*Open().TouchedPaths(first, second), (std::vector<std::string>{"README", "README.md", "src/a.cu"}));
  EXPECT_EQ(*Open().TouchedPaths(second, second), std::vector<std::string>{});
}

TEST_F(RepositoryTest, ShallowIsSaidWhereARevisionIsMissing) {
  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-shallow"));
  temp.Git({"clone", "-q", "--depth", "1", "file://" + temp.path().string(), (folder.path() / "clone").string()});
  const repo::Repository repository = std::move(*repo::Repository::Open(folder.path() / "clone"));
  EXPECT_TRUE(repository.shallow());
  EXPECT_FALSE(Open().shallow());
  const auto missing = repository.Resolve(first);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().remedy.find("fetch-depth: 0"), std::string::npos);
}

class CommitFilesTest : public RepositoryTest {
 protected:
  Result<repo::PublishedBranch> Commit(const std::string& parent, std::map<std::string, std::string> files) {
    return Open().CommitFiles(
        {"warpwright-history", parent, std::move(files), "Night\n\nOptimized-by: warpwright\n", {}},
        "warpwright-history");
  }
};

TEST_F(CommitFilesTest, OrphanThenFollowUpThenNothing) {
  const std::string status = temp.Git({"status", "--porcelain"});
  const auto one = Commit("", {{"h200/softmax.jsonl", "1\n"}, {"README.md", "history\n"}});
  ASSERT_TRUE(one) << one.error().Format();
  EXPECT_TRUE(one->changed);
  EXPECT_EQ(temp.Git({"log", "--format=%P", "warpwright-history"}), "\n");
  const auto two = Commit(one->commit, {{"h200/softmax.jsonl", "1\n2\n"}});
  ASSERT_TRUE(two) << two.error().Format();
  EXPECT_EQ(temp.Git({"rev-parse", "warpwright-history~1"}), one->commit + "\n");
  EXPECT_EQ(temp.Git({"show", "warpwright-history:h200/softmax.jsonl"}), "1\n2\n");
  EXPECT_EQ(temp.Git({"show", "warpwright-history:README.md"}), "history\n");
  const auto three = Commit(two->commit, {{"README.md", "history\n"}});
  ASSERT_TRUE(three);
  EXPECT_FALSE(three->changed);
  EXPECT_EQ(three->commit, two->commit);
  EXPECT_EQ(temp.Git({"status", "--porcelain"}), status);
  EXPECT_EQ(temp.Git({"fsck", "--strict"}), "");
}

// Another machine pushed first: what we committed here is redone on top of that.
TEST_F(CommitFilesTest, OurLostTipIsReplacedAndAForeignOneIsNot) {
  const auto base = Commit("", {{"a", "1"}});
  const auto lost = Commit(base->commit, {{"a", "ours"}});
  const auto pushed =
      temp.Git({"commit-tree", base->commit + "^{tree}", "-p", base->commit, "-m", "of another machine"});
  const auto again = Commit(pushed.substr(0, 40), {{"a", "ours"}});
  ASSERT_TRUE(again) << again.error().Format();
  EXPECT_EQ(temp.Git({"rev-parse", "warpwright-history~1"}), pushed);
  temp.Git({"branch", "-f", "warpwright-history", second});
  EXPECT_FALSE(Commit(base->commit, {{"a", "2"}}));
  EXPECT_EQ(temp.Git({"rev-parse", "warpwright-history"}), second + "\n");
  EXPECT_TRUE(Commit(second, {{"a", "2"}})) << "the tip is the parent";
}

TEST_F(CommitFilesTest, OtherNamesCheckedOutBranchesAndBadPathsAreRefused) {
  for (const char* name : {"main", "", "warpwright-history2", "a..b"})
    EXPECT_FALSE(Open().CommitFiles({name, "", {{"a", "1"}}, "m", {}}, "warpwright-history")) << name;
  EXPECT_FALSE(Open().CommitFiles({"main", second, {{"a", "1"}}, "m", {}}, "main")) << "checked out";
  for (const char* path : {"../a", "/a", ".git/config", "a//b", ""}) EXPECT_FALSE(Commit("", {{path, "1"}})) << path;
}

TEST_F(RepositoryTest, PublishTouchesNeitherTreeNorCheckedOutBranch) {
  temp.Write("src/a.cu", "the user is editing\n");
  const std::string status = temp.Git({"status", "--porcelain"});
  repo::Repository repository = Open();
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
  repo::Repository repository = Open();
  const auto once = repository.Publish(Request());
  const auto again = repository.Publish(Request());
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->commit, once->commit);
  repo::BranchCommit better = Request();
  better.content = "one\n2\nfastest\n";
  const auto replaced = repository.Publish(better);
  ASSERT_TRUE(replaced);
  EXPECT_TRUE(replaced->changed);
  EXPECT_EQ(temp.Git({"rev-list", "--count", "main..warpwright/a"}), "1\n");
}

TEST_F(RepositoryTest, ForeignTipsCheckedOutBranchesAndOtherNamesAreRefused) {
  repo::Repository repository = Open();
  temp.Git({"branch", "warpwright/a", first});
  EXPECT_FALSE(repository.Publish(Request()));
  temp.Git({"branch", "-D", "warpwright/a"});
  ASSERT_TRUE(repository.Publish(Request()));
  temp.Git({"checkout", "-q", "warpwright/a"});
  repo::BranchCommit other = Request();
  other.content = "x";
  EXPECT_FALSE(repository.Publish(other));
  for (const char* name : {"main", "warpwright/../main", "warpwright/a..b", "warpwright/"}) {
    other.branch = name;
    EXPECT_FALSE(repository.Publish(other)) << name;
  }
}

TEST(Signature, IsParsedStrictly) {
  EXPECT_EQ(repo::Signature::Parse("A B <a@b.c>")->name, "A B");
  EXPECT_EQ(repo::Signature::Parse("A B <a@b.c>")->email, "a@b.c");
  for (const char* bad : {"", "A", "<a@b>", "A <>", "A <a@b> x", "A\nB <a@b>"})
    EXPECT_FALSE(repo::Signature::Parse(bad)) << bad;
}

TEST(Repository, OneWithoutACommitIsSaidToHaveNone) {
  const TempRepository empty;
  const auto resolved = repo::Repository::Open(empty.path())->Resolve("HEAD");
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(resolved.error().message.starts_with("there is no commit yet in ")) << resolved.error().message;
  EXPECT_EQ(resolved.error().remedy, "make a first commit");
}

TEST(Repository, NoRepositoryIsSaidWithARemedy) {
  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-none"));
  const auto repository = repo::Repository::Open(folder.path());
  ASSERT_FALSE(repository);
  EXPECT_NE(repository.error().remedy.find("--repo"), std::string::npos);
}

struct ApplyRow {
  const char *ancestor, *ours, *theirs, *expected;
};
TEST(ApplyChanges, KeepsWhatIsBesideAndGivesWayWhereBothChanged) {
  for (const ApplyRow& row : std::vector<ApplyRow>{
           {"a\nb\nc\n", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n"},
           {"a\nb\nc\n", "a\n// note\nb\nc\n", "a\nB\nc\n", "a\n// note\nB\nc\n"},
           {"a\nb\nc\n", "a\nb\n// note\nc\n", "a\nB\nc\n", "a\nB\n// note\nc\n"},
           {"a\nb\nc\nd\n", "a\nb\n// note\nc\nd\n", "a\nB\nC\nd\n", "a\nB\nC\nd\n"},
           {"a\nb\nc\n", "A\nb\nC\n", "a\nb\nb2\nc\n", "A\nb\nb2\nC\n"},
           {"a\nb\n", "a\nx\n", "a\ny\n", "a\ny\n"},
           {"a\n", "ours\na\n", "theirs\na\n", "ours\ntheirs\na\n"},
           {"a\nb", "a\nb\nc", "A\nb", "A\nb\nc"},
           {"", "a\n", "", "a\n"},
       }) {
    const auto merged = repo::Repository::ApplyChanges(row.ancestor, row.ours, row.theirs);
    ASSERT_TRUE(merged) << merged.error().Format();
    EXPECT_EQ(*merged, row.expected) << row.ancestor << "/" << row.ours << "/" << row.theirs;
  }
}

}  // namespace
}  // namespace warpwright
