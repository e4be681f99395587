#include "app/source_closure.h"

#include <fstream>
#include <sstream>

#include "app/workspace.h"

namespace warpwright::app {
namespace {

std::string LastName(std::string_view path) { return std::string(path.substr(path.find_last_of('/') + 1)); }

}  // namespace

Result<RevisionSources> RevisionSources::Load(const repo::Repository& repository, std::string commit,
                                              core::Evaluator& worker) {
  RevisionSources sources(repository, std::move(commit), worker);
  WW_ASSIGN(const auto files, repository.Files(sources.commit_));
  for (const auto& file : files) {
    if (file.kind != repo::TreeFile::Kind::kFile || !IsSource(file.path)) continue;
    sources.blobs_.emplace(file.path, file.id);
    sources.by_last_name_[LastName(file.path)].push_back(file.path);
  }
  return sources;
}

std::string RevisionSources::Blob(const std::string& path) const {
  const auto found = blobs_.find(path);
  return found == blobs_.end() ? std::string() : found->second;
}

std::map<std::string, std::string> RevisionSources::Below(const std::string& folder) const {
  std::map<std::string, std::string> found;
  for (auto at = blobs_.lower_bound(folder + "/"); at != blobs_.end() && at->first.starts_with(folder + "/"); ++at)
    found.insert(*at);
  return found;
}

Result<std::vector<std::string>> RevisionSources::IncludedIn(const std::string& blob, const std::string& path) const {
  WW_ASSIGN(std::string text, repository_->Content(blob, path));
  const core::RewriteRequest request{.source = {{}, path, std::move(text)},
                                     .entry = {},
                                     .kernel = {},
                                     .transform = std::string(core::kIncludedNames),
                                     .parameters = {}};
  WW_ASSIGN(const core::RewriteOutcome outcome, worker_->Rewrite(request));
  const auto* names = std::get_if<core::Rewritten>(&outcome);
  if (names == nullptr) return Fail(ErrorCode::kUnsupported, std::get<core::RewriteRefusal>(outcome).reason);
  std::vector<std::string> found;
  std::istringstream lines(names->text);
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  return found;
}

Result<SourceClosure> RevisionSources::Of(const std::string& file) {
  SourceClosure closure;
  if (Blob(file).empty()) return closure;
  std::vector<std::string> open = {file};
  closure.files[file] = Blob(file);
  while (!open.empty()) {
    const std::string path = std::move(open.back());
    open.pop_back();
    const std::string& blob = closure.files[path];
    auto known = names_.find(blob);
    if (known == names_.end()) {
      known = names_.emplace(blob, IncludedIn(blob, path)).first;
    }
    if (!known->second) {
      if (known->second.error().code != ErrorCode::kUnsupported) return Fail(known->second.error());
      closure.unreadable[path] = known->second.error().message;
      continue;
    }
    for (const auto& name : *known->second) {
      const auto paths = by_last_name_.find(name);
      if (paths == by_last_name_.end()) continue;
      for (const auto& next : paths->second)
        if (closure.files.emplace(next, Blob(next)).second) open.push_back(next);
    }
  }
  return closure;
}

Status RevisionSources::Export(const SourceClosure& closure, const std::filesystem::path& folder) const {
  for (const auto& [path, blob] : closure.files) {
    if (closure.unreadable.count(path) != 0) continue;
    WW_ASSIGN(const std::string text, repository_->Content(blob, path));
    const auto target = folder / path;
    std::error_code error;
    std::filesystem::create_directories(target.parent_path(), error);
    std::ofstream out(target, std::ios::binary | std::ios::trunc);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) return Fail(ErrorCode::kIo, "write " + target.string());
  }
  return {};
}

}  // namespace warpwright::app
