// With which numbers the launcher's code compares what it has: a path may begin at a size that no text names. g++ calls
// these before every comparison of integers (-fsanitize-coverage=trace-cmp).
#include "recorder.h"

namespace ww {
namespace {

constexpr size_t kSites = 4096;  // comparisons in the code that are followed
constexpr uint64_t kLeast = 256, kMost = 1ull << 42;

// The first and the latest operands: in a loop one of them is the bound.
struct Site {
  const void* at;
  uint64_t first[2], latest[2];
  bool varies;
};
Site sites[kSites];  // not on the heap, which is compared between calls
size_t site_count = 0;
bool followed = false, overflowed = false;

void Compared(const void* at, uint64_t a, uint64_t b) {
  if (!followed) return;
  size_t i = reinterpret_cast<uintptr_t>(at) % kSites;
  for (size_t step = 0; step < kSites && sites[i].at != nullptr && sites[i].at != at; ++step) i = (i + 1) % kSites;
  Site& site = sites[i];
  if (site.at != nullptr && site.at != at) {
    overflowed = true;
    return;
  }
  if (site.at == nullptr) {
    ++site_count;
    site = {at, {a, b}, {a, b}, false};
  }
  site.varies = site.varies || a != site.latest[0] || b != site.latest[1];
  site.latest[0] = a;
  site.latest[1] = b;
}

// Of four bytes: negative numbers are no sizes.
uint64_t Wide(uint32_t value) { return static_cast<int32_t>(value) < 0 ? 0 : value; }

}  // namespace

void FollowComparisons(bool follow) { followed = follow; }

void NoteComparisons() {
  std::set<uint64_t> values;
  for (const Site& site : sites)
    for (const auto* pair : {site.first, site.latest})
      for (const uint64_t value : {pair[0], pair[1]})
        if (site.at != nullptr && value >= kLeast && value <= kMost) values.insert(value);
  for (const uint64_t value : values) Note(Line("compared").Integer("value", static_cast<long long>(value)));
  constexpr int kMostDecisions = 256;
  int decisions = 0;
  for (const Site& site : sites)
    if (site.at != nullptr && !site.varies && site.first[0] <= kMost && site.first[1] <= kMost &&
        ++decisions <= kMostDecisions)
      Note(Line("decided")
               .Integer("left", static_cast<long long>(site.first[0]))
               .Integer("right", static_cast<long long>(site.first[1])));
  if (overflowed) NoteEffect("more comparisons than can be followed", "");
}

}  // namespace ww

// NOLINTBEGIN: the names are the compiler's
extern "C" {
void __sanitizer_cov_trace_cmp1(uint8_t, uint8_t) {}
void __sanitizer_cov_trace_cmp2(uint16_t a, uint16_t b) { ww::Compared(__builtin_return_address(0), a, b); }
void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b) {
  ww::Compared(__builtin_return_address(0), ww::Wide(a), ww::Wide(b));
}
void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b) { ww::Compared(__builtin_return_address(0), a, b); }
void __sanitizer_cov_trace_const_cmp1(uint8_t, uint8_t) {}
void __sanitizer_cov_trace_const_cmp2(uint16_t a, uint16_t b) { ww::Compared(__builtin_return_address(0), a, b); }
void __sanitizer_cov_trace_const_cmp4(uint32_t a, uint32_t b) {
  ww::Compared(__builtin_return_address(0), ww::Wide(a), ww::Wide(b));
}
void __sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b) { ww::Compared(__builtin_return_address(0), a, b); }
void __sanitizer_cov_trace_cmpf(float a, float b) {
  if (a >= 0 && b >= 0 && a < ww::kMost && b < ww::kMost)
    ww::Compared(__builtin_return_address(0), static_cast<uint64_t>(a), static_cast<uint64_t>(b));
}
void __sanitizer_cov_trace_cmpd(double a, double b) {
  if (a >= 0 && b >= 0 && a < ww::kMost && b < ww::kMost)
    ww::Compared(__builtin_return_address(0), static_cast<uint64_t>(a), static_cast<uint64_t>(b));
}
// cases: their number, the bits of the value, the values.
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t* cases) {
  for (uint64_t i = 0; i < cases[0]; ++i)
    ww::Compared(reinterpret_cast<const char*>(__builtin_return_address(0)) + i, value, cases[2 + i]);
}
}
// NOLINTEND
