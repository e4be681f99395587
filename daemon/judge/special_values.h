// What counts where inputs are infinite or not a number.
//
// Honest versions reorder operations, and on such inputs the order shows: a convolution that multiplies its padding by
// a weight instead of leaving it out has 0 * inf = NaN at the edge, a folded scale turns -inf into NaN. So the values
// that are finite count strictly, and of those that are not, what a caller can rely on:
//   original NaN              NaN: nothing is laundered
//   original +-inf            the same, or NaN
//   original finite           the same; NaN only where the original does not look at these inputs at all: its element
//                             is bit for bit the same when they are replaced by finite numbers (a mask of -inf is
//                             looked at: it must keep its effect). Not where it is what an `inout` buffer held before:
//                             a caller may pass memory that nobody has written (beta = 0 of a product)
// and with the finite numbers in their place the candidate must be right everywhere. Private to judge/.
#pragma once

#include <string>
#include <vector>

#include "judge/oracle.h"

namespace warpwright::judge {

// The inputs that have infinities or NaN: "x, w"; empty: none has.
std::string NonFiniteInputs(const core::KernelSpec& spec, const std::vector<core::BufferContent>& inputs);

// With finite numbers of ordinary size in the place of these elements.
std::vector<core::BufferContent> WithFiniteInputs(const core::KernelSpec& spec, uint64_t seed,
                                                  const std::vector<core::BufferContent>& inputs);

struct Relaxed {
  std::vector<base::Bytes> buffers;  // with the original's values where another may stand by the rules above
  size_t elements = 0;               // that were replaced
};
// `finite`: the original on WithFiniteInputs.
Relaxed RelaxNonFinite(const TrialReference& reference, const TrialReference& finite,
                       const std::vector<base::Bytes>& buffers, InputVariant variant);

}  // namespace warpwright::judge
