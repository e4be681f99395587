#include "gpu/cuda_device.h"

#include <chrono>

#include "gpu/execution.h"
#include "gpu/lease.h"
#include "gpu/timing_run.h"

namespace warpwright::gpu {
namespace {

using gpu::Context;
using gpu::Lease;
using gpu::Tools;

class CudaDevice final : public core::Device {
 public:
  CudaDevice(std::unique_ptr<Context> context, std::unique_ptr<Tools> tools, Lease lease,
             std::function<void(bool waits)> on_wait)
      : context_(std::move(context)),
        tools_(std::move(tools)),
        lease_(std::move(lease)),
        on_wait_(std::move(on_wait)) {}
  ~CudaDevice() override {
    // Its members would wait for a hung kernel; the process is about to exit.
    if (context_->lost()) (void)tools_.release();
  }

  const core::Chip& chip() const override { return context_->chip(); }
  bool usable() const override { return !context_->lost(); }
  bool modelled() const override { return false; }

  Result<core::DeviceOutcome> Run(const core::DeviceRequest& request) override {
    const bool shares = SharesGpu(request);
    const bool counts = request.options.counters && request.options.depth != core::CounterDepth::kTimes;
    if (counts && !counters_) WW_TRY(OpenCounters());
    WW_ASSIGN(const Held held, Take(shares ? Lease::Use::kShared : Lease::Use::kAlone));
    const auto deadline = shares ? kLeaseSeats * kRunDeadline : kRunDeadline;
    auto ran =
        Explained(gpu::Execution(*context_, *tools_, counters_ ? &*counters_ : nullptr, request, deadline).Run());
    if (ran)
      if (auto* run = std::get_if<core::DeviceRun>(&*ran)) run->seconds[core::kLeaseSeconds] = held.waited_s;
    return ran;
  }
  Result<core::DeviceTimingOutcome> Time(const core::DeviceTimingRequest& request) override {
    WW_ASSIGN(const Held held, Take(Lease::Use::kAlone));
    auto timed = Explained(gpu::TimingRun(*context_, *tools_, request).Run());
    if (timed)
      if (auto* run = std::get_if<core::Timed>(&*timed)) run->seconds[core::kLeaseSeconds] = held.waited_s;
    return timed;
  }

 private:
  // Takes a quarter of a second in which nothing is counted, so that others may run. Two processes that open theirs in
  // the same moment are in each other's way (CUPTI_ERROR_HARDWARE_BUSY, seen with four on an H200): what failed so is
  // done again alone.
  Status OpenCounters() {
    for (const Lease::Use use : {Lease::Use::kShared, Lease::Use::kAlone}) {
      WW_ASSIGN(const Held held, Take(use));
      WW_ASSIGN(counters_, gpu::CounterSession::Create(context_->handle(), context_->device()));
      if (!counters_->unavailable()) break;
    }
    return {};
  }
  struct Held {
    Lease::Guard guard;
    double waited_s = 0;
  };
  Result<Held> Take(Lease::Use use) {
    const auto begin = std::chrono::steady_clock::now();
    bool waited = false;
    WW_ASSIGN(Lease::Guard guard, lease_.Take(use, [&] {
      waited = true;
      if (on_wait_) on_wait_(true);
    }));
    if (waited && on_wait_) on_wait_(false);
    return Held{std::move(guard), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  }
  // Nothing is timed, nothing is to be scheduled otherwise than usual, and there is memory for all who may share.
  bool SharesGpu(const core::DeviceRequest& request) const {
    uint64_t bytes = 0;
    for (const core::PlanBuffer& buffer : request.plan->buffers) bytes += buffer.bytes;
    constexpr uint64_t kCopies = 3;  // of contents, of results of several runs, and those that are run with
    return !request.options.counters && request.options.perturbation == core::Perturbation::kNone &&
           kLeaseSeats * kCopies * bytes < static_cast<uint64_t>(context_->facts().memory_bytes) / 2;
  }
  template <typename T>
  Result<T> Explained(Result<T> outcome) const {
    if (!outcome) return Fail(context_->Explain(std::move(outcome).error()));
    return outcome;
  }

  std::unique_ptr<Context> context_;
  std::unique_ptr<Tools> tools_;
  std::optional<gpu::CounterSession> counters_;  // opened on first use
  Lease lease_;
  std::function<void(bool waits)> on_wait_;
};

}  // namespace

Result<std::unique_ptr<core::Device>> MakeCudaDevice(const std::string& name, const compile::Compiler& compiler,
                                                     std::function<void(bool waits)> on_wait) {
  WW_ASSIGN(const int index, gpu::GpuIndex(name));
  WW_ASSIGN(Context created, Context::Create(index));
  auto context = std::make_unique<Context>(std::move(created));
  WW_ASSIGN(Lease lease, Lease::Open(context->facts().uuid));
  WW_ASSIGN(auto tools, Tools::Create(*context, compiler));
  return std::make_unique<CudaDevice>(std::move(context), std::move(tools), std::move(lease), std::move(on_wait));
}

}  // namespace warpwright::gpu
