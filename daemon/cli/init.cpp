#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/draft_manifest.h"
#include "cli/exit_code.h"
#include "cli/progress.h"

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

}  // namespace

Result<int> RunInit(const InitOptions& options) {
  WW_ASSIGN(Session session, Session::Open(options.common));
  const fs::path root = session.repository().root();
  if (session.repository().bare()) return Fail(ErrorCode::kUsage, "a bare repository has no working tree");
  const fs::path manifest = root / ".warpwright.yml";
  if (!options.print && !options.force && fs::exists(manifest))
    return Fail(ErrorCode::kUsage, manifest.string() + " is there already", "edit it, or replace it with --force");

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
  const std::string text = DraftManifest(files);
  if (options.print) {
    std::fputs(text.c_str(), stdout);
    return kExitDone;
  }
  WW_TRY(WriteFileAtomically(manifest, text));
  const auto questions = std::count(text.begin(), text.end(), '?');
  fmt::print("Wrote {} with {} files. Answer its {} question marks, then run `warpwright check`.\n", manifest.string(), files.size(), questions);
  return kExitDone;
}

}  // namespace warpwright
