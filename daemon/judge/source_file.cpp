#include "judge/source_file.h"

#include "base/file_below.h"

namespace warpwright::judge {

constexpr uint64_t kMaxSourceBytes = 8u << 20;

Result<core::SourceRef> ReadSource(const std::filesystem::path& root, const std::string& file) {
  WW_ASSIGN(std::string text, base::ReadFileBelow(root, file, kMaxSourceBytes));
  return core::SourceRef{root.string(), file, std::move(text)};
}

}  // namespace warpwright::judge
