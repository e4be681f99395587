// What a candidate is checked for, by name. A verdict says which of these it failed, or passed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"

namespace warpwright::core {

enum class Check : uint8_t {
  // Before it runs.
  kSlice,
  kRecord,
  kHostCompile,
  kSplice,
  kPtxRules,
  kBuildDependent,
  kHostCode,
  // Of a run: what it must not do, and how it may end.
  kCrash,
  kDeadline,
  kGuardBands,
  kInputHash,
  kModuleState,
  kUnwrittenOutput,
  kDeterminism,
  kComparison,
  kBytesRead,
  kTimedOutput,
  kRooflineFloor,
  kHostTime,
  kDeadCode,  // of all runs together
  // Of runs on other inputs and shapes.
  kRecordedReference,
  kSecretSeed,
  kPointerOffset,
  kInPlace,
  kDistributions,
  kExactIntegers,
  kNeedle,
  kScaleLadder,
  kSpecialValues,
  kOddShape,
  kOtherScalars,
  kLargeCase,
  kReducedShape,
  // Of what it computes, beside the numbers.
  kEquivalence,
  // Of the original: why a case, or the whole kernel, cannot be verified.
  kOriginal,
  kToleranceSelfTest,
  kTooLarge,
  kOtherDevice,
};
std::string_view Name(Check check);  // "guard-bands": as stored and shown
constexpr Check Last(Check) { return Check::kOtherDevice; }

// One of these, or another tool that looked at a winner, by the name that it has in core/tool_finding.h.
class CheckName {
 public:
  CheckName() = default;
  CheckName(Check check) : value_(check) {}  // NOLINT(google-explicit-constructor): each of them is one
  explicit CheckName(std::string tool) : value_(std::move(tool)) {}
  static Result<CheckName> Parse(std::string_view text);
  std::string text() const;
  bool operator==(const CheckName&) const = default;

 private:
  std::variant<Check, std::string> value_;
};

}  // namespace warpwright::core
