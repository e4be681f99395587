#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/sandbox.h"

namespace warpwright {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Fd read, write;
};
Result<Pipe> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return FailErrno("pipe");
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

std::string FindOnPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, colon)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

// Everything that exec needs, built before the fork.
struct Image {
  std::string program;
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;

  static Result<Image> Make(const Command& command) {
    if (command.argv.empty()) return Fail(ErrorCode::kUsage, "a command without a program");
    Image image;
    image.program = FindOnPath(command.argv[0]);
    if (image.program.empty())
      return Fail(ErrorCode::kEnvironment, command.argv[0] + " is not installed (not found on PATH)", "install " + command.argv[0]);
    for (const auto& [name, value] : command.env) image.environment.push_back(name + "=" + value);
    for (const auto& argument : command.argv) image.argv.push_back(const_cast<char*>(argument.c_str()));
    for (auto& variable : image.environment) image.envp.push_back(variable.data());
    image.argv.push_back(nullptr);
    image.envp.push_back(nullptr);
    return image;
  }
};

struct ExecFailure {
  char step[48];
  int error;
};

[[noreturn]] void FailInChild(int report, const char* step) {
  ExecFailure failure{};
  failure.error = errno;
  std::strncpy(failure.step, step, sizeof failure.step - 1);
  [[maybe_unused]] const ssize_t ignored = ::write(report, &failure, sizeof failure);
  ::_exit(127);
}

// In the child: only async-signal-safe calls from here to exec.
[[noreturn]] void BecomeProgram(const Command& command, const Image& image, const PreparedSandbox& sandbox, pid_t parent, int in, int out,
                                int err, int report) {
  ::setpgid(0, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) FailInChild(report, "follow the parent's death");
  if (::getppid() != parent) ::_exit(127);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < 32; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) FailInChild(report, "connect the pipes");
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) FailInChild(report, "enter the folder");
  if (const char* step = sandbox.Apply(); step != nullptr) FailInChild(report, step);
  ::execve(image.program.c_str(), image.argv.data(), image.envp.data());
  FailInChild(report, "execute");
}

Result<pid_t> Spawn(const Command& command, const PreparedSandbox& sandbox, int in, int out, int err) {
  WW_ASSIGN(const Image image, Image::Make(command));
  WW_ASSIGN(Pipe report, MakePipe());
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return FailErrno("fork");
  if (pid == 0) BecomeProgram(command, image, sandbox, parent, in, out, err, report.write.get());
  ::setpgid(pid, pid);
  report.write.Close();
  ExecFailure failure{};
  ssize_t got;
  do got = ::read(report.read.get(), &failure, sizeof failure);
  while (got < 0 && errno == EINTR);
  if (got > 0) {
    ::waitpid(pid, nullptr, 0);
    errno = failure.error;
    auto error = FailErrno(std::string(failure.step) + " " + command.argv[0]);
    error.value().code = ErrorCode::kEnvironment;
    return error;
  }
  return pid;
}

void KillGroup(pid_t pid) {
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
}

// A pipe that is read until its end; more than the limit is dropped.
struct Sink {
  Fd fd;
  std::string text;
  bool truncated = false;

  void ReadSome(uint64_t limit) {
    char buffer[65536];
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      fd.Close();
      return;
    }
    const size_t room = static_cast<size_t>(limit - std::min<uint64_t>(limit, text.size()));
    text.append(buffer, std::min(static_cast<size_t>(got), room));
    truncated |= static_cast<size_t>(got) > room;
  }
};

// Feeds `input`, collects both streams; false when the deadline passed.
bool Exchange(const Command& command, Fd input, Sink& out, Sink& err, Clock::time_point deadline) {
  std::string_view rest = command.input;
  if (rest.empty()) input.Close();
  if (input.valid()) ::fcntl(input.get(), F_SETFL, O_NONBLOCK);
  while (out.fd.valid() || err.fd.valid()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd fds[] = {{out.fd.get(), POLLIN, 0}, {err.fd.get(), POLLIN, 0}, {input.get(), POLLOUT, 0}};
    if (::poll(fds, 3, static_cast<int>(std::min<long>(left, 60'000))) < 0 && errno != EINTR) return false;
    if (fds[0].revents != 0) out.ReadSome(command.output_limit_bytes);
    if (fds[1].revents != 0) err.ReadSome(command.output_limit_bytes);
    if (fds[2].revents == 0) continue;
    const ssize_t written = ::write(input.get(), rest.data(), rest.size());
    if (written > 0) rest.remove_prefix(static_cast<size_t>(written));
    if (rest.empty() || (written < 0 && errno != EAGAIN && errno != EINTR)) input.Close();
  }
  return true;
}

// A child that closed its pipes may still run; it too has until the deadline.
int WaitUntil(pid_t pid, Clock::time_point deadline, bool& timed_out) {
  int status = 0;
  for (;;) {
    const pid_t done = ::waitpid(pid, &status, timed_out ? 0 : WNOHANG);
    if (done == pid) return status;
    if (done < 0 && errno != EINTR) return 0;
    if (!timed_out && Clock::now() >= deadline) {
      timed_out = true;
      KillGroup(pid);
    } else if (!timed_out) {
      ::poll(nullptr, 0, 1);
    }
  }
}

// Writing to a child that has ended must be an error, not the end of this process.
void IgnoreBrokenPipes() {
  static const auto once = ::signal(SIGPIPE, SIG_IGN);
  (void)once;
}

}  // namespace

Result<Completed> Run(const Command& command) {
  IgnoreBrokenPipes();
  const auto deadline = Clock::now() + command.deadline;
  WW_ASSIGN(PreparedSandbox sandbox, PreparedSandbox::Prepare(command.sandbox));
  WW_ASSIGN(Pipe in, MakePipe());
  WW_ASSIGN(Pipe out, MakePipe());
  WW_ASSIGN(Pipe err, MakePipe());
  WW_ASSIGN(const pid_t pid, Spawn(command, sandbox, in.read.get(), out.write.get(), err.write.get()));
  in.read.Close();
  out.write.Close();
  err.write.Close();

  Completed completed;
  Sink out_sink{std::move(out.read), {}, false}, err_sink{std::move(err.read), {}, false};
  completed.timed_out = !Exchange(command, std::move(in.write), out_sink, err_sink, deadline);
  if (completed.timed_out) KillGroup(pid);
  const int status = WaitUntil(pid, deadline, completed.timed_out);
  KillGroup(pid);  // grandchildren that outlived it
  completed.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  completed.exit_code = completed.signal != 0 ? 128 + completed.signal : WEXITSTATUS(status);
  completed.out = std::move(out_sink.text);
  completed.err = std::move(err_sink.text);
  completed.truncated = out_sink.truncated || err_sink.truncated;
  completed.notes = sandbox.notes();
  return completed;
}

std::map<std::string, std::string> MinimalEnvironment() {
  std::map<std::string, std::string> environment = {{"LANG", "C.UTF-8"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  for (const char* name : {"PATH", "HOME", "TMPDIR"})
    if (const char* value = std::getenv(name); value != nullptr) environment[name] = value;
  return environment;
}

Result<Child> Child::Start(const Command& command, const std::filesystem::path& stderr_path) {
  IgnoreBrokenPipes();
  WW_ASSIGN(PreparedSandbox sandbox, PreparedSandbox::Prepare(command.sandbox));
  WW_ASSIGN(Pipe in, MakePipe());
  WW_ASSIGN(Pipe out, MakePipe());
  Fd err;
  if (!stderr_path.empty()) {
    err = Fd(::open(stderr_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!err.valid()) return FailErrno("open " + stderr_path.string());
  }
  Child child;
  WW_ASSIGN(child.pid_, Spawn(command, sandbox, in.read.get(), out.write.get(), err.valid() ? err.get() : 2));
  child.in_ = std::move(in.write);
  child.out_ = std::move(out.read);
  return child;
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), in_(std::move(other.in_)), out_(std::move(other.out_)) {}
Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    Kill();
    pid_ = std::exchange(other.pid_, -1);
    in_ = std::move(other.in_);
    out_ = std::move(other.out_);
  }
  return *this;
}
Child::~Child() { Kill(); }

void Child::Kill() {
  if (pid_ <= 0) return;
  KillGroup(pid_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string Child::DescribeEnd() {
  if (pid_ <= 0) return "killed";
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return "running";
  KillGroup(pid_);
  pid_ = -1;
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace warpwright
