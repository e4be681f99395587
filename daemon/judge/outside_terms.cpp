#include "judge/outside_terms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "core/computation_walk.h"
#include "core/outside_terms.h"
#include "core/typed_values.h"
#include "judge/form_arguments.h"

namespace warpwright::judge {
namespace {

using core::Guard;
using core::NodeId;

constexpr size_t kMostShapes = 3, kMostRuns = 8;  // of the request, for one sum
constexpr double kInfiniteTerms = 0.7;            // of a sum: one that is inside hides one that is outside
constexpr uint64_t kEvaluationSteps = 50'000'000;
constexpr uint64_t kInstructions = 60'000'000;
constexpr double kNear = 1.0 / 32;  // of results, beside how large they are: 16-bit intermediates
constexpr size_t kFewest = 3;       // results that say so
constexpr uint64_t kStream = 0x6f757473696465ULL;

// One sum whose terms may be outside.
class SumOutside {
 public:
  SumOutside(const core::LiftRequest& request, core::Evaluator& worker, core::Computation& form, size_t stage,
             NodeId sum)
      : request_(request), worker_(worker), form_(form), stage_(stage), sum_(sum) {}

  Status Tell() {
    FindOpen();
    std::vector<std::pair<const core::LiftShape*, core::Case>> shapes;
    for (const core::LiftShape& shape : request_.shapes) {
      core::Case c{.name = "outside", .scalars = shape.scalars};
      if (shapes.size() < kMostShapes && !core::BrokenAssumption(form_, core::IntegerScalars(c)))
        shapes.emplace_back(&shape, std::move(c));
    }
    for (uint64_t run = 0; run < kMostRuns && !open_.empty() && !shapes.empty(); ++run) {
      const auto& [shape, c] = shapes[run / open_.size() % shapes.size()];
      WW_TRY(TellAt(*shape, c, run));
    }
    return {};
  }

 private:
  core::Reduce& sum() { return std::get<core::Reduce>(form_.stages[stage_].nodes[sum_]); }

  // Guards at which something ends, and the tensors that are multiplied with it.
  void FindOpen() {
    const core::Stage& stage = form_.stages[stage_];
    for (size_t g = 0; g < sum().guards.size(); ++g) {
      std::set<NodeId> ended = core::NodesThatEnd(form_, stage, sum(), sum().guards[g]);
      for (NodeId id = sum().body; id-- > 0;)  // with what it is made of
        if (ended.contains(id)) core::ForEachArgument(stage.nodes[id], [&](NodeId arg) { ended.insert(arg); });
      std::set<std::string> weights, inside;
      for (NodeId id = 0; id <= sum().body && !ended.empty(); ++id) {
        const auto* read = std::get_if<core::TensorRead>(&stage.nodes[id]);
        const core::TensorArgument* tensor = read && !read->stage ? form_.FindTensor(read->tensor) : nullptr;
        if (tensor == nullptr || !core::IsFloat(tensor->dtype)) continue;
        (ended.contains(id) ? inside : weights).insert(read->tensor);
      }
      for (const std::string& tensor : inside) weights.erase(tensor);
      if (!weights.empty()) open_[g] = std::move(weights);
    }
  }

  // The contents of the shape, with some weights infinite.
  std::vector<core::BufferContent> Infinite(const core::LiftShape& shape, const core::SizeValues& sizes,
                                            uint64_t seed) {
    double terms = 1;
    for (const auto& variable : sum().variables)
      terms *= static_cast<double>(std::max<int64_t>(variable.extent.Evaluate(sizes).value_or(1), 1));
    const double share = std::min(1.0, kInfiniteTerms / terms);
    const std::set<std::string>& weights =
        std::next(open_.begin(), static_cast<ptrdiff_t>(seed % open_.size()))->second;
    std::vector<core::BufferContent> contents = shape.buffers;
    uint64_t stream = kStream;
    for (core::BufferContent& content : contents) {
      if (!weights.contains(content.name)) continue;
      const core::DType dtype = form_.FindTensor(content.name)->dtype;
      std::vector<std::byte> bytes = content.bytes.Copy();
      const size_t count = bytes.size() / core::SizeOf(dtype);
      const base::CounterRandom random(seed, stream++);
      const auto make_infinite = [&](size_t i) {
        core::StoreFromDouble(dtype, bytes.data(), i, std::numeric_limits<double>::infinity());
      };
      if (count > 0) make_infinite(random.Below(count, count));
      for (size_t i = 0; i < count; ++i)
        if (random.Uniform(i) < share) make_infinite(i);
      content.bytes = std::move(bytes);
    }
    return contents;
  }

  Status TellAt(const core::LiftShape& shape, const core::Case& c, uint64_t seed) {
    core::ExecuteRequest run{.source = request_.source,
                             .spec = request_.spec,
                             .case_name = c.name,
                             .scalars = shape.scalars,
                             .buffers = Infinite(shape, core::IntegerScalars(c), seed),
                             .device = request_.device,
                             .options = {}};
    run.options.instruction_limit = kInstructions;
    const FormArguments arguments = FormArgumentsOf(request_.spec, c, run.buffers);
    if (!Evaluate(form_, arguments)) return {};
    WW_ASSIGN(const core::ExecuteOutcome outcome, worker_.Execute(run));
    const auto* executed = std::get_if<core::Executed>(&outcome);
    if (executed == nullptr || executed->buffers.size() != run.buffers.size()) return {};
    for (auto g = open_.begin(); g != open_.end();) {
      const auto without = Evaluate(form_, arguments);
      Guard::Outside& outside = sum().guards[g->first].outside;
      outside = Guard::Outside::kZero;
      const auto zero = Evaluate(form_, arguments);
      outside = without && zero ? Compare(*executed, *without, *zero) : Guard::Outside::kUnknown;
      g = outside == Guard::Outside::kUnknown ? std::next(g) : open_.erase(g);
    }
    return {};
  }

  // Terms of which nothing is known are left out.
  static std::optional<std::vector<core::TensorResult>> Evaluate(const core::Computation& computation,
                                                                 const FormArguments& arguments) {
    core::EvaluateOptions options;
    options.work_limit = kEvaluationSteps;
    const core::Computation form = core::WithZerosOutside(computation);
    if (!core::Validate(form)) return std::nullopt;
    const auto evaluator = core::ComputationEvaluator::Compile(form, arguments.sizes, options);
    if (!evaluator) return std::nullopt;
    auto results = evaluator->Run(arguments.values);
    if (!results) return std::nullopt;
    return std::move(*results);
  }

  // Of the results that are others with these terms, as a rule no numbers, the ones that the entry has.
  Guard::Outside Compare(const core::Executed& executed, const std::vector<core::TensorResult>& without,
                         const std::vector<core::TensorResult>& zero) const {
    size_t left_out = 0, others = 0, index = 0;
    for (const core::Argument& argument : request_.spec.args) {
      const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
      if (buffer == nullptr) continue;
      const auto& bytes = executed.buffers[index++];
      const auto named = [&](const core::TensorResult& r) { return r.name == argument.name; };
      const auto a = std::find_if(without.begin(), without.end(), named);
      const auto b = std::find_if(zero.begin(), zero.end(), named);
      if (a == without.end() || b == zero.end() || !core::IsFloat(buffer->dtype)) continue;
      const double scale = ScaleOf(*a);
      for (size_t i = 0; i < a->real.size() && i < bytes.size() / core::SizeOf(buffer->dtype); ++i) {
        if (a->written[i] == 0 || !std::isfinite(a->real[i])) continue;
        const double most = kNear * (std::abs(a->real[i]) + scale);
        if (std::abs(b->real[i] - a->real[i]) <= 2 * most) continue;
        const double own = core::LoadAsDouble(buffer->dtype, bytes.data(), i);
        const bool near = std::abs(own - a->real[i]) <= most;
        near ? ++left_out : ++others;
      }
    }
    if (others == 0) return left_out < kFewest ? Guard::Outside::kUnknown : Guard::Outside::kLeftOut;
    // A clamp may make the same number of what is none.
    return others < kFewest || others < left_out / 4 ? Guard::Outside::kUnknown : Guard::Outside::kZero;
  }
  static double ScaleOf(const core::TensorResult& result) {
    double sum = 0;
    size_t count = 0;
    for (const double value : result.real)
      if (std::isfinite(value)) sum += value * value, ++count;
    return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
  }

  const core::LiftRequest& request_;
  core::Evaluator& worker_;
  core::Computation& form_;
  const size_t stage_;
  const NodeId sum_;
  std::map<size_t, std::set<std::string>> open_;  // guards, with the tensors that weigh what ends there
};

}  // namespace

Status TellOutsideTerms(const core::LiftRequest& request, core::Evaluator& worker, core::Lifted& lifted) {
  for (size_t stage = 0; stage < lifted.computation.stages.size(); ++stage)
    for (NodeId id = 0; id < lifted.computation.stages[stage].nodes.size(); ++id) {
      const auto* reduce = std::get_if<core::Reduce>(&lifted.computation.stages[stage].nodes[id]);
      if (reduce != nullptr && reduce->op == core::ReduceOp::kSum && !reduce->guards.empty())
        WW_TRY(SumOutside(request, worker, lifted.computation, stage, id).Tell());
    }
  return {};
}

}  // namespace warpwright::judge
