#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/draft_manifest.h"
#include "cli/draft_workflow.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "config/remote_text.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

// .cu files of the working tree, tracked or not, without hidden folders and without following links.
std::vector<std::string> FindSources(const fs::path& root) {
  std::vector<std::string> files;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, error); it != fs::recursive_directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (it->is_symlink(error) || (it->is_directory(error) && (name[0] == '.' || name == "build" || name == "node_modules"))) {
      it.disable_recursion_pending();
      continue;
    }
    if (it->is_regular_file(error) && it->path().extension() == ".cu") files.push_back(fs::relative(it->path(), root, error).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The branch that is checked out; pushes to it start the workflow.
std::string CurrentBranch(const Repository& repository) {
  constexpr std::string_view kPrefix = "ref: refs/heads/";
  const auto head = ReadFile(repository.common_directory() / "HEAD", 4096);
  if (!head || !head->starts_with(kPrefix)) return "main";
  const std::string name = head->substr(kPrefix.size(), head->find_last_not_of("\n") + 1 - kPrefix.size());
  return CheckBranchName(name) ? name : "main";
}

Result<std::string> DraftFromSources(const InitOptions& options, const Session& session, const fs::path& root, size_t& sources) {
  Progress progress(options.common.quiet || options.common.json);
  WorkerEvaluator worker = session.MakeWorker();
  std::vector<InspectedFile> files;
  for (const auto& file : FindSources(root)) {
    progress.Step("reading " + file);
    WW_ASSIGN(const SourceRef source, Session::Source(root, file));
    WW_ASSIGN(Inspection inspection, worker.Inspect(source));
    if (!inspection.entries.empty()) files.push_back({file, std::move(inspection)});
  }
  progress.Finish();
  if (files.empty()) return Fail(ErrorCode::kUsage, "no .cu file with a kernel below " + root.string());
  sources = files.size();
  return DraftManifest(files);
}

void SayWhatTheWorkflowDoes(const std::string& branch) {
  const PullRequestPolicy policy;
  fmt::print(
      "What it does, once it is pushed: on a push to {} that changes CUDA sources, a runner with the labels self-hosted, linux, x64 and gpu optimizes\n"
      "the kernels that changed, and opens a pull request for each that is faster: at most {} open at a time and {} a day, one commit and one branch\n"
      "(warpwright/<kernel>) each. Nothing is merged, nothing runs for forks. Try it with the input dry-run=optimize first.\n",
      branch, policy.max_open, policy.max_per_day);
}

}  // namespace

Result<int> RunInit(const InitOptions& options) {
  WW_ASSIGN(Session session, Session::Open(options.common));
  const fs::path root = session.repository().root();
  if (session.repository().bare()) return Fail(ErrorCode::kUsage, "a bare repository has no working tree");
  const fs::path manifest = root / ".warpwright.yml", workflow = root / kWorkflowFile;
  const bool all = options.print || options.force;
  const bool write_manifest = all || !fs::exists(manifest), write_workflow = !options.no_workflow && (all || !fs::exists(workflow));
  if (!write_manifest && !write_workflow)
    return Fail(ErrorCode::kUsage, (options.no_workflow ? manifest.string() + " is" : manifest.string() + " and " + workflow.string() + " are") + " there already",
                "edit, or replace with --force");

  size_t sources = 0;
  std::string text;
  if (write_manifest) {
    WW_ASSIGN(text, DraftFromSources(options, session, root, sources));
  }
  const std::string branch = CurrentBranch(session.repository());
  if (options.print) {
    fmt::print("{}", text);
    if (write_workflow) fmt::print("---\n# {}\n{}", kWorkflowFile, DraftWorkflow(branch));
    return kExitDone;
  }
  if (write_manifest) {
    WW_TRY(WriteFileAtomically(manifest, text));
    const auto questions = std::count(text.begin(), text.end(), '?');
    fmt::print("Wrote {} with {} files. Answer its {} question marks, then run `warpwright check`.\n", manifest.string(), sources, questions);
  } else {
    fmt::print("Kept {}, which is there already.\n", manifest.string());
  }
  if (write_workflow) {
    WW_TRY(WriteFileAtomically(workflow, DraftWorkflow(branch)));
    fmt::print("Wrote {}.\n", workflow.string());
    SayWhatTheWorkflowDoes(branch);
  } else if (!options.no_workflow) {
    fmt::print("Kept {}, which is there already.\n", workflow.string());
  }
  return kExitDone;
}

}  // namespace warpwright
