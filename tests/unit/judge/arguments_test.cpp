// Arguments that are no sizes, with other values than callers declare.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <utility>

#include "config/manifest.h"
#include "judge/shapes.h"

namespace warpwright {
namespace {

core::KernelSpec Spec(const std::string& args, const std::string& cases) {
  auto manifest =
      config::ParseManifest("version: 1\nkernels:\n  - name: k\n    file: k.cu\n    entry: k\n    args: " + args +
                                "\n    cases: " + cases + "\n",
                            "test");
  EXPECT_TRUE(manifest) << (manifest ? "" : manifest.error().Format());
  return manifest->kernels[0];
}

// Steps, a flag and a seed; heads divide what they are of.
TEST(Shapes, IntegersThatAreNoSizesVary) {
  const struct {
    const char* args;
    const char* cases;
    std::set<std::pair<std::string, int64_t>> others;
  } rows[] = {
      {"{x: {buffer: f32, shape: [n], role: inout}, n: {scalar: i32}, steps: {scalar: i32}}",
       "[{name: a, n: 35, steps: 2}, {name: b, n: 64, steps: 2}]",
       {{"steps", -1}, {"steps", 1}, {"steps", 3}, {"steps", 5}}},
      {"{x: {buffer: f32, shape: [n], role: inout}, n: {scalar: i32}, causal: {scalar: i32}}",
       "[{name: a, n: 35, causal: 0}, {name: b, n: 64, causal: 1}]",
       {{"causal", -1}, {"causal", 1}, {"causal", 2}, {"causal", 5}}},
      {"{x: {buffer: f32, shape: [n], role: inout}, n: {scalar: i32}, mean: {scalar: bool}}",
       "[{name: a, n: 35, mean: 0}, {name: b, n: 64, mean: 1}]",
       {{"mean", 1}}},
      {"{x: {buffer: f32, shape: [n], role: inout}, n: {scalar: i32}, heads: {scalar: i32}}",
       "[{name: a, n: 36, heads: 4}, {name: b, n: 64, heads: 8}]",
       {{"heads", 1}}},
      {"{x: {buffer: f32, shape: [n], role: inout}, n: {scalar: i32}, seed: {scalar: i64}}",
       "[{name: a, n: 36, seed: 7}]",
       {{"seed", -1}, {"seed", 1}, {"seed", 8}, {"seed", 15}, {"seed", 7 + (int64_t{5} << 32)}}},
  };
  for (const auto& row : rows) {
    const core::KernelSpec spec = Spec(row.args, row.cases);
    std::set<std::pair<std::string, int64_t>> others;
    for (const core::Case& other : judge::OtherIntegers(spec, spec.cases[0]))
      for (const auto& [name, value] : other.scalars)
        if (value != spec.cases[0].scalars.at(name)) others.insert({name, std::get<int64_t>(value)});
    EXPECT_EQ(others, row.others) << row.args;
  }
}

TEST(Shapes, TwoFlagsAreToggledTogether) {
  const core::KernelSpec spec = Spec(
      "{x: {buffer: f32, shape: [n], role: inout}, n: {scalar: i32}, ta: {scalar: i32}, tb: {scalar: i32}, "
      "steps: {scalar: i32}}",
      "[{name: a, n: 35, ta: 0, tb: 1, steps: 7}]");
  size_t both = 0;
  for (const core::Case& other : judge::OtherIntegers(spec, spec.cases[0])) {
    const auto value = [&](const char* name) { return std::get<int64_t>(other.scalars.at(name)); };
    EXPECT_LE((value("ta") != 0) + (value("tb") != 1) + (value("steps") != 7), 2);
    if (value("ta") == 0 || value("tb") == 1) continue;
    ++both;
    EXPECT_EQ(value("ta"), 1);
    EXPECT_EQ(value("tb"), 0);
    EXPECT_EQ(other.name, "a, with tb=0, with ta=1");
  }
  EXPECT_EQ(both, 1u);
}

TEST(Shapes, EachOfSeveralScalarsIsZeroAlone) {
  const core::KernelSpec spec =
      Spec("{x: {buffer: f32, shape: [n], role: inout}, n: {scalar: i32}, cap: {scalar: f32}, scale: {scalar: f32}}",
           "[{name: a, n: 35, cap: 30.0, scale: 0.5}]");
  std::set<std::pair<double, double>> with_zero;
  for (const core::Case& other : judge::OtherScalars(spec, spec.cases[0], 1)) {
    const std::pair values(std::get<double>(other.scalars.at("cap")), std::get<double>(other.scalars.at("scale")));
    if (values.first == 0 || values.second == 0) with_zero.insert(values);
  }
  EXPECT_EQ(with_zero, (std::set<std::pair<double, double>>{{0, 0}, {0, 0.5}, {30, 0}}));
}

TEST(Shapes, AScalarMayBeInfinite) {
  const core::KernelSpec spec = Spec("{x: {buffer: f32, shape: [n], role: inout}, n: {scalar: i32}, p: {scalar: f32}}",
                                     "[{name: a, n: 35, p: 2.0}]");
  const auto others = judge::WithInfiniteScalars(spec, spec.cases[0]);
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].name, "a, with p=inf");
  EXPECT_EQ(std::get<double>(others[0].scalars.at("p")), std::numeric_limits<double>::infinity());
}

// Counters of sixteen bits overflow at as many equal numbers, whatever type these have; where each number has an
// integer of its own nothing is counted.
TEST(Shapes, WhatIsCountedIsManyNumbers) {
  const struct {
    const char* args;
    std::set<std::string> counted;
  } rows[] = {
      {"{bins: {buffer: i32, shape: [K], role: out}, x: {buffer: f32, shape: [n], role: in}, n: {scalar: i32}, "
       "K: {scalar: i32}}",
       {"n"}},
      {"{codes: {buffer: i8, shape: [n], role: out}, x: {buffer: f32, shape: [n], role: in}, n: {scalar: i32}, "
       "K: {scalar: i32}}",
       {}},
      {"{y: {buffer: f32, shape: [K], role: out}, x: {buffer: f32, shape: [n], role: in}, n: {scalar: i32}, "
       "K: {scalar: i32}}",
       {}},
  };
  for (const auto& row : rows) {
    const core::KernelSpec spec = Spec(row.args, "[{name: a, n: 4099, K: 64}]");
    std::set<std::string> counted;
    for (const core::Case& shape : judge::CountedShapes(spec, spec.cases[0], [](const core::Case&) { return true; }))
      for (const auto& [name, value] : shape.scalars)
        if (std::get<int64_t>(value) > 65'536) counted.insert(name);
    EXPECT_EQ(counted, row.counted) << row.args;
  }
}

}  // namespace
}  // namespace warpwright
