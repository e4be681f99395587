// How a child is confined. Prepare, in the parent, allocates all memory and does most of what can fail; Apply runs
// between clone and exec of a possibly multi-threaded parent, so it only makes system calls. A program may also confine
// itself before it starts threads: Apply affects the calling thread and the threads and processes that it starts later.
//
//   files    Landlock (a deny-by-default list of folders), if the kernel has it
//   calls    seccomp: a deny list of calls that no compiler, parser or recorder needs (sockets, ptrace, mount, ...)
//   amounts  rlimits: address space, file size, CPU time; core dumps are always off
//
// Sandboxes nest: a sandboxed worker starts sandboxed recorders, and each layer can only take rights away. libseccomp
// builds the filter; Landlock is three system calls, for which Debian 12 has no library.
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
  // `program` (empty: none) may always be executed. What the kernel cannot enforce is noted, or an Error if `required`
  // is set.
  static Result<PreparedSandbox> Prepare(const Sandbox& sandbox, const std::filesystem::path& program = {});

  // To be called once. Returns null, or the name of the step that failed, with errno set.
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
