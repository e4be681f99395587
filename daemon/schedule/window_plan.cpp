#include "schedule/window_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/affine.h"
#include "core/computation_inline.h"
#include "core/polynomial.h"
#include "schedule/expression_code.h"
#include "schedule/written_terms.h"

namespace warpwright::schedule {
namespace {

using core::Polynomial;
using core::VariableId;

constexpr size_t kMostTerms = 64, kMostNodes = 512;  // of an output's formula
constexpr size_t kMostBorders = 8, kMostWindows = 12;
constexpr int64_t kMostRegisters = 96;  // that windows and outputs of a thread take
constexpr int kMostRows = 4, kMostWidth = 8;
constexpr int64_t kThreadsOfMultiprocessor = 1024;  // that there should be at least
constexpr int64_t kNarrowest = 32;                  // columns: fewer are no row of a warp

// The group's stages alone, with reductions as their terms and without intermediates.
std::variant<core::RewriteRefusal, core::Computation> WrittenForm(const Problem& problem, const Group& group,
                                                                  std::optional<Edge>& edge) {
  core::Computation form = problem.form;
  form.stages.clear();
  std::set<std::string> outputs;
  size_t parts = 0;
  for (const size_t i : group.stages)
    if (problem.stage(i).output) ++parts, outputs.insert(problem.stage(i).name);
  for (const size_t i : group.stages) {
    core::Stage stage = problem.stage(i);
    // Parts of an output tell themselves what is beyond its edges.
    core::Stage ended = stage;
    const auto own = parts == outputs.size() ? TakeEnds(problem, ended) : std::nullopt;
    if (own && (!edge || edge == own)) edge = own, stage = std::move(ended);
    auto written = WithWrittenTerms(problem, stage, kMostTerms);
    if (!written) return Refuse("a window is long, or as long as an argument says", problem.stage(i).line);
    form.stages.push_back(std::move(*written));
  }
  form = core::WithoutMaps(form, kMostNodes);
  for (const core::Stage& stage : form.stages)
    if (!stage.output) return Refuse("an intermediate is needed at too many places", stage.line);
  return form;
}

double ElementsOf(const Problem& problem, const BufferPart& part) {
  std::vector<double> counts;
  for (const core::Size& extent : part.stage.extents)
    counts.push_back(static_cast<double>(ValueIn(extent, HeaviestCase(problem)).value_or(1)));
  for (const core::Guard& guard : part.where) {
    if (!guard.low || !guard.high || guard.value.terms.size() != 1) continue;
    const auto low = ValueIn(*guard.low, HeaviestCase(problem)), high = ValueIn(*guard.high, HeaviestCase(problem));
    double& count = counts[guard.value.terms[0].variable];
    count = std::min(count, static_cast<double>(high.value_or(1) - low.value_or(0)));
  }
  double product = 1;
  for (const double count : counts) product *= count;
  return product;
}

// Where a part is one row or column, positions that are its number are that of the output: t[0] at 0 is t[i].
void TakeOwnPositions(BufferPart& part) {
  std::map<VariableId, Polynomial> pinned;
  for (const core::Guard& guard : part.where) {
    const auto variable = core::AsVariable(guard.value);
    if (!variable || !guard.low || !guard.high) continue;
    const Polynomial low = Polynomial::Of(*guard.low);
    if (low + Polynomial(1) == Polynomial::Of(*guard.high)) pinned[*variable] = low;
  }
  for (core::Node& node : part.stage.nodes) {
    auto* read = std::get_if<core::TensorRead>(&node);
    if (read == nullptr || read->at.size() != part.stage.extents.size()) continue;
    for (const auto& [variable, place] : pinned) {
      const auto* at = std::get_if<core::Affine>(&read->at[variable]);
      if (at != nullptr && at->terms.empty() && Polynomial::Of(at->constant) == place)
        read->at[variable] = core::AffineOf(variable);
    }
  }
}

// Borders of one formula as one, which holds wherever that of the inside does not.
void JoinBorders(std::vector<BufferPart>& borders) {
  for (BufferPart& border : borders) TakeOwnPositions(border);
  const bool one = std::all_of(borders.begin(), borders.end(), [&](const BufferPart& border) {
    return border.stage.nodes == borders.front().stage.nodes;
  });
  if (!one) return;
  borders.resize(1);
  borders.front().where.clear();
}

// An output of several parts: that of the inside, and what the others are.
std::variant<core::RewriteRefusal, WindowOutput> OutputOf(const Problem& problem, const core::Computation& form,
                                                          const std::vector<const core::Stage*>& parts) {
  WindowOutput output;
  std::vector<BufferPart> over;
  for (const core::Stage* part : parts)
    if (auto of_buffer = OverBuffer(problem, *part)) over.push_back(std::move(*of_buffer));
  if (over.empty()) return Refuse("an output has no coordinates of its own", parts[0]->line);
  // The inside is what most elements are of.
  const auto inside = std::max_element(over.begin(), over.end(), [&](const BufferPart& a, const BufferPart& b) {
    return ElementsOf(problem, a) < ElementsOf(problem, b);
  });
  output.inside = *inside;
  over.erase(inside);
  if (parts.size() == 1) {
    output.whole = output.inside.where.empty();
    return output;
  }
  core::Computation alone = form;
  alone.stages.clear();
  for (const core::Stage* part : parts) alone.stages.push_back(*part);
  const auto trial = TryParts(alone, output.inside.stage);
  if (!trial || !trial->whole) return Refuse("parts of an output leave some of it as it was", parts[0]->line);
  if (trial->edge) {
    output.edge = *trial->edge;
    output.inside.where.clear();
    return output;
  }
  if (over.size() + 1 != parts.size()) return Refuse("a part of an output has no coordinates of its own");
  JoinBorders(over);
  if (over.size() > kMostBorders) return Refuse("an output has too many parts to be read", parts[0]->line);
  output.borders = std::move(over);
  return output;
}

// What is computed, as comments say it: the inside first.
void AddParts(const WindowOutput& output, std::vector<core::Stage>& stages) {
  stages.push_back(output.inside.stage);
  stages.back().domain = output.inside.where;
  for (const BufferPart& border : output.borders) {
    stages.push_back(border.stage);
    stages.back().domain = border.where;
  }
}

// stride * variable + offset, and nothing else.
struct Step {
  int64_t stride = 0, offset = 0;
};
std::optional<Step> StepOf(const core::Affine& at, VariableId variable) {
  if (at.terms.size() != 1 || at.terms[0].variable != variable || at.terms[0].part != core::Affine::Part::kWhole ||
      !core::IsNumber(at.divisor, 1))
    return std::nullopt;
  const auto stride = Polynomial::Of(at.terms[0].coefficient).constant(),
             offset = Polynomial::Of(at.constant).constant();
  if (!stride || !offset || *stride < 1 || *stride > 4) return std::nullopt;
  return Step{*stride, *offset};
}

// The window of this read alone, and none if it has none.
std::optional<Window> WindowOf(const core::TensorArgument& tensor, const core::TensorRead& read, VariableId col,
                               std::optional<VariableId> row, Edge edge) {
  if (read.at.empty()) return std::nullopt;
  Window window{.tensor = read.tensor, .dtype = tensor.dtype, .others = {}, .row_at = {}, .edge = edge};
  const auto bound = core::SetOf(col) | (row ? core::SetOf(*row) : 0);
  for (size_t d = 0; d < read.at.size(); ++d) {
    const auto* at = std::get_if<core::Affine>(&read.at[d]);
    if (at == nullptr) return std::nullopt;
    window.others.push_back(core::AffineOf(core::Size::Constant(0)));
    const bool last = d + 1 == read.at.size();
    if (last) {
      const auto step = StepOf(*at, col);
      if (!step) return std::nullopt;
      window.col_stride = step->stride, window.left = window.right = step->offset;
    } else if (const auto step = row ? StepOf(*at, *row) : std::nullopt; step && !window.row_at) {
      window.row_at = d;
      window.row_stride = step->stride, window.top = window.bottom = step->offset;
    } else if ((core::VariablesOf(*at) & bound) != 0) {
      return std::nullopt;
    } else {
      window.others.back() = *at;
    }
  }
  return window;
}

bool SameWindow(const Window& a, const Window& b) {
  return a.tensor == b.tensor && a.others == b.others && a.row_at == b.row_at && a.row_stride == b.row_stride &&
         a.col_stride == b.col_stride && a.edge == b.edge;
}

// visit(output, read) for every read of an argument by an inside.
template <typename Visit>
void ForEachRead(const WindowPlan& plan, const Visit& visit) {
  for (const WindowOutput& output : plan.outputs)
    for (const core::Node& node : output.inside.stage.nodes)
      if (const auto* read = std::get_if<core::TensorRead>(&node); read && !read->stage) visit(output, *read);
}

std::vector<Window> WindowsFor(const Problem& problem, const WindowPlan& plan, std::optional<VariableId> row) {
  std::vector<Window> windows;
  std::set<std::tuple<size_t, int64_t, int64_t>> places;
  ForEachRead(plan, [&](const WindowOutput& output, const core::TensorRead& read) {
    const core::TensorArgument* tensor = problem.form.FindTensor(read.tensor);
    const auto own = tensor ? WindowOf(*tensor, read, plan.col, row, output.edge) : std::nullopt;
    if (!own) return;
    auto found = std::find_if(windows.begin(), windows.end(), [&](const Window& w) { return SameWindow(w, *own); });
    if (found == windows.end()) {
      found = windows.insert(windows.end(), *own);
      found->places = 0;
    }
    found->top = std::min(found->top, own->top), found->bottom = std::max(found->bottom, own->bottom);
    found->left = std::min(found->left, own->left), found->right = std::max(found->right, own->right);
    if (places.insert({found - windows.begin(), own->top, own->left}).second) ++found->places;
  });
  return windows;
}

// Rows are the dimension along which most places are shared by neighbouring outputs.
void ChooseRows(const Problem& problem, WindowPlan& plan) {
  const auto shared = [&](const std::vector<Window>& windows) {
    int64_t reach = 0;
    for (const Window& window : windows) reach += window.row_at ? window.bottom - window.top : 0;
    return reach;
  };
  int64_t best = -1;
  for (VariableId v = plan.col; v-- > 0;) {
    const int64_t reach = shared(WindowsFor(problem, plan, v));
    if (reach <= best) continue;
    best = reach;
    plan.row = v;
  }
  plan.windows = WindowsFor(problem, plan, plan.row);
}

int64_t RegistersOf(const WindowPlan& plan, int rows, int width) {
  int64_t registers = 0;
  for (const Window& window : plan.windows)
    registers += window.RowCount(rows) * window.ColumnCount(width) * (core::SizeOf(window.dtype) == 8 ? 2 : 1);
  return registers + static_cast<int64_t>(plan.outputs.size()) * width;
}

void ChooseWidth(const Problem& problem, WindowPlan& plan, int vector_bytes) {
  size_t largest = 1;
  for (Window& window : plan.windows) {
    const core::TensorArgument& tensor = *problem.form.FindTensor(window.tensor);
    const auto more = (Polynomial::Of(tensor.shape.back()) - Polynomial::Of(plan.extents.back())).constant();
    window.packs = window.col_stride == 1 && window.left <= 0 && window.right >= 0 && more && *more >= 0;
    if (window.col_stride > 1) return;
    largest = std::max(largest, core::SizeOf(window.dtype));
  }
  for (const WindowOutput& output : plan.outputs) largest = std::max(largest, core::SizeOf(output.inside.stage.dtype));
  plan.width = std::min(kMostWidth, std::max(1, vector_bytes / static_cast<int>(largest)));
  while (plan.width > 1 && RegistersOf(plan, 1, plan.width) > kMostRegisters) plan.width /= 2;
  if (plan.width == 1) return;
  Packing& packing = plan.packing;
  packing.width = plan.width;
  const auto divides = [&](const core::Size& extent) {
    return fmt::format("{} % {} == 0", Parenthesized(SizeText(extent)), plan.width);
  };
  packing.conditions = {divides(plan.extents.back())};
  for (const WindowOutput& output : plan.outputs)
    packing.Add({output.inside.stage.name, output.inside.stage.dtype, true, FlatOffset{}}, {});
  for (const Window& window : plan.windows)
    if (window.packs)
      packing.Add({window.tensor, window.dtype, false, FlatOffset{}},
                  {divides(problem.form.FindTensor(window.tensor)->shape.back())});
}

void ChooseRowCount(const Problem& problem, WindowPlan& plan, int asked) {
  if (!plan.row) return;
  const auto& heaviest = HeaviestCase(problem);
  const int64_t elements = ValueIn(Product(plan.extents), heaviest).value_or(1);
  const int64_t threads = kThreadsOfMultiprocessor * problem.input.chip.multiprocessors;
  plan.rows = asked > 0 ? asked : kMostRows;
  while (plan.rows > 1 && RegistersOf(plan, plan.rows, plan.width) > kMostRegisters) plan.rows /= 2;
  while (asked == 0 && plan.rows > 1 && elements / plan.rows / plan.width < threads) plan.rows /= 2;
}

// Outputs may replace an input only where each element is made of itself.
std::optional<core::RewriteRefusal> CheckInPlace(const WindowPlan& plan) {
  std::set<std::string> written;
  for (const WindowOutput& output : plan.outputs) written.insert(output.inside.stage.name);
  for (const WindowOutput& output : plan.outputs) {
    std::vector<const BufferPart*> parts = {&output.inside};
    for (const BufferPart& border : output.borders) parts.push_back(&border);
    for (const BufferPart* part : parts)
      for (const core::Node& node : part->stage.nodes) {
        const auto* read = std::get_if<core::TensorRead>(&node);
        if (read == nullptr || !written.contains(read->tensor)) continue;
        for (VariableId d = 0; d < read->at.size(); ++d) {
          const auto* at = std::get_if<core::Affine>(&read->at[d]);
          if (at == nullptr || core::AsVariable(*at) != d)
            return Refuse(read->tensor + " is changed in place, and other elements are computed from it");
        }
      }
  }
  return std::nullopt;
}

}  // namespace

std::optional<WindowPlace> WindowPlan::PlaceOf(const core::TensorRead& read, Edge edge) const {
  const core::TensorArgument* tensor = form.FindTensor(read.tensor);
  const auto own = tensor && !read.stage ? WindowOf(*tensor, read, col, row, edge) : std::nullopt;
  if (!own) return std::nullopt;
  for (size_t w = 0; w < windows.size(); ++w) {
    const Window& window = windows[w];
    const bool inside =
        own->top >= window.top && own->top <= window.bottom && own->left >= window.left && own->left <= window.right;
    if (SameWindow(window, *own) && inside) return WindowPlace{w, own->top - window.top, own->left - window.left};
  }
  return std::nullopt;
}

WindowPlanOutcome PlanWindows(const Problem& problem, const Group& group, const WindowChoice& choice) {
  WindowPlan plan;
  std::optional<Edge> edge;
  auto form = WrittenForm(problem, group, edge);
  if (const auto* refusal = std::get_if<core::RewriteRefusal>(&form)) return *refusal;
  plan.form = std::move(std::get<core::Computation>(form));
  std::map<std::string, std::vector<const core::Stage*>> outputs;
  for (const core::Stage& stage : plan.form.stages) outputs[stage.name].push_back(&stage);
  for (const auto& [name, parts] : outputs) {
    auto output = OutputOf(problem, plan.form, parts);
    if (const auto* refusal = std::get_if<core::RewriteRefusal>(&output)) return *refusal;
    plan.outputs.push_back(std::move(std::get<WindowOutput>(output)));
    if (edge) plan.outputs.back().edge = *edge;
  }
  plan.form.stages.clear();
  for (const WindowOutput& output : plan.outputs) AddParts(output, plan.form.stages);
  plan.extents = plan.outputs.front().inside.stage.extents;
  if (plan.extents.empty()) return Refuse("there is one result");
  for (const WindowOutput& output : plan.outputs)
    if (!std::equal(output.inside.stage.extents.begin(), output.inside.stage.extents.end(), plan.extents.begin(),
                    plan.extents.end(), Equal))
      return Refuse("the outputs have different shapes");
  if (const auto refusal = CheckInPlace(plan)) return *refusal;
  plan.col = static_cast<VariableId>(plan.extents.size() - 1);
  if (ValueIn(plan.extents.back(), HeaviestCase(problem)).value_or(kNarrowest) < kNarrowest)
    return Refuse("rows are too short for neighbouring threads");
  ChooseRows(problem, plan);
  const bool neighbours =
      std::any_of(plan.windows.begin(), plan.windows.end(), [](const Window& window) { return window.places > 1; });
  if (!neighbours) return Refuse("no input is read at neighbouring places");
  if (plan.windows.size() > kMostWindows || RegistersOf(plan, 1, 1) > kMostRegisters)
    return Refuse("what an output is made of is too much for a thread's registers");
  ChooseWidth(problem, plan, choice.vector_bytes);
  ChooseRowCount(problem, plan, choice.rows);
  return plan;
}

}  // namespace warpwright::schedule
