// The file .warpwright.yml of a repository:
//
//   version: 1
//   kernels:
//     - name: softmax                      # part of the branch name
//       file: kernels/softmax.cu           # below the repository's root
//       entry: softmax_forward             # a host launcher, or a __global__ function with `launch`
//       args:                              # in the order of the signature
//         out: {buffer: f32, shape: [N, C], role: out}
//         inp: {buffer: f32, shape: [N, C], role: in, init: {normal: [0, 1]}, alignment: 16}
//         N: {scalar: i32}
//         C: {scalar: i32}
//         eps: {scalar: f32, value: 1e-5}  # for every case without its own
//       cases:
//         - {name: gpt2, N: 8192, C: 50257, weight: 3, on: [cuda]}
//         - {N: 1024, C: 768}              # called "N=1024,C=768"
//       launch: {grid: ["ceil_div(N, 256)"], block: [256], shared_bytes: 0}
//       tolerance: {relative: 1e-3}
//       allow: [tf32]
//       special: strict                    # reliable, strict or finite_inputs: what counts on infinities and NaN
//       alias: [[out, inp]]                # outputs that callers put in the place of an input; [] for none
//       accumulation: C                    # length of the longest sum in an output element
//   policy: {min_speedup: 1.05, max_rounds: 10, max_minutes: 30, max_repairs: 3, require: [nvcc]}
//   pull_requests: {enabled: true, draft: false, labels: [performance], reviewers: [ann, "team:gpu"],
//                   max_open: 3, max_per_day: 5}
//   nightly: {enabled: true, threshold: 1.03, branch: warpwright-history}
//
// Roles: in, out, inout, scratch. Init: {normal: [mean, deviation]}, {uniform: [low, high]}, {pareto: exponent},
// {lognormal: [mu, sigma]}, {constant: v}, {integers: [low, high]} (expressions), {file: x.safetensors, tensor: name}.
// Shapes, launches, `integers` and `accumulation` are integer expressions over the integer scalar arguments
// (core/expression.h).
//
// A manifest comes from a repository that we do not trust: every error is reported with its location, and no path
// leaves the repository.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

inline constexpr std::string_view kManifestName = ".warpwright.yml";

// Where every kernel waits for an answer: an error, or a manifest that has them all among `unanswered`.
enum class Unanswered { kFail, kList };

// `path` is used in messages only. Reads no other files. The error lists everything that is wrong.
Result<core::Manifest> ParseManifest(std::string_view text, std::string path, Unanswered all = Unanswered::kFail);

// Reads repository_root/.warpwright.yml and checks that the files it names exist, without symbolic links on the way.
Result<core::Manifest> LoadManifest(const std::filesystem::path& repository_root, Unanswered all = Unanswered::kFail);

}  // namespace warpwright::config
