// Explanations to render: a real one found by `warpwright optimize --kernel softmax --device sim:h200` (its trajectory
// is in tests/golden/trajectories), one as from a GPU, and one that is too large for a body.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "memory/step_json.h"
#include "report/diff_summary.h"
#include "report/explain.h"
#include "report/review_notes.h"
#include "skills/cause.h"
#include "skills/library.h"
#include "tests/support/computation_samples.h"

namespace warpwright {

// The trajectory of a file with one JSON object per line: the task, then its steps.
inline memory::TrajectoryView LoadTrajectory(const std::string& name) {
  const auto text = base::ReadFile(std::string(WW_SOURCE_DIR) + "/tests/golden/trajectories/" + name);
  if (!text) throw std::logic_error(name + " is missing");
  std::istringstream lines(*text);
  std::string line;
  memory::TrajectoryView view;
  while (std::getline(lines, line)) {
    const nlohmann::json json = nlohmann::json::parse(line);
    if (json.contains("kernel")) {
      view.task.key = {json["kernel"], json["base"], json["device"], json["config"]};
      view.task.result = memory::DecodeResult(json["result"].get<std::string>()).value();
      view.task.counts = {json["rounds"], json["attempts"], json["evaluations"]};
      continue;
    }
    memory::StepView step;
    step.record = memory::DecodeStep(json["step"].get<std::string>()).value();
    step.outcome = memory::DecodeOutcome(json["outcome"].get<std::string>()).value();
    // The file is older than the cards' sentences, and than these fields of the evidence.
    const std::map<std::string, double> facts = {{"reduction_terms", 8192}, {"threads_per_block", 256}};
    static const skills::SkillLibrary library = skills::LoadBuiltInSkills().value();
    if (const skills::MethodCard* card = library.Find(step.record.method))
      step.outcome->causes = skills::SupportedCauses(*card, step.outcome->prediction, facts);
    view.steps.push_back(std::move(step));
  }
  return view;
}

inline report::ExplainContext SoftmaxContext() {
  report::ExplainContext context;
  context.file = "src/softmax.cu";
  context.entry = "softmax_forward";
  context.chip.name = "NVIDIA H200";
  context.chip.multiprocessors = 132;
  context.chip.clock_ghz = 1.98;
  context.chip.fp32_lanes = 128;
  context.chip.dram_bytes_per_second = 4.8e12;
  context.base_commit = "73896b9c92fdd97b1b490f2770fe941734ca8187";
  context.version = "0.1.0";
  context.toolchain = "NVRTC 13.0";
  context.base_blob = "8a5a27b0c6e1d2a4f3b5968778695a4b3c2d1e0f";
  context.original_text =
      base::ReadFile(std::string(WW_SOURCE_DIR) + "/config/examples/kernels/src/softmax.cu").value_or("");
  return context;
}

inline report::Explanation ModelledSoftmax() {
  return report::Explain(LoadTrajectory("softmax.jsonl"), SoftmaxContext());
}

inline report::Provenance SampleProvenance() {
  report::Provenance p;
  p.candidate_commit = "d19d02ddb93b77de85538c7e44e1088b1338121f";
  p.branch = "warpwright/softmax";
  p.base_branch = "main";
  p.lines_added = 80;
  p.lines_removed = 11;
  p.changed = {{4, 36}, {38, 93}, {98, 99}};
  return p;
}

inline report::GainInterval Interval(double low, double gain, double high) { return {low, gain, high}; }

// As from an H200: paired times, one case that became slower, several kinds of failures. Made up for this test.
inline report::Explanation MeasuredLayerNorm() {
  report::Explanation e;
  e.kernel = "layernorm";
  e.file = "src/layernorm.cu";
  e.entry = "layernorm_forward";
  e.device = "cuda:0";
  e.chip_name = "NVIDIA H200";
  e.modelled = false;
  e.outcome = core::TaskOutcome::kImproved;
  e.gain = 1.64;
  e.interval = Interval(1.63, 1.64, 1.65);
  e.before_us = 100.2;
  e.after_us = 61.1;
  e.roofline_share_before = 0.41;
  e.roofline_share_after = 0.67;
  const auto row = [&](std::string name, double before, double after, report::GainInterval timing,
                       core::TimingDecision decision, std::vector<report::OutputError> errors) {
    report::CaseRow r;
    r.name = std::move(name);
    r.before_us = before;
    r.after_us = after;
    r.timing = timing;
    r.decision = decision;
    r.hot_before_us = before * 0.93;
    r.hot_after_us = after * 0.9;
    r.pairs = 200;
    r.discarded = 3;
    r.errors = std::move(errors);
    return r;
  };
  e.computes = report::FormulaOf(core::Lifted{.computation = testing::LayerNorm(), .shapes = 3, .verified = true});
  e.cases = {
      row("gpt2", 144.1, 48.8, Interval(2.91, 2.95, 2.99), core::TimingDecision::kFaster,
          {{"out", false, 2.4e-7, 9.5e-7}, {"mean", true, 0, 0}, {"rstd", false, 6e-8, 4.8e-7}}),
      row("bert", 88.4, 35.1, Interval(2.49, 2.52, 2.55), core::TimingDecision::kFaster,
          {{"out", false, 2.4e-7, 9.5e-7}}),
      row("single row", 19.6, 20.4, Interval(0.95, 0.96, 0.98), core::TimingDecision::kSlower, {{"out", true, 0, 0}}),
      row("N=1024,C=12288", 402.6, 398.1, Interval(0.99, 1.01, 1.03), core::TimingDecision::kSame, {})};
  e.hot_before = {{31, 0.44, "of the samples, mostly waiting for global memory", "float v = inp_row[j] - m;"},
                  {36, 0.22, "of the samples, mostly waiting for global memory", "sum += v * v;"}};
  e.hot_after = {{58, 0.31, "of the samples, mostly waiting for global memory", ""}};
  using Move = report::CounterMove;
  e.steps = {
      {.method = "row_parallel",
       .parameters = "mode=warp, rows_per_block=8",
       .does = "each row is walked by a warp; partial sums are combined by warp_sum; sums are added in another order",
       .gain_before = 1,
       .gain_after = 1.52,
       .causes = {"One thread walked a whole row by itself, so that 31.2 % of the warps that fit were resident; now "
                  "threads share a row, and 88.4 % are."},
       .counters = {{"achieved_occupancy_pct", 31.2, 88.4, Move::kBetter}},
       .predicted = 3,
       .held = 2},
      {.method = "restrict_readonly",
       .parameters = "",
       .does = "inp, weight, bias: const __restrict__ (never written, and not the same array as an output)",
       .gain_before = 1.52,
       .gain_after = 1.64,
       .causes = {},
       .counters = {{"latency_pct", 40, 52, Move::kWorse}, {"registers_per_thread", 32, 40, Move::kExpected}},
       .predicted = 2,
       .held = 1}};
  e.plans = {
      "round 1, row_parallel: One thread walks a whole row [1]. [1] one_thread_per_row = yes; [2] "
      "load_sectors_per_request = 32 sectors (above 8)",
      "round 2, shared_memory_tiling: rows are read twice [1]. [1] load_reuse = 2",
      "round 3, restrict_readonly: loads wait for stores [1]. [1] const_restrict = no",
      "round 4, fast_math_intrinsics: rsqrtf is precise [1]. [1] precise_math_calls = yes"};
  const auto attempt = [&](int round, std::string method, std::string parameters, report::AttemptOutcome outcome,
                           std::string message, std::optional<double> gain, bool accepted) {
    report::AttemptRow a;
    a.round = round;
    a.id = "c" + std::to_string(e.attempts.size());
    a.parent = "aaaaaaaaaa";
    a.method = std::move(method);
    a.parameters = std::move(parameters);
    a.outcome = outcome;
    a.message = std::move(message);
    a.gain = gain;
    a.accepted = accepted;
    e.attempts.push_back(std::move(a));
  };
  attempt(1, "row_parallel", "mode=block, threads=256", report::AttemptOutcome::kMeasured,
          "each row is walked by a block", 1.31, false);
  attempt(1, "row_parallel", "mode=warp, rows_per_block=8", report::AttemptOutcome::kMeasured,
          "each row is walked by a warp", 1.52, true);
  attempt(1, "row_parallel", "mode=block, threads=1024", report::AttemptOutcome::kFaulted,
          "out-of-bounds write of 4 bytes at out[1024] (buffer of 4096 bytes)", std::nullopt, false);
  attempt(2, "shared_memory_tiling", "tile=32", report::AttemptOutcome::kWrongResult,
          "out[3, 17] is 0.25, expected 0.5 (off by 0.25, allowed 1.2e-06); 130 of 4096 elements are wrong",
          std::nullopt, false);
  attempt(2, "shared_memory_tiling (repair 1)", "tile=32", report::AttemptOutcome::kMeasured,
          "the tile is loaded before the barrier", 1.47, false);
  attempt(3, "restrict_readonly", "", report::AttemptOutcome::kMeasured, "inp, weight, bias: const __restrict__", 1.64,
          true);
  attempt(4, "fast_math_intrinsics", "", report::AttemptOutcome::kRefused,
          "it has approximate rsqrt, which the original has not (line 41)", std::nullopt, false);
  attempt(4, "vectorize_row_access", "width=4", report::AttemptOutcome::kNotApplicable,
          "rows of an odd length are not aligned (line 29)", std::nullopt, false);
  e.predictions = {{"load_sectors_per_request", -1, 32, 4, true},
                   {"achieved_occupancy_pct", 1, 31.2, 88.4, true},
                   {"latency_pct", -1, 40, 52, false}};
  const std::vector<core::CheckName> ran = {
      core::Check::kGuardBands,      core::Check::kInputHash,         core::Check::kModuleState,
      core::Check::kUnwrittenOutput, core::Check::kDeterminism,       core::Check::kComparison,
      core::Check::kPtxRules,        core::Check::kRecordedReference, core::Check::kSecretSeed,
      core::Check::kNeedle,          core::Check::kScaleLadder,       core::Check::kExactIntegers,
      core::Check::kOddShape,        core::Check::kLargeCase,         core::Check::kBytesRead,
      core::Check::kTimedOutput,     core::Check::kHostTime,          core::Check::kRooflineFloor,
      core::Check::kSpecialValues};
  e.check_table = report::CheckTable(ran, {"dead-code: not tested: no run told which lines it ran"}, e);
  e.review = {
      "special-values: 2 results are NaN where the original has an infinity; with finite numbers there they agree"};
  e.timing_notes = {"1.652x in a first process, 1.640x in a second with other seeds"};
  e.not_tested = {"special-values with gpt2, inputs special: the original itself gives NaN",
                  "dead-code: no run told which lines it ran"};
  e.relaxations = {"tolerance: relative 1e-05"};
  e.preconditions = {
      "inp, weight, bias must not overlap anything that the kernel writes: __restrict__ promises it to the compiler.",
      "Sums are added in a different order than before, so the last bits of a floating-point result may differ."};
  e.base_commit = "0123456789abcdef0123456789abcdef01234567";
  e.original_hash = "aaaaaaaaaaaabbbbbbbbbbbb";
  e.result_hash = "c5c5c5c5c5c5c5c5";
  e.base_blob = "89abcdef0123456789abcdef0123456789abcdef";
  e.run_id = "1f2e3d4c5b6a7988";
  e.version = "0.1.0";
  e.toolchain = "NVRTC 13.0";
  e.counts.rounds = 4;
  e.counts.attempts = 8;
  e.counts.evaluations = 7;
  e.seconds = 412;
  return e;
}

inline report::Provenance MeasuredProvenance() {
  report::Provenance p = SampleProvenance();
  p.branch = "warpwright/layernorm";
  p.driver = "580.159.04";
  p.device_uuid = "GPU-5e0f2b4c";
  p.gpu_minutes = 6.4;
  p.details_url = "https://ci.example.org/runs/42";
  return p;
}

// The same kernel where the best candidate gained less than the policy asks for: nothing was measured after it.
inline report::Explanation UnchangedLayerNorm() {
  report::Explanation e = MeasuredLayerNorm();
  e.outcome = core::TaskOutcome::kUnchanged;
  e.outcome_reason = "no improvement found in 4 rounds (the best candidate gave 1.02x; the policy asks for 1.05x)";
  e.original_hash = "aaaaaaaaaaaa";
  e.result_hash.clear();
  e.gain = 1;
  e.interval.reset();
  e.before_us = e.after_us = e.roofline_share_before = e.roofline_share_after = 0;
  e.cases.clear();
  e.steps.clear();
  e.predictions.clear();
  e.preconditions.clear();
  e.check_table.clear();
  e.hot_after.clear();
  for (report::AttemptRow& attempt : e.attempts) {
    attempt.accepted = false;
    if (attempt.gain) attempt.gain = attempt.method == "restrict_readonly" ? 1.02 : 0.93;
  }
  return e;
}

// Everything together and at length: 300 shapes, 400 attempts of a verbose model.
inline report::Explanation HugeExplanation() {
  report::Explanation e = MeasuredLayerNorm();
  e.kernel = "stencil_family";
  const std::string prose =
      "the candidate moves the halo through shared memory, and `__syncthreads()` stands before every phase; closes "
      "#12, thanks to @octocat. ";
  for (int i = 0; i < 300; ++i) {
    report::CaseRow row = e.cases[static_cast<size_t>(i) % 3];
    row.name = "N=" + std::to_string(1000 + i) + ",C=" + std::to_string(64 + i);
    e.cases.push_back(row);
  }
  for (int i = 0; i < 400; ++i) {
    report::AttemptRow a = e.attempts[static_cast<size_t>(i) % 8];
    a.round = 5 + i / 8;
    a.accepted = i % 100 == 99;
    if (a.accepted) a.gain = 1.64 + i * 1e-3, a.outcome = report::AttemptOutcome::kMeasured;
    a.message = prose + prose + a.message;
    e.attempts.push_back(std::move(a));
  }
  for (int i = 0; i < 50; ++i)
    e.plans.push_back("round " + std::to_string(5 + i) + ", shared_memory_tiling: " + prose + prose + prose);
  for (int i = 0; i < 40; ++i)
    e.not_tested.push_back("odd-shape with N=" + std::to_string(i) + ": the original itself faults");
  e.counts.rounds = 54;
  e.counts.attempts = 408;
  e.counts.evaluations = 407;
  return e;
}

}  // namespace warpwright
