#include "schedule/row_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/affine.h"

namespace warpwright::schedule {
namespace {

using core::VariableId;
using NewVariables = std::map<VariableId, VariableId>;

void Rename(core::Affine& position, const NewVariables& renaming) {
  for (auto& term : position.terms) term.variable = renaming.at(term.variable);
  std::stable_sort(position.terms.begin(), position.terms.end(),
                   [](const auto& a, const auto& b) { return a.variable < b.variable; });
}

core::Stage Renamed(core::Stage stage, const NewVariables& renaming) {
  for (auto& node : stage.nodes) {
    core::ForEachPosition(node, [&](core::Affine& position) { Rename(position, renaming); });
    if (auto* reduce = std::get_if<core::Reduce>(&node))
      for (auto& variable : reduce->variables) variable.id = renaming.at(variable.id);
  }
  for (auto& guard : stage.domain) Rename(guard.value, renaming);
  for (auto& at : stage.at) Rename(at, renaming);
  return stage;
}

// For each dimension of the rows the stage's variable, from where it reads statistics; none: they disagree.
using RowVariables = std::vector<std::optional<VariableId>>;
struct Statistic {
  std::vector<size_t> axes;  // by its index: the dimension of the rows
  size_t depth = 0;          // how many passes come before it
};

class Planner {
 public:
  Planner(const Problem& problem, const Group& group) : problem_(problem), group_(group) {}

  RowPlanOutcome Plan() {
    std::vector<const core::Stage*> beside;  // outputs that read no statistic
    for (size_t i : group_.stages) {
      const core::Stage& stage = problem_.stage(i);
      const bool has_row = !stage.output || plan_.rows.empty() || ReadsStatistics(stage);
      if (!has_row) beside.push_back(&stage);
      else if (!(stage.output ? AddOutput(stage) : AddStatistic(stage))) return *refusal_;
    }
    for (const core::Stage* stage : beside)
      if (!AddBeside(*stage)) return *refusal_;
    if (statistics_.empty()) return Refuse("no row is reduced");
    if (!CheckInPlace()) return *refusal_;
    MakePasses();
    return std::move(plan_);
  }

 private:
  bool Fail(std::string reason) {
    refusal_ = Refuse(std::move(reason));
    return false;
  }

  // The row variables of a stage, by what it reads of statistics.
  bool FindRows(const core::Stage& stage, RowVariables& rows, size_t& depth) {
    rows.assign(plan_.rows.size(), std::nullopt);
    for (const core::Node& node : stage.nodes) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      const auto found = read ? statistics_.find(read->tensor) : statistics_.end();
      if (found == statistics_.end()) continue;
      depth = std::max(depth, found->second.depth + 1);
      for (size_t d = 0; d < read->at.size(); ++d) {
        const auto* position = std::get_if<core::Affine>(&read->at[d]);
        const auto variable = position ? core::AsVariable(*position) : std::nullopt;
        std::optional<VariableId>& row = rows[found->second.axes[d]];
        if (!variable || (row && row != variable) || *variable >= stage.extents.size())
          return Fail("a statistic is read at another row than its own");
        row = variable;
      }
    }
    return true;
  }

  bool AddStatistic(const core::Stage& stage) {
    const auto* reduce = std::get_if<core::Reduce>(&stage.nodes.back());
    const auto reductions = std::count_if(stage.nodes.begin(), stage.nodes.end(), [](const core::Node& node) {
      return std::holds_alternative<core::Reduce>(node);
    });
    if (reduce == nullptr || reductions != 1) return Fail("an intermediate is not one reduction");
    if (!stage.domain.empty()) return Fail("rows are only a part of a box");
    if (statistics_.empty()) plan_.rows = stage.extents;
    Statistic statistic;
    RowVariables rows;
    if (stage.extents.size() != plan_.rows.size()) return Fail("statistics are of different rows");
    if (!FindRows(stage, rows, statistic.depth)) return false;
    NewVariables renaming;
    for (VariableId v = 0; v < stage.extents.size(); ++v) {
      const auto known = std::find(rows.begin(), rows.end(), std::optional<VariableId>(v));
      const size_t axis = known == rows.end() ? v : static_cast<size_t>(known - rows.begin());
      if (!Equal(stage.extents[v], plan_.rows[axis])) return Fail("statistics are of different rows");
      statistic.axes.push_back(axis);
      renaming[v] = static_cast<VariableId>(axis);
    }
    RowMember member;
    for (const auto& variable : reduce->variables) {
      renaming[variable.id] = static_cast<VariableId>(plan_.rows.size() + member.columns.size());
      member.columns.push_back(variable.extent);
    }
    member.stage = Renamed(stage, renaming);
    member.reduce = std::get<core::Reduce>(member.stage.nodes.back());
    depths_.push_back(statistic.depth);
    plan_.members.push_back(std::move(member));
    statistics_[stage.name] = std::move(statistic);
    return true;
  }

  bool ReadsStatistics(const core::Stage& stage) const {
    return std::any_of(stage.nodes.begin(), stage.nodes.end(), [&](const core::Node& node) {
      const auto* read = std::get_if<core::TensorRead>(&node);
      return read != nullptr && read->stage && statistics_.contains(read->tensor);
    });
  }

  // Of the same shape as an output that has rows: what is made of the same elements is written with it.
  bool AddBeside(const core::Stage& stage) {
    if (core::HasReduction(stage)) return Fail("an output reduces by itself");
    for (const auto& [like, renaming] : outputs_) {
      const bool same = like->at == stage.at && std::equal(like->extents.begin(), like->extents.end(),
                                                           stage.extents.begin(), stage.extents.end(), Equal);
      if (same) return AddMember(stage, renaming, 0);
    }
    return Fail("an output has no row of its own");
  }

  bool AddOutput(const core::Stage& stage) {
    if (core::HasReduction(stage)) return Fail("an output reduces by itself");
    RowVariables rows;
    size_t depth = 0;
    if (!FindRows(stage, rows, depth)) return false;
    NewVariables renaming;
    for (size_t d = 0; d < rows.size(); ++d) {
      if (!rows[d]) return Fail("an output has no row of its own");
      if (!Equal(stage.extents[*rows[d]], plan_.rows[d])) return Fail("an output has other rows than the statistics");
      renaming[*rows[d]] = static_cast<VariableId>(d);
    }
    return AddMember(stage, renaming, depth);
  }

  // `renaming`: of the rows' variables.
  bool AddMember(const core::Stage& stage, NewVariables renaming, size_t depth) {
    outputs_.emplace_back(&stage, renaming);
    RowMember member;
    for (VariableId v = 0; v < stage.extents.size(); ++v) {
      if (renaming.contains(v)) continue;
      if (core::IsNumber(stage.extents[v], 1) && plan_.rows.empty() && stage.extents.size() == 1) {
        renaming[v] = 0;  // the only element of a buffer with one
        continue;
      }
      renaming[v] = static_cast<VariableId>(plan_.rows.size() + member.columns.size());
      member.columns.push_back(stage.extents[v]);
    }
    core::Stage stored = stage;
    stored.at = StoredAt(stage);
    if (plan_.rows.empty() && member.columns.empty()) {  // one element, which may stand anywhere
      const std::map<VariableId, core::Affine> only = {{0, core::AffineOf(core::Size::Constant(0))}};
      for (auto& position : stored.at) {
        const auto there = core::Substituted(position, only);
        if (!there) return Fail("an output has no row of its own");
        position = *there;
      }
    }
    member.stage = Renamed(std::move(stored), renaming);
    depths_.push_back(depth);
    plan_.members.push_back(std::move(member));
    return true;
  }

  // A row may be replaced by what is made of it, each element by what is made of that element, of which all outputs are
  // computed before one is stored.
  bool CheckInPlace() {
    const auto same_rows = [&](const Access& a, const Access& b) {
      for (VariableId v = 0; v < plan_.rows.size(); ++v) {
        const auto x = a.offset->coefficients.find(v), y = b.offset->coefficients.find(v);
        const bool has_x = x != a.offset->coefficients.end(), has_y = y != b.offset->coefficients.end();
        if (has_x != has_y || (has_x && !Equal(x->second, y->second))) return false;
      }
      return true;
    };
    for (const RowMember& writer : plan_.members) {
      if (writer.statistic()) continue;
      const Access store = AccessesOf(problem_, writer.stage).back();
      for (const RowMember& reader : plan_.members) {
        for (const Access& load : AccessesOf(problem_, reader.stage)) {
          if (load.store) continue;
          const bool together = !reader.statistic() && std::equal(reader.columns.begin(), reader.columns.end(),
                                                                  writer.columns.begin(), writer.columns.end(), Equal);
          const bool own = together && SamePlace(load, store);
          const bool before =
              reader.statistic() && !writer.columns.empty() && load.offset && store.offset && same_rows(load, store);
          if (own || before) continue;
          if (load.tensor == store.tensor)
            return Fail(store.tensor + " is changed in place, and other elements need it");
          plan_.read_elsewhere.insert(load.tensor);
        }
      }
    }
    return true;
  }

  void MakePasses() {
    std::vector<Access> all;
    core::VariableSet apart = 0;
    std::vector<std::vector<Access>> accesses;
    for (const RowMember& member : plan_.members) {
      accesses.push_back(AccessesOf(problem_, member.stage));
      all.insert(all.end(), accesses.back().begin(), accesses.back().end());
      apart |= UsedApart(problem_, member.stage, /*intermediates=*/false);
    }
    plan_.row_dimensions = DimensionsOf(0, plan_.rows, all, apart);
    std::vector<size_t> order;
    for (size_t m = 0; m < plan_.members.size(); ++m) {
      if (plan_.members[m].columns.empty() && !plan_.members[m].statistic()) plan_.values.push_back(m);
      else order.push_back(m);
    }
    const auto rank = [&](size_t m) { return plan_.members[m].statistic() ? depths_[m] : SIZE_MAX; };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
    for (size_t m : order) {
      const auto fits = [&](const RowPass& pass) {
        const RowMember &first = plan_.members[pass.members[0]], &own = plan_.members[m];
        return rank(pass.members[0]) == rank(m) &&
               std::equal(first.columns.begin(), first.columns.end(), own.columns.begin(), own.columns.end(), Equal);
      };
      auto pass = std::find_if(plan_.passes.begin(), plan_.passes.end(), fits);
      if (pass == plan_.passes.end()) pass = plan_.passes.insert(plan_.passes.end(), RowPass{});
      pass->members.push_back(m);
      pass->accesses.insert(pass->accesses.end(), accesses[m].begin(), accesses[m].end());
    }
    for (RowPass& pass : plan_.passes)
      pass.columns = DimensionsOf(static_cast<VariableId>(plan_.rows.size()), plan_.members[pass.members[0]].columns,
                                  pass.accesses, apart);
  }

  const Problem& problem_;
  const Group& group_;
  RowPlan plan_;
  std::map<std::string, Statistic> statistics_;
  std::vector<std::pair<const core::Stage*, NewVariables>> outputs_;  // and which of their variables are rows
  std::vector<size_t> depths_;                                        // by member
  std::optional<core::RewriteRefusal> refusal_;
};

}  // namespace

core::VariableSet RowPlan::ColumnVariables() const {
  core::VariableSet columns = 0;
  for (const RowMember& member : members)
    for (size_t c = 0; c < member.columns.size(); ++c) columns |= core::SetOf(static_cast<VariableId>(rows.size() + c));
  return columns;
}

RowPlanOutcome PlanRows(const Problem& problem, const Group& group) { return Planner(problem, group).Plan(); }

RowLayout LayoutOf(const Problem& problem, const RowPlan& plan) {
  double along = 0, across = 0, all = 0;  // elements
  const auto uses = [](const Access& access, const Dimension& dimension) {
    return access.offset && access.offset->coefficients.contains(dimension.variables.back());
  };
  for (const RowPass& pass : plan.passes) {
    for (const Access& access : pass.accesses) {
      double elements = 1;
      const auto multiply = [&](const std::vector<Dimension>& dimensions) {
        bool any = false;
        for (const Dimension& dimension : dimensions) {
          if (!uses(access, dimension)) continue;
          any = true;
          elements *= static_cast<double>(ValueIn(dimension.extent, HeaviestCase(problem)).value_or(1));
        }
        return any;
      };
      const bool of_columns = multiply(pass.columns), of_rows = multiply(plan.row_dimensions);
      if (!of_columns || !of_rows) continue;
      all += elements;
      if (IsContiguous(access, pass.columns.back())) along += elements;
      if (IsContiguous(access, plan.row_dimensions.back())) across += elements;
    }
  }
  if (all == 0 || 2 * along >= all) return RowLayout::kAlong;
  return 2 * across >= all ? RowLayout::kAcross : RowLayout::kNeither;
}

}  // namespace warpwright::schedule
