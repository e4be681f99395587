#include "app/lift.h"

#include <fmt/format.h>

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

LiftOnce::LiftOnce(const TargetDevice& device, const core::KernelSpec& spec, const core::SourceRef& source,
                   core::Evaluator& worker, const core::ProcessSource& another, std::chrono::seconds longest)
    : lift_([&device, &spec, &source](core::Evaluator& evaluator) {
        return LiftKernel(device, spec, source, evaluator);
      }),
      lift_segments_([this, &device, &spec, &source](core::Evaluator& evaluator) -> Segments {
        constexpr double kSeconds = 12;  // for each
        WW_ASSIGN(const auto segments,
                  judge::LiftSegments(
                      source, spec, SimulatedDevice(device), kSeconds,
                      [this] { return std::chrono::steady_clock::now() < end_; }, evaluator));
        return judge::FormsOf(segments);
      }),
      worker_(worker),
      another_(another),
      longest_(longest),
      end_(std::chrono::steady_clock::now() + longest) {
  if (!StartProcess()) return;
  under_way_ = std::async(std::launch::async, lift_, std::ref(*process_->evaluator));
}

bool LiftOnce::StartProcess() {
  if (!another_) return false;
  auto process = another_();
  if (!process) return false;
  process_ = std::move(*process);
  return true;
}

LiftOnce::~LiftOnce() {
  if (under_way_.valid() || segments_under_way_.valid()) process_->abandon();
}

Result<core::LiftOutcome> LiftOnce::Get() {
  if (lifted_) return *lifted_;
  if (!under_way_.valid()) {
    lifted_ = lift_(worker_);
  } else if (under_way_.wait_until(end_) == std::future_status::ready) {
    lifted_ = under_way_.get();
    segments_under_way_ = std::async(std::launch::async, lift_segments_, std::ref(*process_->evaluator));
  } else {
    process_->abandon();
    (void)under_way_.get();  // ends soon, in an Error
    end_ += longest_ / 2;
    if (StartProcess())
      segments_under_way_ = std::async(std::launch::async, lift_segments_, std::ref(*process_->evaluator));
    lifted_ = core::LiftOutcome(
        core::NotLifted{"time limit", fmt::format("it took more than {} s", longest_.count()), false});
  }
  return *lifted_;
}

LiftOnce::Segments LiftOnce::GetSegments() {
  WW_TRY(Get());
  if (segments_under_way_.valid()) {
    constexpr std::chrono::seconds kToTheEnd{5};  // of the last one that was begun
    if (segments_under_way_.wait_until(end_ + kToTheEnd) != std::future_status::ready) process_->abandon();
    return segments_under_way_.get();
  }
  return process_ ? Segments() : lift_segments_(worker_);
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
