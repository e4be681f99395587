// What an agent may know when it is asked: the task, the version to start from, and the short-term memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agents/feature_extractor.h"
#include "core/candidate.h"
#include "core/evaluator.h"
#include "core/plan.h"

namespace warpwright::agents {

// A row of the short-term memory: what was tried, and what came of it.
struct PastAttempt {
  int base = 0;  // number of the base that it started from; 0: the original
  std::string method;
  core::Parameters parameters;
  double gain = 0;      // over that base; 0: not measured
  std::string outcome;  // one line: the verdict, or why it does not apply
};

struct Situation {
  const core::KernelSpec& spec;
  const core::SourceRef& original;  // the trusted text, and where it is
  const core::Chip& chip;
  core::Evaluator& evaluator;  // for what only a worker may do with a text
  const Form* form = nullptr;  // what the entry computes, if that is known
  // What segments of its launcher do, as far as that is known: asked for when it is needed. Empty: nobody knows.
  std::function<Result<std::vector<core::SegmentForm>>()> segments = {};
  // The present base.
  const core::Candidate& base;
  const core::Measured& measured;
  const ExtractedFeatures& features;
  double gain = 1;  // over the original
  // In the order in which it happened.
  std::vector<PastAttempt> history;
};

}  // namespace warpwright::agents
