#include "cli/judging.h"

namespace warpwright {

std::unique_ptr<Judge> MakeJudge(const Session& session, const KernelSpec& spec, const SourceRef& original, const Manifest& manifest,
                                 const std::filesystem::path& references, const std::string& toolchain, Evaluator& trusted) {
  JudgeOptions options;
  options.repository = references;
  options.manifest_digest = manifest.digest;
  options.toolchain = toolchain;
  return std::make_unique<Judge>(spec, original, session.options().device, trusted, options);
}

}  // namespace warpwright
