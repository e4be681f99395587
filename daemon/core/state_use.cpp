#include "core/state_use.h"

#include <algorithm>

namespace warpwright::core {

std::vector<ByteRange> Union(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  std::vector<ByteRange> all(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), all.begin(),
             [](const ByteRange& x, const ByteRange& y) { return x.begin < y.begin; });
  std::vector<ByteRange> joined;
  for (const ByteRange& range : all) {
    if (!joined.empty() && range.begin <= joined.back().end) joined.back().end = std::max(joined.back().end, range.end);
    else joined.push_back(range);
  }
  return joined;
}

std::optional<uint64_t> FirstCommon(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const uint64_t begin = std::max(a[i].begin, b[j].begin);
    if (begin < std::min(a[i].end, b[j].end)) return begin;
    if (a[i].end < b[j].end) ++i;
    else ++j;
  }
  return std::nullopt;
}

void Merge(const std::vector<StateUse>& more, std::vector<StateUse>& known) {
  for (const StateUse& use : more) {
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&](const StateUse& k) { return k.name == use.name && k.variable == use.variable; });
    if (same == known.end()) {
      known.push_back(use);
      continue;
    }
    same->inherited = Union(same->inherited, use.inherited);
    same->left = Union(same->left, use.left);
  }
}

}  // namespace warpwright::core
