// warpwright doctor: finds out and prints; what it makes of the findings stands in doctor_checks.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/doctor_checks.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "worker/machine_json.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kAskLimit{90};
constexpr WorkerDeadlines kDeadlines{std::chrono::seconds(60), std::chrono::seconds(120)};

constexpr const char* kKernel = R"(__global__ void doctor_kernel(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
void doctor(float* out, const float* in, int n) { doctor_kernel<<<(n + 127) / 128, 128>>>(out, in, n); }
)";
constexpr int kElements = 300;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
Trouble Of(const Error& error) { return {error.message, error.remedy}; }

std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1).substr(0, 500);
}

// A worker that ends early has told the parts before.
void AskWorker(const CommonOptions& options, DoctorFacts& facts) {
  Command command;
  command.argv = WorkerArguments(options);
  command.argv.insert(command.argv.end(), {"--doctor", options.device.empty() ? "cuda" : options.device});
  command.env = WorkerEnvironment();
  command.deadline = kAskLimit;
  const auto done = Run(command);
  if (!done) {
    facts.worker = {done.error().message, "leave --worker out for the one beside this program, or name one that can be started"};
    return;
  }
  std::string last = "nothing";
  for (size_t at = 0; at < done->out.size();) {
    const size_t end = std::min(done->out.find('\n', at), done->out.size());
    const std::string_view line = std::string_view(done->out).substr(at, end - at);
    at = end + 1;
    if (!line.starts_with('{')) continue;  // libraries print, too
    if (const Status decoded = DecodeMachine(line, facts.machine); !decoded) facts.worker = Of(decoded.error());
    last = line.substr(2, line.find('"', 2) - 2);
  }
  if (done->exit_code == 0 && !done->timed_out) return;
  facts.worker.message = fmt::format("{} --doctor {}; the last part that it told was: {}", command.argv.front(),
                                     done->timed_out ? "did not end in time" : fmt::format("ended with {}", done->exit_code), last);
  if (!done->err.empty()) facts.worker.message += "; " + LastLine(done->err);
  facts.worker.remedy = "run it by hand: " + fmt::format("{}", fmt::join(command.argv, " "));
}

std::vector<std::byte> Bytes(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

ExecuteRequest KernelRequest(const SourceRef& source, const std::string& device) {
  std::vector<float> in(kElements);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) / 4;
  ExecuteRequest request;
  request.source = source;
  request.spec.name = request.spec.entry = "doctor";
  request.spec.file = source.file;
  BufferArgument buffer;
  buffer.shape = {Expression::Constant(kElements)};
  buffer.role = Role::kOut;
  request.spec.args.push_back({"out", buffer});
  buffer.role = Role::kIn;
  request.spec.args.push_back({"in", buffer});
  request.spec.args.push_back({"n", ScalarArgument{}});
  request.case_name = "doctor";
  request.scalars = {{"n", int64_t{kElements}}};
  request.buffers = {{"out", std::vector<std::byte>(kElements * sizeof(float), std::byte{0xcc}), true}, {"in", Bytes(in), false, true}};
  request.device = device;
  request.options.counters = true;
  return request;
}

// From source to result, and whether that is right.
Attempt TryKernel(WorkerEvaluator& worker, const SourceRef& source, const std::string& device) {
  const auto begin = Clock::now();
  const auto outcome = worker.Execute(KernelRequest(source, device));
  Attempt attempt{SecondsSince(begin)};
  if (!outcome) {
    attempt.trouble = Of(outcome.error());
    return attempt;
  }
  std::vector<float> expected(kElements);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i) / 2;
  const std::string remedy = "this small kernel works elsewhere: look at the other rows, and report it with the output of doctor --json";
  const auto fail = [&](const std::string& message) { attempt.trouble = {"a small kernel " + message, remedy}; };
  std::visit(Overload{[&](const CompileFailed& failed) { fail("does not compile: " + failed.log.substr(0, 500)); },
                      [&](const Refused& refused) { fail("is refused: " + refused.reason); },
                      [&](const Faulted& faulted) { fail("faults: " + faulted.fault.message); },
                      [&](const Executed& executed) {
                        attempt.notes = executed.notes;
                        if (executed.buffers.empty() || executed.buffers.front() != Bytes(expected)) fail("gives a wrong result");
                      }},
             *outcome);
  return attempt;
}

// What the worker does in its sandbox.
class Attempts {
 public:
  Attempts(const CommonOptions& options, fs::path folder, DoctorFacts& facts) : options_(options), folder_(std::move(folder)), facts_(facts) {}

  // False: no worker starts.
  bool Simulated() {
    WorkerEvaluator worker = Make(false);
    auto begin = Clock::now();
    const auto first = worker.Inspect(source());
    facts_.start = Attempt{SecondsSince(begin), first ? Trouble{} : WithLog(first.error())};
    if (!first) return false;
    ReadNotes(worker.supervisor().hello());
    begin = Clock::now();
    const auto parsed = worker.Inspect(source());
    facts_.parsed = Attempt{SecondsSince(begin), parsed ? Trouble{} : WithLog(parsed.error())};
    if (parsed && parsed->entries.empty()) facts_.parsed->trouble = {"libclang does not see the functions of a CUDA file", "install libclang-19 and its headers (libclang-common-19-dev)"};
    facts_.simulated = TryKernel(worker, source(), options_.device.starts_with("sim:") ? options_.device : "sim:h200");
    return true;
  }

  void OnGpu() {
    WorkerEvaluator worker = Make(true);
    facts_.ran = TryKernel(worker, source(), options_.device.empty() ? "cuda" : options_.device);
  }

 private:
  SourceRef source() const { return {folder_.string(), "doctor.cu", kKernel}; }
  fs::path log() const { return folder_ / "worker.log"; }
  WorkerEvaluator Make(bool gpu) const {
    WorkerCommand command;
    command.argv = WorkerArguments(options_);
    command.argv.insert(command.argv.end(), {"--readable", folder_.string()});
    if (gpu) command.argv.emplace_back("--gpu");
    command.log = log();
    return WorkerEvaluator(std::move(command), kDeadlines);
  }
  // The log is gone when somebody could read it.
  Trouble WithLog(const Error& error) const {
    const auto text = ReadFile(log());
    const std::string said = text ? LastLine(*text) : "";
    return {error.message + (said.empty() ? "" : ": " + said), "run it by hand: " + fmt::format("{}", fmt::join(WorkerArguments(options_), " "))};
  }
  void ReadNotes(const std::string& hello) {
    for (size_t at = hello.find('\n'); at != std::string::npos;) {
      const size_t end = hello.find('\n', at + 1);
      facts_.sandbox_notes.push_back(hello.substr(at + 1, end == std::string::npos ? end : end - at - 1));
      at = end;
    }
  }

  const CommonOptions& options_;
  const fs::path folder_;
  DoctorFacts& facts_;
};

void LookAtCache(const CommonOptions& options, DoctorFacts& facts) {
  const fs::path cache = CacheFolder(options);
  facts.cache = cache.string();
  const fs::path probe = cache / fmt::format("doctor-{}", ::getpid());
  std::error_code error;
  fs::create_directories(cache, error);
  if (error)
    facts.cache_trouble.message = fmt::format("the folder {} cannot be made: {}", facts.cache, error.message());
  else if (const Status written = WriteFileAtomically(probe, "doctor"); !written)
    facts.cache_trouble.message = written.error().message;
  fs::remove(probe, error);
  if (facts.cache_trouble) facts.cache_trouble.remedy = "name another folder with --cache, or set XDG_CACHE_HOME";
  if (const fs::space_info space = fs::space(cache, error); !error) facts.free_disk_bytes = space.available;
}

void LookAtRepository(const CommonOptions& options, DoctorFacts& facts) {
  const auto repository = Repository::Open(options.repo);
  facts.has_repository = repository.has_value();
  if (!repository) {
    facts.repository = {repository.error().message, "run it in a git repository, or name one with --repo, to see who commits"};
    return;
  }
  const auto author = ConfiguredAuthor(*repository);
  if (author)
    facts.author = fmt::format("{} <{}>", author->name, author->email);
  else
    facts.repository = {"warpwright.author: " + author.error().message, "git config warpwright.author \"Name <mail>\""};
}

void Print(const std::vector<Check>& checks) {
  size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  int warnings = 0, errors = 0;
  for (const Check& check : checks) {
    fmt::print("{:<7}  {:<{}}  {}\n", Name(check.status), check.name, width, Printable(check.message));
    if (!check.remedy.empty()) fmt::print("{:<9}{:<{}}    {}\n", "", "", width, Printable(check.remedy));
    warnings += check.status == CheckStatus::kWarning ? 1 : 0;
    errors += check.status == CheckStatus::kError ? 1 : 0;
  }
  fmt::print("errors: {}, warnings: {}\n", errors, warnings);
}

}  // namespace

Result<int> RunDoctor(const CommonOptions& options) {
  if (!options.device.empty()) WW_TRY(CheckDeviceName(options.device));
  WW_ASSIGN(const TemporaryDirectory folder, TemporaryDirectory::Create("warpwright-doctor"));
  Progress progress(options.quiet || options.json);
  DoctorFacts facts;
  facts.device = options.device;
  LookAtCache(options, facts);
  LookAtRepository(options, facts);
  progress.Step("asking the worker what is there");
  AskWorker(options, facts);
  Attempts attempts(options, folder.path(), facts);
  progress.Step("trying a small kernel");
  const Machine& machine = facts.machine;
  if (attempts.Simulated() && machine.device && !machine.device->trouble) attempts.OnGpu();
  progress.Finish();

  const std::vector<Check> checks = MakeChecks(facts);
  const bool ok = std::none_of(checks.begin(), checks.end(), [](const Check& check) { return check.status == CheckStatus::kError; });
  if (options.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Check& check : checks) rows.push_back({{"name", check.name}, {"status", Name(check.status)}, {"message", check.message}, {"remedy", check.remedy}});
    fmt::print("{}\n", nlohmann::json({{"ok", ok}, {"checks", rows}}).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    Print(checks);
  }
  return ok ? kExitDone : kExitEnvironment;
}

}  // namespace warpwright
