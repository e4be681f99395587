// Child processes: one shape for short commands (Run) and one for long-lived peers on pipes (Child).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace warpwright::base {

// What a child may do. Zero limits mean "no limit". Landlock and seccomp apply if the kernel has them; Run reports in
// `notes` what could not be enforced, and never silently continues when `required` is set.
struct Sandbox {
  bool enabled = false;
  bool required = false;
  bool allow_network = false;
  bool allow_children = true;  // false: it may have threads, but no child processes, and may signal only itself
  // In addition to /usr, /lib*, /bin, /etc/ld.so.cache, /proc/self, /dev/null.
  std::vector<std::filesystem::path> readable;
  std::vector<std::filesystem::path> writable;
  std::vector<std::filesystem::path> devices;  // device nodes, or folders of them; missing ones are skipped
  uint64_t memory_bytes = 0;  // RLIMIT_AS; with `devices` RLIMIT_DATA, since drivers reserve terabytes of address space
  uint64_t address_bytes = 0;   // > 0: RLIMIT_AS, and `memory_bytes` is RLIMIT_DATA: what is reserved is no memory yet
  uint64_t file_bytes = 0;      // RLIMIT_FSIZE
  std::chrono::seconds cpu{0};  // RLIMIT_CPU
};

struct Command {
  std::vector<std::string> argv;               // argv[0] is looked up on the parent's PATH
  std::map<std::string, std::string> env;      // the whole environment of the child: nothing is inherited
  std::filesystem::path directory;             // empty: the parent's
  std::string input;                           // standard input of Run
  std::chrono::milliseconds deadline{60'000};  // zero: none
  uint64_t output_limit_bytes = 16u << 20;     // per stream; the rest is discarded and `truncated` is set
  Sandbox sandbox;
  std::vector<int> descriptors;  // that the child keeps, under the same numbers, in addition to 0, 1 and 2
};

struct Completed {
  int exit_code = 0;  // 128 + signal if a signal ended it
  int signal = 0;
  bool timed_out = false;
  bool truncated = false;
  std::string out;
  std::string err;
  std::vector<std::string> notes;
};

// Runs the command to its end, or kills the whole process group at the deadline. A non-zero exit is not an Error.
Result<Completed> Run(const Command& command);

// PATH, HOME, TMPDIR and LANG=C.UTF-8: what a compiler needs, and no secrets.
std::map<std::string, std::string> MinimalEnvironment();

// How a child ended: with an exit code, or by a signal that is not zero.
struct ChildEnd {
  int exit_code = 0;
  int signal = 0;
  std::string Describe() const;  // "exit code 3", "signal 11 (Segmentation fault)"
};

// A running child with two pipes. The destructor kills it (SIGKILL, process group) and reaps it. The child dies with
// the thread that started it (PR_SET_PDEATHSIG is per thread). stderr is passed through to the parent's unless
// stderr_path is set.
class Child {
 public:
  static Result<Child> Start(const Command& command, const std::filesystem::path& stderr_path = {});
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }
  int to_child() const { return in_.get(); }
  int from_child() const { return out_.get(); }
  void CloseInput() { in_.Close(); }
  void Kill();                    // and reap; afterwards pid() is -1
  std::optional<ChildEnd> End();  // reaps the child if it has ended; nullopt while it runs
  const std::vector<std::string>& notes() const { return notes_; }  // what the sandbox could not enforce

 private:
  Child() = default;
  pid_t pid_ = -1;
  Fd in_;
  Fd out_;
  std::optional<ChildEnd> end_;
  std::vector<std::string> notes_;
};

}  // namespace warpwright::base
