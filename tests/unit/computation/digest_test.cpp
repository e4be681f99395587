#include "core/computation_digest.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/computation/sample_arguments.h"
#include "tests/unit/computation/variants.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions
using core::DType;
using core::Function;
using core::ReduceOp;

std::string DigestOf(const core::Computation& computation) {
  const auto status = core::Validate(computation);
  EXPECT_TRUE(status) << status.error().message;
  const auto form = core::Normalize(computation);
  EXPECT_TRUE(form) << form.error().message;
  return form ? form->digest : "";
}
std::string TextOf(const core::Computation& computation) {
  const auto form = core::Normalize(computation);
  return form ? form->text : form.error().message;
}

TEST(Digest, DistinguishesTheSamples) {
  std::set<std::string> digests;
  for (const auto& sample : Samples()) digests.insert(DigestOf(sample.computation));
  EXPECT_EQ(digests.size(), Samples().size());
}

// The same on every platform and in every version, or else what was learned is lost.
TEST(Digest, IsStable) {
  EXPECT_EQ(TextOf(Softmax()),
            "0 = read a1 {(s1)*v2.0 + (1)*v1.0 + 0}\n"
            "1 = read a1 {(s1)*v2.0 + (1)*v0.0 + 0}\n"
            "2 = reduce max [v0.0 < s1] %1\n"
            "3 = linear 0 %0*1 %2*-1\n"
            "4 = call exp %3\n"
            "5 = reduce sum [v1.0 < s1] %4\n"
            "6 = read a1 {(s1)*v2.0 + (1)*v2.1 + 0}\n"
            "7 = linear 0 %6*1 %2*-1\n"
            "8 = call exp %7\n"
            "9 = product %5*-1 %8*1\n"
            "10 = output a0 f32 [v2.0 < s0] [v2.1 < s1] {(s1)*v2.0 + (1)*v2.1 + 0} %9\n"
            "11 = all %10\n");
  EXPECT_EQ(DigestOf(Softmax()), "8a16b8b62a6c053f5aee089bd7041953bf5aa9fd9837dba23f55b0fd1a471b6d");
}

TEST(Digest, OfShuffledSamples) {
  for (const auto& sample : Samples()) {
    const std::string digest = DigestOf(sample.computation), text = TextOf(sample.computation);
    for (uint64_t seed = 0; seed < 30; ++seed) {
      const core::Computation shuffled = Shuffled(sample.computation, seed);
      ASSERT_EQ(DigestOf(shuffled), digest) << sample.name << ", seed " << seed << "\n"
                                            << text << "\n"
                                            << TextOf(shuffled);
    }
  }
}

// Shuffling is no change of what is computed, or the test above says nothing.
TEST(Digest, ShufflesComputeTheSame) {
  for (const auto& sample : Samples()) {
    const auto arguments = RandomArguments(sample, 3);
    const auto before = Evaluated(sample, arguments);
    for (uint64_t seed = 0; seed < 5; ++seed) {
      std::map<std::string, std::string> names;
      Sample shuffled = sample;
      shuffled.computation = Shuffled(sample.computation, seed, &names);
      SampleArguments renamed;
      shuffled.sizes.clear(), shuffled.scalars.clear();
      for (const auto& [name, value] : sample.sizes) shuffled.sizes[names.at(name)] = value;
      for (const auto& [name, value] : arguments.values.scalars) renamed.values.scalars[names.at(name)] = value;
      for (const auto& [name, content] : arguments.values.tensors) renamed.values.tensors[names.at(name)] = content;
      const auto after = Evaluated(shuffled, renamed);
      EXPECT_EQ(before.written, after.written);
      EXPECT_EQ(before.integers, after.integers);
      for (size_t i = 0; i < before.real.size(); ++i) ASSERT_NEAR(before.real[i], after.real[i], 1e-12) << sample.name;
    }
  }
}

TEST(Digest, OfMutants) {
  size_t mutants = 0;
  for (const auto& sample : Samples()) {
    const std::string digest = DigestOf(sample.computation);
    for (const auto& mutant : Mutants(sample.computation)) {
      const auto status = core::Validate(mutant.computation);
      ASSERT_TRUE(status) << sample.name << ": " << mutant.what << ": " << status.error().message;
      EXPECT_NE(DigestOf(mutant.computation), digest) << sample.name << ": " << mutant.what;
      ++mutants;
    }
  }
  EXPECT_GE(mutants, 300u);
}

struct Twins {
  const char* name;
  std::function<void(StageBuilder&)> one, other;
  bool equal;
};
TEST(Digest, OfTwins) {
  const auto x = [](StageBuilder& b) { return b.Read("x", {V(0)}); };
  const auto y = [](StageBuilder& b) { return b.Read("y", {V(0)}); };
  const auto of = [](const std::function<void(StageBuilder&)>& build) {
    StageBuilder out("out", {"N"});
    build(out.Output());
    return DigestOf(Finished({.tensors = {Input("x", {"N"}), Input("y", {"N"}), Output("out", {"N"})},
                              .scalars = {"s"},
                              .stages = {out.stage}}));
  };
  const auto sum = [](StageBuilder& b, StageBuilder::Id body, std::vector<core::Guard> guards = {}) {
    return b.Reduce(ReduceOp::kSum, {{1, "N"}}, body, std::move(guards));
  };
  const auto at = [](StageBuilder& b, core::VariableId v) { return b.Read("x", {V(v)}); };
  const Twins rows[] = {
      {"x/y", [&](auto& b) { b.Divide({x(b), y(b)}); },
       [&](auto& b) { b.Apply(Function::kReciprocal, {b.Divide({y(b), x(b)})}); }, true},
      {"rsqrt", [&](auto& b) { b.Apply(Function::kRsqrt, {x(b)}); },
       [&](auto& b) { b.Apply(Function::kReciprocal, {b.Apply(Function::kSqrt, {x(b)})}); }, true},
      {"relu", [&](auto& b) { b.Max({x(b), b.Number(0)}); },
       [&](auto& b) {
         const auto value = x(b);
         const auto zero = b.Number(0);
         const auto positive = b.Compare(core::Comparison::kLess, {zero, value});
         b.Select({positive, value, zero});
       },
       true},
      {"relu and its negative", [&](auto& b) { b.Max({x(b), b.Number(0)}); },
       [&](auto& b) { b.Min({x(b), b.Number(0)}); }, false},
      {"(a-b)^2",
       [&](auto& b) {
         const auto d = b.Subtract({x(b), y(b)});
         b.Product({d, d});
       },
       [&](auto& b) { b.Apply(Function::kPower, {b.Subtract({y(b), x(b)}), b.Number(2)}); }, true},
      {"(a-b)^3",
       [&](auto& b) {
         const auto d = b.Subtract({x(b), y(b)});
         b.Product({d, d, d});
       },
       [&](auto& b) {
         const auto d = b.Subtract({y(b), x(b)});
         b.Product({d, d, d});
       },
       false},
      {"exp2", [&](auto& b) { b.Apply(Function::kExp, {x(b)}); },
       [&](auto& b) { b.Apply(Function::kExp2, {b.Product({x(b), b.Number(1.44269504f)})}); }, true},
      {"six digits", [&](auto& b) { b.Product({x(b), b.Number(0.70710678)}); },
       [&](auto& b) { b.Product({x(b), b.Number(0.707106769084930419921875)}); }, true},
      {"five digits", [&](auto& b) { b.Product({x(b), b.Number(0.70711)}); },
       [&](auto& b) { b.Product({x(b), b.Number(0.70710678)}); }, false},
      {"conversions", [&](auto& b) { b.Convert(DType::kF16, b.Sum({x(b), y(b)})); },
       [&](auto& b) { b.Sum({y(b), x(b)}); }, true},
      {"truncation", [&](auto& b) { b.Convert(DType::kI32, b.Sum({x(b), y(b)})); },
       [&](auto& b) { b.Sum({y(b), x(b)}); }, false},
      {"min", [&](auto& b) { b.Min({x(b), y(b)}); }, [&](auto& b) { b.Minus(b.Max({b.Minus(y(b)), b.Minus(x(b))})); },
       true},
      {"factor of a sum", [&](auto& b) { sum(b, b.Product({at(b, 1), y(b)})); },
       [&](auto& b) { b.Product({y(b), sum(b, at(b, 1))}); }, true},
      {"sum of a constant", [&](auto& b) { sum(b, b.Number(3)); },
       [&](auto& b) { b.Product({b.OfSize("N"), b.Number(3)}); }, true},
      {"sum of sums",
       [&](auto& b) {
         b.Reduce(ReduceOp::kSum, {{1, "N"}},
                  b.Reduce(ReduceOp::kSum, {{2, "4"}}, b.Product({at(b, 1), b.Index(V(2))})));
       },
       [&](auto& b) { b.Reduce(ReduceOp::kSum, {{2, "4"}, {1, "N"}}, b.Product({b.Index(V(2)), at(b, 1)})); }, true},
      {"guard that always holds", [&](auto& b) { sum(b, at(b, 1), {Within(V(1), "0", "N")}); },
       [&](auto& b) { sum(b, at(b, 1)); }, true},
      {"doubled guard", [&](auto& b) { sum(b, at(b, 1), {Within(V(0) - V(1), "0", "")}); },
       [&](auto& b) { sum(b, at(b, 1), {Within((V(0) - V(1)) * "2", "-1", "")}); }, true},
      {"strict guard", [&](auto& b) { sum(b, at(b, 1), {Within(V(0) - V(1), "0", "")}); },
       [&](auto& b) { sum(b, at(b, 1), {Within(V(0) - V(1), "1", "")}); }, false},
      {"extent of one", [&](auto& b) { b.Reduce(ReduceOp::kSum, {{1, "1"}}, b.Read("x", {V(0) + V(1)})); },
       [&](auto& b) { x(b); }, true},
      {"block and thread",
       [&](auto& b) { b.Reduce(ReduceOp::kSum, {{1, "N"}, {2, "8"}}, b.Read("x", {Quotient(2, "8") + V(1)})); },
       [&](auto& b) { b.Product({b.Number(8), sum(b, at(b, 1))}); }, true},
      // Equal as real functions, but not as stable: no form may take them for the same.
      {"expanded square",
       [&](auto& b) {
         const auto d = b.Sum({x(b), y(b)});
         b.Product({d, d});
       },
       [&](auto& b) {
         b.Sum({b.Product({x(b), x(b)}), b.Product({b.Number(2), x(b), y(b)}), b.Product({y(b), y(b)})});
       },
       false},
      {"unshifted",
       [&](auto& b) {
         b.Divide({b.Apply(Function::kExp, {b.Subtract({x(b), y(b)})}), b.Apply(Function::kExp, {y(b)})});
       },
       [&](auto& b) { b.Apply(Function::kExp, {b.Subtract({x(b), b.Product({b.Number(2), y(b)})})}); }, false},
      {"scalar or argument", [&](auto& b) { b.Sum({x(b), b.Scalar("s")}); }, [&](auto& b) { b.Sum({x(b), y(b)}); },
       false},
  };
  for (const auto& row : rows) EXPECT_EQ(of(row.one) == of(row.other), row.equal) << row.name;
}

// Reductions that share a variable with different extents keep them apart.
TEST(Digest, OfSharedVariables) {
  const auto of = [](const char* other) {
    StageBuilder out("out", {"N"});
    const auto body = out.Read("x", {Remainder(1, "4")});
    const auto four = out.Reduce(ReduceOp::kSum, {{1, "4"}}, body);
    const auto more = out.Reduce(ReduceOp::kMax, {{1, other}}, body);
    out.Output().Sum({four, more});
    return DigestOf(Finished({.tensors = {Input("x", {"N"}), Output("out", {"N"})}, .stages = {out.stage}}));
  };
  EXPECT_NE(of("4"), of("8"));
}

// An argument that is declared flat has its elements where they were.
TEST(Digest, OfFlatArguments) {
  core::Computation flat = Softmax();
  for (auto& tensor : flat.tensors) tensor.shape = Sizes({"N*C"});
  for (auto& stage : flat.stages) {
    for (auto& node : stage.nodes) {
      auto* read = std::get_if<core::TensorRead>(&node);
      if (read == nullptr || read->stage) continue;
      read->at = {std::get<core::Affine>(read->at[0]) * "C" + std::get<core::Affine>(read->at[1])};
    }
    if (stage.output) stage.at = {V(0) * "C" + V(1)};
  }
  EXPECT_EQ(DigestOf(flat), DigestOf(Softmax()));
}

TEST(Digest, HasALimit) {
  EXPECT_EQ(core::Normalize(Attention(), 50).error().code, ErrorCode::kLimit);
  // Forty stages, each read at two places: 2^40 paths, but 41 positions.
  core::Computation chain{.tensors = {Input("x", {"N"}), Output("out", {"N"})}};
  for (int i = 0; i < 40; ++i) {
    StageBuilder stage(i == 39 ? "out" : "t" + std::to_string(i), {"N"});
    const std::string from = "t" + std::to_string(i - 1);
    const auto read = [&](const core::Affine& at) {
      return i == 0 ? stage.Read("x", {at}) : stage.ReadStage(from, {at});
    };
    const auto left = read(V(0)), right = read(V(0) + At("1"));
    stage.Max({left, right});
    if (i == 39) stage.Output();
    chain.stages.push_back(stage.stage);
  }
  const auto form = core::Normalize(Finished(chain));
  ASSERT_TRUE(form);
  EXPECT_EQ(std::count(form->text.begin(), form->text.end(), '\n'), 41 + 3);
}

TEST(Digest, ListsWhatIsRounded) {
  EXPECT_EQ(core::Normalize(InPlaceScale())->rounded, std::vector<DType>{DType::kF16});
  EXPECT_EQ(core::Normalize(Softmax())->rounded, std::vector<DType>{});
}

}  // namespace
}  // namespace warpwright
