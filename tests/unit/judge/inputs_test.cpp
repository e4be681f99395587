#include "judge/inputs.h"
#include "judge/drawn_numbers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "judge/safetensors.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

std::vector<double> Values(const core::KernelSpec& spec, const core::Case& c, judge::InputVariant variant,
                           uint64_t seed, size_t buffer = 1) {
  const auto inputs = judge::MakeInputs(spec, c, variant, seed, "");
  EXPECT_TRUE(inputs) << inputs.error().Format();
  const core::DType dtype = std::get<core::BufferArgument>(spec.args[buffer].kind).dtype;
  std::vector<double> values((*inputs)[buffer].bytes.size() / core::SizeOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) values[i] = core::LoadAsDouble(dtype, (*inputs)[buffer].bytes.data(), i);
  return values;
}

double Mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}
double Deviation(const std::vector<double>& v) {
  double sum = 0;
  const double mean = Mean(v);
  for (const double x : v) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

TEST(Inputs, AreTheSameEverywhere) {
  // A change of these digests invalidates every recorded reference: it needs a new format number (reference.h).
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 5000);
  const std::pair<judge::InputVariant, const char*> expected[] = {
      {judge::InputVariant::kBase, "1c0222428e57f3db"},
      {judge::InputVariant::kPareto, "963ca765770f506e"},
      {judge::InputVariant::kLognormal, "73fc17a1889edb02"}};
  for (const auto& [variant, digest] : expected) {
    const auto inputs = judge::MakeInputs(spec, spec.cases[0], variant, 42, "");
    ASSERT_TRUE(inputs);
    EXPECT_EQ(base::Sha256(std::span<const std::byte>((*inputs)[1].bytes)).substr(0, 16), digest)
        << judge::Name(variant);
  }
}

TEST(Inputs, HaveTheDistributionsOfTheirNames) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 200'000);
  const core::Case& c = spec.cases[0];
  const auto normal = Values(spec, c, judge::InputVariant::kNormal, 1);
  EXPECT_NEAR(Mean(normal), 0, 0.01);
  EXPECT_NEAR(Deviation(normal), 1, 0.01);
  size_t tail = 0;
  for (const double x : normal) tail += std::fabs(x) > 3 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(tail) / 200'000, 0.0027, 0.0006);

  const auto uniform = Values(spec, c, judge::InputVariant::kUniform, 1);
  EXPECT_NEAR(Deviation(uniform), 1 / std::sqrt(3.0), 0.01);
  for (const double x : uniform) ASSERT_LE(std::fabs(x), 1);

  auto lognormal = Values(spec, c, judge::InputVariant::kLognormal, 1);
  for (double& x : lognormal) x = std::log(x);
  EXPECT_NEAR(Mean(lognormal), 0, 0.01);
  EXPECT_NEAR(Deviation(lognormal), 1, 0.01);

  const auto pareto = Values(spec, c, judge::InputVariant::kPareto, 1);
  size_t above_ten = 0;
  for (const double x : pareto) {
    ASSERT_GE(std::fabs(x), 1);
    above_ten += std::fabs(x) > 10 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(above_ten) / 200'000, std::pow(10, -1.5), 0.003);

  std::set<double> ties, constant, integers;
  for (const double x : Values(spec, c, judge::InputVariant::kTies, 1)) ties.insert(x);
  for (const double x : Values(spec, c, judge::InputVariant::kConstant, 1)) constant.insert(x);
  for (const double x : Values(spec, c, judge::InputVariant::kExactIntegers, 1)) integers.insert(x);
  EXPECT_EQ(ties, (std::set<double>{-1, -0.5, 0})) << "of one line, by the seed";
  EXPECT_EQ(constant.size(), 1u);
  EXPECT_EQ(integers, (std::set<double>{0, 1}));

  const auto up = Values(spec, c, judge::InputVariant::kSorted, 2),
             down = Values(spec, c, judge::InputVariant::kSorted, 3);
  EXPECT_TRUE(std::is_sorted(up.begin(), up.end()));
  EXPECT_TRUE(std::is_sorted(down.rbegin(), down.rend()));
  EXPECT_NEAR(Deviation(Values(spec, c, judge::InputVariant::kScaleUp, 1)), 1000, 10);
  EXPECT_NEAR(Deviation(Values(spec, c, judge::InputVariant::kScaleDown, 1)), 1e-3, 1e-5);
}

TEST(Inputs, NeedleStandsInEveryTile) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 10'000);
  const auto values = Values(spec, spec.cases[0], judge::InputVariant::kNeedle, 5);
  for (size_t tile = 0; tile < 10; ++tile) {
    int needles = 0;
    for (size_t i = tile * 1024; i < std::min<size_t>(10'000, (tile + 1) * 1024); ++i)
      needles += std::fabs(values[i]) > 100 ? 1 : 0;
    EXPECT_EQ(needles, 1) << tile;
  }
}

TEST(Inputs, SpecialValuesLeaveRowsUntouched) {
  const core::KernelSpec spec = SoftmaxSpec(64, 512);
  const auto values = Values(spec, spec.cases[0], judge::InputVariant::kSpecialValues, 5);
  int nan = 0, negative_nan = 0, infinite = 0, clean_rows = 0;
  for (size_t r = 0; r < 64; ++r) {
    bool clean = true;
    for (size_t i = 0; i < 512; ++i) {
      const double x = values[r * 512 + i];
      nan += std::isnan(x) ? 1 : 0;
      negative_nan += std::isnan(x) && std::signbit(x) ? 1 : 0;
      infinite += std::isinf(x) ? 1 : 0;
      clean = clean && std::isfinite(x);
    }
    clean_rows += clean ? 1 : 0;
  }
  EXPECT_GT(negative_nan, 0);
  EXPECT_GT(nan, negative_nan);
  EXPECT_GT(infinite, 0);
  EXPECT_GT(clean_rows, 16);
  for (const double x : Values(spec, spec.cases[0], judge::InputVariant::kSpecialNumbers, 5))
    EXPECT_FALSE(std::isnan(x));
  int lone = 0;
  for (const double x : Values(spec, spec.cases[0], judge::InputVariant::kLoneNan, 5)) {
    lone += std::isnan(x) ? 1 : 0;
    EXPECT_FALSE(std::isinf(x));
  }
  EXPECT_EQ(lone, 1);
  int largest = 0;
  for (const double x : Values(spec, spec.cases[0], judge::InputVariant::kMaxFinite, 5))
    largest += std::fabs(x) == core::LargestFinite(core::DType::kF32) ? 1 : 0;
  EXPECT_EQ(largest, 1);
}

TEST(Inputs, SignMixFlipsSignsOnly) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF16, 1000);
  std::get<core::BufferArgument>(spec.args[1].kind).init = {core::Init::Kind::kUniform, 0, 1, {}, {}, {}, {}};
  const auto base = Values(spec, spec.cases[0], judge::InputVariant::kBase, 5),
             mixed = Values(spec, spec.cases[0], judge::InputVariant::kSignMix, 5);
  int negative = 0;
  for (size_t i = 0; i < base.size(); ++i) {
    EXPECT_GE(base[i], 0);
    EXPECT_EQ(std::fabs(mixed[i]), base[i]);
    negative += std::signbit(mixed[i]) ? 1 : 0;
  }
  EXPECT_NEAR(negative, 500, 100);
}

TEST(Inputs, IndicesAndDeclaredContentStayWhatTheyAre) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  core::Argument index;
  index.name = "index";
  core::BufferArgument buffer = Buffer(core::DType::kI32, {"n"}, core::Role::kIn);
  buffer.init.kind = core::Init::Kind::kIntegers;
  buffer.init.low = core::Expression::Constant(-3);
  buffer.init.high = *core::Expression::Parse("n - 1");
  index.kind = buffer;
  spec.args.push_back(index);
  core::Argument constant;
  constant.name = "scale";
  core::BufferArgument one = Buffer(core::DType::kF32, {"4"}, core::Role::kIn);
  one.init = {core::Init::Kind::kConstant, 2.5, 0, {}, {}, {}, {}};
  constant.kind = one;
  spec.args.push_back(constant);
  for (const judge::InputVariant variant : judge::kAllInputVariants) {
    if (variant == judge::InputVariant::kIntegerEqual || variant == judge::InputVariant::kIntegerBeyond) continue;
    const auto inputs = judge::MakeInputs(spec, spec.cases[0], variant, 9, "");
    ASSERT_TRUE(inputs) << inputs.error().Format();
    int64_t low = 1000, high = -1000;
    for (size_t i = 0; i < 1000; ++i) {
      const int64_t value = core::LoadAsInteger(core::DType::kI32, (*inputs)[2].bytes.data(), i);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    EXPECT_GE(low, -3);
    EXPECT_LT(low, 20);
    EXPECT_LE(high, 999);
    EXPECT_GT(high, 980);
    EXPECT_EQ(core::LoadAsDouble(core::DType::kF32, (*inputs)[3].bytes.data(), 3), 2.5);
  }
}

// A window of 65,537 in an image of 9: the weights would take 69 GB, and there is no output.
TEST(Inputs, ShapesThatAreNotAllowedAreSaidBeforeMemoryIsTaken) {
  core::KernelSpec spec;
  spec.args = {Arg("weights", Buffer(core::DType::kF32, {"4", "size", "size"}, core::Role::kIn)),
               Arg("out", Buffer(core::DType::kF32, {"9 - size"}, core::Role::kOut)),
               Arg("size", core::ScalarArgument{core::DType::kI32, {}})};
  const core::Case wide = MakeCase("wide", {{"size", int64_t{65'537}}});
  const auto inputs = judge::MakeInputs(spec, wide, judge::InputVariant::kBase, 9, "");
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().code, ErrorCode::kConfig);
  EXPECT_NE(inputs.error().message.find("'9 - size' is negative"), std::string::npos) << inputs.error().Format();
}

TEST(Inputs, PoisonAndItsComplementShareNoByte) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1003);
  auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 9, "");
  auto second = inputs;
  judge::ComplementPoison(spec, 9, second);
  EXPECT_TRUE(inputs[0].uninitialized);
  EXPECT_FALSE(inputs[1].uninitialized);
  EXPECT_EQ(inputs[1].bytes, second[1].bytes);
  for (size_t i = 0; i < inputs[0].bytes.size(); ++i) ASSERT_NE(inputs[0].bytes[i], second[0].bytes[i]) << i;
}

TEST(Inputs, PerturbationIsBelowSight) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  const auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 9, "");
  auto moved = inputs;
  judge::PerturbInputs(spec, 0x1.0p-23, 9, moved);
  int changed = 0;
  for (size_t i = 0; i < 1000; ++i) {
    const double a = core::LoadAsDouble(core::DType::kF32, inputs[1].bytes.data(), i),
                 b = core::LoadAsDouble(core::DType::kF32, moved[1].bytes.data(), i);
    EXPECT_LE(std::fabs(a - b), std::fabs(a) * 2.5e-7);
    changed += a != b ? 1 : 0;
  }
  EXPECT_GT(changed, 900);
}

TEST(Inputs, FileContentComesFromTheRepository) {
  auto folder = *base::TemporaryDirectory::Create("inputs");
  judge::TensorFile file;
  core::Tensor tensor = core::Tensor::Zeros(core::DType::kF32, {8});
  core::StoreFromDouble(core::DType::kF32, tensor.data.data(), 3, 7);
  file.tensors["x"] = tensor;
  ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "data" / "x.safetensors", judge::EncodeSafetensors(file)));
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 8);
  core::Init& init = std::get<core::BufferArgument>(spec.args[1].kind).init;
  init.kind = core::Init::Kind::kFile;
  init.path = "data/x.safetensors";
  init.tensor = "x";
  const auto inputs = judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kNormal, 9, folder.path());
  ASSERT_TRUE(inputs) << inputs.error().Format();
  EXPECT_EQ((*inputs)[1].bytes, tensor.data);

  init.tensor = "y";
  EXPECT_FALSE(judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 9, folder.path()));
  init.tensor = "x";
  init.path = "../x.safetensors";
  EXPECT_NE(judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 9, folder.path())
                .error()
                .message.find("not inside"),
            std::string::npos);
  init.path = "data/x.safetensors";
  spec.cases[0].scalars["n"] = int64_t{9};
  EXPECT_NE(judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kBase, 9, folder.path())
                .error()
                .message.find("shape"),
            std::string::npos);
}

TEST(Inputs, AreMadeFast) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 8'000'000);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kNormal, 9, ""));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  RecordProperty("megabytes_per_second", std::to_string(64 / seconds));
  EXPECT_LT(seconds, 3);  // 64 MB; a tenth of the usual speed, for busy machines
}

// What leaves out the terms of a softmax below some distance from the largest is wrong in a row in which these matter.
TEST(Inputs, RowsAreDominatedAsFarAsTheOthersCanBeSeen) {
  const core::KernelSpec spec = SoftmaxSpec(24, 512);
  const auto values = Values(spec, spec.cases[0], judge::InputVariant::kDominant, 5);
  std::vector<double> shares;  // of all others in the sum of the exponentials, as a logarithm
  for (size_t r = 0; r < 24; ++r) {
    std::vector<double> row(values.begin() + static_cast<long>(r * 512),
                            values.begin() + static_cast<long>(r * 512 + 512));
    std::sort(row.rbegin(), row.rend());
    double others = 0;
    for (size_t i = 1; i < row.size(); ++i) others += std::exp(row[i] - row[0]);
    shares.push_back(std::log(others));
  }
  std::sort(shares.begin(), shares.end());
  EXPECT_LT(shares.back(), 0.2);
  EXPECT_GT(shares.front(), -12.2);
  for (size_t i = 1; i < shares.size(); ++i) EXPECT_LT(shares[i] - shares[i - 1], 1.5) << "no threshold lies between";
}

TEST(Inputs, TheLargestOfARowIsBehindItsLastPowerOfTwo) {
  const core::KernelSpec spec = SoftmaxSpec(6, 1030);
  const auto values = Values(spec, spec.cases[0], judge::InputVariant::kFarNeedle, 5);
  for (size_t r = 0; r < 6; ++r) {
    const auto begin = values.begin() + static_cast<long>(r * 1030);
    const auto largest = std::max_element(begin, begin + 1030);
    EXPECT_GE(largest - begin, 1024) << r;
    EXPECT_EQ(*largest > 25, r % 3 == 1) << r;
  }
  const core::KernelSpec flat = ElementwiseSpec(core::DType::kF32, 5000);
  const auto list = Values(flat, flat.cases[0], judge::InputVariant::kFarNeedle, 5);
  EXPECT_GE(std::max_element(list.begin(), list.end()) - list.begin(), 4096);
}

TEST(Inputs, IntegersHaveVariantsOfTheirOwn) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  core::Argument keys;
  keys.name = "keys";
  core::BufferArgument buffer = Buffer(core::DType::kI32, {"n"}, core::Role::kIn);
  buffer.init.kind = core::Init::Kind::kIntegers;
  buffer.init.low = core::Expression::Constant(-2);
  buffer.init.high = core::Expression::Constant(9);
  keys.kind = buffer;
  spec.args.push_back(keys);
  ASSERT_TRUE(judge::IntegerVariantApplies(spec));
  const auto values = [&](judge::InputVariant variant) {
    const auto inputs = *judge::MakeInputs(spec, spec.cases[0], variant, 5, "");
    std::vector<int32_t> list(1000);
    std::memcpy(list.data(), inputs.back().bytes.data(), 4000);
    return list;
  };
  const auto equal = values(judge::InputVariant::kIntegerEqual);
  EXPECT_EQ(std::set<int32_t>(equal.begin(), equal.end()).size(), 1u);
  EXPECT_TRUE(equal[0] >= -2 && equal[0] <= 9);
  auto sorted = values(judge::InputVariant::kIntegerSorted);
  if (sorted.front() > sorted.back()) std::reverse(sorted.begin(), sorted.end());
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_GE(std::set<int32_t>(sorted.begin(), sorted.end()).size(), 11u);
  const auto beyond = values(judge::InputVariant::kIntegerBeyond);
  const std::set<int32_t> kinds(beyond.begin(), beyond.end());
  for (const int32_t wanted : {-3, -2, 9, 10, INT32_MIN, INT32_MAX, 1 << 30, -(1 << 30)})
    EXPECT_TRUE(kinds.contains(wanted)) << wanted;
}

TEST(Inputs, SmallNumbersRunsAndNamedNumbersOccur) {
  const core::KernelSpec spec = SoftmaxSpec(40, 250);
  const auto values = [&](judge::InputVariant variant, std::span<const double> named = {}) {
    const auto inputs = *judge::MakeInputs(spec, spec.cases[0], variant, 5, "", named);
    std::vector<double> list;
    for (const core::BufferContent& input : inputs)
      for (size_t i = 0; !input.uninitialized && i < input.bytes.size() / 4; ++i)
        list.push_back(core::LoadAsDouble(core::DType::kF32, input.bytes.data(), i));
    return list;
  };
  for (const double v : values(judge::InputVariant::kSubnormal)) {
    EXPECT_LT(std::fabs(v), 1.18e-38);
    EXPECT_GT(std::fabs(v), 1e-39);
  }
  for (const double v : values(judge::InputVariant::kTiny)) EXPECT_LT(std::fabs(v), 1e-16);
  const auto runs = values(judge::InputVariant::kZeroRuns);
  size_t longest = 0, run = 0, zeros = 0;
  for (const double v : runs) {
    run = v == 0 ? run + 1 : 0;
    longest = std::max(longest, run);
    zeros += v == 0;
  }
  EXPECT_GT(longest, 100u);
  EXPECT_GT(zeros, runs.size() / 4);
  EXPECT_LT(zeros, runs.size() * 9 / 10);
  const auto rows = values(judge::InputVariant::kEqualRows);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], rows[i / 250 * 250]) << i;
  const double numbers[] = {-9999, 88.5};
  const auto named = values(judge::InputVariant::kNamed, numbers);
  for (const double number : numbers) {
    EXPECT_GT(std::count(named.begin(), named.end(), number), 100);
    EXPECT_GT(std::count(named.begin(), named.end(), -number), 20);
  }
  const auto around = values(judge::InputVariant::kAroundNamed, std::span(numbers).last(1));
  size_t below = 0, negative = 0;
  for (const double v : around) {
    EXPECT_NEAR(std::fabs(v), 88.5, 88.5 / 32);
    below += std::fabs(v) < 88.5;
    negative += v < 0;
  }
  EXPECT_NEAR(static_cast<double>(below), 0.5 * static_cast<double>(around.size()), 0.1 * around.size());
  EXPECT_NEAR(static_cast<double>(negative), 0.5 * static_cast<double>(around.size()), 0.1 * around.size());
}

TEST(Inputs, OffsetsAreLargeAgainstTheirSpread) {
  for (const core::DType dtype : {core::DType::kF32, core::DType::kF16, core::DType::kBF16}) {
    const core::KernelSpec spec = ElementwiseSpec(dtype, 4000);
    const auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kOffset, 5, "");
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 4000; ++i) {
      const double v = core::LoadAsDouble(dtype, inputs[1].bytes.data(), i);
      sum += v / 4000;
      squares += v * v / 4000;
    }
    EXPECT_GT(std::fabs(sum), dtype == core::DType::kBF16 ? 15 : 250) << core::Name(dtype);
    EXPECT_NEAR(std::sqrt(squares - sum * sum), 1, 0.2) << core::Name(dtype);
  }
}

// In every product of a row with a column, by the manifest's names of the extents.
TEST(Inputs, ZerosFaceWhatIsNotFinite) {
  core::KernelSpec spec = SoftmaxSpec(40, 30);
  spec.args.push_back(Arg("b", Buffer(core::DType::kF32, {"C", "M"}, core::Role::kIn)));
  spec.args.push_back(Arg("M", core::ScalarArgument{core::DType::kI32, {}}));
  spec.cases[0].scalars["M"] = int64_t{50};
  const auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kZerosFacing, 5, "");
  const auto at = [&](size_t buffer, size_t i) {
    return core::LoadAsDouble(core::DType::kF32, inputs[buffer].bytes.data(), i);
  };
  size_t facing = 0, hidden = 0;
  for (size_t c = 0; c < 30; ++c) {
    const bool zeros = at(1, c) == 0;
    for (size_t n = 0; n < 40; ++n) EXPECT_EQ(at(1, n * 30 + c) == 0, zeros);
    for (size_t m = 0; m < 50; ++m) (zeros ? facing : hidden) += !std::isfinite(at(2, c * 50 + m));
  }
  EXPECT_GT(facing, 0u);
  EXPECT_LT(facing, 25u) << "other columns show that the rest is right";
  EXPECT_EQ(hidden, 0u);
}

// What fills a row up with -infinity takes it for one of the row's own: by chance alone it was not met.
TEST(Inputs, HaveInfinitiesInSomeRowsAndColumns) {
  core::KernelSpec spec = SoftmaxSpec(3, 30);
  spec.args.push_back(Arg("b", Buffer(core::DType::kF32, {"C", "M"}, core::Role::kIn)));
  spec.args.push_back(Arg("M", core::ScalarArgument{core::DType::kI32, {}}));
  spec.cases[0].scalars["M"] = int64_t{50};
  for (const auto variant : {judge::InputVariant::kInfiniteRows, judge::InputVariant::kInfiniteColumns}) {
    const auto inputs = *judge::MakeInputs(spec, spec.cases[0], variant, 5, "");
    const bool rows = variant == judge::InputVariant::kInfiniteRows;
    const size_t lines = rows ? 3 : 30, length = rows ? 30 : 3;
    for (size_t line = 0; line < lines; ++line) {
      size_t below = 0, above = 0;
      for (size_t i = 0; i < length; ++i) {
        const size_t at = rows ? line * 30 + i : i * 30 + line;
        const double value = core::LoadAsDouble(core::DType::kF32, inputs[1].bytes.data(), at);
        below += value == -std::numeric_limits<double>::infinity();
        above += value == std::numeric_limits<double>::infinity();
      }
      switch (line % 6) {
        case 0: EXPECT_LT(below, length); break;
        case 1: EXPECT_EQ(below, 1u); break;
        case 3: EXPECT_EQ(below, length); break;
        default: EXPECT_EQ(below, 0u);
      }
      EXPECT_EQ(above, line % 6 == 2 ? 1u : 0u);
    }
    for (size_t i = 0; i < 30 * 50; ++i)
      EXPECT_TRUE(std::isfinite(core::LoadAsDouble(core::DType::kF32, inputs[2].bytes.data(), i)))
          << "or no result tells one row from another";
  }
}

TEST(Ties, AreZerosOfBothSignsInSomeLinesAlongEveryAxis) {
  core::KernelSpec spec = SoftmaxSpec(40, 50);
  const auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kTies, 5, "");
  const auto at = [&](size_t row, size_t column) {
    return core::LoadAsDouble(core::DType::kF32, inputs[1].bytes.data(), row * 50 + column);
  };
  const auto is_extreme = [&](size_t lines, size_t length, auto value_at, double sign) {
    for (size_t line = 0; line < lines; ++line) {
      bool plus = false, minus = false, beyond = false;
      for (size_t i = 0; i < length; ++i) {
        const double value = value_at(line, i);
        beyond |= value * sign > 0;
        plus |= value == 0 && !std::signbit(value);
        minus |= value == 0 && std::signbit(value);
      }
      if (plus && minus && !beyond) return true;
    }
    return false;
  };
  EXPECT_TRUE(is_extreme(40, 50, [&](size_t row, size_t i) { return at(row, i); }, 1)) << "a row's largest";
  EXPECT_TRUE(is_extreme(50, 40, [&](size_t column, size_t i) { return at(i, column); }, 1)) << "a column's largest";
  EXPECT_TRUE(is_extreme(
                  40, 50, [&](size_t row, size_t i) { return at(row, i); }, -1) ||
              is_extreme(
                  50, 40, [&](size_t column, size_t i) { return at(i, column); }, -1))
      << "the smallest";
}

TEST(NormalsAt, AreThoseOfOneByOneInEveryBit) {
  const base::CounterRandom random(7, 3);
  std::vector<double> values(1000);
  judge::NormalsAt(random, 5, values);
  for (size_t k = 0; k < values.size(); ++k) EXPECT_EQ(values[k], judge::NormalAt(random, 5 + k)) << k;
}

}  // namespace
}  // namespace warpwright
