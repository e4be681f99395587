#include "forge/etag_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace warpwright::forge {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "warpwright answer 1\n";
constexpr size_t kHashDigits = 64, kMaxFileBytes = EtagCache::kMaxAnswerBytes + (64u << 10);

bool IsLine(std::string_view text) { return text.find('\n') == std::string_view::npos; }

std::optional<std::string_view> TakeLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return line;
}

// Magic; SHA-256 of the rest; URL, ETag and Link, one line each; the body.
std::string Encode(const std::string& url, const CachedAnswer& answer) {
  const std::string content = fmt::format("{}\n{}\n{}\n{}", url, answer.etag, answer.link, answer.body);
  return fmt::format("{}{}\n{}", kMagic, base::Sha256(std::string_view(content)), content);
}
std::optional<CachedAnswer> Decode(const std::string& url, std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  bytes.remove_prefix(kMagic.size());
  const auto hash = TakeLine(bytes);
  if (!hash || *hash != base::Sha256(bytes)) return std::nullopt;
  const auto its_url = TakeLine(bytes);
  const auto etag = its_url == url ? TakeLine(bytes) : std::nullopt;
  const auto link = etag ? TakeLine(bytes) : std::nullopt;
  if (!link) return std::nullopt;
  return CachedAnswer{std::string(*etag), std::string(*link), std::string(bytes)};
}

bool IsAnswerFile(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.size() == kHashDigits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

Result<std::unique_ptr<EtagCache>> EtagCache::Open(const fs::path& folder, uint64_t max_bytes) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);  // responses about private repositories
  if (error)
    return Fail(ErrorCode::kIo, fmt::format("prepare {}: {}", folder.string(), error.message()),
                "make it writable for this user");
  std::unique_ptr<EtagCache> cache(new EtagCache(folder, max_bytes));
  // Partially written files that a killed process left next to their targets.
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename().string().find('.') == kHashDigits) fs::remove(at->path(), ignored);
  }
  cache->Measure();
  cache->Shrink();
  return cache;
}

fs::path EtagCache::PathOf(const std::string& url) const { return folder_ / base::Sha256(std::string_view(url)); }

std::optional<CachedAnswer> EtagCache::Find(const std::string& url) {
  const fs::path path = PathOf(url);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const auto bytes = base::ReadFile(path, kMaxFileBytes);
  if (!bytes) return std::nullopt;
  auto answer = Decode(url, *bytes);
  if (answer) fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return answer;
}

Status EtagCache::Store(const std::string& url, const CachedAnswer& answer) {
  if (answer.etag.empty() || answer.body.size() > kMaxAnswerBytes) return {};
  if (!IsLine(url) || !IsLine(answer.etag) || !IsLine(answer.link)) return {};
  const std::string bytes = Encode(url, answer);
  const fs::path path = PathOf(url);
  const std::lock_guard lock(mutex_);
  std::error_code error;
  const uint64_t before = fs::exists(path, error) ? fs::file_size(path, error) : 0;
  WW_TRY(base::WriteFileAtomically(path, bytes));
  bytes_ += bytes.size();
  bytes_ -= std::min(bytes_, error ? 0 : before);
  if (bytes_ > max_bytes_) Shrink();
  return {};
}

uint64_t EtagCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void EtagCache::Measure() {
  bytes_ = 0;
  std::error_code error;
  for (auto at = fs::directory_iterator(folder_, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    std::error_code gone;
    const uint64_t size = IsAnswerFile(at->path()) ? at->file_size(gone) : 0;
    if (!gone) bytes_ += size;
  }
}

// Shrinks to three quarters of the limit, so that not every Store has to scan the folder.
void EtagCache::Shrink() {
  if (bytes_ <= max_bytes_) return;
  struct File {
    fs::file_time_type used;
    uint64_t size;
    fs::path path;
  };
  std::vector<File> files;
  std::error_code error;
  for (auto at = fs::directory_iterator(folder_, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    std::error_code gone;
    if (IsAnswerFile(at->path())) files.push_back({at->last_write_time(gone), at->file_size(gone), at->path()});
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  bytes_ = 0;
  for (const File& file : files) bytes_ += file.size;
  for (const File& file : files) {
    if (bytes_ <= max_bytes_ / 4 * 3) break;
    std::error_code gone;
    if (fs::remove(file.path, gone)) bytes_ -= std::min(bytes_, file.size);
  }
}

}  // namespace warpwright::forge
