#include "service/job_state.h"

#include <gtest/gtest.h>

#include <set>

namespace warpwright {
namespace {

TEST(JobState, NamesAreReadBackAndDiffer) {
  std::set<std::string_view> names;
  for (const JobState state : kJobStates) {
    EXPECT_EQ(ParseJobState(Name(state)), state);
    EXPECT_TRUE(names.insert(Name(state)).second);
  }
  EXPECT_FALSE(ParseJobState("asleep"));
}

TEST(JobState, EveryJobCanStillEnd) {
  for (const JobState from : kJobStates) {
    std::set<JobState> reached = {from};
    for (size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const JobState to : kJobStates)
        for (const JobState via : std::set(reached))
          if (MayFollow(via, to)) reached.insert(to);
    }
    EXPECT_TRUE(IsFinal(from) || reached.count(JobState::kDone) == 1) << Name(from);
    if (IsFinal(from)) {
      EXPECT_EQ(reached.size(), 1u) << Name(from);
    }
  }
}

TEST(JobState, WhatIsPushedIsNeverTakenBack) {
  for (const JobState state : {JobState::kPushed, JobState::kProposed, JobState::kReported})
    for (const JobState to : {JobState::kQueued, JobState::kRunning, JobState::kFinished, JobState::kSuperseded, JobState::kCancelled, JobState::kFailed})
      EXPECT_FALSE(MayFollow(state, to)) << Name(state) << " " << Name(to);
}

}  // namespace
}  // namespace warpwright
