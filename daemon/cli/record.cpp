#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/judging.h"
#include "cli/progress.h"

namespace warpwright {

Result<int> RunRecord(const RevisionOptions& options) {
  WW_ASSIGN(Session session, Session::Open(options.common));
  if (session.repository().bare()) return Fail(ErrorCode::kUsage, "record writes into a working tree, and a bare repository has none");
  WW_ASSIGN(const std::string base, session.repository().Resolve(options.base));
  WW_ASSIGN(const Manifest manifest, session.ManifestAt(base));
  WW_ASSIGN(const std::filesystem::path tree, session.ExportTree(base));
  WW_ASSIGN(const std::string toolchain, session.Toolchain());
  WorkerEvaluator trusted = session.MakeWorker();
  Progress progress(options.common.quiet || options.common.json);

  nlohmann::json kernels = nlohmann::json::array();
  bool complete = true;
  for (const auto& spec : manifest.kernels) {
    progress.Step("recording " + spec.name);
    WW_ASSIGN(const SourceRef original, Session::Source(tree, spec.file));
    const auto judge = MakeJudge(session, spec, original, manifest, session.repository().root(), toolchain, trusted);
    WW_ASSIGN(const RecordReport report, judge->Record());
    nlohmann::json cases = nlohmann::json::array();
    bool any = false;
    for (const auto& c : report.cases) {
      any |= c.recorded;
      cases.push_back({{"case", c.case_name}, {"recorded", c.recorded}, {"path", c.path}, {"bytes", c.bytes}, {"sketched", c.sketched}, {"note", c.note}});
      if (!options.common.json) {
        progress.Finish();
        fmt::print("{} {}: {}\n", spec.name, c.case_name, c.recorded ? fmt::format("{} ({} bytes{}) {}", c.path, c.bytes, c.sketched ? ", sketched" : "", c.note) : "not recorded: " + c.note);
      }
    }
    complete &= any;
    kernels.push_back({{"kernel", spec.name}, {"cases", cases}});
  }
  if (options.common.json) std::puts(nlohmann::json({{"base", base}, {"kernels", kernels}}).dump(2).c_str());
  return complete ? kExitDone : kExitUnverified;
}

}  // namespace warpwright
