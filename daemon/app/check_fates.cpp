#include "app/check_fates.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "judge/source_file.h"

namespace warpwright::app {
namespace {

constexpr uint64_t kUnknownBytes = std::numeric_limits<uint64_t>::max();

uint64_t BytesOfCase(const core::KernelSpec& spec, const core::Case& c) {
  uint64_t sum = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto shape = core::ShapeOf(argument, c);
    if (!shape) return kUnknownBytes;
    uint64_t bytes = core::SizeOf(buffer->dtype);
    for (const int64_t extent : *shape)
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes)) return kUnknownBytes;
    if (__builtin_add_overflow(sum, bytes, &sum)) return kUnknownBytes;
  }
  return sum;
}

uint64_t ThreadInstructions(const core::Measured& measured) {
  uint64_t sum = 0;
  for (const core::CaseMeasurement& c : measured.cases)
    for (const core::LaunchReport& launch : c.launches) sum += launch.counters.thread_instructions;
  return sum;
}

CaseFate FateOf(const judge::CaseStatus& status) {
  if (status.verified) return status.measured ? CaseFate::kCompared : CaseFate::kComparedOnly;
  if (!status.check) return status.measured ? CaseFate::kTimedOnly : CaseFate::kRefused;
  if (*status.check == core::Check::kToleranceSelfTest) return CaseFate::kCannotTell;
  if (*status.check == core::Check::kOtherDevice) return CaseFate::kOtherDevice;
  if (*status.check == core::Check::kTooLarge) return status.measured ? CaseFate::kTimedOnly : CaseFate::kTooLarge;
  return CaseFate::kRefused;
}

}  // namespace

std::string_view Name(CaseFate fate) {
  switch (fate) {
    case CaseFate::kCompared: return "compared and timed";
    case CaseFate::kComparedOnly: return "compared, not timed";
    case CaseFate::kTimedOnly: return "timed, not compared in full";
    case CaseFate::kTooLarge: return "too large";
    case CaseFate::kOtherDevice: return "for another device";
    case CaseFate::kCannotTell: return "wrong results cannot be told from right ones";
    case CaseFate::kRefused: return "refused";
    case CaseFate::kNotTried: return "not tried";
    case CaseFate::kWrongInManifest: return "cannot be read";
    case CaseFate::kUnanswered: return "waits for an answer";
  }
  return "?";
}

Result<CheckedKernel> FindFates(const Workspace& workspace, const core::Manifest& manifest,
                                const core::KernelSpec& spec, const std::string& toolchain, core::Evaluator& worker) {
  CheckedKernel kernel{spec.name, spec.entry, {}};
  const bool simulated = !workspace.device().gpu;
  const judge::JudgeOptions limits;
  std::vector<uint64_t> bytes;
  size_t smallest = spec.cases.size();
  for (const core::Case& c : spec.cases) {
    kernel.cases.push_back({.name = c.name});
    bytes.push_back(BytesOfCase(spec, c));
    const size_t index = kernel.cases.size() - 1;
    if (c.on.contains(simulated ? core::DeviceKind::kSim : core::DeviceKind::kCuda)) {
      if (smallest == spec.cases.size() || bytes[index] < bytes[smallest]) smallest = index;
    } else if (!simulated && bytes[index] <= limits.small_case_bytes) {
      kernel.cases[index] = {
          .name = c.name, .fate = CaseFate::kComparedOnly, .why = "the manifest marks it for other devices"};
    } else {
      kernel.cases[index].fate = CaseFate::kOtherDevice;
    }
  }
  if (smallest == spec.cases.size()) return kernel;

  core::KernelSpec one = spec;
  one.cases = {spec.cases[smallest]};
  WW_ASSIGN(const core::SourceRef source,
            judge::ReadSource(std::filesystem::absolute(workspace.repository().root()), spec));
  const auto judge = MakeJudge({.device = workspace.device(),
                                .spec = one,
                                .original = source,
                                .manifest = manifest,
                                .references = workspace.repository().root(),
                                .toolchain = toolchain},
                               worker);
  WW_ASSIGN(const judge::Baseline baseline, judge->Prepare());
  CheckedCase& tried = kernel.cases[smallest];
  tried.tried = true;
  if (!baseline.cases.empty()) {
    tried.fate = FateOf(baseline.cases.front());
    tried.why = baseline.cases.front().note;
  }
  const auto* measured = std::get_if<core::Measured>(&baseline.original);
  if (measured == nullptr) {
    if (tried.fate != CaseFate::kCannotTell && tried.fate != CaseFate::kTooLarge) tried.fate = CaseFate::kRefused;
    tried.why = core::VerdictMessage(baseline.original);
  }
  // On a simulator, work grows with the bytes at least: what is too large by this estimate is too large.
  const double instructions = measured == nullptr ? 0 : static_cast<double>(ThreadInstructions(*measured));
  for (size_t i = 0; i < kernel.cases.size(); ++i) {
    CheckedCase& c = kernel.cases[i];
    if (i == smallest || c.fate == CaseFate::kOtherDevice) continue;
    if (measured == nullptr) {
      c.fate = CaseFate::kNotTried;
      continue;
    }
    const double work =
        instructions * static_cast<double>(bytes[i]) / static_cast<double>(std::max<uint64_t>(bytes[smallest], 1));
    if (c.fate == CaseFate::kComparedOnly) continue;
    c.fate = CaseFate::kCompared;
    if (bytes[i] > limits.max_case_bytes) {
      c.fate = CaseFate::kTooLarge;
      c.why = fmt::format("{} MiB of buffers; at most {} MiB are handled", bytes[i] >> 20, limits.max_case_bytes >> 20);
    } else if (simulated && work > static_cast<double>(limits.verify_instructions)) {
      c.fate = CaseFate::kTimedOnly;
      c.why = fmt::format("about {:.0f} million instructions, more than the {} million that are run whole", work / 1e6,
                          limits.verify_instructions / 1'000'000);
    }
  }
  return kernel;
}

}  // namespace warpwright::app
