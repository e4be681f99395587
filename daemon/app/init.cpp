#include "app/init.h"

#include <algorithm>

#include "app/draft_manifest.h"
#include "app/draft_workflow.h"
#include "base/file.h"
#include "config/manifest.h"
#include "config/remote_text.h"
#include "judge/source_file.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

// .cu files of the working tree, tracked or not; skips hidden folders and does not follow links.
std::vector<std::string> FindSources(const fs::path& root) {
  std::vector<std::string> files;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, error);
       it != fs::recursive_directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (it->is_symlink(error) ||
        (it->is_directory(error) && (name[0] == '.' || name == "build" || name == "node_modules"))) {
      it.disable_recursion_pending();
      continue;
    }
    if (it->is_regular_file(error) && it->path().extension() == ".cu")
      files.push_back(fs::relative(it->path(), root, error).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The checked-out branch; pushes to it start the workflow.
std::string CurrentBranch(const repo::Repository& repository) {
  constexpr std::string_view kPrefix = "ref: refs/heads/";
  const auto head = base::ReadFile(repository.common_directory() / "HEAD", 4096);
  if (!head || !head->starts_with(kPrefix)) return "main";
  const std::string name = head->substr(kPrefix.size(), head->find_last_not_of("\n") + 1 - kPrefix.size());
  return config::CheckBranchName(name) ? name : "main";
}

// The files with an entry; at least one.
Result<std::vector<InspectedFile>> InspectSources(const fs::path& root, core::Evaluator& worker,
                                                  const ProgressCallbacks& progress) {
  std::vector<InspectedFile> files;
  for (const auto& file : FindSources(root)) {
    progress.step("reading " + file);
    WW_ASSIGN(core::SourceRef source, judge::ReadSource(root, file, {}));
    WW_ASSIGN(GuessedBuild guessed, GuessBuild(source, worker));
    source.build = guessed.build;
    WW_ASSIGN(core::Inspection inspection, worker.Inspect(source));
    if (inspection.entries.empty()) continue;
    InspectedFile inspected{file, std::move(inspection), {}, std::move(guessed)};
    for (const core::EntryInfo& entry : inspected.inspection.entries) {
      if (!entry.refusal.empty()) continue;
      progress.step("running " + entry.name);
      WW_ASSIGN(ProbeOutcome probe, ProbeEntry(source, entry, worker));
      inspected.probes.emplace(entry.name, std::move(probe));
    }
    files.push_back(std::move(inspected));
  }
  progress.finish();
  if (files.empty()) return Fail(ErrorCode::kUsage, "no .cu file with a kernel below " + root.string());
  return files;
}

}  // namespace

Result<InitDraft> DraftFiles(const Workspace& workspace, const InitRequest& request, core::Evaluator& worker,
                             const ProgressCallbacks& progress) {
  const repo::Repository& repository = workspace.repository();
  const fs::path& root = repository.root();
  if (repository.bare()) return Fail(ErrorCode::kUsage, "a bare repository has no working tree");
  InitDraft draft;
  draft.manifest.path = root / config::kManifestName;
  draft.workflow.path = root / kWorkflowFile;
  const bool want_manifest = request.replace || !fs::exists(draft.manifest.path);
  const bool want_workflow = request.workflow && (request.replace || !fs::exists(draft.workflow.path));
  if (!want_manifest && !want_workflow) {
    const std::string there = draft.manifest.path.string();
    return Fail(
        ErrorCode::kUsage,
        (request.workflow ? there + " and " + draft.workflow.path.string() + " exist" : there + " exists") + " already",
        "edit, or replace with --force");
  }
  if (want_manifest) {
    WW_ASSIGN(const std::vector<InspectedFile> files, InspectSources(root, worker, progress));
    draft.sources = files.size();
    draft.manifest.text = DraftManifest(files);
  }
  draft.branch = CurrentBranch(repository);
  if (want_workflow) draft.workflow.text = DraftWorkflow({draft.branch, request.version, request.action});
  return draft;
}

}  // namespace warpwright::app
