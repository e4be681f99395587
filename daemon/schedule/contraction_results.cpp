#include "schedule/contraction_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/polynomial.h"

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

}  // namespace

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

std::string StoreQuadText(core::DType dtype) {
  if (dtype == core::DType::kF32)
    return R"(__device__ __forceinline__ void store_quad(float* to, float a, float b, float c, float d) {
  *reinterpret_cast<float4*>(to) = make_float4(a, b, c, d);
}

)";
  const bool half = dtype == core::DType::kF16;
  return fmt::format(R"(__device__ __forceinline__ void store_quad({0}* to, float a, float b, float c, float d) {{
  const {1} pairs[2] = {{{2}(a, b), {2}(c, d)}};
  *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(pairs);
}}

)",
                     CTypeOf(dtype), half ? "__half2" : "__nv_bfloat162",
                     half ? "__floats2half2_rn" : "__floats2bfloat162_rn");
}

ResultStores::ResultStores(const Problem& problem, const ContractionGroup& group, const FlatAxis& rows,
                           const FlatAxis& columns, const FlatAxis& batch, const VariableTexts& variables, Names& names)
    : problem_(problem),
      group_(group),
      stage_(problem.stage(group.stage)),
      rows_(rows),
      columns_(columns),
      batch_(batch),
      variables_(variables),
      names_(names) {
  CheckInPlace();
  ChooseAccess();
}

void ResultStores::CheckInPlace() {
  for (const auto& output : group_.outputs) {
    const core::Stage& stage = problem_.stage(output.stage);
    const auto stored = FlatOffsetOf(ShapeOf(problem_, stage.name), StoredAt(stage));
    if (ReadsElsewhere(problem_, stage_, std::nullopt, stage.name))
      refusal_ = Refuse(stage.name + " is overwritten while other results are computed from it", stage.line);
    for (const auto& other : group_.outputs) {
      const bool same = other.stage == output.stage;
      if (ReadsElsewhere(problem_, problem_.stage(other.stage), same ? stored : std::nullopt, stage.name))
        refusal_ = Refuse(stage.name + " is changed in place, and other elements are computed from it", stage.line);
    }
  }
}

void ResultStores::ChooseAccess() {
  const ContractionGroup::Output& output = group_.outputs.front();
  const core::Stage& stage = problem_.stage(output.stage);
  const bool type =
      stage.dtype == core::DType::kF32 || stage.dtype == core::DType::kF16 || stage.dtype == core::DType::kBF16;
  if (group_.outputs.size() != 1 || !stage.domain.empty() || !type || problem_.in_double) return;
  const auto offset = FlatOffsetOf(ShapeOf(problem_, stage.name), StoredAt(stage));
  if (!offset) return;
  // Of the sum's variables.
  FlatOffset moved{.coefficients = {}, .constant = offset->constant};
  for (const auto& [variable, coefficient] : offset->coefficients)
    moved.coefficients[output.variables.at(variable)] = coefficient;
  const Axis& last = columns_.axes().back();
  auto access = QuadAccessOf(moved, {last}, ShapeOf(problem_, stage.name));
  if (!access) return;
  // A quad of one row of the last variable is one of the flattened index where its extent is a multiple of four.
  if (columns_.axes().size() > 1 && Polynomial::Of(last.extent).Content() % 4 != 0) {
    const std::string extent = fmt::format("{} % 4 == 0", Parenthesized(SizeText(last.extent)));
    if (access->condition.find(extent) == std::string::npos)
      access->condition = access->condition.empty() ? extent : extent + " && " + access->condition;
  }
  quad_condition_ = access->condition;
}

std::optional<core::DType> ResultStores::quads() const {
  if (!quad_condition_) return std::nullopt;
  return problem_.stage(group_.outputs.front().stage).dtype;
}

VariableTexts ResultStores::VariablesOf(const ContractionGroup::Output& output) const {
  VariableTexts variables;
  for (const auto& [own, of_sum] : output.variables) variables[own] = variables_.at(of_sum);
  return variables;
}

std::string ResultStores::OffsetOf(const ContractionGroup::Output& output) const {
  const core::Stage& stage = problem_.stage(output.stage);
  const auto& shape = ShapeOf(problem_, stage.name);
  std::vector<std::string> at;
  for (const core::Affine& position : StoredAt(stage)) at.push_back(PositionText(position, VariablesOf(output)));
  return OffsetText(problem_, shape, at);
}

// The output's value from the sum's, which scales and guards without terms may change first.
std::string ResultStores::ValueOf(const ContractionGroup::Output& output, const std::string& sum, Lines& lines) {
  std::string product = sum;
  if (!group_.contraction.scale.empty()) {
    ExpressionCode code(problem_, stage_, Scope{.variables = variables_}, names_, lines);
    for (const core::NodeId id : group_.contraction.scale)
      product += " * " + Parenthesized(code.Value(id, core::ValueType::kReal));
    refusal_ = code.refusal() ? code.refusal() : refusal_;
  }
  if (const std::string guards = ConditionText(group_.contraction.guards, variables_); !guards.empty())
    product = fmt::format("({} ? {} : {})", guards, product, NumberText(problem_, 0));
  if (output.stage == group_.stage) return product;
  const std::string& name = stage_.name;
  Scope scope{.variables = VariablesOf(output),
              .value = [&](const core::TensorRead& read) -> std::optional<std::string> {
                if (read.stage && read.tensor == name) return Parenthesized(product);
                return std::nullopt;
              }};
  ExpressionCode code(problem_, problem_.stage(output.stage), std::move(scope), names_, lines);
  const std::string value = code.Root();
  refusal_ = code.refusal() ? code.refusal() : refusal_;
  return value;
}

// The formula once, for both kinds of stores.
void ResultStores::DeclareResult(Lines& body) {
  const ContractionGroup::Output& output = group_.outputs.front();
  Lines inside(body.level() + 1);
  const std::string value = ValueOf(output, "sum", inside);
  if (value == "sum" && inside.empty()) return;
  function_ = names_.TakeOf({problem_.stage(output.stage).name + "_of", "result_of"});
  std::vector<std::string> parameters = {fmt::format("{} sum", problem_.real())};
  for (const FlatAxis* axis : {&rows_, &columns_})
    for (const Axis& each : axis->axes()) parameters.push_back("int " + variables_.at(each.variable));
  body.Open(fmt::format("auto {} = [&]({})", function_, fmt::join(parameters, ", ")));
  body.Append(inside);
  body.Add(fmt::format("return {};", value));
  body.Close(";");
}

void ResultStores::WriteElement(Lines& body, const std::string& sum) {
  for (const auto& output : group_.outputs) {
    const core::Stage& stage = problem_.stage(output.stage);
    const auto root = static_cast<core::NodeId>(stage.nodes.size() - 1);
    Lines inside(body.level());
    const std::string domain = ConditionText(stage.domain, VariablesOf(output));
    const bool guarded = !domain.empty();
    if (guarded) inside.Open(fmt::format("if ({})", domain));
    const std::string value = ValueOf(output, sum, inside);
    const core::ValueType type = core::TypesOf(problem_.form, stage)[root];
    AddBroken(inside,
              fmt::format("{}[{}] = {};", stage.name, OffsetOf(output), Stored(problem_, stage.dtype, type, value)));
    if (guarded) inside.Close();
    body.Append(inside);
  }
}

void ResultStores::WriteQuad(Lines& body) {
  const ContractionGroup::Output& output = group_.outputs.front();
  const core::Stage& stage = problem_.stage(output.stage);
  std::vector<std::string> outer;
  for (const FlatAxis* axis : {&rows_, &columns_})
    for (const Axis& each : axis->axes()) outer.push_back(variables_.at(each.variable));
  const auto value = [&](const std::string& sum, const std::string& ahead) {
    if (function_.empty()) return sum;
    return fmt::format("{}({}, {}{})", function_, sum, fmt::join(outer, ", "), ahead);
  };
  std::vector<std::string> four;
  for (int j = 0; j < 4; ++j) {
    const std::string ahead = j == 0 ? "" : fmt::format(" + {}", j);
    four.push_back(value(fmt::format("sums[i][j{}]", ahead), ahead));
  }
  const std::string destination = fmt::format("&{}[{}]", stage.name, OffsetOf(output));
  AddBroken(body, fmt::format("store_quad({}, {});", destination, fmt::join(four, ", ")));
}

void ResultStores::Write(Lines& body, const TileShape& shape, const std::string& first_row,
                         const std::string& first_column) {
  if (quad_condition_) {
    DeclareResult(body);
    const core::Stage& stage = problem_.stage(group_.outputs.front().stage);
    const int bytes = 4 * static_cast<int>(core::SizeOf(stage.dtype));
    AddBroken(body,
              fmt::format("const bool {}_aligned = {}{};", stage.name,
                          quad_condition_->empty() ? "" : *quad_condition_ + " && ", AlignedText({stage.name}, bytes)));
  }
  const auto place = [](int count, const char* index, int apart) {
    return count == 4 ? std::string(index) : fmt::format("{} / 4 * {} + {} % 4", index, apart, index);
  };
  const int results_m = 4 * shape.squares_m(), results_n = 4 * shape.squares_n();
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int i = 0; i < {}; ++i)", results_m));
  body.Add(fmt::format("const int {} = {} + thread_m + {};", rows_.index(), first_row,
                       place(results_m, "i", 4 * TileShape::kLanesM)));
  body.Add(fmt::format("if ({} >= {}) break;", rows_.index(), rows_.count()));
  rows_.Decode(body, rows_.index());
  if (!quad_condition_) {
    body.Add("#pragma unroll");
    body.Open(fmt::format("for (int j = 0; j < {}; ++j)", results_n));
    body.Add(fmt::format("const int {} = {} + thread_n + {};", columns_.index(), first_column,
                         place(results_n, "j", 4 * TileShape::kLanesN)));
    body.Add(fmt::format("if ({} >= {}) break;", columns_.index(), columns_.count()));
    columns_.Decode(body, columns_.index());
    WriteElement(body, "sums[i][j]");
    body.Close();
    body.Close();
    return;
  }
  const ContractionGroup::Output& output = group_.outputs.front();
  const core::Stage& stage = problem_.stage(output.stage);
  const std::string quad = results_n == 4 ? "thread_n" : fmt::format("thread_n + j / 4 * {}", 4 * TileShape::kLanesN);
  body.Add("#pragma unroll");
  body.Open(fmt::format("for (int j = 0; j < {}; j += 4)", results_n));
  body.Add(fmt::format("const int first = {} + {};", first_column, quad));
  body.Open(fmt::format("if ({}_aligned && first < {})", stage.name, columns_.count()));
  body.Add(fmt::format("const int {} = first;", columns_.index()));
  columns_.Decode(body, columns_.index());
  WriteQuad(body);
  body.Else();
  body.Add("#pragma unroll");
  body.Open("for (int l = 0; l < 4; ++l)");
  body.Add(fmt::format("const int {} = first + l;", columns_.index()));
  body.Add(fmt::format("if ({} >= {}) break;", columns_.index(), columns_.count()));
  columns_.Decode(body, columns_.index());
  std::vector<std::string> arguments = {"sums[i][j + l]"};
  for (const FlatAxis* axis : {&rows_, &columns_})
    for (const Axis& each : axis->axes()) arguments.push_back(variables_.at(each.variable));
  const std::string value =
      function_.empty() ? arguments[0] : fmt::format("{}({})", function_, fmt::join(arguments, ", "));
  AddBroken(body, fmt::format("{}[{}] = {};", stage.name, OffsetOf(output),
                              Stored(problem_, stage.dtype, core::ValueType::kReal, value)));
  body.Close();
  body.Close();
  body.Close();
  body.Close();
}

}  // namespace warpwright::schedule
