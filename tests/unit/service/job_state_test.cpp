#include "service/job_state.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/fields.h"

namespace warpwright {
namespace {

std::vector<service::JobState> AllStates() {
  std::vector<service::JobState> states;
  for (int i = 0; i <= static_cast<int>(Last(service::JobState{})); ++i)
    states.push_back(static_cast<service::JobState>(i));
  return states;
}

TEST(JobState, NamesAreReadBackAndDiffer) {
  std::set<std::string_view> names;
  for (const service::JobState state : AllStates()) {
    EXPECT_EQ(base::ParseName<service::JobState>(service::Name(state)), state);
    EXPECT_TRUE(names.insert(service::Name(state)).second);
  }
  EXPECT_FALSE(base::ParseName<service::JobState>("asleep"));
  for (const service::JobKind kind : {service::JobKind::kOptimize, service::JobKind::kNightly})
    EXPECT_EQ(base::ParseName<service::JobKind>(service::Name(kind)), kind);
  EXPECT_EQ(AllStates().size(), 11u);
}

TEST(JobState, EveryJobCanStillEnd) {
  for (const service::JobState from : AllStates()) {
    std::set<service::JobState> reached = {from};
    for (size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const service::JobState to : AllStates())
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
