// What `init` writes as `build` of a file: of what the project's own build files say, what the file needs.
#pragma once

#include <string>

#include "core/evaluator.h"

namespace warpwright::app {

struct GuessedBuild {
  core::BuildOptions build;
  std::string from;  // the build file, for the comment
};
// Folders without which a header is another or is not found, definitions of names that the file or its headers use, and
// the standard and flags. `source` without a build; a project that says nothing of it needs none.
Result<GuessedBuild> GuessBuild(const core::SourceRef& source, core::Evaluator& worker);

// "build: {include: [include], define: {TILE: 32}}", without what is the default.
std::string ManifestText(const core::BuildOptions& build);

}  // namespace warpwright::app
