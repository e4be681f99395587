#include "judge/source_file.h"

#include "base/file_below.h"

namespace warpwright::judge {

constexpr uint64_t kMaxSourceBytes = 8u << 20;

Result<core::SourceRef> ReadSource(const std::filesystem::path& root, const std::string& file,
                                   core::BuildOptions build) {
  WW_ASSIGN(std::string text, base::ReadFileBelow(root, file, kMaxSourceBytes));
  return core::SourceRef{root.string(), file, std::move(text), std::move(build)};
}

Result<core::SourceRef> ReadSource(const std::filesystem::path& root, const core::KernelSpec& spec) {
  return ReadSource(root, spec.file, spec.build);
}

}  // namespace warpwright::judge
