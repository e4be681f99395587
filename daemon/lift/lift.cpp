#include "lift/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "lift/canonical.h"
#include "lift/concrete_form.h"
#include "lift/cpu_time.h"
#include "lift/dimensions.h"
#include "lift/narrow_format.h"
#include "lift/numeric_check.h"
#include "lift/shape_trace.h"
#include "lift/trace.h"
#include "lift/unify.h"

namespace warpwright::lift {
namespace {

using core::Lifted;
using core::LiftOutcome;
using core::LiftShape;
using core::NotLifted;
using Scalars = std::map<std::string, core::ScalarValue>;

constexpr double kFormCpuSeconds = 5;  // to find the statements at one shape

constexpr std::string_view kNoShape = "no shape";
constexpr double kShareOfWhole = 0.6;  // of the time, for all launches together
constexpr size_t kMostForms = 7;
// Blocks in place of all, by how many expressions one makes.
constexpr uint64_t kMostSampled = 48, kFewestSampled = 4, kSampledNodes = 600'000;
constexpr uint64_t kOtherBlocks = 17;  // seed of those that it is verified at
constexpr size_t kMostLeftOut = 2;     // of shapes with one structure, where their numbers follow from no scalar

// What an execution at a shape gave.
struct Seen {
  const LiftShape* shape = nullptr;
  FormAtShape at;  // the form is empty where there is none
  bool has_form = false;
  std::vector<TracedBuffer> buffers;  // without expressions; empty: it was not executed
};
using ShapeOutcome = std::variant<NotLifted, FormAtShape>;
using Traced = std::variant<NotLifted, Trace>;

class Lifting {
 public:
  Lifting(const core::LiftRequest& request, const Prepare& prepare)
      : request_(request), spec_(request.spec), prepare_(prepare) {
    uint16_t position = 0;
    for (const core::Argument& argument : spec_.args) {
      if (std::holds_alternative<core::ScalarArgument>(argument.kind)) scalar_names_[position] = argument.name;
      ++position;
    }
    dimensions_ = DimensionsBy(FactorOrder::kAsWritten);
  }

  Result<LiftOutcome> Run() {
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const double cpu_begin = CpuSeconds();
    cpu_end_ = cpu_begin + request_.seconds_limit * kShareOfWhole;
    WW_ASSIGN(LiftOutcome outcome, Attempt());
    // Pairs that lie together may be simple where halves that lie apart are not.
    if (auto other = DimensionsBy(FactorOrder::kNumbersLast); other != dimensions_) {
      std::swap(dimensions_, other);
      WW_TRY(TryInstead(outcome));
      if (!std::holds_alternative<Lifted>(outcome)) std::swap(dimensions_, other);
    }
    cpu_end_ = cpu_begin + request_.seconds_limit;
    // What a launch leaves for the next one may be simple where all of them together are not.
    if (launches_ > 1) {
      cut_ = true;
      WW_TRY(TryInstead(outcome));
    }
    WW_TRY(TryBlocks(outcome));
    if (auto* lifted = std::get_if<Lifted>(&outcome)) lifted->seconds = elapsed();
    return outcome;
  }

 private:
  std::vector<std::vector<core::Expression>> DimensionsBy(FactorOrder order) const {
    std::vector<std::vector<core::Expression>> dimensions;
    for (const core::Argument& argument : spec_.args)
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
        dimensions.push_back(DimensionsOf(*buffer, order));
    return dimensions;
  }

  // Another attempt from the beginning, where the one before failed and time is left.
  Status TryInstead(LiftOutcome& outcome) {
    if (std::holds_alternative<Lifted>(outcome) || !InTime()) return {};
    if (IsTooLarge(std::get<NotLifted>(outcome))) return {};
    seen_.clear();
    notes_.clear();
    failure_ = {};
    next_ = 0;
    WW_ASSIGN(LiftOutcome other, Attempt());
    if (std::holds_alternative<Lifted>(other)) outcome = std::move(other);
    return {};
  }

  // Other data, or another way of looking at it, make it no smaller.
  bool IsTooLarge(const NotLifted& blocked) const {
    return launches_ == 1 && DifferentSizes() == 1 &&
           (blocked.blocker == "node limit" || blocked.blocker == "instruction limit");
  }

  // From some blocks, right at others: of a launch whose size is fixed and too large.
  Status TryBlocks(LiftOutcome& outcome) {
    const auto* blocked = std::get_if<NotLifted>(&outcome);
    if (blocked == nullptr || !IsTooLarge(*blocked) || request_.shapes.size() < 2 || !InTime()) return {};
    seen_.clear();
    notes_.clear();
    cut_ = false;
    core::Dim3 whole;
    blocks_ = [&](const core::Dim3& grid) { return whole = grid, BlockList{0}; };
    WW_ASSIGN(const auto one, TraceAt(request_.shapes[0]));
    const Trace* first = std::get_if<Trace>(&one);
    if (first == nullptr) return {};
    const uint64_t count = std::min<uint64_t>(kMostSampled, kSampledNodes / first->graph.size());
    if (count < kFewestSampled) return {};
    blocks_ = [&](const core::Dim3& grid) { return GridSample(grid, count); };
    WW_TRY(See(request_.shapes[0]));
    if (forms() == 0) return {};
    std::string why;
    WW_ASSIGN(std::optional<Lifted> lifted, UnifiedOver({seen_[0].at}, why));
    if (!lifted) return {};
    blocks_ = [&](const core::Dim3& grid) { return RandomSample(grid, count, kOtherBlocks); };
    const LiftShape& shape = request_.shapes[1];
    WW_ASSIGN(const auto others, TraceAt(shape));
    const Trace* trace = std::get_if<Trace>(&others);
    if (trace == nullptr) return {};
    WW_ASSIGN(const std::string difference,
              DifferenceAt(lifted->computation, {.shape = &shape, .at = Named(shape.scalars)}, trace->buffers));
    if (!difference.empty()) return {};
    lifted->verified = true;
    AddAssumptions(lifted->computation);
    const BlockList grid = GridSample(whole, count), random = RandomSample(whole, count, kOtherBlocks);
    std::set<uint64_t> seen(grid.begin(), grid.end());
    seen.insert(random.begin(), random.end());
    lifted->computation.assumptions.push_back(
        fmt::format("all {} blocks compute what {} of them were seen to", whole.Count(), seen.size()));
    outcome = std::move(*lifted);
    return {};
  }

  Result<LiftOutcome> Attempt() {
    for (size_t wanted = std::min<size_t>(request_.unified_shapes, DifferentSizes());;) {
      while (forms() < wanted && next_ < request_.shapes.size() && InTime() && !IsTooLarge(failure_))
        WW_TRY(See(request_.shapes[next_++]));
      if (forms() == 0) return LiftOutcome(std::move(failure_));
      WW_ASSIGN(std::optional<Lifted> lifted, UnifyMost());
      if (!lifted) {
        if (forms() < wanted || forms() == kMostForms) return LiftOutcome(std::move(failure_));
        wanted = forms() + 1;
        continue;
      }
      WW_ASSIGN(const bool agrees, VerifyAtNext(*lifted));
      if (!agrees) {  // that shape is among the forms now
        if (forms() >= kMostForms) return LiftOutcome(std::move(failure_));
        wanted = forms();
        continue;
      }
      if (lifted->shapes == 2 && !lifted->verified)
        return LiftOutcome(
            NotLifted{"too few shapes", "two shapes do not tell how sizes follow from the scalars", true});
      AddAssumptions(lifted->computation);
      lifted->notes = std::move(notes_);
      return LiftOutcome(std::move(*lifted));
    }
  }

  std::string Describe(const FormAtShape& shape) const {
    std::string text;
    for (const core::Argument& argument : spec_.args)
      if (const auto found = shape.sizes.find(argument.name); found != shape.sizes.end())
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", argument.name, found->second);
    return text.empty() ? "its only shape" : text;
  }
  static FormAtShape Named(const Scalars& scalars) {
    FormAtShape form;
    for (const auto& [name, value] : scalars) {
      if (const int64_t* integer = std::get_if<int64_t>(&value)) form.sizes[name] = *integer;
      else form.reals[name] = std::get<double>(value);
    }
    return form;
  }
  // Until statements are unified, nobody knows which arguments and sizes are left in them.
  static void NameWhatIsRead(core::Computation& computation) {
    computation.sizes = core::SizeNames(computation);
    std::set<std::string> read;
    for (const core::Stage& stage : computation.stages)
      for (const core::Node& node : stage.nodes)
        if (const auto* tensor = std::get_if<core::TensorRead>(&node); tensor != nullptr && !tensor->stage)
          read.insert(tensor->tensor);
    for (core::TensorArgument& argument : computation.tensors) argument.read = read.contains(argument.name);
  }
  // Scalars that took one value at all shapes may be anywhere in the statements as that number.
  void AddAssumptions(core::Computation& computation) const {
    for (const auto& [name, value] : seen_[0].at.sizes) {
      const bool constant = std::all_of(seen_.begin(), seen_.end(), [&](const Seen& seen) {
        return !seen.has_form || seen.at.sizes.at(name) == value;
      });
      if (constant) computation.assumptions.push_back(fmt::format("{} = {}", name, value));
      else AddEqualSizes(name, computation);
    }
  }
  // Sizes that were the same wherever the entry ran cannot be told apart in its form.
  void AddEqualSizes(const std::string& name, core::Computation& computation) const {
    for (const auto& [other, ignored] : seen_[0].at.sizes) {
      const bool equal = other > name && std::all_of(seen_.begin(), seen_.end(), [&](const Seen& seen) {
                           return !seen.has_form || seen.at.sizes.at(name) == seen.at.sizes.at(other);
                         });
      if (equal) computation.assumptions.push_back(fmt::format("{} = {}", name, other));
    }
  }

  Result<Traced> TraceAt(const LiftShape& at) {
    WW_ASSIGN(PrepareOutcome prepared, prepare_(at));
    if (const auto* not_prepared = std::get_if<NotPrepared>(&prepared)) return Traced(Blocked(*not_prepared));
    return TraceAt(at, std::get<PreparedShape>(prepared));
  }
  static NotLifted Blocked(const NotPrepared& not_prepared) { return {"not prepared", not_prepared.why, false}; }

  Result<Traced> TraceAt(const LiftShape& at, const PreparedShape& shape) {
    TraceRequest request = MakeTraceRequest(spec_, at, shape);
    request.decode = converted_[shape.module->ptx];
    request.forked = forked_;
    request.blocks = blocks_;
    request.cut_launches = cut_;
    request.node_limit = request_.node_limit;
    request.instruction_limit = request_.instruction_limit;
    WW_ASSIGN(TraceOutcome outcome, TracePlan(request));
    if (const Trace* trace = std::get_if<Trace>(&outcome); trace != nullptr && !narrow_)
      narrow_ = NarrowFormatOf(*trace);
    return std::visit(
        Overload{[](NotTraced& not_traced) { return Traced(NotLifted{not_traced.blocker, not_traced.message, false}); },
                 [](core::Fault& fault) { return Traced(NotLifted{"fault", fault.message, false}); },
                 [](Trace& trace) { return Traced(std::move(trace)); }},
        outcome);
  }

  // Where branches depend on data, once more with both sides of these; that may show others.
  Result<ShapeOutcome> FormAt(const LiftShape& at) {
    WW_ASSIGN(PrepareOutcome prepared, prepare_(at));
    if (const auto* not_prepared = std::get_if<NotPrepared>(&prepared)) return ShapeOutcome(Blocked(*not_prepared));
    const auto& shape = std::get<PreparedShape>(prepared);
    const auto& ops = shape.plan.ops;
    launches_ = std::max(launches_, static_cast<size_t>(std::count_if(ops.begin(), ops.end(), [](const auto& op) {
                           return std::holds_alternative<core::KernelLaunch>(op);
                         })));
    for (int round = 0;; ++round) {
      WW_ASSIGN(Traced traced, TraceAt(at, shape));
      if (auto* not_lifted = std::get_if<NotLifted>(&traced)) return ShapeOutcome(std::move(*not_lifted));
      const Trace& trace = std::get<Trace>(traced);
      std::vector<const DataBranch*> open;
      WW_ASSIGN(ShapeOutcome outcome, FormOf(at, trace, open));
      if (open.empty()) return outcome;
      if (round < kConversions && ConvertBranches(trace.kernels, open, converted_[shape.module->ptx])) continue;
      if (!ForkLaunches(trace.kernels, open, forked_)) return outcome;
    }
  }

  // `open`: the branches that data can turn, if there are any.
  Result<ShapeOutcome> FormOf(const LiftShape& at, const Trace& trace, std::vector<const DataBranch*>& open) {
    if (WritesNothing(trace.buffers))
      return ShapeOutcome(NotLifted{"nothing written", "the launcher writes nothing at this shape", false});
    executed_.clear();
    for (const TracedBuffer& buffer : trace.buffers)
      executed_.push_back({buffer.name, {}, buffer.written, buffer.bits});
    if (!trace.lossy.empty()) return ShapeOutcome(NotLifted{"lossy", trace.lossy[0], false});
    FormGraph forms(request_.node_limit + request_.node_limit / 2);
    std::vector<bool> integers;
    for (const core::Argument& argument : spec_.args)
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
        integers.push_back(!core::IsFloat(buffer->dtype));
    for (const TracedIntermediate& cut : trace.intermediates) integers.push_back(!core::IsFloat(cut.dtype));
    forms.SetIntegerBuffers(std::move(integers));
    std::vector<ExprId> roots;
    for (const TracedBuffer& buffer : trace.buffers)
      for (size_t e = 0; e < buffer.elements.size(); ++e)
        if (buffer.written[e] && buffer.elements[e] != kConcrete) roots.push_back(buffer.elements[e]);
    for (const TracedIntermediate& cut : trace.intermediates)
      for (const ExprId id : cut.elements)
        if (id != kConcrete) roots.push_back(id);
    const size_t outputs = roots.size();
    for (const DataBranch& branch : trace.branches) roots.push_back(branch.predicate);
    const CanonicalRoots canonical = Canonicalise(trace.graph, roots, forms);
    if (forms.full()) return ShapeOutcome(NotLifted{"node limit", "the expressions are too large", true});
    for (size_t i = 0; i < outputs; ++i)
      if (canonical.forms[i] == 0 && !canonical.refusals.empty())
        return ShapeOutcome(NotLifted{"opaque operation", canonical.refusals.begin()->first, false});
    // A branch that data cannot turn is none.
    for (size_t i = 0; i < trace.branches.size(); ++i) {
      const FormId predicate = canonical.forms[outputs + i];
      if (predicate == 0 || !forms.AsConstant(predicate)) open.push_back(&trace.branches[i]);
    }
    if (!open.empty()) {
      const std::string where = fmt::format("{}:{}", open[0]->file, open[0]->line);
      return ShapeOutcome(NotLifted{"branch on data", fmt::format("a branch depends on data ({})", where), true});
    }
    return MakeForm(Named(at.scalars), trace, canonical, forms);
  }

  Result<ShapeOutcome> MakeForm(FormAtShape at, const Trace& trace, const CanonicalRoots& canonical, FormGraph& forms) {
    ConcreteRequest request{.forms = forms, .buffers = {}, .scalars = {}};
    request.cpu_deadline = CpuSeconds() + kFormCpuSeconds;
    request.sampled = blocks_ != nullptr;
    for (const auto& [position, name] : scalar_names_)
      if (at.reals.contains(name)) request.scalars[position] = name;
    size_t root = 0;
    for (const TracedBuffer& traced : trace.buffers) {
      ShapedBuffer buffer;
      buffer.name = traced.name;
      const size_t index = request.buffers.size();
      const core::Argument* argument = spec_.Find(traced.name);
      buffer.dtype = std::get<core::BufferArgument>(argument->kind).dtype;
      for (const core::Expression& extent : dimensions_[index]) {
        WW_ASSIGN(const int64_t value, extent.Evaluate(at.sizes));
        buffer.shape.push_back(value);
      }
      const auto role = std::get<core::BufferArgument>(argument->kind).role;
      if (std::find(traced.written.begin(), traced.written.end(), true) != traced.written.end()) {
        buffer.elements.assign(traced.elements.size(), 0);
        for (size_t e = 0; e < traced.elements.size(); ++e) {
          if (!traced.written[e]) continue;
          buffer.elements[e] = traced.elements[e] != kConcrete
                                   ? canonical.forms[root++]
                                   : forms.Constant(LiteralValue(TypeOf(buffer.dtype), traced.bits[e]));
        }
        if (role == core::Role::kScratch) buffer.elements.clear();  // nobody reads what is left there
      }
      request.buffers.push_back(std::move(buffer));
    }
    AddIntermediates(trace, canonical, root, request);
    auto made = MakeConcreteForm(request);
    if (!made) return ShapeOutcome(NotLifted{"no statement", made.error(), true});
    at.form = std::move(*made);
    return ShapeOutcome(std::move(at));
  }

  // With the shape of an argument of as many elements, its own first.
  static void AddIntermediates(const Trace& trace, const CanonicalRoots& canonical, size_t root,
                               ConcreteRequest& request) {
    const size_t arguments = request.buffers.size();
    for (const TracedIntermediate& cut : trace.intermediates) {
      ShapedBuffer buffer{.name = "u" + std::to_string(request.buffers.size() - arguments), .intermediate = true};
      buffer.dtype = cut.dtype;
      buffer.shape = {static_cast<int64_t>(cut.elements.size())};
      for (size_t b = arguments; b-- > 0;) {
        const bool own = cut.argument == static_cast<int>(b);
        int64_t count = 1;
        for (const int64_t extent : request.buffers[b].shape) count *= extent;
        if (own || count == static_cast<int64_t>(cut.elements.size())) buffer.shape = request.buffers[b].shape;
        if (own) break;
      }
      for (const ExprId id : cut.elements) buffer.elements.push_back(id == kConcrete ? 0 : canonical.forms[root++]);
      request.buffers.push_back(std::move(buffer));
    }
  }

  static sim::Type TypeOf(core::DType dtype) {
    switch (dtype) {
      case core::DType::kF64: return sim::Type::kF64;
      case core::DType::kF32: return sim::Type::kF32;
      case core::DType::kF16: return sim::Type::kF16;
      case core::DType::kBF16: return sim::Type::kBf16;
      case core::DType::kI64: return sim::Type::kS64;
      case core::DType::kI32: return sim::Type::kS32;
      case core::DType::kU32: return sim::Type::kU32;
      case core::DType::kI8: return sim::Type::kS8;
      case core::DType::kU8:
      case core::DType::kBool: return sim::Type::kU8;
    }
    return sim::Type::kNone;
  }

  // One: sizes are hard-coded, and the shapes differ in data alone.
  size_t DifferentSizes() const {
    std::set<core::Sizes> sizes;
    for (const LiftShape& shape : request_.shapes) sizes.insert(Named(shape.scalars).sizes);
    return std::max<size_t>(sizes.size(), 1);
  }
  bool InTime() const { return CpuSeconds() < cpu_end_; }
  size_t forms() const {
    return static_cast<size_t>(std::count_if(seen_.begin(), seen_.end(), [](const Seen& s) { return s.has_form; }));
  }

  Status See(const LiftShape& shape) {
    executed_.clear();
    WW_ASSIGN(ShapeOutcome outcome, FormAt(shape));
    Seen seen{.shape = &shape, .at = Named(shape.scalars), .buffers = std::move(executed_)};
    if (auto* at = std::get_if<FormAtShape>(&outcome)) {
      seen.at = std::move(*at);
      seen.has_form = true;
    } else {
      auto& blocked = std::get<NotLifted>(outcome);
      notes_.push_back(fmt::format("at {}: {}", Describe(seen.at), blocked.message));
      if (failure_.blocker == kNoShape || (blocked.executed && !failure_.executed)) failure_ = std::move(blocked);
    }
    if (seen.has_form || !seen.buffers.empty()) seen_.push_back(std::move(seen));
    return {};
  }

  // Over the largest number of shapes that have one structure and whose numbers follow from the scalars; right at all
  // shapes, also at those with another structure: one term in place of a sum, no tail.
  Result<std::optional<Lifted>> UnifyMost() {
    std::map<uint64_t, std::vector<const Seen*>> by_structure;
    for (const Seen& seen : seen_)
      if (seen.has_form) by_structure[StructureOf(seen.at.form.computation)].push_back(&seen);
    std::vector<std::vector<const Seen*>> groups;
    for (auto& [structure, group] : by_structure) groups.push_back(std::move(group));
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    const size_t least = std::min({forms(), size_t{request_.unified_shapes}, DifferentSizes()});
    std::string why;
    for (const auto& group : groups) {
      for (size_t left_out = 0; left_out <= kMostLeftOut && group.size() >= least + left_out; ++left_out) {
        std::vector<bool> out(group.size(), false);
        std::fill(out.end() - static_cast<std::ptrdiff_t>(left_out), out.end(), true);
        do {
          std::vector<FormAtShape> forms;
          for (size_t k = 0; k < group.size(); ++k)
            if (!out[k]) forms.push_back(group[k]->at);
          WW_ASSIGN(std::optional<Lifted> lifted, UnifiedOver(forms, why));
          if (lifted) return lifted;
          if (!InTime()) break;
        } while (std::next_permutation(out.begin(), out.end()));
      }
    }
    if (why.empty()) {
      std::vector<FormAtShape> all;
      for (const Seen& seen : seen_)
        if (seen.has_form) all.push_back(seen.at);
      if (const auto unified = Unify(all, dimensions_); !unified) why = unified.error();
    }
    failure_ = NotLifted{wrong_ ? "wrong at a further shape" : "shapes disagree", why, true};
    return std::optional<Lifted>();
  }

  // None: it is wrong at some shape, or there is none; `why` says so.
  Result<std::optional<Lifted>> UnifiedOver(const std::vector<FormAtShape>& forms, std::string& why) {
    wrong_ = false;
    auto unified = Unify(forms, dimensions_);
    if (!unified) {
      why = unified.error();
      return std::optional<Lifted>();
    }
    Lifted lifted{.computation = std::move(*unified), .shapes = static_cast<uint32_t>(forms.size())};
    NameWhatIsRead(lifted.computation);
    if (const auto valid = core::Validate(lifted.computation); !valid) {
      why = valid.error().message;
      return std::optional<Lifted>();
    }
    for (const Seen& seen : seen_) {
      if (seen.buffers.empty()) continue;
      WW_ASSIGN(const std::string difference, DifferenceAt(lifted.computation, seen, seen.buffers));
      if (difference.empty()) continue;
      why = difference;
      wrong_ = true;
      return std::optional<Lifted>();
    }
    // At a shape that it was not made from.
    lifted.verified = seen_.size() > forms.size();
    return std::optional<Lifted>(std::move(lifted));
  }

  Result<std::string> DifferenceAt(const core::Computation& computation, const Seen& seen,
                                   const std::vector<TracedBuffer>& buffers) const {
    const auto compare = blocks_ ? CompareWithSample : CompareWithTrace;
    WW_ASSIGN(const auto difference, compare(computation, seen.at, seen.shape->buffers, buffers, spec_, narrow_));
    if (!difference || difference->empty()) return std::string();
    return fmt::format("at {}: {}", Describe(seen.at), *difference);
  }

  // At shapes that were not looked at before, until one can be run. Where it is wrong, the next attempt starts from
  // that shape as well: false.
  Result<bool> VerifyAtNext(Lifted& lifted) {
    while (next_ < request_.shapes.size() && !lifted.verified && InTime()) {
      const LiftShape& shape = request_.shapes[next_++];
      WW_ASSIGN(auto traced, TraceAt(shape));
      const Trace* trace = std::get_if<Trace>(&traced);
      if (trace == nullptr || WritesNothing(trace->buffers)) continue;
      const Seen at{.shape = &shape, .at = Named(shape.scalars)};
      WW_ASSIGN(const std::string difference, DifferenceAt(lifted.computation, at, trace->buffers));
      lifted.verified = difference.empty();
      if (lifted.verified) continue;
      notes_.push_back(difference);
      failure_ = NotLifted{"wrong at a further shape", difference, true};
      const size_t before = seen_.size();
      WW_TRY(See(shape));
      if (seen_.size() == before || !seen_.back().has_form) next_ = request_.shapes.size();  // nothing is to be learnt
      return false;
    }
    return true;
  }

  const core::LiftRequest& request_;
  const core::KernelSpec& spec_;
  const Prepare& prepare_;
  std::vector<std::vector<core::Expression>> dimensions_;  // of the buffer arguments
  std::map<uint16_t, std::string> scalar_names_;
  std::map<std::string, sim::DecodeOptions> converted_;  // by the PTX: shapes may have modules of their own
  std::set<std::string, std::less<>> forked_;            // kernels
  std::function<BlockList(const core::Dim3&)> blocks_;   // those of a launch that run; null: all
  std::vector<Seen> seen_;
  std::vector<TracedBuffer> executed_;  // by the execution that FormAt looked at last
  size_t next_ = 0;                     // of the request's shapes
  size_t launches_ = 0;                 // of kernels, at any shape
  bool cut_ = false;                    // every launch is lifted by itself
  std::optional<core::DType> narrow_;   // to which the kernels round in between
  bool wrong_ = false;                  // the last attempt to unify failed at a shape
  NotLifted failure_{std::string(kNoShape), "no case of the manifest gives a shape that can be executed", false};
  double cpu_end_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace

Result<LiftOutcome> LiftEntry(const core::LiftRequest& request, const Prepare& prepare) {
  return Lifting(request, prepare).Run();
}

}  // namespace warpwright::lift
