// A GPU, its context, and what can go wrong with them. Everything in gpu/ takes a Context; one thread uses it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/chip.h"
#include "core/verdict.h"
#include "gpu/driver.h"

namespace warpwright::gpu {

// "cuda" is the first GPU, "cuda:1" the second, as the driver counts within CUDA_VISIBLE_DEVICES.
Result<int> GpuIndex(const std::string& device_name);
Result<core::GpuFacts> ReadGpuFacts(const CudaDriver& driver, CUdevice device);

// The fault of a kernel, if any; an Error is a failure of warpwright.
using Step = Result<std::optional<core::Fault>>;

// A kernel that runs longer than this counts as hung.
inline constexpr std::chrono::seconds kRunDeadline{10};

class Context {
 public:
  static Result<Context> Create(int index);
  Context(Context&& other) noexcept;
  Context& operator=(Context&&) = delete;
  ~Context();

  const CudaDriver& driver() const { return *driver_; }
  CUdevice device() const { return device_; }
  CUcontext handle() const { return context_; }
  const core::Chip& chip() const { return chip_; }
  const core::GpuFacts& facts() const { return facts_; }
  int Attribute(CUdevice_attribute attribute) const;

  // After a fault that the context does not survive: nothing may be freed any more, because that would wait for a hung
  // kernel.
  bool lost() const { return lost_ || GpuIsLost(); }
  // A call's error, with the GPU's name, and with a remedy if the GPU was lost.
  Error Explain(Error error) const;

  // Classifies a result as success, a fault of the kernel, or an internal error.
  Step Judge(CUresult result, const char* call, const std::string& kernel = {});
  // Waits until the stream is idle or the deadline has passed; the latter is a fault.
  Step Wait(CUstream stream, std::chrono::steady_clock::duration deadline = kRunDeadline,
            const std::string& kernel = {});

 private:
  Context() = default;
  const CudaDriver* driver_ = nullptr;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  core::Chip chip_;
  core::GpuFacts facts_;
  bool lost_ = false;
};

class Stream {
 public:
  static Result<Stream> Create(Context& context);
  Stream(Stream&& other) noexcept : context_(other.context_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream();
  CUstream get() const { return handle_; }

 private:
  Stream(Context& context, CUstream handle) : context_(&context), handle_(handle) {}
  Context* context_;
  CUstream handle_;
};

class Event {
 public:
  static Result<Event> Create(Context& context, bool timing);
  Event(Event&& other) noexcept : context_(other.context_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event();
  CUevent get() const { return handle_; }

 private:
  Event(Context& context, CUevent handle) : context_(&context), handle_(handle) {}
  Context* context_;
  CUevent handle_;
};

// Returns from the caller if the Step holds a fault or an error.
#define WW_STEP(expression)                                                               \
  do {                                                                                    \
    auto ww_step = (expression);                                                          \
    if (!ww_step) return tl::unexpected<::warpwright::Error>(std::move(ww_step).error()); \
    if (*ww_step) return std::move(**ww_step);                                            \
  } while (false)

}  // namespace warpwright::gpu
