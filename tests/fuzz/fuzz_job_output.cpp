// What a child process printed: the first line is the requested kernel, the rest its output. Whatever it contains: no
// crash, an error is kCorrupt, and what was accepted is bounded and safe in paths, branches, command lines and the
// store.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "forge/json_text.h"
#include "service/job_runner.h"

namespace {

using namespace warpwright;

constexpr size_t kMaxEntries = 10'000, kMaxText = 4'000, kMaxName = 1'000;

void Require(bool holds) {
  if (!holds) std::abort();
}
template <typename T>
bool Accepted(const Result<T>& result) {
  if (!result) Require(result.error().code == ErrorCode::kCorrupt && !result.error().message.empty());
  return result.has_value();
}
bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && text.front() != '-' && text.front() != '/' &&
         text.find("..") == std::string_view::npos &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}
// Cut at a character boundary, not within a character.
bool IsText(std::string_view text, size_t bytes) { return text.size() <= bytes && base::ValidUtf8(text) == text; }

void Check(const service::DetectedEntry& entry) {
  Require(IsName(entry.job.kernel) && IsName(entry.job.file) && IsText(entry.job.entry, kMaxName));
  Require(entry.job.key.empty() ? !entry.changed : IsHex(entry.job.key, 64));
}
void Check(const service::JobResult& result, std::string_view kernel) {
  using enum core::TaskOutcome;
  constexpr std::array<std::optional<core::TaskOutcome>, 4> kOutcomes = {kImproved, kUnchanged, kRefused, kError};
  Require(std::find(kOutcomes.begin(), kOutcomes.end(), result.outcome) != kOutcomes.end());
  Require(IsText(result.message, kMaxText));
  for (const double value : {result.gain, result.gain_low, result.gain_high, result.seconds})
    Require(std::isfinite(value));
  Require(result.gain_low >= 0 && result.gain_high >= 0);
  // Either the branch is this kernel's own, or there is none and nothing to publish.
  Require(result.branch.empty() ? result.branch_commit.empty() : result.branch == "warpwright/" + std::string(kernel));
  Require(result.branch_commit.empty() || IsHex(result.branch_commit, 40));
}
void Check(const service::NightResult& night) {
  Require(night.outcome == core::TaskOutcome::kChecked || night.outcome == core::TaskOutcome::kRegression ||
          night.outcome == core::TaskOutcome::kError);
  Require(IsText(night.message, kMaxText) && IsText(night.branch, kMaxName) && night.findings.size() <= kMaxEntries);
  if (!night.branch_commit.empty()) Require(IsHex(night.branch_commit, 40) && IsName(night.branch));
  for (const service::NightFinding& finding : night.findings)
    Require(IsName(finding.kernel) && IsText(finding.message, kMaxText));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(text.find('\n'), text.size());
  const std::string_view kernel = text.substr(0, line), answer = text.substr(std::min(line + 1, text.size()));

  if (const auto entries = service::ParsePlan(answer); Accepted(entries)) {
    Require(entries->size() <= kMaxEntries);
    for (const service::DetectedEntry& entry : *entries) Check(entry);
  }
  if (const auto result = service::ParseOptimization(answer, kernel); Accepted(result)) Check(*result, kernel);
  if (const auto night = service::ParseNight(answer); Accepted(night)) Check(*night);
  return 0;
}
