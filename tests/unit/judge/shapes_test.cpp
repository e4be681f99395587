// Sizes, scalars and pointers that nobody declared, and how much of them is tried.
#include "judge/shapes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"
#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

using namespace testing;  // NOLINT: builders of forms

// A transposed convolution: its output grows with the product of stride and length.
TEST(Shapes, AreNotMuchLargerThanTheCases) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 100);
  spec.args[0].kind = Buffer(core::DType::kF32, {"n * s * s * s * s"}, core::Role::kOut);
  spec.args.push_back(Arg("s", core::ScalarArgument{core::DType::kI32, {}}));
  spec.cases[0].scalars["s"] = int64_t{2};
  const auto spread = [](FakeRun& run) {
    const auto step = static_cast<size_t>(run.Scalar("s") * run.Scalar("s") * run.Scalar("s") * run.Scalar("s"));
    for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, 2 * run.Get("in", i / step));
  };
  JudgeBench bench(spec, spread);
  const auto verdict = bench.Try(spread);
  ASSERT_TRUE(verdict) << verdict.error().Format();
  EXPECT_TRUE(core::Passed(*verdict)) << core::VerdictMessage(*verdict);
  for (const auto* evaluator : {&bench.trusted, &bench.untrusted})
    for (const FakeEvaluator::Call& call : evaluator->calls)
      for (const core::BufferContent& buffer : call.buffers)
        EXPECT_LE(buffer.bytes.size(), 2u << 20) << call.case_name;  // twice a MiB: the shadow's are in f64
  size_t odd = 0;
  for (const FakeEvaluator::Call& call : bench.trusted.calls)
    if (call.case_name.find("odd shape") != std::string::npos) {
      odd += 1;
      EXPECT_LE(call.options.instruction_limit, 80'000'000u);
    }
  EXPECT_GE(odd, 20u);  // halved until they fit, not left out
}

// Work that grows faster than the buffers: a square of the length for each element.
TEST(Shapes, AreBoundedByTheirWork) {
  StageBuilder square("t0", {"N", "C"}), out("out", {"N", "C"});
  square.Reduce(core::ReduceOp::kMax, {{2, "C"}, {3, "C"}}, square.Read("in", {V(0), V(1)}));
  out.Output().Product({out.Number(2), out.ReadStage("t0", {V(0), V(1)})});
  const core::Computation form =
      Finished({.tensors = {Input("in", {"N", "C"}), Output("out", {"N", "C"})}, .stages = {square.stage, out.stage}});
  const auto steps_of = [](int64_t rows, int64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns * columns) * static_cast<double>(columns);
  };
  double most = 0;
  const auto cubic = [&](FakeRun& run) {
    most = std::max(most, steps_of(run.Scalar("N"), run.Scalar("C")));
    Twice(run);
  };
  const core::KernelSpec spec = SoftmaxSpec(16, 32);
  const double declared = steps_of(16, 32), instructions = 16 * 32 * 2 * 4 * 4;
  for (const bool lifted : {true, false}) {
    JudgeBench bench(spec, cubic);
    if (lifted)
      bench.options.lift = [&]() -> Result<core::LiftOutcome> {
        return core::LiftOutcome(core::Lifted{.computation = form, .shapes = 3, .verified = true});
      };
    most = 0;
    const auto verdict = bench.Try(cubic);
    ASSERT_TRUE(verdict) << verdict.error().Format();
    EXPECT_TRUE(core::Passed(*verdict)) << core::VerdictMessage(*verdict);
    EXPECT_GT(most, declared);
    // The form knows; without it, only the elements do.
    const double allowed = 1.1 * declared * static_cast<double>(bench.options.max_long_instructions) / instructions;
    if (lifted) EXPECT_LE(most, allowed);
    else EXPECT_GT(most, allowed);
  }
}

// A vector path for pointers at twice their least alignment that loses the last element of odd sizes.
TEST(Shapes, MeetEveryAlignment) {
  for (const int64_t offset : {4, 8}) {
    core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
    for (size_t i = 0; i < 2; ++i) std::get<core::BufferArgument>(spec.args[i].kind).alignment = 4;
    JudgeBench bench(spec);
    const auto verdict = bench.Try([&](FakeRun& run) {
      Twice(run);
      if (run.request.buffers[0].pointer_offset == offset && run.Size("out") % 2 != 0 && run.Size("out") > 900)
        run.Set("out", run.Size("out") - 1, 7);
    });
    ASSERT_TRUE(verdict) << verdict.error().Format();
    const auto* wrong = std::get_if<core::WrongResult>(&*verdict);
    ASSERT_NE(wrong, nullptr) << core::VerdictMessage(*verdict);
    EXPECT_EQ(wrong->check, core::Check::kOddShape) << wrong->message;
  }
}

// A shape that is too much is halved, and keeps what makes it odd.
TEST(Shapes, AreHalvedUntilTheyFit) {
  const core::KernelSpec spec = SoftmaxSpec(32, 64);
  const auto area = [](const core::Case& c) {
    return std::get<int64_t>(c.scalars.at("N")) * std::get<int64_t>(c.scalars.at("C"));
  };
  const auto fits = [&](const core::Case& c) { return area(c) <= 20'000; };
  size_t odd = 0;
  const auto shapes = judge::LongShapes(spec, spec.cases[0], 1, fits);
  for (const core::Case& shape : shapes) {
    EXPECT_LE(area(shape), 20'000);
    odd += std::get<int64_t>(shape.scalars.at("C")) % 2 != 0;
  }
  EXPECT_GE(shapes.size(), 5u);
  EXPECT_GE(odd, 3u);
}

// The weights of a convolution in groups: outputs and inputs are whole groups wherever the launcher is asked.
TEST(Shapes, KeepWholeGroups) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 100);
  spec.args.clear();
  spec.args = {{"x", Buffer(core::DType::kF32, {"C", "L / s"}, core::Role::kIn)},
               {"w", Buffer(core::DType::kF32, {"K", "C / g"}, core::Role::kIn)},
               {"y", Buffer(core::DType::kF32, {"K", "L / p"}, core::Role::kOut)}};
  for (const char* name : {"C", "K", "L", "g", "s", "p"})
    spec.args.push_back(Arg(name, core::ScalarArgument{core::DType::kI32, {}}));
  spec.cases = {{.name = "a"}, {.name = "b"}};
  const auto set = [](core::Case& c, std::vector<int64_t> values) {
    size_t i = 0;
    for (const char* name : {"C", "K", "L", "g", "s", "p"}) c.scalars[name] = values[i++];
  };
  set(spec.cases[0], {12, 18, 40, 3, 1, 2});
  set(spec.cases[1], {64, 32, 50, 8, 1, 5});
  std::vector<core::Case> shapes = judge::OddShapes(spec, spec.cases[1], 1, judge::VerificationLevel::kFull);
  for (core::Case& reduced : judge::ReducedShapes(spec, spec.cases[1], 0.3)) shapes.push_back(std::move(reduced));
  size_t groups = 0, rests = 0;
  for (const core::Case& odd : shapes) {
    const auto value = [&](const char* name) { return std::get<int64_t>(odd.scalars.at(name)); };
    if (value("g") < 1) continue;
    EXPECT_EQ(value("C") % value("g"), 0) << odd.name;
    EXPECT_EQ(value("K") % value("g"), 0) << odd.name;
    groups += value("g") > 1 && value("C") != value("g");
    rests += value("p") > 1 && value("L") % value("p") != 0;
  }
  EXPECT_GE(groups, 5u);
  EXPECT_GE(rests, 5u) << "a pool's tail is tried, though no case has one";
}

TEST(Shapes, AreConsistent) {
  core::KernelSpec spec = SoftmaxSpec(32, 64);
  spec.args.push_back(Arg("flag", core::ScalarArgument{core::DType::kI32, {}}));
  spec.cases[0].scalars["flag"] = int64_t{5};
  const auto shapes = judge::OddShapes(spec, spec.cases[0], 1, judge::VerificationLevel::kFull);
  ASSERT_GE(shapes.size(), 5u);
  bool one = false, below_warp = false;
  for (const core::Case& odd : shapes) {
    EXPECT_EQ(std::get<int64_t>(odd.scalars.at("flag")), 5);
    EXPECT_NE(odd.scalars, spec.cases[0].scalars);
    one = one || std::get<int64_t>(odd.scalars.at("C")) == 1;
    below_warp = below_warp || std::get<int64_t>(odd.scalars.at("C")) < 32;
  }
  EXPECT_TRUE(one);
  EXPECT_TRUE(below_warp);
  EXPECT_EQ(judge::OddShapes(spec, spec.cases[0], 1, judge::VerificationLevel::kQuick).size(), 2u);
  const auto others = judge::OddShapes(spec, spec.cases[0], 2, judge::VerificationLevel::kFull);
  ASSERT_EQ(others.size(), shapes.size());
  EXPECT_EQ(others[3].scalars, shapes[3].scalars);
  EXPECT_NE(others.back().scalars, shapes.back().scalars) << "the last two are secret";
}

TEST(Shapes, HaveOneSizeAtATimeZero) {
  const core::KernelSpec spec = SoftmaxSpec(32, 64);
  int empty = 0;
  for (const core::Case& odd : judge::OddShapes(spec, spec.cases[0], 1, judge::VerificationLevel::kFull)) {
    const bool no_rows = std::get<int64_t>(odd.scalars.at("N")) == 0;
    const bool no_columns = std::get<int64_t>(odd.scalars.at("C")) == 0;
    empty += no_rows || no_columns;
    EXPECT_FALSE(no_rows && no_columns);
  }
  EXPECT_EQ(empty, 2);
}

// Of nothing a sum is zero, a mean is no number.
TEST(Shapes, ANumberThatIsAskedOfNothingIsCompared) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 100);
  spec.args[0].kind = Buffer(core::DType::kF32, {"1"}, core::Role::kOut);
  const auto sum = [](double of_nothing) {
    return [of_nothing](FakeRun& run) {
      double total = run.Size("in") == 0 ? of_nothing : 0;
      for (const double value : run.Values("in")) total += value;
      run.Set("out", 0, total);
    };
  };
  const auto verdict_of = [&](double original, double candidate) {
    JudgeBench bench(spec, sum(original));
    const auto verdict = bench.Try(sum(candidate));
    EXPECT_TRUE(verdict) << verdict.error().Format();
    return verdict ? core::VerdictMessage(*verdict) : std::string();
  };
  EXPECT_NE(verdict_of(0, 1).find("n=0"), std::string::npos);
  EXPECT_EQ(verdict_of(NAN, 0).find("n=0"), std::string::npos);
  EXPECT_EQ(verdict_of(0, 0).find("n=0"), std::string::npos);
}

TEST(Shapes, PassWhatGridsAndShortIntegersHold) {
  const core::KernelSpec spec = SoftmaxSpec(32, 64);
  bool rows = false, columns = false, square = false, many = false, stride = false, both = false;
  for (const core::Case& shape : judge::LongShapes(spec, spec.cases[0], 1)) {
    const auto n = std::get<int64_t>(shape.scalars.at("N")), c = std::get<int64_t>(shape.scalars.at("C"));
    rows = rows || (n > 65'535 && c < 8);
    columns = columns || (c > 65'535 && n < 8);
    square = square || (n == 512 && c == 512);
    many = many || n * c > 1 << 20;
    stride = stride || (n > 64 && c > 4 * n);
    EXPECT_LT(n * c, 4 << 20);
  }
  EXPECT_TRUE(rows && columns && square && many && stride);
  bool rows_named = false, columns_named = false;
  size_t behind = 0;
  for (const core::Case& shape : judge::ShapesAround(spec, spec.cases[0], 1, {20'000})) {
    const int64_t longest =
        std::max(std::get<int64_t>(shape.scalars.at("N")), std::get<int64_t>(shape.scalars.at("C")));
    behind += longest > 20'001;
    EXPECT_LE(longest, 24'002);
    rows_named = rows_named || std::get<int64_t>(shape.scalars.at("N")) == 20'001;
    columns_named = columns_named || std::get<int64_t>(shape.scalars.at("C")) == 20'000;
  }
  EXPECT_TRUE(rows_named && columns_named);
  EXPECT_EQ(behind, 4u);
  // Both at once only where that is little, unlike here.
  for (const core::Case& shape : judge::LongShapes(spec, spec.cases[0], 1, [](const core::Case& c) {
         return std::get<int64_t>(c.scalars.at("N")) + std::get<int64_t>(c.scalars.at("C")) < 1'000'000;
       }))
    both =
        both || std::min(std::get<int64_t>(shape.scalars.at("N")), std::get<int64_t>(shape.scalars.at("C"))) > 65'535;
  EXPECT_TRUE(both);
  const core::KernelSpec flat = ElementwiseSpec(core::DType::kF32, 1000);
  bool million = false;
  for (const core::Case& shape : judge::LongShapes(flat, flat.cases[0], 1))
    million = million || std::get<int64_t>(shape.scalars.at("n")) > (1 << 20) + 4096;
  EXPECT_TRUE(million);
}

TEST(Shapes, PassWhat32BitsCount) {
  const auto elements = [](const core::Case& c) {
    double product = 1;
    for (const auto& [name, size] : core::IntegerScalars(c)) product *= static_cast<double>(size);
    return product;
  };
  const core::KernelSpec spec = SoftmaxSpec(37, 130);
  const auto shapes = judge::HugeShapesOf(spec, spec.cases[0], 1, {3e9});
  ASSERT_EQ(shapes.size(), 5u);  // each size, each beyond the named number, and a drawn one
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(shapes[i].largest_first.size(), 2u);
    EXPECT_GT(elements(shapes[i].largest_first[0]), 0x1p32);
    EXPECT_GT(elements(shapes[i].largest_first[1]), 0x1p31);
    EXPECT_LT(elements(shapes[i].largest_first[1]), 0x1p32);
  }
  for (size_t i = 2; i < 4; ++i) {
    EXPECT_GT(elements(shapes[i].largest_first[0]), 3e9);
    EXPECT_LT(elements(shapes[i].largest_first[0]), 3.01e9);
  }
  // A size of 32 bits alone.
  const core::KernelSpec flat = ElementwiseSpec(core::DType::kF32, 1000);
  const auto largest = judge::HugeShapesOf(flat, flat.cases[0], 1, {});
  ASSERT_FALSE(largest.empty());
  EXPECT_GT(elements(largest[0].largest_first[0]), 0x1p31 - 0x1p27);
  EXPECT_LE(elements(largest[0].largest_first[0]), 0x1p31 - 1);
}

TEST(Shapes, OtherScalarsAreChangedTogetherAndAlone) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  EXPECT_TRUE(judge::OtherScalars(spec, spec.cases[0], 1).empty());
  for (const char* name : {"lr", "mu"}) spec.args.push_back(Arg(name, core::ScalarArgument{core::DType::kF32, {}}));
  spec.cases[0].scalars["lr"] = 0.1;
  spec.cases[0].scalars["mu"] = 0.9;
  bool alone = false, zero = false, small = false, negative = false;
  for (const core::Case& other : judge::OtherScalars(spec, spec.cases[0], 1)) {
    const double lr = std::get<double>(other.scalars.at("lr")), mu = std::get<double>(other.scalars.at("mu"));
    zero = zero || (lr == 0 && mu == 0);
    small = small || (lr > 0 && lr < 0.001);
    negative = negative || (lr < 0 && mu < 0);
    alone = alone || (lr > 0 && std::fabs(mu / lr - 9) > 0.5);
  }
  EXPECT_TRUE(alone && zero && small && negative);
}

TEST(Shapes, EveryScalarIsInfiniteOnce) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  for (const char* name : {"lr", "mu"}) {
    spec.args.push_back(Arg(name, core::ScalarArgument{core::DType::kF32, {}}));
    spec.cases[0].scalars[name] = 0.5;
  }
  const auto others = judge::WithInfiniteScalars(spec, spec.cases[0]);
  ASSERT_EQ(others.size(), 2u);
  for (size_t i = 0; i < 2; ++i)
    for (const char* name : {"lr", "mu"})
      EXPECT_EQ(std::isinf(std::get<double>(others[i].scalars.at(name))), (i == 0) == (name == std::string("lr")));
}

// A path that begins anywhere from 110 on and is kept for a third more: it is met.
TEST(Shapes, ThatAreSweptLeaveNoPathOut) {
  const core::KernelSpec spec = SoftmaxSpec(32, 64);
  for (const uint64_t secret : {1, 2, 3}) {
    const auto shapes = judge::SweptShapes(spec, spec.cases[0], secret);
    for (const char* name : {"N", "C"})
      for (int64_t begin = 110; begin < 30'000; begin += begin / 10) {
        const bool met = std::any_of(shapes.begin(), shapes.end(), [&](const core::Case& shape) {
          const auto size = std::get<int64_t>(shape.scalars.at(name));
          return begin <= size && 3 * size < 4 * begin;
        });
        EXPECT_TRUE(met) << name << " from " << begin;
      }
  }
}

// n % 1013 == 77, rows == columns + 3, alpha == 0.25: none of them names a size.
TEST(Shapes, DecisionsAreTakenTheOtherWay) {
  core::KernelSpec spec = SoftmaxSpec(24, 500);
  spec.args.push_back(Arg("alpha", core::ScalarArgument{core::DType::kF32, {}}));
  core::Case c = spec.cases[0];
  c.scalars["alpha"] = 0.1;
  const auto has = [&](const core::Decision& decision, auto holds) {
    const auto shapes = judge::DecidedShapes(spec, c, {decision}, {});
    return std::any_of(shapes.begin(), shapes.end(), [&](const core::Case& shape) {
      return holds(std::get<int64_t>(shape.scalars.at("N")), std::get<int64_t>(shape.scalars.at("C")),
                   std::get<double>(shape.scalars.at("alpha")));
    });
  };
  EXPECT_TRUE(has({500 % 113, 77, true}, [](int64_t, int64_t columns, double) { return columns % 113 == 77; }));
  EXPECT_TRUE(has({24, 503, true}, [](int64_t n, int64_t columns, double) { return n == columns + 3; }));
  EXPECT_TRUE(has({24 + 500, 900, false}, [](int64_t n, int64_t columns, double) { return n + columns > 900; }));
  EXPECT_TRUE(has({0.1F, 0.25, true}, [](int64_t, int64_t, double alpha) { return alpha == 0.25; }));
  EXPECT_TRUE(judge::DecidedShapes(spec, c, {{7, 7, true}}, {}).empty());
  EXPECT_TRUE(judge::DecidedShapes(spec, c, {{24, 503, true}}, [](const core::Case&) { return false; }).empty());
}

TEST(Shapes, ThatAreCountedHaveManyIntegersForEachBlock) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kU8, 1000);
  const auto many = judge::CountedShapes(spec, spec.cases[0], {});
  ASSERT_EQ(many.size(), 1u);
  EXPECT_GT(std::get<int64_t>(many[0].scalars.at("n")), 100 * 65'536);
  const auto fits = [](const core::Case& c) { return std::get<int64_t>(c.scalars.at("n")) < 6'000'000; };
  EXPECT_LT(std::get<int64_t>(judge::CountedShapes(spec, spec.cases[0], fits).at(0).scalars.at("n")), 6'000'000);
  spec.args[0].kind = Buffer(core::DType::kF32, {"n"}, core::Role::kOut);
  EXPECT_TRUE(judge::CountedShapes(spec, spec.cases[0], {}).empty()) << "nothing is counted";
}

// Each by itself, and every two of three: what asks for some of the addresses does not see the others.
TEST(Trials, EveryTwoBuffersAreUnalignedByThemselves) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  spec.args.push_back(Arg("more", Buffer(core::DType::kF32, {"n"}, core::Role::kIn)));
  std::set<uint32_t> some;
  for (const judge::Placing& placing : judge::PlacingsOf(spec))
    if (placing.pointers == judge::Pointers::kSome) some.insert(placing.unaligned);
  EXPECT_EQ(some, (std::set<uint32_t>{0b001, 0b010, 0b100, 0b011, 0b101, 0b110}));
  const auto aligned = judge::AlignedShapes(spec, spec.cases[0], {});
  ASSERT_EQ(aligned.size(), 1u);
  EXPECT_EQ(std::get<int64_t>(aligned[0].scalars.at("n")) % 32, 0);
}

TEST(Trials, BuffersBeginAsTheManifestAllows) {
  core::BufferArgument buffer;
  buffer.alignment = 4;
  const auto offset = [&](judge::Pointers pointers, size_t index = 0) {
    return judge::PointerOffset({.c = {}, .seed = 2, .pointers = pointers}, buffer, index);
  };
  EXPECT_EQ(offset(judge::Pointers::kAligned), 0);
  EXPECT_EQ(offset(judge::Pointers::kLeast), 4);
  EXPECT_EQ(offset(judge::Pointers::kTwice), 8);
  EXPECT_EQ(offset(judge::Pointers::kMixed, 0), 0);
  EXPECT_EQ(offset(judge::Pointers::kMixed, 1), 4);
  const judge::Trial some{.c = {}, .pointers = judge::Pointers::kSome, .unaligned = 0b101};
  EXPECT_EQ(judge::PointerOffset(some, buffer, 0), 4);
  EXPECT_EQ(judge::PointerOffset(some, buffer, 1), 0);
  EXPECT_EQ(judge::PointerOffset(some, buffer, 2), 4);
  EXPECT_EQ(some.Describe(), ", buffer 0 and 2 alone at its least alignment");
  buffer.alignment = 256;
  for (const auto pointers : {judge::Pointers::kLeast, judge::Pointers::kTwice, judge::Pointers::kMixed})
    EXPECT_EQ(offset(pointers, 1), 0);
}

}  // namespace
}  // namespace warpwright
