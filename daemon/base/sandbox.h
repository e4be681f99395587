// What a child does to itself between fork and exec. Uses only async-signal-safe calls on data prepared before the fork.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace warpwright {

// Landlock rules and a seccomp program, prepared in the parent: building them allocates, which a forked child must not.
class PreparedSandbox {
 public:
  static Result<PreparedSandbox> Prepare(const Sandbox& sandbox);

  // In the child. Returns nullptr, or the name of the step that failed, with errno set.
  const char* Apply() const;
  // Mechanisms that this kernel lacks.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Sandbox sandbox_;
  Fd ruleset_;                       // Landlock
  std::vector<char> filter_;         // struct sock_filter[]
  std::vector<std::string> notes_;
};

}  // namespace warpwright
