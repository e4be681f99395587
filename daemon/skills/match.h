// From evidence to ranked methods, by the library's policy. Deterministic, and total: all evidence yields at least one
// method or the verdict that the kernel is at its roofline (unless the caller excludes methods itself).
//
// A bottleneck b that holds has weight W_b = stage weight * severity in [0, 1]; one that cannot be decided has W_b
// times `unknown_bottleneck`. A method's score is 1 - prod_b (1 - W_b * w_bm) over the bottlenecks that call for it
// with weight w_bm (a noisy-or: independent reasons add up and never exceed 1), times `unknown_factor` for each
// precondition that cannot be decided. Methods are ordered by score * ln(gain), where gain is the card's typical one
// but at most the headroom; `after` puts another whose score is at least `order_binds_at` in front of the method.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/evidence.h"
#include "skills/library.h"

namespace warpwright::skills {

struct MatchContext {
  std::set<core::Allow> allow;    // of the manifest
  std::set<std::string> lacking;  // of kCapabilities: what this device or build does not run
  bool built_in_only = false;     // only methods with a transformation: no language model is available
  std::set<std::string> applied;  // methods that led to the present base: what conflicts with them is vetoed, and
                                  // after a schedule every transformation of written code
  std::map<std::string, std::string> excluded;  // method -> why: tried on this base with this evidence, say
};

struct Bottleneck {
  std::string id, title, stage;
  double weight = 0;     // stage weight * severity
  bool certain = true;   // false: its condition cannot be decided
  std::string evidence;  // "load_efficiency_pct = 12.5 % (below 60)"
};
struct RankedMethod {
  const MethodCard* card = nullptr;  // of the library
  double score = 0;
  double expected_log_gain = 0;
  std::vector<std::string> reasons;  // with evidence field = value
  std::vector<std::string> unknown;  // what could not be decided
};
struct VetoedMethod {
  enum class Kind {
    kPrecondition,
    kAlreadyApplied,
    kPolicy,
    kAllowance,
    kArchitecture,
    kConflict,
    kExcluded,
    kNoTransform
  };
  std::string method;
  Kind kind = Kind::kPrecondition;
  std::string reason;
};
std::string_view Name(VetoedMethod::Kind kind);

struct AtRoofline {
  double share_pct = 0;  // the minimum time of the task, as a share of its time
  std::string message;
};
struct MatchResult {
  std::optional<AtRoofline> at_roofline;  // then `methods` is empty
  std::vector<Bottleneck> bottlenecks;    // heaviest first; those that cannot be decided come last
  std::vector<RankedMethod> methods;      // best first
  std::vector<VetoedMethod> vetoed;       // by method id
  std::string position;                   // "10.3 % of the roofline, 9.7 times the floor"
  std::string state;                      // key of measured experience: bottleneck and coarse buckets
  const Bottleneck* primary() const {
    return bottlenecks.empty() || !bottlenecks[0].certain ? nullptr : &bottlenecks[0];
  }
};

// The result points into `library`.
MatchResult Match(const SkillLibrary& library, const core::Evidence& evidence, const MatchContext& context);

// Whether the changes that the card expects came true. Names are evidence fields or counters; what is absent on either
// side is skipped.
struct PredictionResult {
  std::string name;
  bool up = false;
  double factor = 1;  // expected
  double before = 0, after = 0;
  bool held = false;  // it moved in the expected direction, by at least 2 %
};
std::vector<PredictionResult> ComparePredictions(const MethodCard& card, const std::map<std::string, double>& before,
                                                 const std::map<std::string, double>& after);

}  // namespace warpwright::skills
