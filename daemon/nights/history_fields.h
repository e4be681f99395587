// How the lines of a history are encoded (base/fields.h). Empty texts and unset flags are omitted.
#pragma once

#include "base/fields.h"
#include "nights/history.h"

namespace warpwright::nights {

constexpr NightState Last(NightState) { return NightState::kFailed; }
constexpr FindingState Last(FindingState) { return FindingState::kAccepted; }
constexpr Cause Last(Cause) { return Cause::kUnknown; }

inline constexpr double kMostUs = 1e12, kMostLog = 30, kMostCount = 2147483647;

template <typename V>
void Describe(V& field, const HistoryKey*) {
  using T = HistoryKey;
  field("device", &T::device);
  field.Sparse("chip", &T::chip);
  field.Sparse("driver", &T::driver);
  field.Sparse("toolkit", &T::toolkit);
  field("protocol", &T::protocol);
}
template <typename V>
void Describe(V& field, const CaseTime*) {
  using T = CaseTime;
  field("time", &T::time);
  field("kernel", &T::kernel);
  field.Inline(&T::key);
  field("commit", &T::commit);
  field("slice", &T::slice);
  field.Sparse("reference", &T::reference);
  field.Sparse("modelled", &T::modelled);
  field("case", &T::case_name);
  field.Optional("weight", &T::weight, base::Within{0, 1e9});
  field.Optional("median_us", &T::median_us, base::Within{0, kMostUs});
  field.Optional("log_mean", &T::log_mean, base::Within{-kMostLog, kMostLog});
  field.Optional("log_error", &T::log_error, base::Within{0, kMostLog});
  field.Optional("samples", &T::samples, base::Within{0, kMostCount});
  field.Optional("discarded", &T::discarded, base::Within{0, kMostCount});
  field.Optional("mhz", &T::mhz, base::Within{0, 1e6});
}
template <typename V>
void Describe(V& field, const NightVerdict*) {
  using T = NightVerdict;
  field("time", &T::time);
  field("kernel", &T::kernel);
  field.Inline(&T::key);
  field("commit", &T::commit);
  field.Sparse("slice", &T::slice);
  field("state", &T::state);
  field.Sparse("message", &T::message);
  field.Sparse("anchor_commit", &T::anchor_commit);
  field.Sparse("anchor_slice", &T::anchor_slice);
  field.Optional("log_ratio", &T::log_ratio, base::Within{-kMostLog, kMostLog});
  field.Optional("lower", &T::lower, base::Within{-kMostLog, kMostLog});
  field.Optional("upper", &T::upper, base::Within{-kMostLog, kMostLog});
  field.Sparse("epoch", &T::epoch);
  field.Sparse("finding", &T::finding);
}
template <typename V>
void Describe(V& field, const Finding*) {
  using T = Finding;
  field("time", &T::time);
  field("kernel", &T::kernel);
  field("id", &T::id);
  field.Inline(&T::key);
  field("state", &T::state);
  field("cause", &T::cause);
  field.Sparse("commit", &T::commit);
  field.Sparse("subject", &T::subject);
  field.Sparse("from", &T::from);
  field.Sparse("to", &T::to);
  field.Sparse("slice", &T::slice);
  field.Sparse("anchor_slice", &T::anchor_slice);
  field.Sparse("case", &T::case_name);
  field.Optional("log_ratio", &T::log_ratio, base::Within{-kMostLog, kMostLog});
  field.Optional("lower", &T::lower, base::Within{-kMostLog, kMostLog});
  field.Optional("upper", &T::upper, base::Within{-kMostLog, kMostLog});
  field.Sparse("confirmed", &T::confirmed);
  field.Sparse("modelled", &T::modelled);
  field.Sparse("message", &T::message);
}

constexpr std::string_view Tag(const CaseTime*) { return "case"; }
constexpr std::string_view Tag(const NightVerdict*) { return "night"; }
constexpr std::string_view Tag(const Finding*) { return "finding"; }
constexpr const char* TagKey(const HistoryLine*) { return "kind"; }

}  // namespace warpwright::nights
