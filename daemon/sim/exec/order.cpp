#include "sim/exec/order.h"

#include <algorithm>
#include <bit>

#include "sim/exec/services.h"

namespace warpwright::sim {
namespace {

constexpr uint32_t kNoRead = UINT32_MAX;
constexpr size_t kMaxClockBytes = 32 << 20;  // of all locations; releases to further ones are not tracked
constexpr uint32_t kSearched = 4;            // entries of a list of reads that are compared with a new one

void JoinInto(uint32_t* into, const uint32_t* from, size_t count) {
  for (size_t i = 0; i < count; ++i) into[i] = std::max(into[i], from[i]);
}

uint32_t ThreadOf(const Context& c, uint32_t lane) { return c.warp->index * kLanes + lane; }

uint64_t PollKey(const Context& c, size_t granule, uint32_t lane) {
  return granule * c.order->threads + ThreadOf(c, lane);
}

// Adds what the lane knows, and what it did before its last fence, to a clock.
void Publish(const Context& c, uint32_t lane, std::vector<uint32_t>& clock) {
  const HappensBeforeState& o = *c.order;
  clock.resize(o.threads);
  const uint32_t warp = c.warp->index, thread = ThreadOf(c, lane);
  if (c.partial_barriers) {
    for (size_t w = 0; w < c.warps.size(); ++w)
      for (size_t l = 0; l < kLanes; ++l)
        clock[w * kLanes + l] = std::max(clock[w * kLanes + l], c.known[warp * c.warps.size() + w]);
  }
  uint32_t* own_warp = clock.data() + warp * kLanes;
  for (size_t l = 0; l < kLanes; ++l) own_warp[l] = std::max(own_warp[l], c.warp->synchronized);
  if (const auto& lanes = c.lanes_known[warp]; !lanes.empty()) JoinInto(own_warp, lanes.data() + lane * kLanes, kLanes);
  for (const uint32_t* row : {o.of_warp.Find(warp, c.barrier_time), o.of_lane.Find(thread, c.barrier_time)})
    if (row) JoinInto(clock.data(), row, o.threads);
  clock[thread] = std::max(clock[thread], o.fenced[thread]);
}

// nullptr: there are too many locations.
HappensBeforeState::SyncLocation* Release(Context& c, uint32_t lane, size_t granule) {
  HappensBeforeState& o = *c.order;
  auto place = o.locations.find(granule);
  if (place == o.locations.end()) {
    if ((o.locations.size() + 1) * o.threads * sizeof(uint32_t) > kMaxClockBytes) return nullptr;
    place = o.locations.emplace(granule, HappensBeforeState::SyncLocation{}).first;
  }
  Publish(c, lane, place->second.clock);
  place->second.writer = ThreadOf(c, lane);
  place->second.time = o.fenced[place->second.writer];
  return &place->second;
}

// The lane has read what was released: it knows it from its next fence on.
void Offer(Context& c, uint32_t lane, const HappensBeforeState::SyncLocation& place) {
  JoinInto(c.order->offered.Make(ThreadOf(c, lane), c.barrier_time), place.clock.data(), c.order->threads);
}

const HappensBeforeState::SyncLocation* FindPlace(const Context& c, size_t granule) {
  const auto place = c.order->locations.find(granule);
  return place == c.order->locations.end() ? nullptr : &place->second;
}

bool IsOrderedRead(const Context& c, uint32_t lane, const HappensBeforeState::Read& read) {
  // If the lanes are not known individually, any of them counts: it may have been the only one.
  const uint32_t lanes = read.lanes == 0 ? kAllLanes : read.lanes;
  bool all = true, any = false;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const bool ordered = Ordered(c, lane, {read.warp, static_cast<uint32_t>(std::countr_zero(m))}, read.time);
    all &= ordered;
    any |= ordered;
  }
  return read.lanes == 0 ? any : all;
}

void AddRead(HappensBeforeState& o, HappensBeforeState::Reads& reads, HappensBeforeState::Read read) {
  read.next = reads.head;
  if (o.free == kNoRead) {
    reads.head = static_cast<uint32_t>(o.pool.size());
    o.pool.push_back(read);
  } else {
    reads.head = o.free;
    o.free = o.pool[o.free].next;
    o.pool[reads.head] = read;
  }
  ++reads.length;
}

template <typename F>  // F: bool(Read&): drop it
void DropReads(HappensBeforeState& o, HappensBeforeState::Reads& reads, F drop) {
  uint32_t* link = &reads.head;
  while (*link != kNoRead) {
    HappensBeforeState::Read& read = o.pool[*link];
    if (drop(read)) {
      const uint32_t dropped = *link;
      *link = read.next;
      read.next = o.free;
      o.free = dropped;
      --reads.length;
    } else {
      link = &read.next;
    }
  }
}

// The list of a granule's reads, started from what was recorded before the ordering began.
HappensBeforeState::Reads& ReadsOf(Context& c, size_t granule) {
  HappensBeforeState& o = *c.order;
  HappensBeforeState::Reads& reads = o.reads[granule];
  const RaceShadow& r = c.race;
  const bool read = r.read_time[granule] >= c.barrier_time;
  if (reads.phase == c.barrier_time) {
    if (!read) DropReads(o, reads, [](const HappensBeforeState::Read&) { return true; });
    return reads;
  }
  reads = {kNoRead, c.barrier_time, 0, 8};
  if (!read) return reads;
  const bool one = std::has_single_bit(r.read_warps[granule]);
  for (uint32_t warps = r.read_warps[granule]; warps != 0; warps &= warps - 1) {
    const auto warp = static_cast<uint16_t>(std::countr_zero(warps));
    AddRead(o, reads,
            {.next = kNoRead,
             .time = r.read_time[granule],
             .lanes = one ? r.read_lanes[granule] : 0,
             .warp = warp,
             .strong = false,
             .answered = false,
             .at = nullptr});
  }
  return reads;
}

}  // namespace

uint32_t* VectorClocks::Make(size_t row, uint32_t phase) {
  if (times_.empty()) times_.resize(stamp_.size() * threads_);
  uint32_t* times = times_.data() + row * threads_;
  if (stamp_[row] != phase) std::fill_n(times, threads_, 0);
  stamp_[row] = phase;
  return times;
}

std::shared_ptr<HappensBeforeState> MakeOrder(size_t warps, size_t granules) {
  return std::make_shared<HappensBeforeState>(warps, granules);
}

void StartOrdering(Context& c) {
  c.ordering = true;
  c.race.quiet = 0;
}

bool HappensBefore(const Context& c, uint32_t thread, uint32_t other, uint32_t time) {
  for (const uint32_t* row :
       {c.order->of_warp.Find(thread / kLanes, c.barrier_time), c.order->of_lane.Find(thread, c.barrier_time)})
    if (row && row[other] > time) return true;
  return false;
}

bool IsReleased(const Context& c, uint32_t lane) { return c.order->fenced[ThreadOf(c, lane)] > c.barrier_time; }

bool IsSynchronizationPair(const Context& c, const Instruction* i, uint32_t lane, ThreadId writer, size_t granule) {
  const bool atomic = c.race.write_thread[granule] & kAtomicWrite;
  if (i->op == Op::kStore) return atomic && IsReleased(c, lane);  // a lock is released while others try it
  const HappensBeforeState::SyncLocation* place = FindPlace(c, granule);
  return atomic || writer.warp != c.warp->index || (place && place->atomic);
}

bool HasAcquired(const Context& c, uint32_t lane, ThreadId writer, size_t granule) {
  const HappensBeforeState::SyncLocation* place = FindPlace(c, granule);
  const uint32_t thread = writer.warp * kLanes + writer.lane;
  return place && !place->clock.empty() && place->writer == thread &&
         HappensBefore(c, ThreadOf(c, lane), thread, place->time - 1);
}

void NoteOrderedRead(Context& c, const Instruction* i, uint32_t lane, size_t granule) {
  HappensBeforeState& o = *c.order;
  HappensBeforeState::Reads& reads = ReadsOf(c, granule);
  const bool strong = i->is_volatile;
  bool answered = false;
  if (strong) {
    const uint32_t written = c.race.write_thread[granule] & ~kWriteFlags;
    const ThreadId writer{written / kLanes, written % kLanes};
    if (const HappensBeforeState::SyncLocation* place = FindPlace(c, granule); place && !place->clock.empty()) {
      Offer(c, lane, *place);
      answered = place->writer != ThreadOf(c, lane);
    }
    DropReads(o, reads, [&](HappensBeforeState::Read& read) {
      if (!read.strong || read.warp != c.warp->index) return false;
      read.lanes &= ~(1u << lane);
      return read.lanes == 0;
    });
    o.polls.erase(PollKey(c, granule, lane));
    if (!answered && !Ordered(c, lane, writer, c.race.write_time[granule]))
      o.polls[PollKey(c, granule, lane)] = {i, writer};
  }
  uint32_t at = reads.head;
  for (uint32_t k = 0; k < kSearched && at != kNoRead; ++k, at = o.pool[at].next) {
    HappensBeforeState::Read& read = o.pool[at];
    if (read.warp != c.warp->index || read.time != c.time || read.lanes == 0 || read.strong != strong ||
        read.answered != answered || (strong && read.at != i))
      continue;
    read.lanes |= 1u << lane;
    return;
  }
  if (reads.length >= reads.limit) {
    // What is ordered before this read is ordered before all that comes after it.
    DropReads(o, reads,
              [&](const HappensBeforeState::Read& read) { return !read.strong && IsOrderedRead(c, lane, read); });
    reads.limit = std::max(8u, 2 * reads.length);
  }
  AddRead(o, reads,
          {.next = kNoRead,
           .time = c.time,
           .lanes = 1u << lane,
           .warp = static_cast<uint16_t>(c.warp->index),
           .strong = strong,
           .answered = answered,
           .at = i});
}

bool CheckOrderedReads(Context& c, const Instruction* i, uint32_t lane, size_t granule, uint64_t offset, uint32_t bytes,
                       std::string_view what, uint32_t write_flags) {
  HappensBeforeState& o = *c.order;
  const HappensBeforeState::SyncLocation* place = FindPlace(c, granule);
  const bool used_by_atomics =
      (write_flags & kAtomicWrite) || (place && place->atomic) ||
      ((c.race.write_thread[granule] & kAtomicWrite) && c.race.write_time[granule] >= c.barrier_time);
  for (uint32_t at = ReadsOf(c, granule).head; at != kNoRead; at = o.pool[at].next) {
    const HappensBeforeState::Read& read = o.pool[at];
    if (IsOrderedRead(c, lane, read)) continue;
    if (read.lanes == 0) return ReportRace(c, i, lane, offset, bytes, what, {read.warp, 0}, "reads");
    for (uint32_t m = read.lanes; m != 0; m &= m - 1) {
      const ThreadId reader{read.warp, static_cast<uint32_t>(std::countr_zero(m))};
      if (Ordered(c, lane, reader, read.time)) continue;
      if (!read.strong || write_flags == 0 || (reader.warp == c.warp->index && !used_by_atomics))
        return ReportRace(c, i, lane, offset, bytes, what, reader, "reads");
      if (!read.answered)
        o.polls[granule * o.threads + reader.warp * kLanes + reader.lane] = {read.at, {c.warp->index, lane}};
    }
  }
  return true;
}

void OrderFence(Context& c) {
  HappensBeforeState& o = *c.order;
  StartOrdering(c);
  AdvanceTime(c);
  for (uint32_t m = c.mask; m != 0; m &= m - 1) {
    const uint32_t thread = ThreadOf(c, static_cast<uint32_t>(std::countr_zero(m)));
    o.fenced[thread] = c.time;
    const uint32_t* offered = o.offered.Find(thread, c.barrier_time);
    if (!offered) continue;
    JoinInto(o.of_lane.Make(thread, c.barrier_time), offered, o.threads);
    o.offered.Drop(thread);
  }
}

void OrderAtomic(Context& c, uint32_t lane, uint64_t offset, uint32_t bytes, bool wrote) {
  HappensBeforeState& o = *c.order;
  const uint32_t granule = c.race.granule;
  const bool releases = wrote && IsReleased(c, lane);
  if (o.polls.empty() && o.locations.empty() && !releases) return;
  for (size_t g = offset / granule; g <= (offset + bytes - 1) / granule; ++g) {
    o.polls.erase(PollKey(c, g, lane));
    const auto place = o.locations.find(g);
    if (place != o.locations.end() && !place->second.clock.empty()) Offer(c, lane, place->second);
    if (!releases) continue;
    if (HappensBeforeState::SyncLocation* released = Release(c, lane, g)) released->atomic = true;
  }
}

void OrderStore(Context& c, const Instruction* i, uint32_t lane, uint64_t offset, uint32_t bytes) {
  HappensBeforeState& o = *c.order;
  const bool releases = i->is_volatile && IsReleased(c, lane);
  if (o.locations.empty() && !releases) return;
  const uint32_t granule = c.race.granule;
  for (size_t g = offset / granule; g <= (offset + bytes - 1) / granule; ++g) {
    const bool by_atomic = (c.race.write_thread[g] & kAtomicWrite) && c.race.write_time[g] >= c.barrier_time;
    if (!releases) {
      o.locations.erase(g);
      continue;
    }
    if (const auto place = o.locations.find(g); place != o.locations.end()) place->second.clock.clear();
    if (HappensBeforeState::SyncLocation* released = Release(c, lane, g)) released->atomic |= by_atomic;
  }
}

void JoinWarpClocks(Context& c, uint32_t warps) {
  HappensBeforeState& o = *c.order;
  std::vector<uint32_t> joined;
  auto add = [&](const uint32_t* row) {
    if (!row) return;
    joined.resize(o.threads);
    JoinInto(joined.data(), row, o.threads);
  };
  for (uint32_t m = warps; m != 0; m &= m - 1) {
    const auto w = static_cast<size_t>(std::countr_zero(m));
    add(o.of_warp.Find(w, c.barrier_time));
    for (size_t t = w * kLanes; t < (w + 1) * kLanes; ++t) add(o.of_lane.Find(t, c.barrier_time));
  }
  if (joined.empty()) return;
  for (uint32_t m = warps; m != 0; m &= m - 1) {
    const auto w = static_cast<size_t>(std::countr_zero(m));
    std::copy(joined.begin(), joined.end(), o.of_warp.Make(w, c.barrier_time));
    for (size_t t = w * kLanes; t < (w + 1) * kLanes; ++t) o.of_lane.Drop(t);
  }
}

void JoinLaneClocks(Context& c, uint32_t members) {
  const Warp& warp = *c.warp;
  if ((members & warp.live) == warp.live) return JoinWarpClocks(c, 1u << warp.index);
  HappensBeforeState& o = *c.order;
  std::vector<uint32_t> joined;
  for (uint32_t m = members; m != 0; m &= m - 1) {
    const uint32_t* row = o.of_lane.Find(ThreadOf(c, static_cast<uint32_t>(std::countr_zero(m))), c.barrier_time);
    if (!row) continue;
    joined.resize(o.threads);
    JoinInto(joined.data(), row, o.threads);
  }
  if (joined.empty()) return;
  for (uint32_t m = members; m != 0; m &= m - 1)
    std::copy(joined.begin(), joined.end(),
              o.of_lane.Make(ThreadOf(c, static_cast<uint32_t>(std::countr_zero(m))), c.barrier_time));
}

void EndOrdering(Context& c, bool report) {
  HappensBeforeState& o = *c.order;
  if (report && !o.polls.empty() && !c.race_found) {
    const auto first = std::min_element(o.polls.begin(), o.polls.end(),
                                        [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto thread = static_cast<uint32_t>(first->first % o.threads);
    c.warp = &c.warps[thread / kLanes];
    c.race_found = true;
    ReportRace(c, first->second.at, thread % kLanes, first->first / o.threads * c.race.granule, c.race.granule,
               "a read of", first->second.other, "may or may not have written");
  }
  o.polls.clear();
  o.locations.clear();
  o.pool.clear();
  o.free = kNoRead;
  c.ordering = false;
  c.race.quiet = c.race.granule;
}

}  // namespace warpwright::sim
