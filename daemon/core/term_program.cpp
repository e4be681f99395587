#include "core/term_program.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

constexpr int64_t kLeastTerms = 256;
constexpr int64_t kOneGroup = kLanes, kFewGroups = 16 * kLanes;

int64_t TermsOf(const CompiledReduce& reduce) {
  int64_t terms = 1;
  for (const auto& [variable, extent] : reduce.variables)
    if (__builtin_mul_overflow(terms, extent, &terms)) return 0;
  return terms;
}

class TermCompiler {
 public:
  TermCompiler(const StageProgram& from, std::span<const BufferShape> shapes, const CompiledReduce& reduce)
      : from_(from), shapes_(shapes) {
    StageProgram& to = out_.stage;
    to.name = from.name;
    to.buffer = from.buffer;
    to.result = reduce.body;
    to.args = from.args;
    to.registers = from.registers;
    to.presets = from.presets;
    to.blocks.resize(from.blocks.size());
    for (const auto& [variable, extent] : reduce.variables) {
      variables_.push_back(variable);
      to.extents.push_back(extent);
    }
    out_.terms = TermsOf(reduce);
    out_.reduce = Moved(reduce);
    MoveBlock(reduce.block);
    FindImports(reduce);
    ChooseLanes();
  }
  TermProgram Take() { return std::move(out_); }

 private:
  // The reduction's variables come first: they are the lanes'.
  uint32_t MovePosition(uint32_t index) {
    const Position& position = from_.positions[index];
    Position moved{.constant = position.constant, .divisor = position.divisor};
    std::vector<PositionTerm>& terms = out_.stage.terms;
    moved.first = static_cast<uint32_t>(terms.size());
    for (const bool lanes : {true, false}) {
      if (!lanes) moved.shared = static_cast<uint32_t>(terms.size());
      for (uint32_t t = position.first; t < position.end; ++t) {
        PositionTerm term = from_.terms[t];
        const auto found = std::find(variables_.begin(), variables_.end(), term.variable);
        if ((found != variables_.end()) != lanes) continue;
        if (lanes) term.variable = static_cast<VariableId>(found - variables_.begin());
        terms.push_back(term);
      }
    }
    moved.end = static_cast<uint32_t>(terms.size());
    out_.stage.positions.push_back(moved);
    return static_cast<uint32_t>(out_.stage.positions.size() - 1);
  }

  CompiledReduce Moved(const CompiledReduce& reduce) {
    CompiledReduce moved = reduce;
    for (CompiledGuard& guard : moved.guards) {
      guard.position = MovePosition(guard.position);
      guard.value = out_.stage.positions[guard.position];
    }
    if (IsArg(reduce.op)) moved.position = MovePosition(reduce.position);
    return moved;
  }

  void MoveBlock(uint32_t block) {
    Block& to = out_.stage.blocks[block];
    to = from_.blocks[block];
    for (Step& step : to.steps) {
      defined_.insert(step.out);
      if (step.op == StepOp::kPosition) step.extra = MovePosition(step.extra);
      if (step.op == StepOp::kRead) MoveRead(step);
      if (step.op != StepOp::kReduce) continue;
      CompiledReduce moved = Moved(from_.reduces[step.extra]);
      const uint32_t inner = moved.block;
      used_.insert(moved.body);
      step.extra = static_cast<uint32_t>(out_.stage.reduces.size());
      out_.stage.reduces.push_back(std::move(moved));
      MoveBlock(inner);
    }
    for (const Step& step : to.steps)
      used_.insert(from_.args.begin() + step.first, from_.args.begin() + step.first + step.count);
  }
  void MoveRead(Step& step) {
    CompiledRead read = from_.reads[step.extra];
    for (auto& at : read.at) {
      if (at.gathered) used_.insert(at.index);
      else at.index = MovePosition(at.index);
    }
    step.extra = static_cast<uint32_t>(out_.stage.reads.size());
    out_.stage.reads.push_back(std::move(read));
  }

  void FindImports(const CompiledReduce& reduce) {
    used_.insert(reduce.body);
    for (const auto& preset : from_.presets) defined_.insert(preset.out);
    std::set_difference(used_.begin(), used_.end(), defined_.begin(), defined_.end(), std::back_inserter(out_.imports));
  }

  // How far apart a read's elements are for neighbours in a variable; nothing is known of a part of it.
  int64_t Stride(const CompiledRead& read, VariableId variable, bool of_lanes) const {
    int64_t stride = 0;
    for (size_t i = 0; i < read.at.size(); ++i) {
      const Position& position = out_.stage.positions[read.at[i].index];
      const uint32_t begin = of_lanes ? position.first : position.shared,
                     end = of_lanes ? position.shared : position.end;
      for (uint32_t t = begin; t < end; ++t)
        if (out_.stage.terms[t].variable == variable)
          stride += out_.stage.terms[t].coefficient * shapes_[read.buffer].strides[i];
    }
    return stride;
  }

  void ChooseLanes() {
    size_t apart_by_terms = 0, apart_by_elements = 0, apart = 0;
    for (const CompiledRead& read : out_.stage.reads) {
      if (std::any_of(read.at.begin(), read.at.end(), [](const auto& at) { return at.gathered; })) continue;
      const auto is_apart = [](int64_t stride) { return stride < -1 || stride > 1; };
      const bool has_terms = !variables_.empty();
      if (has_terms && is_apart(Stride(read, static_cast<VariableId>(variables_.size() - 1), true))) ++apart_by_terms;
      if (!from_.extents.empty() && is_apart(Stride(read, static_cast<VariableId>(from_.extents.size() - 1), false)))
        ++apart_by_elements;
      bool shared = false;
      for (const auto& at : read.at) {
        const Position& position = out_.stage.positions[at.index];
        for (uint32_t t = position.shared; t < position.end; ++t)
          shared = shared || out_.stage.terms[t].variable < from_.extents.size();
      }
      if (shared) ++apart;  // single elements may be anywhere
    }
    const int64_t elements = from_.elements();
    out_.for_runs = elements <= kOneGroup || apart_by_terms < apart_by_elements ||
                    (elements <= kFewGroups && apart_by_terms == apart_by_elements);
    out_.for_points = out_.for_runs || apart_by_terms <= apart;
  }

  const StageProgram& from_;
  const std::span<const BufferShape> shapes_;
  TermProgram out_;
  std::vector<VariableId> variables_;
  std::set<uint32_t> used_, defined_;
};

}  // namespace

const TermProgram* StageProgram::TermsInLanes(size_t reduce, bool points) const {
  const TermProgram* program = reduce < term_programs.size() ? term_programs[reduce].get() : nullptr;
  return program != nullptr && (points ? program->for_points : program->for_runs) ? program : nullptr;
}

std::vector<std::shared_ptr<const TermProgram>> TermProgramsOf(const StageProgram& stage,
                                                               std::span<const BufferShape> shapes) {
  std::vector<std::shared_ptr<const TermProgram>> programs(stage.reduces.size());
  for (const Step& step : stage.blocks[0].steps) {
    if (step.op != StepOp::kReduce) continue;
    const CompiledReduce& reduce = stage.reduces[step.extra];
    if (TermsOf(reduce) < kLeastTerms) continue;
    TermProgram program = TermCompiler(stage, shapes, reduce).Take();
    if (program.for_runs || program.for_points)
      programs[step.extra] = std::make_shared<const TermProgram>(std::move(program));
  }
  return programs;
}

}  // namespace warpwright::core
