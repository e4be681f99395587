#include "sim/exec/visibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/exec/race.h"

namespace warpwright::sim {
namespace {

std::string DescribeAddress(const Context& c, const Instruction* i, uint64_t address) {
  return DescribeAddress(c, address, Space::kGlobal, static_cast<uint32_t>(ByteSize(i->type)));
}

void ReportNotVisible(Context& c, const Instruction* i, uint32_t lane, uint64_t address, const std::string& why) {
  StopWithFault(c, i, core::Fault::Kind::kNotVisible, lane,
                fmt::format("read of {}{}", DescribeAddress(c, i, address), why));
}

void ReportRace(Context& c, const Instruction* i, uint32_t lane, uint64_t address, const char* what, uint32_t thread,
                const char* did) {
  const bool same_warp = thread / kLanes == c.warp->index;
  StopWithFault(c, i, core::Fault::Kind::kSharedRace, lane,
                fmt::format("race on global memory: {} of {} which thread {} {}, without {} in between", what,
                            DescribeAddress(c, i, address), ThreadName(c, thread / kLanes, thread % kLanes), did,
                            same_warp ? "__syncwarp()" : "__syncthreads()"));
}

bool IsAtomic(const Instruction* i) { return i->op == Op::kAtomic || i->op == Op::kReduction; }
bool IsStrong(const Instruction* i) { return i->is_volatile || IsAtomic(i); }

}  // namespace

Visibility::Cell& Visibility::At(uint64_t address) {
  const uint64_t cell = address / kCellBytes;
  if (cell / kPageCells != last_number_) {
    last_number_ = cell / kPageCells;
    std::unique_ptr<Page>& page = pages_[last_number_];
    if (!page) page = std::make_unique<Page>();
    last_ = page.get();
  }
  return (*last_)[cell % kPageCells];
}

void Visibility::NoteFence(const Context& c) {
  Fences& fences = fences_[c.block_index];
  if (fences.by_warp.empty()) {
    fences.by_warp.resize(c.warps.size());
    fences.by_thread.resize(c.warps.size() * kLanes);
  }
  ++fences.count;
  const bool followed = !c.partial_barriers && !c.ordering;
  fences.released = std::max(fences.released, followed ? c.barrier_time : c.time + 1);
  const uint32_t warp = c.warp->index;
  fences.by_warp[warp] = std::max(fences.by_warp[warp], c.warp->synchronized);
  for (uint32_t l = 0; l < kLanes; ++l)
    if (c.mask >> l & 1) fences.by_thread[warp * kLanes + l] = fences.count;
}

bool Visibility::IsReleased(const Access& write) const {
  const Fences& fences = fences_[write.block_and_one - 1];
  if (fences.count == write.fences) return false;
  return write.time < fences.released || write.time < fences.by_warp[write.thread / kLanes] ||
         fences.by_thread[write.thread] > write.fences;
}

Visibility::Access Visibility::Now(const Context& c, uint32_t lane) const {
  return {.block_and_one = static_cast<uint32_t>(c.block_index + 1),
          .thread = c.warp->index * kLanes + lane,
          .time = c.time,
          .fences = fences_[c.block_index].count,
          .clock = clocks_.Now(c.block_index)};
}

// Of another thread of the running block.
bool Visibility::IsRace(const Context& c, uint32_t lane, const Access& other) const {
  return other.block_and_one == c.block_index + 1 && other.fences == fences_[c.block_index].count &&
         !Ordered(c, lane, {other.thread / kLanes, other.thread % kLanes}, other.time);
}

bool Visibility::IsUnordered(const Context& c, const Access& other) const {
  return other.block_and_one != 0 && other.block_and_one != kStrong &&
         !clocks_.Knows(c.block_index, other.block_and_one - 1, other.clock);
}

// Whether what that access did, or read, comes before what `block` does now.
bool Visibility::HasArrived(uint64_t block, const Access& access) const {
  const uint64_t other = access.block_and_one - 1;
  return other == block || (IsReleased(access) && clocks_.Knows(block, other, access.clock));
}

bool Visibility::Read(Context& c, const Instruction* i, uint32_t lane, uint64_t address, uint32_t bytes,
                      std::span<const std::byte>* old) {
  bool is_old = false;
  if (old != nullptr && !i->read_only) {
    const auto answer = old_values_.Read(Now(c, lane), address, bytes,
                                         [&](const Access& access) { return HasArrived(c.block_index, access); });
    *old = answer.value;
    is_old = !answer.value.empty();
    if (is_old && !old_read_)
      old_read_ = FaultAt(
          c, i, core::Fault::Kind::kNotVisible, lane,
          fmt::format("read of {}, which block {} of this launch wrote: nothing says that it has arrived (volatile and "
                      "atomic accesses are no fences: a __threadfence() between it and what this block has seen since "
                      "is missing), and with the value before it the result is wrong",
                      DescribeAddress(c, i, address), answer.written_by));
  }
  if (IsStrong(i) && !is_old) clocks_.Read(c.block_index, address);
  const Access now = Now(c, lane);
  for (uint64_t at = address / kCellBytes * kCellBytes; at < address + bytes; at += kCellBytes) {
    Cell& cell = At(at);
    const Access& write = cell.write;
    if (write.block_and_one != 0 && i->read_only) {
      ReportNotVisible(c, i, lane, address,
                       " through the read-only path (__ldg, const __restrict__), which this launch has written: a GPU "
                       "may answer with what was there before");
      return false;
    }
    const bool other_block =
        write.block_and_one != 0 && write.block_and_one != kStrong && write.block_and_one != now.block_and_one;
    if (other_block && !IsReleased(write)) {
      ReportNotVisible(c, i, lane, address,
                       fmt::format(", which block {} of this launch wrote without a __threadfence() since, of that "
                                   "thread or behind a barrier: another block need not see it",
                                   write.block_and_one - 1));
      return false;
    }
    if (IsUnordered(c, write)) {
      ReportNotVisible(c, i, lane, address,
                       fmt::format(", which block {} of this launch wrote: nothing that this block has seen before (an "
                                   "atomic, a volatile flag, a barrier of the grid) says that it has done so",
                                   write.block_and_one - 1));
      return false;
    }
    if (bytes >= kCellBytes && IsRace(c, lane, write)) {
      ReportRace(c, i, lane, address, "a read", write.thread, "writes");
      return false;
    }
    if (cell.read.block_and_one != now.block_and_one) cell.read_elsewhere = cell.read;
    if (cell.read.block_and_one != now.block_and_one || cell.read.thread != now.thread) cell.other_read = cell.read;
    cell.read = now;
  }
  return true;
}

bool Visibility::CheckScope(Context& c, const Instruction* i, uint32_t lane, uint64_t address) {
  Cell& cell = At(address / kCellBytes * kCellBytes);
  const auto own = static_cast<uint32_t>(c.block_index + 1);
  const uint32_t before = std::exchange(cell.exchanged_by, own);
  const bool in_block = std::exchange(cell.exchanged_in_block, i->of_block) || i->of_block;
  if (!in_block || before == 0 || before == own) return true;
  StopWithFault(
      c, i, core::Fault::Kind::kNotVisible, lane,
      fmt::format("an atomic operation of the block's scope on {}, which block {} of this launch has changed so: "
                  "both may see what was there before",
                  DescribeAddress(c, i, address), before - 1));
  return false;
}

bool Visibility::Write(Context& c, const Instruction* i, uint32_t lane, uint64_t address, uint32_t bytes) {
  const bool strong = IsStrong(i);
  const Access now = Now(c, lane);  // before a strong write: what it says of the block includes the write
  if (IsAtomic(i) && !CheckScope(c, i, lane, address)) return false;
  if (strong) old_values_.Write(now, address, c.memory->Bytes(address, bytes));
  else old_values_.Forget(address, bytes);
  if (!i->of_block) {  // which tells other blocks nothing
    if (i->op == Op::kAtomic) clocks_.Exchange(c.block_index, address);
    else if (i->op == Op::kReduction) clocks_.Reduce(c.block_index, address);
    else if (strong) clocks_.Write(c.block_index, address);
  }
  for (uint64_t at = address / kCellBytes * kCellBytes; at < address + bytes; at += kCellBytes) {
    Cell& cell = At(at);
    for (const Access* read : {&cell.read, &cell.other_read, &cell.read_elsewhere}) {
      if (strong || bytes < kCellBytes) break;
      if (IsRace(c, lane, *read)) {
        ReportRace(c, i, lane, address, "a write", read->thread, "reads");
        return false;
      }
      if (IsUnordered(c, *read)) {
        StopWithFault(c, i, core::Fault::Kind::kNotVisible, lane,
                      fmt::format("write of {}, which block {} of this launch read: nothing that this block has seen "
                                  "before (an atomic, a volatile flag, a barrier of the grid) says that it has done so",
                                  DescribeAddress(c, i, address), read->block_and_one - 1));
        return false;
      }
    }
    cell.write = now;
    if (strong) cell.write.block_and_one = kStrong;
  }
  return true;
}

Touched Visibility::WhatWasTouched() const {
  std::vector<uint64_t> numbers;
  for (const auto& [number, page] : pages_) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  Touched touched;
  for (const uint64_t number : numbers) {
    const Page& page = *pages_.at(number);
    for (uint64_t i = 0; i < kPageCells; ++i) {
      const uint64_t at = (number * kPageCells + i) * kCellBytes;
      const Cell& cell = page[i];
      if (cell.write.block_and_one == kStrong) touched.Add(touched.exchanged, at, kCellBytes);
      else if (cell.write.block_and_one != 0) touched.Add(touched.written, at, kCellBytes);
      if (cell.read.block_and_one != 0) touched.Add(touched.read, at, kCellBytes);
    }
  }
  return touched;
}

ValuesInPlace::~ValuesInPlace() {
  for (auto at = before_.rbegin(); at != before_.rend(); ++at)
    std::copy(at->second.begin(), at->second.end(), at->first.begin());
}

void ValuesInPlace::Put(std::span<std::byte> place, std::span<const std::byte> value) {
  before_.emplace_back(place, std::vector<std::byte>(place.begin(), place.end()));
  std::copy(value.begin(), value.end(), place.begin());
}

bool CheckVisible(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes, ValuesInPlace* values) {
  uint64_t known = UINT64_MAX;  // lanes at one address get one answer
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(c.mask >> l & 1)) continue;
    std::span<const std::byte> old;
    if (!c.visibility->Read(c, i, l, address[l], bytes, values != nullptr && address[l] != known ? &old : nullptr))
      return false;
    if (!old.empty()) {
      known = address[l];
      values->Put(c.memory->Bytes(address[l], bytes), old);
    }
  }
  return true;
}

bool CheckWrites(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes) {
  for (uint32_t l = 0; l < kLanes; ++l)
    if ((c.mask >> l & 1) && !c.visibility->Write(c, i, l, address[l], bytes)) return false;
  return true;
}

}  // namespace warpwright::sim
