#include "source/includes.h"

#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "base/file.h"

namespace warpwright::source {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFileLimitBytes = 4u << 20;
constexpr size_t kFileCountLimit = 512;
constexpr size_t kNameLimit = 1024;

bool IsBelow(const fs::path& path, const fs::path& root) {
  const fs::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != ".." && relative != ".";
}

// The file that `name` refers to when included from `includer`, as a path below the root.
std::optional<std::string> Resolve(const fs::path& root, const std::vector<std::string>& named,
                                   const fs::path& includer, const std::string& name, bool angled) {
  if (name.empty() || name.size() > kNameLimit || fs::path(name).is_absolute()) return std::nullopt;
  std::vector<fs::path> folders;
  if (!angled) folders.push_back(includer.parent_path());
  folders.insert(folders.end(), named.begin(), named.end());
  for (fs::path folder = includer.parent_path();; folder = folder.parent_path()) {
    for (const char* below : {"", "include", "inc", "src"}) folders.push_back(folder / below);
    if (folder.empty()) break;
  }
  for (const fs::path& folder : folders) {
    const fs::path relative = (folder / name).lexically_normal();
    if (relative.empty() || *relative.begin() == ".." || relative.is_absolute()) continue;
    std::error_code failed;
    if (!fs::is_regular_file(root / relative, failed)) continue;
    const fs::path real = fs::canonical(root / relative, failed);
    if (failed || !IsBelow(real, root)) continue;
    return relative.generic_string();
  }
  return std::nullopt;
}

}  // namespace

std::optional<HeaderName> NamedFile(std::string_view text, const Token& token) {
  const char open = token.range.size() > 0 ? text[token.range.begin] : ' ';
  if (open != '"' && (open != '<' || token.kind != Token::Kind::kPunctuation)) return std::nullopt;
  // The lexer would split "sys/types.h" into tokens and treat a backslash as an escape: the name is the text up to the
  // closing delimiter.
  const size_t begin = token.range.begin + 1;
  const size_t end = text.find_first_of(open == '"' ? "\"\n" : ">\n", begin);
  if (end == std::string_view::npos || text[end] == '\n') return std::nullopt;
  return HeaderName{std::string(text.substr(begin, end - begin)), {token.range.begin, static_cast<uint32_t>(end) + 1}};
}

std::vector<IncludeDirective> ScanIncludes(std::string_view text) {
  std::vector<IncludeDirective> found;
  const std::vector<Token> tokens = Lex(text);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].OpensDirective()) continue;
    const std::string word = Spelling(tokens[i + 1]);
    if (word != "include" && word != "include_next" && word != "import") continue;
    size_t last = i + 1;
    while (last + 1 < tokens.size() && tokens[last + 1].in_directive && !tokens[last + 1].starts_line) ++last;
    IncludeDirective directive;
    directive.line = tokens[i].line;
    directive.line_range = {tokens[i].range.begin, tokens[last].range.end};
    directive.name_range = {tokens[i + 1].range.end, tokens[last].range.end};
    if (last >= i + 2) {
      directive.name_range.begin = tokens[i + 2].range.begin;
      if (const auto name = NamedFile(text, tokens[i + 2])) {
        directive.name_range = name->range;
        directive.name = name->name;
        directive.angled = text[name->range.begin] == '<';
      }
    }
    directive.line_range.end = std::max(directive.line_range.end, directive.name_range.end);
    found.push_back(std::move(directive));
  }
  return found;
}

Result<SourceTree> ReadSourceTree(const core::SourceRef& source) {
  std::error_code failed;
  const fs::path root = fs::canonical(source.root, failed);
  if (failed)
    return Fail(ErrorCode::kIo, fmt::format("cannot open the source folder {}: {}", source.root, failed.message()));
  const std::string main = fs::path(source.file).lexically_normal().generic_string();
  if (main.empty() || main[0] == '/' || main.starts_with("..")) {
    return Fail(ErrorCode::kConfig, fmt::format("the file {} is not below {}", source.file, source.root));
  }
  if (source.text.size() > kFileLimitBytes) {
    return Fail(ErrorCode::kUnsupported, fmt::format("{} is larger than 4 MiB", source.file));
  }
  SourceTree tree;
  tree.main = main;
  tree.files[main] = {main, source.text, ScanIncludes(source.text)};
  std::vector<std::string> open = {main};
  while (!open.empty()) {
    SourceFile& file = tree.files[open.back()];
    open.pop_back();
    for (IncludeDirective& include : file.includes) {
      const auto path = Resolve(root, source.build.include, file.path, include.name, include.angled);
      if (!path) continue;
      include.resolved = *path;
      if (tree.files.count(*path)) continue;
      if (tree.files.size() >= kFileCountLimit) {
        return Fail(ErrorCode::kUnsupported, fmt::format("{} includes more than {} files", main, kFileCountLimit));
      }
      auto text = base::ReadFile(root / *path, kFileLimitBytes);
      if (!text) return Fail(std::move(text).error());
      auto includes = ScanIncludes(*text);
      tree.files[*path] = {*path, std::move(*text), std::move(includes)};
      open.push_back(*path);
    }
  }
  return tree;
}

bool IsAmbiguousName(std::string_view name) {
  return name.find_first_of("\"'\\") != std::string_view::npos || name.find("/*") != std::string_view::npos;
}

std::optional<core::Refused> FindOutsideInclude(const SourceTree& tree) {
  for (const auto& [path, file] : tree.files) {
    for (const IncludeDirective& include : file.includes) {
      if (IsAmbiguousName(include.name))
        return core::Refused{core::Check::kSlice,
                             fmt::format("#include of '{}', which is not a plain name", include.name), path,
                             include.line};
      if (!include.resolved.empty() || include.name.empty()) continue;
      const std::string meant = (fs::path(path).parent_path() / include.name).lexically_normal().generic_string();
      if (meant[0] != '/' && !meant.starts_with("../")) continue;
      return core::Refused{core::Check::kSlice,
                           fmt::format("#include of '{}', which is outside the repository", include.name), path,
                           include.line};
    }
  }
  return std::nullopt;
}

}  // namespace warpwright::source
