#include "agents/diagnoser.h"

#include <algorithm>
#include <regex>
#include <utility>

#include "base/lines.h"
#include "base/result.h"
#include "base/utf8.h"

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
    return {.cause = Cause::kMissingHelper,
            .quote = line,
            .root_cause = "'" + match[1].str() + "' is used but not declared in the device code",
            .fix = "declare '" + match[1].str() + "' before its first use",
            .confidence = 0.9};
  if (line.find("too much shared") != std::string::npos || line.find("shared data") != std::string::npos ||
      line.find("too many resources") != std::string::npos || line.find("exceeded its limit") != std::string::npos)
    return {.cause = Cause::kResourceLimit,
            .quote = line,
            .root_cause = "the kernel needs more shared memory, registers or compile time than there is",
            .fix = "use a smaller tile or block",
            .confidence = 0.9};
  return {.cause = Cause::kCompileError,
          .quote = line,
          .root_cause = "the rewritten code is not valid CUDA C++",
          .fix = "none known",
          .confidence = 0.3};
}

core::Diagnosis DiagnoseFault(const core::Faulted& faulted) {
  const core::Fault& fault = faulted.fault;
  const std::string quote = fault.message;
  switch (fault.kind) {
    case core::Fault::Kind::kMisaligned:
      return {.cause = Cause::kMisaligned,
              .quote = quote,
              .root_cause = "a vector access meets an address that is not a multiple of its width",
              .fix = "use a narrower access, or test the alignment and fall back to scalar accesses",
              .confidence = 0.9};
    case core::Fault::Kind::kOutOfBounds:
      return {.cause = Cause::kOutOfBounds,
              .quote = quote,
              .root_cause = "an access passes the end of a buffer: the tail is not guarded",
              .fix = "guard the last partial tile or vector",
              .confidence = 0.7};
    case core::Fault::Kind::kSharedRace:
    case core::Fault::Kind::kDivergentBarrier:
    case core::Fault::Kind::kInactiveShuffle:
      return {.cause = Cause::kRace,
              .quote = quote,
              .root_cause = "threads of a block exchange data without being in step",
              .fix = "put a barrier between the write and the read, reached by all threads",
              .confidence = 0.7};
    case core::Fault::Kind::kNotVisible:
      return {.cause = Cause::kRace,
              .quote = quote,
              .root_cause = "a value is read that a GPU need not show to the thread that reads it",
              .fix =
                  "call __threadfence() between the write and the signal, and read without __ldg what the launch "
                  "writes",
              .confidence = 0.8};
    case core::Fault::Kind::kUninitializedRead:
      return {.cause = Cause::kUninitialized,
              .quote = quote,
              .root_cause = "a value is read that nothing wrote",
              .fix = "initialise it, or guard the read",
              .confidence = 0.6};
    case core::Fault::Kind::kResourceLimit:
      return {.cause = Cause::kResourceLimit,
              .quote = quote,
              .root_cause = "a block needs more threads, registers or shared memory than the chip has",
              .fix = "use a smaller tile or block",
              .confidence = 0.95};
    case core::Fault::Kind::kNotSimulated:
      return {.cause = Cause::kNotSimulable,
              .quote = quote,
              .root_cause = "the kernel uses an instruction that this device cannot run",
              .fix = "none on this device",
              .confidence = 1.0};
    case core::Fault::Kind::kInstructionLimit:
    case core::Fault::Kind::kTrap:
    case core::Fault::Kind::kReadOnlyWrite:
    case core::Fault::Kind::kIllegalInstruction: break;
  }
  return {.cause = Cause::kUnknown,
          .quote = quote,
          .root_cause = "the kernel stopped with a fault",
          .fix = "none known",
          .confidence = 0.2};
}

core::Diagnosis DiagnoseByKind(const core::Verdict& verdict) {
  return std::visit(
      Overload{[](const core::CompileFailed& failed) { return DiagnoseCompile(failed); },
               [](const core::Faulted& faulted) { return DiagnoseFault(faulted); },
               [](const core::Refused& refused) {
                 const bool allocates = refused.reason.find("(cudaMalloc)") != std::string::npos;
                 return core::Diagnosis{.cause = Cause::kRefused,
                                        .quote = refused.reason,
                                        .root_cause = "the candidate breaks a rule (" + refused.check.text() + ")",
                                        .fix = allocates
                                                   ? "cudaMallocAsync and cudaFreeAsync on the stream of the launches"
                                                   : "do without what the rule forbids",
                                        .confidence = 0.9};
               },
               [](const core::WrongResult& wrong) {
                 return core::Diagnosis{
                     .cause = Cause::kWrongResult,
                     .quote = wrong.message,
                     .root_cause = "the check '" + std::string(Name(wrong.check)) + "' found a difference",
                     .fix = wrong.check == core::Check::kOddShape || wrong.check == core::Check::kUnwrittenOutput
                                ? "guard the last partial tile"
                                : "none known",
                     .confidence = 0.4};
               },
               [](const core::Measured&) {
                 return core::Diagnosis{.cause = Cause::kUnknown, .root_cause = "nothing is wrong", .fix = "none"};
               }},
      verdict);
}

// The places in a text of ours or of a compiler: "src/a.cu:12: ...", "src/a.cu(12): error: ...".
std::vector<std::pair<std::string, int>> PlacesIn(std::string_view text) {
  static const std::regex place(R"re(([\w./+-]+\.(?:cu|cuh|h|hpp))(?::|\()(\d{1,7})\b)re");
  const std::string head(text.substr(0, kMaxLogBytes));
  std::vector<std::pair<std::string, int>> places;
  for (auto found = std::sregex_iterator(head.begin(), head.end(), place); found != std::sregex_iterator(); ++found)
    places.emplace_back((*found)[1].str(), std::stoi((*found)[2].str()));
  return places;
}

std::vector<std::pair<std::string, int>> PlacesOf(const core::Verdict& verdict) {
  using Places = std::vector<std::pair<std::string, int>>;
  return std::visit(Overload{[](const core::CompileFailed& failed) { return PlacesIn(failed.log); },
                             [](const core::Refused& refused) {
                               Places places = {{refused.file, refused.line}};
                               for (auto& place : PlacesIn(refused.reason)) places.push_back(std::move(place));
                               return places;
                             },
                             [](const core::Faulted& faulted) {
                               Places places = {{faulted.fault.file, faulted.fault.line}};
                               for (auto& place : PlacesIn(faulted.fault.message)) places.push_back(std::move(place));
                               return places;
                             },
                             [](const core::WrongResult& wrong) { return PlacesIn(wrong.message); },
                             [](const core::Measured&) { return Places(); }},
                    verdict);
}

}  // namespace

std::vector<core::DiagnosedLine> LinesOf(const core::Candidate& candidate, const core::Verdict& verdict,
                                         std::string_view file) {
  constexpr size_t kMostLines = 8, kMostBytes = 200;
  const std::vector<std::string_view> text = base::LinesOf(candidate.text);
  std::vector<core::DiagnosedLine> lines;
  for (const auto& [where, number] : PlacesOf(verdict)) {
    if (lines.size() == kMostLines || where.empty() || number <= 0) continue;
    core::DiagnosedLine line{.file = where, .line = number, .text = {}};
    if (where == file && static_cast<size_t>(number) <= text.size())
      line.text = base::Clip(base::CleanText(text[static_cast<size_t>(number) - 1], 4 * kMostBytes), kMostBytes);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

core::Diagnosis Diagnose(const core::Candidate& candidate, const core::Verdict& verdict, std::string_view file) {
  core::Diagnosis diagnosis = DiagnoseByKind(verdict);
  diagnosis.lines = LinesOf(candidate, verdict, file);
  if (const auto* wrong = std::get_if<core::WrongResult>(&verdict)) diagnosis.sample = wrong->sample;
  return diagnosis;
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
