#include "sim/exec/old_values.h"

#include <algorithm>

namespace warpwright::sim {
namespace {

constexpr size_t kMostStores = 16;  // of a word that are remembered
constexpr uint32_t kMostGiven = 4;  // older values of a word, to one block: loops that wait for it end
constexpr uint64_t kWidest = 16;    // bytes of an access

}  // namespace

void OldValues::Write(const BlockAccess& by, uint64_t address, std::span<const std::byte> before) {
  auto at = words_.find(address);
  if (at == words_.end() || at->second.bytes != before.size()) {
    Forget(address, before.size());
    at = words_.emplace(address, Word()).first;
    at->second.bytes = before.size();
  }
  Word& word = at->second;
  if (word.stores.size() == kMostStores) {
    word.stores.erase(word.stores.begin());
    ++word.dropped;
  }
  word.stores.push_back({by, {before.begin(), before.end()}});
}

void OldValues::Forget(uint64_t address, uint64_t bytes) {
  if (words_.empty()) return;
  for (auto at = words_.lower_bound(address - std::min(address, kWidest - 1));
       at != words_.end() && at->first < address + bytes;)
    at = at->first + at->second.bytes > address ? words_.erase(at) : std::next(at);
}

OldValues::Answer OldValues::Read(const BlockAccess& by, uint64_t address, uint32_t bytes,
                                  const std::function<bool(const BlockAccess&)>& arrived) {
  const auto at = words_.find(address);
  if (at == words_.end() || at->second.bytes != bytes) return {};
  Word& word = at->second;
  const uint64_t newest = word.dropped + word.stores.size();
  uint64_t oldest = word.dropped;  // number of the store, and one, whose value is the oldest that it may have
  for (const auto& [block, reader] : word.readers)
    if (reader.seen > oldest && arrived(reader.by)) oldest = reader.seen;
  for (uint64_t n = newest; n > oldest; --n)
    if (arrived(word.stores[n - 1 - word.dropped].by)) oldest = n;
  Reader& own = word.readers[by.block_and_one];
  const bool old = oldest < newest && own.given < kMostGiven;
  own.given += old;
  const uint64_t read = old ? oldest : newest;
  if (own.seen < read) own.by = by, own.seen = read;
  if (!old) return {};
  const Store& next = word.stores[oldest - word.dropped];
  return {next.before, next.by.block_and_one - 1};
}

}  // namespace warpwright::sim
