// init with existing files: nothing is overwritten without --force. (The manifest's content is tested in
// tests/integration.)
#include <gtest/gtest.h>

#include "app/draft_workflow.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/version.h"
#include "tests/support/temp_repository.h"

namespace warpwright {
namespace {

class Init : public testing::Test {
 protected:
  void SetUp() override {
    repository_.Write(".warpwright.yml", "mine\n");
    options_.common.repo = repository_.path().string();
    options_.common.quiet = true;
  }
  std::string Text(std::string_view file) { return base::ReadFile(repository_.path() / file).value_or(""); }
  Result<int> Run() {
    testing::internal::CaptureStdout();
    auto done = cli::RunInit(options_);
    output_ = testing::internal::GetCapturedStdout();
    return done;
  }
  TempRepository repository_;
  cli::InitOptions options_;
  std::string output_;
};

TEST_F(Init, WritesTheWorkflowBesideAManifestThatIsThere) {
  repository_.Git({"checkout", "-q", "-b", "trunk"});
  ASSERT_EQ(Run().value_or(-1), cli::kExitDone);
  EXPECT_EQ(Text(".warpwright.yml"), "mine\n");
  EXPECT_EQ(Text(app::kWorkflowFile), app::DraftWorkflow({"trunk", cli::kVersion, cli::kActionReference}));
  EXPECT_NE(output_.find("Kept "), std::string::npos) << output_;
  EXPECT_NE(output_.find("on a push to trunk"), std::string::npos) << output_;
  EXPECT_NE(output_.find("at most 3 open"), std::string::npos) << output_;
}

TEST_F(Init, OverwritesNothing) {
  repository_.Write(std::string(app::kWorkflowFile), "also mine\n");
  auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_EQ(cli::ExitCodeOf(done.error()), cli::kExitUsage);
  EXPECT_EQ(Text(".warpwright.yml"), "mine\n");
  EXPECT_EQ(Text(app::kWorkflowFile), "also mine\n");
}

TEST_F(Init, LeavesWorkflowsAloneWhereAsked) {
  options_.no_workflow = true;
  EXPECT_FALSE(Run());
  EXPECT_FALSE(std::filesystem::exists(repository_.path() / ".github"));
}

}  // namespace
}  // namespace warpwright
