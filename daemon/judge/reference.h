// Recorded references: the trusted original's outputs on seeded inputs, small enough for git.
//
//   .warpwright/references/<kernel>/<case>.json                 what was run and how (format below)
//   .warpwright/references/<kernel>/<case>.outputs.safetensors  the outputs, whole, or as a sketch if they are large
//   .warpwright/references/<kernel>/<case>.safetensors          given by the user: inputs and outputs by argument name
//
// A sketch has, for each of at most 1,024 equal tiles of an output, the sum, the sum of magnitudes and the largest
// magnitude of its finite elements in float64, the number of NaNs and infinities, and the elements at up to 4,096 fixed
// positions. It verifies within a tolerance, which a digest of rounded values could not (two values on different sides
// of a rounding border); the digest of the exact bytes is stored as well, and a match of it settles the comparison.
//
// JSON: {"format": 1, "kernel", "case", "scalars": {...}, "variant": "base", "seed": "123",
//        "source_sha256", "spec_sha256", "manifest_sha256", "toolchain", "device",
//        "outputs": [{"name", "dtype", "shape", "sha256", "storage": "whole" | "sketch",
//                     "truth": "float64 from the form" | "float64 shadow" | "none", "max_error_ulp", "rms_error"}]}
// Seeds are strings, because JSON numbers hold 53 bits.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/kernel_spec.h"
#include "core/tensor.h"
#include "judge/compare.h"
#include "judge/inputs.h"

namespace warpwright::judge {

inline constexpr uint64_t kMaxWholeBytes = 256u << 10;  // of all outputs of a case

struct Sketch {
  uint64_t elements = 0, tile = 1;  // elements per tile
  std::vector<double> sum, magnitude, largest;
  std::vector<int64_t> nans, infinities;
  std::vector<std::byte> samples;  // at SamplePositions(elements), in the output's dtype
  bool operator==(const Sketch&) const = default;
};
Sketch MakeSketch(core::DType dtype, std::span<const std::byte> bytes);
std::vector<uint64_t> SamplePositions(uint64_t elements);

struct RecordedOutput {
  std::string name;
  core::DType dtype = core::DType::kF32;
  std::vector<int64_t> shape;
  std::string sha256;
  std::vector<std::byte> whole;  // empty if `sketch` is set
  std::optional<Sketch> sketch;
  TruthSource truth = TruthSource::kNone;   // of any: the original's accuracy against it
  double max_error_ulp = 0, rms_error = 0;  // rms_error relative to the rms of the truth
  bool operator==(const RecordedOutput&) const = default;
};
struct RecordedReference {
  std::string kernel, case_name;
  std::map<std::string, core::ScalarValue> scalars;
  InputVariant variant = InputVariant::kBase;
  uint64_t seed = 1;
  std::string source_sha256, spec_sha256, manifest_sha256, toolchain, device;
  std::vector<RecordedOutput> outputs;
  bool operator==(const RecordedReference&) const = default;
};
struct SuppliedReference {
  std::string path;                             // for messages
  std::map<std::string, core::Tensor> tensors;  // by argument name
};

std::filesystem::path ReferencePath(const std::filesystem::path& repository, const std::string& kernel,
                                    const std::string& case_name);

Status SaveReference(const std::filesystem::path& repository, const RecordedReference& reference);
// Nothing if none is recorded. A file that does not decode is an Error (kConfig: it is the repository's) that names it.
Result<std::optional<RecordedReference>> LoadReference(const std::filesystem::path& repository,
                                                       const std::string& kernel, const std::string& case_name);
// Checks names, dtypes and shapes against the case. At least one output must be given; inputs that are missing are
// generated.
Result<std::optional<SuppliedReference>> LoadSupplied(const std::filesystem::path& repository,
                                                      const core::KernelSpec& spec, const core::Case& c);

// `actual` with zeros for the elements that the original does not write: poison is not output.
std::vector<std::byte> Recordable(core::DType dtype, const OutputReference& reference,
                                  std::span<const std::byte> actual);

// Whether `actual` matches the recorded output, within the table of compare.h.
std::optional<Mismatch> CompareRecorded(const RecordedOutput& recorded, double accumulation,
                                        const ToleranceOverrides& leniency, std::span<const std::byte> actual);

// The digest of everything in the spec that affects what a run computes: arguments, entry, launch.
std::string SpecDigest(const core::KernelSpec& spec);

}  // namespace warpwright::judge
