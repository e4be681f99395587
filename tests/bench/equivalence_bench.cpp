// What the check `equivalence` does alone: over the hostile and the honest suite, and over versions of one operation.
//   bench_equivalence [--json FILE] [--only NAME] [FOLDER...]
// Each candidate of the suites is compared with its original, without any other check; a difference stops it if the
// judge's comparison of a run on its input shows it. FOLDER: with a .warpwright.yml whose entries X_naive, X_tiled and
// X_fast compute the same; each is compared with each other one.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "config/manifest.h"
#include "judge/equivalence.h"
#include "judge/judge_state.h"
#include "judge/lift_shapes.h"
#include "tests/support/worker_process.h"

namespace {

using namespace warpwright;
using nlohmann::json;

constexpr const char* kDevice = "sim:h200";
constexpr std::string_view kNotTested = "equivalence: not tested: ";

struct Options {
  std::string json_file, only;
  std::vector<std::string> folders;
};

std::filesystem::path Tests() { return std::filesystem::path(WW_SOURCE_DIR) / "tests"; }

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  int Run() {
    for (const std::string suite : {"hostile", "honest"})
      if (const int failed = RunSuite(suite); failed != 0) return failed;
    for (const std::string& folder : options_.folders)
      if (const int failed = RunVersions(folder); failed != 0) return failed;
    const json result = {{"rows", rows_}, {"sums", sums_}};
    fmt::print("{}\n", json(sums_).dump(2));
    if (!options_.json_file.empty())
      if (const auto written = base::WriteFileAtomically(options_.json_file, result.dump(1) + "\n"); !written) return 1;
    return 0;
  }

 private:
  void Add(const std::string& suite, json row, double seconds) {
    row["suite"] = suite;
    row["seconds"] = std::round(seconds * 1000) / 1000;
    ++sums_[suite][row["outcome"].get<std::string>()];
    fmt::print("{:8} {:24} {:16} {:14} {:6.2f} s  {}\n", suite, row["candidate"].get<std::string>(),
               row["kernel"].get<std::string>(), row["outcome"].get<std::string>(), seconds,
               row.value("message", std::string()).substr(0, 300));
    std::fflush(stdout);
    rows_.push_back(std::move(row));
  }

  judge::Judge::State* StateOf(const core::KernelSpec& spec, const std::filesystem::path& root) {
    const auto [known, is_new] = states_.try_emplace(spec.name);
    std::unique_ptr<judge::Judge::State>& state = known->second;
    if (!is_new) return state.get();
    const auto text = base::ReadFile(root / spec.file);
    if (!text) return nullptr;
    judge::JudgeOptions options;
    options.repository = root;
    state = std::make_unique<judge::Judge::State>(spec, core::SourceRef{root.string(), spec.file, *text}, kDevice,
                                                  *trusted_, options);
    auto ready = state->Prepare(true);
    if (!ready || !core::Passed(ready->original)) {
      state.reset();
      return nullptr;
    }
    state->baseline = std::move(*ready);
    return state.get();
  }

  int RunSuite(const std::string& suite) {
    const std::filesystem::path originals = Tests() / "originals";
    const auto manifest = config::LoadManifest(originals);
    if (!manifest) return 1;
    for (const YAML::Node& node : YAML::LoadFile((Tests() / suite / "expected.yml").string())) {
      const auto candidate = node["candidate"].as<std::string>(), kernel = node["kernel"].as<std::string>();
      if (!options_.only.empty() && candidate != options_.only) continue;
      if (node["slow"] || (node["on"] && node["on"].as<std::string>() != "sim")) continue;
      const auto spec = std::find_if(manifest->kernels.begin(), manifest->kernels.end(),
                                     [&](const core::KernelSpec& k) { return k.name == kernel; });
      const auto text = base::ReadFile(Tests() / suite / "candidate" / (candidate + ".cu"));
      if (spec == manifest->kernels.end() || !text) return 1;
      judge::Judge::State* state = StateOf(*spec, originals);
      json row = {{"candidate", candidate}, {"kernel", kernel}};
      if (state == nullptr) {
        row["outcome"] = "no reference";
        Add(suite, std::move(row), 0);
        continue;
      }
      core::Measured measured;
      const auto begin = std::chrono::steady_clock::now();
      const core::SourceRef source{originals.string(), spec->file, *text};
      const auto answers = judge::AskForEquivalence(*spec, state->original, source, state->device, *untrusted_);
      const auto failure =
          answers ? judge::CheckEquivalence(*state, source, *untrusted_, *answers, measured) : Fail(answers.error());
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      Describe(failure, measured, row);
      Add(suite, std::move(row), seconds);
    }
    return 0;
  }

  static void Describe(const Result<judge::Failure>& failure, const core::Measured& measured, json& row) {
    row["notes"] = measured.notes;
    if (!failure) {
      row["outcome"] = "error";
      row["message"] = failure.error().message;
    } else if (*failure) {
      const bool runs =
          !std::holds_alternative<core::Refused>(**failure) && !std::holds_alternative<core::CompileFailed>(**failure);
      row["outcome"] = runs ? "stopped" : "does not run";  // that is no merit of this check
      row["verdict"] = core::VerdictName(**failure);
      row["message"] = core::VerdictMessage(**failure);
    } else if (!measured.checks.empty()) {
      row["outcome"] = "equal";
    } else {
      row["outcome"] = "not lifted";
      for (const std::string& note : measured.notes) {
        if (!note.starts_with(kNotTested)) continue;
        row["message"] = note.substr(kNotTested.size());
        if (note.ends_with("no run shows it")) row["outcome"] = "not shown";
      }
    }
  }

  static void Replace(std::string& text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  }

  int RunVersions(const std::filesystem::path& root) {
    const auto manifest = config::LoadManifest(root);
    if (!manifest) {
      fmt::print(stderr, "{}\n", manifest.error().Format());
      return 1;
    }
    for (const core::KernelSpec& a : manifest->kernels) {
      for (const core::KernelSpec& b : manifest->kernels) {
        const auto stem = [](const std::string& name) { return name.substr(0, name.rfind('_')); };
        const auto is_version = [](const std::string& name) {
          return name.ends_with("_naive") || name.ends_with("_tiled") || name.ends_with("_fast");
        };
        if (a.name == b.name || !is_version(a.name) || !is_version(b.name) || stem(a.name) != stem(b.name)) continue;
        if (!options_.only.empty() && stem(a.name) != options_.only) continue;
        CompareVersions(root, a, b);
      }
    }
    return 0;
  }

  void CompareVersions(const std::filesystem::path& root, const core::KernelSpec& a, const core::KernelSpec& b) {
    const auto original = base::ReadFile(root / a.file), other = base::ReadFile(root / b.file);
    if (!original || !other) return;
    std::string text = *other;  // the other entry under the first one's name
    Replace(text, a.entry, a.entry + "_before");
    Replace(text, b.entry, a.entry);
    const std::string folder = std::filesystem::absolute(root).string();
    core::EquivalenceRequest request;
    request.original = {folder, a.file, *original};
    request.candidate = {folder, a.file, text};
    request.spec = a;
    request.device = kDevice;
    request.shapes = judge::MakeLiftShapes(a, 6, 4u << 20);
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = untrusted_->Compare(request);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    json row = {{"candidate", b.name}, {"kernel", a.name}, {"folder", root.filename().string()}};
    if (!answer) {
      row["outcome"] = "error";
      row["message"] = answer.error().message;
    } else {
      std::visit(Overload{[&](const core::Equal&) { row["outcome"] = "equal"; },
                          [&](const core::Different& different) {
                            const core::Difference& d = different.differences.at(0);
                            row["outcome"] = "different";
                            row["message"] = fmt::format("{} {}[{}] {} {} {} | {}", Name(d.kind), d.output, d.element,
                                                         d.expected, d.computed, d.original, d.candidate);
                          },
                          [&](const core::NotComparable& n) {
                            row["outcome"] = "not lifted";
                            row["message"] = n.blocker + ": " + n.message;
                          }},
                 answer->outcome);
      row["notes"] = answer->remarks;
    }
    Add("versions", std::move(row), seconds);
  }

  Options options_;
  std::unique_ptr<worker::WorkerEvaluator> trusted_ = StartWorker(WW_SOURCE_DIR),
                                           untrusted_ = StartWorker(WW_SOURCE_DIR);
  std::map<std::string, std::unique_ptr<judge::Judge::State>> states_;
  json rows_ = json::array();
  std::map<std::string, std::map<std::string, int>> sums_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json" && i + 1 < argc) options.json_file = argv[++i];
    else if (argument == "--only" && i + 1 < argc) options.only = argv[++i];
    else options.folders.push_back(argument);
  }
  return Bench(std::move(options)).Run();
}
