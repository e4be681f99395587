// histogram_privatize: a block counts in shared memory and adds its counts to the result once, so that the atomics of
// many threads on few addresses stay inside a multiprocessor. The number of bins must be known: from the type or the
// arithmetic of the bin index, from a comparison with a parameter, or from the launcher's cudaMemset of the result.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "rewrite/elementwise.h"
#include "rewrite/launch.h"
#include "rewrite/named_constant.h"
#include "rewrite/site.h"
#include "rewrite/transforms.h"

namespace warpwright::rewrite {
namespace {

constexpr int64_t kStaticSharedBytes = 48 * 1024;  // available on every chip without opting in
constexpr int kElementsPerThread = 16;             // so that merging a block's counts is cheap compared with counting

// The number of bins, as a constant or as an expression of the kernel.
struct Bins {
  std::optional<int64_t> count;
  const source::Node* expression = nullptr;
  const source::Node* said = nullptr;  // where the constant stands; none: it follows from the type
};

struct HistogramForm {
  ElementwiseForm element;
  const source::Node* call = nullptr;  // atomicAdd(&counts[bin], value)
  const source::SyntaxParameter* counts = nullptr;
  std::string type;  // of a count
  int64_t bytes = 4;
  const source::Node* bin = nullptr;
  Bins bins;
};
using HistogramOutcome = std::variant<HistogramForm, core::RewriteRefusal>;

// Values of an expression are in [0, bound). Negative indices would be faults in the original too.
std::optional<Bins> UpperBound(const source::FunctionAnalysis& analysis, const source::Node& expression,
                               int depth = 0) {
  if (depth > 8) return std::nullopt;
  const source::Node& node = source::StripCasts(expression);
  if (source::IsLoad(node)) {
    const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(node.cursor)).kind;
    if (kind == CXType_UChar || kind == CXType_Char_U) return Bins{256, nullptr};
    if (kind == CXType_UShort) return Bins{65536, nullptr};
    return std::nullopt;
  }
  if (node.Is(source::NodeKind::kName)) {
    const source::Node* definition = analysis.Definition(node.symbol);
    return definition == nullptr ? std::nullopt : UpperBound(analysis, *definition, depth + 1);
  }
  if (node.Is(source::NodeKind::kBinary) && node.size() == 2) {
    const auto right = analysis.Fold(node[1]);
    const auto left = UpperBound(analysis, node[0], depth + 1);
    if (node.name == "%") {
      if (right && *right > 0) return Bins{right, nullptr, &node[1]};
      return Bins{std::nullopt, &node[1]};
    }
    if (node.name == "&" && right && *right >= 0) return Bins{*right + 1, nullptr, &node[1]};
    if (!left || !left->count || !right || *right < 0) return std::nullopt;
    if (node.name == "/" && *right > 0) return Bins{(*left->count - 1) / *right + 1, nullptr};
    if (node.name == ">>" && *right < 32) return Bins{((*left->count - 1) >> *right) + 1, nullptr};
    return std::nullopt;
  }
  if (node.Is(source::NodeKind::kCall) && node.size() == 2 && (node.name == "min" || node.name == "max")) {
    const auto a = UpperBound(analysis, node[0], depth + 1), b = UpperBound(analysis, node[1], depth + 1);
    if (node.name == "min") {
      for (size_t side : {0, 1}) {  // min(x, bins - 1)
        const source::Node& limit = source::StripCasts(node[side]);
        if (const auto value = analysis.Fold(limit)) return Bins{*value + 1, nullptr, &limit};
        if (limit.Is(source::NodeKind::kBinary, "-") && analysis.Fold(limit[1]) == 1)
          return Bins{std::nullopt, &limit[0]};
      }
      return a ? a : b;
    }
    for (size_t side : {0, 1})  // max(x, 0)
      if (analysis.Fold(node[side]) == 0) return side == 0 ? b : a;
  }
  return std::nullopt;
}

// if (bin < bins) around the call, with or without a test against zero.
std::optional<Bins> BoundFromGuard(const source::FunctionAnalysis& analysis, const HistogramForm& form) {
  const source::Node& bin = source::StripCasts(*form.bin);
  if (!bin.Is(source::NodeKind::kName)) return std::nullopt;
  for (const source::Node* node = form.call; node->parent != nullptr; node = node->parent) {
    const source::Node& branch = *node->parent;
    if (!branch.Is(source::NodeKind::kIf) || node != &branch[source::kIfThen]) continue;
    std::optional<Bins> found;
    source::Walk(branch[source::kIfCondition], [&](const source::Node& part) {
      if (part.Is(source::NodeKind::kBinary, "&&")) return true;
      if (!part.Is(source::NodeKind::kBinary, "<")) return false;
      const source::Node& left = source::StripCasts(part[0]);
      if (!left.Is(source::NodeKind::kName) || left.symbol != bin.symbol) return false;
      const auto value = analysis.Fold(part[1]);
      found = value ? Bins{value, nullptr, &part[1]} : Bins{std::nullopt, &part[1]};
      return false;
    });
    if (found) return found;
  }
  return std::nullopt;
}

// cudaMemset(counts, 0, NUM_BINS * sizeof(unsigned int)) in the launcher.
std::optional<Bins> BoundFromMemset(const KernelSite& site, const HistogramForm& form) {
  std::optional<Bins> bins;
  for (const LaunchSite& launch : site.launches) {
    const size_t position = static_cast<size_t>(form.counts - site.function().parameters.data());
    if (source::kLaunchArguments + position >= launch.launch->size()) return std::nullopt;
    const auto target = launch.host->analysis.ResolvePointer((*launch.launch)[source::kLaunchArguments + position]);
    std::optional<int64_t> bytes;
    const source::Node* said = nullptr;
    for (const source::Node* call : source::Collect(*launch.host->syntax.body, source::NodeKind::kCall)) {
      if ((call->name != "cudaMemset" && call->name != "cudaMemsetAsync") || call->size() < 3) continue;
      const auto cleared = launch.host->analysis.ResolvePointer((*call)[0]);
      if (target && cleared && cleared->base == target->base)
        bytes = launch.host->analysis.Fold((*call)[2]), said = &(*call)[2];
    }
    if (!bytes || *bytes <= 0 || *bytes % form.bytes != 0) return std::nullopt;
    if (bins && bins->count != *bytes / form.bytes) return std::nullopt;
    bins = Bins{*bytes / form.bytes, nullptr, said};
  }
  return bins;
}

std::optional<core::RewriteRefusal> FindObstacle(const KernelSite& site, const HistogramForm& form) {
  std::optional<core::RewriteRefusal> refusal;
  const auto check = [&](const source::Node& node) {
    if (refusal) return;
    if (node.Is(source::NodeKind::kReturn)) refusal = Refuse("an element ends with return", node.line);
    const bool collective =
        node.Is(source::NodeKind::kCall) && (node.name.starts_with("__syncthreads") || node.name.ends_with("_sync"));
    if (collective) refusal = Refuse(fmt::format("{} couples the threads", node.name), node.line);
  };
  source::ForEach(*site.function().body, [&](const source::Node& node) {
    if (form.element.guard && form.element.guard->returns_early &&
        source::Contains(*form.element.guard->statement, node))
      return;
    check(node);
  });
  if (refusal) return refusal;
  const source::Dependence bound = site.analysis().DependsOn(*form.element.bound);
  if (bound.thread || bound.memory)
    return Refuse("the bound is not the same for all threads", form.element.bound->line);
  if (form.bins.expression != nullptr) {
    const source::Dependence bins = site.analysis().DependsOn(*form.bins.expression);
    if (bins.thread || bins.block || bins.memory)
      return Refuse("the number of bins is not the same for all threads", form.bins.expression->line);
  }
  return std::nullopt;
}

HistogramOutcome RecognizeHistogram(const KernelSite& site) {
  const source::FunctionAnalysis& analysis = site.analysis();
  ElementwiseOutcome element = RecognizeElementwise(site);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&element)) return *refusal;
  HistogramForm form;
  form.element = std::get<ElementwiseForm>(element);
  std::set<std::string> unresolved;
  const std::vector<source::Access> accesses = analysis.Accesses(&unresolved);
  const source::Access* atomic = nullptr;
  for (const source::Access& access : accesses) {
    if (!access.writes) continue;
    if (!access.atomic) return Refuse("the kernel writes to memory besides counting", access.node->line);
    if (access.node->name != "atomicAdd" || access.node->size() != 2)
      return Refuse(fmt::format("{} is not atomicAdd", access.node->name), access.node->line);
    if (atomic != nullptr) return Refuse("there is more than one atomic", access.node->line);
    atomic = &access;
  }
  if (atomic == nullptr) return Refuse("the kernel has no atomicAdd to global memory", site.function().body->line);
  form.call = atomic->node;
  form.counts = analysis.Find(atomic->base)->parameter;
  if (form.counts == nullptr) return Refuse("the atomics are to an array of the kernel's own already", form.call->line);
  for (const source::Access& access : accesses)
    if (access.base == atomic->base && &access != atomic)
      return Refuse(fmt::format("{} is read too", form.counts->name), access.node->line);
  const source::NodeKind around = form.call->parent->kind;
  if (around != source::NodeKind::kBlock && around != source::NodeKind::kIf && around != source::NodeKind::kFor)
    return Refuse("the old count is used", form.call->line);
  if (unresolved.contains(atomic->base))
    return Refuse(fmt::format("{} is used in a way that cannot be followed", form.counts->name));
  if (!form.call->whole) return Refuse("the atomicAdd is inside a macro", form.call->line);

  form.type = source::ElementSpelling(*form.counts);
  const auto dtype = source::ElementTypeOf(clang_getCursorType(form.counts->cursor));
  if (!dtype || (*dtype != core::DType::kI32 && *dtype != core::DType::kU32 && *dtype != core::DType::kI64 &&
                 *dtype != core::DType::kF32))
    return Refuse(fmt::format("counts of type {} have no atomics in shared memory", form.type), form.call->line);
  form.bytes = static_cast<int64_t>(core::SizeOf(*dtype));

  // The bin: &counts[bin] or counts + bin.
  const source::Node& pointer = (*form.call)[0];
  if (pointer.Is(source::NodeKind::kUnary, "&") && pointer[0].Is(source::NodeKind::kSubscript) &&
      pointer[0][0].Is(source::NodeKind::kName))
    form.bin = &pointer[0][1];
  else if (pointer.Is(source::NodeKind::kBinary, "+") && pointer[0].Is(source::NodeKind::kName)) form.bin = &pointer[1];
  else return Refuse("the address of the count cannot be followed", form.call->line);
  if (!analysis.DependsOn(*form.bin).memory) return Refuse("the bin does not come from the data", form.call->line);

  auto bins = BoundFromGuard(analysis, form);
  if (!bins) bins = UpperBound(analysis, *form.bin);
  const auto cleared = BoundFromMemset(site, form);
  // A type's range can exceed the array that the launcher clears; the smaller bound is the array's.
  // Of two that are equal, the one that has a name for it may be the array's.
  if (cleared && (!bins || (bins->count && (*bins->count > *cleared->count ||
                                            (*bins->count == *cleared->count && bins->said == nullptr)))))
    bins = cleared;
  if (!bins) return Refuse("the number of bins is not known", form.call->line);
  form.bins = *bins;
  if (form.bins.count && *form.bins.count * form.bytes > kStaticSharedBytes)
    return Refuse(
        fmt::format("{} bins do not fit into {} KiB of shared memory", *form.bins.count, kStaticSharedBytes / 1024),
        form.call->line);
  if (auto refusal = FindObstacle(site, form)) return *refusal;
  return form;
}

std::string Kernel(const source::Ast& ast, const KernelSite& site, const HistogramForm& form, const std::string& name) {
  const source::SyntaxFunction& kernel = site.function();
  const ElementwiseForm& element = form.element;
  const auto text = [&](const source::Node& node) { return std::string(kernel.Text(node)); };
  const std::string block = FreshName(ast, "block_" + form.counts->name), bin = FreshName(ast, "bin");
  std::map<int64_t, std::string> names;
  if (const source::Node* said = form.bins.said) names = NamedConstants(ast, {said->begin, said->end}, kernel.begin);
  const auto named = names.find(form.bins.count.value_or(-1));
  const std::string count = named != names.end() ? named->second
                            : form.bins.count    ? FreshName(ast, "kBins")
                                                 : text(*form.bins.expression);
  std::string code = HeadWithName(kernel, name) + " {\n";
  code +=
      "  // A block counts in shared memory and adds its counts once: far fewer atomics meet at one address of global "
      "memory.\n";
  if (form.bins.count) {
    if (named == names.end()) code += fmt::format("  constexpr int {} = {};\n", count, *form.bins.count);
    code += fmt::format("  __shared__ {} {}[{}];\n", form.type, block, count);
  } else {
    code += fmt::format("  extern __shared__ {} {}[];  // one count per bin\n", form.type, block);
  }
  for (const source::Node* statement : element.hoisted) code += "  " + Dedented(text(*statement), site.unit) + "\n";
  code += fmt::format("  for (int {0} = threadIdx.x; {0} < {1}; {0} += blockDim.x) {2}[{0}] = 0;\n  __syncthreads();\n",
                      bin, count, block);
  const std::string index = IndexName(element);
  const std::string start = element.stride_loop ? text(*element.stride_loop->start) : text((*element.index)[0]);
  const std::string type = IndexType(element);
  std::string step = element.stride_loop ? text(*element.stride_loop->step) : "gridDim.x * blockDim.x";
  if (!element.stride_loop && start.find("(size_t)") == 0) step = "(size_t)" + step;
  // The step beyond the last element may be more than an int holds.
  const bool narrow = !element.stride_loop && type == "int";
  const std::string counter = narrow ? FreshName(ast, "next_" + index) : index;
  code += fmt::format("  for ({0} {1} = {2}; {1} < {3}; {1} += {4}) {{\n", narrow ? "long long" : type, counter, start,
                      text(*element.bound), step);
  if (narrow) code += fmt::format("    const int {} = static_cast<int>({});\n", index, counter);
  const std::string call = fmt::format("atomicAdd(&{}[{}], {})", block, text(*form.bin), text((*form.call)[1]));
  code += Indented(ElementText(site, element, {{form.call, call}}), "    ", "  ") + "\n  }\n  __syncthreads();\n";
  code += fmt::format("  for (int {0} = threadIdx.x; {0} < {1}; {0} += blockDim.x) {{\n", bin, count);
  code +=
      fmt::format("    if ({0}[{1}] != 0) atomicAdd(&{2}[{1}], {0}[{1}]);\n  }}\n}}", block, bin, form.counts->name);
  return code;
}

// Launches the new kernel with shared memory for the number of bins, and the original for more bins than fit.
std::optional<core::RewriteRefusal> ChooseAtRunTime(const KernelSite& site, const HistogramForm& form,
                                                    const std::string& name, Edits& edits) {
  for (const LaunchSite& launch : site.launches) {
    const source::Node& node = *launch.launch;
    const source::SyntaxFunction& host = launch.host->syntax;
    const auto bins = HostText(site, launch, *form.bins.expression);
    if (!bins) return Refuse("the number of bins is not known at the launch", node.line);
    if (!node[source::kLaunchShared].Is(source::NodeKind::kEmpty) &&
        launch.host->analysis.Fold(node[source::kLaunchShared]) != 0)
      return Refuse("the launch uses dynamic shared memory already", node.line);
    if (!node.parent->Is(source::NodeKind::kBlock)) return Refuse("the launch is not a separate statement", node.line);
    const bool atom = bins->find(' ') == std::string::npos;
    const std::string bytes = fmt::format("{} * sizeof({})", atom ? *bins : "(" + *bins + ")", form.type);
    Edits inside;
    if (node[source::kLaunchShared].Is(source::NodeKind::kEmpty))
      inside.Insert(node[source::kLaunchBlock].end, ", " + bytes);
    else inside.Replace(node[source::kLaunchShared], bytes);
    const std::string grid(host.Text(node[source::kLaunchGrid]));
    inside.Replace(node[source::kLaunchGrid],
                   fmt::format("({} + {}) / {}", grid, kElementsPerThread - 1, kElementsPerThread));
    std::string shared = inside.ApplyWithin(host.text, node.begin, node.end).value_or("");
    shared.replace(shared.find(site.function().name), site.function().name.size(), name);
    const std::string indent = IndentAt(site.text, node.begin);
    const std::string code = fmt::format(
        "if ({} <= {} * 1024) {{\n  {};\n}} else {{  // too many bins for the shared memory of a block\n  {};\n}}",
        bytes, kStaticSharedBytes / 1024, shared, host.Text(node));
    edits.Replace(node.begin, static_cast<uint32_t>(site.text.find(';', node.end) + 1),
                  Indented(code, indent, site.unit, false));
  }
  return std::nullopt;
}

core::RewriteOutcome ApplyHistogramPrivatize(const source::Ast& ast, const core::RewriteRequest& request) {
  SiteOutcome found = FindSite(ast, request);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  KernelSite& site = *std::get<std::unique_ptr<KernelSite>>(found);
  HistogramOutcome recognized = RecognizeHistogram(site);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&recognized)) return *refusal;
  const HistogramForm& form = std::get<HistogramForm>(recognized);
  for (const LaunchSite& launch : site.launches) {
    if (!IsOneDimensional(launch, LaunchAxisGroup::kGrid) || !IsOneDimensional(launch, LaunchAxisGroup::kBlock))
      return Refuse("the launch has more than one dimension, or its shape cannot be followed", launch.launch->line);
  }
  Edits edits;
  std::vector<std::string> notes;
  if (form.bins.count) {
    const std::string name = NewKernelName(ast, site, "shared");
    InsertKernel(site, name, "", Kernel(ast, site, form, name), edits);
    if (!form.element.stride_loop)
      for (const LaunchSite& launch : site.launches) CoarsenGrid(launch, kElementsPerThread, /*any_form=*/true, edits);
    notes.push_back(fmt::format("{} bins per block in shared memory, {} elements per thread", *form.bins.count,
                                kElementsPerThread));
  } else {
    if (site.entry_is_kernel)
      return Refuse("the launch is given in the manifest, and the number of bins decides the shared memory");
    const std::string name = FreshName(ast, site.function().name + "_shared");
    const std::string code = Kernel(ast, site, form, name);
    edits.Insert(site.function().end, "\n\n" + Indented(code, IndentAt(site.text, site.function().begin), site.unit));
    if (auto refusal = ChooseAtRunTime(site, form, name, edits)) return *refusal;
    notes.push_back("as many bins per block in shared memory as fit into 48 KiB; the original kernel counts more");
  }
  return FinishRemapped(ast, site, site.function().name, edits, std::move(notes));
}

}  // namespace

Transform HistogramPrivatizeTransform() {
  return {.id = "histogram_privatize", .parameters = {}, .apply = ApplyHistogramPrivatize};
}

}  // namespace warpwright::rewrite
