#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/exec/services.h"

namespace warpwright::sim {

void FillPattern(AddressPattern& p, const uint64_t* address, uint32_t mask, uint32_t bytes) {
  const auto first = static_cast<uint32_t>(std::countr_zero(mask));
  const uint64_t a0 = address[first];
  p.mask = mask;
  p.first = first;
  p.low = 0;
  p.high = bytes;
  p.alignment = 0;
  p.shared_phase = UINT32_MAX;
  std::fill_n(p.phases, AddressPattern::kKnownPhases, UINT32_MAX);
  bool uniform = true, contiguous = true, increasing = true;
  int64_t previous = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) {
      p.delta[l] = 0;
      continue;
    }
    const auto delta = static_cast<int64_t>(address[l] - a0);
    p.delta[l] = delta;
    p.low = std::min(p.low, delta);
    p.high = std::max(p.high, static_cast<int64_t>(static_cast<uint64_t>(delta) + bytes));
    p.alignment |= static_cast<uint64_t>(delta);
    uniform &= delta == 0;
    contiguous &= delta == static_cast<int64_t>(l - first) * bytes;
    if (l != first) increasing &= delta - previous >= static_cast<int64_t>(bytes);
    previous = delta;
  }
  // Deltas that are multiples of some power of two up to a sector cannot carry the phase's lower bits into another
  // sector.
  const uint64_t cell = std::min<uint64_t>(32, p.alignment & -p.alignment);
  p.phase_mask = p.alignment == 0 ? 96 : 127 & ~(static_cast<uint32_t>(cell) - 1);
  const int lanes = std::popcount(mask);
  p.kind = uniform      ? AddressPattern::Kind::kUniform
           : contiguous ? AddressPattern::Kind::kContiguous
                        : AddressPattern::Kind::kGeneral;
  if (lanes == 1) p.kind = AddressPattern::Kind::kUniform;
  p.overlaps = false;
  if (!increasing) {
    int64_t sorted[kLanes];
    int count = 0;
    for (uint32_t l = 0; l < kLanes; ++l)
      if (mask >> l & 1) sorted[count++] = p.delta[l];
    std::sort(sorted, sorted + count);
    for (int k = 1; k < count; ++k) p.overlaps |= sorted[k] - sorted[k - 1] < static_cast<int64_t>(bytes);
  }
  p.dense = p.kind == AddressPattern::Kind::kUniform ||
            (!p.overlaps && p.high - p.low == static_cast<int64_t>(bytes) * lanes);
}

namespace {

// The sectors of lanes in any order: each once, ascending. Relative to the line of the first address.
uint32_t ListSectors(const AddressPattern& p, uint32_t phase, int64_t* sectors) {
  uint32_t count = 0;
  bool sorted = true;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(p.mask >> l & 1)) continue;
    const int64_t sector = (p.delta[l] + phase) >> 5;
    if (count > 0 && sector == sectors[count - 1]) continue;
    if (count > 0 && sector < sectors[count - 1]) sorted = false;
    sectors[count++] = sector;
  }
  if (sorted) return count;
  std::sort(sectors, sectors + count);
  return static_cast<uint32_t>(std::unique(sectors, sectors + count) - sectors);
}

}  // namespace

void FindLines(const AddressPattern& p, uint32_t phase, AddressPattern::Lines& out) {
  int64_t sectors[kLanes];
  uint32_t count = 0;
  if (p.dense) {
    const int64_t last = (p.high + phase - 1) >> 5;
    for (int64_t sector = (p.low + phase) >> 5; sector <= last; ++sector) sectors[count++] = sector;
  } else {
    count = ListSectors(p, phase, sectors);
  }
  out.sector_count = count;
  out.count = 0;
  for (uint32_t k = 0; k < count; ++k) {
    const auto line = static_cast<uint32_t>(sectors[k] >> 2);
    if (out.count == 0 || out.delta[out.count - 1] != line) {
      out.delta[out.count] = line;
      out.sectors[out.count++] = 0;
    }
    out.sectors[out.count - 1] |= static_cast<uint8_t>(1u << (sectors[k] & 3));
  }
}

// Accesses of up to 4 bytes go in one pass if no bank has two different words; 8 bytes go by half warps, 16 by quarter
// warps.
void CountWavefronts(AddressPattern& p, uint64_t first_address, uint32_t bytes, bool atomic) {
  p.shared_phase = static_cast<uint32_t>(first_address & 3);
  const uint32_t lanes_per_pass = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  const uint32_t words_per_lane = bytes <= 4 ? 1 : bytes / 4;
  p.wavefronts = 0;
  uint32_t needed = 0;
  for (uint32_t begin = 0; begin < kLanes; begin += lanes_per_pass) {
    int64_t words[kLanes];
    uint32_t count = 0;
    uint32_t in_bank[32] = {};
    uint32_t worst = 0;
    for (uint32_t l = begin; l < begin + lanes_per_pass; ++l) {
      if (!(p.mask >> l & 1)) continue;
      for (uint32_t w = 0; w < words_per_lane; ++w) {
        const int64_t word = ((p.delta[l] + p.shared_phase) >> 2) + w;
        if (!atomic && std::find(words, words + count, word) != words + count) continue;
        words[count++] = word;
        worst = std::max(worst, ++in_bank[static_cast<uint64_t>(word) & 31]);
      }
    }
    p.wavefronts += worst;
    needed += worst > 0 ? 1 : 0;
  }
  p.conflicts = p.wavefronts - needed;
}

void NotifyObserver(Context& c, const Instruction* i, const AddressPattern::Lines& lines, uint64_t first_address,
                    MemoryRequest::Kind kind, uint32_t collisions) {
  MemoryRequest request;
  request.kind = kind;
  request.cached_in_l1 = !i->bypass_l1 && kind != MemoryRequest::Kind::kAtomic;
  request.block = c.block_index;
  request.warp = c.warp->index;
  request.first_tag = LineTag(first_address >> 7);
  request.count = lines.count;
  request.lines = lines.delta;
  request.sectors = lines.sectors;
  request.line = i->line;
  request.collisions = collisions;
  c.observer->OnRequest(request);
}

uint32_t CountCollisions(const AddressPattern& p) {
  if (!p.overlaps) return 0;
  int64_t deltas[kLanes];
  uint32_t count = 0, run = 0, longest = 0;
  for (uint32_t l = 0; l < kLanes; ++l)
    if (p.mask >> l & 1) deltas[count++] = p.delta[l];
  std::sort(deltas, deltas + count);
  for (uint32_t k = 0; k < count; ++k) {
    run = k > 0 && deltas[k] == deltas[k - 1] ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

void NotifyLocal(Context& c, const Instruction* i, const uint64_t* offset, uint32_t bytes, bool write) {
  // 4-byte words interleaved by lane: a word of 32 lanes is 4 sectors. The location repeats every 64 K warps; only
  // reuse matters.
  const uint64_t warp = (c.block_index * c.warps.size() + c.warp->index) & 0xffff;
  const uint64_t base = (1ull << 58) + warp * (c.local_bytes / 4) * 4;
  uint64_t sectors[MemoryRequest::kMaxLines];
  uint32_t count = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(c.mask >> l & 1)) continue;
    for (uint32_t k = 0; k < bytes; k += 4) sectors[count++] = base + ((offset[l] + k) >> 2) * 4 + l / 8;
  }
  std::sort(sectors, sectors + count);
  MemoryRequest request;
  uint32_t tags[MemoryRequest::kMaxLines + MemoryRequest::kPadding] = {};
  uint8_t masks[MemoryRequest::kMaxLines + MemoryRequest::kPadding] = {};
  for (uint32_t k = 0; k < count; ++k) {
    if (k == 0 || sectors[k] / 4 != sectors[k - 1] / 4) tags[request.count++] = LineTag(sectors[k] / 4);
    masks[request.count - 1] |= static_cast<uint8_t>(1u << (sectors[k] & 3));
  }
  request.kind = write ? MemoryRequest::Kind::kWrite : MemoryRequest::Kind::kRead;
  request.block = c.block_index;
  request.warp = c.warp->index;
  request.line = i->line;
  request.lines = tags;
  request.sectors = masks;
  c.observer->OnRequest(request);
}

namespace {

std::string_view Verb(AccessKind kind) {
  return kind == AccessKind::kRead ? "read" : kind == AccessKind::kWrite ? "write" : "atomic update";
}
// A vector access is located by its elements, as the source's indices count them.
uint32_t ElementBytes(const Instruction* i) { return static_cast<uint32_t>(ByteSize(i->type)); }
std::string At(std::string_view name, int64_t offset, uint32_t bytes) {
  if (bytes != 0 && offset % bytes == 0) return fmt::format("{}[{}]", name, offset / bytes);
  return offset < 0 ? fmt::format("{} - {} bytes", name, -offset) : fmt::format("{} + {} bytes", name, offset);
}

}  // namespace

std::string DescribeAddress(const Context& c, uint64_t address, Space space, uint32_t bytes) {
  switch (space) {
    case Space::kShared: {
      const auto& names = c.kernel->shared_names;
      auto next =
          std::upper_bound(names.begin(), names.end(), address, [](uint64_t a, const auto& n) { return a < n.first; });
      if (next == names.begin()) return fmt::format("shared memory at offset {}", address);
      --next;
      return At(next->second, static_cast<int64_t>(address - next->first), bytes);
    }
    case Space::kLocal: return fmt::format("local memory at offset {}", address);
    case Space::kParam: return fmt::format("the parameters at offset {}", address);
    default: break;
  }
  const Allocation* near = c.memory->FindNearest(address);
  // Without the address, which differs from run to run: what is said here is part of questions to models.
  if (!near) return address == 0 ? "the null pointer" : "an address that is far from every buffer";
  // Halves that are read in pairs are counted one by one, as the source's indices and the manifest's shapes do.
  const uint32_t element = near->element_bytes != 0 ? near->element_bytes : bytes;
  return fmt::format("{} (buffer of {} bytes)", At(near->name, static_cast<int64_t>(address - near->base), element),
                     near->bytes);
}

const Instruction* StopOutOfBounds(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes,
                                   Space space, AccessKind kind) {
  const uint64_t size = space == Space::kShared  ? c.shared_bytes
                        : space == Space::kLocal ? c.local_bytes
                                                 : c.parameter_bytes;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(c.mask >> l & 1) || (address[l] <= size && bytes <= size - address[l])) continue;
    const std::string_view name = space == Space::kShared ? "shared" : space == Space::kLocal ? "local" : "parameter";
    return StopWithFault(c, i, core::Fault::Kind::kOutOfBounds, l,
                         fmt::format("out-of-bounds {} of {} bytes at {} ({} bytes of {} memory)", Verb(kind), bytes,
                                     DescribeAddress(c, address[l], space, ElementBytes(i)), size, name));
  }
  return StopWithFault(c, i, core::Fault::Kind::kIllegalInstruction, kLanes,
                       fmt::format("an {} in {} memory", Verb(kind), space == Space::kLocal ? "local" : "parameter"));
}

const Instruction* StopMisaligned(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes,
                                  Space space, AccessKind kind) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(c.mask >> l & 1) || (address[l] & (bytes - 1)) == 0) continue;
    return StopWithFault(c, i, core::Fault::Kind::kMisaligned, l,
                         fmt::format("misaligned {} of {} bytes at {}", Verb(kind), bytes,
                                     DescribeAddress(c, address[l], space, ElementBytes(i))));
  }
  return nullptr;
}

const Instruction* StopReadOnly(Context& c, const Instruction* i, uint64_t address, uint32_t lane) {
  return StopWithFault(
      c, i, core::Fault::Kind::kReadOnlyWrite, lane,
      fmt::format("write to {}, which is read-only", DescribeAddress(c, address, Space::kGlobal, ElementBytes(i))));
}

const Instruction* StopUninitialized(Context& c, const Instruction* i, uint64_t address, uint32_t lane, Space space) {
  return StopWithFault(
      c, i, core::Fault::Kind::kUninitializedRead, lane,
      fmt::format("read of {}, which was never written", DescribeAddress(c, address, space, ElementBytes(i))));
}

std::byte* ResolveLanes(Context& c, const Instruction* i, const uint64_t* address, uint32_t bytes, AccessKind kind,
                        int64_t* delta) {
  std::byte* first = nullptr;
  for (uint32_t l = 0; l < kLanes; ++l) {
    delta[l] = 0;
    if (!(c.mask >> l & 1)) continue;
    const Allocation* m = c.memory->Find(address[l]);
    const uint64_t offset = m ? address[l] - m->base : 0;
    if (!m || offset > m->bytes || bytes > m->bytes - offset) {
      StopWithFault(c, i, core::Fault::Kind::kOutOfBounds, l,
                    fmt::format("out-of-bounds {} of {} bytes at {}", Verb(kind), bytes,
                                DescribeAddress(c, address[l], Space::kGlobal, ElementBytes(i))));
      return nullptr;
    }
    if (kind != AccessKind::kRead && m->read_only) {
      StopReadOnly(c, i, address[l], l);
      return nullptr;
    }
    if (m->written) {
      uint8_t* w = m->written + offset;
      if ((m->found || !m->content.empty()) && kind != AccessKind::kWrite) NoteFound(*m, offset, bytes);
      const bool known = std::all_of(w, w + bytes, [](uint8_t b) { return b != 0; });
      const bool exchange = i->op == Op::kAtomic && static_cast<AtomicOp>(i->mode) == AtomicOp::kExch;
      if (kind != AccessKind::kWrite && !exchange && c.checking && !known) {
        StopUninitialized(c, i, address[l], l, Space::kGlobal);
        return nullptr;
      }
      if (kind != AccessKind::kRead) std::memset(w, 0xff, bytes);
    }
    std::byte* host = m->data + offset;
    if (!first) first = host;
    delta[l] = host - first;
  }
  return first;
}

std::string InstructionName(const Instruction& i) {
  switch (i.op) {
    case Op::kShuffle: return "shfl.sync";
    case Op::kVote: return "vote.sync";
    case Op::kMatchAny:
    case Op::kMatchAll: return "match.sync";
    case Op::kRedux: return "redux.sync";
    case Op::kElect: return "elect.sync";
    case Op::kMatrixProduct: return "mma.sync";
    case Op::kMatrixTranspose: return "movmatrix.sync";
    case Op::kMatrixLoad: return "ldmatrix.sync";
    case Op::kMatrixStore: return "stmatrix.sync";
    case Op::kWarpgroupProduct: return "wgmma.mma_async";
    case Op::kWarpgroupFence: return "wgmma.fence";
    case Op::kWarpgroupCommit: return "wgmma.commit_group";
    case Op::kWarpgroupWait: return "wgmma.wait_group";
    case Op::kWarpBarrier: return "__syncwarp";
    case Op::kBarrier:
    case Op::kBarrierArrive:
    case Op::kBarrierReduce: return "barrier";
    default: return "instruction";
  }
}

const Instruction* StopNotAMember(Context& c, const Instruction* i, uint32_t lane, uint32_t members) {
  return StopWithFault(c, i, core::Fault::Kind::kInactiveShuffle, lane,
                       fmt::format("{} executed by lane {}, which is not in its member mask {:#010x}",
                                   InstructionName(*i), lane, members));
}

const Instruction* StopPartOfWarp(Context& c, const Instruction* i) {
  return StopWithFault(
      c, i, core::Fault::Kind::kInactiveShuffle, kLanes,
      fmt::format("{} needs all 32 lanes of the warp; here are {:#010x}", InstructionName(*i), c.mask));
}

const Instruction* StopAbsentSource(Context& c, const Instruction* i, uint32_t lane, uint32_t source,
                                    uint32_t members) {
  return StopWithFault(
      c, i, core::Fault::Kind::kInactiveShuffle, lane,
      fmt::format("shfl.sync: lane {} reads from lane {}, which does not take part (member mask {:#010x})", lane,
                  source, members));
}

const Instruction* StopWithText(Context& c, const Instruction* i, core::Fault::Kind kind) {
  return StopWithFault(c, i, kind, kLanes, c.program->texts[i->text]);
}

}  // namespace warpwright::sim
