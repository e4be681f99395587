#include "lift/numeric_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/computation_evaluate.h"

namespace warpwright::lift {
namespace {

// Literals are kept to seven digits, so a form's value is not the last bit's truth: an error of a literal's rounding is
// let pass beside the bound of the computation.
constexpr double kCheckedLiteralError = 1e-6;
constexpr double kBoundFactor = 2;
// Where no element has a bound: what most of them keep, relative to themselves or to a typical one.
constexpr double kCoarse = 1.0 / 32, kMost = 0.75;

struct Contents {
  std::vector<double> real;
  std::vector<int64_t> integers;
};

bool Agrees(double simulated, double computed, double error) {
  if (std::isnan(simulated) || std::isnan(computed)) return std::isnan(simulated) == std::isnan(computed);
  if (!std::isfinite(error)) return true;  // the bound says nothing here
  if (std::isinf(simulated) || std::isinf(computed)) return simulated == computed;
  return std::fabs(simulated - computed) <= kBoundFactor * error + kCheckedLiteralError * std::fabs(computed);
}

class Comparison {
 public:
  Comparison(const core::TensorResult& result, const TracedBuffer& traced) : result_(result), traced_(traced) {}

  std::string Run() const {
    if (traced_.written.size() != result_.written.size()) return fmt::format("{} has another size", result_.name);
    for (size_t e = 0; e < result_.written.size(); ++e) {
      if ((result_.written[e] != 0) != traced_.written[e])
        return fmt::format("{}[{}] is written by the {} alone", result_.name, e,
                           traced_.written[e] ? "kernel" : "form");
      if (traced_.written[e] && !AgreesAt(e)) return Difference(e);
    }
    if (IsBlind()) return fmt::format("what rounding may do to {} by the form is as large as its values", result_.name);
    return CoarseDifference();
  }

 private:
  bool IsReal() const { return core::IsFloat(result_.dtype); }
  // Every number would have agreed: a form in which everything cancels (1 / eps - 1 / eps) has bounds like that.
  bool IsBlind() const {
    if (!IsReal() || result_.errors.empty()) return false;
    double largest = 0, least_error = INFINITY;
    for (size_t e = 0; e < result_.written.size(); ++e) {
      if (!traced_.written[e]) continue;
      const double value = std::fabs(core::LoadAsDouble(result_.dtype, Bytes(e), 0));
      if (std::isfinite(value)) largest = std::max(largest, value);
      least_error = std::min(least_error, Error(e));
    }
    return std::isfinite(least_error) && largest > 0 && kBoundFactor * least_error > largest;
  }
  // Without any bound every number has agreed so far: those of another form, too.
  std::string CoarseDifference() const {
    if (!IsReal() || result_.errors.empty()) return {};
    std::vector<size_t> finite, apart;
    double squares = 0;
    for (size_t e = 0; e < result_.written.size(); ++e) {
      if (!traced_.written[e]) continue;
      if (std::isfinite(Error(e))) return {};
      if (!std::isfinite(Value(e)) || !std::isfinite(result_.real[e])) continue;
      finite.push_back(e);
      squares += Value(e) * Value(e);
    }
    const double typical = std::sqrt(squares / std::max<double>(1, static_cast<double>(finite.size())));
    for (const size_t e : finite)
      if (std::fabs(Value(e) - result_.real[e]) > kCoarse * std::max(std::fabs(Value(e)), typical)) apart.push_back(e);
    const double most = (1 - kMost) * static_cast<double>(finite.size());
    return static_cast<double>(apart.size()) > most ? Difference(apart[0]) : std::string();
  }
  double Value(size_t e) const { return core::LoadAsDouble(result_.dtype, Bytes(e), 0); }
  const std::byte* Bytes(size_t e) const { return reinterpret_cast<const std::byte*>(&traced_.bits[e]); }
  double Error(size_t e) const { return result_.errors.empty() ? 0 : result_.errors[e]; }
  bool AgreesAt(size_t e) const {
    if (IsReal()) return Agrees(core::LoadAsDouble(result_.dtype, Bytes(e), 0), result_.real[e], Error(e));
    // An index by a comparison that rounding may turn has an error.
    // Of the computed number, what fits is stored.
    const auto* stored = reinterpret_cast<const std::byte*>(&result_.integers[e]);
    const int64_t computed = core::LoadAsInteger(result_.dtype, stored, 0);
    return core::LoadAsInteger(result_.dtype, Bytes(e), 0) == computed || Error(e) > 0;
  }
  std::string Difference(size_t e) const {
    const double computed = IsReal() ? result_.real[e] : static_cast<double>(result_.integers[e]);
    return fmt::format("{}[{}] is {:.9g}, by the form {:.9g}", result_.name, e,
                       core::LoadAsDouble(result_.dtype, Bytes(e), 0), computed);
  }

  const core::TensorResult& result_;
  const TracedBuffer& traced_;
};

TracedBuffer WrittenOf(const TracedBuffer& buffer, core::OutputElements& elements) {
  TracedBuffer written{.name = buffer.name};
  for (size_t e = 0; e < buffer.written.size(); ++e) {
    if (!buffer.written[e]) continue;
    elements[buffer.name].push_back(static_cast<int64_t>(e));
    written.bits.push_back(buffer.bits[e]);
    written.written.push_back(true);
  }
  return written;
}

// `sampled`: elements that were not written do not count.
Result<std::optional<std::string>> Compare(const core::Computation& computation, const FormAtShape& shape,
                                           const std::vector<core::BufferContent>& buffers,
                                           const std::vector<TracedBuffer>& traced_buffers,
                                           const core::KernelSpec& spec, const core::ErrorModel& errors, bool sampled) {
  using Outcome = std::optional<std::string>;
  core::EvaluateOptions options;
  options.errors = errors;
  auto evaluator = core::ComputationEvaluator::Compile(computation, shape.sizes, options);
  if (!evaluator) return Outcome("it cannot be evaluated: " + evaluator.error().message);
  std::vector<Contents> contents(buffers.size());
  core::ArgumentValues arguments;
  arguments.scalars = shape.reals;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const auto dtype = std::get<core::BufferArgument>(spec.Find(buffers[b].name)->kind).dtype;
    const size_t count = buffers[b].bytes.size() / core::SizeOf(dtype);
    for (size_t i = 0; i < count; ++i) {
      if (core::IsFloat(dtype)) contents[b].real.push_back(core::LoadAsDouble(dtype, buffers[b].bytes.data(), i));
      else contents[b].integers.push_back(core::LoadAsInteger(dtype, buffers[b].bytes.data(), i));
    }
    arguments.tensors[buffers[b].name] = {contents[b].real, contents[b].integers};
  }
  core::OutputElements elements;
  std::vector<TracedBuffer> written;
  for (size_t b = 0; sampled && b < traced_buffers.size(); ++b)
    written.push_back(WrittenOf(traced_buffers[b], elements));
  const std::vector<TracedBuffer>& compared = sampled ? written : traced_buffers;
  auto results = sampled ? evaluator->RunAt(arguments, elements, options.work_limit) : evaluator->Run(arguments);
  if (!results) return Outcome("it cannot be evaluated: " + results.error().message);
  for (const core::TensorResult& result : *results) {
    const auto traced =
        std::find_if(compared.begin(), compared.end(), [&](const TracedBuffer& b) { return b.name == result.name; });
    if (traced == compared.end()) return Outcome("it writes another buffer");
    if (std::string difference = Comparison(result, *traced).Run(); !difference.empty()) return Outcome(difference);
  }
  return Outcome(std::string());
}

// By the tightest bound that it keeps. What rounds in between mostly does so once for each value that it stores, and
// adds up in a wider format; bounds of sums in the narrow one say nothing after a few layers.
Result<std::optional<std::string>> CompareByBounds(const core::Computation& computation, const FormAtShape& shape,
                                                   const std::vector<core::BufferContent>& buffers,
                                                   const std::vector<TracedBuffer>& traced,
                                                   const core::KernelSpec& spec, std::optional<core::DType> narrow,
                                                   bool sampled) {
  const bool has_double = std::any_of(computation.tensors.begin(), computation.tensors.end(),
                                      [](const core::TensorArgument& t) { return t.dtype == core::DType::kF64; });
  core::ErrorModel errors{.accumulation = has_double ? core::DType::kF64 : core::DType::kF32, .fast = true};
  errors.stores = narrow;
  WW_ASSIGN(auto difference, Compare(computation, shape, buffers, traced, spec, errors, sampled));
  if (!narrow || !difference || difference->empty()) return difference;
  errors.accumulation = *narrow;
  errors.stores.reset();
  return Compare(computation, shape, buffers, traced, spec, errors, sampled);
}

}  // namespace

Result<std::optional<std::string>> CompareWithTrace(const core::Computation& computation, const FormAtShape& shape,
                                                    const std::vector<core::BufferContent>& buffers,
                                                    const std::vector<TracedBuffer>& traced,
                                                    const core::KernelSpec& spec, std::optional<core::DType> narrow) {
  return CompareByBounds(computation, shape, buffers, traced, spec, narrow, false);
}

Result<std::optional<std::string>> CompareWithSample(const core::Computation& computation, const FormAtShape& shape,
                                                     const std::vector<core::BufferContent>& buffers,
                                                     const std::vector<TracedBuffer>& traced,
                                                     const core::KernelSpec& spec, std::optional<core::DType> narrow) {
  return CompareByBounds(computation, shape, buffers, traced, spec, narrow, true);
}

}  // namespace warpwright::lift
