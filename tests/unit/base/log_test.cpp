#include "base/log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"

namespace warpwright {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    base::ConfigureLog(base::LogFormat::kJson, base::LogLevel::kDebug);
    base::SetLogSink([this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    });
  }
  void TearDown() override {
    base::SetLogSink({});
    base::ConfigureLog(base::LogFormat::kAuto, base::LogLevel::kInfo);
  }
  std::string Line() {
    EXPECT_EQ(lines_.size(), 1u);
    std::string line = lines_.empty() ? "" : lines_.back();
    lines_.clear();
    return line;
  }
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST_F(LogTest, WritesKeysInTheirOrder) {
  base::Log(
      base::LogLevel::kInfo, "job_started", "started",
      {{"seconds", 1.5}, {"kernel", "softmax"}, {"job", 17}, {"dry", true}, {"repo", std::string("acme/kernels")}});
  const std::string line = Line();
  EXPECT_TRUE(line.starts_with("{\"ts\":\"20")) << line;
  EXPECT_NE(
      line.find(
          R"(Z","level":"info","event":"job_started","job":17,"repo":"acme/kernels","kernel":"softmax","message":"started","seconds":1.5,"dry":true})"),
      std::string::npos)
      << line;
  EXPECT_TRUE(nlohmann::json::accept(line));
}

TEST_F(LogTest, CarriesTheFieldsOfItsScopes) {
  const base::LogScope outer({{"job", 1}, {"repo", "a/b"}});
  {
    const base::LogScope inner({{"job", 2}, {"request_id", "r"}});
    base::Log(base::LogLevel::kInfo, "e", "m", {{"repo", "c/d"}});
    const auto json = nlohmann::json::parse(Line());
    EXPECT_EQ(json["job"], 2);
    EXPECT_EQ(json["repo"], "c/d");
    EXPECT_EQ(json["request_id"], "r");
  }
  base::Log(base::LogLevel::kInfo, "e", "m");
  const auto json = nlohmann::json::parse(Line());
  EXPECT_EQ(json["job"], 1);
  EXPECT_FALSE(json.contains("request_id"));
}

TEST_F(LogTest, EscapesWhatCouldForgeALine) {
  base::Log(base::LogLevel::kWarning, "e",
            "a\nb\r\x1b[31m\"\\ \x7f \xc2\x85 \xe2\x80\xa8 \xe2\x80\xae \xc2\xad \xff ok \xc3\xa4", {{"path", "x\ny"}});
  const std::string line = Line();
  for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << line;
  EXPECT_NE(line.find(R"(a\nb\r\u001b[31m\"\\ \u007f \u0085 \u2028 \u202e \u00ad )"), std::string::npos) << line;
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["path"], "x\ny");
  EXPECT_TRUE(json["message"].get<std::string>().ends_with("\xef\xbf\xbd ok \xc3\xa4"));
}

TEST_F(LogTest, RedactsMessagesAndFields) {
  base::RegisterSecret("tops3cret\"value");
  base::Log(base::LogLevel::kInfo, "e", "got tops3cret\"value",
            {{"url", "https://u:p@h/"}, {"remedy", "dG9wczNjcmV0InZhbHVl"}});
  const std::string line = Line();
  EXPECT_NE(line.find("\"message\":\"got [redacted]\""), std::string::npos) << line;
  EXPECT_NE(line.find("\"url\":\"https://[redacted]@h/\",\"remedy\":\"[redacted]\""), std::string::npos) << line;
}

TEST_F(LogTest, RedactsBeforeItCuts) {  // a secret that spans the cut
  base::RegisterSecret("secret-across-the-cut");
  for (size_t pad = 8170; pad < 8200; ++pad) {
    base::Log(base::LogLevel::kInfo, "e", std::string(pad, 'x') + "secret-across-the-cut" + std::string(20'000, 'y'));
    const std::string line = Line();
    EXPECT_EQ(line.find("secr"), std::string::npos);
    EXPECT_LT(line.size(), 9000u);
    EXPECT_TRUE(nlohmann::json::accept(line));
  }
}

TEST_F(LogTest, LeavesOutWhatIsBelowTheLevel) {
  base::ConfigureLog(base::LogFormat::kJson, base::LogLevel::kWarning);
  base::Log(base::LogLevel::kInfo, "e", "m");
  EXPECT_TRUE(lines_.empty());
  base::Log(base::LogLevel::kWarning, "e", "m");
  EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(LogTest, WritesTextForPeople) {
  base::ConfigureLog(base::LogFormat::kText, base::LogLevel::kInfo);
  base::Log(base::LogLevel::kError, "push_failed", "remote said\nno",
            {{"job", 3}, {"why", "a b"}, {"gain", 1.25}, {"bad", std::nan("")}});
  const std::string line = Line();
  EXPECT_TRUE(line.ends_with(R"( error   push_failed: remote said\nno job=3 why="a b" gain=1.25 bad=null)")) << line;
}

TEST_F(LogTest, WritesErrorsWithTheirPlace) {
  base::LogError("config_invalid", Error{ErrorCode::kConfig, "unknown key", "config.yml", 3, 5, "remove it"},
                 {{"repo", "a/b"}});
  const auto json = nlohmann::json::parse(Line());
  EXPECT_EQ(json["level"], "error");
  EXPECT_EQ(json["message"], "unknown key");
  EXPECT_EQ(json["file"], "config.yml");
  EXPECT_EQ(json["line"], 3);
  EXPECT_EQ(json["remedy"], "remove it");
}

TEST_F(LogTest, DoesNotMixLinesOfThreads) {
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([t] {
        for (int i = 0; i < 100; ++i)
          base::Log(base::LogLevel::kInfo, "e", std::string(200, static_cast<char>('a' + t)), {{"job", i}});
      });
  }
  ASSERT_EQ(lines_.size(), 400u);
  for (const auto& line : lines_) EXPECT_TRUE(nlohmann::json::accept(line));
}

TEST(LogLevels, HaveNames) {
  for (const base::LogLevel level :
       {base::LogLevel::kDebug, base::LogLevel::kInfo, base::LogLevel::kWarning, base::LogLevel::kError})
    EXPECT_EQ(base::ParseLogLevel(base::Name(level)), level);
  EXPECT_EQ(base::ParseLogLevel("loud"), std::nullopt);
}

}  // namespace
}  // namespace warpwright
