#include "core/check.h"

#include "base/fields.h"

namespace warpwright::core {

std::string_view Name(Check check) {
  switch (check) {
    case Check::kSlice: return "slice";
    case Check::kRecord: return "record";
    case Check::kHostCompile: return "host-compile";
    case Check::kSplice: return "splice";
    case Check::kPtxRules: return "ptx-rules";
    case Check::kBuildDependent: return "build-dependent";
    case Check::kHostCode: return "host-code";
    case Check::kCrash: return "crash";
    case Check::kDeadline: return "deadline";
    case Check::kGuardBands: return "guard-bands";
    case Check::kInputHash: return "input-hash";
    case Check::kModuleState: return "module-state";
    case Check::kUnwrittenOutput: return "unwritten-output";
    case Check::kDeterminism: return "determinism";
    case Check::kComparison: return "comparison";
    case Check::kBytesRead: return "bytes-read";
    case Check::kTimedOutput: return "timed-output";
    case Check::kRooflineFloor: return "roofline-floor";
    case Check::kHostTime: return "host-time";
    case Check::kDeadCode: return "dead-code";
    case Check::kRecordedReference: return "recorded-reference";
    case Check::kSecretSeed: return "secret-seed";
    case Check::kPointerOffset: return "pointer-offset";
    case Check::kInPlace: return "in-place";
    case Check::kDistributions: return "distributions";
    case Check::kExactIntegers: return "exact-integers";
    case Check::kNeedle: return "needle";
    case Check::kScaleLadder: return "scale-ladder";
    case Check::kSpecialValues: return "special-values";
    case Check::kOddShape: return "odd-shape";
    case Check::kOtherScalars: return "other-scalars";
    case Check::kLargeCase: return "large-case";
    case Check::kReducedShape: return "reduced-shape";
    case Check::kEquivalence: return "equivalence";
    case Check::kOriginal: return "original";
    case Check::kToleranceSelfTest: return "tolerance-self-test";
    case Check::kTooLarge: return "too-large";
    case Check::kOtherDevice: return "other-device";
  }
  return "?";
}

Result<CheckName> CheckName::Parse(std::string_view text) {
  if (const auto check = base::ParseName<Check>(text)) return CheckName(*check);
  return CheckName(std::string(text));
}

std::string CheckName::text() const {
  return std::visit(
      Overload{[](Check check) { return std::string(Name(check)); }, [](const std::string& tool) { return tool; }},
      value_);
}

}  // namespace warpwright::core
