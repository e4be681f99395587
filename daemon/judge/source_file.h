// An entry's file as those read it who judge one version of it against another.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "core/kernel_spec.h"
#include "core/source_requests.h"

namespace warpwright::judge {

// `file` below `root`, a checkout or an exported tree; at most 8 MiB, as the compiler takes.
Result<core::SourceRef> ReadSource(const std::filesystem::path& root, const std::string& file,
                                   core::BuildOptions build);
// Of an entry of the manifest.
Result<core::SourceRef> ReadSource(const std::filesystem::path& root, const core::KernelSpec& spec);

}  // namespace warpwright::judge
