#include "app/judging.h"

#include <future>
#include <limits>

#include "app/lift.h"
#include "app/nvcc_kernels.h"
#include "judge/inputs.h"

namespace warpwright::app {
namespace {

// Among all cases, also those for the simulator: the tools are slow, and check code rather than sizes.
const core::Case* SmallestCase(const core::KernelSpec& spec) {
  const core::Case* smallest = nullptr;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const core::Case& c : spec.cases) {
    int64_t elements = 0;
    for (const core::Argument& argument : spec.args) {
      const auto shape = std::holds_alternative<core::BufferArgument>(argument.kind) ? core::ShapeOf(argument, c)
                                                                                     : Result<std::vector<int64_t>>();
      int64_t product = shape && !shape->empty() ? 1 : 0;
      for (const int64_t extent : shape ? *shape : std::vector<int64_t>()) product *= extent;
      elements += product;
    }
    if (elements < least) {
      least = elements;
      smallest = &c;
    }
  }
  return smallest;
}

}  // namespace

std::unique_ptr<judge::Judge> MakeJudge(const JudgeSetup& setup, core::Evaluator& trusted) {
  judge::JudgeOptions options;
  options.repository = setup.references;
  options.manifest_digest = setup.manifest.digest;
  options.toolchain = setup.toolchain;
  options.chip = setup.device.chip;
  options.simulator = SimulatedDevice(setup.device);
  options.fresh_worker = setup.fresh_worker;
  options.draw_secret = setup.draw_secret;
  options.another = setup.another;
  options.judged_beside = setup.judged_beside;
  options.lift =
      setup.lift ? setup.lift : [&device = setup.device, spec = setup.spec, original = setup.original, &trusted] {
        return LiftKernel(device, spec, original, trusted);
      };
  return std::make_unique<judge::Judge>(setup.spec, setup.original, setup.device.name, trusted, options);
}

void MentionUnanswered(const core::Manifest& manifest, const ProgressCallbacks& progress) {
  for (const core::UnansweredKernel& waiting : manifest.unanswered) progress.line(waiting.question.Format());
}

nights::NightTimerOptions PairTiming(const TargetDevice& device, const core::Manifest& manifest,
                                     const std::filesystem::path& tree, std::function<void()> fresh_worker) {
  nights::NightTimerOptions timing;
  timing.device = device.name;
  timing.tree = tree;
  timing.threshold = manifest.nightly.threshold;
  timing.fresh_worker = std::move(fresh_worker);
  if (device.gpu) timing.chip = device.chip;
  return timing;
}

std::vector<core::ToolFinding> RunAcceptanceTools(const ToolSetup& setup, const core::SourceRef& winner,
                                                  const core::Measured& measured) {
  const TargetDevice& device = setup.device;
  const core::KernelSpec& spec = setup.spec;
  worker::AcceptanceTools tools = worker::FindAcceptanceTools();
  tools.deadline = setup.deadline;
  const auto nvcc = [&] {
    return JudgeNvccBuild(setup.judge, setup.candidates, setup.original, winner, device.chip.arch);
  };
  const core::Case* c = SmallestCase(spec);
  auto inputs = c != nullptr ? judge::MakeInputs(spec, *c, judge::InputVariant::kBase, 1, winner.root)
                             : Result<std::vector<core::BufferContent>>();
  if (!device.gpu || setup.worker == nullptr || c == nullptr || !inputs) return nvcc();
  std::vector<std::string> kernels;
  for (const core::CaseMeasurement& one : measured.cases)
    for (const core::LaunchReport& launch : one.launches) kernels.push_back(launch.kernel);
  const core::ExecuteRequest request{.source = winner,
                                     .spec = spec,
                                     .case_name = c->name,
                                     .scalars = c->scalars,
                                     .buffers = std::move(*inputs),
                                     .device = device.name,
                                     .options = {}};
  // The sanitizers wait for the processor most of the time, as nvcc does.
  auto sanitized =
      std::async(std::launch::async, [&] { return worker::RunSanitizers(tools, *setup.worker, request, kernels); });
  std::vector<core::ToolFinding> findings = nvcc();
  for (core::ToolFinding& finding : sanitized.get()) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace warpwright::app
