// What share of the entries of some repositories is lifted, how fast, and what stops the others.
//   bench_lift [--text] [--kernel NAME] [--json] [--mutants] FOLDER...   each with a .warpwright.yml
// One JSON object: a line for each entry, and the sums. With --mutants, every lifted computation is changed in one
// thing at a time, and what has its digest nevertheless is counted. With --forms instead the forms of what was lifted,
// a line each, as tests/golden/stranger-forms.jsonl has them; with --classes only how many there are of each class.
// Lifting runs outside the sandbox of a worker, so only on code that is trusted.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "config/chip_file.h"
#include "config/manifest.h"
#include "core/computation_digest.h"
#include "core/computation_inline.h"
#include "core/computation_json.h"
#include "core/computation_structure.h"
#include "core/computation_text.h"
#include "judge/lift_shapes.h"
#include "sim/sim_device.h"
#include "tests/bench/lift_mutants.h"
#include "worker/service.h"

namespace {

using namespace warpwright;
using nlohmann::json;

struct Options {
  bool text = false, print_json = false, forms = false, classes = false, mutants = false;
  std::string kernel;
  std::vector<std::string> folders;
};

// Of this process, without the compilers that it starts.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

json LiftOne(worker::Service& service, const std::filesystem::path& root, const core::KernelSpec& spec,
             const Options& options) {
  json entry = {{"folder", root.filename().string()}, {"kernel", spec.name}};
  const auto text = base::ReadFile(root / spec.file);
  if (!text) {
    entry["outcome"] = "error";
    entry["message"] = text.error().message;
    return entry;
  }
  core::LiftRequest request =
      judge::MakeLiftRequest({std::filesystem::absolute(root).string(), spec.file, *text}, spec, "sim:h200");
  request.spec.cases.clear();  // as they do not reach a worker
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = CpuSeconds();
  const auto outcome = service.Lift(request);
  entry["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  entry["cpu_seconds"] = CpuSeconds() - cpu_begin;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  entry["peak_mib"] = used.ru_maxrss / 1024;
  if (!outcome) {
    entry["outcome"] = "error";
    entry["message"] = outcome.error().message;
    return entry;
  }
  if (const auto* not_lifted = std::get_if<core::NotLifted>(&*outcome)) {
    entry["outcome"] = not_lifted->executed ? "executed" : "not executed";
    entry["blocker"] = not_lifted->blocker;
    entry["message"] = not_lifted->message;
    return entry;
  }
  const auto& lifted = std::get<core::Lifted>(*outcome);
  entry["outcome"] = "lifted";
  entry["shapes"] = lifted.shapes;
  entry["verified"] = lifted.verified;
  entry["lift_seconds"] = lifted.seconds;
  entry["operation"] = core::Name(core::StructureOf(lifted.computation).operation);
  if (options.forms) entry["computation"] = json::parse(core::EncodeComputation(lifted.computation));
  if (const auto normal = core::Normalize(lifted.computation)) entry["digest"] = normal->digest.substr(0, 12);
  entry["assumptions"] = lifted.computation.assumptions;
  entry["notes"] = lifted.notes;
  if (options.mutants) {
    const bench::MutantCount count = bench::CountMutants(lifted.computation, spec, request.shapes);
    entry["mutants"] = count.mutants;
    entry["equal_mutants"] = count.equal;
    entry["falsely_equal_mutants"] = count.false_equal;
  }
  if (options.text) entry["text"] = core::ComputationText(core::Inlined(lifted.computation));
  return entry;
}

std::string Remark(const json& entry) {
  if (entry["outcome"] != "lifted")
    return entry.value("blocker", std::string()) + ": " + entry.value("message", std::string()).substr(0, 300);
  return fmt::format("{} shapes{} {} {}", entry["shapes"].get<int>(), entry["verified"].get<bool>() ? ", verified" : "",
                     entry.value("digest", std::string("without a digest")), entry["operation"].get<std::string>());
}

// In a process of its own, with limits like a worker's: an entry may ask for more than a machine has.
json LiftApart(worker::Service& service, const std::filesystem::path& root, const core::KernelSpec& spec,
               const Options& options) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit memory{uint64_t{6} << 30, uint64_t{6} << 30};
    setrlimit(RLIMIT_AS, &memory);
    const rlimit processor{60, 90};  // seconds, however busy the machine is
    setrlimit(RLIMIT_CPU, &processor);
    const std::string answer = LiftOne(service, root, spec, options).dump();
    for (size_t done = 0; done < answer.size();) {
      const ssize_t part = write(ends[1], answer.data() + done, answer.size() - done);
      if (part <= 0) break;
      done += static_cast<size_t>(part);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string answer;
  char part[4096];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;) answer.append(part, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  json entry = json::parse(answer, nullptr, false);
  if (!entry.is_discarded()) return entry;
  return {{"folder", root.filename().string()},
          {"kernel", spec.name},
          {"outcome", "not executed"},
          {"blocker", WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? "time limit" : "memory limit"},
          {"message", "it took more than 60 s of processor time or 6 GiB"}};
}

int Run(const Options& options) {
  worker::Service service(
      "/tmp/bench_lift_cache",
      [](const std::string& name, const worker::DeviceNeeds&) -> Result<std::unique_ptr<core::Device>> {
        WW_ASSIGN(const core::Chip chip, config::LoadChip(name.substr(4)));
        return sim::MakeSimDevice(chip, 1);
      });
  json entries = json::array();
  std::map<std::string, int> outcomes, blockers, classes;
  for (const std::string& folder : options.folders) {
    const std::filesystem::path root(folder);
    const auto text = base::ReadFile(root / ".warpwright.yml");
    const auto manifest = text ? config::ParseManifest(*text, folder) : Fail(text.error());
    if (!manifest) {
      fmt::print(stderr, "{}: {}\n", folder, manifest.error().Format());
      continue;
    }
    for (const core::KernelSpec& spec : manifest->kernels) {
      if (!options.kernel.empty() && spec.name != options.kernel) continue;
      json entry = LiftApart(service, root, spec, options);
      ++outcomes[entry["outcome"]];
      if (entry.contains("blocker")) ++blockers[entry["blocker"]];
      ++classes[entry.value("operation", std::string("not lifted"))];
      if (options.forms) {
        if (entry.contains("computation"))
          fmt::print("{}\n", json({{"entry", fmt::format("{}/{}", entry["folder"].get<std::string>(),
                                                         entry["kernel"].get<std::string>())},
                                   {"computation", entry["computation"]}})
                                 .dump());
        std::fflush(stdout);
      } else if (!options.print_json && !options.classes) {
        fmt::print("{:24} {:14} {:7.2f} s  {}\n", entry["kernel"].get<std::string>(),
                   entry["outcome"].get<std::string>(), entry.value("cpu_seconds", 0.0), Remark(entry));
        if (options.text && entry.contains("text")) {
          fmt::print("{}", entry["text"].get<std::string>());
          for (const auto& a : entry["assumptions"]) fmt::print("  assuming {}\n", a.get<std::string>());
          for (const auto& n : entry["notes"]) fmt::print("  note {}\n", n.get<std::string>().substr(0, 200));
        }
        if (entry.contains("mutants"))
          fmt::print("  mutants: {}, equal and the same {}, falsely equal {}\n", entry["mutants"].get<size_t>(),
                     entry["equal_mutants"].dump(), entry["falsely_equal_mutants"].dump());
        std::fflush(stdout);
      }
      entries.push_back(std::move(entry));
    }
  }
  if (options.forms) return 0;
  json result = {{"outcomes", outcomes}, {"blockers", blockers}, {"classes", classes}};
  if (options.print_json) result["entries"] = entries;
  fmt::print("{}\n", options.classes ? result["classes"].dump(2) : result.dump(2));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--text") options.text = true;
    else if (argument == "--mutants") options.mutants = true;
    else if (argument == "--json") options.print_json = true;
    else if (argument == "--forms") options.forms = true;
    else if (argument == "--classes") options.classes = true;
    else if (argument == "--kernel" && i + 1 < argc) options.kernel = argv[++i];
    else options.folders.push_back(argument);
  }
  return Run(options);
}
