// One thread per row becomes one block, or one warp, per row.
//
// A thread that walks along a row makes its warp touch 32 rows simultaneously, one element of each: every element of a
// warp's access is in a different cache line. Here the threads of a block (or warp) share a row instead: neighbouring
// threads read neighbouring columns, each keeps a partial result, and the partial results are combined by shuffles. The
// kernel's text is edited, not generated from scratch.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "rewrite/row_parallel_helpers.h"
#include "rewrite/row_parallel_plan.h"
#include "rewrite/transforms.h"

namespace warpwright::rewrite {
namespace {

struct Mode {
  RowGroup group = RowGroup::kBlock;
  int threads = 256;  // of a block
  int rows = 1;       // per block
};

class RowParallelWriter {
 public:
  RowParallelWriter(const source::Ast& ast, const KernelSite& site, const RowPlan& plan, const Mode& mode)
      : ast_(ast), site_(site), kernel_(site.function()), plan_(plan), mode_(mode) {
    const bool block = mode.group == RowGroup::kBlock;
    const std::string lane = LocalName("lane");
    lane_ = block ? "threadIdx.x" : lane;
    width_ = block ? "blockDim.x" : "32";
    barrier_ = block ? "__syncthreads();" : "__syncwarp();";
  }

  core::RewriteOutcome Run() {
    const std::string name = NewKernelName(ast_, site_, "row_parallel");
    AdaptKernelHead(kernel_, name, edits_);
    EditRow();
    for (const ColumnLoop& loop : plan_.loops) EditLoop(loop);
    EditSingleStatements();
    for (const source::Node* statement : plan_.barriers)
      around_[statement].barrier = barrier_ + "\n" + IndentAt(kernel_.text, statement->begin);
    for (const source::Node* block : plan_.barriers_at_end) {
      const uint32_t brace = block->end - 1;
      const std::string indent = IndentAt(kernel_.text, brace);
      const bool own_line = LineBegin(kernel_.text, brace) + indent.size() == brace;
      const std::string inner = block->size() > 0 ? IndentAt(kernel_.text, (*block)[0].begin) : indent + site_.unit;
      const std::string line = inner + barrier_ + "  // the next iteration may use what this one wrote\n";
      edits_.Insert(own_line ? LineBegin(kernel_.text, brace) : brace, own_line ? line : "\n" + line + indent);
    }
    for (const auto& [statement, around] : around_) InsertAround(*statement, around);

    auto kernel_text = edits_.ApplyWithin(kernel_.text, kernel_.begin, kernel_.end);
    if (!kernel_text) return Refuse("the changes overlap in the text: " + kernel_text.error().message);
    Edits file;
    for (const LaunchSite& launch : site_.launches)
      if (auto refusal = EditLaunch(launch, file)) return *refusal;
    std::string helpers;
    for (const ReductionHelper& helper : helpers_)
      helpers += Indented(helper.text, IndentAt(kernel_.text, kernel_.begin), site_.unit) + "\n";
    InsertRewrittenKernel(site_, name, *kernel_text, helpers, file);
    return FinishRemapped(ast_, site_, name, file, Notes(name));
  }

 private:
  // A name that the kernel does not use.
  std::string LocalName(const std::string& base) const {
    std::set<std::string, std::less<>> used;
    for (const source::Token& token : source::Lex(kernel_.text.substr(kernel_.begin, kernel_.end - kernel_.begin)))
      used.insert(std::string(token.text));
    std::string name = base;
    for (int i = 2; used.contains(name); ++i) name = fmt::format("{}{}", base, i);
    return name;
  }

  void EditRow() {
    const bool block = mode_.group == RowGroup::kBlock;
    const source::Node& declaration = *plan_.row->parent;
    std::string index = block ? "blockIdx.x" : "blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32";
    const std::string_view declared = kernel_.text.substr(plan_.row->begin, (*plan_.row)[0].begin - plan_.row->begin);
    if (declared.find("auto ") != std::string_view::npos && plan_.row->type.find("unsigned int") == std::string::npos)
      index = fmt::format("static_cast<{}>({})", plan_.row->type,
                          index);  // the type that auto deduced from the old expression
    edits_.Replace((*plan_.row)[0], index);
    // The position of the comment and of the lane: before the row's declaration, or before the loop that contains it.
    const uint32_t at = plan_.row_loop != nullptr ? plan_.row_loop->begin : declaration.begin;
    const std::string indent = IndentAt(kernel_.text, at);
    std::string before = block ? "// One block per row: neighbouring threads read neighbouring columns."
                               : "// One warp per row: neighbouring lanes read neighbouring columns.";
    before += "\n" + indent;
    if (!block) before += fmt::format("const int {} = threadIdx.x % 32;\n{}", lane_, indent);
    edits_.Insert(at, before);
    if (plan_.row_loop != nullptr) {
      const auto counted = site_.analysis().Counted(*plan_.row_loop);
      edits_.Replace(*counted->step, block ? "gridDim.x" : "gridDim.x * (blockDim.x / 32)");
    }
    for (const source::Node* unused : plan_.unused) {
      uint32_t begin = LineBegin(kernel_.text, unused->begin), end = LineEnd(kernel_.text, unused->end);
      const auto blank = [&](uint32_t from, uint32_t to) {
        return kernel_.text.substr(from, to - from).find_first_not_of(" \t\r\n") == std::string_view::npos;
      };
      if (blank(begin, unused->begin) && blank(unused->end, end)) edits_.Replace(begin, end, "");
      else edits_.Replace(*unused, "");
    }
  }

  void EditLoop(const ColumnLoop& column) {
    const source::CountedLoop& loop = column.loop;
    const source::Node& node = *loop.loop;
    const auto text = [&](const source::Node& part) { return std::string(kernel_.Text(part)); };
    const auto grouped = [&](const source::Node& part) {
      const bool simple = part.Is(source::NodeKind::kName) || part.Is(source::NodeKind::kInteger) ||
                          part.Is(source::NodeKind::kMember) || part.Is(source::NodeKind::kCall);
      return simple ? text(part) : "(" + text(part) + ")";
    };
    const std::string step =
        loop.step == nullptr || site_.analysis().Fold(*loop.step) == 1 ? "" : " * " + grouped(*loop.step);
    const std::string offset = lane_ + step;
    const auto start = site_.analysis().Fold(*loop.start);
    const bool negative = !start || *start < 0;  // unsigned + negative would wrap in a wider type
    const std::string added = mode_.group == RowGroup::kBlock && negative ? "(int)" + offset : offset;
    edits_.Replace(*loop.start, start == 0 ? offset : grouped(*loop.start) + " + " + added);
    edits_.Replace(node[source::kLoopIncrement], fmt::format("{} += {}{}", loop.name, width_, step));

    for (const Reduction& reduction : column.reductions) EditReduction(reduction);
  }

  void EditReduction(Reduction reduction) {
    const source::Node& loop = *reduction.combined_behind;
    if (!combined_.emplace(&loop, reduction.symbol).second) return;  // with that of another column loop in it
    reduction.dependent = IsDependent(reduction);
    const std::string indent = IndentAt(kernel_.text, loop.begin), helper = HelperFor(reduction);
    const std::string neutral = NeutralValue(reduction);
    if (!neutral.empty() && !StartsNeutral(reduction, loop)) {
      around_[&loop].before += fmt::format("if ({} != 0) {} = {};  // only one thread keeps what was there before\n{}",
                                           lane_, reduction.name, neutral, indent);
    }
    around_[&loop].behind += reduction.index_name.empty()
                                 ? fmt::format("\n{}{} = {}({});", indent, reduction.name, helper, reduction.name)
                                 : fmt::format("\n{}{}({}, {});", indent, helper, reduction.name, reduction.index_name);
  }

  // Text before and after a statement; in braces, if the statement is not in a block.
  struct Around {
    std::string barrier, before, condition, behind;
  };
  void InsertAround(const source::Node& statement, const Around& around) {
    const bool braces = statement.parent != nullptr && !statement.parent->Is(source::NodeKind::kBlock);
    const uint32_t begin = StatementBegin(kernel_, statement);
    const std::string open = !braces ? "" : begin == statement.begin ? "{ " : "{\n" + IndentAt(kernel_.text, begin);
    edits_.Insert(begin, open + around.barrier + around.before + around.condition);
    edits_.Insert(StatementEnd(kernel_, statement), around.behind + (braces ? " }" : ""));
  }

  bool IsDependent(const Reduction& reduction) const {
    const std::vector<CXCursor> parameters = source::ast::TemplateParameters(kernel_.cursor);
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const CXCursor& parameter) { return source::ast::Spelling(parameter) == reduction.type; });
  }

  std::string HelperFor(const Reduction& reduction) {
    const std::string base = HelperBaseName(reduction, mode_.group);
    const ReductionHelper plain = MakeReductionHelper(reduction, mode_.group, base);
    // The file may already contain it from an earlier rewrite of another kernel.
    const std::string indented = Indented(plain.text, IndentAt(kernel_.text, kernel_.begin), site_.unit);
    if (kernel_.text.substr(0, kernel_.begin).find(indented) != std::string_view::npos) return base;
    if (!names_.contains(base)) names_[base] = FreshName(ast_, base);
    const ReductionHelper helper = MakeReductionHelper(reduction, mode_.group, names_[base]);
    const bool known = std::any_of(helpers_.begin(), helpers_.end(),
                                   [&](const ReductionHelper& other) { return other.text == helper.text; });
    if (!known) helpers_.push_back(helper);
    return helper.name;
  }

  // Does the variable hold the neutral value when the loop begins? The last write before it, in the enclosing blocks,
  // shows this.
  bool StartsNeutral(const Reduction& reduction, const source::Node& loop) const {
    const double neutral = reduction.kind == ReductionKind::kProduct ? 1 : 0;
    const source::Node* inner = &loop;
    for (const source::Node* outer = loop.parent; outer != nullptr; inner = outer, outer = outer->parent) {
      if (outer->Is(source::NodeKind::kFor) || outer->Is(source::NodeKind::kWhile) ||
          outer->Is(source::NodeKind::kDo)) {
        if (outer != plan_.row_loop) return false;
      }
      if (!outer->Is(source::NodeKind::kBlock)) continue;
      for (size_t i = outer->size(); i-- > 0;) {
        const source::Node& statement = (*outer)[i];
        if (statement.begin >= inner->begin) continue;
        if (const auto value = LastValue(statement, reduction.symbol))
          return *value != nullptr && IsLiteral(kernel_, **value, neutral);
      }
    }
    return false;
  }

  // What the statement leaves in the variable: an expression, null if that is unclear; nothing if it does not write it.
  std::optional<const source::Node*> LastValue(const source::Node& statement, const std::string& symbol) const {
    if (statement.Is(source::NodeKind::kDeclaration)) {
      for (const auto& variable : statement.children)
        if (variable->Is(source::NodeKind::kVariable) && variable->symbol == symbol)
          return variable->size() == 1 ? &(*variable)[0] : nullptr;
      return std::nullopt;
    }
    const source::VariableInfo* info = site_.analysis().Find(symbol);
    const bool writes = std::any_of(info->writes.begin(), info->writes.end(),
                                    [&](const source::Node* write) { return source::Contains(statement, *write); });
    if (!writes) return std::nullopt;
    const bool plain = statement.Is(source::NodeKind::kAssign, "=") && statement[0].Is(source::NodeKind::kName) &&
                       statement[0].symbol == symbol;
    return plain ? &statement[1] : nullptr;
  }

  // Neighbouring statements share one condition.
  void EditSingleStatements() {
    std::vector<const source::Node*> group;
    const auto flush = [&] {
      if (group.empty()) return;
      const source::Node& first = *group.front();
      const std::string condition = fmt::format("if ({} == 0) ", lane_);
      const std::string indent = IndentAt(kernel_.text, first.begin);
      if (group.size() == 1) {
        around_[&first].condition = condition;
      } else {
        around_[&first].condition = condition + "{\n" + indent + site_.unit;
        const uint32_t end = StatementEnd(kernel_, *group.back());
        for (uint32_t at = first.begin; at + 1 < end; ++at)
          if (kernel_.text[at] == '\n' && kernel_.text[at + 1] != '\n') edits_.Insert(at + 1, site_.unit);
        around_[group.back()].behind = "\n" + indent + "}";
      }
      group.clear();
    };
    for (const source::Node* statement : plan_.single) {
      const bool needs_barrier =
          std::find(plan_.barriers.begin(), plan_.barriers.end(), statement) != plan_.barriers.end();
      if (!group.empty() && (needs_barrier || !FollowsDirectly(*group.back(), *statement))) flush();
      group.push_back(statement);
    }
    flush();
  }

  static bool FollowsDirectly(const source::Node& a, const source::Node& b) {
    if (a.parent != b.parent || !a.parent->Is(source::NodeKind::kBlock)) return false;
    for (size_t i = 0; i + 1 < a.parent->size(); ++i)
      if (&(*a.parent)[i] == &a) return &(*a.parent)[i + 1] == &b;
    return false;
  }

  std::optional<core::RewriteRefusal> EditLaunch(const LaunchSite& launch, Edits& file) const {
    const auto at = [](const source::Node& node, std::string reason) {
      return RefuseAt(node.line, std::move(reason)).value();
    };
    const auto rows = HostText(site_, launch, *plan_.row_bound);
    if (!rows) {
      return at(*plan_.row_bound,
                fmt::format("the number of rows, \"{}\", cannot be computed where the kernel is launched",
                            kernel_.Text(*plan_.row_bound)));
    }
    LaunchShape shape;
    shape.grid = {mode_.rows == 1 ? Unwrapped(*rows) : CeilDivText(launch, *rows, mode_.rows)};
    for (const size_t axis : {1, 2}) {
      const auto old = FindAxis(launch, LaunchAxisGroup::kGrid, axis);
      if (!old && plan_.uses_grid_yz && !FindAxis(launch, LaunchAxisGroup::kGrid, 0))
        return at(*launch.launch, "the parts of the grid cannot be distinguished");
      if (!plan_.uses_grid_yz && ConstantAxis(launch, LaunchAxisGroup::kGrid, axis) != 1)
        return at(*launch.launch, "the grid has several dimensions, of which the kernel uses one");
      shape.grid.push_back(old ? std::string(launch.host->syntax.Text(*old->expression)) : "1");
    }
    if (!IsOneDimensional(launch, LaunchAxisGroup::kBlock))
      return at(*launch.launch, "the block has several dimensions");
    shape.block = {std::to_string(mode_.threads)};
    while (shape.grid.size() > 1 && shape.grid.back() == "1") shape.grid.pop_back();
    SetLaunch(launch, shape, file);
    return std::nullopt;
  }

  std::vector<std::string> Notes(const std::string& name) const {
    std::vector<std::string> notes;
    notes.push_back(mode_.group == RowGroup::kBlock
                        ? fmt::format("{} gives each row to a block of {} threads", name, mode_.threads)
                        : fmt::format("{} gives each row to a warp, {} rows to a block", name, mode_.rows));
    for (const ColumnLoop& loop : plan_.loops) {
      std::string note =
          fmt::format("the loop over {} (line {}) is strided over the threads", loop.loop.name, loop.loop.loop->line);
      for (const Reduction& reduction : loop.reductions)
        note += fmt::format("; {} is combined by {}", reduction.name, HelperBaseName(reduction, mode_.group));
      notes.push_back(std::move(note));
    }
    return notes;
  }

  const source::Ast& ast_;
  const KernelSite& site_;
  const source::SyntaxFunction& kernel_;
  const RowPlan& plan_;
  const Mode mode_;
  std::string lane_, width_, barrier_;
  Edits edits_;
  std::vector<ReductionHelper> helpers_;
  std::map<std::string, std::string> names_;  // of helpers, by base name
  std::map<const source::Node*, Around> around_;
  std::set<std::pair<const source::Node*, std::string>> combined_;  // behind which loop, which variable
};

core::RewriteOutcome ApplyRowParallel(const source::Ast& ast, const core::RewriteRequest& request) {
  auto found = FindSite(ast, request);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  const KernelSite& site = *std::get<std::unique_ptr<KernelSite>>(found);
  if (site.entry_is_kernel) {
    return Refuse(fmt::format(
        "{} is itself the kernel: its launch is given in the manifest, and one thread per row needs another launch",
        request.entry));
  }
  Mode mode;
  if (TextParameter(request, "mode") == "warp") {
    mode.group = RowGroup::kWarp;
    mode.rows = IntegerParameter(request, "rows_per_block");
    mode.threads = 32 * mode.rows;
  } else {
    mode.threads = IntegerParameter(request, "threads");
  }
  const auto plan = PlanRows(ast, site, mode.group == RowGroup::kBlock);
  if (!plan) return plan.error();
  return RowParallelWriter(ast, site, *plan, mode).Run();
}

}  // namespace

Transform RowParallelTransform() {
  return {.id = "row_parallel",
          .parameters = {{"mode", {"block", "warp"}},
                         {"threads", {"256", "128", "512", "1024"}},
                         {"rows_per_block", {"4", "8"}}},
          .apply = ApplyRowParallel};
}

}  // namespace warpwright::rewrite
