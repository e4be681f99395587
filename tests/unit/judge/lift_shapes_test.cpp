// Shapes at which an entry is executed to be lifted.
#include "judge/lift_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "config/manifest.h"

namespace warpwright::judge {
namespace {

core::KernelSpec Spec(const std::string& arguments, const std::string& cases) {
  auto manifest = config::ParseManifest("version: 1\nkernels:\n  - name: k\n    file: k.cu\n    entry: k\n    args:\n" +
                                            arguments + "    cases:\n" + cases,
                                        "test");
  EXPECT_TRUE(manifest) << (manifest ? "" : manifest.error().Format());
  return manifest->kernels[0];
}

std::set<std::vector<int64_t>> SizesOf(const std::vector<core::LiftShape>& shapes) {
  std::set<std::vector<int64_t>> sizes;
  for (const core::LiftShape& shape : shapes) {
    std::vector<int64_t> values;
    for (const auto& [name, value] : shape.scalars)
      if (const int64_t* integer = std::get_if<int64_t>(&value)) values.push_back(*integer);
    sizes.insert(values);
  }
  return sizes;
}

const char* const kTwoDimensions =
    "      x: {buffer: f32, shape: [n, c], role: in}\n"
    "      y: {buffer: f32, shape: [n, c], role: out}\n"
    "      n: {scalar: i32}\n"
    "      c: {scalar: i32}\n"
    "      eps: {scalar: f32, value: 0.5}\n";

TEST(LiftShapes, SmallCasesComeFirst) {
  const auto shapes =
      MakeLiftShapes(Spec(kTwoDimensions, "      - {n: 4096, c: 1024}\n      - {n: 7, c: 33}\n"), 9, 1 << 20);
  ASSERT_GE(shapes.size(), 4u);
  EXPECT_EQ(std::get<int64_t>(shapes[0].scalars.at("n")), 7);
  EXPECT_EQ(std::get<int64_t>(shapes[0].scalars.at("c")), 33);
}

TEST(LiftShapes, TwoCasesOfSmallSizesAreEnoughForSix) {
  const auto shapes = MakeLiftShapes(Spec(kTwoDimensions, "      - {n: 2, c: 5}\n      - {n: 3, c: 7}\n"), 9, 1 << 20);
  EXPECT_GE(SizesOf(shapes).size(), 6u);
  // That c is n + 2 + (n - 2) in two cases is a coincidence: sizes vary apart.
  std::set<int64_t> differences;
  for (const core::LiftShape& shape : shapes)
    differences.insert(std::get<int64_t>(shape.scalars.at("c")) - std::get<int64_t>(shape.scalars.at("n")));
  EXPECT_GE(differences.size(), 3u);
}

TEST(LiftShapes, StridesAndPaddingsThatAreEqualInEveryCaseAreToldApartEarly) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [h], role: in}\n"
      "      y: {buffer: f32, shape: [(h + 2 * pad - 3) / stride + 1], role: out}\n"
      "      h: {scalar: i32}\n"
      "      stride: {scalar: i32}\n"
      "      pad: {scalar: i32}\n";
  const auto shapes = MakeLiftShapes(
      Spec(arguments, "      - {h: 9, stride: 1, pad: 1}\n      - {h: 14, stride: 2, pad: 2}\n"), 9, 1 << 20);
  const auto differ = [](const core::LiftShape& s) { return s.scalars.at("stride") != s.scalars.at("pad"); };
  ASSERT_GE(shapes.size(), 3u);
  EXPECT_TRUE(std::any_of(shapes.begin(), shapes.begin() + 3, differ));
}

TEST(LiftShapes, SizesThatAgreeInOneCaseAloneVaryApart) {
  const auto shapes = MakeLiftShapes(Spec(kTwoDimensions, "      - {n: 5, c: 5}\n      - {n: 1, c: 7}\n"), 9, 1 << 20);
  size_t equal = 0, single = 0;
  for (const core::LiftShape& shape : shapes) {
    equal += shape.scalars.at("n") == shape.scalars.at("c") ? 1 : 0;
    single += std::get<int64_t>(shape.scalars.at("n")) == 1 ? 1 : 0;
  }
  EXPECT_EQ(equal, 1u) << "the case itself";
  EXPECT_EQ(single, 1u) << "the case itself: an extent of one says little";
}

TEST(LiftShapes, MultiplesInEveryCaseAreMultiplesEverywhere) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [n, c], role: in}\n"
      "      y: {buffer: f32, shape: [n, groups], role: out}\n"
      "      n: {scalar: i32}\n"
      "      c: {scalar: i32}\n"
      "      groups: {scalar: i32}\n";
  const auto shapes = MakeLiftShapes(
      Spec(arguments, "      - {n: 3, c: 12, groups: 4}\n      - {n: 4, c: 10, groups: 5}\n"), 9, 1 << 20);
  EXPECT_GE(shapes.size(), 5u);
  for (const core::LiftShape& shape : shapes)
    EXPECT_EQ(std::get<int64_t>(shape.scalars.at("c")) % std::get<int64_t>(shape.scalars.at("groups")), 0);
}

TEST(LiftShapes, PaddingsWhoseSumIsTheSameInAllCasesAreToldApart) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [c, h], role: in}\n"
      "      y: {buffer: f32, shape: [c, h + before + after], role: out}\n"
      "      c: {scalar: i32}\n"
      "      h: {scalar: i32}\n"
      "      before: {scalar: i32}\n"
      "      after: {scalar: i32}\n";
  const auto shapes = MakeLiftShapes(
      Spec(arguments, "      - {c: 2, h: 9, before: 1, after: 2}\n      - {c: 3, h: 14, before: 2, after: 1}\n"), 9,
      1 << 20);
  ASSERT_GE(shapes.size(), 4u);
  std::set<int64_t> sums;
  for (size_t k = 0; k < 4; ++k)
    sums.insert(std::get<int64_t>(shapes[k].scalars.at("before")) + std::get<int64_t>(shapes[k].scalars.at("after")));
  EXPECT_GE(sums.size(), 2u);
}

TEST(LiftShapes, WhatFollowsFromOtherSizesInAllCasesFollowsEverywhere) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [n, c], role: in}\n"
      "      y: {buffer: f32, shape: [half], role: out}\n"
      "      n: {scalar: i32}\n"
      "      c: {scalar: i32}\n"
      "      half: {scalar: i32}\n";
  const auto shapes = MakeLiftShapes(
      Spec(arguments,
           "      - {n: 6, c: 40, half: 20}\n      - {n: 9, c: 24, half: 12}\n      - {n: 5, c: 64, half: 32}\n"),
      9, 1 << 20);
  ASSERT_GE(shapes.size(), 4u);
  for (const core::LiftShape& shape : shapes)
    EXPECT_EQ(std::get<int64_t>(shape.scalars.at("half")), std::get<int64_t>(shape.scalars.at("c")) / 2);
}

TEST(LiftShapes, RealScalarsAreUnusualAndDiffer) {
  const auto shapes = MakeLiftShapes(Spec(kTwoDimensions, "      - {n: 20, c: 33}\n"), 9, 1 << 20);
  std::set<double> values;
  for (const core::LiftShape& shape : shapes) values.insert(std::get<double>(shape.scalars.at("eps")));
  EXPECT_EQ(values.size(), shapes.size());
  EXPECT_FALSE(values.contains(0.5));
}

TEST(LiftShapes, SizesThatAreCompiledInGetOtherData) {
  const auto shapes = MakeLiftShapes(Spec("      x: {buffer: f32, shape: [8], role: in}\n"
                                          "      y: {buffer: f32, shape: [8], role: out}\n",
                                          "      - {name: only}\n"),
                                     9, 1 << 20);
  ASSERT_GE(shapes.size(), 2u);
  const auto bytes = [&](size_t k) { return shapes[k].buffers[0].bytes; };
  EXPECT_FALSE(std::equal(bytes(0).begin(), bytes(0).end(), bytes(1).begin()));
}

TEST(LiftShapes, NoneIsLargerThanTheLimit) {
  for (const core::LiftShape& shape :
       MakeLiftShapes(Spec(kTwoDimensions, "      - {n: 4096, c: 4096}\n"), 9, 1 << 16)) {
    size_t bytes = 0;
    for (const core::BufferContent& buffer : shape.buffers) bytes += buffer.bytes.size();
    EXPECT_LE(bytes, size_t{1} << 16);
  }
}

TEST(LiftShapes, SomeDivideAsEveryCaseDoesAndSomeTellEqualSizesApart) {
  const auto shapes =
      MakeLiftShapes(Spec(kTwoDimensions, "      - {n: 20, c: 20}\n      - {n: 12, c: 12}\n"), 9, 1 << 20);
  const auto size = [](const core::LiftShape& shape, const char* name) {
    return std::get<int64_t>(shape.scalars.at(name));
  };
  std::set<int64_t> even, apart;
  for (const core::LiftShape& shape : shapes) {
    EXPECT_EQ(shape.even, size(shape, "n") % 4 == 0 && size(shape, "c") % 4 == 0);
    EXPECT_EQ(shape.apart, size(shape, "n") != size(shape, "c"));
    if (shape.even && !shape.apart) even.insert(size(shape, "n"));
    EXPECT_TRUE(shape.even || !shape.apart);
    if (shape.apart) apart.insert(size(shape, "c") - size(shape, "n"));
  }
  EXPECT_GE(even.size(), 4u);
  EXPECT_EQ(apart.size(), 1u);
}

}  // namespace
}  // namespace warpwright::judge
