#include "app/draft_workflow.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/version.h"
#include "config/yaml_reader.h"

namespace warpwright {
namespace {

TEST(DraftWorkflow, EveryWorkflowNamesTheActionOfThisVersion) {
  int uses = 0;
  for (const char* name : {"optimize.yml", "matrix.yml", "nightly.yml", "slash.yml"}) {
    const std::string text = base::ReadFile(std::string(WW_SOURCE_DIR) + "/config/workflows/" + name).value_or("");
    for (size_t at = text.find("uses: warpwright/"); at != std::string::npos;
         at = text.find("uses: warpwright/", at + 1), ++uses)
      EXPECT_EQ(text.substr(at + 6, app::UnpinnedAction(cli::kVersion).size() + 1),
                app::UnpinnedAction(cli::kVersion) + "\n")
          << name;
  }
  EXPECT_GE(uses, 6);
}

TEST(DraftWorkflow, IsYamlForEveryBranchName) {
  for (const char* branch : {"main", "true", "a,b", "a]b", "release/1.x", "x'y", "#1", "a\"b"}) {
    auto root = config::ParseYaml(app::DraftWorkflow({branch, "1.0.0", ""}), "w.yml");
    ASSERT_TRUE(root) << branch << root.error().Format();
    const config::YamlNode* branches = root->Find("on")->Find("push")->Find("branches");
    ASSERT_TRUE(branches && branches->items().size() == 1) << branch;
    EXPECT_EQ(branches->items()[0].text(), branch);
  }
}

}  // namespace
}  // namespace warpwright
