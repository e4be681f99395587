#include "cli/judging.h"

namespace warpwright {

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

}  // namespace warpwright
