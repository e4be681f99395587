// plan: which entries of a revision are worth a job, with the key that says whether two jobs are the same work.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cli/changed_entries.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/shards.h"
#include "cli/version.h"

namespace warpwright {
namespace {

using nlohmann::json;

struct PlannedEntry {
  const KernelSpec* spec = nullptr;
  EntryChange change;
  std::string key;  // of what changed
};

class ChangePlan {
 public:
  ChangePlan(const PlanOptions& options, Session session) : options_(options), session_(std::move(session)) {}

  Status Make() {
    WW_ASSIGN(commit_, session_.repository().Resolve(options_.revision));
    // What GitHub calls the commit before the first one of a branch.
    const bool from_nothing = options_.changed_since.find_first_not_of('0') == std::string::npos;
    if (!from_nothing) {
      WW_ASSIGN(base_, session_.repository().Resolve(options_.changed_since));
    }
    WW_ASSIGN(manifest_, session_.ManifestAt(commit_));
    WorkerEvaluator worker = session_.MakeWorker();
    WW_ASSIGN(auto changes, CompareEntries(session_, manifest_, {commit_, base_, true}, worker));
    for (size_t i = 0; i < changes.size(); ++i) entries_.push_back({&manifest_.kernels[i], std::move(changes[i]), {}});
    if (std::any_of(entries_.begin(), entries_.end(), [](const auto& e) { return e.change.changed; })) return MakeKeys();
    return {};
  }

  json ToJson() const {
    json entries = json::array();
    for (const auto& e : entries_)
      entries.push_back({{"kernel", e.spec->name}, {"file", e.spec->file}, {"entry", e.spec->entry}, {"changed", e.change.changed}, {"reason", e.change.reason},
                         {"note", e.change.note}, {"key", e.key}});
    json shards = json::array();
    if (options_.shards > 0)
      for (const auto& shard : Shards()) shards.push_back(shard);
    return {{"revision", commit_}, {"base", base_.empty() ? json(nullptr) : json(base_)}, {"device", options_.common.device},
            {"toolchain", toolchain_.empty() ? json(nullptr) : json(toolchain_)}, {"entries", entries}, {"shards", shards}};
  }
  std::vector<std::vector<std::string>> Shards() const {
    std::vector<std::string> changed;
    for (const auto& e : entries_)
      if (e.change.changed) changed.push_back(e.spec->name);
    return DealOut(changed, options_.shards);
  }
  void Print() const {
    for (const auto& e : entries_)
      fmt::print("{:20} {:10} {}{}\n", e.spec->name, e.change.changed ? "changed" : "unchanged", e.change.reason, e.change.note.empty() ? "" : "; " + e.change.note);
  }

 private:
  Status MakeKeys() {
    // Without a toolkit here the keys say less, and the machine that does the work decides for itself.
    if (const auto toolchain = session_.Toolchain()) toolchain_ = *toolchain;
    WW_ASSIGN(const SkillLibrary skills, session_.Skills());
    for (auto& e : entries_)
      if (e.change.changed) e.key = Key(e, skills.digest);
    return {};
  }

  std::string Key(const PlannedEntry& e, const std::string& skills) const {
    const Policy& policy = manifest_.policy;
    return Hasher().Add("plan 1").Add(kVersion).Add(toolchain_).Add(skills).Add(options_.common.device).Add(e.spec->name).Add(EntryDigest(*e.spec))
        .Add(e.change.slice_hash).Add(e.change.data_digest)
        .Add(fmt::format("{:a} {} {:a} {}", policy.min_speedup, policy.max_rounds, policy.max_minutes, policy.max_repairs)).Finish();
  }

  const PlanOptions& options_;
  Session session_;
  Manifest manifest_;
  std::string commit_, base_, toolchain_;
  std::vector<PlannedEntry> entries_;
};

}  // namespace

Result<int> RunPlan(const PlanOptions& options) {
  WW_TRY(CheckDeviceName(options.common.device));
  // Nothing is run: planning for a GPU needs none. The machine that plans often has none.
  CommonOptions common = options.common;
  if (!common.device.starts_with("sim:")) common.device = "sim:h200";
  WW_ASSIGN(Session session, Session::Open(common));
  ChangePlan plan(options, std::move(session));
  WW_TRY(plan.Make());
  if (options.common.json)
    fmt::print("{}\n", plan.ToJson().dump(2, ' ', false, json::error_handler_t::replace));
  else if (options.shards > 0)
    fmt::print("{}\n", MatrixJson(plan.Shards()));
  else
    plan.Print();
  return kExitDone;
}

}  // namespace warpwright
