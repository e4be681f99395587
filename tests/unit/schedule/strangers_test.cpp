// Every schedule on every form that was lifted of an open stranger: what is not refused with a reason compiles, keeps
// the launcher's signature, and leaves nothing behind that nobody uses.
#include <gtest/gtest.h>

#include <set>

#include "core/computation_json.h"
#include "tests/support/stranger_forms.h"

namespace warpwright {
namespace {

using testing::Apply;
using testing::CompileError;
using testing::Stranger;
using testing::Strangers;
using testing::StubFor;

// The form without what another version of the operation has otherwise: lines.
std::string FormKey(const Stranger& stranger) {
  core::Computation form = stranger.form;
  for (core::Stage& stage : form.stages) stage.line = 0;
  return core::EncodeComputation(form);
}

TEST(Strangers, WhatIsNotRefusedCompiles) {
  size_t applied = 0, entries = 0;
  // Three versions of one operation have one form, of which the kernels are the same, and most refusals.
  std::set<std::string> compiled, refused;
  for (const Stranger& stranger : Strangers()) {
    bool any = false;
    for (const schedule::Schedule& schedule : schedule::Schedules()) {
      const std::string key = FormKey(stranger) + std::string(schedule.id);
      if (refused.contains(key)) continue;
      const std::string text = Apply(std::string(schedule.id), stranger, stranger.text);
      ASSERT_FALSE(text.starts_with("ERROR")) << stranger.name << ": " << text;
      if (text.starts_with("REFUSED")) {
        refused.insert(key);
        EXPECT_GT(text.size(), std::string("REFUSED: ").size() + 10) << "a reason that says something";
        EXPECT_EQ(text.find("does not parse"), std::string::npos)
            << stranger.name << " " << schedule.id << ": " << text;
        continue;
      }
      any = true;
      ++applied;
      if (!compiled.insert(key).second) continue;
      EXPECT_EQ(CompileError(stranger, text), "") << stranger.name << " " << schedule.id << ":\n" << text;
    }
    entries += any ? 1 : 0;
  }
  EXPECT_GE(entries, 80u) << "of " << Strangers().size();
  EXPECT_GE(applied, entries);
}

TEST(Strangers, ParametersAreChecked) {
  const Stranger& stranger = testing::Find("03-tinyggml/rmsnorm_naive");
  EXPECT_TRUE(Apply("schedule_rows", stranger, StubFor(stranger), {{"threads", "33"}}).starts_with("ERROR"));
  EXPECT_TRUE(Apply("schedule_rows", stranger, StubFor(stranger), {{"rows", "1"}}).starts_with("ERROR"));
  EXPECT_TRUE(Apply("schedule_nothing", stranger, StubFor(stranger)).starts_with("ERROR"));
}

TEST(Strangers, EveryParameterGivesAnotherText) {
  const Stranger& stranger = testing::Find("03-tinyggml/rmsnorm_naive");
  std::set<std::string> texts;
  for (const char* threads : {"32", "256", "1024"})
    texts.insert(Apply("schedule_rows", stranger, StubFor(stranger), {{"threads", threads}}));
  EXPECT_EQ(texts.size(), 3u);
}

}  // namespace
}  // namespace warpwright
