#include "core/computation_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

class FactFinder {
 public:
  FactFinder(const Computation& computation, const SizeValues& sizes, const ComputationCounts& counts)
      : computation_(computation), sizes_(sizes), counts_(counts), structure_(StructureOf(computation)) {
    for (const auto& stage : computation.stages) extents_.push_back(ExtentsOf(stage));
  }

  ComputationFacts Run() {
    facts_.operation = structure_.operation;
    AddCounts();
    AddContraction();
    AddReduction();
    AddWindow();
    AddNodes();
    return std::move(facts_);
  }

 private:
  double ValueOf(const Size& size) const {
    const auto value = size.Evaluate(sizes_);
    return value ? static_cast<double>(*value) : 0;
  }
  std::map<VariableId, double> ExtentsOf(const Stage& stage) const {
    std::map<VariableId, double> extents;
    for (VariableId v = 0; v < stage.extents.size(); ++v) extents[v] = ValueOf(stage.extents[v]);
    for (const auto& node : stage.nodes)
      if (const auto* reduce = std::get_if<Reduce>(&node))
        for (const auto& variable : reduce->variables) extents[variable.id] = ValueOf(variable.extent);
    return extents;
  }
  // Of the first stage of that name: parts of a tensor have the same reductions.
  size_t StageAt(const std::string& name) const {
    size_t at = 0;
    while (at + 1 < computation_.stages.size() && computation_.stages[at].name != name) ++at;
    return at;
  }
  double Product(size_t stage, const std::vector<VariableId>& variables) const {
    double product = 1;
    for (const VariableId v : variables)
      if (const auto found = extents_[stage].find(v); found != extents_[stage].end()) product *= found->second;
    return product;
  }

  void AddCounts() {
    facts_.operations = counts_.operations;
    facts_.read_bytes = counts_.read_bytes;
    facts_.written_bytes = counts_.written_bytes;
    facts_.exact = counts_.exact;
    std::set<DType> read, written;
    for (const auto& tensor : counts_.tensors) {
      const TensorArgument& argument = *computation_.FindTensor(tensor.tensor);
      facts_.results += static_cast<double>(tensor.written);
      if (tensor.written > 0) written.insert(argument.dtype);
      if (tensor.read == 0) continue;
      read.insert(argument.dtype);
      facts_.operands.push_back({tensor.tensor, static_cast<double>(tensor.read), static_cast<double>(tensor.uses)});
    }
    facts_.read_types.assign(read.begin(), read.end());
    facts_.written_types.assign(written.begin(), written.end());
  }

  void AddContraction() {
    const Contraction* largest = nullptr;
    double most = -1;
    for (const auto& c : structure_.contractions) {
      const size_t stage = StageAt(c.stage);
      const ContractionSizes sizes{Product(stage, c.batch), Product(stage, c.m), Product(stage, c.n),
                                   Product(stage, c.k)};
      const double products = sizes.batch * sizes.m * sizes.n * sizes.k;
      if (products <= most) continue;
      most = products, largest = &c;
      facts_.contraction = sizes;
    }
    if (largest == nullptr) return;
    std::set<size_t> dimensions;
    ConvolutionKind kind;
    for (const auto& window : structure_.windows) {
      if (window.stage != largest->stage || IsGroup(window)) continue;
      dimensions.insert(window.dimension);
      kind.transposed = kind.transposed || ValueOf(window.divisor) > 1;
    }
    if (dimensions.empty()) return;
    kind.dimensions = static_cast<int>(dimensions.size());
    const bool shared = !largest->batch.empty() || ReadsByGroup(computation_.stages[StageAt(largest->stage)]);
    kind.depthwise = shared && (largest->m.empty() || largest->n.empty());
    kind.grouped = shared && !kind.depthwise;
    facts_.convolution = kind;
  }
  static bool ReadsByGroup(const Stage& stage) {
    bool grouped = false;
    for (const auto& node : stage.nodes)
      ForEachPosition(node, [&](const Affine& position) {
        for (const auto& term : position.terms) grouped = grouped || term.part == Affine::Part::kQuotient;
      });
    return grouped;
  }

  void AddReduction() {
    double most = -1;
    for (size_t s = 0; s < computation_.stages.size(); ++s) {
      const Stage& stage = computation_.stages[s];
      if (std::any_of(structure_.contractions.begin(), structure_.contractions.end(),
                      [&](const Contraction& c) { return c.stage == stage.name; }))
        continue;
      for (const auto& node : stage.nodes) {
        const auto* reduce = std::get_if<Reduce>(&node);
        if (reduce == nullptr) continue;
        ReductionSizes sizes{.terms = 1, .results = 1, .contiguous = IsContiguous(stage)};
        for (const auto& variable : reduce->variables) sizes.terms *= ValueOf(variable.extent);
        for (VariableId v = 0; v < stage.extents.size(); ++v) sizes.results *= extents_[s].at(v);
        if (sizes.terms * sizes.results <= most) continue;
        most = sizes.terms * sizes.results;
        facts_.reduction = sizes;
      }
    }
  }
  bool IsContiguous(const Stage& stage) const {
    return std::any_of(structure_.axes.begin(), structure_.axes.end(), [&](const ReductionAxis& axis) {
      if (axis.stage != stage.name) return false;
      const TensorArgument* argument = computation_.FindTensor(axis.tensor);
      const Stage* producer = computation_.FindStage(axis.tensor);
      const size_t rank = argument != nullptr   ? argument->shape.size()
                          : producer != nullptr ? producer->extents.size()
                                                : 0;
      return axis.dimension + 1 == rank;
    });
  }

  void AddWindow() {
    std::map<std::string, WindowSizes> by_read;  // of a stage's reads of one tensor
    for (const auto& window : structure_.windows) {
      if (!HasWindows(window.stage)) continue;
      WindowSizes& sizes = by_read[window.stage + " " + window.tensor];
      sizes.taps = std::max(sizes.taps, 1.0) * ValueOf(window.extent);
      sizes.stride = std::max(sizes.stride, std::abs(ValueOf(window.stride)));
    }
    for (const auto& stage : structure_.stages) {
      if (stage.operation != OperationClass::kStencil) continue;
      std::map<std::string, double> reads;
      for (const auto& node : computation_.stages[stage.index].nodes)
        if (const auto* read = std::get_if<TensorRead>(&node)) ++reads[read->tensor];
      for (const auto& [tensor, taps] : reads) {
        WindowSizes& sizes = by_read[stage.stage + " " + tensor];
        if (taps > 1) sizes.taps = std::max(sizes.taps, taps);
      }
    }
    for (const auto& [read, sizes] : by_read)
      if (sizes.taps > 1 && (!facts_.window || sizes.taps > facts_.window->taps)) facts_.window = sizes;
  }

  bool HasWindows(const std::string& name) const {
    return std::any_of(structure_.stages.begin(), structure_.stages.end(), [&](const StageClass& stage) {
      return stage.stage == name &&
             (stage.operation == OperationClass::kStencil || stage.operation == OperationClass::kConvolution);
    });
  }

  void AddNodes() {
    for (const auto& stage : computation_.stages) {
      const std::vector<bool> reachable = Reachable(stage), data = DependsOnData(stage);
      for (NodeId id = 0; id < stage.nodes.size(); ++id) {
        if (!reachable[id]) continue;
        if (const auto* read = std::get_if<TensorRead>(&stage.nodes[id]))
          facts_.gathers += std::any_of(read->at.begin(), read->at.end(), [&](const Coordinate& c) {
            const NodeId* position = std::get_if<NodeId>(&c);
            return position != nullptr && data[*position];
          });
        if (const auto* select = std::get_if<Select>(&stage.nodes[id])) facts_.data_branches += data[select->condition];
      }
    }
    std::set<std::string> names, fusable;
    for (const auto& stage : computation_.stages) names.insert(stage.name);
    for (const auto& fusion : structure_.fusions) fusable.insert(fusion.producer);
    facts_.stages = names.size();
    facts_.fusable = fusable.size();
  }
  static std::vector<bool> DependsOnData(const Stage& stage) {
    std::vector<bool> depends(stage.nodes.size());
    for (NodeId id = 0; id < stage.nodes.size(); ++id) {
      bool found = std::holds_alternative<TensorRead>(stage.nodes[id]);
      ForEachArgument(stage.nodes[id], [&](NodeId arg) { found = found || depends[arg]; });
      depends[id] = found;
    }
    return depends;
  }

  const Computation& computation_;
  const SizeValues& sizes_;
  const ComputationCounts& counts_;
  const ComputationStructure structure_;
  std::vector<std::map<VariableId, double>> extents_;  // of variables, by stage
  ComputationFacts facts_;
};

std::string Bucket(std::string_view name, double extent) {
  return fmt::format(" {}4^{:.0f}", name, std::floor(std::log2(std::max(extent, 1.0)) / 2));
}
std::string TypesOf(const std::vector<DType>& types) {
  std::string text;
  for (const DType type : types) text += (text.empty() ? "" : ",") + std::string(Name(type));
  return text;
}
// "2.15 G"
std::string Prefixed(double value) {
  constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t at = 0;
  for (; value >= 1000 && at + 1 < std::size(kPrefixes); ++at) value /= 1000;
  return fmt::format("{:.3g} {}", value, kPrefixes[at]);
}

std::string ConvolutionInWords(const ConvolutionKind& kind) {
  return fmt::format("a {}D{}{}{} convolution", kind.dimensions, kind.transposed ? " transposed" : "",
                     kind.depthwise ? " depthwise" : "", kind.grouped ? " grouped" : "");
}

}  // namespace

Result<ComputationFacts> FactsAt(const Computation& computation, const SizeValues& sizes) {
  if (const auto broken = BrokenAssumption(computation, sizes))
    return Fail(ErrorCode::kUnsupported, "the form holds for " + *broken);
  WW_ASSIGN(const ComputationCounts counts, CountAt(computation, sizes));
  return FactFinder(computation, sizes, counts).Run();
}

std::string ShapeClassOf(const ComputationFacts& facts) {
  std::string text(Name(facts.operation));
  if (facts.contraction) {
    const ContractionSizes& c = *facts.contraction;
    text += Bucket("b", c.batch) + Bucket("m", c.m) + Bucket("n", c.n) + Bucket("k", c.k);
  } else if (facts.reduction) {
    text += Bucket("results", facts.reduction->results) + Bucket("terms", facts.reduction->terms);
  } else {
    text += Bucket("results", facts.results);
  }
  return text + " " + TypesOf(facts.read_types) + ">" + TypesOf(facts.written_types);
}

std::vector<std::string> InWords(const ComputationFacts& facts, std::optional<double> counted) {
  constexpr double kManyMore = 8;
  const bool repeats = counted && facts.flops() > kManyMore * *counted;
  std::vector<std::string> words;
  std::string what = facts.convolution && facts.operation == OperationClass::kConvolution
                         ? ConvolutionInWords(*facts.convolution)
                         : std::string(InWords(facts.operation));
  if (facts.contraction) {
    const ContractionSizes& c = *facts.contraction;
    what += fmt::format(", {}M = {:.0f}, N = {:.0f}, K = {:.0f}",
                        c.batch > 1 ? fmt::format("batch {:.0f}, ", c.batch) : std::string(), c.m, c.n, c.k);
  }
  words.push_back(std::move(what));
  if (repeats) words.push_back("as a formula, it repeats work that implementations share");
  else
    words.push_back(fmt::format("{}flop on {}{}B: {:.3g} flop/byte", Prefixed(facts.flops()),
                                facts.exact ? "" : "at most ", Prefixed(facts.bytes()), facts.intensity()));
  if (facts.reduction && !repeats)
    words.push_back(fmt::format("{:.0f} results of {:.0f} terms each, {} in memory", facts.reduction->results,
                                facts.reduction->terms, facts.reduction->contiguous ? "neighbours" : "far apart"));
  if (facts.window)
    words.push_back(fmt::format("windows of {:.0f} elements, stride {:g}", facts.window->taps, facts.window->stride));
  for (const auto& operand : facts.operands)
    if (operand.reuse() >= 1.5 && !repeats)
      words.push_back(fmt::format("an element of {} is used {:.3g} times", operand.tensor, operand.reuse()));
  if (facts.gathers > 0) words.push_back(fmt::format("{} reads at positions that are data", facts.gathers));
  if (facts.data_branches > 0) words.push_back(fmt::format("{} selections by data", facts.data_branches));
  if (facts.stages > 1)
    words.push_back(
        fmt::format("{} stages, {} of them can be fused with what reads them", facts.stages, facts.fusable));
  return words;
}

}  // namespace warpwright::core
