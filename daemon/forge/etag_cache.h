// Answers to questions asked before, with their ETags, so that "nothing changed" (304) costs no request of the hour's
// allowance. One file for each URL, whole or absent; what does not decode, or belongs to another URL, is as if it were
// not there. Losing the folder loses nothing.
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
  std::string etag, link, body;  // link: the header that names the next page
};

class EtagCache {
 public:
  static constexpr size_t kMaxAnswerBytes = 2u << 20;  // larger ones are not kept

  // The folder is made where it is missing, for this user only. kIo.
  static Result<std::unique_ptr<EtagCache>> Open(const std::filesystem::path& folder, uint64_t max_bytes);

  std::optional<CachedAnswer> Find(const std::string& url);
  // Beyond `max_bytes` the answers that were not used for the longest time go.
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
