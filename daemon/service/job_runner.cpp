#include "service/job_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/pipe_signal.h"
#include "base/subprocess.h"

namespace warpwright::service {
namespace {

constexpr size_t kMaxOutput = 16u << 20, kMaxLine = 500, kKeptLines = 12;
constexpr int kTurnMs = 200;  // how soon a stop is detected

// Lines of untrusted text, sanitized for one line of a page or log.
class LineReader {
 public:
  explicit LineReader(const std::function<void(std::string_view)>& each) : each_(each) {}
  void Add(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n' || c == '\r') Flush();
      else if (line_.size() < kMaxLine) line_ += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  void Flush() {
    if (line_.find_first_not_of(' ') != std::string::npos) {
      if (each_) each_(line_);
      if (last_.size() == kKeptLines) last_.erase(last_.begin());
      last_.push_back(line_);
    }
    line_.clear();
  }
  std::string Last() const { return fmt::format("{}", fmt::join(last_, "\n")); }

 private:
  const std::function<void(std::string_view)>& each_;
  std::string line_;
  std::vector<std::string> last_;
};

// False: the other side closed it.
template <typename Take>
bool Drain(int fd, const Take& take) {
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    take(std::string_view(buffer.data(), static_cast<size_t>(got)));
  }
}

// Fits into a pipe, so that nobody waits for a child that does not read.
constexpr size_t kMaxInput = 32u << 10;

Status WriteInput(int to, const std::string& input) {
  if (input.empty()) return {};
  if (input.size() > kMaxInput) return Fail(ErrorCode::kConfig, "the keys of the models are larger than 32 KiB");
  const base::PipeSignalBlocked no_signal;
  const ssize_t written = ::write(to, input.data(), input.size());
  if (written < 0 && errno != EPIPE) return FailErrno("hand the keys to a job");
  return {};
}

}  // namespace

std::map<std::string, std::string> ChildEnvironment() {
  std::map<std::string, std::string> env = base::MinimalEnvironment();
  for (const char* name : {"XDG_CACHE_HOME", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME",
                           "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "LD_LIBRARY_PATH", "TZ"})
    if (const char* value = std::getenv(name)) env[name] = value;
  return env;
}

ProcessJobRunner::ProcessJobRunner(std::vector<std::string> program, std::vector<std::string> extra, ModelAccess models)
    : program_(std::move(program)), extra_(std::move(extra)), models_(std::move(models)) {}

Result<ProcessJobRunner::Output> ProcessJobRunner::RunChild(std::vector<std::string> arguments,
                                                            const JobWorkspace& place, const ChildWatch& watch,
                                                            const std::string& input) const {
  base::Command command;
  command.argv = program_;
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.argv.insert(command.argv.end(), {"--repo", place.mirror.string(), "--state", place.state.string(), "--device",
                                           place.device, "--json"});
  command.argv.insert(command.argv.end(), extra_.begin(), extra_.end());
  command.env = ChildEnvironment();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return FailErrno("pipe");
  base::Fd errors(ends[0]), theirs(ends[1]);
  // Reopened by its name, so that only this end is non-blocking.
  WW_ASSIGN(base::Child child, base::Child::Start(command, fmt::format("/proc/self/fd/{}", theirs.get())));
  theirs.Close();
  WW_TRY(WriteInput(child.to_child(), input));
  child.CloseInput();
  ::fcntl(child.from_child(), F_SETFL, O_NONBLOCK);
  const base::Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, child.pid(), 0)));

  Output output;
  LineReader lines(watch.progress);
  bool out_open = true, errors_open = true, cut = false;
  const auto read_out = [&](std::string_view bytes) {
    const size_t room = kMaxOutput - std::min(kMaxOutput, output.out.size());
    cut |= bytes.size() > room;
    output.out.append(bytes.substr(0, room));
  };
  const auto drain = [&] {
    out_open = out_open && Drain(child.from_child(), read_out);
    errors_open = errors_open && Drain(errors.get(), [&](std::string_view bytes) { lines.Add(bytes); });
  };
  const auto start = std::chrono::steady_clock::now();
  auto end = child.End();
  for (; !end; end = child.End()) {
    if (watch.stop != nullptr && watch.stop->load())
      return Fail(ErrorCode::kTimeout, std::string(kInterrupted));  // destroying `child` kills the process
    if (watch.deadline.count() > 0 && std::chrono::steady_clock::now() - start > watch.deadline)
      return Fail(ErrorCode::kTimeout, fmt::format("the child did not end within {} s; its last output: {}",
                                                   watch.deadline.count() / 1000, lines.Last()));
    pollfd watched[] = {{out_open ? child.from_child() : -1, POLLIN, 0},
                        {errors_open ? errors.get() : -1, POLLIN, 0},
                        {ended.get(), POLLIN, 0}};
    if (::poll(watched, 3, kTurnMs) < 0 && errno != EINTR) return FailErrno("poll");
    drain();
  }
  drain();
  lines.Flush();
  if (cut) return Fail(ErrorCode::kCorrupt, "the child printed more than 16 MiB");
  output.exit_code = end->exit_code;
  output.last_lines = lines.Last();
  if (end->signal != 0)
    return Fail(ErrorCode::kWorkerDied,
                fmt::format("the child ended by {}; its last output: {}", end->Describe(), output.last_lines));
  return output;
}

Result<std::vector<DetectedEntry>> ProcessJobRunner::Detect(const DetectRequest& request, const ChildWatch& watch) {
  std::vector<std::string> arguments = {"plan", "--revision", request.to};
  if (!request.from.empty()) arguments.insert(arguments.end(), {"--changed-since", request.from});
  if (!request.kernel.empty()) arguments.insert(arguments.end(), {"--kernel", request.kernel});
  WW_ASSIGN(const Output output, RunChild(std::move(arguments), request.place, watch));
  if (output.exit_code != 0)
    return Fail(output.exit_code == 78  ? ErrorCode::kConfig
                : output.exit_code == 2 ? ErrorCode::kUsage
                                        : ErrorCode::kEnvironment,
                output.last_lines);
  return ParsePlan(output.out);
}

Result<JobResult> ProcessJobRunner::Optimize(const RunRequest& request, const ChildWatch& watch) {
  std::vector<std::string> arguments = {"optimize",     "--revision", request.commit, "--kernel",
                                        request.kernel, "--publish",  "branch"};
  if (request.max_rounds > 0) arguments.insert(arguments.end(), {"--max-rounds", std::to_string(request.max_rounds)});
  if (request.max_minutes > 0)
    arguments.insert(arguments.end(), {"--max-minutes", fmt::format("{}", request.max_minutes)});
  if (request.again) arguments.emplace_back("--again");
  if (!request.carry.empty()) arguments.insert(arguments.end(), {"--carry", request.carry});
  if (!request.author.empty()) arguments.insert(arguments.end(), {"--author", request.author});
  arguments.insert(arguments.end(), models_.options.begin(), models_.options.end());
  std::string keys;
  if (models_.keys) {
    WW_ASSIGN(keys, models_.keys());
  }
  WW_ASSIGN(const Output output, RunChild(std::move(arguments), request.place, watch, keys));
  auto result = ParseOptimization(output.out, request.kernel);
  if (!result && output.exit_code != 0)
    return Fail(output.exit_code == 78 ? ErrorCode::kConfig : ErrorCode::kEnvironment,
                fmt::format("exit code {}: {}", output.exit_code, output.last_lines));
  // A mistake in the repository's files: it is there at every try.
  if (result && result->outcome == core::TaskOutcome::kError && output.exit_code == 78)
    result->outcome = core::TaskOutcome::kRefused;
  return result;
}

Result<NightResult> ProcessJobRunner::Night(const RunRequest& request, const ChildWatch& watch) {
  std::vector<std::string> arguments = {"nightly", "--revision", request.commit};
  if (!request.author.empty()) arguments.insert(arguments.end(), {"--author", request.author});
  WW_ASSIGN(const Output output, RunChild(std::move(arguments), request.place, watch));
  auto night = ParseNight(output.out);
  if (!night && output.exit_code != 0)
    return Fail(output.exit_code == 78 ? ErrorCode::kConfig : ErrorCode::kEnvironment,
                fmt::format("exit code {}: {}", output.exit_code, output.last_lines));
  return night;
}

}  // namespace warpwright::service
