#include "sim/launch_counts.h"

#include <algorithm>
#include <cmath>

namespace warpwright::sim {

namespace {

constexpr size_t kReportedLines = 50;

constexpr uint64_t core::LineCounters::* kLineFields[] = {
    &core::LineCounters::warp_instructions, &core::LineCounters::thread_instructions,
    &core::LineCounters::global_requests,   &core::LineCounters::global_sectors,
    &core::LineCounters::shared_requests,   &core::LineCounters::shared_wavefronts,
    &core::LineCounters::divergent_branches};

core::Counters Difference(const core::Counters& a, const core::Counters& b) {
  core::Counters result;
  const std::vector<core::NamedCounter> from = core::Fields(a), minus = core::Fields(b);
  for (size_t i = 0; i < from.size(); ++i) core::SetField(result, from[i].name, from[i].value - minus[i].value);
  return result;
}

}  // namespace

void AddLines(std::vector<core::LineCounters>& sum, const std::vector<core::LineCounters>& lines) {
  if (sum.size() < lines.size()) sum.resize(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    sum[i].file = lines[i].file;
    sum[i].line = lines[i].line;
    for (auto field : kLineFields) sum[i].*field += lines[i].*field;
  }
}

void AddLineUses(std::vector<core::LineUse>& sum, const std::vector<core::LineUse>& uses) {
  for (const core::LineUse& use : uses) {
    const auto same = std::find_if(sum.begin(), sum.end(), [&](const core::LineUse& known) {
      return known.line == use.line && known.file == use.file;
    });
    if (same == sum.end()) {
      sum.push_back(use);
      continue;
    }
    same->threads += use.threads;
    same->memory = same->memory || use.memory;
  }
}

void AddBlockCounts(BlockCounts& sum, const BlockCounts& counts) {
  sum.resize(std::max(sum.size(), counts.size()));
  for (size_t warp = 0; warp < counts.size(); ++warp) {
    sum[warp].resize(std::max(sum[warp].size(), counts[warp].size()));
    for (size_t i = 0; i < counts[warp].size(); ++i) sum[warp][i] += counts[warp][i];
  }
}

void Extrapolate(LaunchCounts& all, const LaunchCounts& from, const LaunchCounts& to, double factor) {
  core::Counters more = Difference(to.counters, from.counters);
  more.Scale(factor);
  all.counters.Add(more);
  const auto scaled = [&](uint64_t a, uint64_t b) {
    return static_cast<uint64_t>(std::llround(factor * static_cast<double>(a - b)));
  };
  for (uint64_t Traffic::* field :
       {&Traffic::l1_tags, &Traffic::l2_read_slots, &Traffic::l2_write_slots, &Traffic::l2_atomic_slots})
    all.traffic.*field += scaled(to.traffic.*field, from.traffic.*field);
  for (size_t warp = 0; warp < to.block_counts.size(); ++warp)
    for (size_t i = 0; i < to.block_counts[warp].size(); ++i)
      all.block_counts[warp][i] +=
          scaled(to.block_counts[warp][i], warp < from.block_counts.size() ? from.block_counts[warp][i] : 0);
  for (size_t i = 0; i < to.lines.size(); ++i)
    for (auto field : kLineFields)
      all.lines[i].*field += scaled(to.lines[i].*field, i < from.lines.size() ? from.lines[i].*field : 0);
}

std::vector<core::LineCounters> HottestLines(std::vector<core::LineCounters> lines) {
  const auto heat = [](const core::LineCounters& line) {
    return line.warp_instructions + line.global_sectors + line.shared_wavefronts;
  };
  std::erase_if(lines, [&](const core::LineCounters& line) { return heat(line) == 0 || line.line == 0; });
  std::stable_sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) { return heat(a) > heat(b); });
  if (lines.size() > kReportedLines) lines.resize(kReportedLines);
  return lines;
}

}  // namespace warpwright::sim
