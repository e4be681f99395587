// The inner loops of the cache models. Compiled for AVX2 like the executor's handlers, under the same rule: nothing
// from the standard library that is not inlined (exec/lanes.h).
#include <cstring>

#include "sim/cache_model.h"

namespace warpwright::sim {

namespace {

using Kind = MemoryRequest::Kind;

constexpr size_t kChunk = 64;      // accesses to L2 whose sets are computed together, and prefetched
constexpr uint32_t kFewLines = 4;  // below this, computing the sets together does not pay

// L2 space for a line, in units of 64 bytes: half of what is read is in both halves of L2.
constexpr uint32_t kTouchUnit = 64, kReadTouch = 3, kWriteTouch = 2;
constexpr uint32_t kNearTouches = 96;  // a reuse this soon does not count as another touch of the line

uint32_t Count(uint32_t sectors) { return static_cast<uint32_t>(__builtin_popcount(sectors)); }

}  // namespace

void L1Model::OnRequest(const MemoryRequest& request) {
  WarpLog* log = request.warp < warps_.size() ? &warps_[request.warp] : nullptr;
  constexpr uint32_t kStep = MemoryRequest::kPadding + 1;
  const size_t room = request.count + MemoryRequest::kPadding;
  if (!log || log->requests.room() == 0 || log->tags.room() < room || log->sectors.room() < room ||
      held_ >= kMaxHeldAccesses || block_ != request.block)
    log = &LogOf(request);
  *log->requests.end() = {.line = request.line & LineAccess::kMaxLine,
                          .lines = static_cast<uint8_t>(request.count),
                          .kind = static_cast<uint8_t>(request.kind),
                          .cached = request.cached_in_l1,
                          .collisions = static_cast<uint8_t>(request.collisions & 31)};
  uint32_t* tags = log->tags.end();
  uint8_t* sectors = log->sectors.end();
  for (uint32_t k = 0; k < request.count; k += kStep) {  // whole steps: the next request overwrites the rest
    for (uint32_t j = 0; j < kStep; ++j) tags[k + j] = request.first_tag + request.lines[k + j];
    std::memcpy(sectors + k, request.sectors + k, kStep);
  }
  log->requests.Advance(1);
  log->tags.Advance(request.count);
  log->sectors.Advance(request.count);
  held_ += request.count;
}

// Each warp's next requests in turns, until one has no more.
void L1Model::ReplayRounds(SectorCache& cache, std::vector<Cursor>& warps) {
  for (bool ended = false; !ended;) {
    for (Cursor& warp : warps) {
      const Request& request = *warp.next;
      if (request.kind == static_cast<uint8_t>(Kind::kRead)) ReplayRead(cache, request, warp);
      else ReplayWrite(cache, request, warp);
      warp.tags += request.lines;
      warp.sectors += request.lines;
      ended |= ++warp.next == warp.end;
    }
  }
}

void L1Model::ReplayRead(SectorCache& cache, const Request& request, const Cursor& lines) {
  LineAccess* const room = misses_.end();
  LineAccess* miss = room;
  const LineAccess access(Kind::kRead, request.line);
  uint32_t all_sectors = 0, missed_sectors = 0, slots = 0;
  // Copies: stores of bytes may alias anything that is not local to the function.
  const uint32_t* const tags = lines.tags;
  const uint8_t* const masks = lines.sectors;
  const uint32_t count = request.lines;
  const auto after = [&](uint32_t k, uint32_t before) __attribute__((always_inline)) {
    const uint32_t sectors = masks[k], missing = sectors & ~before, missed = Count(missing);
    all_sectors += Count(sectors);
    missed_sectors += missed;
    slots += missed + (missed == 1);
    *miss = access.At(tags[k], missing);  // retained only if something is missing: cheaper than a branch
    miss += missing != 0;
  };
  if (!request.cached) {
    for (uint32_t k = 0; k < count; ++k) after(k, 0);
  } else if (count < kFewLines) {
    for (uint32_t k = 0; k < count; ++k) after(k, cache.ReadAgain(tags[k], masks[k]));
  } else {
    uint32_t sets[MemoryRequest::kMaxLines];
    for (uint32_t k = 0; k < count; ++k) sets[k] = cache.SetIndex(tags[k]);
    cache.BeforeReads();
    for (uint32_t k = 0; k < count; ++k) after(k, cache.Read(sets[k], tags[k], masks[k]));
  }
  counters_.l1_hit_sectors += all_sectors - missed_sectors;
  counters_.l1_miss_sectors += missed_sectors;
  counters_.l2_read_bytes += 32 * missed_sectors;
  traffic_.l2_read_slots += slots;
  traffic_.l1_tags += request.lines;
  if (missed_sectors == 0) {
    ++(request.line < levels_.size() ? levels_[request.line] : LevelsOf(request.line)).l1;
  } else {
    room->BeginRequest();
    misses_.Advance(static_cast<size_t>(miss - room));
  }
}

void L1Model::ReplayWrite(SectorCache& cache, const Request& request, const Cursor& lines) {
  LineAccess* const room = misses_.end();
  const bool atomic = request.kind == static_cast<uint8_t>(Kind::kAtomic);
  const auto kind = static_cast<Kind>(request.kind);
  const LineAccess first(kind, request.line, request.collisions), next(kind, request.line);
  uint32_t sector_count = 0;
  for (uint32_t k = 0; k < request.lines; ++k) {
    const uint32_t sectors = lines.sectors[k];
    sector_count += Count(sectors);
    if (atomic) cache.Invalidate(lines.tags[k], sectors);  // a later load must not find the old value
    room[k] = (k == 0 ? first : next).At(lines.tags[k], sectors);
  }
  room->BeginRequest();
  misses_.Advance(request.lines);
  counters_.l2_write_bytes += 32 * sector_count;
  if (atomic) {
    traffic_.l2_atomic_slots += sector_count + request.collisions;
  } else {
    traffic_.l2_write_slots += 8 * request.lines + 3 * sector_count;
    traffic_.l1_tags += request.lines;
  }
}

// Whether what the resident blocks have touched since this block last touched the line has evicted it from L2.
bool L2Model::IsEvictedBeforeReuse(const LineAccess& access, uint64_t together, uint64_t& evicted_sectors) {
  const size_t mask = touches_.size() - 1;
  size_t at = (access.tag() * 0x9e3779b1u >> 7) & mask;
  while (touches_[at].block == block_ && touches_[at].tag != access.tag()) at = (at + 1) & mask;
  LastAccess& touch = touches_[at];
  const bool known = touch.block == block_, writes = access.kind() != Kind::kRead;
  const uint32_t since = touched_ - touch.when;
  bool late = false;
  if (known && since > kNearTouches) {
    late = since * static_cast<uint64_t>(kTouchUnit) * together > capacity_;
    if (late) {
      evicted_sectors += Count(touch.dirty);
      touch.dirty = 0;
    }
  }
  if (!known) touch = {access.tag(), block_, 0, 0};
  if (!known || since > kNearTouches) touched_ += writes ? kWriteTouch : kReadTouch;
  touch.when = touched_;
  if (writes) touch.dirty |= access.sectors();
  return late;
}

void L2Model::Consume(std::span<const LineAccess> misses, uint64_t together) {
  const bool in_step = together > 1 && misses.size() * kReadTouch * kTouchUnit * together > capacity_;
  if (in_step) BeginBlock(misses.size());
  uint64_t hit_sectors = 0, missed_sectors = 0, fetched_sectors = 0, evicted_sectors = 0;
  uint64_t missed_before = 0;  // the request
  uint32_t sets[kChunk];
  for (size_t begin = 0; begin < misses.size(); begin += kChunk) {
    const size_t count = misses.size() - begin < kChunk ? misses.size() - begin : kChunk;
    for (size_t k = 0; k < count; ++k) sets[k] = cache_.SetIndex(misses[begin + k].tag());
    for (size_t k = 0; k < count; ++k) cache_.Prefetch(sets[k]);
    for (size_t k = 0; k < count; ++k) {
      const LineAccess access = misses[begin + k];
      const Kind kind = access.kind();
      const uint32_t sectors = access.sectors();
      if (access.first()) missed_before = missed_sectors;
      if (kind == Kind::kAtomic) CountAtomics(access.tag(), Count(sectors) + access.collisions());
      const SectorCache::Outcome outcome =
          cache_.Touch(sets[k], access.tag(), sectors, kind == Kind::kRead ? 0 : sectors);
      const uint32_t before = in_step && IsEvictedBeforeReuse(access, together, evicted_sectors) ? 0 : outcome.before;
      const uint32_t missing = kind == Kind::kWrite ? 0 : sectors & ~before;  // a plain store needs nothing from memory
      hit_sectors += Count(sectors & ~missing);
      evicted_sectors += outcome.evicted_dirty_sectors;
      if (missing != 0) {
        uint32_t fetched = missing;
        if (kind == Kind::kRead) {  // DRAM delivers pairs of sectors
          fetched = (((missing | missing >> 1) & 5) * 3) & ~before;
          SectorCache::AddValid(outcome, fetched);
        }
        missed_sectors += Count(missing);
        fetched_sectors += Count(fetched);
      }
      const bool last = begin + k + 1 == misses.size() || misses[begin + k + 1].first();
      if (last && kind == Kind::kRead) {
        LoadsByLevel& levels =
            access.line() < result_.levels.size() ? result_.levels[access.line()] : LevelsOf(access.line());
        ++(missed_sectors > missed_before ? levels.dram : levels.l2);
      }
    }
  }
  core::Counters& counters = result_.counters;
  counters.l2_hit_sectors += hit_sectors;
  counters.l2_miss_sectors += missed_sectors;
  counters.dram_read_bytes += 32 * fetched_sectors;
  counters.dram_write_bytes += 32 * evicted_sectors;
}

}  // namespace warpwright::sim
