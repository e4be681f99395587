#include "app/step_outputs.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace warpwright {
namespace {

TEST(StepOutputs, CannotBeBrokenOutOf) {
  auto folder = base::TemporaryDirectory::Create("ww-outputs");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "output";
  ASSERT_TRUE(base::WriteFileAtomically(file, "before=1\n"));
  const std::string hostile = "x\nEOF\nresult=improved\n::stop-commands::a";
  std::vector<std::string> notices;
  ASSERT_TRUE(app::WriteStepOutputs(file, {{"message", hostile}, {"empty", ""}, {"large", std::string(500'000, 'x')}},
                                    [&](const std::string& text) { notices.push_back(text); }));
  const std::string text = *base::ReadFile(file);
  ASSERT_EQ(text.rfind("before=1\nmessage<<", 0), 0u);
  const size_t word_at = text.find("<<") + 2;
  const std::string word =
      text.substr(word_at, text.find('\n') == std::string::npos ? 0 : text.find('\n', word_at) - word_at);
  EXPECT_GE(word.size(), 34u);
  EXPECT_EQ(text.compare(text.find(word) + word.size() + 1, hostile.size() + 1 + word.size(), hostile + "\n" + word), 0)
      << text.substr(0, 300);
  EXPECT_LT(text.size(), 2000u) << "what is too large is left out";
  EXPECT_EQ(notices, std::vector<std::string>{"the output 'large' has 500000 bytes and was omitted"});
  EXPECT_NE(text.find("empty<<"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
