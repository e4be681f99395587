#include "schedule/contraction_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/overlaps.h"

namespace warpwright::schedule {
namespace {

// Terms that are worth steps of their own, so that the other variables of the sum are the same for a whole step: the
// channels of a convolution beside its taps, whose guards and offsets need no division then.
constexpr int64_t kLongAxis = 16;

bool IsLongest(const Problem& problem, const std::vector<Axis>& k, const Axis& axis) {
  const auto length = [&](const Axis& a) { return ValueIn(a.extent, HeaviestCase(problem)).value_or(0); };
  return length(axis) >= kLongAxis &&
         std::find_if(k.begin(), k.end(), [&](const Axis& a) { return length(a) > length(axis); }) == k.end();
}
std::vector<Axis> InnerTerms(const Problem& problem, const std::vector<Axis>& k) {
  for (const Axis& axis : k)
    if (IsLongest(problem, k, axis)) return {axis};
  return k;
}
std::vector<Axis> OuterTerms(const Problem& problem, const std::vector<Axis>& k) {
  const std::vector<Axis> inner = InnerTerms(problem, k);
  std::vector<Axis> outer;
  for (const Axis& axis : k)
    if (std::find(inner.begin(), inner.end(), axis) == inner.end()) outer.push_back(axis);
  return outer;
}

Names WithLocals(const Problem& problem) {
  Names names(problem);
  for (const char* const name : LocalsOfTiles()) names.Take(name);
  return names;
}

}  // namespace

std::span<const char* const> LocalsOfTiles() {
  static constexpr const char* kLocals[] = {
      "i",        "j",      "l",    "sums",  "lane", "warp",  "warp_m",    "warp_n",        "thread_m",
      "thread_n", "stage",  "step", "steps", "next", "load",  "all_steps", "steps_of_part", "first_step",
      "first",    "inside", "copy", "read",  "slot", "slice", "filled",    "shared",        "again"};
  return kLocals;
}

ContractionWriter::ContractionWriter(const Problem& problem, const Group& group, ContractionGroup contraction,
                                     const TileShape& shape, const ResultLayout& layout, bool halves,
                                     std::optional<RowTiles> row_tiles)
    : problem_(problem),
      group_(group),
      of_(std::move(contraction)),
      shape_(shape),
      halves_(halves),
      parts_(row_tiles || of_.window || !of_.others.empty() ? std::nullopt : SumPartsOf(problem, group, of_, shape)),
      number_of_parts_(parts_ ? problem.fresh_name("parts") : ""),
      names_(WithLocals(problem)),
      variables_(NamesOfVariables(problem.stage(of_.stage), of_.contraction.k, names_)),
      batch_(of_.contraction.batch, variables_, names_, "batch", "batches"),
      rows_(of_.contraction.m, variables_, names_, "row", "rows"),
      columns_(of_.contraction.n, variables_, names_, "column", "columns"),
      window_positions_(of_.window ? of_.window->positions : std::vector<Axis>(), variables_, names_, "window_position",
                        "window_positions"),
      row_tiles_(std::move(row_tiles)) {
  first_row_ = names_.Take("first_" + rows_.index());
  first_column_ = names_.Take("first_" + columns_.index());
  across_ = names_.Take("tiles_across"), down_ = names_.Take("tiles_down");
  if (parts_) part_ = names_.Take("part"), parts_name_ = names_.Take("parts");
  AddProduct(of_.stage, of_.contraction);
  for (const SumOfProducts& other : of_.others) AddProduct(other.stage, other.contraction);
  ResultLayout placed = layout;
  placed.row = first_row_ + " + " + layout.row;
  placed.column = first_column_ + " + " + layout.column;
  if (row_tiles_) {
    row_results_ = std::make_unique<RowResults>(problem, of_, *row_tiles_, rows_, columns_, variables_,
                                                std::move(placed), first_column_, names_);
    return;
  }
  if (of_.window) {
    window_results_ = std::make_unique<WindowResults>(problem, of_, rows_, columns_, window_positions_, variables_,
                                                      std::move(placed), names_);
    return;
  }
  std::vector<HeldProduct> held;
  for (const auto& each : products_) held.push_back({&each->stage, &each->contraction, &each->variables, each->sums});
  results_ = std::make_unique<ResultStores>(problem, of_, rows_, columns_, std::move(held), std::move(placed), names_);
}

void ContractionWriter::AddProduct(size_t stage, const Contraction& contraction) {
  const bool first = products_.empty();
  VariableTexts variables = first ? variables_ : WithSum(variables_, contraction.k, names_);
  FlatAxis terms(InnerTerms(problem_, contraction.k), variables, names_, "term", "terms");
  FlatAxis outer(OuterTerms(problem_, contraction.k), variables, names_, "tap", "taps");
  products_.push_back(std::make_unique<ProductCode>(ProductCode{.stage = problem_.stage(stage),
                                                                .contraction = contraction,
                                                                .sums = "sums",
                                                                .variables = std::move(variables),
                                                                .terms = std::move(terms),
                                                                .outer = std::move(outer),
                                                                .scope = {},
                                                                .left = nullptr,
                                                                .right = nullptr}));
  ProductCode& added = *products_.back();
  added.scope = {&added.terms, names_.Take("first_" + added.terms.index()), {}};
  batch_.Bind(added.scope.uniform);
  window_positions_.Bind(added.scope.uniform);
  added.outer.Bind(added.scope.uniform);
  const TileFormat left{
      .rows = shape_.m, .terms = shape_.k, .threads = shape_.threads(), .rows_name = "kTileM", .halves = halves_};
  const TileFormat right{
      .rows = shape_.n, .terms = shape_.k, .threads = shape_.threads(), .rows_name = "kTileN", .halves = halves_};
  added.left = std::make_unique<FactorLoads>(problem_, added.stage, contraction.left, rows_, first_row_, added.scope,
                                             left, names_);
  added.right = std::make_unique<FactorLoads>(problem_, added.stage, contraction.right, columns_, first_column_,
                                              added.scope, right, names_);
  if (!first) added.sums = names_.TakeOf({added.right->name() + "_sums", "other_sums"});
}

std::optional<core::RewriteRefusal> ContractionWriter::refusal() const {
  for (const auto& each : products_)
    for (const FactorLoads* factor : {each->left.get(), each->right.get()})
      if (factor->refusal()) return factor->refusal();
  if (row_results_) return row_results_->refusal();
  if (window_results_) return window_results_->refusal();
  return results_->refusal();
}

CodeOutcome ContractionWriter::Write(const std::string& role) {
  const std::string name = KernelName(problem_, role);
  KernelArguments arguments = ArgumentsOf(problem_, group_);
  if (parts_ && parts_->storage.argument) {
    arguments.parameters.push_back(fmt::format("{}* __restrict__ {}", problem_.real(), parts_->storage.name));
    arguments.values.push_back(parts_->storage.name);
  }
  if (parts_) arguments.parameters.push_back("int " + parts_name_), arguments.values.push_back(number_of_parts_);
  Lines body(1);
  body.Add(fmt::format("constexpr int kTileM = {}, kTileN = {}, kTileK = {};", shape_.m, shape_.n, shape_.k));
  if (of_.others.empty()) WriteTiles(body);
  WriteIndices(body);
  WriteThread(body);
  if (row_results_) {
    row_results_->Write(body, [&](Lines& lines) { WriteProduct(lines); });
  } else if (window_results_) {
    window_results_->Write(Sums(), body, [&](Lines& lines) { WriteProduct(lines); });
  } else {
    WriteProducts(body);
    body.Add("");
    if (parts_) WriteParts(body);
    results_->Write(body);
  }
  if (const auto refused = refusal()) return *refused;
  Lines kernel;
  const std::string formula =
      FormulaComment(problem_, group_, row_results_ ? row_results_->names() : std::map<std::string, std::string>());
  kernel.Add(formula.substr(0, formula.rfind('\n')));
  kernel.Add("//");
  WriteComment(kernel);
  kernel.Add(Head(fmt::format("__global__ void __launch_bounds__({}, {})", shape_.threads(), shape_.blocks), name,
                  arguments.parameters));
  kernel.Append(body);
  kernel.Add("}");
  Code code;
  for (current_ = 0; current_ < products_.size(); ++current_) {
    for (std::string& helper : Helpers())
      if (std::find(code.helpers.begin(), code.helpers.end(), helper) == code.helpers.end())
        code.helpers.push_back(std::move(helper));
    if (IsAligned())
      for (const FactorLoads* factor : {&left(), &right()}) code.conditions.push_back(factor->AddressCondition());
  }
  current_ = 0;
  if (row_results_)
    code.helpers.insert(code.helpers.end(), row_results_->helpers().begin(), row_results_->helpers().end());
  else if (const auto type = results_ ? results_->groups() : std::nullopt)
    code.helpers.push_back(StoreGroupText(*type, results_->width()));
  code.kernels = kernel.text();
  std::string finish;
  if (parts_) {
    CodeOutcome finished = FinishSums(problem_, group_, of_, *parts_, number_of_parts_);
    if (auto* refusal = std::get_if<core::RewriteRefusal>(&finished)) return *refusal;
    Code& more = std::get<Code>(finished);
    code.helpers.insert(code.helpers.end(), more.helpers.begin(), more.helpers.end());
    code.kernels += more.kernels;
    finish = more.launch;
  }
  code.launch = WriteLaunch(name, arguments, finish);
  code.reduces_products = row_tiles_.has_value();
  if (row_tiles_ && !row_tiles_->condition.empty()) code.conditions.push_back(row_tiles_->condition);
  if (const auto aligned = results_ ? results_->AddressCondition() : std::nullopt) code.conditions.push_back(*aligned);
  for (std::string& apart : Apart()) code.conditions.push_back(std::move(apart));
  code.notes = {fmt::format("tiles of {} x {} results, {} terms a step", shape_.m, shape_.n, shape_.k)};
  return code;
}

void ContractionWriter::DeclareSums(Lines& body) const {
  body.Add(fmt::format("{} {}{} = {{}};", problem_.real(), sums(), Sums()));
}

// The tile of sums, by a block.
void ContractionWriter::WriteProduct(Lines& body) {
  left().Declare(body, IsAligned());
  right().Declare(body, IsAligned());
  WriteLoads(body);
  body.Add("");
  if (of_.others.empty()) DeclareSums(body);
  WriteSteps(body);
}

// One after the other, in the same shared memory.
void ContractionWriter::WriteProducts(Lines& body) {
  if (of_.others.empty()) return WriteProduct(body);
  for (current_ = 0; current_ < products_.size(); ++current_) DeclareSums(body);
  for (current_ = 0; current_ < products_.size(); ++current_) {
    if (current_ > 0) body.Add("__syncthreads();  // others still multiply what the next factors will overwrite");
    body.Open("");
    WriteTiles(body);
    WriteProduct(body);
    body.Close();
  }
  current_ = 0;
}

// A block stores results while others still read what these are made of.
std::vector<std::string> ContractionWriter::Apart() const {
  std::vector<size_t> products = {of_.stage};
  for (const SumOfProducts& other : of_.others) products.push_back(other.stage);
  return ApartConditions(problem_, group_, row_tiles_ || of_.window ? group_.stages : products);
}

void ContractionWriter::WriteIndices(Lines& body) const {
  for (const FlatAxis* axis : {&batch_, &rows_, &columns_}) axis->DeclareExtents(body);
  for (const auto& each : products_) {
    each->terms.DeclareExtents(body);
    each->outer.DeclareExtents(body);
  }
  if (row_tiles_) return WriteRowIndices(body);
  // All in blockIdx.x, which alone may be large.
  body.Add(fmt::format("const int {} = ({} + kTileN - 1) / kTileN;", across_, columns_.count()));
  if (!batch_.empty()) body.Add(fmt::format("const int {} = ({} + kTileM - 1) / kTileM;", down_, rows_.count()));
  body.Add(fmt::format("const int {} = blockIdx.x / {}{} * kTileM, {} = blockIdx.x % {} * kTileN;", first_row_, across_,
                       batch_.empty() ? "" : " % " + down_, first_column_, across_));
  const std::string batch = fmt::format("blockIdx.x / {} / {}", across_, down_);
  if (!batch_.empty()) body.Add(fmt::format("const int {} = {};", batch_.index(), batch));
  if (batch_.axes().size() > 1) batch_.Decode(body, batch_.index());
  if (parts_) body.Add(fmt::format("const int {} = blockIdx.y;", part_));
}

// A block has all columns of its rows.
void ContractionWriter::WriteRowIndices(Lines& body) const {
  const std::string tile = batch_.empty() ? "blockIdx.x" : "blockIdx.x % " + down_;
  if (!batch_.empty()) {
    body.Add(fmt::format("const int {} = ({} + kTileM - 1) / kTileM;", down_, rows_.count()));
    body.Add(fmt::format("const int {} = blockIdx.x / {};", batch_.index(), down_));
  }
  if (batch_.axes().size() > 1) batch_.Decode(body, batch_.index());
  body.Add(fmt::format("const int {} = {} * kTileM;", first_row_, tile));
  if (row_tiles_->whole) body.Add(fmt::format("constexpr int {} = 0;", first_column_));
}

// What a block has of its results, where others have the rest.
void ContractionWriter::WriteParts(Lines& body) {
  body.Open(fmt::format("if ({} > 1)", parts_name_));
  results_->WritePartials(body, parts_->storage.name, part_);
  body.Add("return;");
  body.Close();
}

// auto load_A = [&](int first_k) { ... };
void ContractionWriter::WriteLoad(Lines& body, FactorLoads& factor) const {
  const TileScope& scope = product().scope;
  std::vector<std::string> parameters = {"int " + scope.first_term};
  for (const Axis& axis : product().outer.axes()) parameters.push_back("int " + scope.uniform.at(axis.variable));
  if (factor.copies()) parameters.emplace_back("int stage");
  body.Open(fmt::format("auto {} = [&]({})", factor.load_name(), fmt::join(parameters, ", ")));
  factor.Load(body);
  body.Close(";");
}

// Where parts of the sum are added up later, all blocks have all terms.
TermRange ContractionWriter::Range() const {
  if (parts_ || !StepsAreTerms()) return {};
  return TermRangeOf(problem_, product().contraction, product().terms, {rows_, first_row_, "kTileM"},
                     {columns_, first_column_, "kTileN"});
}

// Which steps a block takes: "first_step" if not from the beginning, and "steps".
void ContractionWriter::WriteStepRange(Lines& body) const {
  const TermRange range = Range();
  if (parts_) {
    body.Add(fmt::format("const int all_steps = {};", StepCount()));
    body.Add(fmt::format("const int steps_of_part = (all_steps + {0} - 1) / {0}, first_step = {1} * steps_of_part;",
                         parts_name_, part_));
    body.Add("const int steps = min(all_steps - first_step, steps_of_part);");
    return;
  }
  if (range.empty()) return body.Add(fmt::format("const int steps = {};", StepCount()));
  body.Add("// Terms that no result of the tile has are passed over.");
  std::string begin = "0", end = product().terms.count();
  for (const std::string& bound : range.begins) begin = fmt::format("max({}, {})", begin, bound);
  for (const std::string& bound : range.ends) end = fmt::format("min({}, {})", end, bound);
  body.Add(fmt::format("const int first_step = {} / kTileK;", begin));
  body.Add(fmt::format("const int steps = ({} + kTileK - 1) / kTileK - first_step;", end));
}

void ContractionWriter::WriteLoads(Lines& body) const {
  if (!IsAligned()) {
    WriteLoad(body, *product().left);
    WriteLoad(body, *product().right);
  }
  WriteStepRange(body);
  if (IsAligned()) return;
  body.Open(halves_ ? "auto load = [&](int step, int stage)" : "auto load = [&](int step)");
  if (parts_ || !Range().empty()) body.Add("step += first_step;");
  std::vector<std::string> arguments = {"step * kTileK"};
  if (const FlatAxis& outer = product().outer; !outer.empty()) {
    arguments = {fmt::format("step / {} * kTileK", outer.count())};
    body.Add(fmt::format("const int {} = step % {};", outer.index(), outer.count()));
    outer.Decode(body, outer.index());
    for (const Axis& axis : outer.axes()) arguments.push_back(product().scope.uniform.at(axis.variable));
  }
  for (const FactorLoads* factor : {&left(), &right()})
    body.Add(
        fmt::format("{}({}{});", factor->load_name(), fmt::join(arguments, ", "), factor->copies() ? ", stage" : ""));
  body.Close(";");
}

std::string ContractionWriter::StepCount() const {
  const std::string rounds = fmt::format("({} + kTileK - 1) / kTileK", product().terms.count());
  return StepsAreTerms() ? rounds : fmt::format("{} * ({})", product().outer.count(), rounds);
}

std::string ContractionWriter::WriteLaunch(const std::string& name, const KernelArguments& arguments,
                                           const std::string& finish) const {
  Lines launch;
  const auto blocks = [](const FlatAxis& axis, int tile) { return CeilDivided(axis.extent(), std::to_string(tile)); };
  std::vector<std::string> grid = {Parenthesized(blocks(rows_, shape_.m))};
  if (!row_tiles_) grid.insert(grid.begin(), Parenthesized(blocks(columns_, shape_.n)));
  if (!batch_.empty()) grid.push_back(Parenthesized(batch_.extent()));
  const std::string shared = SharedBytes();
  if (shared != "0")
    AddBroken(launch,
              fmt::format("cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});", name, shared));
  const std::string tiles = fmt::format("{}", fmt::join(grid, " * ")), threads = std::to_string(shape_.threads());
  if (!parts_) {
    launch.Add(Launch(problem_, name, tiles, threads, arguments.values, shared));
    return launch.text();
  }
  const std::string count = problem_.fresh_name("tiles");
  launch.Add(fmt::format("const int {} = {};", count, tiles));
  launch.AddAll(NumberOfParts(problem_, *parts_, of_, number_of_parts_, count));
  launch.Add(
      Launch(problem_, name, fmt::format("dim3({}, {})", count, number_of_parts_), threads, arguments.values, shared));
  launch.Open(fmt::format("if ({} > 1)", number_of_parts_));
  launch.AddAll(finish);
  launch.Close();
  return launch.text();
}

}  // namespace warpwright::schedule
