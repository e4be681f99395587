#include "core/computation_program.h"

#include <algorithm>
#include <limits>

#include "core/computation_walk.h"
#include "core/term_program.h"

namespace warpwright::core {
namespace {

constexpr size_t kMaxBlocks = 256, kMaxSteps = 65'536;
constexpr uint64_t kSaturated = std::numeric_limits<uint64_t>::max();

uint64_t SaturatingMultiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kSaturated : product;
}
uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kSaturated : sum;
}

class StageCompiler {
 public:
  StageCompiler(const Computation& computation, const Stage& stage, const SizeValues& sizes, const Program& program)
      : computation_(computation),
        stage_(stage),
        sizes_(sizes),
        program_(program),
        types_(TypesOf(computation, stage)),
        free_(FreeVariables(stage)) {}

  Result<StageProgram> Run(uint32_t buffer) {
    out_.name = stage_.name;
    out_.buffer = buffer;
    WW_TRY(CompileBox());
    for (const auto& guard : stage_.domain) {
      WW_ASSIGN(CompiledGuard compiled, CompileGuard(guard));
      out_.domain.push_back(compiled);
    }
    for (const auto& at : stage_.at) {
      WW_ASSIGN(const uint32_t position, CompilePosition(at));
      out_.at.push_back(position);
    }
    WW_TRY(PlaceNodes());
    WW_TRY(EmitBlocks());
    const ValueType wanted = program_.buffers[buffer].integer ? ValueType::kInteger : ValueType::kReal;
    const auto root = static_cast<NodeId>(stage_.nodes.size() - 1);
    out_.result = wanted == ValueType::kInteger && types_[root] == ValueType::kReal
                      ? EmitConversion(0, StepOp::kRealToInteger, root, static_cast<uint8_t>(DType::kI64))
                      : Register(0, root, wanted);
    out_.registers = registers_;
    return std::move(out_);
  }

 private:
  // A block and where its nodes are. An instance: a node may be in several blocks.
  struct Instance {
    int parent = -1;
    NodeId reduce = 0;
    VariableSet variables = 0;
    std::vector<bool> needed;
    std::vector<std::pair<NodeId, uint32_t>> inner;  // reductions in it, with their instances
    std::map<std::pair<NodeId, ValueType>, uint32_t> registers;
  };

  Result<int64_t> Number(const Size& size) const { return size.Evaluate(sizes_); }

  Status CompileBox() {
    for (const Size& size : stage_.extents) {
      WW_ASSIGN(const int64_t extent, Number(size));
      out_.extents.push_back(std::max<int64_t>(extent, 0));
    }
    return {};
  }

  Result<uint32_t> CompilePosition(const Affine& affine) {
    Position position;
    WW_ASSIGN(position.constant, Number(affine.constant));
    WW_ASSIGN(position.divisor, Number(affine.divisor));
    if (position.divisor < 1) return Fail(ErrorCode::kConfig, "a position is divided by zero or less");
    position.first = static_cast<uint32_t>(out_.terms.size());
    for (const auto& term : affine.terms) {
      PositionTerm compiled{.variable = term.variable, .part = term.part};
      WW_ASSIGN(compiled.coefficient, Number(term.coefficient));
      if (term.modulus) {
        WW_ASSIGN(compiled.modulus, Number(*term.modulus));
        if (compiled.modulus < 1) return Fail(ErrorCode::kConfig, "a modulus is zero or less");
      }
      out_.terms.push_back(compiled);
    }
    position.end = static_cast<uint32_t>(out_.terms.size());
    const auto rank = static_cast<VariableId>(stage_.extents.size());
    const auto shared = std::stable_partition(out_.terms.begin() + position.first, out_.terms.end(),
                                              [&](const PositionTerm& term) { return term.variable < rank; });
    position.shared = static_cast<uint32_t>(shared - out_.terms.begin());
    out_.positions.push_back(position);
    return static_cast<uint32_t>(out_.positions.size() - 1);
  }
  Result<CompiledGuard> CompileGuard(const Guard& guard) {
    CompiledGuard compiled{{}, 0, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    WW_ASSIGN(compiled.position, CompilePosition(guard.value));
    compiled.value = out_.positions[compiled.position];
    if (guard.low) {
      WW_ASSIGN(compiled.low, Number(*guard.low));
    }
    if (guard.high) {
      WW_ASSIGN(compiled.high, Number(*guard.high));
    }
    return compiled;
  }

  // The innermost of an instance and those around it on whose variables a node depends.
  int Home(int instance, NodeId node) const {
    while (instance > 0 && (free_[node] & instances_[instance].variables) == 0) instance = instances_[instance].parent;
    return instance;
  }
  // A node precedes what needs it, so that one pass from the last to the first finds all.
  Status PlaceNodes() {
    const size_t count = stage_.nodes.size();
    instances_.push_back({.needed = std::vector<bool>(count)});
    instances_[0].needed[count - 1] = true;
    size_t placed = 0;
    for (size_t i = count; i-- > 0;) {
      for (size_t at = 0; at < instances_.size(); ++at) {
        if (i >= instances_[at].needed.size() || !instances_[at].needed[i]) continue;
        if (++placed > kMaxSteps) return Fail(ErrorCode::kLimit, "a stage of more than 65,536 steps");
        int inside = static_cast<int>(at);
        if (const auto* reduce = std::get_if<Reduce>(&stage_.nodes[i])) {
          if (instances_.size() == kMaxBlocks) return Fail(ErrorCode::kLimit, "a stage of more than 256 reductions");
          inside = static_cast<int>(instances_.size());
          instances_[at].inner.emplace_back(static_cast<NodeId>(i), static_cast<uint32_t>(inside));
          instances_.push_back({.parent = static_cast<int>(at),
                                .reduce = static_cast<NodeId>(i),
                                .variables = VariablesOf(*reduce),
                                .needed = std::vector<bool>(i)});
        }
        ForEachArgument(stage_.nodes[i], [&](NodeId arg) { instances_[Home(inside, arg)].needed[arg] = true; });
      }
    }
    return {};
  }

  Status EmitBlocks() {
    out_.blocks.resize(instances_.size());
    // Those that are inside come later in the list, and their steps are needed first: a reduction's step names them.
    for (size_t i = 0; i < stage_.nodes.size(); ++i)
      for (size_t at = 0; at < instances_.size(); ++at)
        if (i < instances_[at].needed.size() && instances_[at].needed[i])
          WW_TRY(Emit(static_cast<uint32_t>(at), static_cast<NodeId>(i)));
    return {};
  }

  uint32_t NewRegister() { return registers_++; }
  uint32_t AddStep(uint32_t block, Step step, const std::vector<uint32_t>& args) {
    step.out = NewRegister();
    step.first = static_cast<uint32_t>(out_.args.size());
    step.count = static_cast<uint32_t>(args.size());
    out_.args.insert(out_.args.end(), args.begin(), args.end());
    out_.blocks[block].steps.push_back(step);
    return step.out;
  }
  uint32_t EmitConversion(uint32_t block, StepOp op, NodeId node, uint8_t detail) {
    const uint32_t from = Register(block, node, types_[node]);
    return AddStep(block, {.op = op, .integer = types_[node] != ValueType::kReal, .detail = detail}, {from});
  }
  // Where a block finds a node's value as a real number, or as an integer (truth values are integers).
  uint32_t Register(uint32_t block, NodeId node, ValueType wanted) {
    const auto home = static_cast<uint32_t>(Home(static_cast<int>(block), node));
    if (wanted == ValueType::kBoolean) wanted = ValueType::kInteger;
    const bool integer = types_[node] != ValueType::kReal;
    auto& registers = instances_[home].registers;
    const auto found = registers.find({node, wanted});
    if (found != registers.end()) return found->second;
    uint32_t out = 0;
    if (const auto* constant = std::get_if<Constant>(&stage_.nodes[node])) out = PresetReal(constant->value, -1);
    else if (!integer) out = registers.at({node, ValueType::kReal});
    else
      out = AddStep(home, {.op = StepOp::kIntegerToReal, .integer = true}, {registers.at({node, ValueType::kInteger})});
    registers[{node, wanted}] = out;
    return out;
  }
  uint32_t PresetReal(double value, int scalar) {
    const bool exact = static_cast<double>(static_cast<float>(value)) == value;
    out_.presets.push_back({.out = NewRegister(), .real = value, .scalar = scalar, .exact = exact});
    return out_.presets.back().out;
  }
  uint32_t PresetWhole(int64_t value) {
    out_.presets.push_back({.out = NewRegister(), .integer = true, .whole = value});
    return out_.presets.back().out;
  }
  std::vector<uint32_t> Registers(uint32_t block, const std::vector<NodeId>& nodes, ValueType wanted) {
    std::vector<uint32_t> registers;
    for (const NodeId node : nodes) registers.push_back(Register(block, node, wanted));
    return registers;
  }

  Status Emit(uint32_t block, NodeId id) {
    const ValueType type = types_[id] == ValueType::kReal ? ValueType::kReal : ValueType::kInteger;
    WW_ASSIGN(const uint32_t out, EmitNode(block, id, type));
    instances_[block].registers[{id, type}] = out;
    return {};
  }
  Result<uint32_t> EmitNode(uint32_t block, NodeId id, ValueType type) {
    const bool integer = type == ValueType::kInteger;
    return std::visit(
        Overload{[&](const Constant& c) -> Result<uint32_t> {
                   return integer ? PresetWhole(static_cast<int64_t>(c.value)) : PresetReal(c.value, -1);
                 },
                 [&](const ScalarRead& read) -> Result<uint32_t> {
                   const auto& scalars = computation_.scalars;
                   const auto at = std::find(scalars.begin(), scalars.end(), read.name);
                   return PresetReal(0, static_cast<int>(at - scalars.begin()));
                 },
                 [&](const SizeValue& value) -> Result<uint32_t> {
                   WW_ASSIGN(const int64_t number, Number(value.size));
                   return PresetWhole(number);
                 },
                 [&](const IndexValue& value) -> Result<uint32_t> {
                   WW_ASSIGN(const uint32_t position, CompilePosition(value.index));
                   return AddStep(block, {.op = StepOp::kPosition, .integer = true, .extra = position}, {});
                 },
                 [&](const TensorRead& read) { return EmitRead(block, read, integer); },
                 [&](const Reduce& reduce) { return EmitReduce(block, id, reduce, integer); },
                 [&](const Nary& nary) -> Result<uint32_t> {
                   const StepOp op = nary.op == ReduceOp::kSum       ? StepOp::kSum
                                     : nary.op == ReduceOp::kProduct ? StepOp::kProduct
                                     : nary.op == ReduceOp::kMax     ? StepOp::kMax
                                                                     : StepOp::kMin;
                   return AddStep(block, {.op = op, .integer = integer}, Registers(block, nary.args, type));
                 },
                 [&](const Call& call) -> Result<uint32_t> {
                   const StepOp op = integer                                  ? StepOp::kIntegerCall
                                     : call.function == Function::kReciprocal ? StepOp::kReciprocal
                                     : call.args.size() == 2                  ? StepOp::kRealCall2
                                                                              : StepOp::kRealCall;
                   return AddStep(block, {.op = op, .integer = integer, .detail = static_cast<uint8_t>(call.function)},
                                  Registers(block, call.args, type));
                 },
                 [&](const Compare& compare) -> Result<uint32_t> {
                   const bool real =
                       types_[compare.left] == ValueType::kReal || types_[compare.right] == ValueType::kReal;
                   return AddStep(
                       block, {.op = StepOp::kCompare, .integer = !real, .detail = static_cast<uint8_t>(compare.op)},
                       Registers(block, {compare.left, compare.right}, real ? ValueType::kReal : ValueType::kInteger));
                 },
                 [&](const Logic& logic) -> Result<uint32_t> {
                   const StepOp op = logic.op == Logic::Op::kAnd  ? StepOp::kAnd
                                     : logic.op == Logic::Op::kOr ? StepOp::kOr
                                                                  : StepOp::kNot;
                   return AddStep(block, {.op = op, .integer = true}, Registers(block, logic.args, type));
                 },
                 [&](const Select& select) -> Result<uint32_t> {
                   return AddStep(block, {.op = StepOp::kSelect, .integer = integer},
                                  {Register(block, select.condition, ValueType::kInteger),
                                   Register(block, select.then, type), Register(block, select.otherwise, type)});
                 },
                 [&](const Convert& convert) { return EmitConvert(block, convert); }},
        stage_.nodes[id]);
  }
  Result<uint32_t> EmitConvert(uint32_t block, const Convert& convert) {
    const bool from_real = types_[convert.arg] == ValueType::kReal;
    const auto to = static_cast<uint8_t>(convert.to);
    if (IsFloat(convert.to)) {
      const uint32_t arg = Register(block, convert.arg, ValueType::kReal);
      return AddStep(block, {.op = StepOp::kRound, .detail = to}, {arg});
    }
    const StepOp op = convert.to == DType::kBool ? StepOp::kToBoolean
                      : from_real                ? StepOp::kRealToInteger
                                                 : StepOp::kNarrow;
    return EmitConversion(block, op, convert.arg, to);
  }
  Result<uint32_t> EmitRead(uint32_t block, const TensorRead& read, bool integer) {
    CompiledRead compiled;
    while (program_.buffers[compiled.buffer].name != read.tensor ||
           program_.buffers[compiled.buffer].stage != read.stage)
      ++compiled.buffer;
    for (const auto& coordinate : read.at) {
      if (const auto* node = std::get_if<NodeId>(&coordinate)) {
        compiled.at.push_back({.gathered = true, .index = Register(block, *node, ValueType::kInteger)});
      } else {
        WW_ASSIGN(const uint32_t position, CompilePosition(std::get<Affine>(coordinate)));
        compiled.at.push_back({.index = position});
      }
    }
    std::vector<uint32_t> gathered;
    for (const auto& at : compiled.at)
      if (at.gathered) gathered.push_back(at.index);
    out_.reads.push_back(std::move(compiled));
    return AddStep(block,
                   {.op = StepOp::kRead, .integer = integer, .extra = static_cast<uint32_t>(out_.reads.size() - 1)},
                   gathered);
  }
  // Whether some factor of the terms is the same for several results, as a row of a matrix is for all columns. Of sums
  // of squares and of dot products of rows none is.
  bool IsOfMatrices(const Reduce& reduce, NodeId id) const {
    const auto any = [&](const std::vector<NodeId>& ids) {
      return std::any_of(ids.begin(), ids.end(), [&](NodeId arg) { return IsOfMatrices(reduce, arg); });
    };
    const Node& node = stage_.nodes[id];
    if (const auto* convert = std::get_if<Convert>(&node)) return IsOfMatrices(reduce, convert->arg);
    if (const auto* select = std::get_if<Select>(&node)) return any({select->then, select->otherwise});
    const auto* nary = std::get_if<Nary>(&node);
    if (nary == nullptr) return false;
    if (nary->op == ReduceOp::kSum) return any(nary->args);
    if (nary->op != ReduceOp::kProduct) return false;
    VariableSet of_elements = 0;
    for (VariableId v = 0; v < stage_.extents.size(); ++v) of_elements |= SetOf(v);
    for (const NodeId arg : nary->args)
      if ((free_[arg] & VariablesOf(reduce)) != 0 && (free_[id] & of_elements & ~free_[arg]) != 0) return true;
    return any(nary->args);
  }
  Result<uint32_t> EmitReduce(uint32_t block, NodeId id, const Reduce& reduce, bool integer) {
    CompiledReduce compiled{.op = reduce.op, .of_matrices = IsOfMatrices(reduce, reduce.body)};
    for (const auto& [node, instance] : instances_[block].inner)
      if (node == id) compiled.block = instance;
    uint64_t terms = 1;
    for (const auto& variable : reduce.variables) {
      WW_ASSIGN(int64_t extent, Number(variable.extent));
      extent = std::max<int64_t>(extent, 0);
      compiled.variables.emplace_back(variable.id, extent);
      terms = SaturatingMultiply(terms, static_cast<uint64_t>(extent));
    }
    out_.blocks[compiled.block].terms =
        static_cast<int64_t>(std::min<uint64_t>(terms, std::numeric_limits<int64_t>::max()));
    for (const auto& guard : reduce.guards) {
      WW_ASSIGN(CompiledGuard value, CompileGuard(guard));
      compiled.guards.push_back(value);
    }
    if (reduce.index) {
      WW_ASSIGN(compiled.position, CompilePosition(*reduce.index));
    }
    const bool of_integers = IsArg(reduce.op) ? types_[reduce.body] != ValueType::kReal : integer;
    compiled.integer = of_integers;
    compiled.body = Register(compiled.block, reduce.body, of_integers ? ValueType::kInteger : ValueType::kReal);
    out_.reduces.push_back(std::move(compiled));
    return AddStep(block,
                   {.op = StepOp::kReduce, .integer = integer, .extra = static_cast<uint32_t>(out_.reduces.size() - 1)},
                   {});
  }

  const Computation& computation_;
  const Stage& stage_;
  const SizeValues& sizes_;
  const Program& program_;
  const std::vector<ValueType> types_;
  const std::vector<VariableSet> free_;
  StageProgram out_;
  std::vector<Instance> instances_;
  uint32_t registers_ = 0;
};

Status FinishShape(BufferShape& buffer) {
  uint64_t elements = 1;
  buffer.strides.assign(buffer.extents.size(), 1);
  for (size_t i = buffer.extents.size(); i-- > 0;) {
    buffer.strides[i] = static_cast<int64_t>(elements);
    elements = SaturatingMultiply(elements, static_cast<uint64_t>(buffer.extents[i]));
    if (elements >> 62 != 0) return Fail(ErrorCode::kLimit, "'" + buffer.name + "' has too many elements");
  }
  buffer.elements = static_cast<int64_t>(elements);
  return {};
}
Result<BufferShape> ShapeOf(const std::string& name, const std::vector<Size>& extents, const SizeValues& sizes) {
  BufferShape buffer{.name = name};
  for (const auto& size : extents) {
    WW_ASSIGN(const int64_t extent, size.Evaluate(sizes));
    buffer.extents.push_back(std::max<int64_t>(extent, 0));
  }
  WW_TRY(FinishShape(buffer));
  return buffer;
}

// The root's steps, and a reduction's for each of its terms.
uint64_t WorkOfElement(const StageProgram& stage) {
  // Inner blocks have higher numbers.
  std::vector<uint64_t> times(stage.blocks.size(), 0);
  times[0] = 1;
  uint64_t work = 0;
  for (size_t at = 0; at < stage.blocks.size(); ++at) {
    work = SaturatingAdd(work, SaturatingMultiply(times[at], stage.blocks[at].steps.size() + 1));
    for (const auto& step : stage.blocks[at].steps) {
      if (step.op != StepOp::kReduce) continue;
      const uint32_t inner = stage.reduces[step.extra].block;
      times[inner] = SaturatingMultiply(times[at], static_cast<uint64_t>(stage.blocks[inner].terms));
    }
  }
  return work;
}

}  // namespace

int64_t StageProgram::elements() const {
  uint64_t count = 1;
  for (const int64_t extent : extents) count = SaturatingMultiply(count, static_cast<uint64_t>(extent));
  return static_cast<int64_t>(std::min<uint64_t>(count, std::numeric_limits<int64_t>::max()));
}

Result<Program> CompileProgram(const Computation& computation, const SizeValues& sizes) {
  Program program;
  for (const auto& tensor : computation.tensors) {
    WW_ASSIGN(BufferShape buffer, ShapeOf(tensor.name, tensor.shape, sizes));
    buffer.dtype = tensor.dtype;
    buffer.integer = !IsFloat(tensor.dtype);
    program.buffers.push_back(std::move(buffer));
  }
  for (const auto& stage : computation.stages) {
    const auto exists = std::find_if(program.buffers.begin(), program.buffers.end(),
                                     [&](const BufferShape& b) { return b.stage && b.name == stage.name; });
    const auto at = static_cast<uint32_t>(exists - program.buffers.begin());
    if (exists == program.buffers.end()) {
      const auto& shape = stage.output ? computation.FindTensor(stage.name)->shape : stage.extents;
      WW_ASSIGN(BufferShape buffer, ShapeOf(stage.name, shape, sizes));
      buffer.stage = true;
      buffer.output = stage.output;
      buffer.dtype = stage.dtype;
      buffer.integer = stage.output ? !IsFloat(stage.dtype) : TypesOf(computation, stage).back() != ValueType::kReal;
      program.elements = SaturatingAdd(program.elements, static_cast<uint64_t>(buffer.elements));
      program.buffers.push_back(std::move(buffer));
    }
    auto compiled = StageCompiler(computation, stage, sizes, program).Run(at);
    if (!compiled) {
      compiled.error().message = "stage '" + stage.name + "': " + compiled.error().message;
      return Fail(std::move(compiled).error());
    }
    compiled->work = WorkOfElement(*compiled);
    compiled->term_programs = TermProgramsOf(*compiled, program.buffers);
    const auto elements = static_cast<uint64_t>(compiled->elements());
    program.work = SaturatingAdd(program.work, SaturatingMultiply(elements, compiled->work));
    program.stages.push_back(std::move(*compiled));
  }
  return program;
}

}  // namespace warpwright::core
