#include "sim/work_by_phase.h"

#include <algorithm>
#include <cmath>

namespace warpwright::sim {

std::vector<Work> WorkByPhase(const KernelCode& kernel, const ScheduleModel& shape, const core::Chip& chip,
                              int warps_per_block, const BlockCounts& counts,
                              const std::function<LineCost(uint32_t)>& line_cost) {
  const std::vector<Work> blocks = BlockWork(kernel, shape, chip, warps_per_block, line_cost);
  const std::vector<Work> slower =
      BlockWork(kernel, shape, chip, warps_per_block, [&](uint32_t line) {  // DRAM takes twice as long
        LineCost cost = line_cost(line);
        cost.load_cycles += cost.dram_cycles;
        return cost;
      });
  std::vector<Work> phases, longest;
  double longest_path = -1;
  for (const auto& of_warp : counts) {
    std::vector<Work> warp = PhaseWork(blocks, shape, of_warp);
    const std::vector<Work> slow = PhaseWork(slower, shape, of_warp);
    phases.resize(warp.size());
    double path = 0;
    for (size_t i = 0; i < warp.size(); ++i) {
      phases[i].Add(warp[i], 1);
      warp[i].dram_cycles = slow[i].path_cycles - warp[i].path_cycles;
      path += warp[i].path_cycles;
    }
    if (path > longest_path) longest = std::move(warp);
    longest_path = std::max(longest_path, path);
  }
  for (size_t i = 0; i < phases.size(); ++i) {
    phases[i].path_cycles = longest[i].path_cycles * static_cast<double>(counts.size());
    phases[i].dram_cycles = longest[i].dram_cycles * static_cast<double>(counts.size());
  }
  return phases;
}

double WaitsOfFirstPhase(const KernelCode& kernel, const ScheduleModel& shape, const core::Chip& chip,
                         const BlockCounts& counts, double blocks) {
  constexpr double kLong = 1e6;  // cycles: a latency that dwarfs everything else
  const std::vector<Work> work = BlockWork(kernel, shape, chip, 1, [](uint32_t) {
    LineCost cost;
    cost.load_cycles = kLong;
    return cost;
  });
  std::vector<double> waits;
  for (const auto& of_warp : counts) {
    const std::vector<Work> warp = PhaseWork(work, shape, of_warp);
    waits.resize(warp.size());
    for (size_t i = 0; i < warp.size(); ++i)
      waits[i] = std::max(waits[i], std::floor(warp[i].path_cycles / kLong / std::max(blocks, 1.0)));
  }
  const auto first = std::find_if(waits.begin(), waits.end(), [](double n) { return n >= 1; });
  return first == waits.end() ? 0 : *first;
}

}  // namespace warpwright::sim
