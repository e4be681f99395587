// The judge with kernels that are C++ functions: honest ones pass, each hostile one is rejected by the check that is
// meant for it.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "judge/reference.h"
#include "judge/safetensors.h"
#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

// Rounds to f32 unless the run is the shadow's.
double Round(const FakeRun& run, double x) { return run.in_f64("in") ? x : static_cast<double>(static_cast<float>(x)); }

void Softmax(FakeRun& run) {
  const auto rows = static_cast<size_t>(run.Scalar("N")), columns = static_cast<size_t>(run.Scalar("C"));
  for (size_t r = 0; r < rows; ++r) {
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < columns; ++i) largest = std::fmax(largest, run.Get("in", r * columns + i));
    for (size_t i = 0; i < columns; ++i)
      sum = Round(run, sum + Round(run, std::exp(run.Get("in", r * columns + i) - largest)));
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, Round(run, std::exp(run.Get("in", r * columns + i) - largest)) / sum);
  }
}

// One pass, pairwise sums: different rounding, the same function.
void OnlineSoftmax(FakeRun& run) {
  const auto rows = static_cast<size_t>(run.Scalar("N")), columns = static_cast<size_t>(run.Scalar("C"));
  for (size_t r = 0; r < rows; ++r) {
    double largest = -INFINITY;
    double sums[4] = {};
    for (size_t i = 0; i < columns; ++i) {
      const double x = run.Get("in", r * columns + i), m = std::fmax(largest, x);
      if (m == -INFINITY) continue;  // nothing yet that is not masked
      if (m != largest)
        for (double& s : sums) s = s == 0 ? 0 : Round(run, s * std::exp(largest - m));
      sums[i % 4] = Round(run, sums[i % 4] + Round(run, std::exp(x - m)));
      largest = m;
    }
    const double inverse = Round(run, 1 / Round(run, Round(run, sums[0] + sums[1]) + Round(run, sums[2] + sums[3])));
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, Round(run, std::exp(run.Get("in", r * columns + i) - largest)) * inverse);
  }
}

void ExpectPassed(const Result<core::Verdict>& verdict) {
  ASSERT_TRUE(verdict) << verdict.error().Format();
  EXPECT_TRUE(core::Passed(*verdict)) << core::VerdictMessage(*verdict);
}
void ExpectCheck(const Result<core::Verdict>& verdict, const std::string& check) {
  ASSERT_TRUE(verdict) << verdict.error().Format();
  const auto* wrong = std::get_if<core::WrongResult>(&*verdict);
  ASSERT_NE(wrong, nullptr) << check << ": " << core::VerdictName(*verdict) << " " << core::VerdictMessage(*verdict);
  EXPECT_EQ(Name(wrong->check), check) << wrong->message;
}

TEST(Judge, AcceptsTheOriginalAndAnEquivalent) {
  for (const FakeKernel& candidate : {FakeKernel(Softmax), FakeKernel(OnlineSoftmax)}) {
    JudgeBench bench(SoftmaxSpec(37, 130), Softmax);
    const auto verdict = bench.Try(candidate);
    ExpectPassed(verdict);
    const auto& measured = std::get<core::Measured>(*verdict);
    EXPECT_EQ(measured.checks, (std::vector<core::CheckName>{
                                   core::Check::kGuardBands, core::Check::kInputHash, core::Check::kModuleState,
                                   core::Check::kUnwrittenOutput, core::Check::kDeterminism, core::Check::kComparison,
                                   core::Check::kBuildDependent, core::Check::kHostCode, core::Check::kPtxRules,
                                   core::Check::kSecretSeed, core::Check::kDistributions, core::Check::kExactIntegers,
                                   core::Check::kNeedle, core::Check::kScaleLadder, core::Check::kSpecialValues,
                                   core::Check::kOddShape, core::Check::kBytesRead, core::Check::kHostTime}));
    ASSERT_EQ(measured.cases.size(), 1u);
    EXPECT_EQ(measured.cases[0].case_name, "small");
    EXPECT_GT(measured.cases[0].time_us, 0);
    EXPECT_TRUE(bench.notes.empty()) << bench.notes[0];
  }
}

struct Hostile {
  const char* name;
  FakeKernel kernel;
  const char* check;
};

TEST(Judge, StopsEachHostileSoftmaxByItsCheck) {
  const auto each = [](auto change) {
    return [change](FakeRun& run) {
      Softmax(run);
      for (size_t i = 0; i < run.Size("out"); ++i) change(run, i);
    };
  };
  const Hostile hostile[] = {
      {"noop", [](FakeRun&) {}, "unwritten-output"},
      {"zeros",
       [](FakeRun& run) {
         for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, 0);
       },
       "comparison"},
      {"mean",
       [](FakeRun& run) {
         for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, 1.0 / 130);
       },
       "comparison"},
      {"drops a tile",
       [](FakeRun& run) {
         const auto poison = run.buffers[0];
         Softmax(run);
         std::copy(poison.end() - 64, poison.end(), run.buffers[0].end() - 64);
       },
       "unwritten-output"},
      {"one element of a thousand", each([](FakeRun& run, size_t i) {
         if (i % 1000 == 999) run.Set("out", i, run.Get("out", i - 1));
       }),
       "comparison"},
      {"half precision", each([](FakeRun& run, size_t i) {
         run.Set("out", i, core::HalfToFloat(core::DoubleToHalf(run.Get("out", i))));
       }),
       "comparison"},
      {"changes its input",
       [](FakeRun& run) {
         Softmax(run);
         run.Set("in", 5, 0);
       },
       "input-hash"},
      {"writes outside",
       [](FakeRun& run) {
         Softmax(run);
         run.guards.push_back({"out", 37 * 130 * 4, 4});
       },
       "guard-bands"},
      {"differs between runs",
       [](FakeRun& run) {
         Softmax(run);
         run.Set("out", 0, run.Get("out", 0) * (1 + 1e-7 * static_cast<double>(run.request.options.seed % 2)));
       },
       "determinism"},
      {"knows the recorded seed",
       [](FakeRun& run) {
         Softmax(run);
         if (run.request.options.seed != 1 && run.request.options.seed != ~uint64_t{1}) run.Set("out", 3, 0.5);
       },
       "secret-seed"},
      {"no maximum subtracted",
       [](FakeRun& run) {
         const auto columns = static_cast<size_t>(run.Scalar("C"));
         for (size_t r = 0; r < static_cast<size_t>(run.Scalar("N")); ++r) {
           float sum = 0;
           for (size_t i = 0; i < columns; ++i) sum += std::exp(static_cast<float>(run.Get("in", r * columns + i)));
           for (size_t i = 0; i < columns; ++i)
             run.Set("out", r * columns + i, std::exp(static_cast<float>(run.Get("in", r * columns + i))) / sum);
         }
       },
       "needle"},
      {"launders NaN", each([](FakeRun& run, size_t i) {
         if (std::isnan(run.Get("out", i))) run.Set("out", i, 0);
       }),
       "special-values"},
      {"leaves the tail of other shapes",
       [](FakeRun& run) {
         const auto poison = run.buffers[0];
         Softmax(run);
         if (run.Scalar("C") != 130) std::copy(poison.end() - 64, poison.end(), run.buffers[0].end() - 64);
       },
       "odd-shape"},
      {"knows one shape",
       [](FakeRun& run) {
         Softmax(run);
         if (run.Scalar("C") != 130) run.Set("out", 0, 7);
       },
       "odd-shape"},
  };
  for (const Hostile& candidate : hostile) {
    SCOPED_TRACE(candidate.name);
    JudgeBench bench(SoftmaxSpec(37, 130), Softmax);
    ExpectCheck(bench.Try(candidate.kernel), candidate.check);
  }
}

TEST(Judge, StopsAKernelThatFitsTheTestDataOnly) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  std::get<core::BufferArgument>(spec.args[1].kind).init = {core::Init::Kind::kUniform, 0.5, 1, {}, {}, {}, {}};
  const auto relu = [](FakeRun& run) {
    for (size_t i = 0; i < static_cast<size_t>(run.Scalar("n")); ++i)
      run.Set("out", i, run.Get("in", i) > 0 ? run.Get("in", i) : 0);
  };
  JudgeBench bench(spec, relu);
  const auto verdict = bench.Try([](FakeRun& run) {
    for (size_t i = 0; i < static_cast<size_t>(run.Scalar("n")); ++i) run.Set("out", i, run.Get("in", i));
  });
  ASSERT_TRUE(verdict) << verdict.error().Format();
  const auto* wrong = std::get_if<core::WrongResult>(&*verdict);
  ASSERT_NE(wrong, nullptr);
  EXPECT_EQ(wrong->check, core::Check::kDistributions);
  EXPECT_NE(wrong->case_name.find("sign-mix"), std::string::npos) << wrong->case_name;
}

TEST(Judge, FaultsAndRefusalsComeThroughWithTheirTrial) {
  JudgeBench bench(SoftmaxSpec(37, 130), Softmax);
  const auto verdict = bench.Try([](FakeRun& run) {
    Softmax(run);
    if (run.Scalar("C") != 130)
      run.outcome = core::Faulted{{core::Fault::Kind::kOutOfBounds, "out-of-bounds write"}, ""};
  });
  ASSERT_TRUE(verdict) << verdict.error().Format();
  const auto* faulted = std::get_if<core::Faulted>(&*verdict);
  ASSERT_NE(faulted, nullptr);
  EXPECT_NE(faulted->case_name.find("odd shape of small"), std::string::npos) << faulted->case_name;

  JudgeBench failing(SoftmaxSpec(37, 130), Softmax);
  const auto compile = failing.Try([](FakeRun& run) { run.outcome = core::CompileFailed{"k.cu:3: error"}; });
  ASSERT_TRUE(compile);
  EXPECT_TRUE(std::holds_alternative<core::CompileFailed>(*compile));
}

TEST(Judge, WhatTheOriginalCannotDoIsNotAsked) {
  const auto picky = [](FakeRun& run) {
    if (run.Scalar("C") % 2 != 0) {
      run.outcome = core::Faulted{{core::Fault::Kind::kMisaligned, "misaligned"}, ""};
      return;
    }
    Softmax(run);
  };
  JudgeBench bench(SoftmaxSpec(37, 130), picky);
  ExpectPassed(bench.Try(picky));
  ASSERT_FALSE(bench.notes.empty());
  EXPECT_TRUE(bench.notes[0].starts_with("odd-shape: not tested with ")) << bench.notes[0];
}

TEST(Judge, SecretSeedsComeAfterTheCandidateRan) {
  JudgeBench bench(SoftmaxSpec(37, 130), Softmax);
  bench.options.secret_seed.reset();
  ExpectPassed(bench.Try(Softmax, judge::VerificationLevel::kQuick));
  std::set<std::vector<std::byte>> first, second;
  for (const auto& call : bench.untrusted.calls) first.insert(call.buffers[1].bytes.Copy());
  JudgeBench again(SoftmaxSpec(37, 130), Softmax);
  again.options.secret_seed.reset();
  ExpectPassed(again.Try(Softmax, judge::VerificationLevel::kQuick));
  for (const auto& call : again.untrusted.calls) second.insert(call.buffers[1].bytes.Copy());
  int shared = 0;
  for (const auto& bytes : second) shared += first.contains(bytes) ? 1 : 0;
  EXPECT_LE(shared, 1);  // only the case's own inputs
  EXPECT_GE(second.size(), 8u);
}

TEST(Judge, RefusesACaseThatCannotTell) {
  core::KernelSpec spec = SoftmaxSpec(37, 130);
  std::get<core::BufferArgument>(spec.args[1].kind).init = {core::Init::Kind::kConstant, 1, 0, {}, {}, {}, {}};
  JudgeBench bench(spec, Softmax);
  const auto verdict = bench.Try(Softmax);
  ASSERT_TRUE(verdict) << verdict.error().Format();
  const auto* refused = std::get_if<core::Refused>(&*verdict);
  ASSERT_NE(refused, nullptr) << core::VerdictMessage(*verdict);
  EXPECT_EQ(refused->check, core::Check::kToleranceSelfTest);
  EXPECT_NE(refused->reason.find("unable to tell"), std::string::npos);
  EXPECT_TRUE(bench.untrusted.calls.empty());
}

TEST(Judge, RefusesAnOriginalThatBreaksItsManifest) {
  JudgeBench bench(SoftmaxSpec(37, 130), [](FakeRun& run) {
    Softmax(run);
    run.Set("in", 0, 1);
  });
  const auto verdict = bench.Try(Softmax);
  ASSERT_TRUE(verdict) << verdict.error().Format();
  const auto* refused = std::get_if<core::Refused>(&*verdict);
  ASSERT_NE(refused, nullptr);
  EXPECT_NE(refused->reason.find("inout"), std::string::npos);
}

TEST(Judge, LargeCasesAreMeasuredOnly) {
  core::KernelSpec spec = SoftmaxSpec(16, 100);
  spec.cases.push_back(MakeCase("large", {{"N", int64_t{64}}, {"C", int64_t{4096}}}));
  spec.cases.push_back(MakeCase("elsewhere", {{"N", int64_t{8}}, {"C", int64_t{8}}}));
  spec.cases.back().on = {core::DeviceKind::kCuda};
  spec.cases.push_back(MakeCase("too large", {{"N", int64_t{1} << 20}, {"C", int64_t{1} << 20}}));
  JudgeBench bench(spec, Softmax);
  bench.options.verify_instructions = 1'000'000;
  bench.options.sample_instructions = 100'000;
  const auto verdict = bench.Try(OnlineSoftmax);
  ExpectPassed(verdict);
  const auto& measured = std::get<core::Measured>(*verdict);
  ASSERT_EQ(measured.cases.size(), 2u);
  EXPECT_EQ(measured.cases[0].case_name, "small");
  EXPECT_FALSE(measured.cases[0].sampled);
  EXPECT_EQ(measured.cases[1].case_name, "large");
  EXPECT_TRUE(measured.cases[1].sampled);

  spec.cases.erase(spec.cases.begin());
  JudgeBench none(spec, Softmax);
  none.options.verify_instructions = 1'000'000;
  const auto error = none.Try(OnlineSoftmax);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, ErrorCode::kConfig);
  EXPECT_NE(error.error().remedy.find("on: [sim]"), std::string::npos);
}

TEST(Judge, LargeCasesAreWrittenTo) {
  core::KernelSpec spec = SoftmaxSpec(16, 100);
  spec.cases.push_back(MakeCase("large", {{"N", int64_t{64}}, {"C", int64_t{4096}}}));
  JudgeBench bench(spec, Softmax);
  bench.options.verify_instructions = 1'000'000;
  bench.options.sample_instructions = 100'000;
  const auto verdict = bench.Try([](FakeRun& run) {  // correct wherever it is verified
    if (run.Scalar("N") < 64 || run.Scalar("C") < 4096) return Softmax(run);
    for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, 0);
  });
  ExpectCheck(verdict, "large-case");
}

TEST(Judge, LargeCasesAreTriedAtTheirLengths) {
  core::KernelSpec spec = SoftmaxSpec(16, 100);
  spec.cases.push_back(MakeCase("large", {{"N", int64_t{64}}, {"C", int64_t{4096}}}));
  JudgeBench bench(spec, Softmax);
  bench.options.verify_instructions = 1'000'000;
  const auto verdict = bench.Try([](FakeRun& run) {  // exact for small inputs, cheap for large ones
    Softmax(run);
    if (run.Scalar("C") == 4096) run.Set("out", 77, 1.01 * run.Get("out", 77));
  });
  ExpectCheck(verdict, "reduced-shape");
  EXPECT_NE(std::get<core::WrongResult>(*verdict).case_name.find("large with N="), std::string::npos);
  JudgeBench honest(spec, Softmax);
  honest.options.verify_instructions = 1'000'000;
  ExpectPassed(honest.Try(OnlineSoftmax));
}

TEST(Judge, PartlyWrittenOutputsStayPartlyWritten) {
  const auto triangle = [](FakeRun& run) {  // the upper half of each row is not written
    const auto columns = static_cast<size_t>(run.Scalar("C"));
    for (size_t i = 0; i < run.Size("out"); ++i)
      if (i % columns < (columns + 1) / 2) run.Set("out", i, 2 * run.Get("in", i));
  };
  JudgeBench bench(SoftmaxSpec(20, 50), triangle);
  ExpectPassed(bench.Try(triangle));
  JudgeBench writes_more(SoftmaxSpec(20, 50), triangle);
  ExpectCheck(writes_more.Try([](FakeRun& run) {
    for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, 2 * run.Get("in", i));
  }),
              "comparison");
}

TEST(Judge, IntegerOutputsAreExact) {
  const auto argmax = [](bool last) {
    return [last](FakeRun& run) {
      const auto columns = static_cast<size_t>(run.Scalar("C"));
      for (size_t r = 0; r < static_cast<size_t>(run.Scalar("N")); ++r) {
        size_t best = 0;
        for (size_t i = 1; i < columns; ++i) {
          const double x = run.Get("in", r * columns + i), y = run.Get("in", r * columns + best);
          if (last ? x >= y : x > y) best = i;
        }
        run.Set("out", r, static_cast<double>(best));
      }
    };
  };
  JudgeBench bench(RowSumSpec(core::DType::kI32, 37, 130), argmax(false));
  ExpectPassed(bench.Try(argmax(false)));
  JudgeBench ties(RowSumSpec(core::DType::kI32, 37, 130), argmax(false));
  const auto verdict = ties.Try(argmax(true));
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(std::holds_alternative<core::WrongResult>(*verdict)) << core::VerdictMessage(*verdict);
}

TEST(Judge, RecordsAndReplays) {
  JudgeBench bench(SoftmaxSpec(37, 130), Softmax);
  {
    judge::Judge judge(bench.spec, MarkedSource("original"), "sim:h200", bench.trusted, bench.options);
    const auto report = judge.Record();
    ASSERT_TRUE(report) << report.error().Format();
    ASSERT_EQ(report->cases.size(), 1u);
    EXPECT_TRUE(report->cases[0].recorded);
    EXPECT_EQ(report->cases[0].path, ".warpwright/references/softmax/small.json");
    EXPECT_GT(report->cases[0].bytes, 37u * 130 * 4);
    EXPECT_LT(report->cases[0].bytes, 37u * 130 * 4 + 4096);
  }
  const auto verdict = bench.Try(OnlineSoftmax);
  ExpectPassed(verdict);
  const auto& checks = std::get<core::Measured>(*verdict).checks;
  EXPECT_NE(std::find(checks.begin(), checks.end(), core::CheckName(core::Check::kRecordedReference)), checks.end());

  // If an original computes something other than what was recorded, the user must explain it.
  JudgeBench changed(SoftmaxSpec(37, 130), [](FakeRun& run) {
    Softmax(run);
    for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, 2 * run.Get("out", i));
  });
  changed.options.repository = bench.folder.path();
  judge::Judge judge(changed.spec, MarkedSource("original"), "sim:h200", changed.trusted, changed.options);
  const auto baseline = judge.Prepare();
  ASSERT_FALSE(baseline);
  EXPECT_NE(baseline.error().message.find("no longer gives what was recorded"), std::string::npos);
  EXPECT_NE(baseline.error().remedy.find("warpwright record"), std::string::npos);
}

TEST(Judge, SuppliedReferencesCount) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 64);
  const auto twice = [](double factor, double special) {
    return [=](FakeRun& run) {
      for (size_t i = 0; i < run.Size("out"); ++i)
        run.Set("out", i, (run.Get("in", i) == 1000 ? special : factor) * run.Get("in", i));
    };
  };
  judge::TensorFile file;
  file.tensors["in"] = core::Tensor::Zeros(core::DType::kF32, {64});
  file.tensors["out"] = core::Tensor::Zeros(core::DType::kF32, {64});
  for (size_t i = 0; i < 64; ++i) {
    core::StoreFromDouble(core::DType::kF32, file.tensors["in"].data.data(), i, 1000);
    core::StoreFromDouble(core::DType::kF32, file.tensors["out"].data.data(), i, 2000);
  }
  const auto write = [&](JudgeBench& bench) {
    return base::WriteFileAtomically(judge::ReferencePath(bench.folder.path(), spec.name, "n") += ".safetensors",
                                     judge::EncodeSafetensors(file));
  };
  JudgeBench good(spec, twice(2, 2));
  ASSERT_TRUE(write(good));
  ExpectPassed(good.Try(twice(2, 2)));
  JudgeBench wrong(spec, twice(2, 2));
  ASSERT_TRUE(write(wrong));
  ExpectCheck(wrong.Try(twice(2, 3)), "recorded-reference");
  JudgeBench original_wrong(spec, twice(3, 3));
  ASSERT_TRUE(write(original_wrong));
  const auto error = original_wrong.Try(twice(3, 3));
  ASSERT_FALSE(error);
  EXPECT_NE(error.error().message.find("the original itself does not give"), std::string::npos);
}

// On a GPU a small case of the simulator is compared; what is timed is the GPU's own.
TEST(Judge, AGpuVerifiesTheSmallCasesOfTheSimulator) {
  JudgeBench bench;
  bench.device = "cuda";
  bench.spec.cases.push_back(bench.spec.cases.front());
  bench.spec.cases.back().name = "small";
  bench.spec.cases.back().on = {core::DeviceKind::kSim};
  judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
  const auto baseline = judge.Prepare();
  ASSERT_TRUE(baseline) << baseline.error().message;
  ASSERT_EQ(baseline->cases.size(), 2u);
  EXPECT_TRUE(baseline->cases[1].verified);
  EXPECT_FALSE(baseline->cases[1].measured);
  ASSERT_TRUE(core::Passed(baseline->original));
  EXPECT_EQ(std::get<core::Measured>(baseline->original).cases.size(), 1u);

  bench.spec.cases.erase(bench.spec.cases.begin());
  const auto untimed =
      judge::Judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options).Prepare();
  ASSERT_FALSE(untimed);
  EXPECT_NE(untimed.error().message.find("can be timed on cuda"), std::string::npos) << untimed.error().message;
}

// An allocation of nothing has no address of its own there.
TEST(Judge, OnAGpuCallsOfNothingAreSimulated) {
  JudgeBench bench;
  bench.device = "cuda";
  bench.options.simulator = "sim:h200";
  const auto verdict = bench.Try([](FakeRun& run) {
    if (run.Size("out") > 0) return Twice(run);
    run.outcome = core::Refused{core::Check::kRecord, "the launcher ended the process", "k.cu", 1};
  });
  ASSERT_TRUE(verdict);
  ASSERT_TRUE(std::holds_alternative<core::Refused>(*verdict)) << core::VerdictMessage(*verdict);
  EXPECT_NE(core::VerdictMessage(*verdict).find("which the original handles"), std::string::npos);
}

// Of no terms a sum is nothing, and what is made of a constant beside it rounds as ever: another order of operations is
// no other result, another constant is.
TEST(Judge, OnAGpuWhatIsMadeBesideNothingMayRound) {
  for (const double constant : {1.0 / 3, 0.4}) {
    const auto compute = [](double beside) {
      return [=](FakeRun& run) {
        const std::vector<double> values = run.Values("in");
        std::vector<double> sums(static_cast<size_t>(run.Scalar("n")), beside);
        for (size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += values[i];
        run.SetValues("out", sums);
      };
    };
    core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
    for (core::Argument& argument : spec.args)
      if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind); buffer && argument.name == "in")
        buffer->shape = {*core::Expression::Parse("k"), *core::Expression::Parse("n")};
    spec.args.push_back({.name = "k", .kind = core::ScalarArgument{core::DType::kI32}});
    for (core::Case& c : spec.cases) c.scalars["k"] = int64_t{5};
    JudgeBench bench(spec, compute(1.0 / 3));
    bench.device = "cuda";
    bench.options.simulator = "sim:h200";
    const auto verdict = bench.Try([&](FakeRun& run) {
      const bool nothing = run.Scalar("k") == 0;
      compute(nothing ? constant * (1 + 0x1p-23) : 1.0 / 3)(run);
    });
    ASSERT_TRUE(verdict) << verdict.error().Format();
    EXPECT_EQ(core::Passed(*verdict), constant != 0.4) << core::VerdictMessage(*verdict);
  }
}

// A product of whole matrix fragments reads behind its buffers at odd sizes: a GPU does not tell, the simulator does.
TEST(Judge, OnAGpuSizesThatTheOriginalCannotTakeProveNothing) {
  const auto in_fours = [](bool faults) {
    return FakeKernel([faults](FakeRun& run) {
      Twice(run);
      if (run.Size("out") % 4 == 0) return;
      if (run.request.device != "cuda") {
        if (faults) run.outcome = core::Faulted{{core::Fault::Kind::kOutOfBounds, "read behind in"}, ""};
      } else {
        run.Set("out", 0, 1234);
      }
    });
  };
  for (const bool faults : {true, false}) {
    JudgeBench bench(in_fours(faults));
    bench.device = "cuda";
    bench.options.simulator = "sim:h200";
    const auto verdict = bench.Try(Twice);
    EXPECT_EQ(verdict && core::Passed(*verdict), faults) << core::VerdictMessage(*verdict);
  }
}

// The float64 shadow runs where a candidate's bits differ from the original's, and nowhere else.
TEST(Judge, EqualBitsNeedNoTruth) {
  const auto shadow_runs = [](double error) {
    JudgeBench bench;
    const auto verdict = bench.Try([error](FakeRun& run) {
      std::vector<double> values = run.Values("in");
      for (size_t i = 0; i < values.size(); ++i)
        values[i] *= i % 8 != 0 || values[i] == std::floor(values[i]) ? 2 : i % 16 == 0 ? 2 + 2 * error : 2 - 2 * error;
      run.SetValues("out", values);
    });
    EXPECT_TRUE(verdict && core::Passed(*verdict)) << core::VerdictMessage(*verdict);
    size_t wide = 0;
    for (const auto& call : bench.trusted.calls) wide += call.buffers[1].bytes.size() == 8 * 1000 ? 1 : 0;
    return wide;
  };
  const size_t equal = shadow_runs(0), different = shadow_runs(0x1p-23);
  EXPECT_EQ(equal, 2u);  // of the case's own inputs: as they are, and perturbed
  EXPECT_GT(different, 10u);
}

TEST(Judge, AnswersOfTheOriginalAreKept) {
  JudgeBench bench(SoftmaxSpec(37, 130), Softmax);
  bench.untrusted.Add("candidate", Softmax);
  judge::Judge judge(bench.spec, MarkedSource("original"), "sim:h200", bench.trusted, bench.options);
  ExpectPassed(judge.Evaluate(MarkedSource("candidate"), bench.untrusted, judge::VerificationLevel::kFull));
  const size_t before = bench.trusted.calls.size();
  ExpectPassed(judge.Evaluate(MarkedSource("candidate"), bench.untrusted, judge::VerificationLevel::kFull));
  EXPECT_EQ(bench.trusted.calls.size(), before);  // the secret seed is pinned here
}

TEST(Judge, WhatCouldNotBeCountedIsOfTheOriginalAndTheFullResult) {
  const FakeKernel uncounted = [](FakeRun& run) {
    Twice(run);
    run.notes = {"no permission: ask root"};
  };
  JudgeBench bench(uncounted);
  bench.untrusted.Add("candidate", uncounted);
  judge::Judge judge(bench.spec, MarkedSource("original"), bench.device, bench.trusted, bench.options);
  const auto notes_of = [](const core::Verdict& verdict) {
    const auto& notes = std::get<core::Measured>(verdict).notes;
    return std::count(notes.begin(), notes.end(), "counters: no permission: ask root");
  };
  const auto baseline = judge.Prepare();
  ASSERT_TRUE(baseline);
  EXPECT_EQ(notes_of(baseline->original), 1);
  for (const auto& [effort, times] :
       {std::pair(judge::VerificationLevel::kQuick, 0), std::pair(judge::VerificationLevel::kFull, 1)}) {
    const auto verdict = judge.Evaluate(MarkedSource("candidate"), bench.untrusted, effort);
    ASSERT_TRUE(verdict && core::Passed(*verdict));
    EXPECT_EQ(notes_of(*verdict), times);
  }
}

// Of the sizes that the judge makes up, some have no meaning in the manifest: they are left out, and said.
struct Unmeant {
  const char* name;
  void (*change)(core::KernelSpec&);
  const char* said;
};
const Unmeant kUnmeant[] = {
    {"NegativeExtent",
     [](core::KernelSpec& spec) {
       spec.args.push_back(Arg("edge", Buffer(core::DType::kF32, {"n - 900"}, core::Role::kIn)));
     },
     "'n - 900' is negative"},
    {"DivisionByZero",
     [](core::KernelSpec& spec) {
       spec.args.push_back(Arg("edge", Buffer(core::DType::kF32, {"4 / (n - 1)"}, core::Role::kIn)));
     },
     "n=1 "},
    {"EmptyRange",
     [](core::KernelSpec& spec) {
       core::BufferArgument index = Buffer(core::DType::kI32, {"n"}, core::Role::kIn);
       index.init.kind = core::Init::Kind::kIntegers;
       index.init.low = *core::Expression::Parse("0");
       index.init.high = *core::Expression::Parse("n - 900");
       spec.args.push_back(Arg("index", index));
     },
     "of its integers is empty"},
};
class JudgeUnmeant : public testing::TestWithParam<Unmeant> {};
TEST_P(JudgeUnmeant, GeneratedShapeIsSkipped) {
  JudgeBench bench;
  GetParam().change(bench.spec);
  const auto verdict = bench.Try(Twice);
  ASSERT_TRUE(verdict) << verdict.error().Format();
  EXPECT_TRUE(core::Passed(*verdict)) << core::VerdictMessage(*verdict);
  const bool said = std::any_of(bench.notes.begin(), bench.notes.end(), [](const std::string& note) {
    return note.starts_with("odd-shape: not tested with") && note.find(GetParam().said) != std::string::npos;
  });
  EXPECT_TRUE(said) << testing::PrintToString(bench.notes);
  // Those that it allows are tried nevertheless.
  JudgeBench other;
  GetParam().change(other.spec);
  const auto wrong = other.Try([](FakeRun& run) {
    Twice(run);
    if (run.Size("out") == 1001) run.Set("out", 0, 7);
  });
  ASSERT_TRUE(wrong) << wrong.error().Format();
  const auto* found = std::get_if<core::WrongResult>(&*wrong);
  ASSERT_NE(found, nullptr) << core::VerdictMessage(*wrong);
  EXPECT_EQ(found->check, core::Check::kOddShape);
}
INSTANTIATE_TEST_SUITE_P(Table, JudgeUnmeant, testing::ValuesIn(kUnmeant),
                         [](const auto& info) { return std::string(info.param.name); });

// A path of its own for a factor of zero is right for all ordinary numbers.
TEST(Judge, TriesSpecialValuesWhereAFactorIsZero) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  spec.args.push_back(Arg("slope", core::ScalarArgument{core::DType::kF32, {}}));
  spec.cases[0].scalars["slope"] = 0.25;
  const auto leaky = [](bool zero_apart) {
    return [zero_apart](FakeRun& run) {
      const double slope = std::get<double>(run.request.scalars.at("slope"));
      std::vector<double> values = run.Values("in");
      for (double& value : values)
        if (!(value > 0)) value = zero_apart && slope == 0 ? 0 : slope * value;
      run.SetValues("out", values);
    };
  };
  JudgeBench same(spec, leaky(false)), other(spec, leaky(false));
  ExpectPassed(same.Try(leaky(false)));
  ExpectCheck(other.Try(leaky(true)), "special-values");
}

}  // namespace
}  // namespace warpwright
