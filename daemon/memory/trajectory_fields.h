// How steps and their outcomes are encoded (base/fields.h).
#pragma once

#include "base/fields.h"
#include "core/verdict_fields.h"
#include "memory/trajectory.h"
#include "skills/prediction_fields.h"

namespace warpwright::memory {

constexpr StepKind Last(StepKind) { return StepKind::kLiftSegments; }

template <typename V>
void Describe(V& field, const StepRecord*) {
  using T = StepRecord;
  field("kind", &T::kind);
  field("round", &T::round);
  field("attempt", &T::attempt);
  field("base", &T::base);
  field("candidate", &T::candidate);
  field("method", &T::method);
  field("parameters", &T::parameters);
  field("evidence_digest", &T::evidence_digest);
  field("reason", &T::reason);
  field("evidence", &T::evidence);
  field("prediction", &T::prediction);
  field("repairs", &T::repairs);
}
template <typename V>
void Describe(V& field, const StepOutcome*) {
  using T = StepOutcome;
  field("candidate", &T::candidate);
  field("summary", &T::summary);
  field("data", &T::data);
  field.Sparse("verdict", &T::verdict);
  field("prediction", &T::prediction);
  field.Sparse("causes", &T::causes);
  field("before", &T::before);
  field("after", &T::after);
  field("time_before_us", &T::time_before_us);
  field("time_after_us", &T::time_after_us);
  field("gain", &T::gain);
  field("accepted", &T::accepted);
  field("seconds", &T::seconds);
}
template <typename V>
void Describe(V& field, const TaskResult*) {
  using T = TaskResult;
  field("outcome", &T::outcome);
  field("message", &T::message);
  field("best_hash", &T::best_hash);
  field("gain", &T::gain);
}

}  // namespace warpwright::memory
