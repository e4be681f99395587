#include "cli/judging.h"

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
      const auto shape = std::holds_alternative<BufferArgument>(argument.kind) ? ShapeOf(argument, c) : Result<std::vector<int64_t>>();
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

std::unique_ptr<Judge> MakeJudge(const Session& session, const KernelSpec& spec, const SourceRef& original, const Manifest& manifest,
                                 const std::filesystem::path& references, const std::string& toolchain, Evaluator& trusted,
                                 std::function<void()> fresh_worker) {
  JudgeOptions options;
  options.repository = references;
  options.manifest_digest = manifest.digest;
  options.toolchain = toolchain;
  options.chip = session.chip();
  options.fresh_worker = std::move(fresh_worker);
  return std::make_unique<Judge>(spec, original, session.options().device, trusted, options);
}

NightTimerOptions PairTiming(const Session& session, const Manifest& manifest, const std::filesystem::path& tree, WorkerEvaluator& worker) {
  NightTimerOptions timing;
  timing.device = session.options().device;
  timing.tree = tree;
  timing.threshold = manifest.nightly.threshold;
  timing.fresh_worker = [&worker] { worker.Restart(); };
  if (session.gpu()) timing.chip = session.chip();
  return timing;
}

std::vector<ToolFinding> LookAtWinner(const Session& session, const KernelSpec& spec, const SourceRef& winner, const Measured& measured) {
  if (!session.gpu()) return {};
  const AcceptanceTools tools = FindAcceptanceTools();
  std::vector<ToolFinding> findings = {BuildWithNvcc(tools, winner, session.chip().arch)};
  const Case* c = SmallestCase(spec);
  auto inputs = c != nullptr ? MakeInputs(spec, *c, InputVariant::kBase, 1, winner.root) : Result<std::vector<BufferContent>>();
  if (c == nullptr || !inputs) return findings;
  std::vector<std::string> kernels;
  for (const CaseMeasurement& one : measured.cases)
    for (const LaunchReport& launch : one.launches) kernels.push_back(launch.kernel);
  const ExecuteRequest request{winner, spec, c->name, c->scalars, std::move(*inputs), session.options().device, {}};
  for (ToolFinding& finding : RunSanitizers(tools, session.Worker(), request, kernels)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace warpwright
