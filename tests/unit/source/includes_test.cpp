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

}  // namespace
}  // namespace warpwright
