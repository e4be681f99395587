// CUPTI's host half: which metrics a chip has, how many passes they cost, and what the counted values are. Needs no
// GPU.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gpu/cupti_library.h"

namespace warpwright::gpu {

// By CUPTI's metric name. A metric that could not be counted is absent.
using MetricValues = std::map<std::string, double>;

// The schedule for some metrics on one chip.
class CuptiHost {
 public:
  // Metrics that the chip lacks are dropped and listed in unknown(). `availability` is the device's counter
  // availability image; empty if only the chip's name is known. kUnsupported: none of the metrics is left.
  static Result<CuptiHost> Create(const Cupti& cupti, const std::string& chip, std::span<const uint8_t> availability,
                                  std::span<const std::string> wanted);

  CuptiHost(CuptiHost&& other) noexcept;
  CuptiHost& operator=(CuptiHost&& other) noexcept;
  ~CuptiHost();

  const std::vector<std::string>& metrics() const { return metrics_; }
  const std::vector<std::string>& unknown() const { return unknown_; }
  const std::vector<uint8_t>& config() const { return config_; }
  size_t passes() const { return passes_; }

  // The values of one range of a decoded counter data image.
  Result<MetricValues> Evaluate(std::span<const uint8_t> counter_data, size_t range) const;

 private:
  CuptiHost(const Cupti& cupti, CUpti_Profiler_Host_Object* object) : cupti_(&cupti), object_(object) {}
  Status Schedule();

  const Cupti* cupti_;
  CUpti_Profiler_Host_Object* object_;
  std::vector<std::string> metrics_, unknown_;
  std::vector<uint8_t> config_;
  size_t passes_ = 0;
};

// For the C interface: pointers into `names`, which must outlive them.
std::vector<const char*> CStrings(const std::vector<std::string>& names);

}  // namespace warpwright::gpu
