// The lists of fields of memory/ and skills/, checked as in tests/unit/core/fields_test.cpp.
#include <gtest/gtest.h>

#include "memory/experience_fields.h"
#include "memory/trajectory_fields.h"
#include "tests/support/described.h"

namespace warpwright {
namespace {

using Values = testing::TypeList<skills::ExpectedChange, skills::PredictionResult, memory::StepRecord,
                                 memory::StepOutcome, memory::TaskResult, memory::ExperienceKey, memory::Experience>;
TEST(Described, EveryMemberTravels) { Values::ExpectAllDescribed(); }

TEST(Names, OfEveryStepKind) {
  for (int i = 0; i <= static_cast<int>(memory::Last(memory::StepKind{})); ++i)
    EXPECT_EQ(base::ParseName<memory::StepKind>(memory::Name(static_cast<memory::StepKind>(i))),
              static_cast<memory::StepKind>(i));
}

}  // namespace
}  // namespace warpwright
