#include "judge/mutants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.h"
#include "tests/support/bytes.h"

namespace warpwright {
namespace {

struct Fixture {
  judge::OutputReference reference;
  judge::OutputLayout layout;
  std::vector<std::byte> input, other;
  judge::MutantSources sources;
};

Fixture Make(core::DType dtype, const std::vector<int64_t>& shape, double scale = 1) {
  Fixture f;
  f.layout = {"out", dtype, shape, 256};
  size_t n = 1;
  for (const int64_t extent : shape) n *= static_cast<size_t>(extent);
  const base::CounterRandom random(11, 1), second(12, 1), third(13, 1);
  std::vector<std::byte> reference(n * core::SizeOf(dtype));
  for (auto* bytes : {&f.input, &f.other}) bytes->resize(reference.size());
  for (size_t i = 0; i < n; ++i) {
    const auto value = [&](const base::CounterRandom& r) {
      return core::IsFloat(dtype) ? scale * (0.01 + r.Uniform(i))
                                  : static_cast<double>(r.Below(i, dtype == core::DType::kBool ? 2 : 100));
    };
    core::StoreFromDouble(dtype, reference.data(), i, value(random));
    core::StoreFromDouble(dtype, f.input.data(), i, value(second));
    core::StoreFromDouble(dtype, f.other.data(), i, value(third));
  }
  f.reference.bytes = std::move(reference);
  return f;
}
void Connect(Fixture& f) {
  f.sources.inputs = {f.input};
  f.sources.input_names = {"in"};
  f.sources.input_dtypes = {f.layout.dtype};
  f.sources.other_seed = f.other;
}

TEST(Mutants, AllAreRejectedForEveryDTypeAndShape) {
  for (const core::DType dtype : core::kAllDTypes) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1}, {7}, {1000}, {37, 130}, {4, 3, 50}}) {
      if (dtype == core::DType::kBool && shape[0] == 1) continue;  // one bit: another seed may give the same value
      for (const double scale : {1e-3, 1.0, 1e3}) {
        Fixture f = Make(dtype, shape, scale);
        Connect(f);
        const judge::Comparator comparator(f.layout, f.reference, {});
        const auto failure = judge::SelfTest(comparator, f.sources, {});
        EXPECT_FALSE(failure) << core::Name(dtype) << " " << shape.size() << " " << scale << ": "
                              << (failure ? failure->message : "");
      }
    }
  }
}

TEST(Mutants, ThereIsOneOfEachKind) {
  Fixture f = Make(core::DType::kF32, {16, 64});
  Connect(f);
  std::set<std::string> names;
  for (const judge::Mutant& mutant : judge::MakeMutants(judge::Comparator(f.layout, f.reference, {}), f.sources, {})) {
    names.insert(mutant.name);
    EXPECT_EQ(mutant.bytes.size(), f.reference.bytes.size());
    EXPECT_FALSE(base::ParallelEqual(mutant.bytes, f.reference.bytes)) << mutant.name;
  }
  for (const char* name : {"all zeros", "the mean of the reference everywhere", "one value everywhere",
                           "a copy of the input in", "the reference of another seed", "the last tile left zero",
                           "the reference times 1.01", "the reference rounded to bf16", "the reference rounded to f16",
                           "the reference rounded to tf32", "element 0 made NaN", "the first and the last row swapped"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_GE(names.size(), 16u);
}

TEST(Mutants, ATooWideToleranceIsFound) {
  Fixture f = Make(core::DType::kF32, {16, 64});
  Connect(f);
  f.layout.accumulation = 1e9;  // tolerance above 1 % of the row
  const auto failure = judge::SelfTest(judge::Comparator(f.layout, f.reference, {}), f.sources, {});
  ASSERT_TRUE(failure);
  EXPECT_FALSE(failure->insensitive);
  EXPECT_NE(failure->message.find("would pass"), std::string::npos);
  EXPECT_FALSE(judge::SelfTest(judge::Comparator(f.layout, f.reference, {}, 4096), f.sources, {}));
}

TEST(Mutants, AnOutputThatTellsNothingIsFound) {
  struct Row {
    const char* why;
    std::vector<double> values;
    const char* mutant;
  };
  const Row rows[] = {{"zeros", std::vector<double>(100, 0), "all zeros"},
                      {"1/n everywhere", std::vector<double>(100, 0.01), "one value everywhere"},
                      {"the same for every seed", {}, "the reference of another seed"}};
  for (const Row& row : rows) {
    Fixture f = Make(core::DType::kF32, {100});
    if (row.values.empty()) f.other = f.reference.bytes.Copy();
    else
      for (size_t i = 0; i < row.values.size(); ++i) StoreIn(f.reference.bytes, core::DType::kF32, i, row.values[i]);
    Connect(f);
    const auto failure = judge::SelfTest(judge::Comparator(f.layout, f.reference, {}), f.sources, {});
    ASSERT_TRUE(failure) << row.why;
    EXPECT_TRUE(failure->insensitive) << row.why;
    EXPECT_EQ(failure->mutant, row.mutant);
  }
}

TEST(Mutants, ACopyingKernelIsNotBlamed) {
  Fixture f = Make(core::DType::kF32, {100});
  f.input = f.reference.bytes.Copy();
  Connect(f);
  EXPECT_FALSE(judge::SelfTest(judge::Comparator(f.layout, f.reference, {}), f.sources, {}));
}

TEST(Mutants, ExactValuesHaveNoPrecisionMutants) {
  Fixture f = Make(core::DType::kF32, {128});
  for (size_t i = 0; i < 128; ++i) StoreIn(f.reference.bytes, core::DType::kF32, i, static_cast<double>(i % 8));
  Connect(f);
  EXPECT_FALSE(judge::SelfTest(judge::Comparator(f.layout, f.reference, {}), f.sources, {}));
}

TEST(Mutants, ADeclaredPrecisionIsNotHeldAgainstTheCase) {
  Fixture f = Make(core::DType::kF32, {16, 64});
  Connect(f);
  const judge::ToleranceOverrides lenient{std::nullopt, true, false};
  EXPECT_FALSE(judge::SelfTest(judge::Comparator(f.layout, f.reference, lenient), f.sources, lenient));
}

}  // namespace
}  // namespace warpwright
