#include "lift/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "core/computation_evaluate.h"
#include "lift/canonical.h"
#include "lift/concrete_form.h"
#include "lift/trace.h"
#include "lift/unify.h"

namespace warpwright::lift {
namespace {

constexpr uint64_t kLimitBytes = uint64_t{64} << 20;

struct AtShape {
  Scalars scalars;
  FormAtShape form;
};
using ShapeOutcome = std::variant<NotLifted, AtShape>;

class Lifting {
 public:
  Lifting(const core::KernelSpec& spec, const Prepare& prepare, const LiftLimits& limits)
      : spec_(spec), prepare_(prepare), limits_(limits) {
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
    std::vector<Scalars> shapes = ChooseShapes(spec_, 8);
    NotLifted failure{"no shape", "no case of the manifest gives a shape that can be executed"};
    size_t next = 0;
    for (; next < shapes.size() && forms_.size() < limits_.shapes && elapsed() < limits_.seconds; ++next) {
      WW_ASSIGN(ShapeOutcome outcome, FormAt(shapes[next]));
      if (auto* at = std::get_if<AtShape>(&outcome)) {
        used_.push_back(std::move(at->scalars));
        forms_.push_back(std::move(at->form));
        continue;
      }
      auto& blocked = std::get<NotLifted>(outcome);
      notes_.push_back(fmt::format("at {}: {}", Describe(shapes[next]), blocked.message));
      if (forms_.empty() && (failure.blocker == "no shape" || blocked.executed)) failure = std::move(blocked);
    }
    if (forms_.empty()) return LiftOutcome(std::move(failure));
    auto unified = UnifyMost();
    if (!unified) return LiftOutcome(NotLifted{"shapes disagree", unified.error(), true});
    Lifted lifted;
    lifted.computation = std::move(*unified);
    lifted.shapes = used_;
    if (forms_.size() == 1 && HasSizes())
      lifted.computation.assumptions.push_back(fmt::format("seen at one shape only: {}", Describe(used_[0])));
    for (; next < shapes.size() && !lifted.verified && elapsed() < limits_.seconds; ++next) {
      WW_ASSIGN(const std::string difference, Verify(lifted.computation, shapes[next], lifted.verified));
      if (!difference.empty()) return LiftOutcome(NotLifted{"wrong at a further shape", difference, true});
    }
    lifted.notes = std::move(notes_);
    lifted.seconds = elapsed();
    return LiftOutcome(std::move(lifted));
  }

 private:
  bool HasSizes() const {
    return std::any_of(used_[0].begin(), used_[0].end(),
                       [](const auto& s) { return std::holds_alternative<int64_t>(s.second); });
  }
  std::string Describe(const Scalars& scalars) const {
    std::string text;
    for (const core::Argument& argument : spec_.args)
      if (const auto found = scalars.find(argument.name); found != scalars.end())
        if (const int64_t* value = std::get_if<int64_t>(&found->second))
          text += fmt::format("{}{}={}", text.empty() ? "" : ", ", argument.name, *value);
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

  struct Traced {
    std::vector<core::BufferContent> contents;
    std::variant<NotLifted, Trace> outcome;
  };
  Result<Traced> TraceAt(const Scalars& scalars) {
    Traced traced{{}, NotLifted{}};
    auto contents = MakeContents(spec_, scalars, 1 + forms_.size(), kLimitBytes);
    if (!contents) {
      traced.outcome = NotLifted{"too large", contents.error().message};
      return traced;
    }
    traced.contents = std::move(*contents);
    WW_ASSIGN(PrepareOutcome prepared, prepare_(scalars, traced.contents));
    if (const auto* not_prepared = std::get_if<NotPrepared>(&prepared)) {
      traced.outcome = NotLifted{"not prepared", not_prepared->why};
      return traced;
    }
    const auto& shape = std::get<PreparedShape>(prepared);
    TraceRequest request;
    request.module = shape.module.get();
    request.plan = &shape.plan;
    request.buffers = &traced.contents;
    uint16_t position = 0;
    for (const core::Argument& argument : spec_.args) {
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) {
        request.dtypes.push_back(buffer->dtype);
      } else if (const auto found = scalars.find(argument.name); found != scalars.end()) {
        if (const double* real = std::get_if<double>(&found->second))
          request.scalars.push_back({std::get<core::ScalarArgument>(argument.kind).dtype, *real, position});
      }
      ++position;
    }
    request.node_limit = limits_.nodes;
    request.instruction_limit = limits_.instructions;
    WW_ASSIGN(TraceOutcome outcome, TracePlan(request));
    std::visit(
        Overload{[&](NotTraced& not_traced) { traced.outcome = NotLifted{not_traced.blocker, not_traced.message}; },
                 [&](core::Fault& fault) { traced.outcome = NotLifted{"fault", fault.message}; },
                 [&](Trace& trace) { traced.outcome = std::move(trace); }},
        outcome);
    return traced;
  }

  Result<ShapeOutcome> FormAt(const Scalars& scalars) {
    WW_ASSIGN(Traced traced, TraceAt(scalars));
    if (auto* not_lifted = std::get_if<NotLifted>(&traced.outcome)) return ShapeOutcome(std::move(*not_lifted));
    const Trace& trace = std::get<Trace>(traced.outcome);
    if (!trace.lossy.empty()) return ShapeOutcome(NotLifted{"lossy", trace.lossy[0]});
    FormGraph forms(limits_.nodes * 4);
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
        return ShapeOutcome(NotLifted{"opaque operation", canonical.refusals.begin()->first});
    // A branch that data cannot turn is none.
    for (size_t i = 0; i < trace.branches.size(); ++i) {
      const FormId predicate = canonical.forms[outputs + i];
      if (predicate != 0 && forms.AsConstant(predicate)) continue;
      const DataBranch& branch = trace.branches[i];
      return ShapeOutcome(
          NotLifted{"branch on data", fmt::format("a branch depends on data ({}:{})", branch.file, branch.line), true});
    }
    return MakeForm(scalars, trace, canonical, forms);
  }

  Result<ShapeOutcome> MakeForm(const Scalars& scalars, const Trace& trace, const CanonicalRoots& canonical,
                                FormGraph& forms) {
    AtShape at{scalars, Named(scalars)};
    ConcreteRequest request{.forms = forms, .buffers = {}, .scalars = {}};
    for (const auto& [position, name] : scalar_names_)
      if (at.form.reals.contains(name)) request.scalars[position] = name;
    size_t root = 0;
    for (const TracedBuffer& traced : trace.buffers) {
      ShapedBuffer buffer;
      buffer.name = traced.name;
      const size_t index = request.buffers.size();
      const core::Argument* argument = spec_.Find(traced.name);
      buffer.dtype = std::get<core::BufferArgument>(argument->kind).dtype;
      for (const core::Expression& extent : dimensions_[index]) {
        WW_ASSIGN(const int64_t value, extent.Evaluate(at.form.sizes));
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
    at.form.form = std::move(*made);
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
      part->assumptions.push_back(fmt::format("not the same at {}", Describe(used_[left_out])));
      forms_ = std::move(fewer);
      used_.erase(used_.begin() + static_cast<std::ptrdiff_t>(left_out));
      return part;
    }
    return unified;
  }

  // The difference at another shape, in words; `verified` if there was none. Neither if the shape cannot be run.
  Result<std::string> Verify(const core::Computation& computation, const Scalars& scalars, bool& verified);

  const core::KernelSpec& spec_;
  const Prepare& prepare_;
  const LiftLimits& limits_;
  std::vector<std::vector<core::Expression>> dimensions_;  // of the buffer arguments
  std::map<uint16_t, std::string> scalar_names_;
  std::vector<FormAtShape> forms_;
  std::vector<Scalars> used_;
  std::vector<std::string> notes_;
};

Result<std::string> Lifting::Verify(const core::Computation&, const Scalars&, bool&) { return std::string(); }

}  // namespace

Result<LiftOutcome> LiftEntry(const core::KernelSpec& spec, const Prepare& prepare, const LiftLimits& limits) {
  return Lifting(spec, prepare, limits).Run();
}

}  // namespace warpwright::lift
