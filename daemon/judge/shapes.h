// Sizes that nobody declared: what a case becomes with other extents or other floating-point scalars. Pure functions of
// the manifest, the case and a secret.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/execution.h"
#include "core/kernel_spec.h"
#include "judge/trial.h"

namespace warpwright::judge {

// Whether a shape is within what may be spent on one (generated_shapes.h). One that is not is halved in all its sizes,
// odd ones to odd ones, until it is; empty: every shape fits.
using Fits = std::function<bool(const core::Case&)>;

// The case with other sizes, consistently: every integer scalar that occurs in a buffer's shape becomes n-1; n+1; a
// prime; 1, one scalar at a time; 17 (less than a warp); and in a full evaluation one of them more than 2,048 (a single
// one also more than 65,535) with the others short; multiples of 4, 8 and 16 that are none of 32, and powers of two; up
// to half as much more and less than n; and two values below n. What can be unpredictable is drawn from `secret`. Other
// scalars keep their values, and channels in groups stay whole groups (whole_groups.h). One of them is also zero, with
// short others. The original may refuse or fault there, or the manifest's expressions have no meaning (a negative
// extent); then the shape is not used.
std::vector<core::Case> OddShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                  VerificationLevel effort, const Fits& fits = {});

// Shapes of more elements than a search would try: beyond 65,535 in each dimension, and in two that no buffer
// multiplies, and 2^20 in all, squares of powers of two.
std::vector<core::Case> LongShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                   const Fits& fits = {});
// One dimension at a time in small steps from short to long, the others short: no path between two limits is left out
// that takes a third of its own beginning or more.
std::vector<core::Case> SweptShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                    const Fits& fits = {});
// Each of the numbers that a candidate names, or compares sizes with, one more, and drawn ones not far behind it.
std::vector<core::Case> ShapesAround(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                     const std::vector<int64_t>& sizes, const Fits& fits = {});

// All sizes multiples of what vectors and tiles ask for: there a path for aligned rows begins.
std::vector<core::Case> AlignedShapes(const core::KernelSpec& spec, const core::Case& c, const Fits& fits);

// Of kernels that count integers, or other numbers into integers: so many in one dimension, with the others short, that
// a counter of 16 bits overflows where each of a grid's blocks has one and all numbers are the same; of those that add
// bytes to 64 bits also so many that the sum is beyond 32, where all are the largest.
std::vector<core::Case> CountedShapes(const core::KernelSpec& spec, const core::Case& c, const Fits& fits);

// One size of twice what 16 bits hold and more, so that most numbers below it need more, the others short, whatever
// work that is.
std::vector<core::Case> ShapesBeyondShorts(const core::KernelSpec& spec, const core::Case& c, uint64_t secret);

// One size so large that the largest buffer has more elements than 32 bits count, as far as the size's type holds it;
// also more than one drawn number, and than those of `named` that may be counts of elements. Of each, smaller ones too,
// for an original that cannot run the largest.
struct HugeShape {
  std::vector<core::Case> largest_first;
};
std::vector<HugeShape> HugeShapesOf(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                    const std::vector<double>& named);

// All sizes beyond a thousand, with and without a remainder: of three and more sizes too much to run whole.
std::vector<core::Case> TiledShapes(const core::KernelSpec& spec, const core::Case& c);

// The case with other floating-point scalars, where it has any: a value that is the same in all cases may be hard-coded
// in the candidate, one may be computed from another, and a path may begin at a threshold. All at three quarters, at
// 2^-8, zero and one, and negative; each drawn by itself from `secret`.
std::vector<core::Case> OtherScalars(const core::KernelSpec& spec, const core::Case& c, uint64_t secret);
// The case with one of its floating-point scalars zero, for each.
std::vector<core::Case> WithoutScalars(const core::KernelSpec& spec, const core::Case& c);
// With each floating-point scalar infinite by itself: the order of a norm, a limit that is none.
std::vector<core::Case> WithInfiniteScalars(const core::KernelSpec& spec, const core::Case& c);
// With each integer that is no size another one by itself: a number of steps, a flag, a seed of more than 32 bits. What
// divides sizes in every case, as a number of heads, becomes 1 alone; what follows from a window stays as it is.
std::vector<core::Case> OtherIntegers(const core::KernelSpec& spec, const core::Case& c);

// Where the two numbers of a decision meet, or pass one another, if one of them grows with one argument: an odd
// remainder, a sum of sizes, a factor that has a path of its own. Arguments that are no sizes as well.
std::vector<core::Case> DecidedShapes(const core::KernelSpec& spec, const core::Case& c,
                                      const std::vector<core::Decision>& decisions, const Fits& fits);

// A case that is too large to run whole, with one scalar at a time reduced to about `share` of the case's work: all
// other lengths, which a kernel may have been tuned for, are unchanged.
std::vector<core::Case> ReducedShapes(const core::KernelSpec& spec, const core::Case& c, double share);

// Whether every output is empty: such a call asks for nothing but not to fail.
bool LeavesNothingToWrite(const core::KernelSpec& spec, const core::Case& c);

bool HasEmptyBuffer(const core::KernelSpec& spec, const core::Case& c);

// The integer scalars that occur in buffers' shapes.
std::set<std::string> ShapeScalars(const core::KernelSpec& spec);

}  // namespace warpwright::judge
