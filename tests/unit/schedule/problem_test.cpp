// Groups, hazards and flat offsets.
#include "schedule/problem.h"

#include <gtest/gtest.h>

#include "tests/support/computation_builder.h"

namespace warpwright {
namespace {

using testing::At;
using testing::S;
using testing::Sizes;
using testing::V;
using namespace testing;  // NOLINT: operators on positions

core::Stage Copy(const std::string& from, bool stage, const std::string& to, bool output) {
  core::Stage result;
  result.name = to;
  result.output = output;
  result.extents = Sizes({"n"});
  result.nodes.push_back(core::TensorRead{from, stage, {V(0)}});
  return result;
}

core::Computation Chain(std::vector<core::Stage> stages) {
  core::Computation form;
  for (const char* name : {"x", "y", "z"})
    form.tensors.push_back(
        {.name = name, .dtype = core::DType::kF32, .shape = Sizes({"n"}), .read = true, .written = true});
  form.sizes = {"n"};
  form.stages = std::move(stages);
  return form;
}

TEST(Groups, FollowTensorsThatHaveNoMemory) {
  const auto form = Chain({Copy("x", false, "t0", false), Copy("t0", true, "y", true), Copy("x", false, "z", true)});
  using schedule::Joining;
  EXPECT_EQ(schedule::GroupsOf(form, Joining::kNeeded).size(), 2u);
  EXPECT_EQ(schedule::GroupsOf(form, Joining::kParts).size(), 2u);
  const auto joined = schedule::GroupsOf(form, Joining::kShapes);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].stages, (std::vector<size_t>{0, 1, 2}));
}

TEST(Groups, ALaterOneMustNotNeedWhatAnEarlierOneOverwrites) {
  const auto safe = Chain({Copy("y", false, "z", true), Copy("x", false, "y", true)});
  const auto late = Chain({Copy("x", false, "y", true), Copy("y", false, "z", true)});
  using schedule::Joining;
  EXPECT_FALSE(schedule::FindHazard(safe, schedule::GroupsOf(safe, Joining::kNeeded)));
  EXPECT_TRUE(schedule::FindHazard(late, schedule::GroupsOf(late, Joining::kNeeded)));
}

TEST(Offsets, AreSumsOverVariables) {
  const auto offset =
      schedule::FlatOffsetOf(Sizes({"N", "C", "H"}), std::vector<core::Affine>{V(0), V(2), V(1) + At("1")});
  ASSERT_TRUE(offset);
  EXPECT_TRUE(schedule::Equal(offset->coefficients.at(0), S("C * H")));
  EXPECT_TRUE(schedule::Equal(offset->coefficients.at(1), S("1")));
  EXPECT_TRUE(schedule::Equal(offset->coefficients.at(2), S("H")));
  EXPECT_TRUE(schedule::Equal(offset->constant, S("1")));
  EXPECT_FALSE(schedule::FlatOffsetOf(Sizes({"N", "C"}), std::vector<core::Affine>{V(0), Remainder(1, "2")}));
}

}  // namespace
}  // namespace warpwright
