#include "app/judging.h"

#include <limits>

#include "judge/inputs.h"

namespace warpwright {
namespace {

// Of all cases, also those that are for the simulator: the tools are slow, and look at code rather than at sizes.
const Case* SmallestCase(const KernelSpec& spec) {
  const Case* smallest = nullptr;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Case& c : spec.cases) {
    int64_t elements = 0;
    for (const Argument& argument : spec.args) {
      const auto shape =
          std::holds_alternative<BufferArgument>(argument.kind) ? ShapeOf(argument, c) : Result<std::vector<int64_t>>();
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

std::unique_ptr<Judge> MakeJudge(const JudgeSetup& setup, Evaluator& trusted) {
  JudgeOptions options;
  options.repository = setup.references;
  options.manifest_digest = setup.manifest.digest;
  options.toolchain = setup.toolchain;
  options.chip = setup.device.chip;
  options.fresh_worker = setup.fresh_worker;
  return std::make_unique<Judge>(setup.spec, setup.original, setup.device.name, trusted, options);
}

NightTimerOptions PairTiming(const TargetDevice& device, const Manifest& manifest, const std::filesystem::path& tree,
                             std::function<void()> fresh_worker) {
  NightTimerOptions timing;
  timing.device = device.name;
  timing.tree = tree;
  timing.threshold = manifest.nightly.threshold;
  timing.fresh_worker = std::move(fresh_worker);
  if (device.gpu) timing.chip = device.chip;
  return timing;
}

std::vector<ToolFinding> RunAcceptanceTools(const TargetDevice& device, const WorkerCommand& worker,
                                            const KernelSpec& spec, const SourceRef& winner, const Measured& measured) {
  if (!device.gpu) return {};
  const AcceptanceTools tools = FindAcceptanceTools();
  std::vector<ToolFinding> findings = {BuildWithNvcc(tools, winner, device.chip.arch)};
  const Case* c = SmallestCase(spec);
  auto inputs =
      c != nullptr ? MakeInputs(spec, *c, InputVariant::kBase, 1, winner.root) : Result<std::vector<BufferContent>>();
  if (c == nullptr || !inputs) return findings;
  std::vector<std::string> kernels;
  for (const CaseMeasurement& one : measured.cases)
    for (const LaunchReport& launch : one.launches) kernels.push_back(launch.kernel);
  const ExecuteRequest request{.source = winner,
                               .spec = spec,
                               .case_name = c->name,
                               .scalars = c->scalars,
                               .buffers = std::move(*inputs),
                               .device = device.name,
                               .options = {}};
  for (ToolFinding& finding : RunSanitizers(tools, worker, request, kernels)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace warpwright
