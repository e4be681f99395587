#include "lift/equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "lift/canonical.h"
#include "lift/cpu_time.h"
#include "lift/describe.h"
#include "lift/element_comparison.h"
#include "lift/equivalence_remarks.h"
#include "lift/memory_shadow.h"
#include "lift/shape_trace.h"

namespace warpwright::lift {
namespace {

using core::Difference;
using core::DifferenceKind;
using core::LiftShape;
using core::NotComparable;

constexpr size_t kMaxText = 600;  // of an expression
constexpr int kTextDepth = 5;
constexpr uint64_t kEarlierSeed = 0x6561726c79;  // of the inputs of an earlier call
constexpr double kCompareShare = 0.5;            // of the time, for the first shape's inputs

// One version's execution at a shape, over the shared graph.
struct Followed {
  std::vector<TracedBuffer> buffers;
  std::vector<DataBranch> open;  // that data can turn, and neither side of which could be followed
};
struct Failed {
  std::string message;
};
using FollowOutcome = std::variant<NotComparable, Failed, Followed>;

struct Way {
  uint64_t block_order = 0;
  const std::vector<core::BufferContent>* earlier_call = nullptr;
};

class Side {
 public:
  Side(const core::EquivalenceRequest& request, const Prepare& prepare, bool candidate)
      : request_(request), prepare_(prepare), candidate_(candidate) {}

  Result<PrepareOutcome> PrepareAt(const LiftShape& at) const { return prepare_(at); }

  // Where branches depend on data, once more with both sides of these, or along every path. The graph is fresh if the
  // outcome is no Followed.
  Result<FollowOutcome> Follow(const LiftShape& at, const PreparedShape& shape, Way way, Graph& graph) {
    for (int round = 0;; ++round) {
      sim::DecodeOptions& decode = converted_[shape.module->ptx];
      TraceRequest request = MakeTraceRequest(request_.spec, at, shape);
      request.decode = decode;
      request.node_limit = request_.node_limit;
      request.instruction_limit = request_.instruction_limit;
      request.block_order = way.block_order;
      request.earlier_call = way.earlier_call;
      if (may_fork_) request.forked = forked_;
      const bool forks = !request.forked.empty();
      Graph before = forks ? graph.Copy() : Graph(0);
      WW_ASSIGN(TraceOutcome outcome, TracePlan(request, std::move(graph)));
      graph = Graph(request_.node_limit);
      if (forks && !std::holds_alternative<Trace>(outcome)) {  // too many paths
        may_fork_ = false;
        graph = std::move(before);
        continue;
      }
      if (auto* not_traced = std::get_if<NotTraced>(&outcome))
        return FollowOutcome(NotComparable{not_traced->blocker, not_traced->message, candidate_});
      if (auto* fault = std::get_if<core::Fault>(&outcome)) return FollowOutcome(Failed{fault->message});
      auto& trace = std::get<Trace>(outcome);
      graph = std::move(trace.graph);
      const std::vector<const DataBranch*> open = OpenBranches(trace.branches, graph);
      if (!open.empty() && round < kConversions && ConvertBranches(trace.kernels, open, decode)) continue;
      if (!open.empty() && may_fork_ && ForkLaunches(trace.kernels, open, forked_)) continue;
      if (!trace.lossy.empty()) return FollowOutcome(NotComparable{"lossy", trace.lossy[0], candidate_});
      Followed followed{.buffers = std::move(trace.buffers), .open = {}};
      for (const DataBranch* branch : open) followed.open.push_back(*branch);
      return FollowOutcome(std::move(followed));
    }
  }

 private:
  // A branch that data cannot turn is none. Each condition once.
  std::vector<const DataBranch*> OpenBranches(const std::vector<DataBranch>& branches, const Graph& graph) const {
    std::vector<const DataBranch*> open;
    if (branches.empty()) return open;
    std::set<ExprId> seen;
    std::vector<ExprId> predicates;
    for (const DataBranch& branch : branches) {
      if (!seen.insert(branch.predicate).second) continue;
      open.push_back(&branch);
      predicates.push_back(branch.predicate);
    }
    FormGraph forms(request_.node_limit);
    const CanonicalRoots canonical = Canonicalise(graph, predicates, forms);
    std::vector<const DataBranch*> turning;
    for (size_t i = 0; i < open.size(); ++i)
      if (forms.full() || canonical.forms[i] == 0 || !forms.AsConstant(canonical.forms[i])) turning.push_back(open[i]);
    return turning;
  }

  const core::EquivalenceRequest& request_;
  const Prepare& prepare_;
  const bool candidate_;
  std::map<std::string, sim::DecodeOptions> converted_;  // by the PTX
  std::set<std::string, std::less<>> forked_;            // kernels
  bool may_fork_ = true;
};

struct ShapeResult {
  std::vector<Difference> differences;
  core::Equal equal;
  std::vector<std::string> remarks;
  ExprId kept = kConcrete;  // an element that depends on the earlier call
};
struct Skipped {  // the original does not run at this shape
  std::string why;
};
using ComparedShape = std::variant<Skipped, NotComparable, ShapeResult>;

class Comparing {
 public:
  Comparing(const core::EquivalenceRequest& request, const Prepare& original, const Prepare& candidate)
      : request_(request), original_(request, original, false), candidate_(request, candidate, true) {
    for (const core::Argument& argument : request.spec.args)
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) {
        arguments_.push_back(buffer);
        names_.push_back(argument.name);
      }
    for (const std::string& name : std::vector(names_)) names_.push_back(name + " of the earlier call");
  }

  Result<core::Equivalence> Run() {
    const auto begin = std::chrono::steady_clock::now();
    const double start = CpuSeconds();
    cpu_end_ = start + request_.seconds_limit;
    core::Equivalence answer;
    std::optional<NotComparable> blocked;
    std::vector<Difference> differences;
    core::Equal equal;
    std::string skipped = "no shape of the manifest can be executed";
    for (const LiftShape& shape : request_.shapes) {
      if (equal.shapes == request_.compared_shapes || !differences.empty() || CpuSeconds() > cpu_end_) break;
      if (shape.buffers.size() != arguments_.size()) continue;
      inputs_deadline_ = std::min(cpu_end_, CpuSeconds() + kCompareShare * request_.seconds_limit);
      WW_ASSIGN(ComparedShape outcome, At(shape));
      std::visit(Overload{[&](Skipped& s) { skipped = std::move(s.why); },
                          [&](NotComparable& not_comparable) {
                            if (!blocked) blocked = std::move(not_comparable);
                          },
                          [&](ShapeResult& result) {
                            differences = std::move(result.differences);
                            if (answer.remarks.empty()) answer.remarks = std::move(result.remarks);
                            ++equal.shapes;
                            equal.inputs += result.equal.inputs;
                            equal.elements += result.equal.elements;
                            equal.identical += result.equal.identical;
                            equal.same_form += result.equal.same_form;
                          }},
                 outcome);
    }
    if (!differences.empty()) answer.outcome = core::Different{std::move(differences)};
    else if (equal.shapes > 0) answer.outcome = equal;
    else answer.outcome = blocked ? std::move(*blocked) : NotComparable{"no shape", skipped, false};
    answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return answer;
  }

 private:
  Result<ComparedShape> At(const LiftShape& shape) {
    WW_ASSIGN(PrepareOutcome prepared, original_.PrepareAt(shape));
    if (const auto* not_prepared = std::get_if<NotPrepared>(&prepared))
      return ComparedShape(Skipped{not_prepared->why});
    Graph graph(request_.node_limit);
    WW_ASSIGN(FollowOutcome original, original_.Follow(shape, std::get<PreparedShape>(prepared), {}, graph));
    if (auto* failed = std::get_if<Failed>(&original)) return ComparedShape(Skipped{std::move(failed->message)});
    if (auto* not_comparable = std::get_if<NotComparable>(&original)) return ComparedShape(std::move(*not_comparable));
    if (WritesNothing(std::get<Followed>(original).buffers))
      return ComparedShape(Skipped{"the original writes nothing at this shape"});

    WW_ASSIGN(PrepareOutcome launched, candidate_.PrepareAt(shape));
    if (const auto* not_prepared = std::get_if<NotPrepared>(&launched)) return Fails(shape, not_prepared->why);
    const auto& candidate_shape = std::get<PreparedShape>(launched);
    std::vector<Followed> ways;
    for (const Way way : {Way{.earlier_call = &shape.buffers}, Way{.block_order = 1}}) {
      WW_ASSIGN(FollowOutcome followed, candidate_.Follow(shape, candidate_shape, way, graph));
      if (auto* failed = std::get_if<Failed>(&followed)) return Fails(shape, failed->message);
      if (auto* not_comparable = std::get_if<NotComparable>(&followed))
        return ComparedShape(std::move(*not_comparable));
      ways.push_back(std::move(std::get<Followed>(followed)));
    }
    WW_ASSIGN(ComparedShape outcome, Compare(shape, graph, std::get<Followed>(original), ways[0], ways[1]));
    if (auto* result = std::get_if<ShapeResult>(&outcome))
      for (Difference& difference : result->differences)
        if (difference.kind == DifferenceKind::kEarlierCall)
          WW_TRY(AddOutputs(candidate_shape, graph, result->kept, std::get<Followed>(original), difference));
    return outcome;
  }

  // What the difference's input gives after a call with other inputs: with entirely others, or with those that agree in
  // what decides whether the earlier result is kept.
  Status AddOutputs(const PreparedShape& shape, const Graph& graph, ExprId kept, const Followed& original,
                    Difference& difference) {
    const std::vector<core::BufferContent> others =
        MakePoint(request_.spec, difference.input.buffers, PointRange::kNormal, kEarlierSeed, {});
    for (const bool agreeing : {false, true}) {
      if (agreeing && kept == kConcrete) break;
      const std::vector<core::BufferContent> earlier =
          agreeing ? AgreeingWith(difference.input.buffers, others, Deciding(graph, kept)) : others;
      Graph fresh(request_.node_limit);
      WW_ASSIGN(const FollowOutcome outcome,
                candidate_.Follow(difference.input, shape, Way{.earlier_call = &earlier}, fresh));
      const auto* followed = std::get_if<Followed>(&outcome);
      if (followed == nullptr) break;
      difference.outputs.clear();
      bool differs = false;
      for (size_t b = 0; b < followed->buffers.size(); ++b) {
        const std::vector<uint64_t>& bits = followed->buffers[b].bits;
        const size_t width = core::SizeOf(arguments_[b]->dtype);
        std::vector<std::byte> bytes(bits.size() * width);
        for (size_t e = 0; e < bits.size(); ++e) std::memcpy(bytes.data() + e * width, &bits[e], width);
        difference.outputs.emplace_back(std::move(bytes));
        differs = differs || (names_[b] == difference.output && bits != original.buffers[b].bits);
      }
      if (differs) break;
    }
    return {};
  }

  using Places = std::set<std::pair<size_t, uint64_t>>;  // buffer, element
  // What of the earlier call's inputs is in a condition of the expression.
  Places Deciding(const Graph& graph, ExprId root) const {
    Places places;
    std::set<std::pair<ExprId, bool>> seen;
    std::vector<std::pair<ExprId, bool>> open{{root, false}};
    while (!open.empty()) {
      const auto [id, decides] = open.back();
      open.pop_back();
      if (!seen.insert({id, decides}).second) continue;
      const Expr& e = graph[id];
      if (decides && e.op == ExprOp::kLoad && e.buffer >= arguments_.size())
        places.emplace(e.buffer - arguments_.size(), e.payload);
      for (size_t k = 0; k < e.arity; ++k)
        open.emplace_back(e.args[k], decides || e.op == ExprOp::kCompare || (e.op == ExprOp::kSelect && k == 0));
    }
    return places;
  }
  // `others` with these places as in `contents`.
  std::vector<core::BufferContent> AgreeingWith(const std::vector<core::BufferContent>& contents,
                                                std::vector<core::BufferContent> others, const Places& places) const {
    for (size_t b = 0; b < others.size(); ++b) {
      const size_t width = core::SizeOf(arguments_[b]->dtype);
      std::vector<std::byte> bytes = others[b].bytes.Copy();
      for (auto place = places.lower_bound({b, 0}); place != places.end() && place->first == b; ++place)
        std::memcpy(bytes.data() + place->second * width, contents[b].bytes.data() + place->second * width, width);
      others[b].bytes = base::Bytes(std::move(bytes));
    }
    return others;
  }

  static Result<ComparedShape> Fails(const LiftShape& shape, const std::string& how) {
    Difference difference{.kind = DifferenceKind::kFails, .input = shape};
    difference.candidate = how.substr(0, kMaxText);
    return ComparedShape(ShapeResult{.differences = {std::move(difference)}, .equal = {}, .remarks = {}});
  }

  // The expression of an element after the call; kConcrete if it is not written and was not given either.
  ExprId ElementOf(Builder& builder, const Followed& side, uint32_t buffer, uint64_t e, const LiftShape& shape) const {
    const TracedBuffer& traced = side.buffers[buffer];
    const sim::Type type = TypeOf(arguments_[buffer]->dtype);
    if (traced.written[e])
      return traced.elements[e] != kConcrete ? traced.elements[e] : builder.Const(type, traced.bits[e]);
    if (arguments_[buffer]->role != core::Role::kInOut) return kConcrete;
    uint64_t bits = 0;
    const size_t bytes = core::SizeOf(arguments_[buffer]->dtype);
    std::memcpy(&bits, shape.buffers[buffer].bytes.data() + e * bytes, bytes);
    return builder.Make({.op = ExprOp::kLoad, .type = type, .buffer = static_cast<uint16_t>(buffer), .payload = e},
                        bits);
  }

  struct Elements {
    std::vector<ElementPair> all, unequal;  // of the usual order; those that are not identical
    std::vector<ElementPair> reordered;     // that are something else with blocks and warps in the opposite order
    std::vector<Difference> differences;    // not written, or alone
    uint64_t identical = 0;
  };

  Elements Pair(const LiftShape& shape, Graph& graph, const Followed& original, const Followed& candidate,
                const Followed& reversed) const {
    Elements elements;
    Builder builder(graph);
    for (uint32_t b = 0; b < arguments_.size(); ++b) {
      const core::Role role = arguments_[b]->role;
      if (role == core::Role::kIn || role == core::Role::kScratch) continue;
      for (uint64_t e = 0; e < original.buffers[b].elements.size(); ++e) {
        const ElementPair pair{b, e, ElementOf(builder, original, b, e, shape),
                               ElementOf(builder, candidate, b, e, shape)};
        const ExprId other = ElementOf(builder, reversed, b, e, shape);
        if (pair.original == kConcrete && pair.candidate == kConcrete) continue;
        if (pair.original == kConcrete || pair.candidate == kConcrete) {
          const DifferenceKind kind = pair.original == kConcrete ? DifferenceKind::kWritten
                                      : other != kConcrete       ? DifferenceKind::kEarlierCall
                                                                 : DifferenceKind::kNotWritten;
          if (elements.differences.empty()) elements.differences.push_back(Named(kind, pair, graph, shape));
          continue;
        }
        elements.all.push_back(pair);
        if (pair.original == pair.candidate) ++elements.identical;
        else elements.unequal.push_back(pair);
        if (other != pair.candidate && other != pair.original && other != kConcrete)
          elements.reordered.push_back({b, e, pair.original, other});
      }
    }
    return elements;
  }

  Difference Named(DifferenceKind kind, const ElementPair& pair, const Graph& graph, LiftShape input) const {
    const auto text = [&](ExprId id) {
      if (id == kConcrete) return std::string("not written");
      std::string described = Describe(graph, id, kTextDepth, names_);
      if (described.size() > kMaxText) described.replace(kMaxText, std::string::npos, "...");
      return described;
    };
    Difference difference{.kind = kind, .output = names_[pair.buffer], .element = pair.element};
    difference.original = text(pair.original);
    difference.candidate = text(pair.candidate);
    difference.input = std::move(input);
    return difference;
  }

  // Elements that depend on what an earlier call left.
  std::vector<bool> StaleNodes(const Graph& graph) const {
    std::vector<bool> stale(graph.size(), false);
    for (ExprId id = 1; id < graph.size(); ++id) {
      const Expr& e = graph[id];
      stale[id] = (e.op == ExprOp::kLoad || e.op == ExprOp::kGather) && e.buffer >= arguments_.size();
      for (const ExprId arg : e.arguments()) stale[id] = stale[id] || stale[arg];
    }
    return stale;
  }

  Result<ComparedShape> Compare(const LiftShape& shape, Graph& graph, const Followed& original,
                                const Followed& candidate, const Followed& reversed) {
    Elements elements = Pair(shape, graph, original, candidate, reversed);
    if (graph.full())
      return ComparedShape(
          NotComparable{"node limit", fmt::format("more than {} expressions", request_.node_limit), true});
    ShapeResult result;
    result.differences = std::move(elements.differences);
    const std::vector<bool> stale = StaleNodes(graph);
    const auto keeps = [&](const ElementPair& pair) { return stale[pair.candidate]; };
    if (const auto kept = std::find_if(elements.unequal.begin(), elements.unequal.end(), keeps);
        kept != elements.unequal.end()) {
      result.differences.push_back(Named(DifferenceKind::kEarlierCall, *kept, graph, shape));
      result.kept = kept->candidate;
    }
    std::erase_if(elements.unequal, keeps);

    std::vector<DataBranch> branches = original.open;
    branches.insert(branches.end(), candidate.open.begin(), candidate.open.end());
    branches.insert(branches.end(), reversed.open.begin(), reversed.open.end());
    std::erase_if(branches, [&](const DataBranch& branch) { return stale[branch.predicate]; });
    ComparisonSetting setting{.spec = &request_.spec, .shape = &shape, .branches = branches};
    for (const core::BufferArgument* argument : arguments_) setting.dtypes.push_back(argument->dtype);
    setting.cpu_deadline = inputs_deadline_;
    setting.node_limit = request_.node_limit;
    std::optional<ElementPair> untested;
    const auto compare = [&](std::span<const ElementPair> pairs, std::optional<DifferenceKind> as) {
      if (pairs.empty()) return;
      const ComparedElements compared = CompareElements(graph, pairs, setting);
      for (const ElementDifference& d : compared.differences) {
        Difference difference = Named(as.value_or(d.kind), d.pair, graph, {shape.scalars, compared.inputs[d.input]});
        difference.expected = d.expected;
        difference.computed = d.computed;
        result.differences.push_back(std::move(difference));
      }
      result.equal.inputs += static_cast<uint32_t>(compared.inputs.size());
      if (!as) result.equal.same_form = compared.same_form;
      if (compared.untested > 0 && !untested) untested = compared.untested_example;
    };
    compare(elements.unequal, std::nullopt);
    if (result.differences.empty()) compare(elements.reordered, DifferenceKind::kOrder);
    result.remarks = RemarksOn(graph, elements.all, std::span(names_).first(arguments_.size()));
    result.equal.elements = elements.all.size();
    result.equal.identical = elements.identical;
    if (!result.differences.empty()) return ComparedShape(std::move(result));
    if (untested)
      return ComparedShape(NotComparable{"not evaluated",
                                         fmt::format("{}[{}] cannot be evaluated within useful bounds on any input",
                                                     names_[untested->buffer], untested->element),
                                         true});
    if (!branches.empty()) {
      const bool own = original.open.empty();
      const DataBranch& branch = branches.front();
      return ComparedShape(NotComparable{
          "branch on data", fmt::format("a branch depends on data ({}:{})", branch.file, branch.line), own});
    }
    return ComparedShape(std::move(result));
  }

  const core::EquivalenceRequest& request_;
  Side original_, candidate_;
  std::vector<const core::BufferArgument*> arguments_;
  std::vector<std::string> names_;  // of these, and again as those of an earlier call
  double cpu_end_ = 0, inputs_deadline_ = 0;
};

}  // namespace

Result<core::Equivalence> CompareEntries(const core::EquivalenceRequest& request, const Prepare& original,
                                         const Prepare& candidate) {
  return Comparing(request, original, candidate).Run();
}

}  // namespace warpwright::lift
