#include "lift/window_sums.h"

#include <gtest/gtest.h>

#include "core/computation_text.h"
#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"

namespace warpwright::lift {
namespace {

using core::ReduceOp;
using namespace testing;  // NOLINT: operators on positions

// y[i0] = sum_{r0<L} x[r0] * w[position], with r0 as variable 1.
core::Computation OverInput(const core::Affine& position, const std::string& low = "0") {
  StageBuilder y("y", {"M"});
  y.Output();
  y.Reduce(ReduceOp::kSum, {{1, "L"}}, y.Product({y.Read("x", {V(1)}), y.Read("w", {position})}),
           {Within(position, low, "K")});
  core::Computation form{.tensors = {Input("x", {"L"}), Input("w", {"K"}), Output("y", {"M"})}};
  form.stages = {y.stage};
  return testing::Finished(std::move(form));
}

TEST(WindowSums, RunOverTheWindowWhereItIsShorter) {
  struct Row {
    const char* name;
    core::Affine position;
    core::SizeValues sizes;
    const char* text;
  };
  const core::SizeValues usual = {{"L", 33}, {"K", 5}, {"M", 70}, {"s", 2}, {"p", 1}};
  const core::Affine moved = V(0) - V(1), strided = V(0) + At("p") - V(1) * "s";
  const char* const over_input = "y[i0] = sum_{r0<L where 0 <= i0-r0 < K} x[r0] * w[i0-r0]  for i0<M\n";
  const Row rows[] = {
      {"moved", moved, usual, "y[i0] = sum_{r0<K where 0 <= i0-r0 < L} x[i0-r0] * w[r0]  for i0<M\n"},
      {"strided", strided, usual,
       "y[i0] = sum_{r0<K where (i0-r0+p) % s == 0, 0 <= (i0-r0+p)/s < L} x[(i0-r0+p)/s] * w[r0]  for i0<M\n"},
      {"dilated", strided / "3", usual,
       "y[i0] = sum_{r0<K where (i0-3*r0+p) % s == 0, 0 <= (i0-3*r0+p)/s < L} x[(i0-3*r0+p)/s] * w[r0]  for i0<M\n"},
      {"a window of all", moved, {{"L", 3}, {"K", 5}, {"M", 70}}, over_input},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const core::Computation over = lift::WithSumsOverWindows(OverInput(row.position), {row.sizes});
    EXPECT_TRUE(core::Validate(over));
    EXPECT_EQ(core::ComputationText(over), row.text);
  }
}

TEST(WindowSums, StayWhereTheWindowIsNone) {
  const core::SizeValues sizes = {{"L", 33}, {"K", 5}, {"M", 70}, {"s", 2}, {"p", 1}};
  for (const core::Computation& form :
       {OverInput(V(0) - V(1), "1"), OverInput(V(0) - V(1) * "s - p"), OverInput(V(0) - Quotient(1, "2"))})
    EXPECT_EQ(lift::WithSumsOverWindows(form, {sizes}), form);
}

}  // namespace
}  // namespace warpwright::lift
