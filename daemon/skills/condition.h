// Conditions over evidence, as the policy and the method cards write them:
//
//   {field: dram_throughput_pct, below: 60}      also at_most, above, at_least, equals, between: [a, b];
//                                                is: true for booleans
//   {operation: [matmul, stencil]}               one of the operation classes
//   {allow: tf32}                                the manifest grants the relaxation
//   {all: [...]}  {any: [...]}  {not: ...}
//
// each with an optional `reason`. They are total: every comparison is an interval, and an absent field makes it
// unknown, which propagates by Kleene's strong three-valued logic ("On notation for ordinal numbers", 1938). Unknown
// never vetoes; callers lower scores.
#pragma once

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "core/evidence.h"
#include "core/kernel_spec.h"

namespace warpwright::skills {

enum class TriState { kFalse, kUnknown, kTrue };

struct Interval {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool low_open = false, high_open = false;  // the endpoint itself is excluded

  bool Contains(double value) const {
    return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
  }
};

struct Condition {
  enum class Kind { kCompare, kAllow, kAll, kAny, kNot };
  Kind kind = Kind::kAll;
  size_t field = 0;                        // kCompare: position in EvidenceFields()
  Interval interval;                       // kCompare
  core::Allow allow = core::Allow::kTf32;  // kAllow
  std::vector<Condition> parts;            // kAll, kAny, kNot (one)
  std::string reason;
};

// Evidence by position, so that thousands of conditions cost no string look-ups. NaN: absent (or measured as NaN, which
// is the same).
class Facts {
 public:
  Facts(const core::Evidence& evidence, const std::set<core::Allow>& allow);
  double value(size_t field) const { return values_[field]; }
  bool known(size_t field) const { return values_[field] == values_[field]; }
  bool allows(core::Allow allow) const { return allow_.count(allow) != 0; }

 private:
  std::vector<double> values_;
  const std::set<core::Allow>& allow_;
};

TriState Evaluate(const Condition& condition, const Facts& facts);

// The comparisons that decide the condition, with their numbers: "load_efficiency_pct = 12.5 % (below 60)".
std::string Cite(const Condition& condition, const Facts& facts);
// The condition itself: "load_efficiency_pct below 60 or ...".
std::string Describe(const Condition& condition);
// "12.5 %", "yes", "unknown".
std::string ShowValue(size_t field, double value);

// Adds errors to `diagnostics`; what is returned then is a condition that always holds.
Condition ReadCondition(const config::YamlNode& node, config::Diagnostics& diagnostics);
// Position of a field in EvidenceFields(); an unknown name is an error that names the nearest known one.
size_t ReadField(const config::YamlNode& node, config::Diagnostics& diagnostics);

}  // namespace warpwright::skills
