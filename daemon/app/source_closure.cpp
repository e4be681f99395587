#include "app/source_closure.h"

#include <fstream>

#include "app/workspace.h"

namespace warpwright {
namespace {

// Blanks and comments from `at` on.
size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::string_view(" \t\v\f\r(").find(text[at]) != std::string_view::npos) {
      ++at;
    } else if (text.substr(at).starts_with("/*")) {
      const size_t end = text.find("*/", at + 2);
      if (end == text.npos) return text.size();
      at = end + 2;
    } else {
      break;
    }
  }
  return at;
}

// Lines that a backslash continues, in one.
std::string Spliced(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.substr(i + 1).starts_with("\n"))
      i += 1;
    else if (text[i] == '\\' && text.substr(i + 1).starts_with("\r\n"))
      i += 2;
    else
      joined += text[i];
  }
  return joined;
}

std::string LastName(std::string_view path) { return std::string(path.substr(path.find_last_of('/') + 1)); }

}  // namespace

std::vector<std::string> IncludedNames(std::string_view original) {
  const std::string joined = Spliced(original);
  const std::string_view text = joined;
  std::vector<std::string> names;
  for (const std::string_view word : {"include", "import"}) {
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      size_t name = at + word.size();
      if (text.substr(name).starts_with("_next")) name += 5;
      name = SkipBlanks(text, name);
      if (name >= text.size() || (text[name] != '"' && text[name] != '<')) continue;
      const size_t end = text.find_first_of(text[name] == '"' ? "\"\n" : ">\n", name + 1);
      if (end == text.npos || text[end] == '\n') continue;
      names.push_back(LastName(text.substr(name + 1, end - name - 1)));
    }
  }
  return names;
}

Result<RevisionSources> RevisionSources::Load(const Repository& repository, std::string commit) {
  RevisionSources sources(repository, std::move(commit));
  WW_ASSIGN(const auto files, repository.Files(sources.commit_));
  for (const auto& file : files) {
    if (file.kind != TreeFile::Kind::kFile || !IsSource(file.path)) continue;
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
  for (auto at = blobs_.lower_bound(folder + "/"); at != blobs_.end() && at->first.starts_with(folder + "/"); ++at) found.insert(*at);
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
      const auto text = repository_->Content(blob, path);
      known = names_.emplace(blob, text.map(IncludedNames)).first;
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

}  // namespace warpwright
