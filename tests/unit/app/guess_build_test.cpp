#include "app/guess_build.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "config/yaml_reader.h"
#include "tests/support/rewriting_device.h"

namespace warpwright {
namespace {

// Finds "a.h" in the folder that comes first, of those that have one.
class FolderEvaluator final : public RewritingDevice {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef& source) override {
    core::Inspection inspection;
    for (const std::string& folder : source.build.include)
      if (inspection.headers.empty() && std::filesystem::exists(std::filesystem::path(source.root) / folder / "a.h"))
        inspection.headers.push_back(folder + "/a.h");
    return inspection;
  }
};

TEST(GuessBuild, TakesWhatTheFileNeeds) {
  const auto root = base::TemporaryDirectory::Create("ww-guess");
  ASSERT_TRUE(root);
  for (const char* path : {"first/b.h", "second/a.h", "third/a.h"})
    ASSERT_TRUE(base::WriteFileAtomically(root->path() / path, "#if IN_HEADER\n#endif\n"));
  ASSERT_TRUE(base::WriteFileAtomically(root->path() / "Makefile",
                                        "NVCCFLAGS = -Ifirst -Isecond -Ithird -DTILE=32 -DIN_HEADER='f(1, 2)' -DTILES "
                                        "-DUNUSED=1 -DNDEBUG --use_fast_math\n"));
  FolderEvaluator worker;
  const auto guessed = app::GuessBuild({root->path().string(), "a.cu", "int x = TILE; assert(x);"}, worker);
  ASSERT_TRUE(guessed) << guessed.error().Format();
  EXPECT_EQ(guessed->from, "Makefile");
  EXPECT_EQ(
      app::ManifestText(guessed->build),
      "build: {include: [second], define: {IN_HEADER: \"f(1, 2)\", NDEBUG: 1, TILE: 32}, flags: [--use_fast_math]}");
  const auto nothing = app::GuessBuild({root->path().string(), "none/a.cu", ""}, worker);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(app::ManifestText(nothing->build),
            "build: {include: [second], define: {IN_HEADER: \"f(1, 2)\"}, flags: [--use_fast_math]}");
}

TEST(GuessBuild, WritesWhatTheManifestReads) {
  core::BuildOptions build;
  build.include = {"a, b", "third party/x"};
  build.define = {{"NAME", "\"quoted\""}, {"PATH", "a\\b: c"}};
  const auto root = config::ParseYaml(app::ManifestText(build), "m.yml");
  ASSERT_TRUE(root) << root.error().Format();
  const config::YamlNode& written = *root->Find("build");
  ASSERT_EQ(written.Find("include")->items().size(), 2u);
  EXPECT_EQ(written.Find("include")->items()[0].text(), "a, b");
  EXPECT_EQ(written.Find("define")->Find("NAME")->text(), "\"quoted\"");
  EXPECT_EQ(written.Find("define")->Find("PATH")->text(), "a\\b: c");
}

}  // namespace
}  // namespace warpwright
