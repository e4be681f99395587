#include "app/kept_secrets.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

class KeptSecretsTest : public testing::Test {
 protected:
  base::TemporaryDirectory folder_ = std::move(*base::TemporaryDirectory::Create("ww-secrets"));
};

TEST_F(KeptSecretsTest, AreTheSameInAReplayAndWhereARunGoesOn) {
  const auto first = std::move(*KeptSecrets::Open({}, folder_.path()));
  const uint64_t a = *first->Draw("a"), b = *first->Draw("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(*first->Draw("a"), a);
  const auto goes_on = std::move(*KeptSecrets::Open({}, folder_.path()));
  EXPECT_EQ(*goes_on->Draw("b"), b);
  const auto replays = std::move(*KeptSecrets::Open(folder_.path(), {}));
  EXPECT_EQ(*replays->Draw("a"), a);
  EXPECT_NE(*replays->Draw("c"), a) << "what was not recorded is drawn";
}

TEST_F(KeptSecretsTest, OfAReplayAreKeptAgain) {
  const fs::path again = folder_.path() / "again";
  fs::create_directory(again);
  const uint64_t a = *std::move(*KeptSecrets::Open({}, folder_.path()))->Draw("a");
  EXPECT_EQ(*std::move(*KeptSecrets::Open(folder_.path(), again))->Draw("a"), a);
  EXPECT_EQ(*std::move(*KeptSecrets::Open(again, {}))->Draw("a"), a);
}

TEST_F(KeptSecretsTest, RefuseWhatIsNone) {
  for (const char* text : {"", "[]", "{\"a\": 1}", "{\"a\": \"\"}", "{\"a\": \"xyz\"}",
                           "{\"a\": \"12345678901234567\"}", "{\"a\": \"12 \"}"}) {
    ASSERT_TRUE(base::WriteFileAtomically(folder_.path() / "secrets.json", text));
    const auto opened = KeptSecrets::Open(folder_.path(), {});
    ASSERT_FALSE(opened) << text;
    EXPECT_EQ(opened.error().file, (folder_.path() / "secrets.json").string());
  }
}

}  // namespace
}  // namespace warpwright::app
