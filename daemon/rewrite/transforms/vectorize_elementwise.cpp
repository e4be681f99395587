// vectorize_elementwise: a thread of an element-wise kernel processes `width` neighbouring elements and moves each
// array's share with one access. The original body is kept unchanged, once over the lanes of the vectors and once for
// the tail and for unaligned pointers, so this file need not know what it computes per element, only which accesses are
// to element i.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <set>

#include "rewrite/elementwise.h"
#include "rewrite/launch.h"
#include "rewrite/site.h"
#include "rewrite/transforms.h"

namespace warpwright::rewrite {
namespace {

constexpr int kVectorBytes = 16;     // the widest access of a lane
constexpr int64_t kLongestLoop = 8;  // iterations per element; beyond this an element is not memory-bound

struct PackedArray {
  const source::SyntaxParameter* parameter = nullptr;
  std::string element;               // "float", "T"
  std::optional<core::DType> dtype;  // none: depends on a template parameter
  bool loaded = false, stored = false;
  std::vector<const source::Node*> accesses;
};

// Code that must not be repeated per lane or skipped by lanes.
std::optional<core::RewriteRefusal> FindObstacle(const KernelSite& site, const ElementwiseForm& form) {
  std::optional<core::RewriteRefusal> refusal;
  const auto check = [&](const source::Node& node) {
    if (refusal) return;
    if (node.Is(source::NodeKind::kCall)) {
      const bool collective = node.name.starts_with("__syncthreads") || node.name.starts_with("__syncwarp") ||
                              node.name.starts_with("__shfl") || node.name.ends_with("_sync") ||
                              node.name.starts_with("atomic");
      if (collective) refusal = Refuse(fmt::format("{} couples the elements", node.name), node.line);
    }
    if (node.Is(source::NodeKind::kReturn)) refusal = Refuse("an element ends with return", node.line);
    if (node.Is(source::NodeKind::kContinue) || node.Is(source::NodeKind::kBreak))
      refusal = Refuse("an element is left early", node.line);
    if (node.Is(source::NodeKind::kFor) || node.Is(source::NodeKind::kWhile) || node.Is(source::NodeKind::kDo)) {
      const auto loop = site.analysis().Counted(node);
      const auto trips = loop ? site.analysis().TripCount(*loop) : std::nullopt;
      if (trips.value_or(INT64_MAX) > kLongestLoop)
        refusal = Refuse("an element takes a loop: fewer threads would do more each", node.line);
    }
    if (node.Is(source::NodeKind::kLambda) || node.Is(source::NodeKind::kSwitch))
      refusal = Refuse("the body is not simple enough to repeat", node.line);
    if (node.Is(source::NodeKind::kVariable) && source::ast::HasAttribute(node.cursor, CXCursor_CUDASharedAttr))
      refusal = Refuse(fmt::format("{} is in shared memory", node.name), node.line);
  };
  for (const source::Node* statement : form.hoisted) source::ForEach(*statement, check);
  for (const source::Node* statement : form.prefix) source::ForEach(*statement, check);
  for (const source::Node* statement : form.statements) source::ForEach(*statement, check);
  if (refusal) return refusal;
  const source::Dependence bound = site.analysis().DependsOn(*form.bound);
  if (bound.thread || bound.memory) return Refuse("the bound is not the same for all threads", form.bound->line);
  for (const source::Node* statement : form.hoisted)
    if (statement != IndexDeclaration(form) && site.analysis().DependsOn(*statement).thread)
      return Refuse("a value besides the index depends on threadIdx", statement->line);
  return std::nullopt;
}

// The condition that guards an access, other than the bounds guard; null if it is always executed.
const source::Node* ConditionOf(const source::Node& access, const ElementwiseForm& form) {
  for (const source::Node* node = &access; node->parent != nullptr; node = node->parent) {
    const source::Node& parent = *node->parent;
    if (form.guard && &parent == form.guard->statement) return nullptr;
    if (form.stride_loop && &parent == form.stride_loop->loop) return nullptr;
    const bool conditional =
        (parent.Is(source::NodeKind::kIf) && node != &parent[source::kIfCondition]) ||
        (parent.Is(source::NodeKind::kConditional) && node != &parent[source::kIfCondition]) ||
        (parent.Is(source::NodeKind::kBinary) && (parent.name == "&&" || parent.name == "||") && node == &parent[1]);
    if (conditional) return &parent[0];
    if (parent.Is(source::NodeKind::kFor) || parent.Is(source::NodeKind::kWhile) || parent.Is(source::NodeKind::kDo))
      return &parent;
  }
  return nullptr;
}

// Has the element been assigned by a statement that ends before this access begins? Then the previous content of memory
// does not matter.
bool IsStoredBefore(const source::Access& access, const std::vector<source::Access>& accesses) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const source::Access& store) {
    const source::Node* assignment = store.node->parent;
    return store.writes && !store.reads && assignment != nullptr && assignment->end <= access.node->begin;
  });
}

// Is the pointer itself tested (`bias != nullptr`), and not only what it points to?
bool TestsPointer(const source::Node& condition, const std::string& symbol,
                  const std::vector<source::Access>& accesses) {
  bool tests = false;
  source::ForEach(condition, [&](const source::Node& node) {
    if (!node.Is(source::NodeKind::kName) || node.symbol != symbol) return;
    tests |= std::none_of(accesses.begin(), accesses.end(),
                          [&](const source::Access& access) { return source::Contains(*access.node, node); });
  });
  return tests;
}

using ArraysOutcome = std::variant<std::vector<PackedArray>, core::RewriteRefusal>;

ArraysOutcome FindArrays(const KernelSite& site, const ElementwiseForm& form) {
  const source::FunctionAnalysis& analysis = site.analysis();
  const source::Polynomial element =
      form.stride_loop ? analysis.Index(*form.stride_loop->start) : analysis.Index((*form.index)[0]);
  // In the grid-stride form the loop's variable is start + step * iteration.
  const auto is_element = [&](const source::Polynomial& index) {
    if (!form.stride_loop) return index == element;
    return index == element + analysis.Index(*form.stride_loop->step) *
                                  source::Polynomial::Symbol(form.stride_loop->variable + "#");
  };
  std::set<std::string> unresolved;
  std::map<std::string, std::vector<source::Access>> by_base;
  for (source::Access& access : analysis.Accesses(&unresolved)) by_base[access.base].push_back(std::move(access));
  std::vector<PackedArray> arrays;
  for (const source::SyntaxParameter& parameter : site.function().parameters) {
    const auto found = by_base.find(parameter.symbol);
    const CXType type = clang_getCanonicalType(clang_getCursorType(parameter.cursor));
    if (type.kind != CXType_Pointer) continue;
    if (unresolved.contains(parameter.symbol))
      return Refuse(fmt::format("{} is used in a way that cannot be followed", parameter.name));
    if (found == by_base.end()) continue;
    if (source::VectorWidthOf(clang_getPointeeType(type)) > 1)
      return Refuse(fmt::format("{} is accessed as {} already", parameter.name, source::ElementSpelling(parameter)));
    if (clang_isVolatileQualifiedType(clang_getPointeeType(type)) != 0)
      return Refuse(fmt::format("{} points to volatile", parameter.name));
    bool all_elements = true, writes = false;
    for (const source::Access& access : found->second) {
      all_elements &= is_element(access.index) && !access.reinterpreted && access.vector_width == 1;
      writes |= access.writes;
      if (access.writes && !is_element(access.index))
        return Refuse(fmt::format("{} is written at another index than the thread's element", parameter.name),
                      access.node->line);
    }
    if (!all_elements && writes) return Refuse(fmt::format("{} is written, and read at another index", parameter.name));
    if (!all_elements) continue;  // stays a scalar load per element
    PackedArray array;
    array.parameter = &parameter;
    const CXType pointee = clang_getPointeeType(type);
    array.element = source::ElementSpelling(parameter);
    array.dtype = source::ElementTypeOf(pointee);
    const bool dependent = clang_Type_getSizeOf(clang_getCanonicalType(pointee)) == CXTypeLayoutError_Dependent;
    if (!array.dtype && !dependent)
      return Refuse(fmt::format("elements of {} are of type {}", parameter.name, array.element));
    bool packable = true, always = false;
    for (const source::Access& access : found->second) {
      if (!access.node->whole)
        return Refuse(fmt::format("an access to {} is inside a macro", parameter.name), access.node->line);
      if (const source::Node* condition = ConditionOf(*access.node, form)) {
        if (access.writes)
          return Refuse(fmt::format("{} is written under a condition", parameter.name), access.node->line);
        // Loading what the original would not have loaded is safe if only data decides, because then the element
        // exists.
        packable &= analysis.DependsOn(*condition).memory &&
                    !TestsPointer(*condition, parameter.symbol, found->second) &&
                    !condition->Is(source::NodeKind::kFor);
      } else {
        always = true;  // the element is touched in any case
      }
      array.stored |= access.writes;
      array.loaded |= access.reads && !IsStoredBefore(access, found->second);
      array.accesses.push_back(access.node);
    }
    if (!packable && !always) continue;
    arrays.push_back(std::move(array));
  }
  const bool stores = std::any_of(arrays.begin(), arrays.end(), [](const PackedArray& a) { return a.stored; });
  if (!stores) return Refuse("no array is written at the thread's element");
  return arrays;
}

// The element types that the launches of this entry give to a template's array; nothing if one of them is unknown.
std::optional<std::vector<core::DType>> InstancesOf(const KernelSite& site, const PackedArray& array) {
  if (array.dtype) return std::vector<core::DType>{*array.dtype};
  std::vector<core::DType> dtypes;
  const size_t position = static_cast<size_t>(array.parameter - site.function().parameters.data());
  for (const LaunchSite& launch : site.launches) {
    if (source::kLaunchArguments + position >= launch.launch->size()) return std::nullopt;
    const auto dtype =
        source::ElementTypeOf(clang_getCursorType((*launch.launch)[source::kLaunchArguments + position].cursor));
    if (!dtype) return std::nullopt;
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

std::optional<core::RewriteRefusal> CheckWidth(const KernelSite& site, const std::vector<PackedArray>& arrays,
                                               int width) {
  for (const PackedArray& array : arrays) {
    const auto dtypes = InstancesOf(site, array);
    if (!dtypes && width > 4)
      return Refuse(fmt::format("the size of {} is not known, so vectors of {} may be too wide", array.element, width));
    if (!dtypes) continue;  // a wider type is then moved with several accesses
    for (const core::DType dtype : *dtypes)
      if (core::SizeOf(dtype) * static_cast<size_t>(width) > kVectorBytes)
        return Refuse(fmt::format("{} elements of {} are more than {} bytes", width, core::Name(dtype), kVectorBytes));
  }
  return std::nullopt;
}

class Emitter {
 public:
  Emitter(const source::Ast& ast, const KernelSite& site, const ElementwiseForm& form,
          const std::vector<PackedArray>& arrays, int width)
      : ast_(ast), site_(site), form_(form), arrays_(arrays), width_(width) {
    vector_ = PackTypeName();
    first_ = FreshName(ast, "first");
    lane_ = FreshName(ast, "lane");
    index_ = IndexName(form);
    type_ = IndexType(form);
  }

  // The struct is defined once per file; a second kernel in the file uses the first one's.
  static constexpr std::string_view kStruct =
      "// Elements that one access moves: an array with the alignment that a vector load needs.\n"
      "template <typename T, int N>\n"
      "struct alignas(sizeof(T) * N) {} {{\n"
      "  T lane[N];\n"
      "}};\n\n";

  std::string Helpers() const { return HasStruct() ? "" : fmt::format(kStruct, vector_); }
  std::string Kernel(const std::string& name) const {
    std::string code = HeadWithName(site_.function(), name) + " {\n";
    code += fmt::format(
        "  // {} neighbouring elements per thread, one access per array: fewer instructions and requests per byte.\n",
        width_);
    for (const source::Node* statement : form_.hoisted)
      code += "  " + Dedented(site_.function().Text(*statement), site_.unit) + "\n";
    code += AlignmentCheck();
    if (form_.stride_loop) {
      const source::CountedLoop& loop = *form_.stride_loop;
      code += fmt::format("  for ({0} {1} = {2}; {1} < {3}; {1} += {4}) {{\n", type_, first_,
                          Widened(Text(*loop.start)), Text(*loop.bound), Widened(Text(*loop.step)));
      code += Indented(Branches(), "  ", "  ") + "\n  }\n}";
    } else {
      code += fmt::format("  const {} {} = {};\n", type_, first_, Widened(Text((*form_.index)[0])));
      code += Branches() + "\n}";
    }
    return code;
  }

 private:
  std::string Text(const source::Node& node) const { return std::string(site_.function().Text(node)); }

  std::string PackTypeName() const {
    return HasStruct() || !MentionsIdentifier(ast_, "AlignedVector") ? "AlignedVector"
                                                                     : FreshName(ast_, "AlignedVector");
  }
  bool HasStruct() const {
    const std::string normalized = source::NormalizedText(fmt::format(kStruct, "AlignedVector"));
    return source::NormalizedText(site_.text.substr(0, site_.function().begin)).find(normalized) != std::string::npos;
  }

  std::string Widened(const std::string& text) const {
    const bool name = std::all_of(text.begin(), text.end(),
                                  [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
    return name ? fmt::format("{} * {}", width_, text) : fmt::format("{} * ({})", width_, text);
  }
  std::string VectorOf(const PackedArray& array) const {
    return fmt::format("{}<{}, {}>", vector_, array.element, width_);
  }

  std::string AlignmentCheck() const {
    std::map<std::string, std::string> by_type;  // element -> or of its addresses
    std::vector<std::string> order;
    for (const PackedArray& array : arrays_) {
      std::string& addresses = by_type[array.element];
      if (addresses.empty()) order.push_back(array.element);
      addresses += fmt::format("{}reinterpret_cast<size_t>({})", addresses.empty() ? "" : " | ", array.parameter->name);
    }
    std::string check;
    for (const std::string& element : order) {
      const bool several = by_type[element].find('|') != std::string::npos;
      check += fmt::format("{}{} % sizeof({}<{}, {}>) == 0", check.empty() ? "" : " && ",
                           several ? "(" + by_type[element] + ")" : by_type[element], vector_, element, width_);
    }
    if (check.size() <= 90) return fmt::format("  const bool aligned = {};\n", check);
    for (const std::string_view between : {" % ", " && "}) {
      for (size_t at = check.find(between); at != std::string::npos; at = check.find(between, at + 1))
        check.replace(at + between.size() - 1, 1, "\n      ");
    }
    return fmt::format("  const bool aligned =\n      {};\n", check);
  }

  std::string Element(bool vectors) const {
    std::vector<Substitution> substitutions;
    for (const PackedArray& array : arrays_)
      for (const source::Node* access : array.accesses)
        if (vectors) substitutions.push_back({access, fmt::format("{}_vector.lane[{}]", array.parameter->name, lane_)});
    return ElementText(site_, form_, substitutions);
  }

  // Is i used for anything but the packed accesses?
  bool UsesIndex() const {
    const std::string& symbol = form_.stride_loop ? form_.stride_loop->variable : form_.index->symbol;
    const auto uses = [&](const source::Node& root) {
      bool found = false;
      source::ForEach(root, [&](const source::Node& node) {
        if (!node.Is(source::NodeKind::kName) || node.symbol != symbol) return;
        const bool packed = std::any_of(arrays_.begin(), arrays_.end(), [&](const PackedArray& array) {
          return std::any_of(array.accesses.begin(), array.accesses.end(),
                             [&](const source::Node* a) { return source::Contains(*a, node); });
        });
        found |= !packed;
      });
      return found;
    };
    return std::any_of(form_.prefix.begin(), form_.prefix.end(), [&](const source::Node* s) { return uses(*s); }) ||
           std::any_of(form_.statements.begin(), form_.statements.end(),
                       [&](const source::Node* s) { return uses(*s); });
  }

  std::string Branches() const {
    const std::string bound = Text(*form_.bound);
    std::string code = fmt::format("  if (aligned && {} + {} <= {}) {{\n", first_, width_, bound);
    for (const PackedArray& array : arrays_) {
      const std::string& name = array.parameter->name;
      const std::string type = VectorOf(array);
      if (array.loaded) {
        code += fmt::format("    {}{} {}_vector = *reinterpret_cast<const {}*>({} + {});\n",
                            array.stored ? "" : "const ", type, name, type, name, first_);
      } else {
        code += fmt::format("    {} {}_vector;\n", type, name);
      }
    }
    code += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n", lane_, width_);
    if (UsesIndex()) code += fmt::format("      const {} {} = {} + {};\n", type_, index_, first_, lane_);
    code += Indented(Element(true), "      ", "  ") + "\n    }\n";
    for (const PackedArray& array : arrays_)
      if (array.stored)
        code += fmt::format("    *reinterpret_cast<{}*>({} + {}) = {}_vector;\n", VectorOf(array),
                            array.parameter->name, first_, array.parameter->name);
    code += "  } else {  // the tail, and arrays that are not aligned\n";
    code += fmt::format("    for ({0} {1} = {2}; {1} < {3} && {1} < {2} + {4}; ++{1}) {{\n", type_, index_, first_,
                        bound, width_);
    code += Indented(Element(false), "      ", "  ") + "\n    }\n  }";
    return code;
  }

  const source::Ast& ast_;
  const KernelSite& site_;
  const ElementwiseForm& form_;
  const std::vector<PackedArray>& arrays_;
  int width_;
  std::string vector_, first_, lane_, index_, type_;
};

core::RewriteOutcome ApplyVectorizeElementwise(const source::Ast& ast, const core::RewriteRequest& request) {
  const int width = IntegerParameter(request, "width");
  SiteOutcome found = FindSite(ast, request);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  const KernelSite& site = *std::get<std::unique_ptr<KernelSite>>(found);
  ElementwiseOutcome recognized = RecognizeElementwise(site);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&recognized)) return *refusal;
  const ElementwiseForm& form = std::get<ElementwiseForm>(recognized);
  if (auto refusal = FindObstacle(site, form)) return *refusal;
  ArraysOutcome arrays_outcome = FindArrays(site, form);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&arrays_outcome)) return *refusal;
  const auto& arrays = std::get<std::vector<PackedArray>>(arrays_outcome);
  if (auto refusal = CheckWidth(site, arrays, width)) return *refusal;
  if (site.entry_is_kernel && !form.stride_loop)
    return Refuse("the launch is given in the manifest and would cover too many elements");
  for (const LaunchSite& launch : site.launches) {
    if (!IsOneDimensional(launch, LaunchAxisGroup::kGrid) || !IsOneDimensional(launch, LaunchAxisGroup::kBlock))
      return Refuse("the launch has more than one dimension, or its shape cannot be followed", launch.launch->line);
  }

  Edits edits;
  const std::string name = NewKernelName(ast, site, fmt::format("vec{}", width));
  const Emitter emitter(ast, site, form, arrays, width);
  InsertKernel(site, name, emitter.Helpers(), emitter.Kernel(name), edits);
  for (const LaunchSite& launch : site.launches) CoarsenGrid(launch, width, /*any_form=*/!form.stride_loop, edits);
  std::vector<std::string> notes = {fmt::format("{} elements per thread, moved with one access per array", width)};
  if (name != site.function().name)
    notes.push_back(fmt::format("{} is kept for its other callers; {} is new", site.function().name, name));
  return Finish(ast, edits, std::move(notes));
}

}  // namespace

Transform VectorizeElementwiseTransform() {
  return {
      .id = "vectorize_elementwise", .parameters = {{"width", {"4", "2", "8"}}}, .apply = ApplyVectorizeElementwise};
}

}  // namespace warpwright::rewrite
