// Everything that a reader of a result wants to know, as values: what changed, why it is faster, what was tried, how it was checked.
// It is made from a trajectory (memory/trajectory.h); Markdown, HTML and commit messages are made from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpwright {

struct CaseRow {
  std::string name;
  double before_us = 0, after_us = 0;
  bool sampled = false;
};
struct CounterRow {
  std::string name, unit;
  double before = 0, after = 0;
};
// One attempt: a candidate that was made and judged, or a plan that could not be carried out.
struct AttemptRow {
  int round = 0;
  std::string id;         // first digits of the candidate's hash; empty where there was none
  std::string parent;
  std::string method, parameters;
  std::string outcome;    // verdict name: "measured", "wrong_result", ...; "not applicable" for a refused transformation
  std::string message;    // why it was rejected, or what it does
  std::optional<double> gain;   // over the original
  bool accepted = false;  // became the base
};
struct PredictionRow {
  std::string field;
  int direction = 0;
  double before = 0, after = 0;
  bool held = false;
};
// A point in the roofline plot: FLOP per byte moved, and GFLOP/s.
struct RooflinePoint {
  double intensity = 0, gflops = 0;
};

struct Explanation {
  std::string kernel, file, entry;
  std::string device;             // "sim:h200"
  std::string chip_name;          // "NVIDIA H200"
  bool modelled = true;
  std::string outcome;            // "improved", "unchanged", "refused", "error"
  std::string outcome_reason;     // for the last three
  double gain = 1;
  double roofline_share_before = 0, roofline_share_after = 0;  // 0 to 1
  std::vector<CaseRow> cases;
  std::vector<CounterRow> counters;
  std::vector<std::string> steps;  // the accepted methods in order: "row_parallel (mode=block, threads=256): ..."
  std::vector<std::string> plans;  // one line for each round: "1. row_parallel: why, with the evidence it cites"
  std::vector<AttemptRow> attempts;
  std::vector<PredictionRow> predictions;
  std::vector<std::string> checks;
  std::vector<std::string> reproduce;  // command lines
  std::string base_commit, original_hash, result_hash, version, toolchain;
  int rounds = 0, evaluations = 0;
  double seconds = 0;
  std::optional<RooflinePoint> point_before, point_after;
  double peak_gflops = 0, peak_gbytes = 0;  // of the chip, for the plot
};

// "modelled on H200 (simulated)" or "measured on NVIDIA H200": stands wherever a gain stands.
std::string DevicePhrase(const Explanation& explanation);
// "3.42x".
std::string FormatGain(double gain);

// Whole documents. Untrusted text (messages, logs, names) is escaped or fenced.
std::string RenderMarkdown(const Explanation& explanation);
std::string RenderHtml(const Explanation& explanation);            // self-contained, light and dark
std::string RenderCommitMessage(const Explanation& explanation);   // subject of at most 72 columns, wrapped body, our trailer

}  // namespace warpwright
