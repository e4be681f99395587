// How a child is confined. Everything that needs memory or can fail for long is done by Prepare in the parent; Apply
// runs between clone and exec beside a possibly multi-threaded parent, so it only makes system calls. A program may
// also confine itself, before it starts threads: Apply acts on the calling thread and what it starts later.
//
//   files    Landlock (a deny-by-default list of folders), where the kernel has it
//   calls    seccomp: a deny list of what no compiler, parser or recorder needs (sockets, ptrace, mount, bpf, io_uring,
//   ...) amounts  rlimits: address space, file size, CPU time; core dumps are always off
//
// Sandboxes nest: a sandboxed worker starts sandboxed recorders, and each layer can only take rights away.
// The filter is built by libseccomp; Landlock is three system calls, for which Debian 12 has no library.
#pragma once

#include <linux/filter.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace warpwright::base {

class PreparedSandbox {
 public:
  // `program` (empty: none) may always be executed. What the kernel cannot enforce is noted, or an Error where
  // `required` is set.
  static Result<PreparedSandbox> Prepare(const Sandbox& sandbox, const std::filesystem::path& program = {});

  // Once. Null, or the name of the step that failed, with errno set.
  const char* Apply();
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Status PrepareFiles(const std::filesystem::path& program);
  Status PrepareCalls();

  Sandbox sandbox_;
  Fd ruleset_;  // Landlock; invalid: files are not confined
  uint64_t proc_self_rights_ = 0;
  std::vector<sock_filter> filter_;  // seccomp; empty: calls are not confined
  std::vector<std::string> notes_;
};

}  // namespace warpwright::base
