#include "core/verdict.h"

#include <cmath>

#include "base/result.h"

namespace warpwright::core {

std::string_view Name(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kOutOfBounds: return "out-of-bounds";
    case Fault::Kind::kMisaligned: return "misaligned";
    case Fault::Kind::kUninitializedRead: return "uninitialized-read";
    case Fault::Kind::kSharedRace: return "shared-race";
    case Fault::Kind::kDivergentBarrier: return "divergent-barrier";
    case Fault::Kind::kInactiveShuffle: return "inactive-shuffle";
    case Fault::Kind::kInstructionLimit: return "instruction-limit";
    case Fault::Kind::kTrap: return "trap";
    case Fault::Kind::kNotSimulated: return "not-simulated";
    case Fault::Kind::kReadOnlyWrite: return "read-only-write";
    case Fault::Kind::kResourceLimit: return "resource-limit";
    case Fault::Kind::kIllegalInstruction: return "illegal-instruction";
    case Fault::Kind::kNotVisible: return "not-visible";
  }
  return "?";
}

std::string_view Name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kCompileFailed: return Tag(static_cast<const CompileFailed*>(nullptr));
    case VerdictKind::kRefused: return Tag(static_cast<const Refused*>(nullptr));
    case VerdictKind::kWrongResult: return Tag(static_cast<const WrongResult*>(nullptr));
    case VerdictKind::kFaulted: return Tag(static_cast<const Faulted*>(nullptr));
    case VerdictKind::kMeasured: return Tag(static_cast<const Measured*>(nullptr));
  }
  return "?";
}

std::string_view VerdictName(const Verdict& verdict) {
  return std::visit([](const auto& v) { return Tag(&v); }, verdict);
}

namespace {
std::string Location(const std::string& file, int line) {
  if (file.empty()) return {};
  return line > 0 ? " (" + file + ":" + std::to_string(line) + ")" : " (" + file + ")";
}
// The first line that is an error: compilers warn, and say where they are, before it.
std::string ErrorLine(const std::string& log) {
  for (size_t at = 0; at < log.size();) {
    const size_t end = std::min(log.find('\n', at), log.size());
    const std::string line = log.substr(at, end - at);
    for (const char* word : {"error:", "error :", ": error", "fatal :", "ptxas fatal"})
      if (line.find(word) != std::string::npos) return line;
    at = end + 1;
  }
  return log.substr(0, log.find('\n'));
}
}  // namespace

std::string VerdictMessage(const Verdict& verdict) {
  return std::visit(
      Overload{
          [](const CompileFailed& v) { return "does not compile: " + ErrorLine(v.log); },
          [](const Refused& v) { return "refused by " + v.check.text() + ": " + v.reason + Location(v.file, v.line); },
          [](const WrongResult& v) {
            return "wrong result (" + std::string(Name(v.check)) + ", case " + v.case_name + "): " + v.message;
          },
          [](const Faulted& v) {
            return std::string(Name(v.fault.kind)) + " (case " + v.case_name + "): " + v.fault.message +
                   Location(v.fault.file, v.fault.line);
          },
          [](const Measured& v) {
            return std::string(v.modelled ? "verified and modelled on " : "verified and measured on ") + v.device +
                   ", " + std::to_string(v.cases.size()) + (v.cases.size() == 1 ? " case" : " cases") +
                   (v.decision ? ": " + std::string(Name(*v.decision)) : std::string());
          }},
      verdict);
}

double LogGain(const CaseMeasurement& before, const CaseMeasurement& after) {
  if (!after.timing) return std::log(before.time_us / after.time_us);
  return after.timing->log_ratio - (before.timing ? before.timing->log_ratio : 0);
}

double Speedup(const Measured& original, const Measured& candidate) {
  double log_sum = 0, weight_sum = 0;
  for (const auto& before : original.cases)
    for (const auto& after : candidate.cases)
      if (before.case_name == after.case_name && before.time_us > 0 && after.time_us > 0) {
        log_sum += before.weight * LogGain(before, after);
        weight_sum += before.weight;
      }
  return weight_sum > 0 ? std::exp(log_sum / weight_sum) : 1.0;
}

}  // namespace warpwright::core
