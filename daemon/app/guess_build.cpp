#include "app/guess_build.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file_below.h"
#include "config/project_build.h"
#include "config/yaml_text.h"

namespace warpwright::app {
namespace {

constexpr uint64_t kMaxHeaderBytes = 4u << 20;

using Headers = std::vector<std::string>;
Result<Headers> HeadersWith(core::SourceRef source, const core::BuildOptions& build, core::Evaluator& worker) {
  source.build = build;
  WW_ASSIGN(const core::Inspection inspection, worker.Inspect(source));
  return inspection.headers;
}

// Of the project's folders those without which headers are others.
Result<std::vector<std::string>> NeededFolders(const core::SourceRef& source, core::BuildOptions build,
                                               Headers& headers, core::Evaluator& worker) {
  WW_ASSIGN(headers, HeadersWith(source, build, worker));
  const std::vector<std::string> all = build.include;
  build.include.clear();
  WW_ASSIGN(const Headers without, HeadersWith(source, build, worker));
  if (without == headers) return std::vector<std::string>();
  build.include = all;
  for (const std::string& folder : all) {
    core::BuildOptions fewer = build;
    std::erase(fewer.include, folder);
    WW_ASSIGN(const Headers left, HeadersWith(source, fewer, worker));
    if (left == headers) build = std::move(fewer);
  }
  return build.include;
}

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool Names(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !IsNamePart(text[at - 1])) && (end == text.size() || !IsNamePart(text[end]))) return true;
  }
  return false;
}

}  // namespace

Result<GuessedBuild> GuessBuild(const core::SourceRef& source, core::Evaluator& worker) {
  config::ProjectBuild project = config::FindProjectBuild(source.root, source.file);
  GuessedBuild guessed;
  if (project.from.empty()) return guessed;
  Headers headers;
  WW_ASSIGN(project.build.include, NeededFolders(source, project.build, headers, worker));
  std::vector<std::string> texts = {source.text};
  for (const std::string& header : headers)
    if (auto text = base::ReadFileBelow(source.root, header, kMaxHeaderBytes)) texts.push_back(std::move(*text));
  std::erase_if(project.build.define, [&](const auto& define) {
    const std::string_view name = define.first == "NDEBUG" ? "assert" : std::string_view(define.first);
    return std::none_of(texts.begin(), texts.end(), [&](const std::string& text) { return Names(text, name); });
  });
  if (!project.build.IsDefault()) guessed = {std::move(project.build), std::move(project.from)};
  return guessed;
}

std::string ManifestText(const core::BuildOptions& build) {
  std::vector<std::string> parts;
  std::vector<std::string> folders;
  for (const auto& folder : build.include) folders.push_back(config::YamlScalar(folder));
  if (!folders.empty()) parts.push_back(fmt::format("include: [{}]", fmt::join(folders, ", ")));
  std::vector<std::string> defines;
  for (const auto& [name, value] : build.define)
    defines.push_back(fmt::format("{}: {}", name, config::YamlScalar(value)));
  if (!defines.empty()) parts.push_back(fmt::format("define: {{{}}}", fmt::join(defines, ", ")));
  if (build.standard != core::BuildOptions().standard)
    parts.push_back(fmt::format("std: {}", core::Name(build.standard)));
  std::vector<std::string_view> flags;
  for (const core::BuildFlag flag : build.flags) flags.push_back(core::Name(flag));
  if (!flags.empty()) parts.push_back(fmt::format("flags: [{}]", fmt::join(flags, ", ")));
  return fmt::format("build: {{{}}}", fmt::join(parts, ", "));
}

}  // namespace warpwright::app
