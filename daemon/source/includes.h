// Which files a .cu file consists of. Include directives are resolved here and never by a compiler's own search: first
// in the including file's folder, then in those that the project's build names, then in each folder above the file up
// to the root and in the folders "include", "inc" and "src" there. Nothing outside the root is read, not even through
// symbolic links; a header that is not found in the repository is a system header, known by name only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/source_requests.h"
#include "core/verdict.h"
#include "source/tokens.h"

namespace warpwright::source {

struct IncludeDirective {
  TextRange line_range;  // from '#' to the end of the directive
  TextRange name_range;  // with the quotes or angle brackets
  std::string name;      // without them; empty for a computed include (#include MACRO)
  bool angled = false;
  int line = 0;
  std::string resolved;  // path below the root; empty: a system header, or outside the root
};

struct SourceFile {
  std::string path;  // relative to the root, normalized
  std::string text;
  std::vector<IncludeDirective> includes;
};

// The main file and every repository header that it reaches through an include directive, active or not.
struct SourceTree {
  std::string main;                         // path of the main file
  std::map<std::string, SourceFile> files;  // by path
};

// "name" or <name> that begins with `token`, a token of `text`. Nothing if it is a macro, or is not terminated on its
// line.
struct HeaderName {
  std::string name;
  TextRange range;  // with the quotes or angle brackets
};
std::optional<HeaderName> NamedFile(std::string_view text, const Token& token);

std::vector<IncludeDirective> ScanIncludes(std::string_view text);

// Limits: 4 MiB per file, 512 files. Exceeding a limit is an Error.
Result<SourceTree> ReadSourceTree(const core::SourceRef& source);

// A header name that contains a quote, a backslash or the beginning of a comment: how it is read depends on whether the
// directive is active.
bool IsAmbiguousName(std::string_view name);

// An include of an absolute path, of a path that climbs out of the root, or with an ambiguous name. We would omit it
// like any missing header; a compiler that runs with the user's permissions would not.
std::optional<core::Refused> FindOutsideInclude(const SourceTree& tree);

}  // namespace warpwright::source
