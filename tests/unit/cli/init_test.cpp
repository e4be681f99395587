// init beside what is there already: nothing is overwritten without --force. (What the manifest says is tested in tests/integration.)
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/draft_workflow.h"
#include "cli/exit_code.h"
#include "config/yaml_reader.h"
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
  std::string Text(std::string_view file) { return ReadFile(repository_.path() / file).value_or(""); }
  Result<int> Run() {
    testing::internal::CaptureStdout();
    auto done = RunInit(options_);
    output_ = testing::internal::GetCapturedStdout();
    return done;
  }
  TempRepository repository_;
  InitOptions options_;
  std::string output_;
};

TEST_F(Init, WritesTheWorkflowBesideAManifestThatIsThere) {
  repository_.Git({"checkout", "-q", "-b", "trunk"});
  ASSERT_EQ(Run().value_or(-1), kExitDone);
  EXPECT_EQ(Text(".warpwright.yml"), "mine\n");
  EXPECT_EQ(Text(kWorkflowFile), DraftWorkflow("trunk"));
  EXPECT_NE(output_.find("Kept "), std::string::npos) << output_;
  EXPECT_NE(output_.find("on a push to trunk"), std::string::npos) << output_;
  EXPECT_NE(output_.find("at most 3 open"), std::string::npos) << output_;
}

TEST_F(Init, OverwritesNothing) {
  repository_.Write(std::string(kWorkflowFile), "also mine\n");
  auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_EQ(ExitCodeOf(done.error()), kExitUsage);
  EXPECT_EQ(Text(".warpwright.yml"), "mine\n");
  EXPECT_EQ(Text(kWorkflowFile), "also mine\n");
}

TEST_F(Init, LeavesWorkflowsAloneWhereAsked) {
  options_.no_workflow = true;
  EXPECT_FALSE(Run());
  EXPECT_FALSE(std::filesystem::exists(repository_.path() / ".github"));
}

TEST(DraftWorkflow, EveryWorkflowNamesTheActionOfThisVersion) {
  int uses = 0;
  for (const char* name : {"optimize.yml", "matrix.yml", "nightly.yml", "slash.yml"}) {
    const std::string text = ReadFile(std::string(WW_SOURCE_DIR) + "/config/workflows/" + name).value_or("");
    for (size_t at = text.find("uses: warpwright/"); at != std::string::npos; at = text.find("uses: warpwright/", at + 1), ++uses)
      EXPECT_EQ(text.substr(at + 6, UnpinnedAction().size() + 1), UnpinnedAction() + "\n") << name;
  }
  EXPECT_GE(uses, 6);
}

TEST(DraftWorkflow, IsYamlForEveryBranchName) {
  for (const char* branch : {"main", "true", "a,b", "a]b", "release/1.x", "x'y", "#1", "a\"b"}) {
    auto root = ParseYaml(DraftWorkflow(branch), "w.yml");
    ASSERT_TRUE(root) << branch << root.error().Format();
    const YamlNode* branches = root->Find("on")->Find("push")->Find("branches");
    ASSERT_TRUE(branches && branches->items().size() == 1) << branch;
    EXPECT_EQ(branches->items()[0].text(), branch);
  }
}

}  // namespace
}  // namespace warpwright
