#include "judge/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file_below.h"
#include "base/hash.h"
#include "base/json_codec.h"
#include "base/random.h"
#include "core/inspection_fields.h"
#include "judge/safetensors.h"

namespace warpwright::judge {
// The fields that the JSON of a reference shares with the value; the numbers are in the tensor file next to it.
template <typename V>
void Describe(V& field, const RecordedOutput*) {
  using T = RecordedOutput;
  field("name", &T::name);
  field("dtype", &T::dtype);
  field("shape", &T::shape);
  field("sha256", &T::sha256);
  field.Untold(&T::whole);
  field.Untold(&T::sketch);
  field("truth", &T::truth);
  field.Optional("max_error_ulp", &T::max_error_ulp);
  field.Optional("rms_error", &T::rms_error);
}
template <typename V>
void Describe(V& field, const RecordedReference*) {
  using T = RecordedReference;
  field("kernel", &T::kernel);
  field("case", &T::case_name);
  field("scalars", &T::scalars);
  field("variant", &T::variant);
  field.Untold(&T::seed);
  field("source_sha256", &T::source_sha256);
  field("spec_sha256", &T::spec_sha256);
  field("manifest_sha256", &T::manifest_sha256);
  field("toolchain", &T::toolchain);
  field("device", &T::device);
  field.Untold(&T::outputs);
}
constexpr InputVariant Last(InputVariant) { return std::end(kAllInputVariants)[-1]; }

namespace {

using nlohmann::json;

constexpr uint64_t kMaxTiles = 1024;
constexpr uint64_t kMaxSamples = 4096;
constexpr uint64_t kSampleSeed = 0x736b65746368ULL;
constexpr uint64_t kMaxJsonBytes = 4u << 20;
constexpr uint64_t kMaxSuppliedBytes = 1ull << 30;
constexpr size_t kMaxOutputs = 64;

// Thrown and caught within this file only.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The file name of a case name: unusual characters are replaced, and then a hash keeps names distinct.
std::string FileName(const std::string& name) {
  std::string safe;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '-' || c == '=' || c == ',' || c == '.';
    safe += plain && !(c == '.' && safe.empty()) ? c : '_';
  }
  if (safe == name && !safe.empty() && safe.size() <= 100 && !safe.ends_with(".outputs")) return safe;
  return safe.substr(0, 80) + "-" + base::Sha256(name).substr(0, 12);
}

std::filesystem::path WithSuffix(std::filesystem::path path, const char* suffix) { return path += suffix; }
// In a repository.
std::filesystem::path FileBelow(const std::string& kernel, const std::string& case_name, const char* suffix) {
  return WithSuffix(std::filesystem::path(".warpwright") / "references" / FileName(kernel) / FileName(case_name),
                    suffix);
}

template <typename T>
core::Tensor ToTensor(core::DType dtype, const std::vector<T>& values) {
  core::Tensor tensor{dtype, {static_cast<int64_t>(values.size())}, {}};
  tensor.data.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}
template <typename T>
std::vector<T> FromTensor(const TensorFile& file, const std::string& name, core::DType dtype, size_t count) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) throw Malformed("the tensor \"" + name + "\" is missing");
  if (found->second.dtype != dtype || found->second.shape != std::vector<int64_t>{static_cast<int64_t>(count)})
    throw Malformed("the tensor \"" + name + "\" has another dtype or shape than its reference says");
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), found->second.data.data(), count * sizeof(T));
  return values;
}

uint64_t TileSize(uint64_t elements) { return std::max<uint64_t>(1, (elements + kMaxTiles - 1) / kMaxTiles); }

void AddOutput(TensorFile& file, const RecordedOutput& output) {
  if (!output.sketch) {
    file.tensors[output.name] = core::Tensor{output.dtype, output.shape, output.whole};
    return;
  }
  const Sketch& sketch = *output.sketch;
  const std::string prefix = output.name + "/";
  file.tensors[prefix + "sum"] = ToTensor(core::DType::kF64, sketch.sum);
  file.tensors[prefix + "magnitude"] = ToTensor(core::DType::kF64, sketch.magnitude);
  file.tensors[prefix + "largest"] = ToTensor(core::DType::kF64, sketch.largest);
  file.tensors[prefix + "nans"] = ToTensor(core::DType::kI64, sketch.nans);
  file.tensors[prefix + "infinities"] = ToTensor(core::DType::kI64, sketch.infinities);
  file.tensors[prefix + "samples"] = core::Tensor{
      output.dtype, {static_cast<int64_t>(sketch.samples.size() / core::SizeOf(output.dtype))}, sketch.samples};
}

Sketch ReadSketch(const TensorFile& file, const RecordedOutput& output, uint64_t elements) {
  Sketch sketch;
  sketch.elements = elements;
  sketch.tile = TileSize(elements);
  const size_t tiles = (elements + sketch.tile - 1) / sketch.tile;
  const std::string prefix = output.name + "/";
  sketch.sum = FromTensor<double>(file, prefix + "sum", core::DType::kF64, tiles);
  sketch.magnitude = FromTensor<double>(file, prefix + "magnitude", core::DType::kF64, tiles);
  sketch.largest = FromTensor<double>(file, prefix + "largest", core::DType::kF64, tiles);
  sketch.nans = FromTensor<int64_t>(file, prefix + "nans", core::DType::kI64, tiles);
  sketch.infinities = FromTensor<int64_t>(file, prefix + "infinities", core::DType::kI64, tiles);
  const auto samples = file.tensors.find(prefix + "samples");
  if (samples == file.tensors.end() || samples->second.dtype != output.dtype ||
      samples->second.NumElements() != SamplePositions(elements).size())
    throw Malformed("the samples of \"" + output.name + "\" are missing or do not fit");
  sketch.samples = samples->second.data;
  return sketch;
}

json Document(const RecordedReference& reference) {
  json document = base::ToJson(reference);
  document["format"] = 1;
  document["seed"] = fmt::format("{}", reference.seed);
  json& outputs = document["outputs"] = json::array();
  for (const RecordedOutput& output : reference.outputs) {
    json& entry = outputs.emplace_back(base::ToJson(output));
    entry["storage"] = output.sketch ? "sketch" : "whole";
    if (output.truth == TruthSource::kNone) entry.erase("max_error_ulp"), entry.erase("rms_error");
  }
  return document;
}

std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    throw Malformed(std::string("\"") + key + "\" is missing or no text");
  return found->get<std::string>();
}

RecordedOutput ReadOutput(const json& entry, const TensorFile& file) {
  auto read = base::FromJson<RecordedOutput>(entry);
  if (!read) throw Malformed("an output: " + read.error().message);
  RecordedOutput output = std::move(*read);
  uint64_t elements = 1;
  for (const int64_t extent : output.shape)
    if (extent < 0 || __builtin_mul_overflow(elements, static_cast<uint64_t>(extent), &elements) ||
        elements > (1ull << 40))
      throw Malformed("an output has an impossible shape");
  if (output.truth != TruthSource::kNone && (!entry.contains("max_error_ulp") || !entry.contains("rms_error")))
    throw Malformed("an output has a truth and no errors against it");
  const std::string storage = Text(entry, "storage");
  if (storage == "sketch") {
    output.sketch = ReadSketch(file, output, elements);
  } else if (storage == "whole") {
    const auto found = file.tensors.find(output.name);
    if (found == file.tensors.end() || found->second.dtype != output.dtype || found->second.shape != output.shape)
      throw Malformed("the tensor \"" + output.name + "\" is missing or does not fit");
    output.whole = found->second.data;
    if (base::Sha256(std::span<const std::byte>(output.whole)) != output.sha256)
      throw Malformed("the digest of \"" + output.name + "\" does not fit");
  } else {
    throw Malformed("unknown storage \"" + storage.substr(0, 32) + "\"");
  }
  return output;
}

RecordedReference Decode(const std::string& text, const TensorFile& file) {
  const auto parsed = base::ParseJson(text);
  if (!parsed) throw Malformed(parsed.error().message);
  const json& object = *parsed;
  if (!object.is_object() || object.value("format", json()) != 1)
    throw Malformed("this is not a reference of format 1");
  auto read = base::FromJson<RecordedReference>(object);
  if (!read) throw Malformed(read.error().message);
  RecordedReference reference = std::move(*read);
  const std::string seed = Text(object, "seed");
  const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), reference.seed);
  if (error != std::errc() || end != seed.data() + seed.size()) throw Malformed("the seed is not a number");
  const json& outputs = object.at("outputs");
  if (!outputs.is_array() || outputs.size() > kMaxOutputs) throw Malformed("\"outputs\" is not a list of at most 64");
  for (const json& entry : outputs) reference.outputs.push_back(ReadOutput(entry, file));
  return reference;
}

// Tile sums and samples against the recorded ones.
std::optional<Mismatch> CompareSketch(const RecordedOutput& recorded, double accumulation,
                                      const ToleranceOverrides& leniency, std::span<const std::byte> actual) {
  const Sketch& expected = *recorded.sketch;
  const uint64_t elements = actual.size() / core::SizeOf(recorded.dtype);
  if (elements != expected.elements)
    return Mismatch{recorded.name, 0, elements, recorded.name + " has another size than its recorded reference"};
  const Sketch found = MakeSketch(recorded.dtype, actual);
  // The samples are treated as a separate output; its comparator gives the tolerance of one element.
  const OutputReference reference{.bytes = std::vector(expected.samples)};
  const OutputLayout layout{recorded.name + " (sampled)",
                            recorded.dtype,
                            {static_cast<int64_t>(expected.samples.size() / core::SizeOf(recorded.dtype))},
                            accumulation};
  const Comparator comparator(layout, reference, leniency);
  if (auto mismatch = comparator.Check(found.samples)) return mismatch;
  double relative = 0;  // of an element of usual size
  double least = 0;     // of an element of any size: beside others a small one may be off as much as they
  if (core::IsFloat(recorded.dtype)) {
    double usual = 0;
    least = std::numeric_limits<double>::max();
    for (size_t i = 0; i < expected.samples.size() / core::SizeOf(recorded.dtype); ++i) {
      const double v = std::fabs(core::LoadAsDouble(recorded.dtype, expected.samples.data(), i));
      if (std::isfinite(v)) least = std::min(least, comparator.ToleranceAt(i));
      if (std::isfinite(v) && v > 0 && v > usual) usual = v, relative = comparator.ToleranceAt(i) / v;
    }
    if (usual == 0) least = 0;
  }
  for (size_t t = 0; t < expected.sum.size(); ++t) {
    const uint64_t begin = t * expected.tile, end = std::min(elements, begin + expected.tile);
    const auto wrong = [&](const std::string& what) {
      return Mismatch{recorded.name, begin, 0,
                      fmt::format("{} elements {} to {}: {}", recorded.name, begin, end - 1, what)};
    };
    if (found.nans[t] != expected.nans[t] || found.infinities[t] != expected.infinities[t])
      return wrong("other NaNs or infinities than recorded");
    const auto count = static_cast<double>(end - begin);
    const double allowed =
        relative * (expected.magnitude[t] + count * 0.01 * expected.largest[t]) + std::min(count, 16.0) * least;
    const double off = std::fabs(found.sum[t] - expected.sum[t]),
                 magnitude_off = std::fabs(found.magnitude[t] - expected.magnitude[t]);
    if (!(off <= allowed) || !(magnitude_off <= allowed))
      return wrong(fmt::format("their sum is {:.9g}, recorded {:.9g} (allowed off by {:.3g})", found.sum[t],
                               expected.sum[t], allowed));
  }
  return std::nullopt;
}

}  // namespace

std::vector<uint64_t> SamplePositions(uint64_t elements) {
  const uint64_t count = std::min(elements, kMaxSamples);  // of at most 2^40 elements: the products below fit
  const base::CounterRandom random(kSampleSeed, elements);
  std::vector<uint64_t> positions(count);
  for (uint64_t k = 0; k < count; ++k) {  // one in each of `count` equal intervals
    const uint64_t begin = elements * k / count;
    const uint64_t end = elements * (k + 1) / count;
    positions[k] = begin + random.Below(k, end - begin);
  }
  return positions;
}

Sketch MakeSketch(core::DType dtype, std::span<const std::byte> bytes) {
  const size_t size = core::SizeOf(dtype);
  Sketch sketch;
  sketch.elements = bytes.size() / size;
  sketch.tile = TileSize(sketch.elements);
  for (uint64_t begin = 0; begin < sketch.elements; begin += sketch.tile) {
    double sum = 0, magnitude = 0, largest = 0;
    int64_t nans = 0, infinities = 0;
    for (uint64_t i = begin; i < std::min(sketch.elements, begin + sketch.tile); ++i) {
      const double v = core::LoadAsDouble(dtype, bytes.data(), i);
      nans += std::isnan(v) ? 1 : 0;
      infinities += std::isinf(v) ? 1 : 0;
      if (!std::isfinite(v)) continue;
      sum += v;
      magnitude += std::fabs(v);
      largest = std::max(largest, std::fabs(v));
    }
    sketch.sum.push_back(sum);
    sketch.magnitude.push_back(magnitude);
    sketch.largest.push_back(largest);
    sketch.nans.push_back(nans);
    sketch.infinities.push_back(infinities);
  }
  for (const uint64_t position : SamplePositions(sketch.elements))
    sketch.samples.insert(sketch.samples.end(), bytes.begin() + static_cast<ptrdiff_t>(position * size),
                          bytes.begin() + static_cast<ptrdiff_t>((position + 1) * size));
  return sketch;
}

std::filesystem::path ReferencePath(const std::filesystem::path& repository, const std::string& kernel,
                                    const std::string& case_name) {
  return repository / FileBelow(kernel, case_name, "");
}

Status SaveReference(const std::filesystem::path& repository, const RecordedReference& reference) {
  const auto file_of = [&](const char* suffix) { return FileBelow(reference.kernel, reference.case_name, suffix); };
  TensorFile file;
  for (const RecordedOutput& output : reference.outputs) AddOutput(file, output);
  WW_TRY(base::WriteFileBelow(repository, file_of(".outputs.safetensors"), EncodeSafetensors(file)));
  return base::WriteFileBelow(repository, file_of(".json"), Document(reference).dump(2) + "\n");
}

Result<std::optional<RecordedReference>> LoadReference(const std::filesystem::path& repository,
                                                       const std::string& kernel, const std::string& case_name) {
  const auto path = ReferencePath(repository, kernel, case_name);
  const auto json_path = WithSuffix(path, ".json"), tensor_path = WithSuffix(path, ".outputs.safetensors");
  std::error_code ignored;
  if (!std::filesystem::exists(json_path, ignored)) return std::optional<RecordedReference>();
  WW_ASSIGN(const std::string text,
            base::ReadFileBelow(repository, FileBelow(kernel, case_name, ".json"), kMaxJsonBytes));
  WW_ASSIGN(const std::string bytes,
            base::ReadFileBelow(repository, FileBelow(kernel, case_name, ".outputs.safetensors")));
  WW_ASSIGN(const TensorFile file, DecodeSafetensors(bytes, tensor_path.string()));
  try {
    RecordedReference reference = Decode(text, file);
    if (reference.kernel != kernel || reference.case_name != case_name)
      throw Malformed("it belongs to another kernel or case");
    return std::optional(std::move(reference));
  } catch (const std::exception& e) {
    return Fail(Error{.code = ErrorCode::kConfig,
                      .message = std::string("not a valid recorded reference: ") + e.what(),
                      .file = json_path.string(),
                      .remedy = "record it again with `warpwright record`"});
  }
}

Result<std::optional<SuppliedReference>> LoadSupplied(const std::filesystem::path& repository,
                                                      const core::KernelSpec& spec, const core::Case& c) {
  const auto path = WithSuffix(ReferencePath(repository, spec.name, c.name), ".safetensors");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<SuppliedReference>();
  WW_ASSIGN(const std::string bytes,
            base::ReadFileBelow(repository, FileBelow(spec.name, c.name, ".safetensors"), kMaxSuppliedBytes));
  WW_ASSIGN(TensorFile file, DecodeSafetensors(bytes, path.string()));
  const auto bad = [&](const std::string& what) {
    return Fail(Error{.code = ErrorCode::kConfig, .message = what, .file = path.string()});
  };
  bool any_output = false;
  for (const auto& [name, tensor] : file.tensors) {
    const core::Argument* argument = spec.Find(name.starts_with("out:") ? name.substr(4) : name);
    const auto* buffer = argument == nullptr ? nullptr : std::get_if<core::BufferArgument>(&argument->kind);
    if (buffer == nullptr) return bad("the tensor \"" + name + "\" is not a buffer argument of " + spec.name);
    WW_ASSIGN(const std::vector<int64_t> shape, core::ShapeOf(*argument, c));
    if (tensor.dtype != buffer->dtype || tensor.shape != shape)
      return bad(fmt::format("the tensor \"{}\" is {}[{}], but case {} has {}[{}]", name, core::Name(tensor.dtype),
                             fmt::join(tensor.shape, ", "), c.name, core::Name(buffer->dtype), fmt::join(shape, ", ")));
    any_output = any_output || buffer->role == core::Role::kOut || name.starts_with("out:");
  }
  if (!any_output)
    return bad("it holds no output of " + spec.name + " (an inout argument's result is named \"out:<argument>\")");
  return std::optional(SuppliedReference{path.string(), std::move(file.tensors)});
}

std::vector<std::byte> Recordable(core::DType dtype, const OutputReference& reference,
                                  std::span<const std::byte> actual) {
  std::vector<std::byte> bytes(actual.begin(), actual.end());
  const size_t size = core::SizeOf(dtype);
  for (size_t i = 0; i < reference.unwritten.size(); ++i)
    if (reference.unwritten[i]) std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(i * size), size, std::byte{0});
  return bytes;
}

std::optional<Mismatch> CompareRecorded(const RecordedOutput& recorded, double accumulation,
                                        const ToleranceOverrides& leniency, std::span<const std::byte> actual) {
  if (base::Sha256(actual) == recorded.sha256) return std::nullopt;
  if (recorded.sketch) return CompareSketch(recorded, accumulation, leniency, actual);
  const OutputReference reference{.bytes = std::vector(recorded.whole)};
  return Comparator({recorded.name, recorded.dtype, recorded.shape, accumulation}, reference, leniency).Check(actual);
}

std::string SpecDigest(const core::KernelSpec& spec) {
  base::Hasher hasher;
  hasher.Add(spec.name).Add(spec.entry);
  for (const core::Argument& argument : spec.args) {
    hasher.Add(argument.name);
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) {
      const core::Init& init = buffer->init;
      hasher.Add(core::Name(buffer->dtype))
          .Add(fmt::format("{} {} {} {} {}", static_cast<int>(buffer->role), static_cast<int>(init.kind), init.a,
                           init.b, buffer->shape.size()));
      for (const core::Expression& extent : buffer->shape) hasher.Add(extent.text());
      hasher.Add(init.low ? init.low->text() : "")
          .Add(init.high ? init.high->text() : "")
          .Add(init.path)
          .Add(init.tensor);
    } else {
      hasher.Add(core::Name(std::get<core::ScalarArgument>(argument.kind).dtype));
    }
  }
  if (spec.launch) {
    for (const core::Expression& e : spec.launch->grid) hasher.Add(e.text());
    hasher.Add("block");
    for (const core::Expression& e : spec.launch->block) hasher.Add(e.text());
    hasher.Add(spec.launch->shared_bytes ? spec.launch->shared_bytes->text() : "");
  }
  if (!spec.build.IsDefault()) hasher.Add(spec.build.Text());
  return hasher.Finish();
}

}  // namespace warpwright::judge
