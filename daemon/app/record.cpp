#include "app/record.h"

#include <algorithm>

#include "judge/source_file.h"

namespace warpwright::app {

Result<RecordResult> RecordReferences(const Workspace& workspace, const std::string& base,
                                      const JudgingServices& services,
                                      const std::function<void(const RecordedKernel&)>& each) {
  const repo::Repository& repository = workspace.repository();
  if (repository.bare())
    return Fail(ErrorCode::kUsage, "record writes to a working tree, and a bare repository has none");
  RecordResult result;
  WW_ASSIGN(result.base, repository.Resolve(base));
  WW_ASSIGN(const core::Manifest manifest, workspace.ManifestAt(result.base));
  WW_ASSIGN(const std::filesystem::path tree, workspace.ExportTree(result.base));
  WW_ASSIGN(const std::string toolchain, services.toolchain());
  MentionUnanswered(manifest, services.progress);
  const auto record = [&](const core::KernelSpec& spec) -> Result<judge::RecordReport> {
    WW_ASSIGN(const core::SourceRef original, judge::ReadSource(tree, spec));
    return MakeJudge({.device = workspace.device(),
                      .spec = spec,
                      .original = original,
                      .manifest = manifest,
                      .references = repository.root(),
                      .toolchain = toolchain},
                     services.trusted)
        ->Record();
  };
  for (const auto& spec : manifest.kernels) {
    services.progress.step("recording " + spec.name);
    auto report = record(spec);
    result.kernels.push_back({.kernel = spec.name, .cases = {}});
    RecordedKernel& kernel = result.kernels.back();
    if (report) kernel.cases = std::move(report->cases);
    else kernel.error = report.error();
    if (each) each(kernel);
    result.complete &=
        std::any_of(kernel.cases.begin(), kernel.cases.end(), [](const judge::CaseRecord& c) { return c.recorded; });
  }
  return result;
}

}  // namespace warpwright::app
