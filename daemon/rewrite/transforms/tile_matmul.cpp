// One thread per result becomes one block per tile of results.
//
// The naive product reads 2 K elements from global memory for each result. Here a block loads a tile of both operands
// into shared memory, once for all of its results, and each thread keeps several sums in registers, so that an element
// read from shared memory is used several times too. The sums are added in the same order as in the source. Elements
// beyond the edges are zeros, which add nothing. The tiles are stored with k first: a thread reads its values as
// neighbouring elements, four at a time if the compiler can; the padding spreads the stores over the banks.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "rewrite/tile_matmul_plan.h"
#include "rewrite/transforms.h"

namespace warpwright::rewrite {
namespace {

struct TileShape {
  int m = 64, n = 64, k = 16;
};
constexpr int kThreadsPerSide = 16;  // a block is 16 x 16 threads, for any tile
constexpr int kPadding = 4;          // elements; keeps rows aligned for vector accesses

TileShape ParseShape(const std::string& text) {
  TileShape shape;
  const char* at = text.data();
  const char* end = at + text.size();
  for (int* value : {&shape.m, &shape.n, &shape.k}) {
    at = std::from_chars(at, end, *value).ptr;
    if (at < end) ++at;  // 'x'
  }
  return shape;
}

class TileWriter {
 public:
  TileWriter(const source::Ast& ast, const KernelSite& site, const TilePlan& plan, const TileShape& shape)
      : ast_(ast), site_(site), kernel_(site.function()), plan_(plan), shape_(shape) {
    for (const source::Token& token : source::Lex(kernel_.text.substr(kernel_.begin, kernel_.end - kernel_.begin)))
      used_.insert(std::string(token.text));
    for (std::string* name :
         {&tile_m_, &tile_n_, &tile_k_, &thread_m_, &thread_n_, &threads_, &left_, &right_, &row_begin_, &col_begin_,
          &k_begin_, &thread_row_, &thread_col_, &sums_, &first_, &item_, &m_, &n_, &value_})
      *name = Fresh(*name);
  }

  core::RewriteOutcome Run() {
    const std::string name = NewKernelName(ast_, site_, "tiled");
    Edits head;
    AdaptKernelHead(kernel_, name, head);
    auto head_text = head.ApplyWithin(kernel_.text, kernel_.begin, kernel_.body->begin);
    if (!head_text) return Refuse(head_text.error().message);

    Line(0, "{");
    WriteConstants();
    WriteUniform();
    WritePlaces();
    if (plan_.start != nullptr) WriteStart();
    WriteLoop();
    WriteEpilogue();
    Line(0, "}");
    const std::string body = Reindented(code_, IndentAt(kernel_.text, kernel_.begin));

    Edits file;
    for (const LaunchSite& launch : site_.launches)
      if (auto refusal = EditLaunch(launch, file)) return *refusal;
    InsertRewrittenKernel(site_, name, *head_text + body, "", file);
    return FinishRemapped(
        ast_, site_, name, file,
        {fmt::format("{} computes tiles of {} x {} results per block, {} x {} per thread, in steps of {} along {}",
                     name, shape_.m, shape_.n, ThreadM(), ThreadN(), shape_.k, plan_.loop.name),
         fmt::format("\"{}\" and \"{}\" are loaded into shared memory once per block", Product(plan_.left),
                     Product(plan_.right))});
  }

 private:
  int ThreadM() const { return shape_.m / kThreadsPerSide; }
  int ThreadN() const { return shape_.n / kThreadsPerSide; }

  std::string Fresh(const std::string& base) {
    std::string name = base;
    for (int i = 2; used_.contains(name) || MentionsIdentifier(ast_, name); ++i) name = fmt::format("{}{}", base, i);
    used_.insert(name);
    return name;
  }

  void Line(int level, std::string_view text) {
    code_ += std::string(2 * static_cast<size_t>(level), ' ') + std::string(text) + "\n";
  }
  // Text copied from the source; its further lines keep their indentation relative to the first.
  void Copied(int level, std::string_view text) {
    const std::string indented =
        Indented(Dedented(text, site_.unit), std::string(2 * static_cast<size_t>(level), ' '), "  ");
    code_ += indented + "\n";
  }
  // Converts two-space levels to the file's indentation, including directives.
  std::string Reindented(std::string_view code, const std::string& indent) const {
    std::string result;
    bool first = true;
    while (!code.empty()) {
      const size_t end = code.find('\n');
      std::string_view line = code.substr(0, end);
      code.remove_prefix(end == std::string_view::npos ? code.size() : end + 1);
      const size_t space = std::min(line.find_first_not_of(' '), line.size());
      if (!first) result += "\n";
      if (space < line.size()) {
        if (!first) result += indent;
        for (size_t i = 0; i < space / 2; ++i) result += site_.unit;
        result += std::string(space % 2, ' ') + std::string(line.substr(space));
      }
      first = false;
    }
    return result;
  }

  std::string Text(const source::Node& node) const { return std::string(kernel_.Text(node)); }
  std::string Grouped(const source::Node& node) const {
    const bool simple = node.Is(source::NodeKind::kName) || node.Is(source::NodeKind::kInteger) ||
                        node.Is(source::NodeKind::kMember) || node.Is(source::NodeKind::kCall) ||
                        node.Is(source::NodeKind::kSubscript);
    const std::string text = Text(node);
    return simple || (text.starts_with("(") && text.ends_with(")") && !node.Is(source::NodeKind::kCast))
               ? text
               : "(" + text + ")";
  }
  std::string Bound(const ResultAxis& axis) const {
    if (axis.bound.size() == 1) return Text(*axis.bound[0]);
    std::string product;
    for (const source::Node* factor : axis.bound) product += (product.empty() ? "" : " * ") + Grouped(*factor);
    return product;
  }
  std::string Limit(const ResultAxis& axis) const {
    const bool simple = axis.bound.size() > 1 || axis.bound[0]->Is(source::NodeKind::kName) ||
                        axis.bound[0]->Is(source::NodeKind::kInteger) ||
                        axis.bound[0]->Is(source::NodeKind::kBinary, "*") ||
                        axis.bound[0]->Is(source::NodeKind::kMember);
    return fmt::format("{} < {}", axis.name(), simple ? Bound(axis) : "(" + Bound(axis) + ")");
  }
  std::string Product(const Operand& operand) const {
    if (operand.factors.size() == 1) return Text(*operand.factors[0]);
    std::string product;
    for (const source::Node* factor : operand.factors) product += (product.empty() ? "" : " * ") + Text(*factor);
    return product;
  }
  static std::string Plain(std::string type) {
    for (const char* qualifier : {"const ", "volatile "})
      if (type.starts_with(qualifier)) type = type.substr(std::string_view(qualifier).size());
    return type;
  }
  std::string SumType() const { return Plain(plan_.sum->type); }
  std::string OperandType(const Operand& operand) const { return operand.type.empty() ? SumType() : operand.type; }
  static std::string Zero(const std::string& type) {
    if (type == "float") return "0.0f";
    if (type == "double") return "0.0";
    static const std::set<std::string> kIntegers = {"int",           "unsigned int", "char", "signed char",
                                                    "unsigned char", "short",        "long"};
    return kIntegers.contains(type) ? "0" : type + "(0)";
  }

  std::string Declaration(const source::Node& variable) const {
    if (variable.parent->size() == 1) return Text(*variable.parent);
    if (variable.size() == 0) return fmt::format("{} {};", variable.type, variable.name);
    return fmt::format("{} {} = {};", variable.type, variable.name, Text(variable[0]));
  }

  void WriteConstants() {
    Line(1,
         "// A block computes a tile of results from tiles of both operands in shared memory, each thread a few of "
         "them in");
    Line(1, "// registers: an element that is loaded once serves many results.");
    Line(1, fmt::format("constexpr int {} = {}, {} = {}, {} = {};", tile_m_, shape_.m, tile_n_, shape_.n, tile_k_,
                        shape_.k));
    Line(1, fmt::format("constexpr int {} = {}, {} = {};", thread_m_, ThreadM(), thread_n_, ThreadN()));
    Line(1, fmt::format("constexpr int {} = ({} / {}) * ({} / {});", threads_, tile_m_, thread_m_, tile_n_, thread_n_));
    Line(1, fmt::format(
                "__shared__ __align__(16) {} {}[{}][{} + {}];  // padded: the stores below meet fewer bank conflicts",
                OperandType(plan_.left), left_, tile_k_, tile_m_, kPadding));
    Line(1, fmt::format("__shared__ __align__(16) {} {}[{}][{} + {}];", OperandType(plan_.right), right_, tile_k_,
                        tile_n_, kPadding));
  }

  void WriteUniform() {
    code_ += "\n";
    if (!plan_.batch.empty()) {
      Line(1, fmt::format("{} {} = blockIdx.z * ({} * {});  // first of the batch", Plain(plan_.flat->type),
                          plan_.flat->name, Grouped(*plan_.row.bound[0]), Grouped(*plan_.col.bound[0])));
    }
    std::vector<const source::Node*> users = plan_.epilogue;
    for (const auto* more : {&plan_.left.factors, &plan_.left.declarations, &plan_.right.factors,
                             &plan_.right.declarations, &plan_.row.bound, &plan_.col.bound, &plan_.varying})
      users.insert(users.end(), more->begin(), more->end());
    for (const source::BoundsGuard::Limit& limit : plan_.uniform_limits)
      users.insert(users.end(), {limit.index, limit.bound});
    users.insert(users.end(), {plan_.loop.start, plan_.loop.bound});
    if (plan_.start != nullptr) users.push_back(plan_.start);
    users.insert(users.end(), plan_.moves.begin(), plan_.moves.end());
    std::vector<const source::Node*> needed = NeededDeclarations(*site_.kernel, users, plan_.uniform);
    needed.insert(needed.end(), plan_.moves.begin(), plan_.moves.end());
    std::stable_sort(needed.begin(), needed.end(),
                     [](const source::Node* a, const source::Node* b) { return a->begin < b->begin; });
    for (const source::Node* node : needed)
      Copied(1, node->Is(source::NodeKind::kVariable) ? Declaration(*node) : Text(*node) + ";");
    for (const source::BoundsGuard::Limit& limit : plan_.uniform_limits)
      Line(1, fmt::format("if ({} >= {}) return;", Grouped(*limit.index), Grouped(*limit.bound)));
  }

  static const char* GridAxis(const ResultAxis& axis) { return axis.grid_axis == 0 ? "blockIdx.x" : "blockIdx.y"; }
  void WritePlaces() {
    std::string row = GridAxis(plan_.row), col = GridAxis(plan_.col);
    if (plan_.flat != nullptr) {  // as one index counted them, in one dimension, whose limit is far
      const std::string across = Fresh("tiles_across");
      Line(1, fmt::format("const int {0} = ({1} + {2} - 1) / {2};", across, Bound(plan_.col), tile_n_));
      row = "blockIdx.x / " + across, col = "blockIdx.x % " + across;
    }
    Line(1, fmt::format("const int {} = {} * {}, {} = {} * {};", row_begin_, row, tile_m_, col_begin_, col, tile_n_));
    Line(1, fmt::format("const int {} = threadIdx.x / ({} / {}) * {};", thread_row_, tile_n_, thread_n_, thread_m_));
    Line(1, fmt::format("const int {} = threadIdx.x % ({} / {}) * {};", thread_col_, tile_n_, thread_n_, thread_n_));
    code_ += "\n";
    Line(1, fmt::format("{} {}[{}][{}] = {{}};", SumType(), sums_, thread_m_, thread_n_));
  }

  void OpenResults() {
    for (const auto& [name, bound] : {std::pair(m_, thread_m_), std::pair(n_, thread_n_)}) {
      const int level = name == m_ ? 1 : 2;
      Line(level, "#pragma unroll");
      Line(level, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", name, bound));
    }
    Line(3, fmt::format("const {} {} = {} + {} + {};", Plain(plan_.row.variable->type), plan_.row.name(), row_begin_,
                        thread_row_, m_));
    Line(3, fmt::format("const {} {} = {} + {} + {};", Plain(plan_.col.variable->type), plan_.col.name(), col_begin_,
                        thread_col_, n_));
  }
  void CloseResults() {
    Line(2, "}");
    Line(1, "}");
  }
  std::string OutsideGuard() const {
    const auto outside = [&](const ResultAxis& axis) {
      const std::string limit = Limit(axis);
      return axis.name() + " >= " + limit.substr(axis.name().size() + 3);
    };
    return fmt::format("{} || {}", outside(plan_.row), outside(plan_.col));
  }
  // The variables that differ between results and that `roots` need.
  void WriteVarying(int level, const std::vector<const source::Node*>& roots) {
    const std::vector<const source::Node*> needed = NeededDeclarations(*site_.kernel, roots, plan_.varying);
    std::vector<const source::Node*> all = roots;
    all.insert(all.end(), needed.begin(), needed.end());
    const bool flat = plan_.flat != nullptr && std::any_of(all.begin(), all.end(), [&](const source::Node* node) {
                        return MentionsSymbol(*node, plan_.flat->symbol);
                      });
    if (flat) {
      const std::string row =
          plan_.batch.empty() ? plan_.row.name()
                              : fmt::format("(blockIdx.z * {} + {})", Grouped(*plan_.row.bound[0]), plan_.row.name());
      Line(level, fmt::format("const {} {} = {} * {} + {};", Plain(plan_.flat->type), plan_.flat->name, row,
                              Grouped(*plan_.col.bound[0]), plan_.col.name()));
    }
    for (const source::Node* variable : needed) Copied(level, Declaration(*variable));
  }

  void WriteStart() {
    OpenResults();
    Line(3, fmt::format("if ({}) continue;", OutsideGuard()));
    WriteVarying(3, {plan_.start});
    Line(3, fmt::format("{}[{}][{}] = {};", sums_, m_, n_, Text(*plan_.start)));
    CloseResults();
  }

  void WriteLoop() {
    const std::string type = plan_.loop.type;
    const std::string bound = Grouped(*plan_.loop.bound);
    Line(1, fmt::format("for ({} {} = {}; {} < {}; {} += {}) {{", type, k_begin_, Text(*plan_.loop.start), k_begin_,
                        bound, k_begin_, tile_k_));
    WriteLoad(plan_.left, plan_.row, left_, tile_m_, row_begin_);
    WriteLoad(plan_.right, plan_.col, right_, tile_n_, col_begin_);
    Line(2, "__syncthreads();");
    const std::string step = Fresh("step");
    Line(2, "#pragma unroll");
    Line(2, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", step, tile_k_));
    const std::string left_values = Fresh("left"), right_values = Fresh("right");
    if (OperandType(plan_.left) == OperandType(plan_.right)) {
      Line(3,
           fmt::format("{} {}[{}], {}[{}];", OperandType(plan_.left), left_values, thread_m_, right_values, thread_n_));
    } else {
      Line(3, fmt::format("{} {}[{}];", OperandType(plan_.left), left_values, thread_m_));
      Line(3, fmt::format("{} {}[{}];", OperandType(plan_.right), right_values, thread_n_));
    }
    Line(3, "#pragma unroll");
    Line(3, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}[{4}][{5} + {0}];", m_, thread_m_,
                        left_values, left_, step, thread_row_));
    Line(3, "#pragma unroll");
    Line(3, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}[{4}][{5} + {0}];", n_, thread_n_,
                        right_values, right_, step, thread_col_));
    Line(3, "#pragma unroll");
    Line(3, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", m_, thread_m_));
    Line(4, "#pragma unroll");
    Line(4, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{3}][{0}] += {4}[{3}] * {5}[{0}];", n_, thread_n_,
                        sums_, m_, left_values, right_values));
    Line(3, "}");
    Line(2, "}");
    Line(2, "__syncthreads();  // the tiles are loaded again");
    Line(1, "}");
  }

  void WriteLoad(const Operand& operand, const ResultAxis& axis, const std::string& tile, const std::string& size,
                 const std::string& begin) {
    const std::string k = plan_.loop.name;
    const std::string inner = operand.along_k ? tile_k_ : size;
    const std::string quotient = fmt::format("{} / {}", item_, inner), remainder = fmt::format("{} % {}", item_, inner);
    const std::string place = operand.along_k ? quotient : remainder, depth = operand.along_k ? remainder : quotient;
    Line(2, "#pragma unroll");
    Line(2, fmt::format("for (int {0} = 0; {0} < {1} * {2}; {0} += {3}) {{", first_, size, tile_k_, threads_));
    Line(3, fmt::format("const int {} = {} + threadIdx.x;", item_, first_));
    Line(3, fmt::format("const {} {} = {} + {};", Plain(axis.variable->type), axis.name(), begin, place));
    Line(3, fmt::format("const {} {} = {} + {};", Plain(plan_.loop.type), k, k_begin_, depth));
    const std::string inside = fmt::format("{} && {} < {}", Limit(axis), k, Grouped(*plan_.loop.bound));
    const std::string type = OperandType(operand);
    if (operand.declarations.empty()) {
      Line(3, fmt::format("{}[{}][{}] = {} ? {} : {};", tile, depth, place, inside, Value(operand), Zero(type)));
    } else {
      Line(3, fmt::format("{} {} = {};", type, value_, Zero(type)));
      Line(3, fmt::format("if ({}) {{", inside));
      for (const source::Node* variable : operand.declarations) Copied(4, Declaration(*variable));
      Line(4, fmt::format("{} = {};", value_, Product(operand)));
      Line(3, "}");
      Line(3, fmt::format("{}[{}][{}] = {};", tile, depth, place, value_));
    }
    Line(2, "}");
  }

  // As an operand of ?:, and on one line.
  std::string Value(const Operand& operand) const {
    const source::Node& first = *operand.factors[0];
    const std::string product = Product(operand);
    return operand.factors.size() == 1 && first.Is(source::NodeKind::kConditional) && !product.starts_with("(")
               ? "(" + product + ")"
               : product;
  }

  void WriteEpilogue() {
    code_ += "\n";
    OpenResults();
    Line(3, fmt::format("if ({}) continue;", OutsideGuard()));
    WriteVarying(3, plan_.epilogue);
    Line(3, fmt::format("{} {} = {}[{}][{}];", SumType(), plan_.sum->name, sums_, m_, n_));
    for (const source::Node* statement : plan_.epilogue) {
      Edits edits;
      for (const source::Node* exit : source::Collect(*statement, source::NodeKind::kReturn))
        edits.Replace(*exit, "continue");
      const uint32_t end = StatementEnd(kernel_, *statement);
      auto text = edits.ApplyWithin(kernel_.text, statement->begin, end);
      Copied(3, text ? *text : Text(*statement));
    }
    CloseResults();
  }

  std::optional<core::RewriteRefusal> EditLaunch(const LaunchSite& launch, Edits& file) const {
    const auto product = [&](const std::vector<const source::Node*>& factors) -> std::optional<std::string> {
      std::string text;
      for (const source::Node* factor : factors) {
        auto part = HostText(site_, launch, *factor);
        if (!part) return std::nullopt;
        const bool simple =
            factors.size() == 1 || std::all_of(part->begin(), part->end(), [](char c) {
              return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '(' || c == ')';
            });
        text += (text.empty() ? "" : " * ") + (simple ? *part : "(" + *part + ")");
      }
      return text;
    };
    const auto at = [&](std::string reason) { return RefuseAt(launch.launch->line, std::move(reason)).value(); };
    const auto rows = product(plan_.row.bound), cols = product(plan_.col.bound);
    if (!rows || !cols) return at("the size of the result cannot be computed where the kernel is launched");
    LaunchShape shape;
    const std::string down = CeilDivText(launch, *rows, shape_.m), across = CeilDivText(launch, *cols, shape_.n);
    if (plan_.flat != nullptr) {
      shape.grid = {fmt::format("{} * ({})", down, across)};
      if (!plan_.batch.empty()) shape.grid.emplace_back("1");
    } else {
      shape.grid.resize(2);
      shape.grid[plan_.row.grid_axis] = down;
      shape.grid[plan_.col.grid_axis] = across;
    }
    const auto z = FindAxis(launch, LaunchAxisGroup::kGrid, 2);
    if (!plan_.batch.empty()) {
      const auto batches = product(plan_.batch);
      if (!batches) return at("the number of batches cannot be computed where the kernel is launched");
      shape.grid.push_back(Unwrapped(*batches));
    } else if (plan_.uses_grid_z) {
      if (!z && !FindAxis(launch, LaunchAxisGroup::kGrid, 0))
        return at("the parts of the grid cannot be distinguished");
      if (z) shape.grid.push_back(std::string(launch.host->syntax.Text(*z->expression)));
    } else if (ConstantAxis(launch, LaunchAxisGroup::kGrid, 2) != 1) {
      return at("the grid has three dimensions, of which the kernel uses two");
    }
    shape.block = {std::to_string(kThreadsPerSide * kThreadsPerSide)};
    SetLaunch(launch, shape, file);
    return std::nullopt;
  }

  const source::Ast& ast_;
  const KernelSite& site_;
  const source::SyntaxFunction& kernel_;
  const TilePlan& plan_;
  const TileShape shape_;
  std::set<std::string, std::less<>> used_;
  std::string tile_m_ = "kTileM", tile_n_ = "kTileN", tile_k_ = "kTileK", thread_m_ = "kThreadM",
              thread_n_ = "kThreadN", threads_ = "kThreads";
  std::string left_ = "left_tile", right_ = "right_tile", row_begin_ = "row_begin", col_begin_ = "col_begin",
              k_begin_ = "k_begin";
  std::string thread_row_ = "thread_row", thread_col_ = "thread_col", sums_ = "sums", first_ = "first", item_ = "item",
              m_ = "tm", n_ = "tn", value_ = "value";
  std::string code_;
};

core::RewriteOutcome ApplyTileMatmul(const source::Ast& ast, const core::RewriteRequest& request) {
  auto found = FindSite(ast, request);
  if (auto* refusal = std::get_if<core::RewriteRefusal>(&found)) return *refusal;
  const KernelSite& site = *std::get<std::unique_ptr<KernelSite>>(found);
  if (site.entry_is_kernel) {
    return Refuse(fmt::format(
        "{} is itself the kernel: its launch is given in the manifest, and tiles need another launch", request.entry));
  }
  const auto plan = PlanTiles(ast, site);
  if (!plan) return plan.error();
  return TileWriter(ast, site, *plan, ParseShape(TextParameter(request, "tile"))).Run();
}

}  // namespace

Transform TileMatmulTransform() {
  return {.id = "tile_matmul",
          .parameters = {{"tile", {"64x64x16", "128x128x8", "64x64x8", "128x64x16", "32x32x32"}}},
          .apply = ApplyTileMatmul};
}

}  // namespace warpwright::rewrite
