#include "base/subprocess.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/pipe_signal.h"
#include "base/sandbox.h"

namespace warpwright::base {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  Fd read, write;
  static Result<Pipe> Create() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return FailErrno("pipe");
    Pipe pipe;
    pipe.read = Fd(ends[0]);
    pipe.write = Fd(ends[1]);
    return pipe;
  }
};

Result<std::string> FindProgram(const std::string& name) {
  if (name.empty()) return Fail(ErrorCode::kEnvironment, "the command is empty");
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const size_t colon = folders.find(':');
    const std::string candidate = std::string(folders.substr(0, colon)) + "/" + name;
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) break;
    folders.remove_prefix(colon + 1);
  }
  return Fail(ErrorCode::kEnvironment, "the program " + name + " is not on PATH",
              "install it (script/bootstrap) or extend PATH");
}

// What the child reports if it cannot execute the program.
struct StartFailure {
  int error = 0;
  char step[60] = {};
};

// The descriptors that become 0, 1 and 2 of the child; -1: /dev/null for 0, inherited for the others.
struct Streams {
  int in = -1, out = -1, err = -1;
};

// Everything that the child needs, allocated before the child exists.
struct Launch {
  std::string program;
  std::vector<char*> argv, envp;
  std::vector<std::string> env;
  const char* directory = nullptr;
  std::vector<int> descriptors;
  PreparedSandbox sandbox;
};

Result<Launch> Prepare(const Command& command) {
  if (command.argv.empty()) return Fail(ErrorCode::kEnvironment, "the command is empty");
  Launch launch;
  WW_ASSIGN(launch.program, FindProgram(command.argv.front()));
  for (const auto& argument : command.argv) launch.argv.push_back(const_cast<char*>(argument.c_str()));
  launch.argv.push_back(nullptr);
  launch.env.reserve(command.env.size());
  for (const auto& [name, value] : command.env) launch.env.push_back(name + "=" + value);
  for (auto& variable : launch.env) launch.envp.push_back(variable.data());
  launch.envp.push_back(nullptr);
  launch.descriptors = command.descriptors;
  if (!command.directory.empty()) launch.directory = command.directory.c_str();
  WW_ASSIGN(launch.sandbox, PreparedSandbox::Prepare(command.sandbox, launch.program));
  return launch;
}

[[noreturn]] void Report(int pipe, const char* step) {
  StartFailure failure;
  failure.error = errno;
  std::strncpy(failure.step, step, sizeof failure.step - 1);
  [[maybe_unused]] const ssize_t ignored = ::write(pipe, &failure, sizeof failure);
  ::_exit(127);
}

void CloseOnExecFrom(int first) {
  if (::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  const long limit = std::min<long>(::sysconf(_SC_OPEN_MAX), 65536);  // kernels before 5.11
  for (int fd = first; fd < limit; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Between clone and exec: system calls only, since another thread of the parent may hold any lock.
[[noreturn]] void BecomeProgram(Launch& launch, Streams streams, int report, pid_t parent) {
  if (::setpgid(0, 0) != 0) Report(report, "setpgid");
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) Report(report, "prctl PR_SET_PDEATHSIG");
  if (::getppid() != parent) ::_exit(127);  // it died before the call above
  struct sigaction defaults{};
  defaults.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &defaults, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  if (streams.in < 0) streams.in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (streams.in < 0) Report(report, "open /dev/null");
  // Moved away first: a descriptor that is itself 0, 1 or 2 would be overwritten by the dup2 of another.
  const int in = ::fcntl(streams.in, F_DUPFD_CLOEXEC, 3);
  const int out = streams.out < 0 ? -1 : ::fcntl(streams.out, F_DUPFD_CLOEXEC, 3);
  const int err = streams.err < 0 ? -1 : ::fcntl(streams.err, F_DUPFD_CLOEXEC, 3);
  if (::dup2(in, 0) < 0 || (out >= 0 && ::dup2(out, 1) < 0) || (err >= 0 && ::dup2(err, 2) < 0)) Report(report, "dup2");
  CloseOnExecFrom(3);
  for (const int kept : launch.descriptors)
    if (::fcntl(kept, F_SETFD, 0) != 0) Report(report, "fcntl");
  if (launch.directory != nullptr && ::chdir(launch.directory) != 0) Report(report, "chdir");
  if (const char* failed = launch.sandbox.Apply()) Report(report, failed);
  ::execve(launch.program.c_str(), launch.argv.data(), launch.envp.data());
  Report(report, "execve");
}

struct ChildStart {
  Launch* launch;
  Streams streams;
  int report;
  pid_t parent;
};
int BeginChild(void* birth) {
  const auto* b = static_cast<const ChildStart*>(birth);
  BecomeProgram(*b->launch, b->streams, b->report, b->parent);
}

// The child shares the parent's memory until exec, for which the calling thread waits, as in posix_spawn(). A fork
// would copy the page tables of a worker that has gigabytes mapped, and cause a fault on every page that it writes
// afterwards.
pid_t VforkClone(ChildStart& birth) {
  int sharing = CLONE_VM | CLONE_VFORK;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  sharing = 0;  // the child would end the sanitizer's threads in the parent's memory
#endif
#endif
  constexpr size_t kStackBytes = 256u << 10;
  void* const stack =
      ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  const pid_t pid = ::clone(BeginChild, static_cast<char*>(stack) + kStackBytes, sharing | SIGCHLD, &birth);
  const int error = errno;
  ::munmap(stack, kStackBytes);
  errno = error;
  return pid;
}

// Starts the child and waits until it has executed the program or has reported why it could not.
Result<pid_t> Spawn(Launch& launch, Streams streams) {
  WW_ASSIGN(Pipe report, Pipe::Create());
  // The report's descriptor must not be one that dup2 overwrites.
  if (report.write.get() <= 2) {
    const int moved = ::fcntl(report.write.get(), F_DUPFD_CLOEXEC, 3);
    if (moved < 0) return FailErrno("fcntl");
    report.write = Fd(moved);
  }
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no signal handler of the parent runs in the child
  ChildStart birth{&launch, streams, report.write.get(), ::getpid()};
  const pid_t pid = VforkClone(birth);
  const int clone_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    errno = clone_error;
    return FailErrno("clone");
  }
  report.write.Close();
  StartFailure failure;
  ssize_t got;
  do got = ::read(report.read.get(), &failure, sizeof failure);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return pid;  // closed by exec
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  failure.step[sizeof failure.step - 1] = '\0';
  return Fail(failure.error == ENOENT || failure.error == EACCES ? ErrorCode::kEnvironment : ErrorCode::kIo,
              "start " + launch.program + ": " + failure.step + ": " + std::strerror(failure.error));
}

// The leader stays a zombie until it is reaped, so its group ID cannot have been reused.
void KillGroupAndReap(pid_t pid, int* status = nullptr) {
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, status, 0) < 0 && errno == EINTR) {
  }
}

bool HasEnded(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

ChildEnd EndOf(int status) {
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.exit_code = WEXITSTATUS(status)};
}

// One output stream of Run.
struct Collector {
  Fd fd;
  std::string* text;
  uint64_t limit;
  bool* truncated;

  void ReadWhatIsThere() {
    std::array<char, 65536> buffer;
    while (fd.valid()) {
      const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        fd.Close();
        return;
      }
      const uint64_t room = limit - std::min<uint64_t>(limit, text->size());
      if (static_cast<uint64_t>(got) > room) *truncated = true;
      text->append(buffer.data(), std::min<uint64_t>(room, static_cast<uint64_t>(got)));
      if (got < static_cast<ssize_t>(buffer.size())) return;  // let the others have their turn
    }
  }
};

void SetNonBlocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

std::map<std::string, std::string> MinimalEnvironment() {
  std::map<std::string, std::string> env = {{"LANG", "C.UTF-8"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  for (const char* name : {"PATH", "HOME", "TMPDIR"})
    if (const char* value = std::getenv(name)) env[name] = value;
  return env;
}

Result<Completed> Run(const Command& command) {
  WW_ASSIGN(Launch launch, Prepare(command));
  WW_ASSIGN(Pipe in, Pipe::Create());
  WW_ASSIGN(Pipe out, Pipe::Create());
  WW_ASSIGN(Pipe err, Pipe::Create());
  const PipeSignalBlocked no_pipe_signal;
  const auto start = SteadyClock::now();
  WW_ASSIGN(const pid_t pid, Spawn(launch, {in.read.get(), out.write.get(), err.write.get()}));
  in.read.Close();
  out.write.Close();
  err.write.Close();
  for (int fd : {in.write.get(), out.read.get(), err.read.get()}) SetNonBlocking(fd);

  Completed completed;
  completed.notes = launch.sandbox.notes();
  Collector collectors[] = {{std::move(out.read), &completed.out, command.output_limit_bytes, &completed.truncated},
                            {std::move(err.read), &completed.err, command.output_limit_bytes, &completed.truncated}};
  // Invalid on kernels before 5.3: then we poll often.
  const Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  std::string_view input = command.input;
  if (input.empty()) in.write.Close();
  while (!HasEnded(pid)) {
    int wait_ms = ended.valid() ? 1000 : 10;
    if (command.deadline.count() > 0) {
      const auto left = command.deadline - (SteadyClock::now() - start);
      if (left.count() <= 0) {
        completed.timed_out = true;
        break;
      }
      const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
      wait_ms = static_cast<int>(std::min<int64_t>(wait_ms, left_ms));
    }
    pollfd watched[] = {{collectors[0].fd.get(), POLLIN, 0},
                        {collectors[1].fd.get(), POLLIN, 0},
                        {in.write.get(), POLLOUT, 0},
                        {ended.get(), POLLIN, 0}};  // negative descriptors are ignored
    if (::poll(watched, 4, wait_ms) < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; ++i)
      if (watched[i].revents != 0) collectors[i].ReadWhatIsThere();
    if (watched[2].revents != 0) {
      const ssize_t sent = ::write(in.write.get(), input.data(), input.size());
      if (sent > 0) input.remove_prefix(static_cast<size_t>(sent));
      if (input.empty() || (sent < 0 && errno != EAGAIN && errno != EINTR)) in.write.Close();
    }
  }
  // Remaining grandchildren hold the pipes open and must not outlive the command.
  int status = 0;
  KillGroupAndReap(pid, &status);
  for (auto& collector : collectors)
    for (size_t before = ~size_t{0}; collector.fd.valid() && collector.text->size() != before;) {
      before = collector.text->size();
      collector.ReadWhatIsThere();
    }
  const ChildEnd end = EndOf(status);
  completed.signal = end.signal;
  completed.exit_code = end.signal != 0 ? 128 + end.signal : end.exit_code;
  return completed;
}

std::string ChildEnd::Describe() const {
  if (signal != 0) return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  return "exit code " + std::to_string(exit_code);
}

Result<Child> Child::Start(const Command& command, const std::filesystem::path& stderr_path) {
  WW_ASSIGN(Launch launch, Prepare(command));
  WW_ASSIGN(Pipe in, Pipe::Create());
  WW_ASSIGN(Pipe out, Pipe::Create());
  Fd err;
  if (!stderr_path.empty()) {
    err = Fd(::open(stderr_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!err.valid()) return FailErrno("open " + stderr_path.string());
  }
  Child child;
  WW_ASSIGN(child.pid_, Spawn(launch, {in.read.get(), out.write.get(), err.get()}));
  child.in_ = std::move(in.write);
  child.out_ = std::move(out.read);
  child.notes_ = launch.sandbox.notes();
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      end_(other.end_),
      notes_(std::move(other.notes_)) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    Kill();
    pid_ = std::exchange(other.pid_, -1);
    in_ = std::move(other.in_);
    out_ = std::move(other.out_);
    end_ = other.end_;
    notes_ = std::move(other.notes_);
  }
  return *this;
}

Child::~Child() { Kill(); }

void Child::Kill() {
  if (pid_ < 0) return;
  int status = 0;
  KillGroupAndReap(std::exchange(pid_, -1), &status);
  end_ = EndOf(status);
}

std::optional<ChildEnd> Child::End() {
  if (pid_ >= 0 && HasEnded(pid_)) Kill();
  return end_;
}

}  // namespace warpwright::base
