#include "worker/acceptance_tools.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <future>
#include <set>

#include "base/file.h"
#include "base/utf8.h"
#include "worker/worker_evaluator.h"

namespace warpwright::worker {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxMessage = 400;
constexpr uint64_t kMaxLogBytes = 4u << 20;

fs::path FindProgram(const char* name) {
  std::vector<fs::path> folders;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0')
    folders.push_back(fs::path(home) / "bin");
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) folders.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders)
    if (::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  return {};
}

// The first meaningful lines, joined into one.
std::string Shorten(std::string_view text) { return base::CleanText(text, kMaxMessage); }

// "========= ERROR SUMMARY: 3 errors", "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)".
std::optional<uint64_t> CountIn(std::string_view log) {
  constexpr std::string_view kSummary = " SUMMARY: ";
  const size_t at = log.rfind(kSummary);
  if (at == std::string_view::npos) return std::nullopt;
  const char* begin = log.data() + at + kSummary.size();
  uint64_t count = 0;
  const auto parsed = std::from_chars(begin, log.data() + log.size(), count);
  return parsed.ec == std::errc() ? std::optional(count) : std::nullopt;
}

std::string FirstComplaint(std::string_view log) {
  constexpr std::string_view kMark = "========= ";
  for (size_t at = log.find(kMark); at != std::string_view::npos; at = log.find(kMark, at + 1)) {
    const std::string_view line = log.substr(at + kMark.size(), log.substr(at + kMark.size()).find('\n'));
    if (!line.starts_with("COMPUTE-SANITIZER") && !line.empty()) return Shorten(line);
  }
  return "no details in its log";
}

// A name in the form of the tool's filter: what precedes template arguments and parameters.
std::string PlainName(const std::string& kernel) {
  std::string name = kernel.substr(0, kernel.find_first_of("<("));
  if (const size_t space = name.rfind(' '); space != std::string::npos) name = name.substr(space + 1);
  if (const size_t colon = name.rfind(':'); colon != std::string::npos) name = name.substr(colon + 1);
  return name;
}

core::ToolFinding RunSanitizer(const AcceptanceTools& tools, const std::string& tool, const WorkerCommand& worker,
                               core::ExecuteRequest request, const std::vector<std::string>& kernels) {
  core::ToolFinding finding{"compute-sanitizer " + tool, core::ToolFinding::Outcome::kNotRun, {}};
  const auto folder = base::TemporaryDirectory::Create("warpwright-sanitizer");
  if (!folder) {
    finding.message = folder.error().Format();
    return finding;
  }
  const fs::path log = folder->path() / "log";
  WorkerCommand wrapped = worker;
  std::vector<std::string> prefix = {
      tools.compute_sanitizer.string(), "--tool", tool, "--log-file", log.string(), "--print-limit", "10"};
  // Copies to the host read what nobody wrote: an output's padding, an element that no kernel writes (which the judge
  // sees). Only what kernels read counts.
  if (tool == "initcheck") prefix.insert(prefix.end(), {"--check-api-memory-access", "no"});
  std::set<std::string> names;
  for (const std::string& kernel : kernels) names.insert("kns=" + PlainName(kernel));
  // What other kernels wrote would count as written by nobody.
  if (!names.empty() && tool != "initcheck")
    prefix.insert(prefix.end(), {"--kernel-name", fmt::format("{}", fmt::join(names, ","))});
  wrapped.argv.insert(wrapped.argv.begin(), prefix.begin(), prefix.end());
  request.options = {};
  request.options.keep_outputs = false;
  request.options.poison = tool != "initcheck";  // poisoned memory counts as written
  {
    WorkerEvaluator evaluator(wrapped);
    if (tools.deadline != nullptr) evaluator.SetDeadline(*tools.deadline);
    const auto outcome = evaluator.Execute(request);
    if (!outcome) {
      finding.message = "the worker does not run under it: " + Shorten(outcome.error().Format());
      return finding;
    }
    evaluator.supervisor().Finish();  // so that the tool writes its summary
  }
  const auto text = base::ReadFile(log, kMaxLogBytes);
  if (text)
    if (auto read = ReadSanitizerLog(tool, *text)) return *read;
  finding.message = text ? "it ended without a summary" : text.error().Format();
  return finding;
}

}  // namespace

AcceptanceTools FindAcceptanceTools() { return {FindProgram("compute-sanitizer")}; }

std::optional<core::ToolFinding> ReadSanitizerLog(const std::string& tool, std::string_view log) {
  const auto count = CountIn(log);
  if (!count) return std::nullopt;
  if (*count == 0) return core::ToolFinding{"compute-sanitizer " + tool, core::ToolFinding::Outcome::kClean, {}};
  return core::ToolFinding{"compute-sanitizer " + tool, core::ToolFinding::Outcome::kFound,
                           fmt::format("{} findings, first: {}", *count, FirstComplaint(log))};
}

std::vector<core::ToolFinding> RunSanitizers(const AcceptanceTools& tools, const WorkerCommand& worker,
                                             const core::ExecuteRequest& request,
                                             const std::vector<std::string>& kernels) {
  std::vector<std::future<core::ToolFinding>> under_way;
  std::vector<core::ToolFinding> findings;
  for (const char* tool : {"memcheck", "racecheck", "synccheck", "initcheck"}) {
    if (tools.compute_sanitizer.empty())
      findings.push_back(
          {std::string("compute-sanitizer ") + tool, core::ToolFinding::Outcome::kNotRun, "it is not installed"});
    else
      under_way.push_back(
          std::async(std::launch::async, [&, tool] { return RunSanitizer(tools, tool, worker, request, kernels); }));
  }
  for (auto& finding : under_way) findings.push_back(finding.get());
  return findings;
}

}  // namespace warpwright::worker
