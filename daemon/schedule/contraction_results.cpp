#include "schedule/contraction_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "core/polynomial.h"
#include "schedule/late_stores.h"

namespace warpwright::schedule {
namespace {

using core::Polynomial;

bool SameOffset(const FlatOffset& a, const FlatOffset& b) {
  return a.coefficients == b.coefficients && Equal(a.constant, b.constant);
}

// Whether a store of the output may come before another thread's read of what it overwrites.
bool ReadsElsewhere(const Problem& problem, const core::Stage& stage, const std::optional<FlatOffset>& stored,
                    const std::string& tensor) {
  const auto reachable = core::Reachable(stage);
  for (size_t id = 0; id < stage.nodes.size(); ++id) {
    const auto* read = reachable[id] ? std::get_if<core::TensorRead>(&stage.nodes[id]) : nullptr;
    if (read == nullptr || read->tensor != tensor) continue;
    const auto offset = FlatOffsetOf(ShapeOf(problem, tensor), read->at);
    if (!offset || !stored || !SameOffset(*offset, *stored)) return true;
  }
  return false;
}

std::string UnrollText(ResultStores::Loops loops) {
  return loops == ResultStores::Loops::kUnrolled ? "#pragma unroll" : "#pragma unroll 1";
}

std::string StoreName(int width) { return width == 4 ? "store_quad" : "store_pair"; }

}  // namespace

std::string ResultLayout::Sum(const std::string& ahead, const std::string& array) const {
  std::string text = sums;
  text.replace(text.find("{}"), 2, ahead);
  return array + text.substr(text.find('['));
}

std::string LoadQuadText(core::DType dtype) {
  const std::string head = R"(// Four neighbours, zero from `count` on; with one access where they are aligned.
__device__ __forceinline__ void load_quad(float* to, const )";
  const std::string type = CTypeOf(dtype);
  std::string whole, single;
  if (dtype == core::DType::kF32) {
    whole = R"(    const float4 quad = *reinterpret_cast<const float4*>(from);
    to[0] = quad.x, to[1] = quad.y, to[2] = quad.z, to[3] = quad.w;
)";
    single = "from[j]";
  } else {
    const bool half = dtype == core::DType::kF16;
    whole = fmt::format(R"(    const uint2 quad = *reinterpret_cast<const uint2*>(from);
    const float2 low = {0}(reinterpret_cast<const {1}&>(quad.x));
    const float2 high = {0}(reinterpret_cast<const {1}&>(quad.y));
    to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
)",
                        half ? "__half22float2" : "__bfloat1622float2", half ? "__half2" : "__nv_bfloat162");
    single = fmt::format("{}(from[j])", half ? "__half2float" : "__bfloat162float");
  }
  return head + type + R"(* __restrict__ from, int count, bool aligned) {
  if (aligned && count >= 4) {
)" + whole +
         R"(  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j] = j < count ? )" +
         single + " : 0.0f;\n  }\n}\n\n";
}

std::string StoreGroupText(core::DType dtype, int width) {
  const std::string to =
      fmt::format("__device__ __forceinline__ void {}({}* to, {}) {{\n", StoreName(width), CTypeOf(dtype),
                  width == 4 ? "float a, float b, float c, float d" : "float a, float b");
  const char* const all = width == 4 ? "a, b, c, d" : "a, b";
  if (dtype == core::DType::kF32)
    return to + fmt::format("  *reinterpret_cast<float{0}*>(to) = make_float{0}({1});\n}}\n\n", width, all);
  const bool half = dtype == core::DType::kF16;
  const char* const pair = half ? "__half2" : "__nv_bfloat162";
  const char* const convert = half ? "__floats2half2_rn" : "__floats2bfloat162_rn";
  if (width == 2) return to + fmt::format("  *reinterpret_cast<{}*>(to) = {}(a, b);\n}}\n\n", pair, convert);
  return to + fmt::format(R"(  const {0} pairs[2] = {{{1}(a, b), {1}(c, d)}};
  *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(pairs);
}}

)",
                          pair, convert);
}

ResultStores::ResultStores(const Problem& problem, const ContractionGroup& group, const FlatAxis& rows,
                           const FlatAxis& columns, std::vector<HeldProduct> products, ResultLayout layout,
                           Names& names)
    : problem_(problem),
      group_(group),
      rows_(rows),
      columns_(columns),
      products_(std::move(products)),
      layout_(std::move(layout)),
      names_(names) {
  for (const HeldProduct& product : products_)
    sums_of_.emplace_back(problem, *product.stage, *product.contraction, *product.variables, names);
  CheckInPlace();
  ChooseAccess();
}

void ResultStores::CheckInPlace() {
  for (const auto& output : group_.outputs) {
    const core::Stage& stage = problem_.stage(output.stage);
    const auto stored = FlatOffsetOf(ShapeOf(problem_, stage.name), StoredAt(stage));
    if (std::any_of(products_.begin(), products_.end(), [&](const HeldProduct& product) {
          return ReadsElsewhere(problem_, *product.stage, std::nullopt, stage.name);
        }))
      refusal_ = Refuse(stage.name + " is overwritten while other results are computed from it", stage.line);
    for (const auto& other : group_.outputs) {
      const bool same = other.stage == output.stage;
      if (ReadsElsewhere(problem_, problem_.stage(other.stage), same ? stored : std::nullopt, stage.name))
        refusal_ = Refuse(stage.name + " is changed in place, and other elements are computed from it", stage.line);
    }
  }
}

void ResultStores::ChooseAccess() {
  const StageReader& output = group_.outputs.front();
  const core::Stage& stage = problem_.stage(output.stage);
  const bool type =
      stage.dtype == core::DType::kF32 || stage.dtype == core::DType::kF16 || stage.dtype == core::DType::kBF16;
  if (group_.outputs.size() != 1 || !stage.domain.empty() || !type || problem_.in_double) return;
  const auto moved = StoredOffset(problem_, output);
  if (!moved) return;
  const Axis& last = columns_.axes().back();
  auto access = GroupAccessOf(*moved, {last}, ShapeOf(problem_, stage.name), layout_.width);
  if (!access) return;
  // Neighbours in the last variable are neighbours of the flattened index where its extent is a multiple of the width.
  if (columns_.axes().size() > 1 && Polynomial::Of(last.extent).Content() % layout_.width != 0) {
    const std::string extent = fmt::format("{} % {} == 0", Parenthesized(SizeText(last.extent)), layout_.width);
    if (access->condition.find(extent) == std::string::npos)
      access->condition = access->condition.empty() ? extent : extent + " && " + access->condition;
  }
  if (NeverHolds(problem_, access->condition)) return;
  group_condition_ = access->condition;
  aligned_ = names_.Take(stage.name + "_aligned");
}

std::optional<core::DType> ResultStores::groups() const {
  if (!group_condition_) return std::nullopt;
  return problem_.stage(group_.outputs.front().stage).dtype;
}

bool ResultStores::StoresGroupsAlone() const {
  if (!group_condition_) return false;
  const core::Stage& stage = problem_.stage(group_.outputs.front().stage);
  // Phases of an output's columns, or a dimension that is even by itself, have no rest.
  return (group_condition_->empty() && Polynomial::Of(columns_.axes().back().extent).Content() % layout_.width == 0) ||
         AlwaysHolds(problem_, stage.name, *group_condition_);
}

std::optional<std::string> ResultStores::AddressCondition() const {
  if (!StoresGroupsAlone()) return std::nullopt;
  const core::Stage& stage = problem_.stage(group_.outputs.front().stage);
  if (problem_.entry.Find(stage.name) == nullptr) return std::nullopt;  // memory of our own is aligned (phases.cpp)
  return AlignedAddress(stage.name, layout_.width * static_cast<int>(core::SizeOf(stage.dtype)));
}

VariableTexts ResultStores::VariablesOf(const StageReader& output) const {
  VariableTexts variables;
  for (const auto& [own, of_sum] : output.variables) variables[own] = products_[0].variables->at(of_sum);
  return variables;
}

std::string ResultStores::OffsetOf(const StageReader& output) const {
  const core::Stage& stage = problem_.stage(output.stage);
  const auto& shape = ShapeOf(problem_, stage.name);
  std::vector<std::string> at;
  for (const core::Affine& position : StoredAt(stage)) at.push_back(PositionText(position, VariablesOf(output)));
  return OffsetText(problem_, shape, at);
}

// The output's value from the sum's.
std::string ResultStores::ValueOf(const StageReader& output, Sums sums, Lines& lines) {
  std::map<std::string, std::string> values;  // by stage
  for (size_t p = 0; p < products_.size(); ++p) values[products_[p].stage->name] = Product(p, sums, lines);
  if (output.stage == group_.stage) return values.at(products_[0].stage->name);
  Scope scope{.variables = VariablesOf(output),
              .value = [&](const core::TensorRead& read) -> std::optional<std::string> {
                const auto found = values.find(read.tensor);
                if (!read.stage || found == values.end()) return std::nullopt;
                return Parenthesized(found->second);
              }};
  ExpressionCode code(problem_, problem_.stage(output.stage), std::move(scope), names_, lines);
  const std::string value = code.Root();
  refusal_ = code.refusal() ? code.refusal() : refusal_;
  return value;
}

std::string ResultStores::Product(size_t p, Sums sums, Lines& lines) {
  if (sums == Sums::kAgain) return sums_of_[p].Again(lines);
  return sums_of_[p].Scaled(sums == Sums::kArgument ? arguments_[p] : Held(p, " + l"), lines);
}

std::optional<core::RewriteRefusal> ResultStores::refusal() const {
  for (const ContractionSum& sum : sums_of_)
    if (sum.refusal()) return sum.refusal();
  return refusal_;
}

// The formula once, for both kinds of stores.
void ResultStores::DeclareResult(Lines& body) {
  const StageReader& output = group_.outputs.front();
  for (size_t p = 0; p < products_.size(); ++p) arguments_.push_back(names_.Take("sum"));
  Lines inside(body.level() + 1);
  const std::string value = ValueOf(output, Sums::kArgument, inside);
  if (value == arguments_[0] && inside.empty()) return;
  function_ = names_.TakeOf({problem_.stage(output.stage).name + "_of", "result_of"});
  std::vector<std::string> parameters;
  for (const std::string& argument : arguments_) parameters.push_back(problem_.real() + " " + argument);
  for (const FlatAxis* axis : {&rows_, &columns_})
    for (const Axis& each : axis->axes()) parameters.push_back("int " + products_[0].variables->at(each.variable));
  body.Open(fmt::format("auto {} = [&]({})", function_, fmt::join(parameters, ", ")));
  body.Append(inside);
  body.Add(fmt::format("return {};", value));
  body.Close(";");
}

void ResultStores::WriteElement(Lines& body, Sums sums) {
  LateStores stores(problem_, names_, group_.outputs.size() > 1);
  for (const auto& output : group_.outputs) {
    const core::Stage& stage = problem_.stage(output.stage);
    const auto root = static_cast<core::NodeId>(stage.nodes.size() - 1);
    stores.Open(body, stage, ConditionText(stage.domain, VariablesOf(output)));
    const std::string value = ValueOf(output, sums, body);
    const core::ValueType type = core::TypesOf(problem_.form, stage)[root];
    stores.Set(body, fmt::format("{}[{}]", stage.name, OffsetOf(output)), Stored(problem_, stage.dtype, type, value));
    stores.Close(body);
  }
  stores.Write(body);
}

// The output's value of the sums that stand `ahead` of the group's first, `further` columns behind the one that is
// declared.
std::string ResultStores::Call(const std::string& ahead, const std::string& further) const {
  if (function_.empty()) return Held(0, ahead);
  std::vector<std::string> arguments;
  for (size_t p = 0; p < products_.size(); ++p) arguments.push_back(Held(p, ahead));
  for (const FlatAxis* axis : {&rows_, &columns_})
    for (const Axis& each : axis->axes()) arguments.push_back(products_[0].variables->at(each.variable));
  return fmt::format("{}({}{})", function_, fmt::join(arguments, ", "), further);
}

void ResultStores::WriteGroup(Lines& body) {
  const core::Stage& stage = problem_.stage(group_.outputs.front().stage);
  std::vector<std::string> values;
  for (int l = 0; l < layout_.width; ++l) {
    const std::string ahead = l == 0 ? "" : fmt::format(" + {}", l);
    values.push_back(Call(ahead, ahead));
  }
  AddBroken(body, fmt::format("{}(&{}[{}], {});", StoreName(layout_.width), stage.name,
                              OffsetOf(group_.outputs.front()), fmt::join(values, ", ")));
}

void ResultStores::WriteSingle(Lines& body) {
  if (!group_condition_) return WriteElement(body, Sums::kHeld);
  const StageReader& output = group_.outputs.front();
  const core::Stage& stage = problem_.stage(output.stage);
  AddBroken(body, fmt::format("{}[{}] = {};", stage.name, OffsetOf(output),
                              Stored(problem_, stage.dtype, core::ValueType::kReal, Call(" + l", ""))));
}

// The loop over a thread's rows, around what `inside` writes for each.
void ResultStores::ForRows(Lines& body, Loops loops, const std::function<void()>& inside) {
  body.Add(UnrollText(loops));
  body.Open(fmt::format("for (int i = 0; i < {}; ++i)", layout_.rows));
  body.Add(fmt::format("const int {} = {};", rows_.index(), layout_.row));
  body.Add(fmt::format("if ({} >= {}) break;", rows_.index(), rows_.count()));
  rows_.Decode(body, rows_.index());
  inside();
  body.Close();
}

// The loops over its columns: by groups where they are aligned, else one by one.
void ResultStores::ForColumns(Lines& body, Loops loops, const std::function<void()>& group,
                              const std::function<void()>& single) {
  body.Add(UnrollText(loops));
  body.Open(fmt::format("for (int j = 0; j < {}; j += {})", layout_.columns, layout_.width));
  body.Add(fmt::format("const int first = {};", layout_.column));
  if (group && StoresGroupsAlone()) {
    body.Add(fmt::format("if (first >= {}) break;", columns_.count()));
    body.Add(fmt::format("const int {} = first;", columns_.index()));
    columns_.Decode(body, columns_.index());
    group();
    body.Close();
    return;
  }
  if (group) {
    body.Open(fmt::format("if ({} && first < {})", aligned_, columns_.count()));
    body.Add(fmt::format("const int {} = first;", columns_.index()));
    columns_.Decode(body, columns_.index());
    group();
    body.Else();
  }
  body.Add(UnrollText(loops));
  body.Open(fmt::format("for (int l = 0; l < {}; ++l)", layout_.width));
  body.Add(fmt::format("const int {} = first + l;", columns_.index()));
  body.Add(fmt::format("if ({} >= {}) break;", columns_.index(), columns_.count()));
  columns_.Decode(body, columns_.index());
  single();
  body.Close();
  if (group) body.Close();
  body.Close();
}

void ResultStores::ForResults(Lines& body, Loops loops, const std::function<void()>& group,
                              const std::function<void()>& single) {
  // Divisions once for each column, if they take any.
  if (columns_.single()) return ForRows(body, loops, [&] { ForColumns(body, loops, group, single); });
  const auto rows_of = [&](const std::function<void()>& inside) -> std::function<void()> {
    if (!inside) return nullptr;
    return [&] { ForRows(body, loops, inside); };
  };
  ForColumns(body, loops, rows_of(group), rows_of(single));
}

// `again` becomes true where a sum must be added up again.
void ResultStores::WriteCheck(Lines& body) {
  body.Add(
      "// A term that is left out was 0 times the other factor, which is no number if that is infinite: then this");
  body.Add("// thread's sums are added up again, without such terms.");
  body.Add("bool again = false;");
  for (const auto& [index, count, step] :
       {std::tuple("i", layout_.rows, 1), {"j", layout_.columns, layout_.width}, {"l", layout_.width, 1}}) {
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int {0} = 0; {0} < {1}; {2})", index, count,
                          step == 1 ? fmt::format("++{}", index) : fmt::format("{} += {}", index, step)));
  }
  for (size_t p = 0; p < products_.size(); ++p) body.Add(fmt::format("again |= isnan({});", Held(p, " + l")));
  for (int i = 0; i < 3; ++i) body.Close();
  body.Open("if (again)");
  const Names outside = names_;
  ForResults(body, Loops::kRolled, nullptr, [&] { WriteElement(body, Sums::kAgain); });
  names_ = outside;
  body.Add("return;");
  body.Close();
}

void ResultStores::WritePartials(Lines& body, const std::string& partials, const std::string& part) {
  ForResults(body, Loops::kUnrolled, nullptr, [&] {
    std::vector<core::Size> shape = {core::Size::Constant(1)};
    std::vector<std::string> at = {part};
    const auto& extents = products_[0].stage->extents;
    for (core::VariableId v = 0; v < extents.size(); ++v) {
      shape.push_back(extents[v]);
      at.push_back(products_[0].variables->at(v));
    }
    const std::string sum = Product(0, Sums::kHeld, body);
    AddBroken(body, fmt::format("{}[{}] = {};", partials, OffsetText(problem_, shape, at), sum));
  });
}

void ResultStores::Write(Lines& body) {
  const auto leaves_out = [](const ContractionSum& sum) { return sum.LeavesOut(); };
  if (std::any_of(sums_of_.begin(), sums_of_.end(), leaves_out)) WriteCheck(body);
  const auto single = [&] { WriteSingle(body); };
  if (!group_condition_) return ForResults(body, Loops::kUnrolled, nullptr, single);
  DeclareResult(body);
  const core::Stage& stage = problem_.stage(group_.outputs.front().stage);
  const int bytes = layout_.width * static_cast<int>(core::SizeOf(stage.dtype));
  if (!StoresGroupsAlone())
    AddBroken(body, fmt::format("const bool {} = {}{};", aligned_,
                                group_condition_->empty() ? "" : *group_condition_ + " && ",
                                AlignedAddress(stage.name, bytes)));
  ForResults(body, Loops::kUnrolled, [&] { WriteGroup(body); }, single);
}

}  // namespace warpwright::schedule
