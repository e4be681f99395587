// Of which sizes a form is, by the shapes at which the entry was tried.
#include "lift/assumptions.h"

#include <gtest/gtest.h>

#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"

namespace warpwright::lift {
namespace {

using core::Sizes;
using testing::StageBuilder;
using testing::V;
using Texts = std::vector<std::string>;

core::Computation Copy() {
  StageBuilder y("y", {"N", "C"});
  y.Output();
  y.Read("x", {V(0), V(1)});
  core::Computation form{.tensors = {testing::Input("x", {"N", "C"}), testing::Output("y", {"N", "C"})}};
  form.stages = {y.stage};
  return testing::Finished(std::move(form));
}

struct Row {
  const char* name;
  std::vector<Sizes> made_from, right_at, silent;
  lift::Groups groups;
  Texts assumptions;
};

TEST(Assumptions, AreWhatTheShapesDoNotTell) {
  const Sizes a = {{"N", 3}, {"C", 8}}, b = {{"N", 5}, {"C", 12}}, c = {{"N", 3}, {"C", 10}};
  const Sizes d = {{"N", 2}, {"C", 8}}, e = {{"N", 4}, {"C", 16}}, f = {{"N", 5}, {"C", 15}};
  const Row rows[] = {
      {"nothing", {a, b}, {}, {}, {}, {}},
      {"one value", {a, c}, {}, {}, {}, {"N = 3"}},
      {"one value, and right at another", {a, c}, {b}, {}, {}, {}},
      {"equal sizes", {{{"N", 3}, {"C", 3}}, {{"N", 5}, {"C", 5}}}, {}, {}, {}, {"C = N"}},
      {"whole tiles, since it does nothing at others", {a, b}, {}, {f}, {}, {"C % 4 = 0"}},
      {"not of whole tiles, since it is right at others too", {a, b}, {c}, {f}, {}, {"C % 2 = 0"}},
      {"as many in each group", {d, e}, {}, {}, {{"C", "N"}}, {"C / N = 4", "C % N = 0"}},
      {"and right at another number of them", {d, e}, {f}, {}, {{"C", "N"}}, {"C % N = 0"}},
  };
  for (const Row& row : rows) {
    lift::Evidence evidence{.made_from = row.made_from, .right_at = row.right_at, .silent = row.silent};
    evidence.executed = row.made_from;
    EXPECT_EQ(lift::AssumptionsOf(Copy(), evidence, row.groups), row.assumptions) << row.name;
  }
}

TEST(Assumptions, AreWhatDividesAllThatCouldBeTried) {
  const std::vector<Sizes> all = {{{"N", 3}, {"C", 32}}, {{"N", 5}, {"C", 48}}};
  const lift::Evidence evidence{.made_from = all, .executed = all, .all = all};
  EXPECT_EQ(lift::AssumptionsOf(Copy(), evidence, {}), Texts{"C % 16 = 0"});
}

}  // namespace
}  // namespace warpwright::lift
