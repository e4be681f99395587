// Shapes at which an entry is executed to be lifted.
#include "judge/lift_shapes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>

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

// A batch that the groups divide at the timed size alone: it would be as many as the groups at every shape.
TEST(LiftShapes, BatchesAreNoGroupsOfChannelsThatShapesWriteOut) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [N, G * C, H], role: in}\n"
      "      w: {buffer: f32, shape: [G * C, k], role: in}\n"
      "      y: {buffer: f32, shape: [N, G * C, H - k + 1], role: out}\n"
      "      N: {scalar: i32}\n      G: {scalar: i32}\n      C: {scalar: i32}\n      H: {scalar: i32}\n"
      "      k: {scalar: i32}\n";
  const auto shapes = MakeLiftShapes(Spec(arguments,
                                          "      - {N: 2, G: 2, C: 3, H: 9, k: 3}\n"
                                          "      - {N: 1, G: 3, C: 4, H: 8, k: 4}\n"
                                          "      - {N: 16, G: 4, C: 16, H: 4096, k: 3}\n"),
                                     9, 1 << 20);
  ASSERT_GE(shapes.size(), 3u);
  std::set<int64_t> batches;
  for (size_t i = 0; i < 3; ++i) batches.insert(std::get<int64_t>(shapes[i].scalars.at("N")));
  EXPECT_GE(batches.size(), 2u);
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
  std::set<int64_t> of_group;
  for (const core::LiftShape& shape : shapes) {
    const auto c = std::get<int64_t>(shape.scalars.at("c")), groups = std::get<int64_t>(shape.scalars.at("groups"));
    EXPECT_EQ(c % groups, 0);
    EXPECT_GT(c, groups) << "a group of one has another form";
    of_group.insert(c / groups);
  }
  EXPECT_GE(of_group.size(), 2u);
}

TEST(LiftShapes, WhatCasesDivideIsToldWithoutThem) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [n, c], role: in}\n"
      "      y: {buffer: f32, shape: [n, c], role: out}\n"
      "      n: {scalar: i32}\n"
      "      c: {scalar: i32}\n"
      "      g: {scalar: i32}\n";
  const auto divided = [&](const std::string& cases) {
    std::vector<std::string> texts;
    for (const core::DividedSize& size : MakeLiftRequest({}, Spec(arguments, cases), "sim:h200").divided)
      texts.push_back(size.size + "/" + size.groups);
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(divided("      - {n: 5, c: 6, g: 3}\n      - {n: 7, c: 8, g: 2}\n"), (Texts{"c/g"}));
  EXPECT_EQ(divided("      - {n: 5, c: 6, g: 3}\n"), Texts{}) << "in one case alone";
  EXPECT_EQ(divided("      - {n: 5, c: 6, g: 3}\n      - {n: 7, c: 8, g: 3}\n"), Texts{}) << "it does not divide";
  EXPECT_EQ(divided("      - {n: 5, c: 6, g: 6}\n      - {n: 7, c: 8, g: 8}\n"), Texts{}) << "groups of one";
  EXPECT_EQ(divided("      - {n: 5, c: 6, g: 3}\n      - {n: 7, c: 8, g: 1}\n"), Texts{}) << "one group";
}

TEST(LiftShapes, AStrideDividesChannelsByChance) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [n, c, h], role: in}\n"
      "      w: {buffer: f32, shape: [c, 3], role: in}\n"
      "      y: {buffer: f32, shape: [n, c, \"(h - 1) / stride + 1\"], role: out}\n"
      "      n: {scalar: i32}\n"
      "      c: {scalar: i32}\n"
      "      h: {scalar: i32}\n"
      "      stride: {scalar: i32}\n";
  const core::KernelSpec spec =
      Spec(arguments, "      - {n: 5, c: 4, h: 9, stride: 2}\n      - {n: 7, c: 6, h: 10, stride: 3}\n");
  EXPECT_TRUE(MakeLiftRequest({}, spec, "sim:h200").divided.empty());
}

// Where a batch of one is the smallest case, one stride more is told apart at a larger batch.
TEST(LiftShapes, StridesAreToldApartWhereNoExtentIsOne) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [n, h, w], role: in}\n"
      "      y: {buffer: f32, shape: [n, (h - 3) / sh + 1, (w - 5) / sw + 1], role: out}\n"
      "      n: {scalar: i32}\n"
      "      h: {scalar: i32}\n"
      "      w: {scalar: i32}\n"
      "      sh: {scalar: i32}\n"
      "      sw: {scalar: i32}\n";
  const auto shapes = MakeLiftShapes(
      Spec(arguments, "      - {n: 1, h: 9, w: 11, sh: 1, sw: 1}\n      - {n: 3, h: 14, w: 17, sh: 1, sw: 1}\n"), 9,
      1 << 20);
  size_t apart = 0;
  for (const core::LiftShape& shape : shapes) {
    if (shape.scalars.at("sh") == shape.scalars.at("sw")) continue;
    ++apart;
    EXPECT_GT(std::get<int64_t>(shape.scalars.at("n")), 1);
  }
  EXPECT_GE(apart, 1u);
}

// A launcher of patches has no block for a part of one.
TEST(LiftShapes, WhatIsWholePatchesInEveryCaseIsSomeEverywhere) {
  const std::string arguments =
      "      x: {buffer: f32, shape: [b, h, w], role: in}\n"
      "      y: {buffer: f32, shape: [b, (h / 16) * (w / 16) + 1], role: out}\n"
      "      b: {scalar: i32}\n"
      "      h: {scalar: i32}\n"
      "      w: {scalar: i32}\n";
  const auto shapes = MakeLiftShapes(
      Spec(arguments, "      - {b: 2, h: 32, w: 48}\n      - {b: 1, h: 64, w: 32}\n      - {b: 16, h: 224, w: 224}\n"),
      9, 1 << 20);
  std::set<int64_t> heights, widths;
  for (const core::LiftShape& shape : shapes) {
    heights.insert(std::get<int64_t>(shape.scalars.at("h")));
    widths.insert(std::get<int64_t>(shape.scalars.at("w")));
  }
  for (const auto* sizes : {&heights, &widths}) {
    EXPECT_GE(sizes->size(), 3u);
    for (const int64_t size : *sizes) EXPECT_TRUE(size % 16 == 0 && size >= 32) << size;
  }
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

const char* const kConvolution =
    "      x: {buffer: f16, shape: [n, c, h], role: in}\n"
    "      w: {buffer: f16, shape: [k, c, taps], role: in}\n"
    "      y: {buffer: f16, shape: [n, k, (h + 2 * pad - dil * (taps - 1) - 1) / stride + 1], role: out}\n"
    "      n: {scalar: i32}\n      c: {scalar: i32}\n      h: {scalar: i32}\n      k: {scalar: i32}\n"
    "      taps: {scalar: i32}\n      stride: {scalar: i32}\n      pad: {scalar: i32}\n      dil: {scalar: i32}\n";

// Where stride and dilation have a factor in common, a transposed convolution leaves positions out: another form.
TEST(LiftShapes, StridesAndDilationsHaveNoFactorInCommonWhereTheyHaveNoneInTheCases) {
  const auto shapes = MakeLiftShapes(
      Spec("      x: {buffer: f16, shape: [n, c, h], role: in}\n"
           "      w: {buffer: f16, shape: [c, k, taps], role: in}\n"
           "      y: {buffer: f16, shape: [n, k, (h - 1) * stride - 2 * pad + dil * (taps - 1) + 1], role: out}\n"
           "      n: {scalar: i32}\n      c: {scalar: i32}\n      h: {scalar: i32}\n      k: {scalar: i32}\n"
           "      taps: {scalar: i32}\n      stride: {scalar: i32}\n      pad: {scalar: i32}\n      dil: {scalar: "
           "i32}\n",
           "      - {n: 16, c: 32, h: 32768, k: 64, taps: 5, stride: 2, pad: 1, dil: 3}\n"
           "      - {n: 2, c: 5, h: 61, k: 7, taps: 5, stride: 2, pad: 1, dil: 3, on: [sim]}\n"),
      12, 1 << 20);
  std::set<int64_t> strides, dilations;
  for (const core::LiftShape& shape : shapes) {
    const int64_t stride = std::get<int64_t>(shape.scalars.at("stride")),
                  dil = std::get<int64_t>(shape.scalars.at("dil"));
    strides.insert(stride), dilations.insert(dil);
    EXPECT_EQ(std::gcd(stride, dil), 1) << stride << ", " << dil;
  }
  EXPECT_GE(strides.size(), 2u);
  EXPECT_GE(dilations.size(), 2u);
}

// Where no form holds for all strides and taps, those that a GPU's time is for are what kernels are written for.
TEST(LiftShapes, ThoseWithTheTimedCasesWindowComeFirst) {
  const auto shapes =
      MakeLiftShapes(Spec(kConvolution,
                          "      - {n: 8, c: 32, h: 128, k: 64, taps: 3, stride: 2, pad: 1, dil: 3}\n"
                          "      - {n: 2, c: 3, h: 17, k: 5, taps: 4, stride: 1, pad: 1, dil: 2, on: [sim]}\n"
                          "      - {n: 3, c: 4, h: 14, k: 7, taps: 2, stride: 2, pad: 3, dil: 1, on: [sim]}\n"),
                     9, 1 << 20);
  ASSERT_GE(shapes.size(), 8u);
  std::set<int64_t> batches, channels, extents;
  for (size_t k = 0; k < 4; ++k) {
    const auto size = [&](const char* name) { return std::get<int64_t>(shapes[k].scalars.at(name)); };
    EXPECT_EQ(std::vector({size("taps"), size("stride"), size("pad"), size("dil")}),
              (std::vector<int64_t>{3, 2, 1, 3}));
    EXPECT_GE(size("h"), 8) << "some windows reach neither end";
    batches.insert(size("n")), channels.insert(size("c")), extents.insert(size("h"));
  }
  EXPECT_GE(batches.size(), 3u);
  EXPECT_GE(channels.size(), 3u);
  EXPECT_GE(extents.size(), 3u);
}

// Of three small numbers many a formula is right.
TEST(LiftShapes, WhatAgreesByChanceDoesNotFollow) {
  const auto shapes =
      MakeLiftShapes(Spec(kConvolution,
                          "      - {n: 8, c: 32, h: 128, k: 64, taps: 3, stride: 1, pad: 2, dil: 2}\n"
                          "      - {n: 2, c: 3, h: 17, k: 5, taps: 4, stride: 1, pad: 1, dil: 2, on: [sim]}\n"
                          "      - {n: 3, c: 4, h: 14, k: 7, taps: 2, stride: 2, pad: 1, dil: 1, on: [sim]}\n"),
                     9, 1 << 20);
  for (const core::LiftShape& shape : shapes)
    for (const char* name : {"taps", "stride", "dil"}) EXPECT_GE(std::get<int64_t>(shape.scalars.at(name)), 1) << name;
}

// What launchers take beside the sizes that it follows from: else they read outside their inputs.
TEST(LiftShapes, ExtentsThatWindowsLeaveFollow) {
  struct Row {
    const char *buffers, *scalars, *cases;
    std::function<int64_t(const std::map<std::string, int64_t>&)> extent;
  };
  const Row rows[] = {
      {"      x: {buffer: f32, shape: [c, l_in], role: in}\n      w: {buffer: f32, shape: [m, c, k], role: in}\n"
       "      y: {buffer: f32, shape: [m, l_out], role: out}\n",
       "c l_in m l_out k stride dilation",
       "      - {c: 8, l_in: 260, m: 16, l_out: 129, k: 3, stride: 2, dilation: 1}\n"
       "      - {c: 5, l_in: 101, m: 7, l_out: 31, k: 4, stride: 3, dilation: 3}\n",
       [](const auto& s) { return (s.at("l_in") - s.at("dilation") * (s.at("k") - 1) - 1) / s.at("stride") + 1; }},
      {"      x: {buffer: f32, shape: [n * l_in], role: in}\n      y: {buffer: f32, shape: [n * l_out], role: out}\n",
       "l_out n l_in size step pad",
       "      - {l_out: 20, n: 3, l_in: 40, size: 3, step: 2, pad: 1}\n"
       "      - {l_out: 83, n: 5, l_in: 85, size: 5, step: 1, pad: 1}\n",
       [](const auto& s) { return (s.at("l_in") + 2 * s.at("pad") - s.at("size")) / s.at("step") + 1; }},
      {"      x: {buffer: f32, shape: [c, l_in], role: in}\n      w: {buffer: f32, shape: [c, k], role: in}\n"
       "      y: {buffer: f32, shape: [c, l_out], role: out}\n",
       "c l_in l_out k stride pad more",
       "      - {c: 8, l_in: 20, l_out: 42, k: 5, stride: 2, pad: 1, more: 1}\n"
       "      - {c: 5, l_in: 31, l_out: 90, k: 4, stride: 3, pad: 2, more: 0}\n",
       [](const auto& s) {
         return (s.at("l_in") - 1) * s.at("stride") - 2 * s.at("pad") + s.at("k") - 1 + s.at("more") + 1;
       }}};
  for (const Row& row : rows) {
    std::string arguments = row.buffers;
    std::istringstream names(row.scalars);
    for (std::string name; names >> name;) arguments += "      " + name + ": {scalar: i32}\n";
    const auto shapes = MakeLiftShapes(Spec(arguments, row.cases), 9, 1 << 20);
    EXPECT_GE(SizesOf(shapes).size(), 6u) << row.scalars;
    for (const core::LiftShape& shape : shapes) {
      std::map<std::string, int64_t> sizes;
      for (const auto& [name, value] : shape.scalars) sizes[name] = std::get<int64_t>(value);
      std::string at;
      for (const auto& [name, value] : sizes) at += fmt::format(" {}={}", name, value);
      EXPECT_EQ(sizes.at("l_out"), row.extent(sizes)) << at;
      EXPECT_GT(sizes.at("l_out"), 0) << at;
    }
  }
}

}  // namespace
}  // namespace warpwright::judge
