#include "app/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/chip_file.h"
#include "judge/lift_shapes.h"
#include "judge/outside_terms.h"
#include "judge/segment_forms.h"
#include "judge/source_file.h"

namespace warpwright::app {

std::string SimulatedDevice(const TargetDevice& device) {
  return "sim:" + (config::LoadChip(device.chip.id) ? device.chip.id : std::string("h200"));
}

Result<core::LiftOutcome> LiftKernel(const TargetDevice& device, const core::KernelSpec& spec,
                                     const core::SourceRef& source, core::Evaluator& worker, const LiftEffort& effort) {
  core::LiftRequest request =
      judge::MakeLiftRequest(source, spec, SimulatedDevice(device), effort.shapes, effort.bytes);
  request.seconds_limit = effort.seconds;
  if (request.shapes.empty())
    return core::LiftOutcome(
        core::NotLifted{"no shape", "no sizes were found at which the entry's arguments are small enough", false});
  WW_ASSIGN(core::LiftOutcome outcome, worker.Lift(request));
  if (auto* lifted = std::get_if<core::Lifted>(&outcome)) WW_TRY(judge::TellOutsideTerms(request, worker, *lifted));
  return outcome;
}

// Processor time within `longest`: a task of many minutes has more for what takes longer than most.
static double SecondsWithin(std::chrono::seconds longest) {
  constexpr double kMost = 120;
  return std::clamp(static_cast<double>(longest.count()) / 2, LiftEffort{}.seconds, kMost);
}

LiftOnce::LiftOnce(const TargetDevice& device, const core::KernelSpec& spec, const core::SourceRef& source,
                   core::Evaluator& worker, const core::ProcessSource& another, std::chrono::seconds longest)
    : lift_([&device, &spec, &source, seconds = SecondsWithin(longest)](core::Evaluator& evaluator) {
        return LiftKernel(device, spec, source, evaluator, {.seconds = seconds});
      }),
      device_(device),
      spec_(spec),
      source_(source),
      worker_(worker),
      longest_(longest),
      end_(Clock::now() + longest) {
  const auto process = [&]() -> std::optional<core::OtherProcess> {
    if (!another) return std::nullopt;
    auto started = another();
    return started ? std::optional(std::move(*started)) : std::nullopt;
  };
  process_ = process();
  if (!process_) return;
  under_way_ = std::async(std::launch::async, lift_, std::ref(*process_->evaluator));
  segments_process_ = process();
  if (!segments_process_) return;
  segments_under_way_ = std::async(std::launch::async, [this] { return LiftSegments(*segments_process_->evaluator); });
}

LiftOnce::~LiftOnce() {
  if (under_way_.valid()) process_->abandon();
  if (segments_under_way_.valid()) segments_process_->abandon();
}

Result<core::LiftOutcome> LiftOnce::Get() {
  if (lifted_) return *lifted_;
  if (!under_way_.valid()) {
    lifted_ = lift_(worker_);
  } else if (under_way_.wait_until(end_) == std::future_status::ready) {
    lifted_ = under_way_.get();
  } else {
    process_->abandon();
    lifted_ = core::LiftOutcome(
        core::NotLifted{"time limit", fmt::format("it took more than {} s", longest_.count()), false});
  }
  return *lifted_;
}

Status LiftOnce::LiftSegments(core::Evaluator& evaluator) {
  constexpr double kSeconds = 12;  // of processor time, for each
  return judge::LiftSegments(source_, spec_, SimulatedDevice(device_), kSeconds, evaluator,
                             [this](uint64_t number, core::LiftOutcome outcome) {
                               if (auto* lifted = std::get_if<core::Lifted>(&outcome)) {
                                 const std::lock_guard lock(mutex_);
                                 segments_.push_back({number, std::move(lifted->computation)});
                               }
                               return Clock::now() < end_;
                             });
}

Result<std::vector<core::SegmentForm>> LiftOnce::GetSegments() {
  if (segments_under_way_.valid()) {
    if (segments_under_way_.wait_until(end_) != std::future_status::ready) segments_process_->abandon();
    (void)segments_under_way_.get();  // what was known before it was given up is known
  } else if (!segments_process_ && !std::exchange(asked_for_segments_, true)) {
    WW_TRY(LiftSegments(worker_));
  }
  const std::lock_guard lock(mutex_);
  return segments_;
}

Result<std::vector<LiftedKernel>> LiftKernels(const Workspace& workspace, const JudgingServices& services,
                                              const std::function<void(const LiftedKernel&)>& each) {
  WW_ASSIGN(const core::Manifest manifest, workspace.ManifestOfWorkingTree());
  WW_TRY(services.toolchain());  // names what is missing, before every kernel fails for it
  const std::filesystem::path root = std::filesystem::absolute(workspace.repository().root());
  std::vector<LiftedKernel> kernels;
  for (const core::KernelSpec& spec : manifest.kernels) {
    services.progress.step("lifting " + spec.name);
    WW_ASSIGN(const core::SourceRef source, judge::ReadSource(root, spec));
    WW_ASSIGN(core::LiftOutcome outcome, LiftKernel(workspace.device(), spec, source, services.trusted));
    services.progress.finish();
    kernels.push_back({spec, std::move(outcome)});
    if (each) each(kernels.back());
  }
  return kernels;
}

}  // namespace warpwright::app
