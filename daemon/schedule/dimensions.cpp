#include "schedule/dimensions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/polynomial.h"
#include "schedule/expression_code.h"

namespace warpwright::schedule {
namespace {

using core::Polynomial;

Polynomial CoefficientOf(const FlatOffset& offset, core::VariableId variable) {
  const auto found = offset.coefficients.find(variable);
  return found == offset.coefficients.end() ? Polynomial() : Polynomial::Of(found->second);
}

// "N": "n", "rows": "row"; empty: no name to make one of.
std::string IndexNameFor(const core::Size& extent) {
  std::string name = extent.text();
  const bool identifier =
      !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalpha(c) || c == '_'; });
  if (!identifier) return "";
  const bool plural = name.size() > 2 && name.ends_with('s') && !name.ends_with("ss") && !name.ends_with("es");
  for (const std::string_view prefix : {"num_", "n_"})
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  if (plural) name.pop_back();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("nrow")) return "row";
  if (name.starts_with("ncol")) return "col";
  return name;
}

}  // namespace

Access AccessOf(const core::TensorArgument& tensor, const core::TensorRead& read) {
  return {read.tensor, tensor.dtype, false, FlatOffsetOf(tensor.shape, read.at)};
}

bool SamePlace(const Access& a, const Access& b) {
  return a.tensor == b.tensor && a.offset && b.offset && a.offset->coefficients == b.offset->coefficients &&
         Equal(a.offset->constant, b.offset->constant);
}

std::vector<Access> AccessesOf(const Problem& problem, const core::Stage& stage) {
  std::vector<Access> accesses;
  const auto reachable = core::Reachable(stage);
  for (size_t i = 0; i < stage.nodes.size(); ++i) {
    const auto* read = std::get_if<core::TensorRead>(&stage.nodes[i]);
    if (!reachable[i] || read == nullptr) continue;
    const core::TensorArgument* tensor = problem.form.FindTensor(read->tensor);
    if (tensor == nullptr) continue;
    accesses.push_back(AccessOf(*tensor, *read));
  }
  if (stage.output)
    accesses.push_back({stage.name, stage.dtype, true, FlatOffsetOf(ShapeOf(problem, stage.name), StoredAt(stage))});
  return accesses;
}

core::VariableSet UsedApart(const Problem& problem, const core::Stage& stage, bool intermediates) {
  core::VariableSet apart = 0;
  const auto reachable = core::Reachable(stage);
  for (const auto& guard : stage.domain) apart |= core::VariablesOf(guard.value);
  for (size_t i = 0; i < stage.nodes.size(); ++i) {
    if (!reachable[i]) continue;
    const core::Node& node = stage.nodes[i];
    const auto* read = std::get_if<core::TensorRead>(&node);
    const core::TensorArgument* tensor = read ? problem.form.FindTensor(read->tensor) : nullptr;
    if (tensor && FlatOffsetOf(tensor->shape, read->at)) continue;
    if (read && !tensor && !intermediates) continue;
    core::ForEachPosition(node, [&](const core::Affine& position) { apart |= core::VariablesOf(position); });
  }
  return apart;
}

std::vector<Dimension> DimensionsOf(core::VariableId first, const std::vector<core::Size>& extents,
                                    const std::vector<Access>& accesses, core::VariableSet apart) {
  std::vector<Dimension> dimensions;
  for (core::VariableId v = 0; v < extents.size(); ++v) dimensions.push_back({{first + v}, extents[v], ""});
  const auto mergeable = [&](const Dimension& outer, const Dimension& inner) {
    const core::VariableId a = outer.variables.back(), b = inner.variables.back();
    if ((apart & (core::SetOf(a) | core::SetOf(b))) != 0) return false;
    return std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      return !access.offset ||
             CoefficientOf(*access.offset, a) == CoefficientOf(*access.offset, b) * Polynomial::Of(inner.extent);
    });
  };
  for (size_t i = 0; i + 1 < dimensions.size();) {
    if (!mergeable(dimensions[i], dimensions[i + 1])) {
      ++i;
      continue;
    }
    Dimension& inner = dimensions[i + 1];
    inner.extent = Product({dimensions[i].extent, inner.extent});
    inner.variables.insert(inner.variables.begin(), dimensions[i].variables.begin(), dimensions[i].variables.end());
    dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
  return dimensions;
}

void NameDimensions(std::vector<Dimension>& dimensions, Names& names) {
  static const std::vector<std::vector<std::string>> kUsual = {
      {"i"}, {"row", "col"}, {"plane", "row", "col"}, {"n", "plane", "row", "col"}};
  for (size_t d = 0; d < dimensions.size(); ++d) {
    std::vector<std::string> wishes;
    if (const std::string own = IndexNameFor(dimensions[d].extent); !own.empty() && dimensions.size() > 1)
      wishes.push_back(own);
    wishes.push_back(dimensions.size() <= kUsual.size() ? kUsual[dimensions.size() - 1][d] : fmt::format("i{}", d));
    wishes.push_back(fmt::format("{}", "zyx"[3 - std::min<size_t>(3, dimensions.size() - d)]));
    dimensions[d].name = names.TakeOf(wishes);
  }
}

std::map<core::VariableId, std::string> VariableNames(const std::vector<Dimension>& dimensions) {
  std::map<core::VariableId, std::string> variables;
  for (const Dimension& dimension : dimensions) {
    for (core::VariableId v : dimension.variables) variables[v] = "0";
    variables[dimension.variables.back()] = dimension.name;
  }
  return variables;
}

bool IsDense(const Access& access, const std::vector<Dimension>& dimensions) {
  if (!access.offset || !core::IsNumber(access.offset->constant, 0)) return false;
  Polynomial stride(1);
  for (size_t d = dimensions.size(); d-- > 0;) {
    if (CoefficientOf(*access.offset, dimensions[d].variables.back()) != stride) return false;
    stride = stride * Polynomial::Of(dimensions[d].extent);
  }
  return true;
}

bool IsContiguous(const Access& access, const Dimension& last) {
  return access.offset && CoefficientOf(*access.offset, last.variables.back()) == Polynomial(1);
}

void WriteCoordinates(const std::vector<Dimension>& dimensions, const std::string& type, const std::string& index,
                      Names& names, Lines& lines) {
  static const std::vector<std::string> kExtents = {"width", "height", "depth"};
  std::string rest = index;
  for (size_t d = dimensions.size(); d-- > 0;) {
    std::string extent = Parenthesized(SizeText(dimensions[d].extent));
    if (d > 0 && extent.starts_with("(")) {  // used twice
      const size_t back = dimensions.size() - 1 - d;
      const std::string name = names.TakeOf(
          {back < kExtents.size() ? kExtents[back] : dimensions[d].name + "_end", dimensions[d].name + "_end"});
      const std::string size = SizeText(dimensions[d].extent),
                        wide = type == "long long" ? WidenedProduct(size) : size;  // "C * H * W"
      lines.Add(fmt::format("const {} {} = {};", wide == size ? "int" : type, name, wide));
      extent = name;
    }
    const std::string value = d == 0 ? rest : fmt::format("{} % {}", rest, extent);
    if (dimensions[d].name != index) lines.Add(fmt::format("const {} {} = {};", type, dimensions[d].name, value));
    rest += " / " + extent;
  }
}

std::string TotalText(const Problem& problem, const std::vector<Dimension>& dimensions) {
  std::vector<core::Size> extents;
  for (const Dimension& d : dimensions) extents.push_back(d.extent);
  const std::string text = SizeText(Product(extents));
  const EntryParameter* first = problem.entry.Find(text.substr(0, text.find(" * ")));
  const bool long_already = first != nullptr && core::SizeOf(first->dtype) == 8;
  return problem.wide && !long_already ? WidenedProduct(text) : text;
}

std::optional<std::vector<std::string>> Divisible(const Access& access, const Dimension& last, int width) {
  const Polynomial extent = Polynomial::Of(last.extent);
  std::vector<std::string> conditions;
  const auto require = [&](const core::Size& size) {
    const Polynomial value = Polynomial::Of(size);
    if (value.valid() && value.Content() % width == 0) return true;
    if (value.DividedBy(extent)) return true;
    if (value.constant()) return false;
    conditions.push_back(fmt::format("{} % {} == 0", Parenthesized(SizeText(size)), width));
    return true;
  };
  for (const auto& [variable, coefficient] : access.offset->coefficients) {
    const bool merged = std::find(last.variables.begin(), last.variables.end(), variable) != last.variables.end();
    if (!merged && !require(coefficient)) return std::nullopt;
  }
  if (!require(access.offset->constant)) return std::nullopt;
  return conditions;
}

void Packing::Add(const Access& access, const std::vector<std::string>& needs) {
  for (const std::string& need : needs)
    if (std::find(conditions.begin(), conditions.end(), need) == conditions.end()) conditions.push_back(need);
  bytes = std::max(bytes, width * static_cast<int>(core::SizeOf(access.dtype)));
  const auto same = [&](const Access& other) { return other.store == access.store && SamePlace(other, access); };
  if (std::none_of(accesses.begin(), accesses.end(), same)) accesses.push_back(access);
}

std::string PackedType::Load(const std::string& variable, const std::string& address) const {
  return fmt::format("const auto {} = {}<kWidth>({});", variable, load, address);
}
std::string PackedType::Store(const std::string& variable, const std::string& address) const {
  return fmt::format("{}({}, {});", store, address, variable);
}

PackedType MakePackedType(const Problem& problem, const Packing& packing) {
  const bool stores =
      std::any_of(packing.accesses.begin(), packing.accesses.end(), [](const Access& a) { return a.store; });
  PackedType type{problem.shared_name("Packed"), problem.shared_name("load_packed"),
                  problem.shared_name("store_packed"), ""};
  type.definition = fmt::format(
      "// kWidth neighbours, which one access moves.\n"
      "template <typename T, int kWidth>\n"
      "struct alignas(sizeof(T) * kWidth) {0} {{\n"
      "  T at[kWidth];\n"
      "}};\n"
      "template <int kWidth, typename T>\n"
      "__device__ __forceinline__ {0}<T, kWidth> {1}(const T* from) {{\n"
      "  return *reinterpret_cast<const {0}<T, kWidth>*>(from);\n"
      "}}\n",
      type.name, type.load);
  if (stores)
    type.store_definition = fmt::format(
        "template <typename T, int kWidth>\n"
        "__device__ __forceinline__ void {1}(T* to, const {0}<T, kWidth>& values) {{\n"
        "  *reinterpret_cast<{0}<T, kWidth>*>(to) = values;\n"
        "}}\n",
        type.name, type.store);
  return type;
}

std::string ElementTypeOf(const Problem& problem, const Access& access) {
  const EntryParameter* parameter = problem.entry.Find(access.tensor);
  return parameter ? parameter->type : CTypeOf(access.dtype);
}

std::string AlignmentFunction(const std::string& name) {
  return fmt::format(
      "static bool {}(const void* pointer, size_t bytes) {{\n"
      "  return reinterpret_cast<size_t>(pointer) % bytes == 0;\n"
      "}}\n",
      name);
}

std::string PackingCondition(const Problem& problem, const Packing& packing, std::vector<std::string>& helpers) {
  const std::string aligned = problem.shared_name("is_aligned");
  helpers.push_back(AlignmentFunction(aligned));
  std::vector<std::string> conditions, buffers;
  for (const Access& access : packing.accesses) {
    if (std::find(buffers.begin(), buffers.end(), access.tensor) != buffers.end()) continue;
    buffers.push_back(access.tensor);
    // An array of the module has no address in the launcher, and is aligned where it is declared.
    if (problem.entry.Find(access.tensor) == nullptr) continue;
    conditions.push_back(fmt::format("{}({}, {})", aligned, access.tensor, packing.bytes));
  }
  for (const std::string& tensor : packing.gathered)
    conditions.push_back(fmt::format("{}({}, {})", aligned, tensor, packing.bytes));
  conditions.insert(conditions.end(), packing.conditions.begin(), packing.conditions.end());
  return fmt::format("{}", fmt::join(conditions, " && "));
}

}  // namespace warpwright::schedule
