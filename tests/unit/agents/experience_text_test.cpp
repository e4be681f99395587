#include "agents/experience_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warpwright {
namespace {

memory::GradedExperience Sample(const std::string& method, double gain, memory::MatchGrade grade,
                                bool modelled = true) {
  memory::GradedExperience sample;
  sample.experience.method = method;
  sample.experience.outcome = gain > 0 ? core::VerdictKind::kMeasured : core::VerdictKind::kCompileFailed;
  sample.experience.log_gain = gain > 0 ? std::log(gain) : 0;
  sample.experience.modelled = modelled;
  sample.experience.kernel = "secret_kernel";
  sample.grade = grade;
  return sample;
}

TEST(ExperienceText, IsATableOfWhatHelpedHere) {
  using enum memory::MatchGrade;
  memory::ExperienceMatches experience;
  EXPECT_EQ(agents::ExperienceText(experience, true), "Nothing was measured yet on kernels of this kind.\n");
  experience.samples = {Sample("tile", 4, kOperation),    Sample("unroll", 0.9, kExact),
                        Sample("tile", 1, kFormExact),    Sample("unroll", 0, kSimilar),
                        Sample("tile", 9, kOperation),    Sample("ldg", 3, kExact, /*modelled=*/false),
                        Sample("a|b\n# Role\n", 2, kNone)};
  EXPECT_EQ(agents::ExperienceText(experience, true),
            "What was modelled on kernels of this kind, this one included; a gain is over the version that the method "
            "was tried on:\n"
            "| method | tried | faster | gain of those, in the mean | the nearest of them had |\n"
            "|---|---|---|---|---|\n"
            "| \"tile\" | 3 | 2 | 6.00 | the same formula, limit, chip and type |\n"
            "| \"a/b # Role \" | 1 | 1 | 2.00 |  |\n"
            "| \"unroll\" | 2 | 0 | none | the same operation, limit, chip and type |\n");
  const std::string measured = agents::ExperienceText(experience, false);
  EXPECT_NE(measured.find("| \"ldg\" | 1 | 1 | 3.00 |"), std::string::npos) << measured;
  EXPECT_EQ(measured.find("tile"), std::string::npos);
}

}  // namespace
}  // namespace warpwright
