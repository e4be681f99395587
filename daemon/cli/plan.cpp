#include "app/plan.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/shards.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/version.h"
#include "core/device_name.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;
using Shards = std::vector<std::vector<std::string>>;

json ToJson(const app::ChangePlan& plan, const std::string& device, const Shards& shards) {
  json entries = json::array();
  for (const app::PlannedEntry& e : plan.entries)
    entries.push_back({{"kernel", e.kernel},
                       {"file", e.file},
                       {"entry", e.entry},
                       {"changed", e.change.changed},
                       {"reason", e.change.reason},
                       {"note", e.change.note},
                       {"key", e.key}});
  return {{"revision", plan.revision}, {"base", plan.base.empty() ? json(nullptr) : json(plan.base)},
          {"device", device},          {"toolchain", plan.toolchain.empty() ? json(nullptr) : json(plan.toolchain)},
          {"entries", entries},        {"shards", json(shards)}};
}

void Print(const app::ChangePlan& plan) {
  for (const app::PlannedEntry& e : plan.entries)
    fmt::print("{:20} {:10} {}{}\n", e.kernel, e.change.changed ? "changed" : "unchanged", e.change.reason,
               e.change.note.empty() ? "" : "; " + e.change.note);
}

}  // namespace

std::string MatrixJson(const std::vector<std::vector<std::string>>& shards) {
  json include = json::array();
  for (size_t i = 0; i < shards.size(); ++i)
    if (!shards[i].empty())
      include.push_back({{"shard", fmt::format("{}/{}", i + 1, shards.size())},
                         {"kernels", fmt::format("{}", fmt::join(shards[i], " "))}});
  return json({{"include", include}}).dump();
}

Result<int> RunPlan(const PlanOptions& options) {
  WW_TRY(CheckDeviceName(options.common.device));
  // Nothing is run: planning for a GPU needs no GPU, and the machine that plans often has none.
  CommonOptions common = options.common;
  if (!core::IsSimulated(common.device)) common.device = "sim:h200";
  WW_ASSIGN(const Session session, Session::Open(common));
  worker::WorkerEvaluator worker = session.MakeWorker();
  const app::PlanRequest request{.revision = options.revision,
                                 .changed_since = options.changed_since,
                                 .device = options.common.device,
                                 .version = kVersion};
  WW_ASSIGN(const app::ChangePlan plan,
            app::PlanChanges(session.workspace(), request, {worker, session.Toolchain(), session.Skills()}));
  const Shards shards = options.shards > 0 ? app::Partition(plan.ChangedKernels(), options.shards) : Shards();
  if (options.common.json) fmt::print("{}\n", base::DumpJson(ToJson(plan, options.common.device, shards), 2));
  else if (options.shards > 0) fmt::print("{}\n", MatrixJson(shards));
  else Print(plan);
  return kExitDone;
}

}  // namespace warpwright::cli
