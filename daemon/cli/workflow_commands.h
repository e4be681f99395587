// How a step controls the runner of GitHub Actions: commands in its output ("::add-mask::"). app/step_outputs.h has the
// files that it passes on.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::cli {

// Between Stop and Resume nothing in the output is taken for a command, whatever a compiler, a kernel or a model
// prints. Thread-safe.
class WorkflowCommands {
 public:
  // If `enabled` is false, nothing is ever printed.
  explicit WorkflowCommands(bool enabled, std::FILE* out = stdout) : enabled_(enabled), out_(out) {}
  ~WorkflowCommands() { Resume(); }
  WorkflowCommands(const WorkflowCommands&) = delete;
  WorkflowCommands& operator=(const WorkflowCommands&) = delete;

  void Stop();
  void Resume();
  void Mask(std::string_view secret);     // every line of it
  void Print(std::string_view commands);  // whole lines, escaped by report/job_summary.h

 private:
  void Emit(std::string_view line);
  const bool enabled_;
  std::FILE* const out_;
  std::mutex mutex_;
  std::string token_;  // of the Stop in effect; empty: commands are accepted
};

bool InGithubActions();
// In a step of GitHub Actions: the error at its file and line, and what to do in the step's summary.
void ReportToRunner(const Error& error);

// The variable's value, which is then wiped from this process's environment: neither /proc/<pid>/environ nor a child
// shows it any more. kEnvironment if it is unset or empty.
Result<std::string> TakeFromEnvironment(const std::string& name);

}  // namespace warpwright::cli
