// The output of children, as values. They work on code that anyone may have written, so their output must be checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_codec.h"
#include "base/utf8.h"
#include "service/job_runner.h"

namespace warpwright::service {
namespace {

constexpr size_t kMaxEntries = 10'000, kMaxText = 4'000, kMaxName = 1'000;

std::string Limited(std::string_view text, size_t bytes = kMaxText) {
  return std::string(base::CutAtCharacter(text, bytes));
}

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Of untrusted origin, and used in paths, branches and command lines.
bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || name.front() == '-' || name.front() == '/' ||
      name.find("..") != std::string_view::npos)
    return false;
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

tl::unexpected<Error> Wrong(std::string what) { return Fail(ErrorCode::kCorrupt, std::move(what)); }

std::optional<core::TaskOutcome> OneOf(std::string_view name, std::initializer_list<core::TaskOutcome> allowed) {
  const auto outcome = base::ParseName<core::TaskOutcome>(name);
  if (!outcome || std::find(allowed.begin(), allowed.end(), *outcome) == allowed.end()) return std::nullopt;
  return outcome;
}

double Finite(double value) { return std::isfinite(value) ? value : 0; }

// The parts of the children's output that are used.
struct PlanEntry {
  std::string kernel, file, entry, key;
  bool changed = false;
};
struct PlanOutput {
  std::vector<PlanEntry> entries;
};
struct CaseOutput {
  double gain_low = 0, gain_high = 0;
};
struct ModelOutput {
  double known_dollars = 0;
  int questions = 0, unknown_costs = 0, gains = 0;
};
struct KernelOutput {
  std::string name, outcome, message;
  double gain = 0;
  bool modelled = false;
  int rounds = 0, evaluations = 0;
  double seconds = 0;
  int64_t task = 0;
  bool out_of_time = false;
  std::optional<std::string> branch, commit;
  std::vector<CaseOutput> cases;
  ModelOutput model;
};
struct OptimizeOutput {
  std::vector<KernelOutput> kernels;
};
struct FindingOutput {
  std::string kernel, message;
  bool optimize = false;
};
struct NightOutput {
  std::string outcome, message, branch, branch_commit;
  std::vector<FindingOutput> findings;
};
template <typename V>
void Describe(V& field, const PlanEntry*) {
  using T = PlanEntry;
  field.Optional("kernel", &T::kernel);
  field.Optional("file", &T::file);
  field.Optional("entry", &T::entry);
  field.Optional("key", &T::key);
  field.Optional("changed", &T::changed);
}
template <typename V>
void Describe(V& field, const PlanOutput*) {
  using T = PlanOutput;
  field("entries", &T::entries);
}
template <typename V>
void Describe(V& field, const CaseOutput*) {
  using T = CaseOutput;
  field.Optional("gain_low", &T::gain_low);
  field.Optional("gain_high", &T::gain_high);
}
template <typename V>
void Describe(V& field, const ModelOutput*) {
  using T = ModelOutput;
  field.Optional("known_dollars", &T::known_dollars);
  field.Optional("questions", &T::questions);
  field.Optional("unknown_costs", &T::unknown_costs);
  field.Optional("gains", &T::gains);
}
template <typename V>
void Describe(V& field, const KernelOutput*) {
  using T = KernelOutput;
  field.Optional("name", &T::name);
  field.Optional("outcome", &T::outcome);
  field.Optional("message", &T::message);
  field.Optional("gain", &T::gain);
  field.Optional("modelled", &T::modelled);
  field.Optional("rounds", &T::rounds);
  field.Optional("evaluations", &T::evaluations);
  field.Optional("seconds", &T::seconds);
  field.Optional("task", &T::task);
  field.Optional("out_of_time", &T::out_of_time);
  field.Optional("branch", &T::branch);
  field.Optional("commit", &T::commit);
  field.Optional("cases", &T::cases);
  field.Optional("model", &T::model);
}
template <typename V>
void Describe(V& field, const OptimizeOutput*) {
  using T = OptimizeOutput;
  field.Optional("kernels", &T::kernels);
}
template <typename V>
void Describe(V& field, const FindingOutput*) {
  using T = FindingOutput;
  field.Optional("kernel", &T::kernel);
  field.Optional("message", &T::message);
  field.Optional("optimize", &T::optimize);
}
template <typename V>
void Describe(V& field, const NightOutput*) {
  using T = NightOutput;
  field.Optional("outcome", &T::outcome);
  field.Optional("message", &T::message);
  field.Optional("branch", &T::branch);
  field.Optional("branch_commit", &T::branch_commit);
  field.Optional("findings", &T::findings);
}

}  // namespace

Result<std::vector<DetectedEntry>> ParsePlan(std::string_view text) {
  WW_ASSIGN(const PlanOutput plan,
            base::DecodeJson<PlanOutput>(text));  // without entries it is not a plan in which nothing changed
  if (plan.entries.size() > kMaxEntries) return Wrong("a plan has more than 10,000 entries");
  std::vector<DetectedEntry> entries;
  for (const PlanEntry& item : plan.entries) {
    if (!IsName(item.kernel) || !IsName(item.file)) return Wrong("an entry of the plan has an invalid name");
    if (!item.key.empty() && !IsHex(item.key, 64)) return Wrong("an entry of the plan has an invalid key");
    if (item.changed && item.key.empty()) return Wrong("an entry of the plan changed and has no key");
    DetectedEntry& entry = entries.emplace_back();
    entry.job.kernel = item.kernel;
    entry.job.file = item.file;
    entry.job.entry = Limited(item.entry, kMaxName);
    entry.job.key = item.key;
    entry.changed = item.changed;
  }
  return entries;
}

Result<JobResult> ParseOptimization(std::string_view text, std::string_view kernel) {
  using enum core::TaskOutcome;
  WW_ASSIGN(const OptimizeOutput answer, base::DecodeJson<OptimizeOutput>(text));
  for (const KernelOutput& item : answer.kernels) {
    if (item.name != kernel) continue;
    JobResult result;
    result.outcome = OneOf(item.outcome, {kImproved, kUnchanged, kRefused, kError, kUnfinished});
    if (!result.outcome) return Wrong("unknown outcome");
    // A job has had the time that it has; run again at once, it would take it again and again.
    if (result.outcome == kUnfinished && item.out_of_time) result.outcome = kUnchanged;
    result.message = Limited(item.message);
    result.gain = Finite(item.gain);
    result.modelled = item.modelled;
    result.rounds = item.rounds;
    result.evaluations = item.evaluations;
    result.seconds = Finite(item.seconds);
    result.trajectory_task = item.task;
    result.models = {.dollars = std::max(0.0, Finite(item.model.known_dollars)),
                     .questions = std::max(0, item.model.questions),
                     .unknown = std::max(0, item.model.unknown_costs),
                     .gains = std::max(0, item.model.gains)};
    result.branch = item.branch.value_or("");
    result.branch_commit = item.commit.value_or("");
    for (const CaseOutput& c : item.cases) {  // the widest interval that all cases support
      const double low = Finite(c.gain_low), high = Finite(c.gain_high);
      if (low > 0 && (result.gain_low == 0 || low < result.gain_low)) result.gain_low = low;
      if (high > result.gain_high) result.gain_high = high;
    }
    const bool named = !result.branch.empty(), published = !result.branch_commit.empty();
    if ((named && result.branch != fmt::format("warpwright/{}", kernel)) ||
        (published && (!named || !IsHex(result.branch_commit, 40))))
      return Wrong("the result names a branch or commit that does not belong to it");
    return result;
  }
  return Wrong(fmt::format("the result has no kernel '{}'", kernel));
}

Result<NightResult> ParseNight(std::string_view text) {
  using enum core::TaskOutcome;
  WW_ASSIGN(const NightOutput answer, base::DecodeJson<NightOutput>(text));
  NightResult night;
  const auto outcome = OneOf(answer.outcome, {kChecked, kRegression, kError});
  if (!outcome) return Wrong("unknown outcome of a nightly run");
  night.outcome = *outcome;
  night.message = Limited(answer.message);
  night.branch = Limited(answer.branch, kMaxName);
  night.branch_commit = answer.branch_commit;
  if (!night.branch_commit.empty() && (!IsHex(night.branch_commit, 40) || !IsName(night.branch)))
    return Wrong("the nightly run names an invalid commit");
  if (answer.findings.size() > kMaxEntries) return Wrong("a nightly run has more than 10,000 findings");
  for (const FindingOutput& item : answer.findings) {
    if (!IsName(item.kernel)) return Wrong("a finding has an invalid kernel name");
    night.findings.push_back({item.kernel, Limited(item.message), item.optimize});
  }
  return night;
}

}  // namespace warpwright::service
