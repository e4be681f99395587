// Which requests fail, and how: drawn from a seed, so that a run can be repeated.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <string_view>
#include <vector>

namespace warpwright {

enum class Fault {
  kNone,
  kSecondaryLimit,  // 403 with retry-after
  kPrimaryLimit,    // 403, nothing remaining, reset in a moment
  kUnprocessable,   // 422 without a reason
  kTooMany,         // 429 with retry-after
  kBadGateway,      // 502
  kTimeout,         // no response for `hang`, then the connection ends
  kReset,           // the connection ends without a response
};
std::string_view Name(Fault fault);

struct FaultOptions {
  double share = 0;      // of the requests to the API
  double git_share = 0;  // of git's requests: 502 and resets
  uint64_t seed = 1;
  std::vector<Fault> kinds = {Fault::kSecondaryLimit, Fault::kPrimaryLimit, Fault::kUnprocessable, Fault::kTooMany,
                              Fault::kBadGateway,     Fault::kTimeout,      Fault::kReset};
  int retry_after_s = 1;
  std::chrono::milliseconds hang{1'000};
};

struct DrawnFault {
  Fault fault = Fault::kNone;
  bool done = false;  // the act is done, and only its response is lost; for kBadGateway, kTimeout and kReset
};

class FaultPlan {
 public:
  explicit FaultPlan(FaultOptions options) : options_(std::move(options)), random_(options_.seed) {}
  DrawnFault Draw(bool git);
  const FaultOptions& options() const { return options_; }

 private:
  const FaultOptions options_;
  std::mutex mutex_;
  std::mt19937_64 random_;
};

}  // namespace warpwright
