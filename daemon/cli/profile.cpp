#include "app/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "core/computation_text.h"

namespace warpwright::cli {
namespace {

using nlohmann::json;

json CaseJson(const core::CaseMeasurement& c) {
  json launches = json::array();
  for (const auto& launch : c.launches) {
    json counters = json::object();
    for (const auto& field : core::Fields(launch.counters)) counters[std::string(field.name)] = field.value;
    json lines = json::array();
    for (const auto& line : launch.lines)
      lines.push_back({{"file", line.file},
                       {"line", line.line},
                       {"warp_instructions", line.warp_instructions},
                       {"global_sectors", line.global_sectors},
                       {"shared_wavefronts", line.shared_wavefronts},
                       {"divergent_branches", line.divergent_branches}});
    launches.push_back({{"kernel", launch.kernel},
                        {"registers", launch.registers},
                        {"threads_per_block", launch.threads_per_block},
                        {"shared_bytes_per_block", launch.shared_bytes_per_block},
                        {"blocks", launch.blocks_total},
                        {"blocks_simulated", launch.blocks_run},
                        {"time_us", launch.time.total_us},
                        {"limiter", launch.time.limiter},
                        {"occupancy", launch.occupancy.achieved},
                        {"counters", counters},
                        {"lines", lines}});
  }
  return {{"case", c.case_name}, {"time_us", c.time_us}, {"sampled", c.sampled}, {"launches", launches}};
}

// One line; "" if it is not known.
std::string HeadlineOf(const app::ProfiledKernel& kernel) {
  const auto* lifted = kernel.lifted ? std::get_if<core::Lifted>(&*kernel.lifted) : nullptr;
  return lifted != nullptr ? core::Headline(lifted->computation) : std::string();
}

// null: not lifted, or too large to count.
json FormulaJson(const agents::ExtractedFeatures& features) {
  if (!features.formula) return nullptr;
  const core::ComputationFacts& facts = *features.formula;
  json operands = json::object();
  for (const auto& operand : facts.operands)
    operands[operand.tensor] = {{"elements", operand.elements}, {"uses", operand.uses}, {"reuse", operand.reuse()}};
  return {{"operation", core::Name(facts.operation)},
          {"digest", features.evidence.form},
          {"shape_class", features.evidence.shape},
          {"flops", facts.flops()},
          {"read_bytes", facts.read_bytes},
          {"written_bytes", facts.written_bytes},
          {"exact", facts.exact},
          {"operands", operands},
          {"in_words", core::InWords(facts)}};
}

json ToJson(const app::ProfiledKernel& kernel, const std::string& device) {
  if (kernel.error) return {{"kernel", kernel.spec.name}, {"verdict", "error"}, {"message", kernel.error->Format()}};
  const core::Measured* measured = kernel.measured();
  if (measured == nullptr)
    return {{"kernel", kernel.spec.name},
            {"verdict", core::VerdictName(kernel.original)},
            {"message", core::VerdictMessage(kernel.original)}};
  const agents::ExtractedFeatures& features = *kernel.features;
  const std::string headline = HeadlineOf(kernel);
  json cases = json::array();
  for (const auto& c : measured->cases) cases.push_back(CaseJson(c));
  json evidence = json::object();
  for (const auto& [name, value] : features.evidence.values()) evidence[name] = value;
  return {{"kernel", kernel.spec.name},
          {"device", device},
          {"computes", headline.empty() ? json(nullptr) : json(headline)},
          {"modelled", measured->modelled},
          {"cases", cases},
          {"evidence", evidence},
          {"hottest", features.kernel},
          {"operation", core::Name(features.evidence.operation)},
          {"formula", FormulaJson(features)},
          {"dtype", features.evidence.dtype},
          {"floor_us", features.roofline.floor_us},
          {"counted_floor_us", features.counted_roofline.floor_us}};
}

// Both where they differ.
std::string FloorInWords(const agents::ExtractedFeatures& features) {
  const double floor = features.roofline.floor_us, counted = features.counted_roofline.floor_us;
  if (!features.roofline.of_formula) return fmt::format("{:.2f} us by buffers and counters", floor);
  if (std::abs(floor - counted) < 0.005) return fmt::format("{:.2f} us", floor);
  return fmt::format("{:.2f} us by the formula, {:.2f} us by buffers and counters", floor, counted);
}

void Print(const app::ProfiledKernel& kernel, const core::Chip& chip) {
  const core::KernelSpec& spec = kernel.spec;
  const core::Measured& measured = *kernel.measured();
  const agents::ExtractedFeatures& features = *kernel.features;
  fmt::print("{} ({}), modelled on {} (simulated)\n", spec.name, spec.entry, chip.name);
  if (const std::string headline = HeadlineOf(kernel); !headline.empty())
    fmt::print("  {}\n", base::Printable(headline));
  if (features.formula)
    for (const std::string& words : core::InWords(*features.formula)) fmt::print("    {}\n", base::Printable(words));
  for (const auto& c : measured.cases)
    for (const auto& launch : c.launches) {
      const std::string limit = launch.time.limiter.empty() ? "not counted" : launch.time.limiter + " bound";
      fmt::print("  {:14} {:40} {:10.2f} us  {}, {} of {} blocks simulated, occupancy {:.0f} %\n", c.case_name,
                 launch.kernel, launch.time.total_us, limit, launch.blocks_run, launch.blocks_total,
                 100 * launch.occupancy.achieved);
    }
  fmt::print("  roofline floor {}; evidence of {} in case {}:\n", FloorInWords(features), features.kernel,
             features.case_name);
  for (const auto& field : core::EvidenceFields())
    if (const auto value = features.evidence.Get(field.name); value && *value != 0)
      fmt::print("    {:28} {:12.4g} {}\n", field.name, *value, field.unit);
  for (const auto& line : features.hot_lines) fmt::print("    hot: {}\n", line);
}

}  // namespace

Result<int> RunProfile(const CommonOptions& options) {
  WW_ASSIGN(const Session session, Session::Open(options));
  worker::WorkerEvaluator worker = session.MakeWorker();
  Progress progress(options.quiet || options.json);
  const auto print = [&](const app::ProfiledKernel& kernel) {
    if (!options.json && kernel.features) Print(kernel, session.workspace().device().chip);
  };
  const app::JudgingServices services{
      .trusted = worker, .toolchain = session.Toolchain(), .progress = progress.Callbacks()};
  WW_ASSIGN(const auto profiled, app::ProfileWorkingTree(session.workspace(), services, print));
  if (options.json) {
    json kernels = json::array();
    for (const app::ProfiledKernel& kernel : profiled) kernels.push_back(ToJson(kernel, options.device));
    std::puts(base::DumpJson(json({{"device", options.device}, {"kernels", kernels}}), 2).c_str());
  }
  for (const app::ProfiledKernel& kernel : profiled)
    if (kernel.error) return ExitCodeOf(*kernel.error);
  const bool all = std::all_of(profiled.begin(), profiled.end(),
                               [](const app::ProfiledKernel& kernel) { return kernel.features.has_value(); });
  return all ? kExitDone : kExitUnverified;
}

}  // namespace warpwright::cli
