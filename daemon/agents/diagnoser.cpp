#include "agents/diagnoser.h"

#include <regex>

#include "base/result.h"

namespace warpwright::agents {
namespace {

using Cause = core::Diagnosis::Cause;
constexpr size_t kMaxLogBytes = 64u << 10;

// The first line of the log that mentions an error, cut to a readable length.
std::string FirstError(const std::string& log) {
  size_t begin = 0;
  while (begin < log.size()) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    if (line.find("error") != std::string::npos || line.find("limit") != std::string::npos) return line.substr(0, 300);
    begin = end + 1;
  }
  return log.substr(0, std::min<size_t>(log.find('\n'), 300));
}

core::Diagnosis DiagnoseCompile(const core::CompileFailed& failed) {
  const std::string log = failed.log.substr(0, kMaxLogBytes);
  const std::string line = FirstError(log);
  static const std::regex undefined(R"re(identifier "([A-Za-z_]\w*)" is undefined)re");
  std::smatch match;
  if (std::regex_search(line, match, undefined))
    return {Cause::kMissingHelper, line, "'" + match[1].str() + "' is used but not declared in the device code",
            "declare '" + match[1].str() + "' before its first use", 0.9};
  if (line.find("too much shared") != std::string::npos || line.find("shared data") != std::string::npos ||
      line.find("too many resources") != std::string::npos || line.find("exceeded its limit") != std::string::npos)
    return {Cause::kResourceLimit, line, "the kernel needs more shared memory, registers or compile time than there is",
            "use a smaller tile or block", 0.9};
  return {Cause::kCompileError, line, "the rewritten code is not valid CUDA C++", "none known", 0.3};
}

core::Diagnosis DiagnoseFault(const core::Faulted& faulted) {
  const core::Fault& fault = faulted.fault;
  const std::string quote = fault.message;
  switch (fault.kind) {
    case core::Fault::Kind::kMisaligned:
      return {Cause::kMisaligned, quote, "a vector access meets an address that is not a multiple of its width",
              "use a narrower access, or test the alignment and fall back to scalar accesses", 0.9};
    case core::Fault::Kind::kOutOfBounds:
      return {Cause::kOutOfBounds, quote, "an access passes the end of a buffer: the tail is not guarded",
              "guard the last partial tile or vector", 0.7};
    case core::Fault::Kind::kSharedRace:
    case core::Fault::Kind::kDivergentBarrier:
    case core::Fault::Kind::kInactiveShuffle:
      return {Cause::kRace, quote, "threads of a block exchange data without being in step",
              "put a barrier between the write and the read, reached by all threads", 0.7};
    case core::Fault::Kind::kUninitializedRead:
      return {Cause::kUninitialized, quote, "a value is read that nothing wrote", "initialise it, or guard the read",
              0.6};
    case core::Fault::Kind::kResourceLimit:
      return {Cause::kResourceLimit, quote, "a block needs more threads, registers or shared memory than the chip has",
              "use a smaller tile or block", 0.95};
    case core::Fault::Kind::kNotSimulated:
      return {Cause::kNotSimulable, quote, "the kernel uses an instruction that this device cannot run",
              "none on this device", 1.0};
    case core::Fault::Kind::kInstructionLimit:
    case core::Fault::Kind::kTrap:
    case core::Fault::Kind::kReadOnlyWrite:
    case core::Fault::Kind::kIllegalInstruction: break;
  }
  return {Cause::kUnknown, quote, "the kernel stopped with a fault", "none known", 0.2};
}

}  // namespace

core::Diagnosis Diagnose(const core::Candidate&, const core::Verdict& verdict) {
  return std::visit(
      Overload{
          [](const core::CompileFailed& failed) { return DiagnoseCompile(failed); },
          [](const core::Faulted& faulted) { return DiagnoseFault(faulted); },
          [](const core::Refused& refused) {
            return core::Diagnosis{Cause::kRefused, refused.reason,
                                   "the candidate breaks a rule (" + refused.check + ")", "none", 0.9};
          },
          [](const core::WrongResult& wrong) {
            return core::Diagnosis{
                Cause::kWrongResult, wrong.message, "the check '" + wrong.check + "' found a difference",
                wrong.check == "odd-shape" || wrong.check == "unwritten-output" ? "guard the last partial tile"
                                                                                : "none known",
                0.4};
          },
          [](const core::Measured&) { return core::Diagnosis{Cause::kUnknown, "", "nothing is wrong", "none", 0}; }},
      verdict);
}

std::string_view Name(Cause cause) {
  switch (cause) {
    case Cause::kMissingHelper: return "missing helper";
    case Cause::kCompileError: return "compile error";
    case Cause::kResourceLimit: return "resource limit";
    case Cause::kMisaligned: return "misaligned access";
    case Cause::kOutOfBounds: return "out of bounds";
    case Cause::kRace: return "race";
    case Cause::kWrongResult: return "wrong result";
    case Cause::kUninitialized: return "uninitialized read";
    case Cause::kNotSimulable: return "not simulated";
    case Cause::kRefused: return "refused";
    case Cause::kUnknown: return "unknown";
  }
  return "?";
}

}  // namespace warpwright::agents
