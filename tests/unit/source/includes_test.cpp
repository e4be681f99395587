#include "source/includes.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace warpwright {
namespace {

struct Row {
  const char* name;
  const char* include;
  bool outside;
  int line = 2;
};
class OutsideIncludes : public ::testing::TestWithParam<Row> {};

TEST_P(OutsideIncludes, AreFound) {
  const auto folder = *base::TemporaryDirectory::Create("includes");
  ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "common.h", ""));
  const std::string text = std::string("// a comment\n#include ") + GetParam().include + "\n";
  const auto tree = source::ReadSourceTree({folder.path().string(), "kernels/a.cu", text});
  ASSERT_TRUE(tree) << tree.error().Format();
  const auto found = source::FindOutsideInclude(*tree);
  EXPECT_EQ(found.has_value(), GetParam().outside);
  if (!found) return;
  EXPECT_EQ(found->file, "kernels/a.cu");
  EXPECT_EQ(found->line, GetParam().line);
}
INSTANTIATE_TEST_SUITE_P(
    All, OutsideIncludes,
    ::testing::Values(Row{"System", "<vector>", false}, Row{"Missing", "\"other.h\"", false},
                      Row{"Above", "\"../common.h\"", false}, Row{"Nested", "<sys/../vector>", false},
                      Row{"MissingAbove", "\"../other.h\"", false}, Row{"Absolute", "\"/proc/self/environ\"", true},
                      Row{"AbsoluteAngled", "</etc/passwd>", true},
                      Row{"BeginsAComment", "<a/*b.h>\n#include </etc/passwd>\n// */", true},
                      Row{"BeginsALiteral", "<a\"b.h>", true}, Row{"EndsInABackslash", "\"a\\\"", true},
                      Row{"BehindAContinuedComment", "<vector> /* *\\\n/\n#include </etc/passwd> // */", true, 4},
                      Row{"Climbing", "\"../../../proc/self/environ\"", true}),
    [](const auto& info) { return info.param.name; });

// Of several headers of one name, the one that the project's compilers would take.
TEST(IncludeFolders, OfTheBuildComeFirstAndInTheirOrder) {
  const auto folder = *base::TemporaryDirectory::Create("includes");
  for (const char* path : {"include/a.h", "third_party/x/a.h", "third_party/y/a.h", "third_party/y/only.h",
                           "kernels/b.h", "third_party/y/b.h"})
    ASSERT_TRUE(base::WriteFileAtomically(folder.path() / path, ""));
  std::filesystem::create_directory_symlink("/usr/include", folder.path() / "linked");
  const struct {
    std::vector<std::string> folders;
    const char *include, *resolved;
  } rows[] = {
      {{}, "<a.h>", "include/a.h"},
      {{}, "<only.h>", ""},
      {{"third_party/y"}, "<only.h>", "third_party/y/only.h"},
      {{"third_party/y"}, "<a.h>", "third_party/y/a.h"},
      {{"third_party/x", "third_party/y"}, "\"a.h\"", "third_party/x/a.h"},
      {{"third_party/y"}, "\"b.h\"", "kernels/b.h"},
      {{"third_party/y"}, "<b.h>", "third_party/y/b.h"},
      {{"."}, "<third_party/x/a.h>", "third_party/x/a.h"},
      {{"missing"}, "<only.h>", ""},
      {{"../../../../../../usr/include"}, "<stdlib.h>", ""},
      {{"linked"}, "<stdlib.h>", ""},
  };
  for (const auto& row : rows) {
    core::BuildOptions build;
    build.include = row.folders;
    const auto tree = source::ReadSourceTree(
        {folder.path().string(), "kernels/a.cu", std::string("#include ") + row.include + "\n", build});
    ASSERT_TRUE(tree) << tree.error().Format();
    EXPECT_EQ(tree->files.at("kernels/a.cu").includes[0].resolved, row.resolved) << row.include;
  }
}

}  // namespace
}  // namespace warpwright
