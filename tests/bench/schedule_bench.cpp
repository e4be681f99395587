// What the schedules make of the entries of some repositories: which are lifted, to which a schedule applies, whether
// the judge accepts the result at quick effort, and how much faster the simulator says that it is.
//
//   bench_schedule WORKER CACHE [--kernel NAME] [--schedule ID] [--forms FILE] [--text] [--no-judge] [--json] FOLDER...
//
// Every schedule is tried with its default parameters, and where the result is wrong with padding as zeros too. One
// JSON object with --json, else a line for each entry and the sums; --forms takes forms from a file as bench_lift
// --forms writes it, where that has them, instead of lifting;
// --text shows the new file as a diff would: everything that the original has not.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "config/chip_file.h"
#include "config/manifest.h"
#include "core/computation_json.h"
#include "core/computation_structure.h"
#include "core/scheduling.h"
#include "judge/judge.h"
#include "judge/lift_shapes.h"
#include "judge/outside_terms.h"
#include "judge/segment_forms.h"
#include "schedule/schedule.h"
#include "worker/worker_evaluator.h"

namespace warpwright {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kDevice = "sim:h200";
constexpr double kSegmentSeconds = 12;  // of processor time

struct Setting {
  std::string worker, cache, kernel, schedule;
  std::map<std::string, core::Computation> forms;  // by "folder/kernel"
  bool text = false, judge = true, print_json = false;
  std::vector<std::string> folders;
};

worker::WorkerCommand Worker(const Setting& setting, const std::string& repository) {
  return {{setting.worker, "--cache", setting.cache, "--readable", repository}, {}};
}

void PrintAdded(const std::string& original, const std::string& text) {
  std::multiset<std::string> old;
  std::istringstream before(original), after(text);
  for (std::string line; std::getline(before, line);) old.insert(line);
  for (std::string line; std::getline(after, line);) {
    const auto found = old.find(line);
    if (found != old.end() && !line.empty()) old.erase(found);
    else fmt::print("    | {}\n", line);
  }
}

// The cases that count on a GPU count here too, as far as a simulated machine can hold them, so that gains are those of
// real sizes; the others are verified.
core::KernelSpec ForSimulator(core::KernelSpec spec) {
  const bool any = std::any_of(spec.cases.begin(), spec.cases.end(),
                               [](const core::Case& c) { return c.on.contains(core::DeviceKind::kCuda); });
  for (core::Case& c : spec.cases) {
    c.weight = c.on.contains(core::DeviceKind::kCuda) || !any ? 1 : 0;
    c.on.insert(core::DeviceKind::kSim);
  }
  return spec;
}

// One entry: its row, with a list of what every schedule came to.
class EntryBench {
 public:
  EntryBench(const Setting& setting, const fs::path& root, const core::KernelSpec& spec)
      : setting_(setting),
        spec_(ForSimulator(spec)),
        original_{fs::absolute(root).string(), spec.file, base::ReadFile(root / spec.file).value_or("")},
        trusted_(Worker(setting, original_.root)),
        untrusted_(Worker(setting, original_.root)) {
    row_ = {{"folder", root.filename().string()}, {"kernel", spec.name}};
  }

  json Run() {
    const auto form = Form();
    if (setting_.schedule.empty() || setting_.schedule == schedule::kEachLaunch) segments_ = Segments();
    row_["lifted"] = form.has_value();
    if (!form && segments_.empty()) return row_;
    if (form) row_["operation"] = core::Name(core::StructureOf(*form).operation);
    row_["attempts"] = json::array();
    const auto chip = config::LoadChip("h200");
    for (const schedule::Schedule& schedule : schedule::Schedules()) {
      if (!setting_.schedule.empty() && schedule.id != setting_.schedule) continue;
      core::RewriteRequest request{original_, spec_.entry, "", std::string(schedule.id), {}, {}};
      request.scheduling = {form ? *form : core::Computation{}, spec_,
                            core::ScheduledCases(spec_, core::DeviceKind::kSim), *chip, segments_};
      row_["attempts"].push_back(Try(request));
      const bool pads = std::any_of(schedule.parameters.begin(), schedule.parameters.end(),
                                    [](const auto& parameter) { return parameter.name == schedule::kPadding.name; });
      if (!pads || row_["attempts"].back()["outcome"] != core::VerdictName(core::WrongResult{})) continue;
      request.parameters = {{std::string(schedule::kPadding.name), std::string(schedule::kPadding.values.back())}};
      row_["attempts"].push_back(Try(request));
    }
    return row_;
  }

 private:
  std::optional<core::Computation> Form() {
    const std::string name = fmt::format("{}/{}", row_["folder"].get<std::string>(), spec_.name);
    if (const auto known = setting_.forms.find(name); known != setting_.forms.end()) return known->second;
    if (!setting_.forms.empty()) return std::nullopt;
    const core::LiftRequest request = judge::MakeLiftRequest(original_, spec_, kDevice);
    auto lifted = trusted_.Lift(request);
    if (lifted)
      if (auto* form = std::get_if<core::Lifted>(&*lifted); form && judge::TellOutsideTerms(request, trusted_, *form)) {
        lifted_ = std::move(*form);
        return lifted_->computation;
      }
    row_["why"] = lifted ? std::get<core::NotLifted>(*lifted).message : lifted.error().message;
    return std::nullopt;
  }

  std::vector<core::SegmentForm> Segments() {
    std::vector<core::SegmentForm> segments;
    const auto tell = [&](uint64_t number, core::LiftOutcome segment) {
      auto* lifted = std::get_if<core::Lifted>(&segment);
      row_["segments"].push_back(lifted ? std::string(core::Name(core::StructureOf(lifted->computation).operation))
                                        : "not lifted: " + std::get<core::NotLifted>(segment).message);
      if (lifted != nullptr) segments.push_back({number, std::move(lifted->computation)});
      return true;
    };
    if (const auto done = judge::LiftSegments(original_, spec_, kDevice, kSegmentSeconds, trusted_, tell); !done)
      fmt::print(stderr, "{}\n", done.error().Format());
    return segments;
  }

  json Try(const core::RewriteRequest& request) {
    json attempt = {{"schedule", request.transform}};
    const auto outcome = untrusted_.Rewrite(request);
    if (!outcome) {
      attempt["outcome"] = "error";
      attempt["why"] = outcome.error().message;
      return attempt;
    }
    if (const auto* refusal = std::get_if<core::RewriteRefusal>(&*outcome)) {
      attempt["outcome"] = "refused";
      attempt["why"] = refusal->reason;
      return attempt;
    }
    const std::string& text = std::get<core::Rewritten>(*outcome).text;
    if (setting_.text) PrintAdded(original_.text, text);
    attempt["outcome"] = "applied";
    if (setting_.judge) Judge(text, attempt);
    return attempt;
  }

  void Judge(const std::string& text, json& attempt) {
    const auto begin = std::chrono::steady_clock::now();
    if (!judge_) {
      judge::JudgeOptions options;
      options.repository = original_.root;
      options.fresh_worker = [this] { untrusted_.Restart(); };
      if (lifted_) options.lift = [this]() -> Result<core::LiftOutcome> { return *lifted_; };
      judge_ = std::make_unique<judge::Judge>(spec_, original_, kDevice, trusted_, options);
      const auto baseline = judge_->Prepare();
      if (baseline) before_ = baseline->original;
    }
    const auto* before = std::get_if<core::Measured>(&before_);
    if (before == nullptr) {
      attempt["outcome"] = "original not judged";
      attempt["why"] = core::VerdictMessage(before_);
      return;
    }
    const auto verdict =
        judge_->Evaluate({original_.root, spec_.file, text}, untrusted_, judge::VerificationLevel::kQuick);
    attempt["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!verdict) {
      attempt["outcome"] = "error";
      attempt["why"] = verdict.error().message;
    } else if (const auto* measured = std::get_if<core::Measured>(&*verdict)) {
      attempt["outcome"] = "verified";
      attempt["gain"] = core::Speedup(*before, *measured);
    } else {
      attempt["outcome"] = core::VerdictName(*verdict);
      attempt["why"] = core::VerdictMessage(*verdict);
    }
  }

  const Setting& setting_;
  const core::KernelSpec spec_;
  const core::SourceRef original_;
  worker::WorkerEvaluator trusted_, untrusted_;
  std::optional<core::Lifted> lifted_;
  std::vector<core::SegmentForm> segments_;
  std::unique_ptr<judge::Judge> judge_;
  core::Verdict before_;
  json row_;
};

// The best verified gain; 1 if none is better.
double BestGain(const json& row) {
  double best = 1;
  for (const json& attempt : row.value("attempts", json::array())) best = std::max(best, attempt.value("gain", 1.0));
  return best;
}
bool Any(const json& row, std::string_view outcome) {
  const json attempts = row.value("attempts", json::array());
  return std::any_of(attempts.begin(), attempts.end(), [&](const json& a) { return a["outcome"] == outcome; });
}

json SumsOf(const json& rows) {
  json sums = {{"entries", rows.size()}, {"lifted", 0}, {"applied", 0}, {"verified", 0}, {"improved", 0}};
  double log_gains = 0;
  std::map<std::string, int> refused;
  for (const json& row : rows) {
    const bool verified = Any(row, "verified");
    bool applied = false;
    for (const json& attempt : row.value("attempts", json::array())) {
      applied |= attempt["outcome"] != "refused" && attempt["outcome"] != "error";
      if (attempt["outcome"] == "refused") ++refused[attempt["why"]];
    }
    sums["lifted"] = sums["lifted"].get<int>() + (row.value("lifted", false) ? 1 : 0);
    sums["applied"] = sums["applied"].get<int>() + (applied ? 1 : 0);
    sums["verified"] = sums["verified"].get<int>() + (verified ? 1 : 0);
    sums["improved"] = sums["improved"].get<int>() + (BestGain(row) >= 1.05 ? 1 : 0);
    log_gains += std::log(BestGain(row));
  }
  sums["geometric_mean_gain"] = rows.empty() ? 1 : std::exp(log_gains / static_cast<double>(rows.size()));
  sums["refusals"] = refused;
  return sums;
}

void PrintRow(const json& row) {
  fmt::print("{}/{}: {}\n", row["folder"].get<std::string>(), row["kernel"].get<std::string>(),
             row["lifted"].get<bool>() ? row["operation"].get<std::string>()
                                       : "not lifted: " + row.value("why", std::string()));
  for (const json& segment : row.value("segments", json::array()))
    fmt::print("  segment: {}\n", segment.get<std::string>());
  for (const json& attempt : row.value("attempts", json::array())) {
    const std::string gain = attempt.contains("gain") ? fmt::format(" {:.2f}x", attempt["gain"].get<double>()) : "";
    fmt::print("  {:24} {}{} {}\n", attempt["schedule"].get<std::string>(), attempt["outcome"].get<std::string>(), gain,
               attempt.value("why", std::string()).substr(0, 600));
  }
  std::fflush(stdout);
}

Status ReadForms(const std::string& path, Setting& setting) {
  WW_ASSIGN(const std::string text, base::ReadFile(path));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const json entry = json::parse(line);
    WW_ASSIGN(setting.forms[entry["entry"]], core::DecodeComputation(entry["computation"].dump()));
  }
  return {};
}

int Run(const Setting& setting) {
  fs::create_directories(setting.cache);
  json rows = json::array();
  for (const std::string& folder : setting.folders) {
    const auto manifest = config::LoadManifest(folder);
    if (!manifest) {
      fmt::print(stderr, "{}: {}\n", folder, manifest.error().Format());
      continue;
    }
    for (const core::KernelSpec& spec : manifest->kernels) {
      if (!setting.kernel.empty() && spec.name != setting.kernel) continue;
      rows.push_back(EntryBench(setting, folder, spec).Run());
      if (!setting.print_json) PrintRow(rows.back());
    }
  }
  json result = SumsOf(rows);
  if (setting.print_json) result["rows"] = rows;
  fmt::print("{}\n", result.dump(2));
  return 0;
}

}  // namespace
}  // namespace warpwright

int main(int argc, char** argv) {
  warpwright::Setting setting;
  std::vector<std::string> rest;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--text") setting.text = true;
    else if (argument == "--no-judge") setting.judge = false;
    else if (argument == "--json") setting.print_json = true;
    else if (argument == "--kernel" && i + 1 < argc) setting.kernel = argv[++i];
    else if (argument == "--schedule" && i + 1 < argc) setting.schedule = argv[++i];
    else if (argument == "--forms" && i + 1 < argc) {
      if (const auto read = warpwright::ReadForms(argv[++i], setting); !read) {
        fmt::print(stderr, "{}\n", read.error().Format());
        return 1;
      }
    } else rest.push_back(argument);
  }
  if (rest.size() < 3) {
    fmt::print(stderr,
               "bench_schedule WORKER CACHE [--kernel NAME] [--schedule ID] [--forms FILE] [--text] [--no-judge] "
               "[--json] FOLDER...\n");
    return 2;
  }
  setting.worker = rest[0];
  setting.cache = rest[1];
  setting.folders.assign(rest.begin() + 2, rest.end());
  return warpwright::Run(setting);
}
