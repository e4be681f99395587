// The simulated GPU's times compared with a real one's: every version of a kernel that `warpwright optimize --device
// cuda` measured is modelled on the simulator. Prints one JSON object; rows are variants, families are kernels.
//
//   bench_model WORKER CACHE REPOSITORY DEVICE TRAJECTORY... [without TRAJECTORY...]
//     (versions that the latter contain, too, are left out)
//   bench_model sweep WORKER CACHE REPOSITORY DEVICE TRAJECTORY [minutes=N] [KERNEL...]
//
// REPOSITORY: the folder of the kernels and of their .warpwright.yml. DEVICE: "sim:h200". Nothing is fitted here, but
// constants of the model may have been: never on the third of the variants for which HeldOut is true. Both parts are
// reported separately.
//
// The second form makes versions of the kernels (model_sweep.h) and measures them; there DEVICE is "cuda", or "none" to
// make them only. Run again, it resumes where it stopped. The TRAJECTORY that it writes is an input for the first form.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "config/manifest.h"
#include "judge/inputs.h"
#include "memory/trajectory.h"
#include "model_sweep.h"
#include "worker/worker_evaluator.h"

namespace warpwright {
namespace {

using nlohmann::json;

constexpr double kEventOverheadUs =
    1.7;  // of a measurement, beyond the launch overhead that the model knows (tests/unit/sim_model/calibration)

struct Variant {
  std::string kernel, method, parameters, case_name, text;
  double measured_us = 0, modelled_us = 0;
  double uncertainty = 0;    // half the width of the 95 % interval of log(original / variant); 0: the original itself
  std::string limiter = {};  // of the slowest launch
  double LogRatio() const { return std::log(modelled_us / (measured_us - kEventOverheadUs)); }
  // Decided by a hash of kernel, method and parameters, so that a variant stays in its part.
  bool HeldOut() const {
    int sum = 0;  // of hexadecimal digits: 16 is 1 modulo 3
    for (const char digit : base::Sha256(kernel + " " + method + " " + parameters))
      sum += digit <= '9' ? digit - '0' : digit - 'a' + 10;
    return sum % 3 == 0;
  }
};

std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) ranks[order[k]] = 0.5 * static_cast<double>(i + end - 1);
    i = end;
  }
  return ranks;
}

double Correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double mean = 0.5 * static_cast<double>(x.size() - 1);
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

// Spearman's: Pearson's correlation of the ranks; equal values have their mean rank.
double Spearman(const std::vector<double>& a, const std::vector<double>& b) { return Correlation(Ranks(a), Ranks(b)); }

// The same, but a variant's rank counts those that are faster, and half of those that the measurement cannot
// distinguish from it, on both sides: 1 if all others are in the right order. Null if all are tied.
json TieAwareSpearman(const std::vector<const Variant*>& variants) {
  std::vector<double> measured, modelled;
  bool any = false;
  for (const Variant* v : variants) {
    double rank[2] = {0, 0};
    for (const Variant* other : variants) {
      if (other == v) continue;
      const bool tied =
          std::abs(std::log(v->measured_us / other->measured_us)) <= std::hypot(v->uncertainty, other->uncertainty);
      any |= !tied;
      rank[0] += tied ? 0.5 : other->measured_us < v->measured_us;
      rank[1] += tied ? 0.5 : other->modelled_us < v->modelled_us;
    }
    measured.push_back(rank[0]);
    modelled.push_back(rank[1]);
  }
  return any ? json(Correlation(measured, modelled)) : json();
}

// What a trajectory measured; each text of a kernel once.
Status Collect(const std::filesystem::path& path, std::set<std::string>& seen, std::vector<Variant>& variants) {
  WW_ASSIGN(memory::Trajectory trajectory, memory::Trajectory::Open(path));
  WW_ASSIGN(const auto tasks, trajectory.Tasks());
  for (const memory::TaskSummary& task : tasks) {
    WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(task.id));
    for (const memory::StepView& step : view.steps) {
      if (!step.outcome || !step.outcome->verdict) continue;
      const auto* measured = std::get_if<core::Measured>(&*step.outcome->verdict);
      const std::string& hash = step.record.candidate;
      if (measured == nullptr || measured->modelled || !seen.insert(task.key.kernel + hash).second) continue;
      WW_ASSIGN(const auto candidate, trajectory.FindCandidate(task.id, hash));
      if (!candidate) continue;
      std::string parameters;
      for (const auto& [name, value] : step.record.parameters)
        parameters += (parameters.empty() ? "" : " ") + name + "=" + value;
      for (const core::CaseMeasurement& c : measured->cases)
        variants.push_back({task.key.kernel, step.record.method.empty() ? "original" : step.record.method, parameters,
                            c.case_name, candidate->text, c.timing ? c.timing->candidate_us : c.time_us, 0,
                            c.timing ? (c.timing->upper - c.timing->lower) / 2 : 0});
    }
  }
  return {};
}

// Fills in the modelled time; 0: not simulated.
Status Model(core::Evaluator& evaluator, const core::KernelSpec& spec, Variant& variant, const std::string& root,
             const std::string& device) {
  for (const core::Case& c : spec.cases) {
    if (c.name != variant.case_name) continue;
    core::ExecuteRequest request{{root, spec.file, variant.text}, spec, c.name, c.scalars, {}, device, {}};
    WW_ASSIGN(request.buffers, judge::MakeInputs(spec, c, judge::InputVariant::kBase, 1, root));
    request.options.counters = true;
    request.options.keep_outputs = false;
    request.options.sample_instructions = 20'000'000;
    WW_ASSIGN(const core::ExecuteOutcome outcome, evaluator.Execute(request));
    const auto* run = std::get_if<core::Executed>(&outcome);
    if (run == nullptr) return {};
    variant.modelled_us = run->time_us;
    double slowest_us = 0;
    for (const core::LaunchReport& launch : run->launches)
      if (launch.time.total_us > slowest_us) {
        slowest_us = launch.time.total_us;
        variant.limiter = launch.time.limiter;
      }
    return {};
  }
  return Fail(ErrorCode::kConfig, "the manifest has no case " + variant.case_name);
}

// The share of pairs, measured to differ by more than 5 %, that the model orders the same way; null if there is no such
// pair. Ranks of equally fast variants mean nothing.
json Agreement(const std::vector<const Variant*>& variants) {
  uint64_t pairs = 0, agreed = 0;
  for (const Variant* faster : variants)
    for (const Variant* slower : variants) {
      if (faster->measured_us * 1.05 >= slower->measured_us) continue;
      ++pairs;
      agreed += faster->modelled_us < slower->modelled_us;
    }
  return pairs > 0 ? json(static_cast<double>(agreed) / static_cast<double>(pairs)) : json();
}

json Describe(const std::vector<const Variant*>& variants) {
  if (variants.empty()) return json();
  std::vector<double> measured, modelled, ratios, errors;
  for (const Variant* v : variants) {
    measured.push_back(v->measured_us);
    modelled.push_back(v->modelled_us);
    ratios.push_back(std::exp(v->LogRatio()));
    errors.push_back(std::exp(std::abs(v->LogRatio())));
  }
  std::sort(ratios.begin(), ratios.end());
  std::sort(errors.begin(), errors.end());
  return {{"variants", variants.size()},
          {"spearman", Spearman(measured, modelled)},
          {"spearman_with_ties", TieAwareSpearman(variants)},
          {"agreement", Agreement(variants)},
          {"ratio_median", ratios[ratios.size() / 2]},
          {"factor_median", errors[errors.size() / 2]},
          {"factor_max", errors.back()}};
}

// For one part: over all, and with the share of correctly ordered pairs only of the same kernel and case.
json WithinFamilies(const std::vector<const Variant*>& variants) {
  json result = Describe(variants);
  uint64_t pairs = 0, agreed = 0;
  for (const Variant* faster : variants)
    for (const Variant* slower : variants) {
      if (faster->kernel != slower->kernel || faster->case_name != slower->case_name ||
          faster->measured_us * 1.05 >= slower->measured_us)
        continue;
      ++pairs;
      agreed += faster->modelled_us < slower->modelled_us;
    }
  if (pairs > 0) result["agreement_within_kernels"] = static_cast<double>(agreed) / static_cast<double>(pairs);
  return result;
}

Result<json> Compare(int argc, char** argv) {
  const std::string root = std::filesystem::absolute(argv[3]).string(), device = argv[4];
  WW_ASSIGN(const core::Manifest manifest, config::LoadManifest(root));
  std::vector<Variant> variants;
  std::set<std::string> seen;
  const auto without = std::find(argv + 5, argv + argc, std::string_view("without"));
  std::vector<Variant> left_out;
  for (auto path = without; path < argv + argc; ++path)
    if (path != without) WW_TRY(Collect(*path, seen, left_out));
  for (auto path = argv + 5; path < without; ++path) WW_TRY(Collect(*path, seen, variants));
  worker::WorkerCommand command;
  command.argv = {argv[1], "--cache", argv[2], "--readable", root};
  worker::WorkerEvaluator evaluator(command);
  int not_simulated = 0;
  std::map<std::string, std::vector<const Variant*>> families;
  std::vector<const Variant*> all, parts[2];
  json rows = json::array();
  for (Variant& variant : variants) {
    const auto spec = std::find_if(manifest.kernels.begin(), manifest.kernels.end(),
                                   [&](const core::KernelSpec& k) { return k.name == variant.kernel; });
    if (spec == manifest.kernels.end()) continue;
    WW_TRY(Model(evaluator, *spec, variant, root, device));
    if (variant.modelled_us <= 0) {
      ++not_simulated;
      continue;
    }
    families[variant.kernel].push_back(&variant);
    all.push_back(&variant);
    parts[variant.HeldOut()].push_back(&variant);
    rows.push_back({{"kernel", variant.kernel},
                    {"case", variant.case_name},
                    {"method", variant.method},
                    {"parameters", variant.parameters},
                    {"measured_us", variant.measured_us},
                    {"uncertainty", variant.uncertainty},
                    {"modelled_us", variant.modelled_us},
                    {"limiter", variant.limiter},
                    {"held_out", variant.HeldOut()}});
  }
  if (all.empty()) return Fail(ErrorCode::kUsage, "the trajectories hold nothing that a GPU measured");
  json by_family = json::object();
  for (const auto& [name, members] : families) by_family[name] = Describe(members);
  return json{{"device", device},
              {"all", Describe(all)},
              {"fitted", WithinFamilies(parts[0])},
              {"held_out", WithinFamilies(parts[1])},
              {"families", by_family},
              {"not_simulated", not_simulated},
              {"rows", rows}};
}

Result<json> SweepAsAsked(int argc, char** argv) {
  SweepSetting setting{argv[2], argv[3], std::filesystem::absolute(argv[4]).string(), argv[5], argv[6], {}, 0};
  for (int i = 7; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("minutes=")) setting.minutes = std::atof(argv[i] + std::string_view("minutes=").size());
    else setting.kernels.emplace(argument);
  }
  return Sweep(setting);
}

}  // namespace
}  // namespace warpwright

int main(int argc, char** argv) {
  const bool sweep = argc > 1 && std::string_view(argv[1]) == "sweep";
  if (argc < (sweep ? 7 : 6)) {
    std::fputs(
        "usage: bench_model WORKER CACHE REPOSITORY DEVICE TRAJECTORY... [without TRAJECTORY...]\n"
        "       bench_model sweep WORKER CACHE REPOSITORY DEVICE TRAJECTORY [minutes=N] [KERNEL...]\n",
        stderr);
    return 2;
  }
  const auto result = sweep ? warpwright::SweepAsAsked(argc, argv) : warpwright::Compare(argc, argv);
  if (!result) {
    std::fprintf(stderr, "bench_model: %s\n", result.error().Format().c_str());
    return 3;
  }
  std::puts(result->dump(1).c_str());
  return 0;
}
