// The versions of a task that proved a gain, and which one is worked on. A selector chooses it: the loop is the same
// for all strategies.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/feature_extractor.h"
#include "core/candidate.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace warpwright::search {

// A version that plans start from.
struct Base {
  core::Candidate candidate;
  core::Measured measured;
  agents::ExtractedFeatures features;
  std::set<std::string> methods;  // that led to it
  core::Plan plan = {};           // the last one that did; of the original: none
  bool read = false;              // by the Feature Extractor, beyond what was counted
  bool exhausted = false;         // no plan is left for it
  bool refused = false;           // by the full judge
};

class Pool {
 public:
  bool empty() const { return versions_.empty(); }
  size_t size() const { return versions_.size(); }
  const Base& operator[](size_t number) const { return versions_[number]; }
  const Base& original() const { return versions_.front(); }
  // The one that is worked on, and its number: 0 is the original.
  const Base& present() const { return versions_[present_]; }
  size_t present_number() const { return present_; }

  void Add(Base version) { versions_.push_back(std::move(version)); }
  void WorkOn(size_t number) { present_ = number; }
  void Exhaust() { versions_[present_].exhausted = true; }
  void Reopen() {  // all of them: other plans are left
    for (Base& version : versions_) version.exhausted = false;
  }
  // With those that were made of it, where they compute what it computes.
  void Refuse(size_t number, bool with_descendants);
  void SetFeatures(agents::ExtractedFeatures features) { versions_[present_].features = std::move(features); }

  void Read(agents::ExtractedFeatures features) {
    SetFeatures(std::move(features));
    versions_[present_].read = true;
  }

  double GainOf(size_t number) const { return core::Speedup(original().measured, versions_[number].measured); }
  // The largest gain of those that were not refused; of equal ones the later. nullopt: only the original is left.
  std::optional<size_t> Best() const;
  double LargestGain() const;  // also of those that were refused

 private:
  std::vector<Base> versions_;  // in the order in which they were taken, the original first
  size_t present_ = 0;
};

// Which version is worked on next; a function of the pool alone, so that a resumed run chooses the same.
class Selector {
 public:
  virtual ~Selector() = default;
  // nullopt: the search ends.
  virtual std::optional<size_t> Next(const Pool& pool) const = 0;
};

// The last gain alone (KernelSkill): when nothing is left to do on it, the search ends.
std::unique_ptr<Selector> LatestGain();

}  // namespace warpwright::search
