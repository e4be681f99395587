#include "judge/form_truth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/evaluation_lanes.h"
#include "judge/inputs.h"
#include "judge/mutants.h"
#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"
#include "tests/support/kernel_pairs.h"
#include "tests/unit/judge/judge_bench.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

using judge::FormTruth;

// out[N] = the sums of the rows of in[N, C], but for the last `lost` terms.
core::Computation RowSums(int lost = 0) {
  testing::StageBuilder out("out", {"N"});
  out.Output().Reduce(core::ReduceOp::kSum, {{1, "C-" + std::to_string(lost)}},
                      out.Read("in", {testing::V(0), testing::V(1)}));
  core::Computation form{.tensors = {testing::Input("in", {"N", "C"}), testing::Output("out", {"N"})}};
  form.stages = {out.stage};
  return testing::Finished(std::move(form));
}

// The original adds term by term in f32.
struct Setting {
  explicit Setting(core::KernelSpec spec_in) : spec(std::move(spec_in)) {
    inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 3, {});
    const auto rows = static_cast<size_t>(std::get<int64_t>(spec.cases[0].scalars.at("N")));
    const auto columns = static_cast<size_t>(std::get<int64_t>(spec.cases[0].scalars.at("C")));
    std::vector<double> values;
    for (size_t r = 0; r < rows; ++r) {
      float sum = 0;
      sums.push_back(0), magnitudes.push_back(0);
      for (size_t i = 0; i < columns; ++i) {
        const double x = core::LoadAsDouble(core::DType::kF32, inputs[1].bytes.data(), r * columns + i);
        sum += static_cast<float>(x);
        sums.back() += x;
        magnitudes.back() += std::fabs(x);
      }
      values.push_back(static_cast<double>(sum));
    }
    references.push_back({.bytes = Pack(core::DType::kF32, values)});
    layouts.push_back({"out", core::DType::kF32, {static_cast<int64_t>(rows)}, static_cast<double>(columns)});
  }
  Result<std::optional<FormTruth::Declined>> Add(const core::LiftOutcome& outcome, judge::FormLimits limits = {},
                                                 FormTruth::Extent extent = FormTruth::Extent::kWhole) {
    WW_ASSIGN(FormTruth form, FormTruth::Create(spec, outcome, limits));
    const judge::OriginalRun run{spec.cases[0], 3, inputs, layouts, uses};
    WW_ASSIGN(auto added, form.AddTo(references, run, extent));
    if (auto* declined = std::get_if<FormTruth::Declined>(&added)) return std::optional(std::move(*declined));
    form.AddHonestRuns(references, run, std::get<FormTruth::Use>(added));
    return std::optional<FormTruth::Declined>();
  }

  core::KernelSpec spec;
  std::vector<core::BufferContent> inputs;
  std::vector<judge::OutputLayout> layouts;
  std::vector<judge::OutputReference> references;
  core::CodeUses uses;
  std::vector<double> sums, magnitudes;
};
core::FoundUse ConversionTo(core::NumberFormat format) {
  return {.use = {core::CodeUseKind::kConversion, format, {}}, .instruction = {}, .file = {}, .line = 0};
}
core::LiftOutcome Lifted(core::Computation form, bool verified = true) {
  return core::LiftOutcome(core::Lifted{.computation = std::move(form), .verified = verified});
}

TEST(FormTruth, HasTheValueAndTheBoundOfEveryOrder) {
  Setting setting(RowSumSpec(core::DType::kF32, 100, 300));
  const auto declined = setting.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined) << declined.error().message;
  ASSERT_FALSE(*declined) << (*declined)->reason;
  const judge::OutputReference& reference = setting.references[0];
  EXPECT_EQ(reference.source, judge::TruthSource::kForm);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_NEAR(reference.truth[i], setting.sums[i], 1e-11);
    EXPECT_NEAR(reference.bound[i], 299 * 0x1p-24 * setting.magnitudes[i], 1e-9);
  }
  // Honest runs err like the original: far below the bound, and not at all by chance.
  const judge::ErrorShares original = judge::MeasureErrors(setting.layouts[0], reference, reference.bytes);
  EXPECT_GT(reference.honest.rms, original.rms / 3);
  EXPECT_LT(reference.honest.rms, 0.1);
}

TEST(FormTruth, IsHeldAgainstTheOriginal) {
  for (const int lost : {0, 1}) {
    Setting setting(RowSumSpec(core::DType::kF32, 100, 300));
    const auto declined = setting.Add(Lifted(RowSums(lost)));
    ASSERT_TRUE(declined);
    EXPECT_EQ(declined->has_value(), lost != 0);
    EXPECT_EQ(setting.references[0].truth.empty(), lost != 0);
    if (!*declined) continue;
    EXPECT_TRUE((*declined)->reason.starts_with("it disagrees with the original: element 0 of out is "));
    EXPECT_FALSE((*declined)->too_much);
  }
}

// The form's value is not rounded to the output: what is infinite there is a number here.
TEST(FormTruth, SumsBeyondTheLargestHalfAreInfiniteInTheOriginal) {
  for (const double sum : {1e5, 65519.0, 60000.0, -1e5}) {
    Setting setting(RowSumSpec(core::DType::kF32, 100, 300));
    std::vector<std::byte> bytes(setting.inputs[1].bytes.begin(), setting.inputs[1].bytes.end());
    for (size_t c = 0; c < 300; ++c) core::StoreFromDouble(core::DType::kF32, bytes.data(), c, c == 0 ? sum : 0);
    setting.inputs[1].bytes = std::move(bytes);
    setting.sums[0] = std::numeric_limits<double>::infinity();
    setting.references[0].bytes = Pack(core::DType::kF16, setting.sums);
    setting.layouts[0].dtype = core::DType::kF16;
    const auto declined = setting.Add(Lifted(RowSums()));
    ASSERT_TRUE(declined);
    EXPECT_EQ(declined->has_value(), sum < 65000) << sum;
  }
}

// What it has in 16 bits on its way is infinite, and no number in the end: the truth counts, where a value waits so.
TEST(FormTruth, OverflowBetweenKernelsIsNoResult) {
  for (const bool keeps : {true, false}) {
    Setting setting(RowSumSpec(core::DType::kF32, 100, 300));
    std::vector<std::byte> bytes(setting.inputs[1].bytes.begin(), setting.inputs[1].bytes.end());
    for (size_t c = 0; c < 300; ++c) core::StoreFromDouble(core::DType::kF32, bytes.data(), c, c == 0 ? 1e5 : 0);
    setting.inputs[1].bytes = std::move(bytes);
    if (keeps) setting.uses = {ConversionTo(core::NumberFormat::kF16)};
    std::vector<double> right = setting.sums, original = setting.sums;
    right[0] = 1e5, original[0] = std::numeric_limits<double>::quiet_NaN();
    setting.references[0].bytes = Pack(core::DType::kF32, original);
    const auto declined = setting.Add(Lifted(RowSums()));
    ASSERT_TRUE(declined);
    EXPECT_EQ(declined->has_value(), !keeps);
    if (*declined) continue;
    const judge::Comparator comparator(setting.layouts[0], setting.references[0], {});
    EXPECT_FALSE(comparator.Check(Pack(core::DType::kF32, right)));
    right[0] = 2e5;
    EXPECT_TRUE(comparator.Check(Pack(core::DType::kF32, right)));
  }
}

TEST(FormTruth, OnlyWhereThereIsOne) {
  Setting setting(RowSumSpec(core::DType::kF32, 4, 3));
  EXPECT_EQ(setting.Add(core::NotLifted{"branch", "a branch on data", false}).error().message,
            "not lifted: a branch on data");
  EXPECT_EQ(setting.Add(Lifted(RowSums(), false)).error().message, "the form was not verified at a further shape");
  Setting wide(RowSumSpec(core::DType::kF64, 4, 3));
  EXPECT_EQ(wide.Add(Lifted(RowSums())).error().message, "the kernel computes in f64 already");
}

TEST(FormTruth, LargeOutputsAreSampled) {
  Setting setting(RowSumSpec(core::DType::kF32, 2000, 30));
  const judge::FormLimits limits{.steps = 20'000, .sampled_steps = 20'000, .sampled = 64};
  const auto whole = setting.Add(Lifted(RowSums()), limits);
  ASSERT_TRUE(whole);
  ASSERT_TRUE(*whole);
  EXPECT_TRUE((*whole)->too_much) << (*whole)->reason;
  const auto sampled = setting.Add(Lifted(RowSums()), limits, FormTruth::Extent::kSampled);
  ASSERT_TRUE(sampled);
  ASSERT_FALSE(*sampled) << (*sampled)->reason;
  const auto& truth = setting.references[0].truth;
  size_t known = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (std::isnan(truth[i])) continue;
    ++known;
    EXPECT_NEAR(truth[i], setting.sums[i], 1e-11);
  }
  EXPECT_GE(known, 64u);
  EXPECT_LE(known, 80u);
  EXPECT_FALSE(std::isnan(truth[0]) || std::isnan(truth[truth.size() - 1]));
}

// What is in no sample is found out where it is asked for, if the original's is what the form says.
TEST(FormTruth, ElementsThatNoSampleHasAreAdded) {
  Setting setting(RowSumSpec(core::DType::kF32, 2000, 30));
  const judge::FormLimits limits{.steps = 20'000, .sampled_steps = 20'000, .sampled = 64};
  auto form = FormTruth::Create(setting.spec, Lifted(RowSums()), limits);
  ASSERT_TRUE(form);
  const judge::OriginalRun run{setting.spec.cases[0], 3, setting.inputs, setting.layouts, setting.uses};
  const auto added = form->AddTo(setting.references, run, FormTruth::Extent::kSampled);
  ASSERT_TRUE(added);
  const auto use = std::get<FormTruth::Use>(*added);
  form->AddHonestRuns(setting.references, run, use);
  judge::OutputReference& reference = setting.references[0];
  EXPECT_LT(reference.bound.stored().size(), 100u) << "what is not known takes no memory";
  size_t unknown = 0;
  while (!std::isnan(reference.bound[unknown])) ++unknown;
  const std::vector<std::byte> known = reference.bytes.Copy();
  std::vector<std::byte> changed = known;
  core::StoreFromDouble(core::DType::kF32, changed.data(), unknown, setting.sums[unknown] + 9);
  {
    const judge::Comparator comparator(setting.layouts[0], reference, {});
    EXPECT_EQ(comparator.WrongUnknown(changed, 4), std::vector<int64_t>{static_cast<int64_t>(unknown)});
    std::vector<std::byte> first = known;
    core::StoreFromDouble(core::DType::kF32, first.data(), 0, setting.sums[0] + 9);
    EXPECT_TRUE(comparator.WrongUnknown(first, 4).empty()) << "the sample has the first";
    EXPECT_TRUE(comparator.WrongUnknown(changed, 0).empty()) << "more than asked for";
  }
  const core::OutputElements elements = {{"out", {static_cast<int64_t>(unknown)}}};
  ASSERT_EQ(form->AddElements(setting.references, run, use, elements), FormTruth::Added::kAll);
  EXPECT_NEAR(reference.truth[unknown], setting.sums[unknown], 1e-11);
  EXPECT_GT(reference.bound[unknown], 0);
  EXPECT_TRUE(judge::Comparator(setting.layouts[0], reference, {}).Check(changed)) << "it is wrong still";
  reference.bytes = std::move(changed);
  EXPECT_EQ(form->AddElements(setting.references, run, use, elements), FormTruth::Added::kNone)
      << "the original's is another";
}

// Sums in f64 between f32 buffers show in conversions: then the bound is that of f64.
TEST(FormTruth, FormatsThatTheOriginalDoesNotUseAreNotGranted) {
  Setting setting(RowSumSpec(core::DType::kF32, 100, 300));
  setting.uses.insert(ConversionTo(core::NumberFormat::kF32));
  auto declined = setting.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined && !*declined);
  EXPECT_EQ(setting.references[0].accumulation, core::DType::kF32) << "it converts, but does not sum in f64";
  setting.references[0].ForgetTruth();
  setting.references[0].bytes = Pack(core::DType::kF32, setting.sums);
  declined = setting.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined && !*declined);
  EXPECT_EQ(setting.references[0].accumulation, core::DType::kF64);
  EXPECT_LT(setting.references[0].bound[0], 1e-9);
}

// Sums that were kept in halves are farther off than f32 explains; candidates are held to what they are off.
TEST(FormTruth, HalvesInBetweenAreGrantedWhereTheOriginalHasThem) {
  Setting setting(RowSumSpec(core::DType::kF32, 100, 30));
  std::vector<double> halves;
  for (const double sum : setting.sums) halves.push_back(core::RoundedTo(core::DType::kF16, sum));
  setting.references[0].bytes = Pack(core::DType::kF32, halves);
  auto declined = setting.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined && *declined) << "nothing is rounded to halves";
  Setting other = setting;
  other.uses.insert(ConversionTo(core::NumberFormat::kF16));
  declined = other.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined && !*declined);
  EXPECT_EQ(other.references[0].accumulation, core::DType::kF32) << "they are only kept";
  for (size_t i = 0; i < 100; ++i) EXPECT_GE(other.references[0].bound[i], 0x1p-12 * std::fabs(other.sums[i])) << i;
  const judge::Comparator comparator(other.layouts[0], other.references[0], {});
  EXPECT_TRUE(comparator.Accepts(Pack(core::DType::kF32, other.sums)));
  std::vector<double> wrong = other.sums;
  wrong[7] *= 1.02;
  EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, wrong)));
}

// A part of a sum that waited in f16 between kernels and was too large for it: other sums are held to what they were.
TEST(FormTruth, PartsThatAreTooLargeForHalvesBoundOnlyThemselves) {
  Setting setting(RowSumSpec(core::DType::kF32, 100, 30));
  std::vector<double> halves;
  for (const double sum : setting.sums) halves.push_back(core::RoundedTo(core::DType::kF16, sum));
  std::vector<std::byte> in = setting.inputs[1].bytes.Copy();
  for (size_t k = 0; k < 30; ++k)
    core::StoreFromDouble(core::DType::kF32, in.data(), 7 * 30 + k, k % 2 == 0 ? 1e5 : -0.99e5);
  setting.inputs[1].bytes = std::move(in);
  halves[7] = 0;  // no number, by an activation
  setting.references[0].bytes = Pack(core::DType::kF32, halves);
  setting.uses.insert(ConversionTo(core::NumberFormat::kF16));
  const auto declined = setting.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined) << declined.error().message;
  ASSERT_FALSE(*declined) << (*declined)->reason;
  EXPECT_TRUE(std::isinf(setting.references[0].bound[7]));
  EXPECT_TRUE(std::isfinite(setting.references[0].bound[8]));
}

// A sum that is stored in f16 before anything reads it rounds once, and not with every term.
TEST(FormTruth, SumsThatAreKeptInHalvesAreNoSumsOfHalves) {
  Setting setting(RowSumSpec(core::DType::kF32, 20, 300));
  std::vector<double> kept;
  for (const double sum : setting.sums) kept.push_back(core::RoundedTo(core::DType::kF16, sum));
  setting.references[0].bytes = Pack(core::DType::kF32, kept);
  setting.uses.insert(ConversionTo(core::NumberFormat::kF16));
  const auto declined = setting.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined) << declined.error().message;
  ASSERT_FALSE(*declined) << (*declined)->reason;
  for (size_t i = 0; i < 20; ++i) EXPECT_LT(setting.references[0].bound[i], 3 * 0x1p-11 * setting.magnitudes[i]) << i;
}

// A row in which the original is right by chance says nothing about another order, nor about a wrong element.
TEST(FormTruth, ARowInWhichTheOriginalIsLucky) {
  Setting setting(RowSumSpec(core::DType::kF32, 100, 300));
  std::vector<double> values = setting.sums;
  for (size_t i = 1; i < 100; ++i)  // the others as the original has them
    values[i] = core::LoadAsDouble(core::DType::kF32, setting.references[0].bytes.data(), i);
  setting.references[0].bytes = Pack(core::DType::kF32, values);
  const auto declined = setting.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined && !*declined);
  const judge::Comparator comparator(setting.layouts[0], setting.references[0], {});
  const double usual = setting.references[0].honest.rms * setting.references[0].bound[0];
  values[0] += 4 * usual;
  EXPECT_TRUE(comparator.Accepts(Pack(core::DType::kF32, values)));
  values[0] += 200 * usual;
  const auto mismatch = comparator.Check(Pack(core::DType::kF32, values));
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 0u);
}

// An output that is nearer to the truth over the whole is held to the bound alone.
TEST(FormTruth, AnOutputThatIsNearerIsNotRefusedForARow) {
  Setting setting(RowSumSpec(core::DType::kF32, 10000, 300));
  const auto declined = setting.Add(Lifted(RowSums()));
  ASSERT_TRUE(declined && !*declined);
  const judge::OutputReference& reference = setting.references[0];
  const judge::Comparator comparator(setting.layouts[0], reference, {});
  std::vector<double> values = setting.sums;
  const double rms = judge::MeasureErrors(setting.layouts[0], reference, reference.bytes).rms;
  values[7] += 60 * rms * reference.bound[7];
  EXPECT_GT(values[7] - setting.sums[7], comparator.ToleranceAt(7));
  EXPECT_TRUE(comparator.Accepts(Pack(core::DType::kF32, values)));
  values[7] = setting.sums[7] + 5 * reference.bound[7];
  EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, values)));
}

// What rounds nothing is exact in any order.
TEST(FormTruth, WhatRoundsNothingMustBeEqual) {
  core::KernelSpec spec = SoftmaxSpec(20, 30);
  testing::StageBuilder out("out", {"N", "C"});
  out.Output();
  const auto x = out.Read("in", {testing::V(0), testing::V(1)});
  out.Max({x, out.Number(0)});
  core::Computation form{.tensors = {testing::Input("in", {"N", "C"}), testing::Output("out", {"N", "C"})}};
  form.stages = {out.stage};
  Setting setting(spec);
  std::vector<double> values;
  for (size_t i = 0; i < 600; ++i)
    values.push_back(std::max(0.0, core::LoadAsDouble(core::DType::kF32, setting.inputs[1].bytes.data(), i)));
  setting.references[0].bytes = Pack(core::DType::kF32, values);
  setting.layouts[0].shape = {20, 30};
  const auto declined = setting.Add(Lifted(testing::Finished(std::move(form))));
  ASSERT_TRUE(declined && !*declined);
  const judge::Comparator comparator(setting.layouts[0], setting.references[0], {});
  EXPECT_TRUE(comparator.Accepts(Pack(core::DType::kF32, values)));
  for (double& value : values) value *= 1 + 0x1p-23;
  EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, values)));
}

// What the original leaves of `spec`'s first case, against its form.
struct Known {
  judge::OutputLayout layout;
  judge::OutputReference reference;
  size_t elements = 0;  // of which the truth is known
};
using Compute = std::function<std::vector<double>(const std::vector<core::BufferContent>& inputs)>;
Result<Known> Know(const core::KernelSpec& spec, core::Computation form, const Compute& original,
                   judge::FormLimits limits, FormTruth::Extent extent, const core::CodeUses& uses = {}) {
  const core::Case& c = spec.cases[0];
  const core::DType dtype = std::get<core::BufferArgument>(spec.args[0].kind).dtype;
  WW_ASSIGN(const auto inputs, judge::MakeInputs(spec, c, judge::InputVariant::kBase, 3, {}));
  const std::vector<double> values = original(inputs);
  std::vector<judge::OutputReference> references(1);
  references[0].bytes = Pack(dtype, values);
  const std::vector<judge::OutputLayout> layouts = {{"out", dtype, {static_cast<int64_t>(values.size())}, 1}};
  const auto outcome = Lifted(std::move(form));
  WW_ASSIGN(FormTruth truth, FormTruth::Create(spec, outcome, limits));
  const judge::OriginalRun run{c, 3, inputs, layouts, uses};
  WW_ASSIGN(auto added, truth.AddTo(references, run, extent));
  if (const auto* declined = std::get_if<FormTruth::Declined>(&added))
    return Fail(ErrorCode::kUnsupported, declined->reason);
  truth.AddHonestRuns(references, run, std::get<FormTruth::Use>(added));
  Known known{layouts[0], std::move(references[0])};
  for (const double t : known.reference.truth.stored()) known.elements += std::isnan(t) ? 0 : 1;
  return known;
}
double At(const std::vector<core::BufferContent>& inputs, size_t buffer, core::DType dtype, size_t i) {
  return core::LoadAsDouble(dtype, inputs[buffer].bytes.data(), i);
}

// out[N] = log(sum_j exp(sum_k in[N, k] * w[j, k])), of bf16.
constexpr size_t kRows = 400, kColumns = 512, kFeatures = 8;
core::KernelSpec ProductSpec() {
  core::KernelSpec spec = RowSumSpec(core::DType::kF32, kRows, kColumns);
  spec.args[1].kind = Buffer(core::DType::kBF16, {"N", "C"}, core::Role::kIn);
  spec.args.insert(spec.args.begin() + 2, Arg("w", Buffer(core::DType::kBF16, {"8", "C"}, core::Role::kIn)));
  return spec;
}
core::Computation LogSumExpOfProduct() {
  testing::StageBuilder t0("t0", {"N", "8"}), out("out", {"N"});
  t0.Reduce(core::ReduceOp::kSum, {{2, "C"}},
            t0.Product({t0.Read("in", {testing::V(0), testing::V(2)}), t0.Read("w", {testing::V(1), testing::V(2)})}));
  out.Output();
  const auto term = out.Apply(core::Function::kExp, {out.ReadStage("t0", {testing::V(0), testing::V(1)})});
  out.Apply(core::Function::kLog, {out.Reduce(core::ReduceOp::kSum, {{1, "8"}}, term)});
  core::Computation form{.tensors = {testing::Input("in", {"N", "C"}, core::DType::kBF16),
                                     testing::Input("w", {"8", "C"}, core::DType::kBF16),
                                     testing::Output("out", {"N"})}};
  form.stages = {t0.stage, out.stage};
  return testing::Finished(std::move(form));
}
float TowardZero(double value) {
  const auto nearest = static_cast<float>(value);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? std::nextafterf(nearest, 0) : nearest;
}
// An instruction adds so many products to a sum, exactly, and cuts off the result; 1: rounds it, as fmaf does.
Compute ProductsOf(size_t together, size_t dropped = 0) {
  return [=](const std::vector<core::BufferContent>& inputs) {
    std::vector<double> values;
    for (size_t r = 0; r < kRows; ++r) {
      float sum = 0;
      for (size_t j = 0; j < kFeatures; ++j) {
        float product = 0;
        for (size_t k = 0; k < kColumns - dropped; k += together) {
          double next = product;
          for (size_t i = k; i < std::min(k + together, kColumns - dropped); ++i)
            next += At(inputs, 1, core::DType::kBF16, r * kColumns + i) *
                    At(inputs, 2, core::DType::kBF16, j * kColumns + i);
          product = together == 1 ? static_cast<float>(next) : TowardZero(next);
        }
        sum += std::exp(product);
      }
      values.push_back(static_cast<double>(std::log(sum)));
    }
    return values;
  };
}

// An output whose every element needs a long product of a whole row: a small sample of it tells what tensor cores may
// cut off, where the original has no bias at all.
TEST(FormTruth, TensorCoresMayCutOffWhatRowsAreMadeOf) {
  core::KernelSpec spec = ProductSpec();
  // So that exp() does not overflow.
  std::get<core::BufferArgument>(spec.args[2].kind).init = {.kind = core::Init::Kind::kNormal, .a = 0, .b = 0.1};
  const auto known =
      Know(spec, LogSumExpOfProduct(), ProductsOf(1), {.sampled_steps = 3'000'000}, FormTruth::Extent::kSampled);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_GE(known->elements, 64u);
  EXPECT_LE(known->elements, 80u);
  const auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 3, {});
  const judge::Comparator comparator(known->layout, known->reference, {});
  const auto check = [&](const std::vector<double>& values) {
    const auto mismatch = comparator.Check(Pack(core::DType::kF32, values));
    return mismatch ? mismatch->message : "";
  };
  EXPECT_EQ(check(ProductsOf(16)(inputs)), "");
  EXPECT_EQ(check(ProductsOf(8)(inputs)), "");
  EXPECT_NE(check(ProductsOf(16, 1)(inputs)), "") << "the last term is dropped";
  const auto changed = [&](const std::function<double(double)>& change) {
    std::vector<double> values = ProductsOf(16)(inputs);
    for (double& value : values) value = change(value);
    return check(values);
  };
  EXPECT_NE(changed([](double v) { return v * (1 + 1e-4); }), "");
  EXPECT_NE(changed([](double v) { return core::RoundedTo(core::DType::kBF16, v); }), "");
  EXPECT_NE(changed([](double v) { return core::RoundedTo(core::DType::kF16, v); }), "");
}

// out[1] = the root of the sum of squares of in[n], of f16.
core::KernelSpec NormSpec(int64_t n) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF16, n);
  spec.args[0].kind = Buffer(core::DType::kF32, {"1"}, core::Role::kOut);
  return spec;
}
core::Computation Norm() {
  testing::StageBuilder t0("t0", {}), out("out", {"1"});
  const auto x = t0.Read("in", {testing::V(0)});
  t0.Reduce(core::ReduceOp::kSum, {{0, "n"}}, t0.Product({x, x}));
  out.Output().Apply(core::Function::kSqrt, {out.ReadStage("t0", {})});
  core::Computation form{.tensors = {testing::Input("in", {"n"}, core::DType::kF16), testing::Output("out", {"1"})}};
  form.stages = {t0.stage, out.stage};
  return testing::Finished(std::move(form));
}
Compute NormInLanes(size_t lanes) {
  return [=](const std::vector<core::BufferContent>& inputs) {
    std::vector<float> sums(lanes);
    for (size_t i = 0; i < inputs[1].bytes.size() / 2; ++i) {
      const auto x = static_cast<float>(At(inputs, 1, core::DType::kF16, i));
      sums[i % lanes] = std::fma(x, x, sums[i % lanes]);
    }
    for (size_t d = 1; d < lanes; d *= 2)
      for (size_t i = 0; i + d < lanes; i += 2 * d) sums[i] += sums[i + d];
    return std::vector<double>{static_cast<double>(std::sqrt(sums[0]))};
  };
}

// One sum of many squares: every order of its terms is right, and a result in 16 bits is not.
TEST(FormTruth, ANormIsToldFromOneIn16Bits) {
  for (const int64_t n : {5'003, 8'192, 3'000'001}) {
    SCOPED_TRACE(n);
    const core::KernelSpec spec = NormSpec(n);
    const auto known = Know(spec, Norm(), NormInLanes(512), {}, FormTruth::Extent::kWhole);
    ASSERT_TRUE(known) << known.error().message;
    const auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 3, {});
    const judge::Comparator comparator(known->layout, known->reference, {});
    const auto failure = judge::SelfTest(comparator, {}, {});
    EXPECT_FALSE(failure) << failure->message;
    for (const size_t lanes : {32, 4096}) {
      const auto mismatch = comparator.Check(Pack(core::DType::kF32, NormInLanes(lanes)(inputs)));
      EXPECT_FALSE(mismatch) << mismatch->message;
    }
    const double norm = NormInLanes(512)(inputs)[0];
    for (const double wrong : {norm * (1 + 1e-4), norm * (1 - 2.5e-4), core::RoundedTo(core::DType::kBF16, norm)})
      EXPECT_TRUE(comparator.Check(Pack(core::DType::kF32, {wrong}))) << wrong;
  }
}

// out[N] = the mean of v[C] by the weights exp(in[N, C]), of f16.
core::KernelSpec WeightsSpec() {
  core::KernelSpec spec = RowSumSpec(core::DType::kF16, 500, 37);
  spec.args[1].kind = Buffer(core::DType::kF16, {"N", "C"}, core::Role::kIn);
  spec.args.insert(spec.args.begin() + 2, Arg("v", Buffer(core::DType::kF16, {"C"}, core::Role::kIn)));
  return spec;
}
core::Computation WeightedMean() {
  testing::StageBuilder t0("t0", {"N"}), out("out", {"N"});
  t0.Reduce(core::ReduceOp::kMax, {{1, "C"}}, t0.Read("in", {testing::V(0), testing::V(1)}));
  out.Output(core::DType::kF16);
  const auto weight = [&](core::VariableId k) {
    const auto x = out.Read("in", {testing::V(0), testing::V(k)});
    return out.Apply(core::Function::kExp, {out.Subtract({x, out.ReadStage("t0", {testing::V(0)})})});
  };
  const auto weighted =
      out.Reduce(core::ReduceOp::kSum, {{1, "C"}}, out.Product({weight(1), out.Read("v", {testing::V(1)})}));
  const auto total = out.Reduce(core::ReduceOp::kSum, {{2, "C"}}, weight(2));
  out.Divide({weighted, total});
  core::Computation form{.tensors = {testing::Input("in", {"N", "C"}, core::DType::kF16),
                                     testing::Input("v", {"C"}, core::DType::kF16),
                                     testing::Output("out", {"N"}, core::DType::kF16)}};
  form.stages = {t0.stage, out.stage};
  return testing::Finished(std::move(form));
}
// Weights are kept as `kept` has them, relative to the largest number of the row, or to what is so far above it.
Compute WeightsKept(const std::function<double(double)>& kept, float above = 0) {
  return [=](const std::vector<core::BufferContent>& inputs) {
    std::vector<double> values;
    for (size_t r = 0; r < 500; ++r) {
      float top = -INFINITY, total = 0, sum = 0;
      const auto x = [&](size_t k) { return static_cast<float>(At(inputs, 1, core::DType::kF16, r * 37 + k)); };
      for (size_t k = 0; k < 37; ++k) top = std::max(top, x(k) + above);
      for (size_t k = 0; k < 37; ++k) {
        const auto weight = static_cast<float>(kept(static_cast<double>(std::exp(x(k) - top))));
        total += weight;
        sum += weight * static_cast<float>(At(inputs, 2, core::DType::kF16, k));
      }
      values.push_back(static_cast<double>(sum / total));
    }
    return values;
  };
}

// Factors of 16 bits, as attention keeps its weights: what is summed of them is still summed in f32.
TEST(FormTruth, WeightsOf16BitsAreNoArithmeticIn16Bits) {
  const core::KernelSpec spec = WeightsSpec();
  const auto half = [](double v) { return core::RoundedTo(core::DType::kF16, v); };
  const auto known = Know(spec, WeightedMean(), WeightsKept(half), {}, FormTruth::Extent::kWhole,
                          {ConversionTo(core::NumberFormat::kF16)});
  ASSERT_TRUE(known) << known.error().message;
  const auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 3, {});
  const judge::Comparator comparator(known->layout, known->reference, {});
  const auto failure = judge::SelfTest(comparator, {}, {});
  EXPECT_FALSE(failure) << failure->message;
  const auto check = [&](const Compute& compute) {
    const auto mismatch = comparator.Check(Pack(core::DType::kF16, compute(inputs)));
    return mismatch ? mismatch->message : "";
  };
  EXPECT_EQ(check(WeightsKept(half, 1.3F)), "") << "relative to another maximum";
  EXPECT_EQ(check(WeightsKept([](double v) { return v; })), "") << "not rounded at all";
  EXPECT_NE(check(WeightsKept([](double v) { return v < 0.05 ? 0.0 : v; })), "") << "small weights are dropped";
  EXPECT_NE(check([&](const auto& buffers) {
              std::vector<double> values = WeightsKept(half)(buffers);
              for (double& value : values) value *= 1.01;
              return values;
            }),
            "");
}

// The judge says where its truth comes from, and why not from the form.
TEST(FormTruth, IsReplacedByTheShadow) {
  std::vector<testing::KernelPair> pairs = testing::KernelPairs();
  testing::KernelPair& pair = pairs.front();
  ASSERT_EQ(pair.name, "tree sum");
  pair.form = RowSums(1);
  const auto judged = testing::JudgePair(pair, testing::Truth::kForm, 1);
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_TRUE(judged->truth.starts_with("float64 shadow; the form: it disagrees with the original: ")) << judged->truth;
  EXPECT_TRUE(core::Passed(judged->verdict));
}

// out[n] = (sum_k in[k,n] + 0.3 - 0.2999) * 1000: of no terms, two constants that nearly cancel, which another order of
// the same operations rounds before they do.
TEST(FormTruth, BoundsWhatIsMadeBesideNothing) {
  constexpr float kLeft = 0.3F, kRight = 0.2999F;
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 200);
  for (core::Argument& argument : spec.args)
    if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind); buffer && argument.name == "in")
      buffer->shape = {*core::Expression::Parse("k"), *core::Expression::Parse("n")};
  spec.args.push_back({.name = "k", .kind = core::ScalarArgument{core::DType::kI32}});
  for (core::Case& c : spec.cases) c.scalars["k"] = int64_t{5};
  testing::StageBuilder out("out", {"n"});
  out.Output();
  const auto sum = out.Reduce(core::ReduceOp::kSum, {{1, "k"}}, out.Read("in", {testing::V(1), testing::V(0)}));
  const auto constants = out.Sum({sum, out.Number(kLeft), out.Number(-kRight)});
  out.Product({constants, out.Number(1000)});
  core::Computation form{.tensors = {testing::Input("in", {"k", "n"}), testing::Output("out", {"n"})}};
  form.stages = {out.stage};
  form = testing::Finished(std::move(form));
  const auto kernel = [&](bool first, double lost) {
    return FakeKernel([=](FakeRun& run) {
      const std::vector<double> values = run.Values("in");
      std::vector<double> results(static_cast<size_t>(run.Scalar("n")));
      for (size_t n = 0; n < results.size(); ++n) {
        float terms = 0;
        for (size_t i = n; i < values.size(); i += results.size()) terms += static_cast<float>(values[i]);
        results[n] = first ? (terms + (kLeft - kRight)) * 1000 : terms * 1000 + (kLeft * 1000 - kRight * 1000) + lost;
      }
      run.SetValues("out", results);
    });
  };
  for (const char* device : {"sim:h200", "cuda"}) {
    for (const double lost : {0.0, 0.001}) {
      JudgeBench bench(spec, kernel(true, 0));
      bench.device = device;
      bench.options.simulator = "sim:h200";
      bench.options.lift = [&]() -> Result<core::LiftOutcome> { return Lifted(form); };
      const auto verdict = bench.Try(kernel(false, lost));
      ASSERT_TRUE(verdict) << verdict.error().Format();
      EXPECT_EQ(core::Passed(*verdict), lost == 0) << device << ": " << core::VerdictMessage(*verdict);
    }
  }
}

}  // namespace
}  // namespace warpwright
