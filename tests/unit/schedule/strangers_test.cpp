// Every schedule on every form that was lifted of an open stranger: what is not refused with a reason compiles, keeps
// the launcher's signature, and leaves nothing behind that nobody uses.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/schedule/schedule_kit.h"

namespace warpwright {
namespace {

using schedule_test::Apply;
using schedule_test::CompileError;
using schedule_test::Stranger;
using schedule_test::Strangers;
using schedule_test::StubFor;

TEST(Strangers, WhatIsNotRefusedCompiles) {
  size_t applied = 0, entries = 0;
  for (const Stranger& stranger : Strangers()) {
    bool any = false;
    for (const schedule::Schedule& schedule : schedule::Schedules()) {
      const std::string text = Apply(std::string(schedule.id), stranger, stranger.text);
      ASSERT_FALSE(text.starts_with("ERROR")) << stranger.name << ": " << text;
      if (text.starts_with("REFUSED")) {
        EXPECT_GT(text.size(), std::string("REFUSED: ").size() + 10) << "a reason that says something";
        EXPECT_EQ(text.find("does not parse"), std::string::npos)
            << stranger.name << " " << schedule.id << ": " << text;
        continue;
      }
      any = true;
      ++applied;
      EXPECT_EQ(CompileError(stranger, text), "") << stranger.name << " " << schedule.id << ":\n" << text;
    }
    entries += any ? 1 : 0;
  }
  EXPECT_GE(entries, 80u) << "of " << Strangers().size();
  EXPECT_GE(applied, entries);
}

TEST(Strangers, ParametersAreChecked) {
  const Stranger& stranger = schedule_test::Find("03-tinyggml/rmsnorm_naive");
  EXPECT_TRUE(Apply("schedule_rows", stranger, StubFor(stranger), {{"threads", "33"}}).starts_with("ERROR"));
  EXPECT_TRUE(Apply("schedule_rows", stranger, StubFor(stranger), {{"rows", "1"}}).starts_with("ERROR"));
  EXPECT_TRUE(Apply("schedule_nothing", stranger, StubFor(stranger)).starts_with("ERROR"));
}

TEST(Strangers, EveryParameterGivesAnotherText) {
  const Stranger& stranger = schedule_test::Find("03-tinyggml/rmsnorm_naive");
  std::set<std::string> texts;
  for (const char* threads : {"32", "256", "1024"})
    texts.insert(Apply("schedule_rows", stranger, StubFor(stranger), {{"threads", threads}}));
  EXPECT_EQ(texts.size(), 3u);
}

}  // namespace
}  // namespace warpwright
