// The main of every test program: GoogleTest's own; if WW_NO_SKIP is set, a test that skips itself is a failure (CI
// installs what tests need, so that a skip there is a hole). Tests for another machine are excluded by label instead:
// ctest -LE gpu.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

bool SkipsAreFailures() {
  const char* value = std::getenv("WW_NO_SKIP");
  return value != nullptr && std::strcmp(value, "") != 0 && std::strcmp(value, "0") != 0;
}

void NameSkipped(const testing::TestSuite& suite) {
  for (int i = 0; i < suite.total_test_count(); ++i)
    if (const testing::TestInfo& test = *suite.GetTestInfo(i); test.should_run() && test.result()->Skipped())
      std::fprintf(stderr, "WW_NO_SKIP: %s.%s was skipped\n", suite.name(), test.name());
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  if (!SkipsAreFailures() || unit.skipped_test_count() == 0) return failed;
  for (int i = 0; i < unit.total_test_suite_count(); ++i) NameSkipped(*unit.GetTestSuite(i));
  return 1;
}
