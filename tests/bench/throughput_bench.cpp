// How many candidates per minute the judge handles: slice, record, compile, verify, time and profile, through the real
// workers. Prints one JSON object with the seconds of every candidate and where they went. usual_harness.py does the
// same to the same files in the usual way.
//
//   bench_throughput WORKER CACHE REPOSITORY KERNEL DEVICE CANDIDATE.cu...
//
// REPOSITORY is a folder with a .warpwright.yml. An empty CACHE makes it a cold run.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/page_reuse.h"
#include "config/manifest.h"
#include "judge/judge.h"
#include "worker/worker_evaluator.h"

namespace warpwright {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Setting {
  std::string worker, cache, repository, kernel, device;
  std::vector<std::string> candidates;
};

worker::WorkerCommand Worker(const Setting& setting) {
  worker::WorkerCommand command{{setting.worker, "--cache", setting.cache, "--readable", setting.repository}, {}};
  if (!setting.device.starts_with("sim:")) command.argv.emplace_back("--gpu");
  return command;
}

std::map<std::string, double> Sum(const worker::WorkerEvaluator& a, const worker::WorkerEvaluator& b) {
  std::map<std::string, double> sum = a.seconds();
  for (const auto& [stage, seconds] : b.seconds()) sum[stage] += seconds;
  return sum;
}

Result<json> Measure(const Setting& setting) {
  fs::create_directories(setting.cache);
  WW_ASSIGN(const core::Manifest manifest, config::LoadManifest(setting.repository));
  const auto spec = std::find_if(manifest.kernels.begin(), manifest.kernels.end(),
                                 [&](const core::KernelSpec& k) { return k.name == setting.kernel; });
  if (spec == manifest.kernels.end())
    return Fail(ErrorCode::kUsage, "the manifest has no kernel '" + setting.kernel + "'");
  WW_ASSIGN(std::string text, base::ReadFile(fs::path(setting.repository) / spec->file));
  const core::SourceRef original{setting.repository, spec->file, std::move(text)};
  worker::WorkerEvaluator trusted(Worker(setting)), untrusted(Worker(setting));
  judge::JudgeOptions options;
  options.repository = setting.repository;
  options.fresh_worker = [&] { untrusted.Restart(); };
  judge::Judge judge(*spec, original, setting.device, trusted, options);

  const auto start = Clock::now();
  WW_ASSIGN(const judge::Baseline baseline, judge.Prepare());
  const double prepare = SecondsSince(start);
  const auto* before = std::get_if<core::Measured>(&baseline.original);
  if (before == nullptr) return Fail(ErrorCode::kUnsupported, core::VerdictMessage(baseline.original));
  json rows = json::array();
  for (const std::string& path : setting.candidates) {
    WW_ASSIGN(std::string candidate, base::ReadFile(path));
    const auto begin = Clock::now();
    WW_ASSIGN(const core::Verdict verdict, judge.Evaluate({setting.repository, spec->file, std::move(candidate)},
                                                          untrusted, judge::VerificationLevel::kQuick));
    json row = {{"candidate", fs::path(path).stem().string()},
                {"verdict", core::VerdictName(verdict)},
                {"seconds", SecondsSince(begin)}};
    if (const auto* measured = std::get_if<core::Measured>(&verdict)) {
      row["gain"] = core::Speedup(*before, *measured);
      row["us"] = measured->cases.empty() ? 0 : measured->cases.front().time_us;
    } else {
      row["message"] = core::VerdictMessage(verdict);
    }
    rows.push_back(std::move(row));
  }
  const double total = SecondsSince(start);
  return json{{"device", setting.device},
              {"kernel", setting.kernel},
              {"candidates", rows},
              {"seconds_of_the_original", prepare},
              {"seconds", total},
              {"candidates_per_minute", 60.0 * static_cast<double>(rows.size()) / total},
              {"seconds_by_stage", Sum(trusted, untrusted)}};
}

}  // namespace
}  // namespace warpwright

int main(int argc, char** argv) {
  using namespace warpwright;
  base::KeepFreedPages();
  if (argc < 7) {
    std::fputs("usage: bench_throughput WORKER CACHE REPOSITORY KERNEL DEVICE CANDIDATE.cu...\n", stderr);
    return 2;
  }
  Setting setting{argv[1], argv[2], fs::absolute(argv[3]).string(), argv[4], argv[5], {argv + 6, argv + argc}};
  const Result<nlohmann::json> result = Measure(setting);
  if (!result) {
    std::fprintf(stderr, "bench_throughput: %s\n", result.error().Format().c_str());
    return 3;
  }
  std::puts(result->dump(2).c_str());
  return 0;
}
