// Responses to earlier requests, with their ETags, so that "nothing changed" (304) does not count against the hourly
// rate limit. One file for each URL, complete or absent; a file that does not decode, or belongs to another URL, is
// treated as absent. Losing the folder loses nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"

namespace warpwright::forge {

struct CachedAnswer {
  std::string etag, link, body;  // link: the header with the next page's URL
};

class EtagCache {
 public:
  static constexpr size_t kMaxAnswerBytes = 2u << 20;  // larger ones are not stored

  // The folder is created if it is missing, for this user only. kIo.
  static Result<std::unique_ptr<EtagCache>> Open(const std::filesystem::path& folder, uint64_t max_bytes);

  std::optional<CachedAnswer> Find(const std::string& url);
  // Beyond `max_bytes` the least recently used responses are removed.
  Status Store(const std::string& url, const CachedAnswer& answer);
  uint64_t bytes() const;

 private:
  EtagCache(std::filesystem::path folder, uint64_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  std::filesystem::path PathOf(const std::string& url) const;
  void Measure();
  void Shrink();

  const std::filesystem::path folder_;
  const uint64_t max_bytes_;
  mutable std::mutex mutex_;
  uint64_t bytes_ = 0;
};

}  // namespace warpwright::forge
