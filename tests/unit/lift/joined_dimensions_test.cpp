#include "lift/joined_dimensions.h"

#include <gtest/gtest.h>

#include "core/computation_text.h"
#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"

namespace warpwright::lift {
namespace {

using namespace testing;  // NOLINT: operators on positions

// y[i0,i1] = x[i0,i1] + b[high,low], of 4 * C elements in four rows.
std::string Joined(const core::Affine& high, const core::Affine& low) {
  StageBuilder y("y", {"M", "4 * C"});
  y.Output();
  y.Sum({y.Read("x", {V(0), V(1)}), y.Read("b", {high, low})});
  core::Computation form{.tensors = {Input("x", {"M", "4 * C"}), Input("b", {"4", "C"}), Output("y", {"M", "4 * C"})}};
  form.stages = {y.stage};
  return core::ComputationText(lift::WithJoinedDimensions(testing::Finished(std::move(form))));
}

TEST(JoinedDimensions, AreThoseOfWhichOneVariableTakesBothParts) {
  EXPECT_EQ(Joined(Quotient(1, "C"), Remainder(1, "C")), "y[i0,i1] = x[i0,i1] + b[i1]  for i0<M, i1<4*C\n");
  const char* const apart = "y[i0,i1] = x[i0,i1] + b[i1/4,i1%4]  for i0<M, i1<4*C\n";
  EXPECT_EQ(Joined(Quotient(1, "4"), Remainder(1, "4")), apart);  // of other rows
  EXPECT_EQ(Joined(At("1"), Remainder(1, "C")), "y[i0,i1] = x[i0,i1] + b[1,i1%C]  for i0<M, i1<4*C\n");
}

}  // namespace
}  // namespace warpwright::lift
