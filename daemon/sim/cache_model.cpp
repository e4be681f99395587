#include "sim/cache_model.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/random.h"

namespace warpwright::sim {

namespace {

constexpr size_t kMaxReplaySectors = 4 << 20;  // 32 MiB of addresses
constexpr uint64_t kGlobalBaseLine = kGlobalBase / 128;

// Calls visit(sectors) for each run of sectors of one line.
template <typename Visit>
void ForEachLine(const uint64_t* sectors, size_t count, Visit visit) {
  for (size_t i = 0; i < count;) {
    size_t end = i + 1;
    while (end < count && sectors[end] / 4 == sectors[i] / 4) ++end;
    visit(static_cast<uint64_t>(end - i));
    i = end;
  }
}

LoadLevels& At(std::vector<LoadLevels>& levels, uint32_t line) {
  if (line >= levels.size()) levels.resize(line + 1);
  return levels[line];
}

}  // namespace

void Traffic::Add(const Traffic& other) {
  l1_tags += other.l1_tags;
  l2_read_slots += other.l2_read_slots;
  l2_write_slots += other.l2_write_slots;
}

SectorCache::SectorCache(uint64_t bytes) {
  const auto sets = static_cast<uint32_t>(std::max<uint64_t>(1, bytes / (128 * kWays)));
  while (group_bits_ < kMaxGroupBits && sets >> (group_bits_ + 3) != 0) ++group_bits_;  // at least four groups, so that little is rounded off
  groups_ = sets >> group_bits_;
  set_count_ = groups_ << group_bits_;
  sets_.reset(static_cast<Set*>(std::aligned_alloc(64, set_count_ * sizeof(Set))));
  if (!sets_) throw std::bad_alloc();
  std::memset(static_cast<void*>(sets_.get()), 0, set_count_ * sizeof(Set));
}

// A bit for each way that holds the tag.
uint32_t SectorCache::Match(const Set& set, uint32_t tag) {
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
  const auto* tags = reinterpret_cast<const __m128i*>(set.tags.data());
  const auto equal = [&](int i) { return _mm_cmpeq_epi32(_mm_load_si128(tags + i), wanted); };
  const __m128i low = _mm_packs_epi32(equal(0), equal(1)), high = _mm_packs_epi32(equal(2), equal(3));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}

SectorCache::Place SectorCache::Find(uint64_t sector) const {
  // Global lines are less than 2^31 behind the base and keep their number as tag; local ones (addresses above 2^58 sectors) are hashed.
  const uint64_t line = sector / 4;
  const uint64_t offset = line - kGlobalBaseLine;
  const uint32_t tag = offset < 0x7fff'ffff ? static_cast<uint32_t>(offset) + 1 : static_cast<uint32_t>(MixBits(line)) | 0x8000'0000;
  // Neighbouring lines have neighbouring sets (the host's caches like that), and a stride of any power of two reaches all sets.
  const uint32_t group = tag >> group_bits_;
  const uint32_t hash = (group ^ (group >> 11)) * 0x9e3779b1u;
  const uint32_t place = static_cast<uint32_t>((static_cast<uint64_t>(hash) * groups_) >> 32);
  const uint32_t within = (tag ^ (hash >> 8)) & ((1u << group_bits_) - 1);
  return {&sets_[(place << group_bits_) | within], tag, static_cast<uint8_t>(1u << (sector & 3))};
}

SectorCache::Outcome SectorCache::Touch(uint64_t sector, Access access) {
  const Place place = Find(sector);
  Set& set = *place.set;
  const uint8_t bits = static_cast<uint8_t>(place.bit | (access == Access::kWrite ? place.bit << 4 : 0));
  if (set.tags[0] == place.tag) {  // the line just used: most sectors of a request
    const bool hit = set.sectors[0] & place.bit;
    set.sectors[0] |= bits;
    return {hit, 0};
  }
  const uint32_t found = Match(set, place.tag);
  const int way = found ? __builtin_ctz(found) : kWays - 1;  // the last is the least recently used
  Outcome outcome;
  uint8_t sectors = 0;
  if (found) {
    sectors = set.sectors[way];
    outcome.hit = sectors & place.bit;
  } else {
    outcome.evicted_dirty_sectors = static_cast<uint32_t>(__builtin_popcount(set.sectors[way] >> 4));
  }
  std::memmove(&set.tags[1], &set.tags[0], way * sizeof(uint32_t));
  std::memmove(&set.sectors[1], &set.sectors[0], way);
  set.tags[0] = place.tag;
  set.sectors[0] = sectors | bits;
  return outcome;
}

bool SectorCache::Contains(uint64_t sector) const {
  const Place place = Find(sector);
  const uint32_t found = Match(*place.set, place.tag);
  return found && (place.set->sectors[__builtin_ctz(found)] & place.bit);
}

void SectorCache::Invalidate(uint64_t sector) {
  const Place place = Find(sector);
  if (const uint32_t found = Match(*place.set, place.tag))
    place.set->sectors[__builtin_ctz(found)] &= static_cast<uint8_t>(~(place.bit | place.bit << 4));
}

uint64_t SectorCache::CleanAll() {
  uint64_t dirty = 0;
  for (uint32_t i = 0; i < set_count_; ++i)
    for (uint8_t& sectors : sets_[i].sectors) {
      dirty += static_cast<uint64_t>(__builtin_popcount(sectors >> 4));
      sectors &= 0x0f;
    }
  return dirty;
}

L1Model::L1Model(const Chip& chip, uint64_t share_bytes)
    : multiprocessors_(chip.multiprocessors), share_bytes_(share_bytes), caches_(static_cast<size_t>(chip.multiprocessors)) {}
L1Model::~L1Model() = default;

SectorCache& L1Model::CacheOf(uint64_t block) {
  auto& cache = caches_[block % static_cast<uint64_t>(multiprocessors_)];
  if (!cache) cache = std::make_unique<SectorCache>(share_bytes_);
  return *cache;
}

void L1Model::OnRequest(const MemoryRequest& request) {
  block_ = request.block;
  if (request.warp >= warps_.size()) warps_.resize(request.warp + 1);
  if (sectors_.size() + request.sectors.size() > kMaxReplaySectors) Replay();
  warps_[request.warp].push_back({request.line, static_cast<uint32_t>(sectors_.size()), static_cast<uint32_t>(request.sectors.size()),
                                  request.kind, request.cached_in_l1});
  sectors_.insert(sectors_.end(), request.sectors.begin(), request.sectors.end());
}

void L1Model::Replay() {
  size_t longest = 0;
  for (const auto& warp : warps_) longest = std::max(longest, warp.size());
  for (size_t turn = 0; turn < longest; ++turn)
    for (const auto& warp : warps_)
      if (turn < warp.size()) ReplayRequest(warp[turn]);
  for (auto& warp : warps_) warp.clear();
  sectors_.clear();
}

void L1Model::ReplayRequest(const Request& request) {
  using Kind = MemoryRequest::Kind;
  SectorCache& cache = CacheOf(block_);
  const uint64_t* sectors = sectors_.data() + request.first;
  const size_t before = misses_.sectors.size();
  if (request.kind != Kind::kAtomic) ForEachLine(sectors, request.sectors, [&](uint64_t) { ++traffic_.l1_tags; });
  if (request.kind == Kind::kRead) {
    for (uint32_t i = 0; i < request.sectors; ++i)
      if (!request.cached || !cache.Touch(sectors[i], SectorCache::Access::kRead).hit) misses_.sectors.push_back(sectors[i]);
    const uint64_t misses = misses_.sectors.size() - before;
    counters_.l1_hit_sectors += request.sectors - misses;
    counters_.l1_miss_sectors += misses;
    counters_.l2_read_bytes += 32 * misses;
    ForEachLine(misses_.sectors.data() + before, misses, [&](uint64_t n) { traffic_.l2_read_slots += std::max<uint64_t>(n, 2); });
    if (misses == 0) ++At(levels_, request.line).l1;
  } else {
    misses_.sectors.insert(misses_.sectors.end(), sectors, sectors + request.sectors);
    counters_.l2_write_bytes += 32ull * request.sectors;
    if (request.kind == Kind::kWrite)
      ForEachLine(sectors, request.sectors, [&](uint64_t n) { traffic_.l2_write_slots += 8 + 3 * std::min<uint64_t>(n, 4); });
    if (request.kind == Kind::kAtomic)  // a later load must not find the old value
      for (uint32_t i = 0; i < request.sectors; ++i) cache.Invalidate(sectors[i]);
  }
  const size_t sent = misses_.sectors.size() - before;
  if (sent > 0) misses_.requests.push_back({request.line, static_cast<uint32_t>(sent), request.kind});
}

MissStream L1Model::FinishBlock(uint64_t block) {
  block_ = block;
  Replay();
  return std::exchange(misses_, {});
}

L2Model::L2Model(const Chip& chip) : capacity_(static_cast<uint64_t>(chip.l2_bytes)), cache_(capacity_), atomic_counts_(1024) {}

void L2Model::Consume(const MissStream& stream) {
  using Kind = MemoryRequest::Kind;
  Counters& counters = result_.counters;
  const uint64_t* sector = stream.sectors.data();
  for (const MissStream::Request& request : stream.requests) {
    uint64_t missed = 0, extra = 0, evicted = 0;
    const uint64_t* const begin = sector;
    for (const uint64_t* const end = sector + request.sectors; sector != end; ++sector) {
      const auto access = request.kind == Kind::kRead ? SectorCache::Access::kRead : SectorCache::Access::kWrite;
      const SectorCache::Outcome outcome = cache_.Touch(*sector, access);
      evicted += outcome.evicted_dirty_sectors;
      if (request.kind == Kind::kAtomic) CountAtomic(*sector);
      if (outcome.hit || request.kind == Kind::kWrite) continue;  // a plain store needs nothing from memory
      ++missed;
      const uint64_t neighbour = *sector ^ 1;
      const bool asked = (sector + 1 != end && sector[1] == neighbour) || (sector != begin && sector[-1] == neighbour);
      if (asked) continue;
      const SectorCache::Outcome pair = cache_.Touch(neighbour, SectorCache::Access::kRead);
      evicted += pair.evicted_dirty_sectors;
      extra += !pair.hit;
    }
    counters.l2_hit_sectors += request.sectors - missed;
    counters.l2_miss_sectors += missed;
    counters.dram_read_bytes += 32 * (missed + extra);
    counters.dram_write_bytes += 32 * evicted;
    if (request.kind == Kind::kRead) ++(missed ? At(result_.levels, request.line).dram : At(result_.levels, request.line).l2);
  }
}

void L2Model::CountAtomic(uint64_t sector) {
  const uint64_t place = sector / 32 + 1;
  if (atomic_used_ * 2 > atomic_counts_.size()) {
    std::vector<std::pair<uint64_t, uint64_t>> old(atomic_counts_.size() * 2);
    old.swap(atomic_counts_);
    for (const auto& [key, count] : old) {
      if (key == 0) continue;
      size_t at = MixBits(key) & (atomic_counts_.size() - 1);
      while (atomic_counts_[at].first != 0) at = (at + 1) & (atomic_counts_.size() - 1);
      atomic_counts_[at] = {key, count};
    }
  }
  size_t at = MixBits(place) & (atomic_counts_.size() - 1);
  while (atomic_counts_[at].first != 0 && atomic_counts_[at].first != place) at = (at + 1) & (atomic_counts_.size() - 1);
  if (atomic_counts_[at].first == 0) ++atomic_used_;
  atomic_counts_[at].first = place;
  result_.hottest_atomics = std::max(result_.hottest_atomics, ++atomic_counts_[at].second);
}

void L2Model::Write(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t kept = std::min(bytes, capacity_);  // earlier parts of a larger write are gone anyway
  address += bytes - kept;
  bytes = kept;
  for (uint64_t sector = address / 32; sector <= (address + bytes - 1) / 32; ++sector)
    cache_.Touch(sector, SectorCache::Access::kWrite);
  cache_.CleanAll();
}

void L2Model::WriteBack() { result_.counters.dram_write_bytes += 32 * cache_.CleanAll(); }

L2Model::KernelResult L2Model::FinishKernel() {
  WriteBack();
  atomic_counts_.assign(1024, {});
  atomic_used_ = 0;
  return std::exchange(result_, {});
}

}  // namespace warpwright::sim
