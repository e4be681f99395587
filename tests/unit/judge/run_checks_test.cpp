// Determinism, module state, precision and bytes read, on simulated devices and on GPUs.
#include "judge/run_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

// Correct, but off in the last place depending on the run number.
void Wavers(FakeRun& run) {
  Twice(run);
  if (run.run > 0) run.Set("out", 7, run.Get("out", 7) * (1 + 0x1.0p-23));
}
void Races(FakeRun& run) {
  Twice(run);
  if (run.run > 1) run.Set("out", 7, run.Get("out", 7) + 1);
}
std::string CheckOf(const Result<core::Verdict>& verdict) {
  if (!verdict) return verdict.error().Format();
  return std::visit(Overload{[](const core::CompileFailed&) { return std::string("compile"); },
                             [](const core::Refused& v) { return v.check.text(); },
                             [](const core::WrongResult& v) { return std::string(Name(v.check)); },
                             [](const core::Faulted& v) { return std::string(core::Name(v.fault.kind)); },
                             [](const core::Measured&) { return std::string("passed"); }},
                    *verdict);
}

TEST(RunChecks, FurtherRunsMustAgreeUnlessTheOriginalsDoNot) {
  struct Row {
    FakeKernel original, candidate;
    bool allowed;
    const char* check;
  };
  const Row rows[] = {{Twice, Twice, false, "passed"},      {Twice, Wavers, false, "determinism"},
                      {Wavers, Wavers, false, "passed"},    {Twice, Wavers, true, "passed"},
                      {Twice, Races, false, "determinism"}, {Wavers, Races, false, "determinism"},
                      {Twice, Races, true, "determinism"},  {Wavers, Twice, false, "passed"}};
  for (const char* device : {"sim:h200", "cuda:0"})
    for (size_t i = 0; i < std::size(rows); ++i) {
      JudgeBench bench(rows[i].original);
      bench.device = device;
      if (rows[i].allowed) bench.spec.allow.insert(core::Allow::kNondeterministic);
      EXPECT_EQ(CheckOf(bench.Try(rows[i].candidate)), rows[i].check) << device << " " << i;
    }
  JudgeBench unfit(Races);  // an original that is sometimes wrong is no evidence about others
  EXPECT_EQ(CheckOf(unfit.Try(Races)), "passed");
  ASSERT_FALSE(unfit.notes.empty());
  EXPECT_TRUE(unfit.notes[0].starts_with("determinism: not tested")) << unfit.notes[0];
}

// As a layer without a bias; what faults without one is called with all of them alone.
TEST(RunChecks, WhatTheOriginalDoesWithoutABufferTheCandidateDoes) {
  const auto lacks_input = [](const FakeRun& run) {
    return std::any_of(run.request.buffers.begin(), run.request.buffers.end(),
                       [](const core::BufferContent& buffer) { return buffer.name == "in" && buffer.absent; });
  };
  const FakeKernel ones = [&](FakeRun& run) {
    Twice(run);
    for (size_t i = 0; lacks_input(run) && i < run.Size("out"); ++i) run.Set("out", i, 1);
  };
  const FakeKernel needs = [&](FakeRun& run) {
    Twice(run);
    if (lacks_input(run)) run.outcome = core::Faulted{{core::Fault::Kind::kOutOfBounds, "read at null"}, ""};
  };
  const struct {
    FakeKernel original, candidate;
    const char* check;
  } rows[] = {{ones, ones, "passed"},
              {ones, Twice, "other-scalars"},
              {ones, needs, "out-of-bounds"},
              {needs, Twice, "passed"},
              {needs, needs, "passed"}};
  for (const auto& row : rows) {
    JudgeBench bench(ElementwiseSpec(core::DType::kF32, 100), row.original);
    EXPECT_EQ(CheckOf(bench.Try(row.candidate)), row.check);
  }
}

// Of the same points a distance may be what is left of large squares.
TEST(RunChecks, InputsMayBeEqual) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 100);
  spec.args.push_back(Arg("other", Buffer(core::DType::kF32, {"n"}, core::Role::kIn)));
  const auto distance = [](FakeRun& run, bool apart) {
    const double cancelled = apart && run.Values("in") == run.Values("other") ? 0.125 : 0;
    for (size_t i = 0; i < run.Size("out"); ++i) {
      const double a = run.Get("in", i), next = run.Get("other", (i + 1) % run.Size("out"));
      run.Set("out", i, a - next + cancelled);
    }
  };
  for (const bool apart : {false, true}) {
    JudgeBench bench(spec, [&](FakeRun& run) { distance(run, false); });
    EXPECT_EQ(CheckOf(bench.Try([&](FakeRun& run) { distance(run, apart); })), apart ? "distributions" : "passed");
  }
}

TEST(RunChecks, ScratchMayBeLeftInAnyState) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 100);
  spec.args.push_back(Arg("scratch", Buffer(core::DType::kF32, {"n"}, core::Role::kScratch)));
  JudgeBench bench(spec);
  EXPECT_EQ(CheckOf(bench.Try([](FakeRun& run) {
              Twice(run);
              run.Set("scratch", 0, run.run);
            })),
            "passed");
}

TEST(RunChecks, WhatIsAskedOfAGpu) {
  for (const judge::VerificationLevel effort : {judge::VerificationLevel::kQuick, judge::VerificationLevel::kFull}) {
    JudgeBench bench;
    bench.device = "cuda:0";
    EXPECT_EQ(CheckOf(bench.Try(Twice, effort)), "passed");
    uint32_t runs = 0;
    int ends = 0, begins = 0, half = 0, noise = 0, speed_of_light = 0;
    for (const auto& call : bench.untrusted.calls) {
      runs = std::max(runs, call.options.runs);
      half += call.options.perturbation == core::Perturbation::kHalfMultiprocessors;
      noise += call.options.perturbation == core::Perturbation::kNoise;
      speed_of_light += call.options.depth == core::CounterDepth::kSpeedOfLight;
      if (call.options.page_guard == core::PageGuard::kNone) continue;
      (call.options.page_guard == core::PageGuard::kEnds ? ends : begins) += 1;
      EXPECT_TRUE(call.buffers[1].read_only);
      EXPECT_FALSE(call.buffers[0].read_only);
    }
    const bool full = effort == judge::VerificationLevel::kFull;
    EXPECT_EQ(runs, full ? 20u : 3u);
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(begins, full ? 1 : 0);
    EXPECT_EQ(half, full ? 1 : 0);
    EXPECT_EQ(noise, full ? 1 : 0);
    EXPECT_EQ(speed_of_light, full ? 1 : 0);
  }
  JudgeBench simulated;
  EXPECT_EQ(CheckOf(simulated.Try(Twice, judge::VerificationLevel::kQuick)), "passed");
  for (const auto& call : simulated.untrusted.calls) {
    EXPECT_LE(call.options.runs, 2u);
    EXPECT_EQ(call.options.page_guard, core::PageGuard::kNone);
    EXPECT_EQ(call.options.perturbation, core::Perturbation::kNone);
  }
}

TEST(RunChecks, OfALargeCaseOnAGpuAPartTakesInputsThatNeedNoSize) {
  constexpr size_t kWhole = 4000, kPart = 1500;
  const auto drops_infinities = [](FakeRun& run) {
    Twice(run);
    for (size_t i = 0; run.Size("out") == kWhole && i < kWhole; ++i)
      if (std::isinf(run.Get("in", i))) run.Set("out", i, 0);
  };
  const auto takes_no_constant = [](FakeRun& run) {
    Twice(run);
    bool constant = run.Size("out") == kPart;
    for (size_t i = 1; constant && i < 16; ++i) constant = run.Get("in", i) == run.Get("in", 0);
    if (constant) run.Set("out", 0, -1);
  };
  const struct {
    const char* device;
    FakeKernel candidate;
    const char* check;
    bool has_part;
  } rows[] = {{"cuda:0", Twice, "passed", true},
              {"sim:h200", Twice, "passed", false},
              {"cuda:0", drops_infinities, "special-values", true},
              {"cuda:0", takes_no_constant, "distributions", true}};
  for (const auto& row : rows) {
    JudgeBench bench(ElementwiseSpec(core::DType::kF32, kWhole));
    bench.device = row.device;
    bench.options.max_input_bytes = kPart * 8;
    EXPECT_EQ(CheckOf(bench.Try(row.candidate)), row.check);
    std::map<size_t, std::set<uint64_t>> seeds;  // by size
    for (const auto& call : bench.untrusted.calls)
      seeds[call.buffers.at(0).bytes.size() / sizeof(float)].insert(call.options.seed);
    EXPECT_EQ(seeds.contains(kPart), row.has_part);
    if (!row.has_part || row.check != std::string("passed")) continue;
    EXPECT_GT(seeds[kPart].size(), seeds[kWhole].size());
  }
}

TEST(RunChecks, PerturbationsAndExactMemoryShowWhatDependsOnThem) {
  const auto fails = [](auto when) {
    return FakeKernel([when](FakeRun& run) {
      Twice(run);
      if (when(run.request.options))
        run.outcome = core::Faulted{{core::Fault::Kind::kOutOfBounds, "read behind in"}, ""};
    });
  };
  const auto exact = [](const core::ExecuteOptions& o) { return o.page_guard == core::PageGuard::kEnds; };
  const auto begins = [](const core::ExecuteOptions& o) { return o.page_guard == core::PageGuard::kBegins; };
  const auto half = [](const core::ExecuteOptions& o) {
    return o.perturbation == core::Perturbation::kHalfMultiprocessors;
  };
  struct Row {
    FakeKernel original, candidate;
    const char* check;
  };
  const Row rows[] = {{Twice, fails(exact), "out-of-bounds"},
                      {fails(exact), fails(exact), "passed"},
                      {Twice, fails(begins), "out-of-bounds"},
                      {fails(begins), fails(begins), "passed"},
                      {Twice, fails(half), "out-of-bounds"},
                      {fails(half), fails(half), "passed"},
                      {Twice,
                       [](FakeRun& run) {
                         Twice(run);
                         if (run.request.options.perturbation == core::Perturbation::kNoise) run.Set("out", 1, 0);
                       },
                       "determinism"}};
  for (size_t i = 0; i < std::size(rows); ++i) {
    JudgeBench bench(rows[i].original);
    bench.device = "cuda:0";
    EXPECT_EQ(CheckOf(bench.Try(rows[i].candidate)), rows[i].check) << i;
  }
}

TEST(RunChecks, StateForTheNextLaunchNeedsAllowance) {
  const auto counts = [](FakeRun& run) {
    Twice(run);
    run.changed_globals = {"calls"};
  };
  JudgeBench hidden;
  const auto verdict = hidden.Try(counts, judge::VerificationLevel::kQuick);
  EXPECT_EQ(CheckOf(verdict), "module-state");
  EXPECT_NE(core::VerdictMessage(*verdict).find("allow: [state]"), std::string::npos);
  JudgeBench allowed;
  allowed.spec.allow.insert(core::Allow::kState);
  EXPECT_EQ(CheckOf(allowed.Try(counts)), "passed");
  JudgeBench like_the_original(counts);
  EXPECT_EQ(CheckOf(like_the_original.Try(counts)), "passed");
  EXPECT_FALSE(like_the_original.notes.empty());
  JudgeBench at_odd_shapes;
  EXPECT_EQ(CheckOf(at_odd_shapes.Try([&](FakeRun& run) { run.Scalar("n") == 1000 ? Twice(run) : counts(run); })),
            "module-state");
}

TEST(RunChecks, NarrowerTypesThanTheOriginalsNeedAllowance) {
  using Kind = core::CodeUseKind;
  using F = core::NumberFormat;
  struct Row {
    std::optional<core::CodeUse> original, candidate;
    std::set<core::Allow> allow;
    core::DType dtype;
    const char* check;
  };
  const Row rows[] = {
      {std::nullopt, core::CodeUse{Kind::kConversion, F::kF16, {}}, {}, core::DType::kF32, "ptx-rules"},
      {std::nullopt,
       core::CodeUse{Kind::kConversion, F::kF16, {}},
       {core::Allow::kTf32},
       core::DType::kF32,
       "ptx-rules"},
      {std::nullopt,
       core::CodeUse{Kind::kConversion, F::kF16, {}},
       {core::Allow::kReducedPrecision},
       core::DType::kF32,
       "passed"},
      {core::CodeUse{Kind::kConversion, F::kF16, {}},
       core::CodeUse{Kind::kConversion, F::kF16, {}},
       {},
       core::DType::kF32,
       "passed"},
      {std::nullopt, core::CodeUse{Kind::kConversion, F::kTF32, {}}, {core::Allow::kTf32}, core::DType::kF32, "passed"},
      {std::nullopt, core::CodeUse{Kind::kProducts, F::kTF32, {}}, {}, core::DType::kF32, "ptx-rules"},
      {std::nullopt, core::CodeUse{Kind::kProducts, F::kTF32, {}}, {core::Allow::kTf32}, core::DType::kF32, "passed"},
      {std::nullopt, core::CodeUse{Kind::kProducts, F::kBF16, {}}, {}, core::DType::kBF16, "passed"},  // of bf16 inputs
      {std::nullopt, core::CodeUse{Kind::kProducts, F::kBF16, {}}, {}, core::DType::kF32, "ptx-rules"},
      {std::nullopt, core::CodeUse{Kind::kSums, F::kF16, {}}, {}, core::DType::kF16, "ptx-rules"},
      {std::nullopt, core::CodeUse{Kind::kArithmetic, F::kF16, {}}, {}, core::DType::kF16, "ptx-rules"},
      {core::CodeUse{Kind::kArithmetic, F::kF16, {}},
       core::CodeUse{Kind::kArithmetic, F::kF16, {}},
       {},
       core::DType::kF16,
       "passed"},
      {std::nullopt, core::CodeUse{Kind::kConversion, F::kF32, {}}, {}, core::DType::kF32, "passed"},
      {std::nullopt, core::CodeUse{Kind::kConversion, F::kF32, {}}, {}, core::DType::kF64, "ptx-rules"},
      {std::nullopt, core::CodeUse{Kind::kApproximate, {}, "ex2"}, {}, core::DType::kF32, "passed"},
      {std::nullopt, core::CodeUse{Kind::kFlushed, {}, {}}, {}, core::DType::kF32, "passed"},
  };
  const auto using_it = [](const std::optional<core::CodeUse>& use) {
    return [use](FakeRun& run) {
      Twice(run);
      if (use) run.uses.insert({*use, "an.instruction %f1", "kernels/k.cu", 12});
    };
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    JudgeBench bench(ElementwiseSpec(rows[i].dtype, 500), using_it(rows[i].original));
    bench.spec.allow = rows[i].allow;
    const auto verdict = bench.Try(using_it(rows[i].candidate), judge::VerificationLevel::kQuick);
    ASSERT_EQ(CheckOf(verdict), rows[i].check) << i << " " << core::VerdictMessage(*verdict);
    const bool is_note = rows[i].candidate->kind == Kind::kApproximate || rows[i].candidate->kind == Kind::kFlushed;
    if (const auto* measured = std::get_if<core::Measured>(&*verdict)) {
      EXPECT_EQ(measured->notes.size(), is_note ? 1u : 0u) << i;
    }
    if (const auto* refused = std::get_if<core::Refused>(&*verdict)) {
      EXPECT_EQ(refused->line, 12);
    }
  }
}

TEST(RunChecks, SumsInAnyOrderNeedAllowance) {
  const core::CodeUse kUse{core::CodeUseKind::kUnorderedSums, core::NumberFormat::kF32, {}};
  const struct {
    const char* what;
    bool of_original, of_candidate, allowed;
    std::vector<uint64_t> blocks;  // of each launch
    bool refused;
  } rows[] = {{"several blocks", false, true, false, {8}, true},
              {"one of the launches has several blocks", false, true, false, {1, 8}, true},
              {"one block", false, true, false, {1}, false},
              {"as the original", true, true, false, {8}, false},
              {"allowed", false, true, true, {8}, false},
              {"no sums", false, false, false, {8}, false}};
  for (const auto& row : rows) {
    core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 100);
    if (row.allowed) spec.allow.insert(core::Allow::kNondeterministic);
    judge::TrialReference reference;
    if (row.of_original) reference.uses.insert({kUse, "", "", 0});
    core::Executed run;
    if (row.of_candidate) run.uses.insert({kUse, "red.global.add.f32 [%rd1], %f1", "kernels/k.cu", 12});
    for (const uint64_t blocks : row.blocks) run.launches.emplace_back().blocks_total = blocks;
    const judge::Failure failure = judge::CheckOrder(spec, reference, run);
    ASSERT_EQ(failure.has_value(), row.refused) << row.what;
    if (!failure) continue;
    EXPECT_EQ(CheckOf(*failure), "determinism");
    EXPECT_EQ(std::get<core::Refused>(*failure).line, 12);
  }
}

TEST(RunChecks, WhatTheOriginalComparesAndArgumentsAreNotNew) {
  judge::Trial trial;
  trial.c = MakeCase("n", {{"n", int64_t{1000}}, {"eps", 0.5}});
  judge::TrialReference reference;
  reference.compared = {32};
  core::Executed run;
  run.compared = {32, 4096, 1000, 0.5};
  EXPECT_EQ(judge::ComparedAnew(trial, reference, run), (std::set<double>{0.5, 4096}));
}

TEST(RunChecks, InputsThatTheOriginalReadsMustBeRead) {
  const auto reads = [](double l2_share, double dram_share) {
    return [=](FakeRun& run) {
      Twice(run);
      const auto bytes = 4.0 * static_cast<double>(run.Size("in"));
      run.counters.l2_read_bytes = static_cast<uint64_t>(l2_share * bytes);
      run.counters.dram_read_bytes = static_cast<uint64_t>(dram_share * bytes);
    };
  };
  struct Row {
    double original_l2, original_dram, candidate_l2;
    const char* check;
  };
  for (const Row& row : {Row{1, 1, 1, "passed"}, Row{1, 1, 0.91, "passed"}, Row{1, 1, 0.89, "bytes-read"},
                         Row{8, 1, 1, "passed"}, Row{8, 1, 0.5, "bytes-read"}, Row{0.25, 0.25, 0.25, "passed"},
                         Row{4, 0.25, 0.25, "passed"}, Row{1, 0, 0.1, "passed"}}) {
    JudgeBench bench(reads(row.original_l2, row.original_dram));
    EXPECT_EQ(CheckOf(bench.Try(reads(row.candidate_l2, row.candidate_l2), judge::VerificationLevel::kQuick)),
              row.check)
        << row.original_l2 << " " << row.original_dram << " " << row.candidate_l2;
  }
}

TEST(RunChecks, WhatWasNotCountedIsNotHeldAgainstAnybody) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  core::LaunchReport all, few;
  all.counters.l2_read_bytes = all.counters.dram_read_bytes = 4000;
  few.counters.l2_read_bytes = 10;
  core::CaseMeasurement original, candidate;
  original.launches = {all};
  candidate.launches = {few};
  EXPECT_TRUE(judge::CheckBytesRead(spec, spec.cases[0], original, candidate));
  candidate.launches[0].unmeasured = {"l2_read_bytes"};
  EXPECT_FALSE(judge::CheckBytesRead(spec, spec.cases[0], original, candidate));
  candidate.launches[0].unmeasured = {"barriers"};
  original.launches[0].unmeasured = {"l2_read_bytes"};
  EXPECT_FALSE(judge::CheckBytesRead(spec, spec.cases[0], original, candidate));
  original.launches[0].unmeasured = {};
  candidate.sampled = true;
  EXPECT_FALSE(judge::CheckBytesRead(spec, spec.cases[0], original, candidate));
}

TEST(RunChecks, WhatIsReadIsCountedByteByByteWhereItCanBe) {
  const auto run = [](uint64_t read, bool sampled = false) {
    core::Executed executed;
    executed.sampled = sampled;
    executed.extents = {{"x", read, 0, read, 0, true}, {"out", 0, 400, 0, 400, false}};
    return executed;
  };
  EXPECT_FALSE(judge::ReadsLess(run(1000), run(1000)));
  EXPECT_FALSE(judge::ReadsLess(run(1000), run(950)));
  EXPECT_TRUE(judge::ReadsLess(run(1000), run(800)));
  EXPECT_TRUE(judge::ReadsLess(run(1000), run(1000, true))) << "blocks that did not run may have read";
  EXPECT_TRUE(judge::ReadsLess(run(1000), core::Executed{})) << "not known";
}

TEST(RunChecks, WhatIsAllowedToKeepStateMustNotGoWrongLater) {
  const auto third_call = [](FakeRun& run) {
    Twice(run);
    run.changed_globals = {"calls"};
    if (run.request.options.earlier_calls >= 2) run.Set("out", 5, 99);
  };
  JudgeBench allowed;
  allowed.spec.allow.insert(core::Allow::kState);
  EXPECT_EQ(CheckOf(allowed.Try(third_call)), "module-state");
}

// What a GPU's run read of what it changed, the simulator tells of small trials alone.
TEST(RunChecks, OnAGpuLargeTrialsComeAfterOtherCalls) {
  for (const bool stale : {false, true}) {
    JudgeBench bench(ElementwiseSpec(core::DType::kF32, 1 << 17));
    bench.device = "cuda";
    bench.options.simulator = "sim:h200";
    const auto verdict = bench.Try([&](FakeRun& run) {
      Twice(run);
      run.changed_globals = {"scratch"};
      if (stale && run.request.device == "cuda" && run.request.options.earlier_calls > 0) run.Set("out", 5, 99);
    });
    EXPECT_EQ(CheckOf(verdict), stale ? "module-state" : "passed");
  }
}

}  // namespace
}  // namespace warpwright
