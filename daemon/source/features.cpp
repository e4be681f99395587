#include "source/features.h"

#include <algorithm>
#include <map>

#include "source/analysis.h"

namespace warpwright::source {
namespace {

constexpr size_t kMaxAccesses = 512;  // of untrusted input; more provide no additional information

bool IsLoop(const Node& node) { return node.Is(NodeKind::kFor) || node.Is(NodeKind::kWhile) || node.Is(NodeKind::kDo); }

int LoopDepth(const Node& node) {
  int depth = 0;
  for (const Node* at = node.parent; at != nullptr; at = at->parent) depth += IsLoop(*at) ? 1 : 0;
  return depth;
}

std::string LastPart(const std::string& name) {
  const size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

bool IsMath(const std::string& name) {
  static const std::set<std::string> kStems = {
      "exp",      "exp2",    "exp10",    "expm1",     "log",     "log2",  "log10",  "log1p",  "sqrt",
      "rsqrt",    "cbrt",    "sin",      "cos",       "tan",     "sinh",  "cosh",   "tanh",   "asin",
      "acos",     "atan",    "atan2",    "erf",       "erfc",    "pow",   "fmod",   "sincos", "rcp",
      "fdividef", "frcp_rn", "fsqrt_rn", "frsqrt_rn", "fdiv_rn", "hypot", "lgamma", "tgamma", "normcdf"};
  std::string stem = name;
  if (stem.starts_with("__")) stem = stem.substr(2);
  if (kStems.contains(stem)) return true;
  if (stem.size() > 1 && stem.back() == 'f' && kStems.contains(stem.substr(0, stem.size() - 1))) return true;
  if (stem.starts_with("h2")) return kStems.contains(stem.substr(2));  // half precision: hexp, h2exp
  return stem.starts_with("h") && kStems.contains(stem.substr(1));
}

// Counts calls, and what inline assembly and headers reveal.
void CountCalls(const SyntaxFunction& function, core::StaticFeatures& features) {
  ForEach(*function.body, [&](const Node& node) {
    if (!node.Is(NodeKind::kCall)) return;
    const std::string name = LastPart(node.name);
    if (name.starts_with("__syncthreads") || name == ".sync" || name == "__barrier_sync") ++features.barriers;
    if (name.starts_with("atomic")) ++features.atomics;
    if (name.starts_with("__shfl") || (name.starts_with("__reduce_") && name.ends_with("_sync")) ||
        name.starts_with(".shfl"))
      ++features.shuffles;
    if (name == "__ballot_sync" || name == "__any_sync" || name == "__all_sync" || name.starts_with("__match_"))
      ++features.votes;
    if (IsMath(name)) features.math.insert(name);
    if (name.find("mma_sync") != std::string::npos || name == "load_matrix_sync") features.tensor_cores = true;
    if (name == "__pipeline_memcpy_async" || name == "memcpy_async") features.async_copy = true;
  });
  const std::string_view text = function.text.substr(function.begin, function.end - function.begin);
  for (const Token& token : Lex(text)) {
    if (token.kind == Token::Kind::kString) {
      features.tensor_cores |=
          token.text.find("mma.sync") != std::string_view::npos || token.text.find("wgmma") != std::string_view::npos;
      features.async_copy |= token.text.find("cp.async") != std::string_view::npos;
    }
    if (token.kind == Token::Kind::kIdentifier)
      features.cooperative_groups |=
          token.text == "cooperative_groups" || token.text == "cg" || token.text == "this_thread_block";
  }
}

// Counts repository device functions that are called, directly or indirectly, each once. Found by name, since calls in
// templates are unresolved.
void CountCallees(const Ast& ast, const SyntaxFunction& kernel, core::StaticFeatures& features) {
  std::map<std::string, std::vector<CXCursor>> device;
  for (const CXCursor& function : ast::Functions(ast))
    if (ast::IsDevice(function)) device[ast::Spelling(function)].push_back(function);
  if (device.empty()) return;
  std::set<std::string> seen;
  std::vector<SyntaxFunction> pending;
  const auto enqueue = [&](const SyntaxFunction& function) {
    for (const Node* call : Collect(*function.body, NodeKind::kCall)) {
      const auto found = device.find(LastPart(call->name));
      if (found == device.end() || !seen.insert(found->first).second) continue;
      for (const CXCursor& callee : found->second)
        if (auto syntax = BuildSyntax(callee)) pending.push_back(std::move(*syntax));
    }
  };
  enqueue(kernel);
  for (size_t i = 0; i < pending.size(); ++i) {
    CountCalls(pending[i], features);
    enqueue(SyntaxFunction(std::move(pending[i])));
  }
}

bool IsShared(const VariableInfo& info) {
  return info.declaration != nullptr && ast::HasAttribute(info.declaration->cursor, CXCursor_CUDASharedAttr);
}

void ReadSharedMemory(const FunctionAnalysis& analysis, core::StaticFeatures& features) {
  for (const auto& [symbol, info] : analysis.variables()) {
    if (!IsShared(info)) continue;
    const CXType type = clang_getCanonicalType(clang_getCursorType(info.declaration->cursor));
    if (type.kind == CXType_IncompleteArray) {
      features.dynamic_shared = true;
    } else if (const long long size = clang_Type_getSizeOf(type); size > 0) {
      features.shared_bytes += size;
    }
  }
}

void ReadLoops(const FunctionAnalysis& analysis, core::StaticFeatures& features) {
  ForEach(*analysis.function().body, [&](const Node& node) {
    if (!IsLoop(node)) return;
    core::LoopInfo info;
    info.line = node.line;
    info.depth = LoopDepth(node);
    info.unrolled = node.unrolled;
    const std::vector<Accumulator> accumulators = AccumulatorsOf(analysis, node);
    info.accumulates = !accumulators.empty();
    features.independent_accumulators =
        std::max(features.independent_accumulators, static_cast<int>(accumulators.size()));
    if (const auto loop = analysis.Counted(node)) {
      info.bound = std::string(analysis.function().Text(*loop->bound));
      info.trip_count = analysis.TripCount(*loop);
      const Dependence start = analysis.DependsOn(*loop->start);
      Dependence step;
      if (loop->step != nullptr) step = analysis.DependsOn(*loop->step);
      info.thread_strided = start.thread || step.thread || step.On("blockDim.x") || step.On("gridDim.x");
    }
    // Arrays of accumulators: acc[u] += ... with a constant number of elements.
    ForEach(node, [&](const Node& update) {
      if (!update.Is(NodeKind::kAssign, "+=") || !update[0].Is(NodeKind::kSubscript) ||
          !update[0][0].Is(NodeKind::kName))
        return;
      const VariableInfo* array = analysis.Find(update[0][0].symbol);
      if (array == nullptr || array->declaration == nullptr || IsShared(*array)) return;
      CXType type = clang_getCanonicalType(clang_getCursorType(array->declaration->cursor));
      const long long count = clang_getArraySize(type);
      if (Contains(node, *array->declaration) || count <= 0 || count > 1024) return;
      info.accumulates = true;
      features.independent_accumulators = std::max(features.independent_accumulators, static_cast<int>(count));
    });
    features.loops.push_back(std::move(info));
  });
}

// i % n advances like i, i / n is the same for neighbouring threads; any other opaque use of threadIdx is unknown.
core::AccessPattern PatternOf(const FunctionAnalysis& analysis, const Access& access, std::string& stride) {
  const Dependence depends = analysis.DependsOn(access.index);
  if (depends.memory) return core::AccessPattern::kIndirect;
  const auto coefficient = access.index.Coefficient("threadIdx.x");
  if (!coefficient) return core::AccessPattern::kUnknown;
  if (*coefficient != Polynomial()) {
    if (*coefficient == Polynomial::Constant(access.units)) return core::AccessPattern::kCoalesced;
    stride = coefficient->ToString();
    return core::AccessPattern::kStrided;
  }
  if (!depends.thread && !depends.unknown) return core::AccessPattern::kBroadcast;
  if (!depends.On("threadIdx.x") && !depends.unknown)
    return core::AccessPattern::kBroadcast;  // threadIdx.y: uniform across a row of threads
  core::AccessPattern pattern = core::AccessPattern::kUnknown;
  for (const std::string& symbol : access.index.Symbols()) {
    const Node* expression = analysis.OpaqueExpression(symbol);
    if (expression == nullptr || !expression->Is(NodeKind::kBinary)) continue;
    const auto inner = analysis.Index((*expression)[0]).Coefficient("threadIdx.x");
    if (!inner || *inner != Polynomial::Constant(1)) continue;
    const auto factor = access.index.Coefficient(symbol);
    if (expression->name == "%") {
      const bool unit = factor && *factor == Polynomial::Constant(access.units);
      if (!unit && factor) stride = factor->ToString();
      return unit ? core::AccessPattern::kCoalesced : core::AccessPattern::kStrided;
    }
    if (expression->name == "/") pattern = core::AccessPattern::kBroadcast;
  }
  return pattern;
}

void ReadAccesses(const FunctionAnalysis& analysis, core::StaticFeatures& features) {
  for (const Access& access : analysis.Accesses()) {
    const VariableInfo* base = analysis.Find(access.base);
    if (base == nullptr) continue;
    const bool shared = IsShared(*base);
    if (!shared && base->parameter == nullptr) continue;  // an array in registers
    core::AccessInfo info;
    info.pointer = base->name;
    info.pattern = PatternOf(analysis, access, info.stride);
    info.reads = access.reads;
    info.writes = access.writes;
    info.vector_width = access.vector_width;
    info.loop_depth = LoopDepth(*access.node);
    info.line = access.node->line;
    if (!shared) {
      features.max_vector_width = std::max(features.max_vector_width, access.vector_width);
      features.vectorized |= access.vector_width > 1;
    }
    if (features.accesses.size() < kMaxAccesses) features.accesses.push_back(std::move(info));
  }
}

// Scalar accesses along with a vector access to the same array handle its tail and unaligned arrays: they are not how
// the kernel mainly moves its data.
void DropTailsOfVectors(core::StaticFeatures& features) {
  std::set<std::pair<std::string, std::string>> vectors;  // pointer, stride of its scalars
  for (const core::AccessInfo& access : features.accesses)
    if (access.vector_width > 1 && access.pattern == core::AccessPattern::kCoalesced)
      vectors.emplace(access.pointer, std::to_string(access.vector_width));
  std::erase_if(features.accesses, [&](const core::AccessInfo& access) {
    return access.vector_width == 1 && access.pattern == core::AccessPattern::kStrided &&
           vectors.contains({access.pointer, access.stride});
  });
}

void ReadBranches(const FunctionAnalysis& analysis, core::StaticFeatures& features) {
  ForEach(*analysis.function().body, [&](const Node& node) {
    if (!node.Is(NodeKind::kIf)) return;
    const bool on_thread = analysis.DependsOn(node[kIfCondition]).thread;
    const auto guard = AsBoundsGuard(node);
    const bool plain_guard =
        guard && std::all_of(guard->limits.begin(), guard->limits.end(), [&](const BoundsGuard::Limit& limit) {
          return analysis.DependsOn(*limit.index).thread && !analysis.DependsOn(*limit.bound).thread &&
                 !analysis.Fold(*limit.bound).has_value();
        });
    if (on_thread && plain_guard) features.bounds_guard = true;
    else if (on_thread) ++features.divergent_branches;
  });
}

// A template's element types are those of its launches, directly or through a template function that is called with
// them.
void ReadInstances(const Ast& ast, const SyntaxFunction& kernel, const std::vector<size_t>& dependent,
                   core::StaticFeatures& features) {
  std::vector<SyntaxFunction> hosts;
  for (const CXCursor& function : ast::Functions(ast))
    if (auto host = ast::IsHost(function) ? BuildSyntax(function) : std::nullopt) hosts.push_back(std::move(*host));
  const auto add_caller_types = [&](const SyntaxFunction& callee, const Node& argument) {
    for (size_t i = 0; i < callee.parameters.size(); ++i) {
      if (!argument.Is(NodeKind::kName) || argument.symbol != callee.parameters[i].symbol) continue;
      for (const SyntaxFunction& host : hosts)
        for (const Node* call : Collect(*host.body, NodeKind::kCall))
          if (LastPart(call->name) == callee.name && i < call->size())
            if (const auto dtype = ElementTypeOf(clang_getCursorType((*call)[i].cursor)))
              features.dtypes.insert(*dtype);
    }
  };
  for (const SyntaxFunction& host : hosts) {
    for (const Node* launch : Collect(*host.body, NodeKind::kLaunch)) {
      if (LastPart(launch->name) != kernel.name) continue;
      for (size_t i : dependent) {
        if (kLaunchArguments + i >= launch->size()) continue;
        const Node& argument = (*launch)[kLaunchArguments + i];
        if (const auto dtype = ElementTypeOf(clang_getCursorType(argument.cursor))) features.dtypes.insert(*dtype);
        else add_caller_types(host, argument);
      }
    }
  }
}

void ReadParameters(const Ast& ast, const FunctionAnalysis& analysis, core::StaticFeatures& features) {
  const SyntaxFunction& kernel = analysis.function();
  std::set<std::string> written, unresolved;
  for (const Access& access : analysis.Accesses(&unresolved))
    if (access.writes) written.insert(access.base);
  features.const_restrict = true;
  std::vector<size_t> dependent;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const SyntaxParameter& parameter = kernel.parameters[i];
    const CXType type = clang_getCanonicalType(clang_getCursorType(parameter.cursor));
    if (type.kind != CXType_Pointer) continue;
    const bool is_const = clang_isConstQualifiedType(clang_getPointeeType(type)) != 0;
    if (is_const || (!written.contains(parameter.symbol) && !unresolved.contains(parameter.symbol)))
      features.const_restrict &= is_const && clang_isRestrictQualifiedType(type) != 0;
    if (const auto dtype = ElementTypeOf(type)) features.dtypes.insert(*dtype);
    else dependent.push_back(i);
  }
  if (!dependent.empty()) ReadInstances(ast, kernel, dependent, features);
}

// A serial loop over neighbouring elements, in which neighbouring threads access different rows.
bool OneThreadPerRow(const FunctionAnalysis& analysis) {
  bool found = false;
  const std::vector<Access> accesses = analysis.Accesses();
  ForEach(*analysis.function().body, [&](const Node& node) {
    const auto loop = node.Is(NodeKind::kFor) ? analysis.Counted(node) : std::nullopt;
    if (!loop || found) return;
    if (analysis.DependsOn(*loop->start).thread ||
        (loop->step != nullptr && analysis.DependsOn(*loop->step).On("blockDim.x")))
      return;
    if (analysis.TripCount(*loop).value_or(1024) < 32) return;
    for (const Access& access : accesses) {
      const VariableInfo* base = analysis.Find(access.base);
      if (base == nullptr || base->parameter == nullptr || !Contains(loop->body(), *access.node)) continue;
      const auto along = access.index.Coefficient(loop->variable + "#");
      const auto across = access.index.Coefficient("threadIdx.x");
      found |= along && across && *along == Polynomial::Constant(1) && *across != Polynomial() && !across->constant();
    }
  });
  return found;
}

}  // namespace

core::StaticFeatures ExtractFeatures(const Ast& ast, CXCursor kernel) {
  core::StaticFeatures features;
  const auto function = BuildSyntax(kernel);
  if (!function) return features;
  const FunctionAnalysis analysis(*function);
  CountCalls(*function, features);
  CountCallees(ast, *function, features);
  ReadSharedMemory(analysis, features);
  ReadLoops(analysis, features);
  ReadAccesses(analysis, features);
  DropTailsOfVectors(features);
  ReadBranches(analysis, features);
  ReadParameters(ast, analysis, features);
  const std::string_view head = function->text.substr(function->begin, function->body->begin - function->begin);
  features.launch_bounds = head.find("__launch_bounds__") != std::string_view::npos;
  const SourceClass classified = ClassifyOperation(analysis, features);
  features.operation = classified.operation;
  features.one_thread_per_row = !classified.sums_products && OneThreadPerRow(analysis);
  return features;
}

}  // namespace warpwright::source
