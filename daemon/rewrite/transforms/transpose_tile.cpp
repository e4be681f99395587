// transpose_tile: a naive transpose, out[x * H + y] = f(in[y * W + x]), goes through a tile in shared memory, so that
// both the reads and the writes of a warp are coalesced.
#include <fmt/core.h>

#include <algorithm>

#include "rewrite/launch.h"
#include "rewrite/site.h"
#include "rewrite/transforms.h"

namespace warpwright::rewrite {
namespace {

// One of the two indices of the kernel: int x = blockIdx.x * blockDim.x + threadIdx.x, bounded by x < W.
struct Index {
  const source::Node* variable = nullptr;  // kVariable
  char axis = 'x';                         // of blockIdx
  const source::Node* bound = nullptr;
};

struct TransposeForm {
  Index column, row;                    // of the input: in[row * W + column]
  const source::Node* store = nullptr;  // the assignment
  const source::Node* load = nullptr;   // the access to the input
  const source::SyntaxParameter* in = nullptr;
  const source::SyntaxParameter* out = nullptr;
  bool wide = false;  // offsets are computed in 64 bits
};
using TransposeOutcome = std::variant<TransposeForm, core::RewriteRefusal>;

std::optional<Index> AsIndex(const source::FunctionAnalysis& analysis, const source::Node& variable) {
  if (analysis.Definition(variable.symbol) == nullptr) return std::nullopt;
  const source::Polynomial value = analysis.Index(variable[0]);
  for (const char axis : {'x', 'y'}) {
    const std::string thread = std::string("threadIdx.") + axis, block = std::string("blockIdx.") + axis;
    const auto by_thread = value.Coefficient(thread), by_block = value.Coefficient(block);
    const bool global =
        by_thread && by_block && *by_thread == source::Polynomial::Constant(1) && *by_block != source::Polynomial() &&
        (by_block->constant() || *by_block == source::Polynomial::Symbol(std::string("blockDim.") + axis)) &&
        value.Without(thread).Without(block) == source::Polynomial();
    if (global) return Index{&variable, axis, nullptr};
  }
  return std::nullopt;
}

bool Is64Bit(const source::Node& index) {
  bool wide = false;
  source::ForEach(index, [&](const source::Node& node) {
    const CXType type = clang_getCanonicalType(clang_getCursorType(node.cursor));
    wide |= (type.kind == CXType_ULong || type.kind == CXType_Long || type.kind == CXType_LongLong ||
             type.kind == CXType_ULongLong);
  });
  return wide;
}

// The statements of the kernel are two indices, a guard on both, and one assignment.
TransposeOutcome RecognizeTranspose(const KernelSite& site) {
  const source::FunctionAnalysis& analysis = site.analysis();
  const source::Node& body = *site.function().body;
  std::vector<Index> indices;
  std::vector<source::BoundsGuard::Limit> limits;
  const source::Node* store = nullptr;
  const auto take = [&](const source::Node& statement, const auto& self) -> bool {
    if (statement.Is(source::NodeKind::kDeclaration)) {
      for (const auto& variable : statement.children) {
        const auto index = variable->size() == 1 ? AsIndex(analysis, *variable) : std::nullopt;
        if (index) indices.push_back(*index);
        else if (variable->size() != 1 || analysis.Definition(variable->symbol) == nullptr) return false;
      }
      return true;
    }
    if (const auto guard = source::AsBoundsGuard(statement)) {
      limits.insert(limits.end(), guard->limits.begin(), guard->limits.end());
      return guard->returns_early || self(guard->body(), self);
    }
    if (statement.Is(source::NodeKind::kBlock))
      return std::all_of(statement.children.begin(), statement.children.end(),
                         [&](const auto& child) { return self(*child, self); });
    if (!statement.Is(source::NodeKind::kAssign, "=") || store != nullptr) return false;
    store = &statement;
    return true;
  };
  if (!take(body, take) || store == nullptr || indices.size() != 2 || indices[0].axis == indices[1].axis)
    return Refuse("the kernel is not two indices, a bounds guard and one assignment", body.line);
  for (Index& index : indices) {
    for (const source::BoundsGuard::Limit& limit : limits) {
      const source::Node& name = source::StripCasts(*limit.index);
      if (name.Is(source::NodeKind::kName) && name.symbol == index.variable->symbol) index.bound = limit.bound;
    }
    if (index.bound == nullptr)
      return Refuse(fmt::format("{} has no bound", index.variable->name), index.variable->line);
  }

  TransposeForm form;
  form.store = store;
  std::vector<source::Access> accesses = analysis.Accesses();
  if (accesses.size() != 2) return Refuse("more than one element is read and one written", store->line);
  const source::Access& out = accesses[accesses[0].writes ? 0 : 1];
  const source::Access& in = accesses[accesses[0].writes ? 1 : 0];
  if (!out.writes || !in.reads || in.writes || out.reads || out.atomic || out.base == in.base || in.reinterpreted ||
      out.reinterpreted || in.vector_width > 1)
    return Refuse("not one array read and another written", store->line);
  const auto matches = [&](const source::Access& access, const Index& fast, const Index& slow) {
    // slow * bound(fast) + fast
    return access.index ==
           analysis.Index((*slow.variable)[0]) * analysis.Index(*fast.bound) + analysis.Index((*fast.variable)[0]);
  };
  for (size_t fast : {0, 1}) {
    if (!matches(in, indices[fast], indices[1 - fast]) || !matches(out, indices[1 - fast], indices[fast])) continue;
    form.column = indices[fast];
    form.row = indices[1 - fast];
  }
  if (form.column.variable == nullptr)
    return Refuse("the indices are not those of a transposition of a dense matrix", store->line);
  const auto parameter = [&](const std::string& symbol) { return analysis.Find(symbol)->parameter; };
  form.in = parameter(in.base);
  form.out = parameter(out.base);
  if (form.in == nullptr || form.out == nullptr) return Refuse("the arrays are not parameters", store->line);
  form.load = in.node;
  form.wide = Is64Bit(*out.node) || Is64Bit(*in.node);
  bool other_use = !in.node->whole;
  source::ForEach((*store)[1], [&](const source::Node& node) {
    const bool index = node.Is(source::NodeKind::kName) &&
                       (node.symbol == indices[0].variable->symbol || node.symbol == indices[1].variable->symbol);
    const bool local = node.Is(source::NodeKind::kName) && analysis.Definition(node.symbol) != nullptr;
    other_use |= (index || local) && !source::Contains(*in.node, node);
  });
  if (other_use) return Refuse("the value depends on more than the element that is read", store->line);
  return form;
}

std::string LocalName(const TransposeForm& form, const KernelSite& site, std::string name) {
  const auto taken = [&] {
    const auto& parameters = site.function().parameters;
    const bool parameter = std::any_of(parameters.begin(), parameters.end(),
                                       [&](const source::SyntaxParameter& p) { return p.name == name; });
    bool used = false;
    for (const source::Node* part : {&(*form.store)[1], form.column.bound, form.row.bound})
      source::ForEach(*part, [&](const source::Node& node) {
        used |= node.Is(source::NodeKind::kName) && node.name == name && node.symbol != form.column.variable->symbol &&
                node.symbol != form.row.variable->symbol;
      });
    return parameter || used;
  };
  while (taken()) name += "_";
  return name;
}

std::string Kernel(const KernelSite& site, const TransposeForm& form, const std::string& name, int tile, int rows) {
  const source::SyntaxFunction& kernel = site.function();
  const auto text = [&](const source::Node& node) { return std::string(kernel.Text(node)); };
  const std::string x = LocalName(form, site, "x"), y = LocalName(form, site, "y"), j = LocalName(form, site, "j");
  const std::string tiles = LocalName(form, site, "tile"), size = LocalName(form, site, "kTile"),
                    step = LocalName(form, site, "kRows");
  const std::string element = source::ElementSpelling(*form.out);
  std::string type = form.column.variable->type;
  if (type.starts_with("const ")) type = type.substr(6);
  const std::string wide_begin = form.wide ? "static_cast<size_t>" : "";
  const std::string width = text(*form.column.bound), height = text(*form.row.bound);
  const std::string loaded = fmt::format("{}[{}({} + {}) * {} + {}]", form.in->name, wide_begin, y, j, width, x);
  const std::string value = Substitute(kernel, (*form.store)[1], {{form.load, loaded}});
  std::string code = HeadWithName(kernel, name) + " {\n";
  code += "  // Through a tile in shared memory, reads and writes are both to neighbouring addresses.\n";
  code += fmt::format("  constexpr int {} = {}, {} = {};  // a block has {} x {} threads\n", size, tile, step, rows,
                      tile, rows);
  code += fmt::format("  __shared__ {} {}[{}][{} + 1];  // one column more: columns are read without bank conflicts\n",
                      element, tiles, size, size);
  code += fmt::format("  {} {} = blockIdx.{} * {} + threadIdx.x;\n", type, x, form.column.axis, size);
  code += fmt::format("  {} {} = blockIdx.{} * {} + threadIdx.y;\n", type, y, form.row.axis, size);
  code += fmt::format("  for (int {0} = 0; {0} < {1}; {0} += {2}) {{\n", j, size, step);
  code += fmt::format("    if ({} < {} && {} + {} < {}) {}[threadIdx.y + {}][threadIdx.x] = {};\n  }}\n", x, width, y,
                      j, height, tiles, j, value);
  code += "  __syncthreads();\n";
  code += fmt::format("  {} = blockIdx.{} * {} + threadIdx.x;\n", x, form.row.axis, size);
  code += fmt::format("  {} = blockIdx.{} * {} + threadIdx.y;\n", y, form.column.axis, size);
  code += fmt::format("  for (int {0} = 0; {0} < {1}; {0} += {2}) {{\n", j, size, step);
  code += fmt::format(
      "    if ({} < {} && {} + {} < {}) {}[{}({} + {}) * {} + {}] = {}[threadIdx.x][threadIdx.y + {}];\n  }}\n}}", x,
      height, y, j, width, form.out->name, wide_begin, y, j, height, x, tiles, j);
  return code;
}

std::string TilesOf(const std::string& bound, int tile) { return fmt::format("({} + {}) / {}", bound, tile - 1, tile); }

core::RewriteOutcome ApplyTransposeTile(const source::Ast& ast, const core::RewriteRequest& request) {
  const int tile = IntegerParameter(request, "tile"), rows = IntegerParameter(request, "rows");
  SiteOutcome found = FindSite(ast, request);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  const KernelSite& site = *std::get<std::unique_ptr<KernelSite>>(found);
  if (site.entry_is_kernel) return Refuse("the launch is given in the manifest, and a tile needs its own block shape");
  TransposeOutcome recognized = RecognizeTranspose(site);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&recognized)) return *refusal;
  const TransposeForm& form = std::get<TransposeForm>(recognized);

  Edits edits;
  for (const LaunchSite& launch : site.launches) {
    const auto width = HostText(site, launch, *form.column.bound), height = HostText(site, launch, *form.row.bound);
    if (!width || !height) return Refuse("the size of the matrix is not known at the launch", launch.launch->line);
    if (ConstantAxis(launch, LaunchAxisGroup::kGrid, 2) != 1)
      return Refuse("the grid has a third dimension", launch.launch->line);
    LaunchShape shape;
    shape.grid = {TilesOf(form.column.axis == 'x' ? *width : *height, tile),
                  TilesOf(form.column.axis == 'x' ? *height : *width, tile)};
    shape.block = {std::to_string(tile), std::to_string(rows)};
    SetLaunch(launch, shape, edits);
  }
  const std::string name = NewKernelName(ast, site, "tiled");
  InsertKernel(site, name, "", Kernel(site, form, name, tile, rows), edits);
  std::vector<std::string> notes = {
      fmt::format("transposed through a {0} x {0} tile in shared memory, {0} x {1} threads per block", tile, rows)};
  if (name != site.function().name)
    notes.push_back(fmt::format("{} is kept for its other callers; {} is new", site.function().name, name));
  return FinishRemapped(ast, site, name, edits, std::move(notes));
}

}  // namespace

Transform TransposeTileTransform() {
  return {.id = "transpose_tile", .parameters = {{"tile", {"32"}}, {"rows", {"8"}}}, .apply = ApplyTransposeTile};
}

}  // namespace warpwright::rewrite
