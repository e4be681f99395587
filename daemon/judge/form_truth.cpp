#include "judge/form_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/parallel.h"
#include "base/random.h"
#include "core/typed_values.h"
#include "judge/inputs.h"

namespace warpwright::judge {
namespace {

// A form's literals have seven digits.
constexpr double kLiteralError = 5e-7;
// The original's functions may be other ones than the form's (a reciprocal root for a root and a division).
constexpr double kAgreement = 2;
constexpr size_t kFewOutputs = 64;
constexpr uint64_t kMostHonestSteps = 1'000'000'000;  // of a run term by term: beyond, of some elements alone
constexpr size_t kHonestRows = 16;                    // of a sample, as many elements each as one of its rows
constexpr uint64_t kTogether = 1 << 20;               // elements of all stages of a run that may be one of several
constexpr uint64_t kSampledElements = 500'000'000;    // of all stages, of which few are computed
// Fewer have no rules over the whole output (kShortRow in compare.cpp); and how much smaller the next sample is.
constexpr size_t kLeastSampled = 64, kSmaller = 4;
// A row of a chain of products takes all of its rows before: a smaller sample has fewer.
constexpr size_t kOfRow = 64, kLeastRows = 8;
constexpr uint64_t kSampleStream = 0x666f726dULL;

bool HasDouble(const core::KernelSpec& spec) {
  return std::any_of(spec.args.begin(), spec.args.end(), [](const core::Argument& argument) {
    return std::visit([](const auto& kind) { return kind.dtype == core::DType::kF64; }, argument.kind);
  });
}

// Whether elements of the original's result speak against the form.
struct ElementCheck {
  const OutputLayout& layout;
  const OutputReference& reference;
  const core::TensorResult& result;
  const core::BufferContent& before;

  bool IsUnchanged(size_t element) const {
    const size_t size = core::SizeOf(layout.dtype);
    return !before.uninitialized &&
           std::memcmp(before.bytes.data() + element * size, reference.bytes.data() + element * size, size) == 0;
  }
  // A sum beyond the largest number of a narrower output, up to roundings.
  bool MayRoundToInfinity(double original, double truth, double error) const {
    const double largest = core::LargestFinite(layout.dtype);
    return std::signbit(original) == std::signbit(truth) &&
           std::fabs(truth) + kAgreement * error + UlpOf(layout.dtype, largest) >= largest;
  }
  bool Fails(size_t element, size_t i) const {
    const bool spared = !reference.unwritten.empty() && reference.unwritten[element];
    if (result.written[i] == 0) return !spared && !IsUnchanged(element);
    if (spared) return true;
    const double error = result.errors[i];
    if (!core::IsFloat(layout.dtype))
      return error == 0 && core::LoadAsInteger(layout.dtype, reference.bytes.data(), element) != result.integers[i];
    const double original = core::LoadAsDouble(layout.dtype, reference.bytes.data(), element), truth = result.real[i];
    if (!std::isfinite(error)) return false;
    if (std::isinf(original) && std::isfinite(truth)) return !MayRoundToInfinity(original, truth, error);
    if (!std::isfinite(original) || !std::isfinite(truth)) return std::isfinite(original) != std::isfinite(truth);
    const double difference = std::fabs(original - truth);
    return !(difference <= kAgreement * error || difference <= kAgreement * error + UlpOf(layout.dtype, truth));
  }
};

// Element i of a result is which one of the output.
size_t ElementAt(const std::vector<int64_t>* indices, size_t i) {
  return indices == nullptr ? i : static_cast<size_t>((*indices)[i]);
}
const std::vector<int64_t>* IndicesOf(const core::OutputElements* elements, const std::string& name) {
  if (elements == nullptr) return nullptr;
  const auto found = elements->find(name);
  return found == elements->end() ? nullptr : &found->second;
}

std::optional<std::string> Disagreement(const OutputLayout& layout, const OutputReference& reference,
                                        const core::TensorResult& result, const core::BufferContent& before,
                                        const std::vector<int64_t>* indices) {
  const size_t count = reference.bytes.size() / core::SizeOf(layout.dtype);
  if (result.written.size() != (indices == nullptr ? count : indices->size()))
    return layout.name + " has another size by the form";
  const ElementCheck check{layout, reference, result, before};
  std::atomic<size_t> first = result.written.size();
  base::ParallelFor(
      result.written.size(),
      [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end && i < first; ++i)
          if (check.Fails(ElementAt(indices, i), i)) {
            for (size_t least = first; i < least && !first.compare_exchange_weak(least, i);) {
            }
            return;
          }
      },
      base::kParallelChunk);
  const size_t i = first;
  if (i == result.written.size()) return std::nullopt;
  return fmt::format("element {} of {} is {:.9g}, by the form {:.9g}", ElementAt(indices, i), layout.name,
                     core::LoadAsDouble(layout.dtype, reference.bytes.data(), ElementAt(indices, i)),
                     core::IsFloat(layout.dtype) ? result.real[i] : static_cast<double>(result.integers[i]));
}

core::TensorResult* ResultNamed(std::vector<core::TensorResult>& results, const std::string& name) {
  const auto found =
      std::find_if(results.begin(), results.end(), [&](const core::TensorResult& r) { return r.name == name; });
  return found == results.end() ? nullptr : &*found;
}

// `values` of the elements that were asked for; NaN where nothing is known.
ElementValues ValuesOf(base::UninitializedVector<double>& values, const core::TensorResult& result,
                       const std::vector<int64_t>* indices, size_t count) {
  if (!result.whole)
    base::ParallelFor(values.size(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        if (result.written[i] == 0) values[i] = ElementValues::kUnknown;
    });
  if (indices != nullptr) return ElementValues::Sampled(count, *indices, std::move(values));
  return std::move(values);
}

// What is known of the elements that were asked for, in their order.
OutputReference Gathered(const OutputReference& reference, const std::vector<int64_t>& indices) {
  OutputReference known;
  for (const auto part : {&OutputReference::truth, &OutputReference::bound}) {
    (known.*part).reserve(indices.size());
    for (const int64_t i : indices) (known.*part).push_back((reference.*part)[static_cast<size_t>(i)]);
  }
  if (!reference.unwritten.empty())
    for (const int64_t i : indices) known.unwritten.push_back(reference.unwritten[static_cast<size_t>(i)]);
  return known;
}

const core::BufferContent& ContentBefore(const OriginalRun& run, const std::string& name) {
  return *std::find_if(run.inputs.begin(), run.inputs.end(),
                       [&](const core::BufferContent& content) { return content.name == name; });
}

std::optional<std::string> FindDisagreement(const std::vector<OutputReference>& references, const OriginalRun& run,
                                            std::vector<core::TensorResult>& results,
                                            const core::OutputElements* elements) {
  for (size_t o = 0; o < references.size(); ++o) {
    const std::string& name = run.layouts[o].name;
    const auto* result = ResultNamed(results, name);
    if (result == nullptr) continue;
    const core::BufferContent& before = ContentBefore(run, name);
    if (auto difference = Disagreement(run.layouts[o], references[o], *result, before, IndicesOf(elements, name)))
      return difference;
  }
  return std::nullopt;
}

}  // namespace

bool MayUseTensorCores(const core::KernelSpec& spec) {
  return std::any_of(spec.args.begin(), spec.args.end(), [](const core::Argument& argument) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    return buffer != nullptr && (buffer->dtype == core::DType::kF16 || buffer->dtype == core::DType::kBF16) &&
           (buffer->role == core::Role::kIn || buffer->role == core::Role::kInOut);
  });
}

FormTruth::FormTruth(const core::KernelSpec& spec, core::Computation computation, FormLimits limits)
    : spec_(&spec), computation_(std::make_shared<const core::Computation>(std::move(computation))), limits_(limits) {}

Result<FormTruth> FormTruth::Create(const core::KernelSpec& spec, const core::LiftOutcome& outcome, FormLimits limits) {
  if (const auto* none = std::get_if<core::NotLifted>(&outcome))
    return Fail(ErrorCode::kUnsupported, fmt::format("not lifted: {}", none->message));
  const auto& lifted = std::get<core::Lifted>(outcome);
  if (!lifted.verified) return Fail(ErrorCode::kUnsupported, "the form was not verified at a further shape");
  if (HasDouble(spec)) return Fail(ErrorCode::kUnsupported, "the kernel computes in f64 already");
  WW_TRY(core::Validate(lifted.computation));
  return FormTruth(spec, lifted.computation, limits);
}

// Arithmetic in f64 between narrower buffers shows in conversions back. What the original only might use is tried after
// what it uses in any case.
void FormTruth::ChooseModels(const core::CodeUses& uses) {
  if (!models_.empty()) return;
  using Kind = core::CodeUseKind;
  using core::NumberFormat;
  const bool approximate = std::any_of(uses.begin(), uses.end(), [](const core::FoundUse& found) {
    return found.use.kind == Kind::kApproximate || found.use.kind == Kind::kFlushed;
  });
  if (uses.contains(core::CodeUse{Kind::kConversion, NumberFormat::kF32, {}}))
    models_.push_back({core::DType::kF64, false});
  models_.push_back({core::DType::kF32, false});
  if (approximate) models_.push_back({core::DType::kF32, true});
  models_.push_back({.accumulation = core::DType::kF32, .fast = approximate, .any_order = true});
  // Halves that are kept between kernels, and sums of them: the form looks through these roundings.
  for (const core::DType dtype : {core::DType::kF16, core::DType::kBF16}) {
    const auto has = [&](Kind kind) { return uses.contains(core::CodeUse{kind, core::FormatOf(dtype), {}}); };
    const bool computes = has(Kind::kArithmetic) || has(Kind::kSums);
    if (!computes && !has(Kind::kConversion)) continue;
    // Where nothing is computed in them, they are only kept: results of sums and functions, or of all operations.
    if (!computes) {
      models_.push_back({.accumulation = core::DType::kF32, .fast = approximate, .stores = dtype});
      models_.push_back({dtype, approximate, true});
    }
    models_.push_back({dtype, approximate});
  }
}

Result<core::ComputationEvaluator> FormTruth::EvaluatorFor(const Arguments& arguments, core::EvaluateOptions options,
                                                           const core::OutputElements* elements) const {
  options.rounds_outputs = false;
  options.element_limit = elements == nullptr ? limits_.elements : kSampledElements;
  options.work_limit = elements == nullptr ? limits_.steps : std::numeric_limits<uint64_t>::max();
  return core::ComputationEvaluator::Compile(*computation_, arguments.sizes, options);
}

Result<std::vector<core::TensorResult>> FormTruth::Evaluate(const Arguments& arguments, core::EvaluateOptions options,
                                                            const core::OutputElements* elements) const {
  WW_ASSIGN(const auto evaluator, EvaluatorFor(arguments, options, elements));
  return elements == nullptr ? evaluator.Run(arguments.values)
                             : evaluator.RunAt(arguments.values, *elements, limits_.sampled_steps);
}

// The first and the last elements, and from each of equal parts some that follow one another, from a random one on:
// elements of one row share what is computed for the row.
core::OutputElements FormTruth::Sample(const OriginalRun& run, size_t size) {
  core::OutputElements elements;
  for (const OutputLayout& layout : run.layouts) {
    size_t count = 1;
    for (const int64_t extent : layout.shape) count *= static_cast<size_t>(extent);
    const base::CounterRandom random(run.seed, kSampleStream);
    std::vector<int64_t>& chosen = elements[layout.name];
    const size_t sampled = std::min(count, size), ends = std::min(count, size / 8),
                 parts = std::min(sampled, std::max(kLeastRows, sampled / kOfRow));
    for (size_t i = 0; i < ends; ++i) {
      chosen.push_back(static_cast<int64_t>(i));
      chosen.push_back(static_cast<int64_t>(count - 1 - i));
    }
    for (size_t p = 0; p < parts; ++p) {
      const size_t begin = count / parts * p, end = p + 1 == parts ? count : count / parts * (p + 1);
      const size_t together = std::min(end - begin, sampled / parts), free = end - begin - together;
      const size_t first = begin + random.Below(p, free + 1);
      for (size_t i = 0; i < together; ++i) chosen.push_back(static_cast<int64_t>(first + i));
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  return elements;
}

// A run term by term takes many times what the truth does, and of chains of products minutes for a whole sample: some
// of its rows say what chance comes to. What neighbours are made of is computed once for all of them.
static core::OutputElements SomeRowsOf(const core::OutputElements& sample) {
  core::OutputElements rows;
  for (const auto& [name, elements] : sample) {
    const size_t every = std::max<size_t>(1, elements.size() / kOfRow / kHonestRows);
    for (size_t i = 0; i < elements.size(); ++i)
      if (i / kOfRow % every == 0) rows[name].push_back(elements[i]);
  }
  return rows;
}

core::EvaluateOptions FormTruth::OptionsFor(const Model& model, bool single) {
  return {.rounds = false,
          .errors = core::ErrorModel{.accumulation = model.accumulation,
                                     .fast = model.fast,
                                     .chained = !model.any_order,
                                     .single = single || model.kept,
                                     .stores = model.stores,
                                     .literal = kLiteralError}};
}

Result<FormTruth::Outcome> FormTruth::AddTo(std::vector<OutputReference>& references, const OriginalRun& run,
                                            Extent extent) {
  if (const auto broken = core::BrokenAssumption(*computation_, core::IntegerScalars(run.c)))
    return Outcome(Declined{"the form holds for " + *broken, true});
  ChooseModels(run.uses);
  if (extent == Extent::kWhole) {  // before gigabytes are converted
    Arguments sizes;
    sizes.sizes = core::IntegerScalars(run.c);
    if (const auto fits = EvaluatorFor(sizes, {}, nullptr); !fits && fits.error().code == ErrorCode::kLimit)
      return Outcome(Declined{fits.error().message, true});
  }
  const Arguments arguments = FormArgumentsOf(*spec_, run.c, run.inputs);
  size_t sampled = extent == Extent::kSampled ? limits_.sampled : 0;
  core::OutputElements sample;
  if (sampled > 0) sample = Sample(run, sampled);
  const core::OutputElements* elements = sampled > 0 ? &sample : nullptr;
  for (size_t tried = 0;;) {
    const Model model = models_[tried];
    auto results = Evaluate(arguments, OptionsFor(model, false), elements);
    // Rows of a long product for each element: few of them tell of what tensor cores round, which no shadow does.
    if (!results && results.error().code == ErrorCode::kLimit && sampled > kLeastSampled) {
      sampled = std::max(kLeastSampled, sampled / kSmaller);
      sample = Sample(run, sampled);
      continue;
    }
    if (!results) return Outcome(Declined{results.error().message, results.error().code == ErrorCode::kLimit});
    const auto difference = DisagreementOf(references, run, arguments, model, *results, elements);
    if (difference) {
      if (++tried == models_.size()) return Outcome(Declined{"it disagrees with the original: " + *difference});
      continue;
    }
    models_.erase(models_.begin(), models_.begin() + static_cast<ptrdiff_t>(tried));
    for (size_t o = 0; o < references.size(); ++o) {
      const OutputLayout& layout = run.layouts[o];
      auto* result = ResultNamed(*results, layout.name);
      if (result == nullptr || !core::IsFloat(layout.dtype)) continue;
      const auto* indices = IndicesOf(elements, layout.name);
      const size_t count = references[o].bytes.size() / core::SizeOf(layout.dtype);
      references[o].truth = ValuesOf(result->real, *result, indices, count);
      references[o].bound = ValuesOf(result->errors, *result, indices, count);
      references[o].accumulation = model.accumulation;
      references[o].kept = model.stores ? core::MachineEpsilon(*model.stores) / 2 : 0;
      references[o].source = TruthSource::kForm;
    }
    return Outcome(Use{extent, model, sampled});
  }
}

// Parts of a sum that wait in 16 bits may have become infinite: nothing bounds what such elements are off, if they are.
std::optional<std::string> FormTruth::DisagreementOf(const std::vector<OutputReference>& references,
                                                     const OriginalRun& run, const Arguments& arguments,
                                                     const Model& model, std::vector<core::TensorResult>& results,
                                                     const core::OutputElements* elements) const {
  auto difference = FindDisagreement(references, run, results, elements);
  if (!difference || !model.stores) return difference;
  core::EvaluateOptions options = OptionsFor(model, false);
  options.errors->stores_parts = true;
  auto of_parts = Evaluate(arguments, options, elements);
  if (!of_parts) return difference;
  for (size_t o = 0; o < references.size(); ++o) {
    const std::string& name = run.layouts[o].name;
    core::TensorResult* result = ResultNamed(results, name);
    const core::TensorResult* parts = ResultNamed(*of_parts, name);
    if (result == nullptr || parts == nullptr || parts->errors.size() != result->errors.size()) continue;
    const ElementCheck check{run.layouts[o], references[o], *result, ContentBefore(run, name)};
    const auto* indices = IndicesOf(elements, name);
    for (size_t i = 0; i < result->errors.size(); ++i)
      if (std::isinf(parts->errors[i]) && result->written[i] != 0 && check.Fails(ElementAt(indices, i), i))
        result->errors[i] = parts->errors[i];
  }
  return FindDisagreement(references, run, results, elements);
}

FormTruth::Added FormTruth::AddElements(std::vector<OutputReference>& references, const OriginalRun& run,
                                        const Use& use, const core::OutputElements& elements) const {
  const Arguments arguments = FormArgumentsOf(*spec_, run.c, run.inputs);
  auto results = Evaluate(arguments, OptionsFor(use.model, false), &elements);
  if (!results) return results.error().code == ErrorCode::kLimit ? Added::kTooMuch : Added::kNone;
  const auto single = Evaluate(arguments, OptionsFor(use.model, true), &elements);
  if (!single || DisagreementOf(references, run, arguments, use.model, *results, &elements)) return Added::kNone;
  for (size_t o = 0; o < references.size(); ++o) {
    const auto* indices = IndicesOf(&elements, run.layouts[o].name);
    const core::TensorResult* result = ResultNamed(*results, run.layouts[o].name);
    if (indices == nullptr || result == nullptr || !references[o].has_bounds()) continue;
    const auto once = std::find_if(single->begin(), single->end(),
                                   [&](const core::TensorResult& other) { return other.name == result->name; });
    std::vector<std::pair<int64_t, double>> truth, bound, of_single;
    for (size_t i = 0; i < indices->size(); ++i) {
      if (result->written[i] == 0) continue;
      truth.emplace_back((*indices)[i], result->real[i]);
      bound.emplace_back((*indices)[i], result->errors[i]);
      if (once != single->end()) of_single.emplace_back((*indices)[i], once->errors[i]);
    }
    references[o].truth.Add(truth);
    references[o].bound.Add(bound);
    if (!references[o].single.empty()) references[o].single.Add(of_single);
  }
  return Added::kAll;
}

void FormTruth::AddHonestRuns(std::vector<OutputReference>& references, const OriginalRun& run, const Use& use) const {
  const Arguments arguments = FormArgumentsOf(*spec_, run.c, run.inputs);
  core::OutputElements sample;
  if (use.extent == Extent::kSampled) sample = Sample(run, use.sampled);
  const core::OutputElements* elements = use.extent == Extent::kSampled ? &sample : nullptr;
  if (auto single = Evaluate(arguments, OptionsFor(use.model, true), elements)) {
    for (size_t o = 0; o < references.size(); ++o) {
      auto* result = ResultNamed(*single, run.layouts[o].name);
      if (references[o].bound.empty() || result == nullptr) continue;
      references[o].single =
          ValuesOf(result->errors, *result, IndicesOf(elements, run.layouts[o].name), references[o].bound.size());
    }
  }
  const auto whole = elements == nullptr ? EvaluatorFor(arguments, {}, nullptr) : Fail(ErrorCode::kLimit, "");
  if (whole && whole->work() > kMostHonestSteps) {
    size_t most = 0;
    for (const OutputReference& reference : references) most = std::max(most, reference.bound.size());
    sample = Sample(run, std::max<size_t>(1, most * kMostHonestSteps / whole->work()));
    elements = &sample;
  }
  if (use.extent == Extent::kSampled) sample = SomeRowsOf(sample);
  AddShares(references, run, arguments, elements, use.model);
  if (use.extent == Extent::kWhole) AddConditioning(references, run);
}

// In f32, term by term, and with other orders and roundings; of few elements more, since chance has more to say there.
// In f64 only conversions and the output round.
void FormTruth::AddShares(std::vector<OutputReference>& references, const OriginalRun& run, const Arguments& arguments,
                          const core::OutputElements* elements, const Model& model) const {
  const bool wide = model.accumulation == core::DType::kF64;
  size_t least = std::numeric_limits<size_t>::max();
  for (const OutputReference& reference : references)
    if (!reference.bound.empty()) least = std::min(least, reference.bound.size());
  const uint64_t usual = wide ? 1 : least < kFewOutputs ? 8 : 2;
  const uint64_t runs = usual + (!wide && MayUseTensorCores(*spec_) ? 1 : 0);
  const auto evaluate = [&](uint64_t r) {
    core::EvaluateOptions options;
    if (r == usual) options.trial = core::FormatTrial{.truncates_sums = true};
    else if (!wide) options.trial = core::FormatTrial{.random_rounding = r > 0, .order = r, .seed = r};
    return Evaluate(arguments, options, elements);
  };
  std::vector<OutputReference> known(references.size());  // of the sample, where there is one
  for (size_t o = 0; o < references.size(); ++o)
    if (const auto* indices = IndicesOf(elements, run.layouts[o].name);
        indices != nullptr && !references[o].bound.empty())
      known[o] = Gathered(references[o], *indices);
  const auto add = [&](std::vector<core::TensorResult>& results) {
    for (size_t o = 0; o < references.size(); ++o) {
      auto* result = ResultNamed(results, run.layouts[o].name);
      if (references[o].bound.empty() || result == nullptr) continue;
      const OutputReference& reference = known[o].has_bounds() ? known[o] : references[o];
      const ElementValues values = ValuesOf(result->real, *result, nullptr, result->real.size());
      references[o].honest.Widen(MeasureErrors(reference, values.stored()));
    }
  };
  // A long sum is taken term by term, on one core: where the results take little room, all runs are on their way.
  const auto evaluator = EvaluatorFor(arguments, {}, elements);
  if (!evaluator) return;
  const uint64_t together = evaluator->elements() <= kTogether ? runs : 1;
  for (uint64_t first = 0; first < runs; first += together) {
    std::vector<std::optional<Result<std::vector<core::TensorResult>>>> results(together);
    base::ParallelFor(
        together,
        [&](size_t begin, size_t end) {
          for (size_t r = begin; r < end; ++r) results[r].emplace(evaluate(first + r));
        },
        1);
    for (auto& result : results) {
      if (!*result) return;
      add(**result);
    }
  }
}

// Of few elements, by which the self-test scales errors: some may have come out near zero.
void FormTruth::AddConditioning(std::vector<OutputReference>& references, const OriginalRun& run) const {
  const bool few = std::any_of(references.begin(), references.end(), [](const OutputReference& reference) {
    return !reference.bound.empty() && reference.bound.size() < kFewOutputs;
  });
  if (!few) return;
  std::vector<core::BufferContent> inputs = run.inputs;
  PerturbInputs(*spec_, 0x1.0p-23, run.seed, inputs);
  const Arguments arguments = FormArgumentsOf(*spec_, run.c, inputs);
  auto results = Evaluate(arguments, {.rounds = false}, nullptr);
  if (!results) return;
  for (size_t o = 0; o < references.size(); ++o) {
    const auto* result = ResultNamed(*results, run.layouts[o].name);
    OutputReference& reference = references[o];
    if (reference.bound.empty() || result == nullptr) continue;
    reference.conditioning.resize(reference.truth.size());  // of few elements, which all are known
    for (size_t i = 0; i < reference.truth.size(); ++i)
      reference.conditioning[i] = std::fabs(result->real[i] - reference.truth[i]);
  }
}

}  // namespace warpwright::judge
