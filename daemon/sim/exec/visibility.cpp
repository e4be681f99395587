#include "sim/exec/visibility.h"

#include <fmt/format.h>

namespace warpwright::sim {

Visibility::Page* Visibility::Find(uint64_t address) const {
  const auto found = pages_.find(address / kPageBytes);
  return found == pages_.end() ? nullptr : found->second.get();
}

Visibility::Stamp& Visibility::At(uint64_t address) {
  std::unique_ptr<Page>& page = pages_[address / kPageBytes];
  if (!page) page = std::make_unique<Page>();
  return (*page)[address % kPageBytes];
}

uint64_t Visibility::FindHidden(uint64_t block, uint64_t address, uint32_t bytes, bool read_only_path) {
  const Page* page = Find(address);  // accesses are aligned: of one page
  if (page == nullptr) return kNothing;
  for (uint64_t k = 0; k < bytes; ++k) {
    const Stamp stamp = (*page)[(address + k) % kPageBytes];
    if (stamp.block_and_one == 0) continue;
    if (read_only_path) return kReadOnlyPath;
    if (stamp.block_and_one == kStrong || stamp.block_and_one - 1 == block) continue;
    if (fences_[stamp.block_and_one - 1] == stamp.fences) return stamp.block_and_one - 1;
  }
  return kNothing;
}

void Visibility::NoteWrite(uint64_t block, uint64_t address, uint32_t bytes, bool strong) {
  const Stamp stamp = strong ? Stamp{kStrong, 0} : Stamp{static_cast<uint32_t>(block + 1), fences_[block]};
  for (uint64_t k = 0; k < bytes; ++k) At(address + k) = stamp;
}

bool CheckVisible(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(c.mask >> l & 1)) continue;
    const uint64_t hidden = c.visibility->FindHidden(c.block_index, address[l], bytes, i->read_only);
    if (hidden == Visibility::kNothing) continue;
    const std::string place = Place(c, address[l], Space::kGlobal, static_cast<uint32_t>(ByteSize(i->type)));
    StopWithFault(c, i, core::Fault::Kind::kNotVisible, l,
                  hidden == Visibility::kReadOnlyPath
                      ? fmt::format("read of {} through the read-only path (__ldg, const __restrict__), which this "
                                    "launch has written: a GPU may answer with what was there before",
                                    place)
                      : fmt::format("read of {}, which block {} of this launch wrote without a __threadfence() since: "
                                    "another block need not see it",
                                    place, hidden));
    return false;
  }
  return true;
}

void NoteWrites(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes) {
  const bool strong = i->is_volatile || i->op == Op::kAtomic || i->op == Op::kReduction;
  for (uint32_t l = 0; l < kLanes; ++l)
    if (c.mask >> l & 1) c.visibility->NoteWrite(c.block_index, address[l], bytes, strong);
}

}  // namespace warpwright::sim
