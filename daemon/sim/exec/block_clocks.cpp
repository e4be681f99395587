#include "sim/exec/block_clocks.h"

#include <algorithm>

namespace warpwright::sim {
namespace {

constexpr uint64_t kMostCopied = 32u << 20;  // 128 MiB, if all of them are still held
constexpr uint64_t kWordBytes = 4;

}  // namespace

// A launch in which that many blocks exchange words takes too much: everything counts as known from then on.
bool BlockClocks::GivesUp() {
  if (copied_ <= kMostCopied) return given_up_;
  given_up_ = true;
  messages_.clear();
  return true;
}

void BlockClocks::Learn(uint64_t block, const Message& message) {
  Block& own = blocks_[block];
  if (message.writer == block || message.writer == UINT64_MAX) return;
  if (own.known.empty()) own.known.resize(blocks_.size());
  bool learned = own.known[message.writer] < message.clock + 1;
  own.known[message.writer] = std::max(own.known[message.writer], message.clock + 1);
  if (message.known && message.known != own.shared)
    for (size_t b = 0; b < own.known.size(); ++b)
      if ((*message.known)[b] > own.known[b]) own.known[b] = (*message.known)[b], learned = true;
  if (learned) own.shared.reset();
}

BlockClocks::Message BlockClocks::MessageOf(uint64_t block) {
  Block& own = blocks_[block];
  if (!own.shared && !own.known.empty()) {
    own.shared = std::make_shared<const Clocks>(own.known);
    copied_ += own.known.size();
  }
  return {own.shared, block, own.clock++};
}

void BlockClocks::Read(uint64_t block, uint64_t address) {
  if (given_up_) return;
  if (const auto found = messages_.find(address / kWordBytes); found != messages_.end()) Learn(block, found->second);
}

void BlockClocks::Write(uint64_t block, uint64_t address) {
  if (GivesUp()) return;
  messages_[address / kWordBytes] = MessageOf(block);
}

void BlockClocks::Exchange(uint64_t block, uint64_t address) {
  if (GivesUp()) return;
  Message& message = messages_[address / kWordBytes];
  Learn(block, message);
  message = MessageOf(block);
}

// Who reads the word later knows all that added to it.
void BlockClocks::Reduce(uint64_t block, uint64_t address) {
  if (GivesUp()) return;
  Message& message = messages_[address / kWordBytes];
  if (message.writer == UINT64_MAX || message.writer == block) {
    message = MessageOf(block);
    return;
  }
  Message mine = MessageOf(block);
  Clocks all = mine.known ? *mine.known : Clocks(blocks_.size());
  all[message.writer] = std::max(all[message.writer], message.clock + 1);
  if (message.known)
    for (size_t b = 0; b < all.size(); ++b) all[b] = std::max(all[b], (*message.known)[b]);
  copied_ += all.size();
  mine.known = std::make_shared<const Clocks>(std::move(all));
  message = std::move(mine);
}

bool BlockClocks::Knows(uint64_t block, uint64_t other, uint32_t clock) const {
  const Block& own = blocks_[block];
  return given_up_ || block == other || (!own.known.empty() && own.known[other] > clock);
}

}  // namespace warpwright::sim
