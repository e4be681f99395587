#include "gpu/cuda_device.h"

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
  CudaDevice(std::unique_ptr<Context> context, std::unique_ptr<Tools> tools, Lease lease, std::function<void()> on_wait)
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
    WW_ASSIGN(const Lease::Guard held, lease_.Take(on_wait_));
    if (request.options.counters && !counters_) {
      WW_ASSIGN(counters_, gpu::CounterSession::Create(context_->handle(), context_->device()));
    }
    return Explained(gpu::Execution(*context_, *tools_, counters_ ? &*counters_ : nullptr, request).Run());
  }
  Result<core::DeviceTimingOutcome> Time(const core::DeviceTimingRequest& request) override {
    WW_ASSIGN(const Lease::Guard held, lease_.Take(on_wait_));
    return Explained(gpu::TimingRun(*context_, *tools_, request).Run());
  }

 private:
  template <typename T>
  Result<T> Explained(Result<T> outcome) const {
    if (!outcome) return Fail(context_->Explain(std::move(outcome).error()));
    return outcome;
  }

  std::unique_ptr<Context> context_;
  std::unique_ptr<Tools> tools_;
  std::optional<gpu::CounterSession> counters_;  // opened on first use
  Lease lease_;
  std::function<void()> on_wait_;
};

}  // namespace

Result<std::unique_ptr<core::Device>> MakeCudaDevice(const std::string& name, const compile::Compiler& compiler,
                                                     std::function<void()> on_wait) {
  WW_ASSIGN(const int index, gpu::GpuIndex(name));
  WW_ASSIGN(Context created, Context::Create(index));
  auto context = std::make_unique<Context>(std::move(created));
  WW_ASSIGN(Lease lease, Lease::Open(context->facts().uuid));
  WW_ASSIGN(auto tools, Tools::Create(*context, compiler));
  return std::make_unique<CudaDevice>(std::move(context), std::move(tools), std::move(lease), std::move(on_wait));
}

}  // namespace warpwright::gpu
