#include "app/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "app/machine_report.h"
#include "app/workspace.h"
#include "base/file.h"
#include "core/device_name.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kKernel = R"(__global__ void doctor_kernel(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
void doctor(float* out, const float* in, int n) { doctor_kernel<<<(n + 127) / 128, 128>>>(out, in, n); }
)";
constexpr int kElements = 300;

double SecondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}
core::Problem TroubleOf(const Error& error) { return {error.message, error.remedy}; }
std::string ByHand(const std::vector<std::string>& command) {
  return fmt::format("run it directly: {}", fmt::join(command, " "));
}

std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1).substr(0, 500);
}

// A worker that ends early has reported the parts before it.
void AskWorker(const DoctorRequest& request, const DoctorServices& services, DoctorFacts& facts) {
  const std::vector<std::string> question = {"--doctor", request.device.empty() ? "cuda" : request.device};
  const auto done = services.ask_worker(question);
  if (!done) {
    facts.worker = {done.error().message,
                    "omit --worker to use the one next to this program, or name one that can be started"};
    return;
  }
  MachineReport report = ReadMachineReport(done->out);
  facts.machine = std::move(report.machine);
  facts.worker = std::move(report.problem);
  if (done->exit_code == 0 && !done->timed_out) return;
  std::vector<std::string> command = request.worker;
  command.insert(command.end(), question.begin(), question.end());
  facts.worker.message =
      fmt::format("{} --doctor {}; the last part that it reported was: {}", command.front(),
                  done->timed_out ? "did not end in time" : fmt::format("ended with {}", done->exit_code), report.last);
  if (!done->err.empty()) facts.worker.message += "; " + LastLine(done->err);
  facts.worker.remedy = ByHand(command);
}

std::vector<std::byte> BytesOf(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

core::ExecuteRequest KernelRequest(const core::SourceRef& source, const std::string& device) {
  std::vector<float> in(kElements);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) / 4;
  core::ExecuteRequest request;
  request.source = source;
  request.spec.name = request.spec.entry = "doctor";
  request.spec.file = source.file;
  core::BufferArgument buffer;
  buffer.shape = {core::Expression::Constant(kElements)};
  buffer.role = core::Role::kOut;
  request.spec.args.push_back({"out", buffer});
  buffer.role = core::Role::kIn;
  request.spec.args.push_back({"in", buffer});
  request.spec.args.push_back({"n", core::ScalarArgument{}});
  request.case_name = "doctor";
  request.scalars = {{"n", int64_t{kElements}}};
  request.buffers = {{.name = "out",
                      .bytes = std::vector<std::byte>(kElements * sizeof(float), std::byte{0xcc}),
                      .uninitialized = true},
                     {.name = "in", .bytes = BytesOf(in), .read_only = true}};
  request.device = device;
  request.options.counters = true;
  return request;
}

// Runs it from source to result, and checks the result.
Probe TryKernel(core::Evaluator& worker, const core::SourceRef& source, const std::string& device) {
  const auto begin = SteadyClock::now();
  const auto outcome = worker.Execute(KernelRequest(source, device));
  Probe probe{SecondsSince(begin)};
  if (!outcome) {
    probe.problem = TroubleOf(outcome.error());
    return probe;
  }
  std::vector<float> expected(kElements);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i) / 2;
  const std::string remedy =
      "this small kernel works elsewhere: check the other rows, and report it with the output of doctor --json";
  const auto fail = [&](const std::string& message) { probe.problem = {"a small kernel " + message, remedy}; };
  std::visit(
      Overload{[&](const core::CompileFailed& failed) { fail("does not compile: " + failed.log.substr(0, 500)); },
               [&](const core::Refused& refused) { fail("is refused: " + refused.reason); },
               [&](const core::Faulted& faulted) { fail("faults: " + faulted.fault.message); },
               [&](const core::Executed& executed) {
                 probe.notes = executed.notes;
                 if (executed.buffers.empty() || executed.buffers.front() != BytesOf(expected))
                   fail("gives a wrong result");
               }},
      *outcome);
  return probe;
}

// What the worker can do in its sandbox.
class WorkerProbes {
 public:
  WorkerProbes(const DoctorRequest& request, const DoctorServices& services, DoctorFacts& facts)
      : request_(request), services_(services), facts_(facts) {}

  // False: no worker can be started.
  bool Simulated() {
    const DoctorWorker worker = services_.make_worker(false);
    auto begin = SteadyClock::now();
    const auto first = worker.evaluator->Inspect(source());
    facts_.start = Probe{SecondsSince(begin), first ? core::Problem{} : WithLog(first.error())};
    if (!first) return false;
    ReadNotes(worker.hello());
    begin = SteadyClock::now();
    const auto parsed = worker.evaluator->Inspect(source());
    facts_.parsed = Probe{SecondsSince(begin), parsed ? core::Problem{} : WithLog(parsed.error())};
    if (parsed && parsed->entries.empty())
      facts_.parsed->problem = {"libclang does not see the functions of a CUDA file",
                                "install libclang-19 and its headers (libclang-common-19-dev)"};
    facts_.simulated =
        TryKernel(*worker.evaluator, source(), core::IsSimulated(request_.device) ? request_.device : "sim:h200");
    return true;
  }

  void OnGpu() {
    const DoctorWorker worker = services_.make_worker(true);
    facts_.ran = TryKernel(*worker.evaluator, source(), request_.device.empty() ? "cuda" : request_.device);
  }

 private:
  core::SourceRef source() const { return {request_.scratch.string(), "doctor.cu", kKernel}; }
  core::Problem WithLog(const Error& error) const {
    const std::string last = LastLine(services_.worker_log());
    return {error.message + (last.empty() ? "" : ": " + last), ByHand(request_.worker)};
  }
  // The lines after the first one.
  void ReadNotes(const std::string& hello) {
    for (size_t at = hello.find('\n'); at != std::string::npos;) {
      const size_t end = hello.find('\n', at + 1);
      facts_.sandbox_notes.push_back(hello.substr(at + 1, end == std::string::npos ? end : end - at - 1));
      at = end;
    }
  }

  const DoctorRequest& request_;
  const DoctorServices& services_;
  DoctorFacts& facts_;
};

void LookAtCache(const DoctorRequest& request, DoctorFacts& facts) {
  const fs::path cache = request.cache;
  facts.cache = cache.string();
  const fs::path probe = cache / fmt::format("doctor-{}", ::getpid());
  std::error_code error;
  fs::create_directories(cache, error);
  if (error)
    facts.cache_problem.message = fmt::format("the folder {} cannot be created: {}", facts.cache, error.message());
  else if (const Status written = base::WriteFileAtomically(probe, "doctor"); !written)
    facts.cache_problem.message = written.error().message;
  fs::remove(probe, error);
  if (facts.cache_problem) facts.cache_problem.remedy = "pass another folder with --cache, or set XDG_CACHE_HOME";
  if (const fs::space_info space = fs::space(cache, error); !error) facts.free_disk_bytes = space.available;
}

void LookAtRepository(const DoctorRequest& request, DoctorFacts& facts) {
  const auto repository = repo::Repository::Open(request.repository);
  facts.has_repository = repository.has_value();
  if (!repository) {
    facts.repository = {repository.error().message,
                        "run it in a git repository, or pass one with --repo, to see the author of the commits"};
    return;
  }
  const auto author = AuthorOf(*repository);
  if (author) facts.author = fmt::format("{} <{}>", author->name, author->email);
  else
    facts.repository = {"warpwright.author: " + author.error().message, "git config warpwright.author \"Name <mail>\""};
}

}  // namespace

DoctorFacts ExamineMachine(const DoctorRequest& request, const DoctorServices& services) {
  DoctorFacts facts;
  facts.device = request.device;
  LookAtCache(request, facts);
  LookAtRepository(request, facts);
  services.progress.step("querying the worker");
  AskWorker(request, services, facts);
  services.progress.step("trying a small kernel");
  WorkerProbes probes(request, services, facts);
  const auto& device = facts.machine.device;
  if (probes.Simulated() && device && !device->problem) probes.OnGpu();
  services.progress.finish();
  return facts;
}

}  // namespace warpwright::app
