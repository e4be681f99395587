// Everything that a reader of a result wants to know, as values: what changed, why it is faster, what was tried, how it
// was checked. It is built from a trajectory (memory/trajectory.h); Markdown, HTML and commit messages are rendered
// from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/task_outcome.h"
#include "core/timing.h"
#include "core/verdict.h"
#include "memory/trajectory.h"
#include "report/formula.h"

namespace warpwright::report {

// A gain with the two-sided 95 % interval of the paired timing.
struct GainInterval {
  double low = 1, gain = 1, high = 1;
};
// How far an output was from the original's, in the element that used the largest share of its allowed error.
struct OutputError {
  std::string output;
  bool identical = false;         // every bit
  double error = 0, allowed = 0;  // absolute
};
struct CaseRow {
  std::string name;
  double before_us = 0, after_us = 0;
  bool sampled = false;
  double weight = 1;                                  // of its time in the gain; 0: verified only
  std::optional<GainInterval> timing;                 // of paired timing on a real device
  std::optional<core::TimingDecision> decision = {};  // none if nothing was timed
  double hot_before_us = 0, hot_after_us = 0;         // from warm caches; not part of the gain
  int pairs = 0, discarded = 0;
  std::vector<OutputError> errors = {};  // empty: this case is too large for a full comparison, and was only measured
};
// How a counter moved. Expected: for the worse, but the method's card says so.
enum class CounterMove { kBetter, kExpected, kSame, kWorse };
std::string_view Name(CounterMove move);
struct CounterRow {
  std::string name;
  double before = 0, after = 0;
  CounterMove move = CounterMove::kSame;
};
// A change that was taken. Its sentences are the card's, as far as this kernel's counters support them.
struct TakenStep {
  std::string method, parameters;
  std::string does;                        // what the transformation says of its work
  double gain_before = 1, gain_after = 1;  // over the original
  std::vector<std::string> causes;
  std::vector<CounterRow> counters;  // that the causes cite; without causes, those that were expected to change
  int predicted = 0, held = 0;       // changes of counters
};
// The outcome of an attempt: a verdict, or nothing to judge.
enum class AttemptOutcome {
  kUnknown,
  kCompileFailed,
  kRefused,
  kWrongResult,
  kFaulted,
  kMeasured,
  kNotApplicable,  // the transformation refused
  kInterrupted,
  kNotAccepted,  // a gain by the search's quick check, which the full verification did not confirm
};
std::string_view Name(AttemptOutcome outcome);  // as the verdict's; "not applicable", ...; "" if unknown

constexpr int kNoRound = -1;

// One attempt: a candidate that was generated and judged, or a plan that could not be carried out.
struct AttemptRow {
  int round = 0;   // 0: seeds from experience; kNoRound: of what it tried nothing applied, so that it does not count
  std::string id;  // first digits of the candidate's hash; empty if there was none
  std::string parent;
  std::string method, parameters;
  AttemptOutcome outcome = AttemptOutcome::kUnknown;
  std::string message;         // why it was rejected, or what it does
  std::optional<double> gain;  // over the original
  bool accepted = false;       // became the base
  // Its text was judged before, in this round: it is no further evaluation.
  std::optional<int> repeats_round = {};
  // Who wrote it; its question to a language model stands among those of the conversation, by its first digits.
  std::string agent = {}, question = {};
};
struct PredictionRow {
  std::string field;
  int direction = 0;
  double before = 0, after = 0;
  bool held = false;
};
// A line of the user's file where the kernel spends its time.
struct HotLine {
  int line = 0;
  double share = 0;  // of its kernel, 0 to 1
  std::string what;  // of what: "of the samples, mostly waiting for global memory", "of the memory traffic"
  std::string text;  // the line itself, if known
};
// A check of the judge, for display.
struct CheckRow {
  std::string name, meaning;
  bool ran = false;
  std::string why_not;  // if it did not run
};
// A point in the roofline plot: FLOP per byte moved, and GFLOP/s.
struct RooflinePoint {
  double intensity = 0, gflops = 0;
};

// What was asked of language models for a result.
struct ModelUse {
  int questions = 0;               // that were answered
  std::vector<std::string> names;  // as their providers name them
  double dollars = 0;              // of the answers whose cost is known
  int unknown = 0;                 // answers whose cost is not
  int gains = 0;                   // versions that were taken, by whomever they were written
};

struct Explanation {
  std::string kernel, file, entry;
  std::string device;     // "sim:h200"
  std::string chip_name;  // "NVIDIA H200"
  bool modelled = true;
  core::TaskOutcome outcome = core::TaskOutcome::kUnfinished;
  std::string outcome_reason;       // where it did not improve
  std::string remedy;               // what the user can do about that; empty: nothing is known
  bool carried = false;             // found on an earlier base; measured on this one, except for the steps and attempts
  std::optional<Formula> computes;  // the original; none: it was not asked for
  double gain = 1;
  double roofline_share_before = 0, roofline_share_after = 0;  // 0 to 1
  // The roofline is that of the formula, and the share of the other one, by the original's buffers and counters.
  bool roofline_of_formula = false;
  double counted_roofline_share_after = 0;
  std::vector<CaseRow> cases;
  std::vector<TakenStep> steps;    // in their order
  std::vector<std::string> plans;  // one line for each round: "1. row_parallel: why, with the evidence it cites"
  std::vector<AttemptRow> attempts;
  std::vector<PredictionRow> predictions;
  std::vector<std::string> checks;        // names of those that the result passed
  std::vector<std::string> conversation;  // of language models: who asked what, and what came of it, with its cost
  ModelUse models;
  std::vector<std::string> reproduce;  // command lines
  std::string base_commit, original_hash, result_hash, version, toolchain;
  memory::TaskCounts counts;
  double seconds = 0;
  std::optional<RooflinePoint> point_before, point_after;
  double peak_gflops = 0, peak_gbytes = 0;  // of the chip, for the plot
  std::optional<GainInterval> interval;     // of the gain over all cases; none if modelled
  double before_us = 0, after_us = 0;       // geometric mean of the cases by weight: their quotient is the gain
  std::vector<HotLine> hot_before, hot_after;
  std::vector<CheckRow> check_table;       // every check of the judge, in its order
  std::vector<std::string> review;         // what the judge asks reviewers to check
  std::vector<std::string> timing_notes;   // of the paired timing
  std::vector<std::string> counter_notes;  // what could not be counted, with its remedy
  std::vector<std::string> not_tested;     // what could not be tested, and why
  std::vector<std::string> relaxations;    // of the manifest: "allow: tf32", "tolerance: relative 0.001"
  std::vector<std::string> preconditions;  // conditions that did not have to hold before
  std::string base_blob;                   // of the file before: git's id, or the hash of its content
  std::string run_id;                      // of the task: the same for the same kernel, base, device and configuration
};

// Over all outputs of all compared cases; nullopt if none was compared.
std::optional<bool> BitIdentical(const Explanation& explanation);

// "modelled on H200 (simulated)" or "measured on NVIDIA H200": shown with every gain.
std::string DevicePhrase(const Explanation& explanation);
// "3.42x".
std::string FormatGain(double gain);
// "m-1, 4 questions, $0.42 ($0.21 for each of 2 versions that were taken)"; "none was used".
std::string ModelCostText(const ModelUse& use);

// Whole documents. Untrusted text (messages, logs, names) is escaped or fenced.
std::string RenderMarkdown(const Explanation& explanation);
std::string RenderText(const Explanation& explanation, size_t columns = 100);  // for a terminal
std::string RenderHtml(const Explanation& explanation);                        // self-contained, light and dark
std::string RenderCommitMessage(
    const Explanation& explanation);  // subject of at most 72 columns, wrapped body, warpwright's trailer

}  // namespace warpwright::report
