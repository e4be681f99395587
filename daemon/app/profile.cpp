#include "app/profile.h"

#include "app/lift.h"
#include "judge/source_file.h"

namespace warpwright::app {

Result<ProfiledKernel> ProfileKernel(const Workspace& workspace, const core::Manifest& manifest,
                                     const core::KernelSpec& spec, const std::string& toolchain,
                                     core::Evaluator& worker) {
  const std::filesystem::path root = std::filesystem::absolute(workspace.repository().root());
  WW_ASSIGN(const core::SourceRef source, judge::ReadSource(root, spec));
  const auto judge = MakeJudge({.device = workspace.device(),
                                .spec = spec,
                                .original = source,
                                .manifest = manifest,
                                .references = root,
                                .toolchain = toolchain},
                               worker);
  WW_ASSIGN(judge::Baseline baseline, judge->Prepare());
  ProfiledKernel profiled{.spec = spec, .original = std::move(baseline.original), .features = {}};
  if (profiled.measured() == nullptr) return profiled;
  WW_ASSIGN(const core::Inspection inspection, worker.Inspect(source));
  if (auto lifted = LiftKernel(workspace.device(), spec, source, worker, {.seconds = 10}))
    profiled.lifted = std::move(*lifted);
  std::optional<agents::Form> form;
  if (const auto* lifted = profiled.lifted ? std::get_if<core::Lifted>(&*profiled.lifted) : nullptr)
    form = agents::FormOf(lifted->computation, inspection);
  WW_ASSIGN(profiled.features,
            agents::ExtractFeaturesOf(spec, workspace.device().chip, inspection, *profiled.measured(),
                                      {.counted_roofline = nullptr, .form = form ? &*form : nullptr}));
  return profiled;
}

Result<std::vector<ProfiledKernel>> ProfileWorkingTree(const Workspace& workspace, const JudgingServices& services,
                                                       const std::function<void(const ProfiledKernel&)>& each) {
  WW_ASSIGN(const core::Manifest manifest, workspace.ManifestOfWorkingTree());
  MentionUnanswered(manifest, services.progress);
  WW_ASSIGN(const std::string toolchain, services.toolchain());
  std::vector<ProfiledKernel> kernels;
  for (const auto& spec : manifest.kernels) {
    services.progress.step("profiling " + spec.name);
    auto done = ProfileKernel(workspace, manifest, spec, toolchain, services.trusted);
    ProfiledKernel profiled =
        done ? std::move(*done) : ProfiledKernel{.spec = spec, .original = {}, .error = done.error(), .features = {}};
    if (profiled.error) services.progress.line(spec.name + ": " + profiled.error->Format());
    else if (profiled.measured() == nullptr)
      services.progress.line(spec.name + ": " + core::VerdictMessage(profiled.original));
    else services.progress.finish();
    kernels.push_back(std::move(profiled));
    if (each) each(kernels.back());
  }
  return kernels;
}

}  // namespace warpwright::app
