#include "lift/whole_groups.h"

#include <gtest/gtest.h>

#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"

namespace warpwright::lift {
namespace {

using core::ReduceOp;
using testing::Quotient;
using testing::StageBuilder;
using testing::V;
using namespace testing;  // NOLINT: operators on positions

// y[m, n] = x[m, n] minus the sum over the group of `group` neighbours of which n is one.
core::Computation OfGroups(const std::string& columns, const std::string& group) {
  StageBuilder t0("t0", {"M", "G"}), y("y", {"M", columns});
  t0.Reduce(ReduceOp::kSum, {{2, group}}, t0.Read("x", {V(0), V(1) * group + V(2)}));
  y.Output();
  y.Subtract({y.Read("x", {V(0), V(1)}), y.ReadStage("t0", {V(0), Quotient(1, group)})});
  core::Computation form{.tensors = {Input("x", {"M", columns}), Output("y", {"M", columns})}};
  form.stages = {t0.stage, y.stage};
  return testing::Finished(std::move(form));
}

TEST(WholeGroups, AreAssumedWhereEveryColumnHasOne) {
  struct Row {
    const char *columns, *group;
    std::vector<std::string> assumptions;
  };
  const Row rows[] = {
      {"N", "N / G", {"N % G = 0"}},
      {"N * H", "N / G * H", {"N % G = 0"}},
      {"N", "4", {}},
      {"G * H", "H", {}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(lift::WholeGroups(OfGroups(row.columns, row.group)), row.assumptions) << row.columns << ", " << row.group;
}

}  // namespace
}  // namespace warpwright::lift
