#include "sim/cache_model.h"

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace warpwright::sim {

namespace {

LoadsByLevel& At(std::vector<LoadsByLevel>& levels, uint32_t line) {
  if (line >= levels.size()) levels.resize(line + 1);
  return levels[line];
}

}  // namespace

void Traffic::Add(const Traffic& other) {
  l1_tags += other.l1_tags;
  l2_read_slots += other.l2_read_slots;
  l2_write_slots += other.l2_write_slots;
  l2_atomic_slots += other.l2_atomic_slots;
}

uint32_t LineTag(uint64_t line) {
  const uint64_t offset = line - kGlobalBase / 128;
  return offset < 0x7fff'ffff ? static_cast<uint32_t>(offset) + 1
                              : static_cast<uint32_t>(base::MixBits(line)) | 0x8000'0000;
}

L1Model::L1Model(const core::Chip& chip, uint64_t share_bytes)
    : multiprocessors_(chip.multiprocessors),
      share_bytes_(share_bytes),
      caches_(static_cast<size_t>(chip.multiprocessors)) {}
L1Model::~L1Model() = default;

SectorCache& L1Model::CacheOf(uint64_t block) {
  auto& cache = caches_[block % static_cast<uint64_t>(multiprocessors_)];
  if (!cache) cache = std::make_unique<SectorCache>(share_bytes_);
  return *cache;
}

L1Model::WarpLog& L1Model::LogOf(const MemoryRequest& request) {
  block_ = request.block;
  if (request.warp >= warps_.size()) warps_.resize(request.warp + 1);
  if (held_ >= kMaxHeldAccesses) Replay();
  WarpLog& log = warps_[request.warp];
  log.requests.MakeRoom(1);
  log.tags.MakeRoom(request.count + MemoryRequest::kPadding);
  log.sectors.MakeRoom(request.count + MemoryRequest::kPadding);
  return log;
}

void L1Model::Replay() {
  if (held_ == 0) return;
  std::vector<Cursor> running;
  for (const WarpLog& log : warps_)
    if (log.requests.size() > 0)
      running.push_back({log.requests.begin(), log.requests.end(), log.tags.begin(), log.sectors.begin()});
  misses_.MakeRoom(held_ + 1);
  while (!running.empty()) {
    ReplayRounds(CacheOf(block_), running);
    std::erase_if(running, [](const Cursor& warp) { return warp.next == warp.end; });
  }
  for (WarpLog& log : warps_) {
    log.requests.Clear();
    log.tags.Clear();
    log.sectors.Clear();
  }
  held_ = 0;
}

LoadsByLevel& L1Model::LevelsOf(uint32_t line) { return At(levels_, line); }
LoadsByLevel& L2Model::LevelsOf(uint32_t line) { return At(result_.levels, line); }

void L1Model::FinishBlock(uint64_t block) {
  const size_t first = blocks_.empty() ? 0 : blocks_.back().last;
  block_ = block;
  Replay();
  blocks_.push_back({block, first, misses_.size()});
}

void L1Model::ClearMisses() {
  misses_.Clear();
  blocks_.clear();
}

L2Model::L2Model(const core::Chip& chip)
    : capacity_(static_cast<uint64_t>(chip.l2_bytes)), cache_(capacity_), atomic_counts_(1024) {}

void L2Model::BeginBlock(size_t accesses) {
  if (touches_.size() < 2 * accesses) {
    touches_.assign(std::bit_ceil(2 * accesses), LastAccess());
    block_ = 0;
  }
  ++block_;
  touched_ = 0;
}

void L2Model::CountAtomics(uint32_t tag, uint64_t sectors) {
  const uint64_t place = ((tag - 1) >> 3) + 1;  // 1 KiB
  if (atomic_used_ * 2 > atomic_counts_.size()) {
    std::vector<std::pair<uint64_t, uint64_t>> old(atomic_counts_.size() * 2);
    old.swap(atomic_counts_);
    for (const auto& [key, count] : old) {
      if (key == 0) continue;
      size_t at = base::MixBits(key) & (atomic_counts_.size() - 1);
      while (atomic_counts_[at].first != 0) at = (at + 1) & (atomic_counts_.size() - 1);
      atomic_counts_[at] = {key, count};
    }
  }
  size_t at = base::MixBits(place) & (atomic_counts_.size() - 1);
  while (atomic_counts_[at].first != 0 && atomic_counts_[at].first != place)
    at = (at + 1) & (atomic_counts_.size() - 1);
  if (atomic_counts_[at].first == 0) ++atomic_used_;
  atomic_counts_[at].first = place;
  atomic_counts_[at].second += sectors;
  result_.hottest_atomics = std::max(result_.hottest_atomics, atomic_counts_[at].second);
}

void L2Model::Write(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t kept = std::min(bytes, capacity_);  // earlier parts of a larger write are evicted anyway
  address += bytes - kept;
  for (uint64_t sector = address / 32; sector <= (address + kept - 1) / 32; ++sector) {
    const uint32_t tag = LineTag(sector / 4);
    cache_.Touch(cache_.SetIndex(tag), tag, 1u << (sector & 3), 0);
  }
}

void L2Model::WriteBack() { result_.counters.dram_write_bytes += 32 * cache_.CleanAll(); }

L2Model::KernelResult L2Model::FinishKernel() {
  WriteBack();
  atomic_counts_.assign(1024, {});
  atomic_used_ = 0;
  return std::exchange(result_, {});
}

}  // namespace warpwright::sim
