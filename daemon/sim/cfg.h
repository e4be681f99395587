// Basic blocks with headers, and where divergent branches reconverge. Internal to DecodePtx.
#pragma once

#include "sim/lower.h"

namespace warpwright::sim {

// Replaces `lowered.code` by code with a kHeader before every block and a kEnd at the end, labels replaced by blocks,
// and reconvergence points set. A branch to a block that only exits reconverges nowhere, so that lanes that have exited
// never wait for others.
Status BuildBlocks(Lowered& lowered, std::vector<BasicBlock>& blocks);

// The blocks that may follow `block`; kNoBlock is the end of the kernel.
void Successors(const Lowered& lowered, const std::vector<BasicBlock>& blocks, uint32_t block,
                std::vector<uint32_t>& out);

}  // namespace warpwright::sim
