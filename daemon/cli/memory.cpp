#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/named_paths.h"
#include "cli/progress.h"
#include "core/quantity.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

struct Line {
  size_t samples = 0, faster = 0, failed = 0;
  double log_gain = 0;
};

Result<int> Show(const std::vector<std::filesystem::path>& paths, bool as_json) {
  std::map<std::pair<std::string, std::string>, Line> lines;  // operation, method
  size_t total = 0;
  for (const auto& path : paths) {
    WW_ASSIGN(const memory::StoreContent content, memory::ReadStore(path));
    for (const auto& warning : content.warnings) fmt::print(stderr, "warpwright: {}\n", base::Printable(warning));
    for (const auto& e : content.experiences) {
      Line& line = lines[{e.key.operation, e.method}];
      ++line.samples;
      ++total;
      line.log_gain += e.log_gain;
      line.faster += e.log_gain > 0 ? 1 : 0;
      line.failed += e.outcome == core::VerdictKind::kMeasured ? 0 : 1;
    }
  }
  json list = json::array();
  for (const auto& [key, line] : lines) {
    const double mean = std::exp(line.log_gain / static_cast<double>(line.samples));
    list.push_back({{"operation", key.first},
                    {"method", key.second},
                    {"samples", line.samples},
                    {"faster", line.faster},
                    {"failed", line.failed},
                    {"geometric_mean_gain", mean}});
    if (!as_json)
      fmt::print("{:20} {:28} {:4} samples, {:4} faster, {:4} failed, geometric mean {}\n", base::Printable(key.first),
                 base::Printable(key.second), line.samples, line.faster, line.failed, core::FormatGain(mean));
  }
  if (as_json) std::puts(json({{"experiences", total}, {"methods", list}}).dump(2).c_str());
  else if (total == 0) fmt::print("Nothing was learned here yet.\n");
  return kExitDone;
}

}  // namespace

Result<int> RunMemory(const MemoryOptions& options) {
  std::vector<std::filesystem::path> paths(options.paths.begin(), options.paths.end());
  if (options.action == MemoryAction::kMerge) {
    if (paths.size() < 2)
      return Fail(ErrorCode::kUsage, "merge needs an output and at least one input",
                  "warpwright memory merge OUTPUT INPUT...");
    WW_ASSIGN(const memory::StoreContent content, memory::MergeStores({paths.begin() + 1, paths.end()}, paths.front()));
    for (const auto& warning : content.warnings) fmt::print(stderr, "warpwright: {}\n", base::Printable(warning));
    if (options.common.json)
      std::puts(json({{"experiences", content.experiences.size()},
                      {"lines", content.lines},
                      {"duplicates", content.duplicates},
                      {"bad", content.bad}})
                    .dump(2)
                    .c_str());
    else
      fmt::print("{} experiences in {} ({} lines read, {} duplicates, {} bad)\n", content.experiences.size(),
                 paths.front().string(), content.lines, content.duplicates, content.bad);
    return kExitDone;
  }
  for (const std::string& path : options.paths) WW_TRY(CheckNamedFile("stores", path));
  if (paths.empty()) {
    WW_ASSIGN(const Session session, Session::Open(options.common));
    paths = {session.workspace().experience_file()};
  }
  return Show(paths, options.common.json);
}

}  // namespace warpwright::cli
