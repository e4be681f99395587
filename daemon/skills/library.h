// The long-term knowledge: skills/policy.yml (evidence -> bottleneck -> methods) and skills/methods/*.yml (one card per
// method; examples/*.cu, worked), read and checked as a whole. Everything that could silently make a rule dead is an
// error here: unknown fields, thresholds outside a field's range, references to methods that do not exist, cyclic
// orders, methods that no evidence can lead to, and a policy that leaves some evidence without a method. The format is
// described in skills/README.md.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "skills/condition.h"

namespace warpwright::skills {

struct MethodParameter {
  std::string name;
  std::vector<std::string> values;  // worth trying, the default first
  std::string meaning;
};
struct ExpectedChange {
  std::string name;  // an evidence field or a counter (core/counters.h)
  bool up = false;
  double factor = 1;  // after / before, roughly
};
struct KnownFailure {
  std::string symptom, cause, remedy;
};
struct Source {
  std::string title, url;
};

// Beyond a chip's compute capability: wgmma needs a build for sm_90a; launches in clusters cannot be recorded; bulk
// copies (TMA) are not simulated.
inline constexpr std::string_view kWgmma = "wgmma", kClusters = "clusters", kBulkCopies = "bulk_copies";
inline constexpr std::string_view kCapabilities[] = {kWgmma, kClusters, kBulkCopies};

struct MethodCard {
  std::string id, title, intent, mechanism, sketch;
  std::string example;                                   // a whole file of CUDA, where details decide; or empty
  std::string transform;                                 // id of a built-in transformation; empty: for language models
  double gain_low = 1, gain_typical = 1, gain_high = 1;  // speedup where it applies, according to the literature
  int min_capability = 0, max_capability = 0;            // 0: no limit
  bool raises_roof = false;              // may beat the roofline of the present arithmetic (tensor cores)
  std::set<core::Allow> needs;           // relaxations that the manifest must grant
  std::set<std::string> uses;            // of kCapabilities: what not every device and build runs
  std::vector<Condition> preconditions;  // all must hold; each with a reason
  std::optional<Condition> already_applied;
  std::vector<MethodParameter> parameters;
  std::vector<ExpectedChange> expected;
  std::vector<std::string> cause;  // sentences for reports (skills/cause.h)
  std::vector<std::string> forbidden;
  std::vector<KnownFailure> failures;
  std::vector<std::string> conflicts, after;  // `before` of other cards is folded into `after`
  std::vector<Source> sources;
  std::string file;
};

struct MethodProposal {  // of a method, by a bottleneck
  std::string method;
  double weight = 0;
  std::string reason;
};
struct Severity {  // in [0, 1]: the lowest or highest of the fields, mapped linearly; a constant without fields
  std::vector<size_t> fields;
  bool lowest = false;
  double from = 0, to = 1;
  double constant = 1;
};
struct BottleneckRule {
  std::string id, title, stage;
  double stage_weight = 1;
  Condition when;
  Severity severity;
  std::vector<MethodProposal> methods;
};
struct Veto {
  std::vector<std::string> methods;
  Condition when;
  std::string reason;
};
struct StateBucket {
  size_t field = 0;
  std::vector<double> edges;  // empty: a boolean
};

struct SkillPolicy {
  size_t roofline_field = 0;
  double roofline_at_least = 100;
  double unknown_factor = 1, unknown_bottleneck = 0, order_binds_at = 0;
  std::vector<BottleneckRule> bottlenecks;
  std::vector<MethodProposal> fallback;
  std::vector<Veto> vetoes;
  std::vector<StateBucket> state;
};

struct SkillLibrary {
  SkillPolicy policy;
  std::map<std::string, MethodCard, std::less<>> methods;
  std::string digest;  // content address of all files
  std::string origin;  // the folder, or "built in"

  const MethodCard* Find(std::string_view id) const;
};

// A folder with policy.yml and methods/*.yml. Reports all errors together, each with file, line and column.
Result<SkillLibrary> LoadSkills(const std::filesystem::path& folder);
// The library that the program was built with.
Result<SkillLibrary> LoadBuiltInSkills();
// From texts by name ("policy.yml", "methods/x.yml", "examples/x.cu"). `origin` precedes the names in messages.
Result<SkillLibrary> ParseSkills(const std::map<std::string, std::string>& files, const std::string& origin);

}  // namespace warpwright::skills
