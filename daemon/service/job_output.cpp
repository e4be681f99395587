// What children print, as values. They work on code that anybody may have written, so their output is data to be checked.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "memory/json_reader.h"
#include "service/job_runner.h"

namespace warpwright {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr size_t kMaxEntries = 10'000, kMaxText = 4'000, kMaxName = 1'000;

Result<json> ParseBounded(std::string_view text) {
  bool deep = false;
  const json parsed = json::parse(text, [&](int depth, json::parse_event_t, json&) {
    deep |= depth > kMaxDepth;
    return depth <= kMaxDepth;
  }, false);
  if (parsed.is_discarded() || deep || !parsed.is_object()) return Fail(ErrorCode::kCorrupt, "a child's answer is not a JSON object of at most 64 levels");
  return parsed;
}

std::string Limited(std::string_view text, size_t bytes = kMaxText) { return std::string(CutAtCharacter(text, bytes)); }

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Of untrusted origin, and about to stand in paths, branches and command lines.
bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || name.front() == '-' || name.front() == '/' || name.find("..") != std::string_view::npos) return false;
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

double Finite(double value) { return std::isfinite(value) ? value : 0; }

}  // namespace

Result<std::vector<DetectedEntry>> ParsePlan(std::string_view text) {
  WW_ASSIGN(const json plan, ParseBounded(text));
  JsonReader reader;
  std::vector<DetectedEntry> entries;
  if (!plan.is_object() || !plan.contains("entries")) reader.Complain("a plan without entries");  // not the same as one where nothing changed
  for (const json& item : reader.Items(plan, "entries")) {
    if (entries.size() == kMaxEntries) return Fail(ErrorCode::kCorrupt, "a plan has more than 10,000 entries");
    DetectedEntry entry;
    entry.job.kernel = reader.Text(item, "kernel");
    entry.job.file = reader.Text(item, "file");
    entry.job.entry = Limited(reader.Text(item, "entry"), kMaxName);
    entry.job.key = reader.Text(item, "key");
    entry.changed = reader.Bool(item, "changed");
    if (!IsName(entry.job.kernel) || !IsName(entry.job.file)) reader.Complain("an entry of the plan has a name that is none");
    if (!entry.job.key.empty() && !IsHex(entry.job.key, 64)) reader.Complain("an entry of the plan has a key that is none");
    if (entry.changed && entry.job.key.empty()) reader.Complain("an entry of the plan changed and has no key");
    entries.push_back(std::move(entry));
  }
  WW_TRY(reader.status());
  return entries;
}

Result<JobResult> ParseOptimization(std::string_view text, std::string_view kernel) {
  WW_ASSIGN(const json answer, ParseBounded(text));
  JsonReader reader;
  for (const json& item : reader.Items(answer, "kernels")) {
    if (reader.Text(item, "name") != kernel) continue;
    JobResult result;
    result.outcome = reader.Text(item, "outcome");
    result.message = Limited(reader.Text(item, "message"));
    result.gain = Finite(reader.Number(item, "gain"));
    result.modelled = reader.Bool(item, "modelled");
    result.rounds = reader.Integer<int>(item, "rounds");
    result.evaluations = reader.Integer<int>(item, "evaluations");
    result.seconds = Finite(reader.Number(item, "seconds"));
    result.trajectory_task = reader.Integer<int64_t>(item, "task");
    const auto text_or_null = [&](const char* key) {
      const json* value = reader.Get(item, key);
      return value == nullptr || value->is_null() ? std::string() : reader.Text(item, key);
    };
    result.branch = text_or_null("branch");
    result.branch_commit = text_or_null("commit");
    for (const json& c : reader.Items(item, "cases")) {  // the widest claim that all cases bear out
      const double low = Finite(reader.Number(c, "gain_low")), high = Finite(reader.Number(c, "gain_high"));
      if (low > 0 && (result.gain_low == 0 || low < result.gain_low)) result.gain_low = low;
      if (high > result.gain_high) result.gain_high = high;
    }
    if (result.outcome != "improved" && result.outcome != "unchanged" && result.outcome != "refused" && result.outcome != "error")
      reader.Complain("unknown outcome");
    const bool named = !result.branch.empty(), published = !result.branch_commit.empty();
    if ((named && result.branch != fmt::format("warpwright/{}", kernel)) || (published && (!named || !IsHex(result.branch_commit, 40))))
      reader.Complain("the result names a branch or commit that is none of its own");
    WW_TRY(reader.status());
    return result;
  }
  WW_TRY(reader.status());
  return Fail(ErrorCode::kCorrupt, fmt::format("the result has no kernel '{}'", kernel));
}

Result<NightResult> ParseNight(std::string_view text) {
  WW_ASSIGN(const json answer, ParseBounded(text));
  JsonReader reader;
  NightResult night;
  night.outcome = reader.Text(answer, "outcome");
  night.message = Limited(reader.Text(answer, "message"));
  night.branch = Limited(reader.Text(answer, "branch"), kMaxName);
  night.branch_commit = reader.Text(answer, "branch_commit");
  if (night.outcome != "checked" && night.outcome != "regression" && night.outcome != "error") reader.Complain("unknown outcome of a night");
  if (!night.branch_commit.empty() && (!IsHex(night.branch_commit, 40) || !IsName(night.branch))) reader.Complain("the night names a commit that is none");
  for (const json& item : reader.Items(answer, "findings")) {
    if (night.findings.size() == kMaxEntries) return Fail(ErrorCode::kCorrupt, "a night has more than 10,000 findings");
    NightFinding finding;
    finding.kernel = reader.Text(item, "kernel");
    finding.cause = Limited(reader.Text(item, "cause"), kMaxName);
    finding.message = Limited(reader.Text(item, "message"));
    finding.optimize = reader.Bool(item, "optimize");
    if (!IsName(finding.kernel)) reader.Complain("a finding has a kernel that is none");
    night.findings.push_back(std::move(finding));
  }
  WW_TRY(reader.status());
  return night;
}

}  // namespace warpwright
