#include "lift/shape_form.h"

#include <fmt/format.h>

#include <algorithm>

#include "lift/cpu_time.h"
#include "lift/memory_shadow.h"
#include "lift/narrow_format.h"
#include "lift/shape_trace.h"

namespace warpwright::lift {

using core::LiftShape;
using core::NotLifted;

namespace {

constexpr double kFormCpuSeconds = 5;  // to find the statements at one shape

NotLifted Blocked(const NotPrepared& not_prepared) { return {"not prepared", not_prepared.why, false}; }

size_t Launches(const core::LaunchPlan& plan) {
  const auto is_launch = [](const core::PlanOp& op) { return std::holds_alternative<core::KernelLaunch>(op); };
  return static_cast<size_t>(std::count_if(plan.ops.begin(), plan.ops.end(), is_launch));
}

std::string PlaceOf(const DataBranch& branch) { return fmt::format("{}:{}", branch.file, branch.line); }

// What is said of branches that every thread took alike; nullopt: some took one both ways.
std::optional<std::set<std::string>> PathsSeen(const std::vector<const DataBranch*>& branches) {
  std::map<std::string, bool> taken;
  std::set<std::string> seen;
  for (const DataBranch* branch : branches) {
    const auto [known, added] = taken.emplace(PlaceOf(*branch), branch->taken);
    if (!added && known->second != branch->taken) return std::nullopt;
    seen.insert(fmt::format("path {} of 2 seen ({})", branch->taken ? 1 : 2, known->first));
  }
  return seen;
}

// A beginning of names, longer where an argument has such a name: "t", or "tt" beside an argument "t0".
std::string FreeBeginning(const core::KernelSpec& spec, char letter) {
  std::string begin(1, letter);
  const auto is_taken = [&](const core::Argument& argument) {
    return argument.name.starts_with(begin) &&
           argument.name.find_first_not_of("0123456789", begin.size()) == std::string::npos;
  };
  while (std::any_of(spec.args.begin(), spec.args.end(), is_taken)) begin += letter;
  return begin;
}

// With the shape of an argument of as many elements, its own first.
void AddIntermediates(const Trace& trace, const CanonicalRoots& canonical, size_t root, const std::string& begin,
                      ConcreteRequest& request) {
  const size_t arguments = request.buffers.size();
  for (const TracedIntermediate& cut : trace.intermediates) {
    ShapedBuffer buffer{.name = begin + std::to_string(request.buffers.size() - arguments), .intermediate = true};
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

}  // namespace

FormAtShape Named(const std::map<std::string, core::ScalarValue>& scalars) {
  FormAtShape form;
  for (const auto& [name, value] : scalars) {
    if (const int64_t* integer = std::get_if<int64_t>(&value)) form.sizes[name] = *integer;
    else form.reals[name] = std::get<double>(value);
  }
  return form;
}

ShapeForms::ShapeForms(const core::LiftRequest& request, const Prepare& prepare)
    : request_(request), spec_(request.spec), prepare_(prepare) {
  uint16_t position = 0;
  for (const core::Argument& argument : spec_.args) {
    if (std::holds_alternative<core::ScalarArgument>(argument.kind)) scalar_names_[position] = argument.name;
    ++position;
  }
}

Result<TracedShape> ShapeForms::TraceAt(const LiftShape& at) {
  WW_ASSIGN(PrepareOutcome prepared, prepare_(at));
  if (const auto* not_prepared = std::get_if<NotPrepared>(&prepared)) return TracedShape(Blocked(*not_prepared));
  return TraceAt(at, std::get<PreparedShape>(prepared));
}

Result<TracedShape> ShapeForms::TraceAt(const LiftShape& at, const PreparedShape& shape) {
  TraceRequest request = MakeTraceRequest(spec_, at, shape);
  request.decode = converted_[shape.module->ptx];
  request.forked = forked_;
  request.blocks = view_.blocks;
  request.cut_launches = view_.cut_launches;
  request.node_limit = request_.node_limit;
  request.instruction_limit = request_.instruction_limit;
  WW_ASSIGN(TraceOutcome outcome, TracePlan(request));
  if (const Trace* trace = std::get_if<Trace>(&outcome); trace != nullptr && !narrow_) narrow_ = NarrowFormatOf(*trace);
  return std::visit(
      Overload{
          [](NotTraced& not_traced) { return TracedShape(NotLifted{not_traced.blocker, not_traced.message, false}); },
          [](core::Fault& fault) { return TracedShape(NotLifted{std::string(kFaults), fault.message, false}); },
          [](Trace& trace) { return TracedShape(std::move(trace)); }},
      outcome);
}

Result<ShapeOutcome> ShapeForms::FormAt(const LiftShape& at) {
  executed_.clear();
  WW_ASSIGN(PrepareOutcome prepared, prepare_(at));
  if (const auto* not_prepared = std::get_if<NotPrepared>(&prepared)) return ShapeOutcome(Blocked(*not_prepared));
  const auto& shape = std::get<PreparedShape>(prepared);
  launches_ = std::max(launches_, Launches(shape.plan));
  for (int round = 0;; ++round) {
    WW_ASSIGN(TracedShape traced, TraceAt(at, shape));
    if (auto* not_lifted = std::get_if<NotLifted>(&traced)) return ShapeOutcome(std::move(*not_lifted));
    const Trace& trace = std::get<Trace>(traced);
    std::vector<const DataBranch*> open;
    WW_ASSIGN(ShapeOutcome outcome, FormOf(at, trace, open));
    if (open.empty() || view_.one_path) return outcome;
    if (round < kConversions && ConvertBranches(trace.kernels, open, converted_[shape.module->ptx])) continue;
    if (!ForkLaunches(trace.kernels, open, forked_)) return outcome;
  }
}

FormGraph ShapeForms::FormsOf(const LiftShape& at, const Trace& trace) const {
  FormGraph forms(request_.node_limit + request_.node_limit / 2);
  std::vector<bool> integers;
  for (const core::Argument& argument : spec_.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      integers.push_back(!core::IsFloat(buffer->dtype));
  for (const TracedIntermediate& cut : trace.intermediates) integers.push_back(!core::IsFloat(cut.dtype));
  forms.SetIntegerBuffers(std::move(integers));
  if (view_.expand) forms.Expand();
  if (view_.keep_signs) forms.KeepSigns();
  if (view_.keep_order) forms.KeepOrder();
  if (view_.order_by_last) {
    const core::Sizes sizes = Named(at.scalars).sizes;
    std::vector<std::vector<int64_t>> shapes;
    for (const auto& buffer : view_.dimensions) {
      shapes.emplace_back();
      for (const core::Expression& extent : buffer) shapes.back().push_back(extent.Evaluate(sizes).value_or(1));
    }
    forms.OrderByLast(std::move(shapes));
  }
  return forms;
}

// `open`: the branches that data can turn, if there are any.
Result<ShapeOutcome> ShapeForms::FormOf(const LiftShape& at, const Trace& trace, std::vector<const DataBranch*>& open) {
  if (WritesNothing(trace.buffers))
    return ShapeOutcome(NotLifted{std::string(kNothingWritten), "the launcher writes nothing at this shape", false});
  executed_.clear();
  for (const TracedBuffer& buffer : trace.buffers) executed_.push_back({buffer.name, {}, buffer.written, buffer.bits});
  if (!trace.lossy.empty()) return ShapeOutcome(NotLifted{"lossy", trace.lossy[0], false});
  FormGraph forms = FormsOf(at, trace);
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
  // A branch that data cannot turn is none.
  for (size_t i = 0; i < trace.branches.size(); ++i) {
    const FormId predicate = canonical.forms[outputs + i];
    if (predicate == 0 || !forms.AsConstant(predicate)) open.push_back(&trace.branches[i]);
  }
  if (!open.empty()) {
    const auto paths = view_.one_path ? PathsSeen(open) : std::nullopt;
    if (!paths)
      return ShapeOutcome(
          NotLifted{"branch on data", fmt::format("a branch depends on data ({})", PlaceOf(*open[0])), true});
    paths_seen_.insert(paths->begin(), paths->end());
  }
  for (size_t i = 0; i < outputs; ++i)
    if (canonical.forms[i] == 0 && !canonical.refusals.empty())
      return ShapeOutcome(NotLifted{"opaque operation", canonical.refusals.begin()->first, false});
  return MakeForm(Named(at.scalars), trace, canonical, forms);
}

Result<ShapeOutcome> ShapeForms::MakeForm(FormAtShape at, const Trace& trace, const CanonicalRoots& canonical,
                                          FormGraph& forms) {
  ConcreteRequest request{.forms = forms, .buffers = {}, .scalars = {}};
  request.cpu_deadline = CpuSeconds() + kFormCpuSeconds;
  request.sampled = view_.blocks != nullptr;
  request.later_reads_count = view_.later_reads_count;
  request.sums = FreeBeginning(spec_, 't');
  for (const auto& [position, name] : scalar_names_)
    if (at.reals.contains(name)) request.scalars[position] = name;
  size_t root = 0;
  for (const TracedBuffer& traced : trace.buffers) {
    ShapedBuffer buffer;
    buffer.name = traced.name;
    const size_t index = request.buffers.size();
    const auto& argument = std::get<core::BufferArgument>(spec_.Find(traced.name)->kind);
    buffer.dtype = argument.dtype;
    for (const core::Expression& extent : view_.dimensions[index]) {
      WW_ASSIGN(const int64_t value, extent.Evaluate(at.sizes));
      buffer.shape.push_back(value);
    }
    if (std::find(traced.written.begin(), traced.written.end(), true) != traced.written.end()) {
      buffer.elements.assign(traced.elements.size(), 0);
      for (size_t e = 0; e < traced.elements.size(); ++e) {
        if (!traced.written[e]) continue;
        buffer.elements[e] = traced.elements[e] != kConcrete
                                 ? canonical.forms[root++]
                                 : forms.Constant(LiteralValue(TypeOf(buffer.dtype), traced.bits[e]));
      }
      if (argument.role == core::Role::kScratch) buffer.elements.clear();  // nobody reads what is left there
    }
    request.buffers.push_back(std::move(buffer));
  }
  AddIntermediates(trace, canonical, root, FreeBeginning(spec_, 'u'), request);
  auto made = MakeConcreteForm(request);
  if (!made) return ShapeOutcome(NotLifted{"no statement", made.error(), true});
  at.form = std::move(*made);
  return ShapeOutcome(std::move(at));
}

}  // namespace warpwright::lift
