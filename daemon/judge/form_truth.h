// The truth from the form: what the original computes (core/computation.h), evaluated in float64 on a trial's inputs.
// Beside each element's value stands what rounding may do to it: a bound for every order of its sums, in the formats
// that the original uses, and how far honest runs in these formats come out from the truth.
//
// A form is lifted at small shapes. So in every trial it is held against the original's outputs first, and is used only
// where all of them are within the bound.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/computation_evaluate.h"
#include "core/lifting.h"
#include "judge/compare.h"
#include "judge/form_arguments.h"
#include "judge/trial.h"

namespace warpwright::judge {

// What an evaluation may take: more is left to the float64 shadow, else to a sample of the elements.
struct FormLimits {
  uint64_t steps = 5'000'000'000;          // about six seconds of processor time
  uint64_t sampled_steps = 1'500'000'000;  // of a sample, which large cases have, whose trials are many
  uint64_t elements = 64'000'000;          // of all stages
  size_t sampled = 4096;                   // elements of an output; fewer where these take too much
};

// A trial as the original ran it, for the form to be held against.
struct OriginalRun {
  const core::Case& c;
  uint64_t seed = 0;
  const std::vector<core::BufferContent>& inputs;
  const std::vector<OutputLayout>& layouts;  // of the outputs
  const core::CodeUses& uses;
};

// Whether a kernel of this entry may use tensor cores, which take factors of 16 bits, and sum them in f32 with other
// roundings than a multiprocessor's other units: some input has 16 bits.
bool MayUseTensorCores(const core::KernelSpec& spec);

class FormTruth {
 public:
  // kUnsupported with the reason if there is no form, or none that was verified.
  static Result<FormTruth> Create(const core::KernelSpec& spec, const core::LiftOutcome& outcome,
                                  FormLimits limits = {});

  enum class Extent : uint8_t { kWhole, kSampled };
  // Formats that the original may compute in.
  struct Model {
    core::DType accumulation = core::DType::kF32;
    bool fast = false;
    // Values are kept in that format, which sums are rounded to once: a sum that is stored before a norm reads it.
    bool kept = false;
    // Sums and functions are computed in f32, and their results kept in that format: factors of a product.
    std::optional<core::DType> stores = {};
    // Chains of sums may be of any length: of an original that is farther off than parts of a long sum explain.
    bool any_order = false;
  };
  // How a trial's truth was found.
  struct Use {
    Extent extent = Extent::kWhole;
    Model model;
    size_t sampled = 0;  // elements of an output, if it is a sample
  };
  // Fills in truth and bounds of the outputs, parallel to `run.layouts`. Why not, if it does not: the form takes too
  // much (then a sample may still do), or disagrees with the original.
  struct Declined {
    std::string reason;
    bool too_much = false;  // or these sizes are none of the form's: nothing speaks against it elsewhere
  };
  using Outcome = std::variant<Use, Declined>;
  Result<Outcome> AddTo(std::vector<OutputReference>& references, const OriginalRun& run, Extent extent);
  // What only widens tolerances, after AddTo: the bounds if sums rounded once, the errors of honest runs, and of few
  // elements the conditioning.
  void AddHonestRuns(std::vector<OutputReference>& references, const OriginalRun& run, const Use& use) const;
  // After AddTo with a sample: truth and bounds of these elements too, which are in none.
  enum class Added : uint8_t { kAll, kTooMuch, kNone };  // kNone: the original's are not what the form says
  Added AddElements(std::vector<OutputReference>& references, const OriginalRun& run, const Use& use,
                    const core::OutputElements& elements) const;
  const core::Computation& computation() const { return *computation_; }

 private:
  using Arguments = FormArguments;

  FormTruth(const core::KernelSpec& spec, core::Computation computation, FormLimits limits);
  void ChooseModels(const core::CodeUses& uses);
  Result<core::ComputationEvaluator> EvaluatorFor(const Arguments& arguments, core::EvaluateOptions options,
                                                  const core::OutputElements* elements) const;
  Result<std::vector<core::TensorResult>> Evaluate(const Arguments& arguments, core::EvaluateOptions options,
                                                   const core::OutputElements* elements) const;
  static core::OutputElements Sample(const OriginalRun& run, size_t size);
  static core::EvaluateOptions OptionsFor(const Model& model, bool single);
  std::optional<std::string> DisagreementOf(const std::vector<OutputReference>& references, const OriginalRun& run,
                                            const Arguments& arguments, const Model& model,
                                            std::vector<core::TensorResult>& results,
                                            const core::OutputElements* elements) const;
  void AddShares(std::vector<OutputReference>& references, const OriginalRun& run, const Arguments& arguments,
                 const core::OutputElements* elements, const Model& model) const;
  void AddConditioning(std::vector<OutputReference>& references, const OriginalRun& run) const;

  const core::KernelSpec* spec_;
  std::shared_ptr<const core::Computation> computation_;
  FormLimits limits_;
  std::vector<Model> models_;  // from the current one on, the most exact first
};

}  // namespace warpwright::judge
