#include "cli/workflow_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/redaction.h"
#include "report/job_summary.h"

namespace warpwright::cli {
namespace {

// The file of the workflow that runs, from "owner/repository/.github/workflows/x.yml@ref"; empty: unknown.
std::string WorkflowFile() {
  const char* reference = std::getenv("GITHUB_WORKFLOW_REF");
  const std::string_view text = reference == nullptr ? "" : reference;
  const size_t at = text.find("/.github/workflows/"), end = text.find('@');
  return at == std::string_view::npos || end == std::string_view::npos || end < at
             ? std::string()
             : std::string(text.substr(at + 1, end - at - 1));
}

std::string RandomWord() { return fmt::format("ww{:016x}{:016x}", base::SecretSeed(), base::SecretSeed()); }

}  // namespace

void WorkflowCommands::Emit(std::string_view line) {
  if (!enabled_) return;
  while (line.ends_with('\n')) line.remove_suffix(1);
  std::fwrite(line.data(), 1, line.size(), out_);
  std::fputc('\n', out_);
  std::fflush(out_);
}

void WorkflowCommands::Stop() {
  const std::lock_guard guard(mutex_);
  if (!token_.empty()) return;
  token_ = RandomWord();
  Emit("::stop-commands::" + token_);
}

void WorkflowCommands::Resume() {
  const std::lock_guard guard(mutex_);
  if (token_.empty()) return;
  Emit("::" + token_ + "::");
  token_.clear();
}

void WorkflowCommands::Mask(std::string_view secret) {
  base::RegisterSecret(secret);
  const std::lock_guard guard(mutex_);
  if (!token_.empty()) Emit("::" + token_ + "::");
  while (!secret.empty()) {
    const std::string_view line = secret.substr(0, secret.find_first_of("\r\n"));
    if (line.size() >= base::Redactor::kMinimumBytes) Emit(report::MaskCommand(line));
    secret.remove_prefix(std::min(line.size() + 1, secret.size()));
  }
  if (!token_.empty()) {
    token_ = RandomWord();
    Emit("::stop-commands::" + token_);
  }
}

void WorkflowCommands::Print(std::string_view commands) {
  const std::lock_guard guard(mutex_);
  if (commands.find_first_not_of('\n') == std::string_view::npos) return;
  if (!token_.empty()) Emit("::" + token_ + "::");
  Emit(commands);
  if (token_.empty()) return;
  token_ = RandomWord();
  Emit("::stop-commands::" + token_);
}

bool InGithubActions() {
  const char* actions = std::getenv("GITHUB_ACTIONS");
  return actions != nullptr && std::string_view(actions) == "true";
}

void ReportToRunner(const Error& error) {
  if (!InGithubActions()) return;
  Error shown = error;
  if (shown.file.empty()) {  // of the machine, a secret, an option: where the job is set up
    shown.file = WorkflowFile();
    shown.line = 1;
  }
  std::fputs(report::FailureCommand(shown).c_str(), stderr);  // stdout may be someone's JSON
  const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
  if (summary == nullptr || *summary == 0) return;
  if (std::FILE* file = std::fopen(summary, "ae"); file != nullptr) {
    std::fputs(report::RenderFailure(error).c_str(), file);
    std::fclose(file);
  }
}

Result<std::string> TakeFromEnvironment(const std::string& name) {
  char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == 0)
    return Fail(ErrorCode::kEnvironment, fmt::format("${} is not set", name),
                "put the secret into it; secrets must not be command-line options, which every user can see");
  std::string secret = value;
  ::explicit_bzero(value, secret.size());
  ::unsetenv(name.c_str());
  return secret;
}

}  // namespace warpwright::cli
