#include "app/plan.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace warpwright::app {
namespace {

std::string EntryKey(const PlannedEntry& planned, const core::KernelSpec& spec, const PlanRequest& request,
                     const std::string& toolchain, const std::string& skills, const core::Policy& policy) {
  return base::Hasher()
      .Add("plan 1")
      .Add(request.version)
      .Add(toolchain)
      .Add(skills)
      .Add(request.device)
      .Add(spec.name)
      .Add(EntryDigest(spec))
      .Add(planned.change.slice_hash)
      .Add(planned.change.data_digest)
      .Add(
          fmt::format("{:a} {} {:a} {}", policy.min_speedup, policy.max_rounds, policy.max_minutes, policy.max_repairs))
      .Finish();
}

}  // namespace

std::vector<std::string> ChangePlan::ChangedKernels() const {
  std::vector<std::string> kernels;
  for (const PlannedEntry& entry : entries)
    if (entry.change.changed) kernels.push_back(entry.kernel);
  return kernels;
}

Result<ChangePlan> PlanChanges(const Workspace& workspace, const PlanRequest& request, const PlanServices& services) {
  ChangePlan plan;
  WW_ASSIGN(plan.revision, workspace.repository().Resolve(request.revision));
  // GitHub's ID of the commit before the first one of a branch.
  const bool from_nothing = request.changed_since.find_first_not_of('0') == std::string::npos;
  if (!from_nothing) {
    WW_ASSIGN(plan.base, workspace.repository().Resolve(request.changed_since));
  }
  WW_ASSIGN(const core::Manifest manifest, workspace.ManifestAt(plan.revision));
  WW_ASSIGN(auto changes, CompareEntries(workspace, manifest, {plan.revision, plan.base, true}, services.worker));
  for (size_t i = 0; i < changes.size(); ++i) {
    const core::KernelSpec& spec = manifest.kernels[i];
    plan.entries.push_back(
        {.kernel = spec.name, .file = spec.file, .entry = spec.entry, .change = std::move(changes[i])});
  }
  if (plan.ChangedKernels().empty()) return plan;

  // Without a toolkit here the keys contain less, and the machine that does the work decides for itself.
  if (const auto toolchain = services.toolchain()) plan.toolchain = *toolchain;
  WW_ASSIGN(const skills::SkillLibrary skills, services.skills());
  for (size_t i = 0; i < plan.entries.size(); ++i)
    if (PlannedEntry& entry = plan.entries[i]; entry.change.changed)
      entry.key = EntryKey(entry, manifest.kernels[i], request, plan.toolchain, skills.digest, manifest.policy);
  return plan;
}

}  // namespace warpwright::app
