// What a step says to the runner of GitHub Actions: commands in its output ("::add-mask::"), and files that it hands over (GITHUB_OUTPUT).
#pragma once

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace warpwright {

// Between Stop and Resume nothing in the output is taken for a command, whatever a compiler, a kernel or a model says. Thread-safe.
class WorkflowCommands {
 public:
  // Where `enabled` is false nothing is ever printed.
  explicit WorkflowCommands(bool enabled, std::FILE* out = stdout) : enabled_(enabled), out_(out) {}
  ~WorkflowCommands() { Resume(); }
  WorkflowCommands(const WorkflowCommands&) = delete;
  WorkflowCommands& operator=(const WorkflowCommands&) = delete;

  void Stop();
  void Resume();
  void Mask(std::string_view secret);          // every line of it
  void Print(std::string_view commands);       // whole lines, escaped by report/job_summary.h

 private:
  void Emit(std::string_view line);
  const bool enabled_;
  std::FILE* const out_;
  std::mutex mutex_;
  std::string token_;                          // of the Stop that holds; empty: commands are taken
};

using StepOutputs = std::vector<std::pair<std::string, std::string>>;
// Appends to the file that GITHUB_OUTPUT names. Each value stands between delimiters that nobody could have put into it. A value over 400 KB is
// left out and said so in its place, since GitHub refuses a job's outputs over 1 MB together.
Status WriteStepOutputs(const std::filesystem::path& file, const StepOutputs& outputs);

// The variable's value, which is then wiped out of this process's environment: neither /proc/<pid>/environ nor a child shows it any more.
// kEnvironment where it is not set or empty.
Result<std::string> TakeFromEnvironment(const std::string& name);

}  // namespace warpwright
