#include "judge/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "base/parallel.h"

namespace warpwright::judge {
namespace {

constexpr size_t kTile = 256;
constexpr size_t kFewElements = 64;
// Elements at the front that are changed first: a mutant that is wrong there is refused for them alone.
constexpr size_t kFront = 4096;

// The range of the finite elements that are written; `largest` is a magnitude.
struct Extent {
  double sum = 0, largest = 0;
  size_t finite = 0, first = 0;
  void Merge(const Extent& next) {
    if (finite == 0) first = next.first;
    sum += next.sum;
    largest = std::max(largest, next.largest);
    finite += next.finite;
  }
};
// The neighbours that differ most; among equal ones the first.
struct Gap {
  double difference = 0;
  size_t at = 0;
  void Merge(const Gap& next) {
    if (next.difference > difference) *this = next;
  }
};

struct MutantGenerator {
  const OutputLayout& layout;
  const OutputReference& reference;
  const ToleranceOverrides& leniency;
  const std::function<void(Mutant)>& sink;  // one at a time: outputs may be large
  // At most so many elements are changed where a mutant changes all.
  size_t most = std::numeric_limits<size_t>::max();

  size_t count() const { return reference.bytes.size() / core::SizeOf(layout.dtype); }
  bool Written(size_t i) const { return reference.unwritten.empty() || !reference.unwritten[i]; }
  double At(size_t i) const { return core::LoadAsDouble(layout.dtype, reference.bytes.data(), i); }

  void Add(std::string name, base::ByteVector bytes, bool proves_insensitive = false) const {
    sink({std::move(name), std::move(bytes), proves_insensitive});
  }
  // Every written element becomes change(i, value), which several threads call.
  template <typename Change>
  base::ByteVector Map(const Change& change) const {
    base::ByteVector bytes = base::CopyOf(reference.bytes);
    base::ParallelFor(std::min(most, count()), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        if (Written(i)) core::StoreFromDouble(layout.dtype, bytes.data(), i, change(i, At(i)));
    });
    return bytes;
  }
  Extent Measure() const {
    return base::ParallelSum<Extent>(count(), base::kParallelChunk, [&](size_t begin, size_t end, Extent& part) {
      for (size_t i = begin; i < end; ++i)
        if (const double v = At(i); Written(i) && std::isfinite(v)) part.Merge({v, std::fabs(v), 1, i});
    });
  }
  void Swap(base::ByteVector& bytes, size_t i, size_t j, size_t elements) const {
    const size_t size = core::SizeOf(layout.dtype) * elements;
    std::swap_ranges(bytes.begin() + static_cast<ptrdiff_t>(i * size),
                     bytes.begin() + static_cast<ptrdiff_t>((i + 1) * size),
                     bytes.begin() + static_cast<ptrdiff_t>(j * size));
  }
};

void AddConstants(const MutantGenerator& m) {
  m.Add("all zeros", m.Map([](size_t, double) { return 0.0; }), true);
  if (m.count() < 2) return;
  const Extent extent = m.Measure();
  if (extent.finite == 0) return;
  const double mean = extent.sum / static_cast<double>(extent.finite), constant = m.At(extent.first);
  m.Add("the mean of the reference everywhere", m.Map([mean](size_t, double) { return mean; }));
  m.Add("one value everywhere", m.Map([constant](size_t, double) { return constant; }), true);
}

void AddInputs(const MutantGenerator& m, const MutantSources& sources) {
  for (size_t i = 0; i < sources.inputs.size(); ++i)
    if (sources.inputs[i].size() == m.reference.bytes.size() && sources.input_dtypes[i] == m.layout.dtype)
      m.Add("a copy of the input " + sources.input_names[i], base::CopyOf(sources.inputs[i]));
  if (!sources.other_seed.empty()) m.Add("the reference of another seed", base::CopyOf(sources.other_seed), true);
}

void AddTail(const MutantGenerator& m) {
  if (m.count() < 2) return;
  base::ByteVector bytes = base::CopyOf(m.reference.bytes);
  for (size_t i = m.count() - std::min(kTile, m.count() / 2); i < m.count(); ++i)
    if (m.Written(i)) core::StoreFromDouble(m.layout.dtype, bytes.data(), i, 0);
  m.Add("the last tile left zero", std::move(bytes));
}

// Nearest value with `bits` mantissa bits, within the exponent range of f32.
double RoundMantissa(double v, int bits) {
  if (!std::isfinite(v) || v == 0) return v;
  int exponent = 0;
  const double m = std::frexp(v, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, bits + 1)), exponent - bits - 1);
}

void AddPrecision(const MutantGenerator& m, const Comparator& comparator) {
  const core::DType dtype = m.layout.dtype;
  if (!core::IsFloat(dtype)) {
    m.Add("every value one more", m.Map([](size_t, double v) { return v + 1; }));
    return;
  }
  if (m.leniency.relative && *m.leniency.relative >= 5e-3) return;  // the manifest allows such errors
  if (dtype == core::DType::kBF16 || m.leniency.reduced_precision) {
    m.Add("the reference times 1.05", m.Map([](size_t, double v) { return v * 1.05; }));
    return;
  }
  m.Add("the reference times 1.01", m.Map([](size_t, double v) { return v * 1.01; }));
  // Left out if the original's own error is of that size, and for f16 outputs that are few or subnormal. A handful of
  // f32 values may happen to be representable: give each the error that inputs of the lower precision would cause, or
  // half a unit of it.
  const auto add = [&](const char* name, int bits, const std::function<double(double)>& round) {
    const double half_unit = std::ldexp(1.0, -bits - 2);
    if (comparator.OriginalRelativeError() > half_unit / 8) return;
    if (m.count() >= kFewElements) return m.Add(name, m.Map([&](size_t, double v) { return round(v); }));
    if (dtype == core::DType::kF16) return;
    const auto& conditioning = m.reference.conditioning;
    m.Add(name, m.Map([&](size_t i, double v) {
      const double moved = i < conditioning.size() && std::isfinite(conditioning[i]) ? conditioning[i] * 0x1.0p23 : 0;
      return v + half_unit * std::max(std::fabs(v), moved);
    }));
  };
  if (dtype != core::DType::kF16 || m.Measure().largest > 16 * core::SmallestNormal(dtype))
    add("the reference rounded to bf16", 7, [](double v) { return core::BFloat16ToFloat(core::DoubleToBFloat16(v)); });
  if (dtype == core::DType::kF16 || m.leniency.tf32 || (m.leniency.relative && *m.leniency.relative > 1e-4)) return;
  add("the reference rounded to f16", 10, [](double v) { return core::HalfToFloat(core::DoubleToHalf(v)); });
  add("the reference rounded to tf32", 10, [](double v) { return RoundMantissa(v, 10); });
  if (dtype == core::DType::kF64)
    add("the reference rounded to f32", 23, [](double v) { return static_cast<double>(static_cast<float>(v)); });
}

void AddElements(const MutantGenerator& m, const Comparator& comparator) {
  const size_t n = m.count();
  const bool is_float = core::IsFloat(m.layout.dtype);
  for (const size_t i : {size_t{0}, n / 2, n - 1}) {
    if (!m.Written(i) || (is_float && !std::isfinite(m.At(i)))) continue;
    const double v = m.At(i), tolerance = comparator.ToleranceAt(i);
    const double step = is_float ? 2.5 * tolerance + 4 * UlpOf(m.layout.dtype, v) : 1;
    base::ByteVector bytes = base::CopyOf(m.reference.bytes);
    core::StoreFromDouble(m.layout.dtype, bytes.data(), i, m.layout.dtype == core::DType::kBool ? 1 - v : v + step);
    m.Add(fmt::format("element {} changed by {:.3g}", i, step), std::move(bytes));
    if (is_float) {
      bytes = base::CopyOf(m.reference.bytes);
      core::StoreFromDouble(m.layout.dtype, bytes.data(), i, std::numeric_limits<double>::quiet_NaN());
      m.Add(fmt::format("element {} made NaN", i), std::move(bytes));
    }
  }
}

void AddPermutations(const MutantGenerator& m, const Comparator& comparator) {
  const size_t n = m.count();
  // The most different pair among neighbours: a swap of near-equal values is undetectable.
  const auto widest_of = [&](size_t elements) {
    return base::ParallelSum<Gap>(elements, base::kParallelChunk, [&](size_t begin, size_t end, Gap& part) {
      for (size_t i = begin; i < std::min(end, n - 1); ++i) {
        const double difference =
            std::fabs(m.At(i) - m.At(i + 1)) - 2 * comparator.ToleranceAt(i) - 2 * comparator.ToleranceAt(i + 1);
        if (m.Written(i) && m.Written(i + 1)) part.Merge({difference, i});
      }
    });
  };
  Gap widest = widest_of(std::min(n, kFront));
  if (!(widest.difference > 0)) widest = widest_of(n);
  if (widest.difference > 0) {
    base::ByteVector bytes = base::CopyOf(m.reference.bytes);
    m.Swap(bytes, widest.at, widest.at + 1, 1);
    m.Add(fmt::format("elements {} and {} swapped", widest.at, widest.at + 1), std::move(bytes));
  }
  if (m.layout.shape.size() < 2 || m.layout.shape.back() < 2) return;
  const auto row = static_cast<size_t>(m.layout.shape.back());
  if (n / row < 2) return;
  base::ByteVector bytes = base::CopyOf(m.reference.bytes);
  m.Swap(bytes, 0, n / row - 1, row);
  m.Add("the first and the last row swapped", std::move(bytes));
}

void ForEachMutant(const Comparator& comparator, const MutantSources& sources, const ToleranceOverrides& leniency,
                   const std::function<void(Mutant)>& sink, size_t most = std::numeric_limits<size_t>::max()) {
  const MutantGenerator maker{comparator.layout(), comparator.reference(), leniency, sink, most};
  if (maker.count() == 0) return;
  AddConstants(maker);
  AddInputs(maker, sources);
  AddTail(maker);
  AddPrecision(maker, comparator);
  AddElements(maker, comparator);
  AddPermutations(maker, comparator);
}

}  // namespace

std::vector<Mutant> MakeMutants(const Comparator& comparator, const MutantSources& sources,
                                const ToleranceOverrides& leniency) {
  std::vector<Mutant> mutants;
  ForEachMutant(comparator, sources, leniency, [&](Mutant mutant) { mutants.push_back(std::move(mutant)); });
  return mutants;
}

std::optional<SelfTestFailure> SelfTest(const Comparator& comparator, const MutantSources& sources,
                                        const ToleranceOverrides& leniency) {
  const auto judge = [&](const Mutant& mutant) -> std::optional<SelfTestFailure> {
    const OutputLayout& layout = comparator.layout();
    if (base::ParallelEqual(mutant.bytes, comparator.reference().bytes)) {
      if (!mutant.proves_insensitive) return std::nullopt;
      return SelfTestFailure{
          mutant.name, true,
          fmt::format("{} is the correct {} bit for bit, so the case cannot tell a kernel that does nothing",
                      mutant.name, layout.name)};
    }
    if (!comparator.Accepts(mutant.bytes)) return std::nullopt;
    return SelfTestFailure{mutant.name, false, fmt::format("{} would pass as a correct {}", mutant.name, layout.name)};
  };
  // Of large outputs only the front is changed first. Most mutants are refused for that already: the whole of those is
  // wrong all the more.
  std::set<std::string> suspects;
  const bool large = comparator.reference().bytes.size() / core::SizeOf(comparator.layout().dtype) > kFront;
  if (large) {
    const auto probe = [&](const Mutant& mutant) {
      if (base::ParallelEqual(mutant.bytes, comparator.reference().bytes) || judge(mutant))
        suspects.insert(mutant.name);
    };
    ForEachMutant(comparator, sources, leniency, probe, kFront);
    if (suspects.empty()) return std::nullopt;
  }
  std::optional<SelfTestFailure> failure;
  ForEachMutant(comparator, sources, leniency, [&](const Mutant& mutant) {
    if (!failure && (!large || suspects.contains(mutant.name))) failure = judge(mutant);
  });
  return failure;
}

}  // namespace warpwright::judge
