#include "service/job_state.h"

#include <gtest/gtest.h>

#include <set>

namespace warpwright {
namespace {

TEST(JobState, NamesAreReadBackAndDiffer) {
  std::set<std::string_view> names;
  for (const service::JobState state : service::kJobStates) {
    EXPECT_EQ(service::ParseJobState(service::Name(state)), state);
    EXPECT_TRUE(names.insert(service::Name(state)).second);
  }
  EXPECT_FALSE(service::ParseJobState("asleep"));
}

TEST(JobState, EveryJobCanStillEnd) {
  for (const service::JobState from : service::kJobStates) {
    std::set<service::JobState> reached = {from};
    for (size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const service::JobState to : service::kJobStates)
        for (const service::JobState via : std::set(reached))
          if (service::MayFollow(via, to)) reached.insert(to);
    }
    EXPECT_TRUE(service::IsFinal(from) || reached.count(service::JobState::kDone) == 1) << service::Name(from);
    if (service::IsFinal(from)) {
      EXPECT_EQ(reached.size(), 1u) << service::Name(from);
    }
  }
}

TEST(JobState, WhatIsPushedIsNeverTakenBack) {
  for (const service::JobState state :
       {service::JobState::kPushed, service::JobState::kProposed, service::JobState::kReported})
    for (const service::JobState to :
         {service::JobState::kQueued, service::JobState::kRunning, service::JobState::kFinished,
          service::JobState::kSuperseded, service::JobState::kCancelled, service::JobState::kFailed})
      EXPECT_FALSE(service::MayFollow(state, to)) << service::Name(state) << " " << service::Name(to);
}

}  // namespace
}  // namespace warpwright
