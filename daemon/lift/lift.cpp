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
#include "lift/numeric_check.h"
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

constexpr int kConversions = 3;  // of branches, at a shape

using ShapeOutcome = std::variant<NotLifted, FormAtShape>;
using Traced = std::variant<NotLifted, Trace>;

class Lifting {
 public:
  Lifting(const core::LiftRequest& request, const Prepare& prepare)
      : request_(request), spec_(request.spec), prepare_(prepare) {
    uint16_t position = 0;
    for (const core::Argument& argument : spec_.args) {
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
        dimensions_.push_back(DimensionsOf(*buffer));
      else scalar_names_[position] = argument.name;
      ++position;
    }
  }

  Result<LiftOutcome> Run() {
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const double cpu_end = CpuSeconds() + request_.seconds_limit;
    const auto in_time = [cpu_end] { return CpuSeconds() < cpu_end; };
    const std::vector<LiftShape>& shapes = request_.shapes;
    std::optional<NotLifted> failure;
    size_t next = 0;
    for (; next < shapes.size() && forms_.size() < request_.unified_shapes && in_time(); ++next) {
      WW_ASSIGN(ShapeOutcome outcome, FormAt(shapes[next]));
      if (auto* at = std::get_if<FormAtShape>(&outcome)) {
        forms_.push_back(std::move(*at));
        continue;
      }
      auto& blocked = std::get<NotLifted>(outcome);
      notes_.push_back(fmt::format("at {}: {}", Describe(Named(shapes[next].scalars)), blocked.message));
      if (!failure || (blocked.executed && !failure->executed)) failure = std::move(blocked);
    }
    if (forms_.empty())
      return LiftOutcome(std::move(failure).value_or(
          NotLifted{"no shape", "no case of the manifest gives a shape that can be executed", false}));
    auto unified = UnifyMost();
    if (!unified) return LiftOutcome(NotLifted{"shapes disagree", unified.error(), true});
    Lifted lifted;
    lifted.computation = std::move(*unified);
    NameWhatIsRead(lifted.computation);
    if (const auto valid = core::Validate(lifted.computation); !valid)
      return LiftOutcome(NotLifted{"not representable", valid.error().message, true});
    lifted.shapes = static_cast<uint32_t>(forms_.size());
    for (; next < shapes.size() && !lifted.verified && in_time(); ++next) {
      WW_ASSIGN(const std::string difference, Verify(lifted.computation, shapes[next], lifted.verified));
      if (!difference.empty()) return LiftOutcome(NotLifted{"wrong at a further shape", difference, true});
    }
    if (lifted.shapes == 2 && !lifted.verified)
      return LiftOutcome(NotLifted{"too few shapes", "two shapes do not tell how sizes follow from the scalars", true});
    AddAssumptions(lifted.computation);
    lifted.notes = std::move(notes_);
    lifted.seconds = elapsed();
    return LiftOutcome(std::move(lifted));
  }

 private:
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
    for (const auto& [name, value] : forms_[0].sizes) {
      const bool constant =
          std::all_of(forms_.begin(), forms_.end(), [&](const FormAtShape& f) { return f.sizes.at(name) == value; });
      if (constant) computation.assumptions.push_back(fmt::format("{} = {}", name, value));
    }
  }

  Result<Traced> TraceAt(const LiftShape& at) {
    WW_ASSIGN(PrepareOutcome prepared, prepare_(at));
    if (const auto* not_prepared = std::get_if<NotPrepared>(&prepared)) return Traced(Blocked(*not_prepared));
    return TraceAt(at, std::get<PreparedShape>(prepared));
  }
  static NotLifted Blocked(const NotPrepared& not_prepared) { return {"not prepared", not_prepared.why, false}; }

  Result<Traced> TraceAt(const LiftShape& at, const PreparedShape& shape) {
    TraceRequest request;
    request.module = shape.module.get();
    request.plan = &shape.plan;
    request.buffers = &at.buffers;
    request.decode = converted_[shape.module->ptx];
    uint16_t position = 0;
    for (const core::Argument& argument : spec_.args) {
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) {
        request.dtypes.push_back(buffer->dtype);
      } else if (const auto found = at.scalars.find(argument.name); found != at.scalars.end()) {
        if (const double* real = std::get_if<double>(&found->second))
          request.scalars.push_back({std::get<core::ScalarArgument>(argument.kind).dtype, *real, position});
      }
      ++position;
    }
    request.node_limit = request_.node_limit;
    request.instruction_limit = request_.instruction_limit;
    WW_ASSIGN(TraceOutcome outcome, TracePlan(request));
    return std::visit(
        Overload{[](NotTraced& not_traced) { return Traced(NotLifted{not_traced.blocker, not_traced.message, false}); },
                 [](core::Fault& fault) { return Traced(NotLifted{"fault", fault.message, false}); },
                 [](Trace& trace) { return Traced(std::move(trace)); }},
        outcome);
  }

  static bool WritesNothing(const Trace& trace) {
    return std::all_of(trace.buffers.begin(), trace.buffers.end(), [](const TracedBuffer& buffer) {
      return std::find(buffer.written.begin(), buffer.written.end(), true) == buffer.written.end();
    });
  }

  // Where branches depend on data, once more with both sides of these; that may show others.
  Result<ShapeOutcome> FormAt(const LiftShape& at) {
    WW_ASSIGN(PrepareOutcome prepared, prepare_(at));
    if (const auto* not_prepared = std::get_if<NotPrepared>(&prepared)) return ShapeOutcome(Blocked(*not_prepared));
    const auto& shape = std::get<PreparedShape>(prepared);
    for (int round = 0;; ++round) {
      WW_ASSIGN(Traced traced, TraceAt(at, shape));
      if (auto* not_lifted = std::get_if<NotLifted>(&traced)) return ShapeOutcome(std::move(*not_lifted));
      const Trace& trace = std::get<Trace>(traced);
      std::vector<const DataBranch*> open;
      WW_ASSIGN(ShapeOutcome outcome, FormOf(at, trace, open));
      if (open.empty() || round == kConversions || !Convert(trace, open, shape)) return outcome;
    }
  }

  // False: there is nothing new to convert.
  bool Convert(const Trace& trace, const std::vector<const DataBranch*>& open, const PreparedShape& shape) {
    bool added = false;
    for (const DataBranch* branch : open)
      if (branch->branch != sim::kNoBranch)
        added |= converted_[shape.module->ptx].converted[trace.kernels[branch->launch]].insert(branch->branch).second;
    return added;
  }

  // `open`: the branches that data can turn, if there are any.
  Result<ShapeOutcome> FormOf(const LiftShape& at, const Trace& trace, std::vector<const DataBranch*>& open) {
    if (WritesNothing(trace))
      return ShapeOutcome(NotLifted{"nothing written", "the launcher writes nothing at this shape", false});
    if (!trace.lossy.empty()) return ShapeOutcome(NotLifted{"lossy", trace.lossy[0], false});
    FormGraph forms(request_.node_limit * 4);
    std::vector<bool> integers;
    for (const core::Argument& argument : spec_.args)
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
        integers.push_back(!core::IsFloat(buffer->dtype));
    forms.SetIntegerBuffers(std::move(integers));
    std::vector<ExprId> roots;
    for (const TracedBuffer& buffer : trace.buffers)
      for (size_t e = 0; e < buffer.elements.size(); ++e)
        if (buffer.written[e] && buffer.elements[e] != kConcrete) roots.push_back(buffer.elements[e]);
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
                                   : forms.Constant(RoundLiteral(ConstantValue(TypeOf(buffer.dtype), traced.bits[e]),
                                                                 buffer.dtype == core::DType::kF64));
        }
        if (role == core::Role::kScratch) buffer.elements.clear();  // nobody reads what is left there
      }
      request.buffers.push_back(std::move(buffer));
    }
    auto made = MakeConcreteForm(request);
    if (!made) return ShapeOutcome(NotLifted{"no statement", made.error(), true});
    at.form = std::move(*made);
    return ShapeOutcome(std::move(at));
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

  // Over all shapes, or else over the largest part that agrees.
  Fitted<core::Computation> UnifyMost() {
    auto unified = Unify(forms_, dimensions_);
    if (unified || forms_.size() < 3) return unified;
    for (size_t left_out = 0; left_out < forms_.size(); ++left_out) {
      std::vector<FormAtShape> fewer = forms_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
      auto part = Unify(fewer, dimensions_);
      if (!part) continue;
      part->assumptions.push_back(fmt::format("not the same at {}", Describe(forms_[left_out])));
      forms_ = std::move(fewer);
      return part;
    }
    return unified;
  }

  // The difference at another shape, in words; `verified` if there was none. Neither if the shape cannot be run.
  Result<std::string> Verify(const core::Computation& computation, const LiftShape& shape, bool& verified) {
    WW_ASSIGN(auto traced, TraceAt(shape));
    const Trace* trace = std::get_if<Trace>(&traced);
    if (trace == nullptr || WritesNothing(*trace)) return std::string();
    WW_ASSIGN(auto difference, CompareWithTrace(computation, Named(shape.scalars), shape.buffers, *trace, spec_));
    if (!difference) return std::string();
    verified = difference->empty();
    if (difference->empty()) return std::string();
    return fmt::format("at {}: {}", Describe(Named(shape.scalars)), *difference);
  }

  const core::LiftRequest& request_;
  const core::KernelSpec& spec_;
  const Prepare& prepare_;
  std::vector<std::vector<core::Expression>> dimensions_;  // of the buffer arguments
  std::map<uint16_t, std::string> scalar_names_;
  std::map<std::string, sim::DecodeOptions> converted_;  // by the PTX: shapes may have modules of their own
  std::vector<FormAtShape> forms_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<LiftOutcome> LiftEntry(const core::LiftRequest& request, const Prepare& prepare) {
  return Lifting(request, prepare).Run();
}

}  // namespace warpwright::lift
