#include "schedule/reduction_code.h"

#include <fmt/format.h>

#include "schedule/expression_code.h"

namespace warpwright::schedule {
namespace {

constexpr int kWarpLanes = 32;

bool IsMaximum(core::ReduceOp op) {
  return op == core::ReduceOp::kMax || op == core::ReduceOp::kArgMaxFirst || op == core::ReduceOp::kArgMaxLast;
}
bool TakesFirst(core::ReduceOp op) { return op == core::ReduceOp::kArgMaxFirst || op == core::ReduceOp::kArgMinFirst; }

// "other > value || (other == value && at < index)"
std::string Better(core::ReduceOp op, const std::string& other, const std::string& at, const std::string& value,
                   const std::string& index) {
  return fmt::format("{0} {1} {2} || ({0} == {2} && {3} {4} {5})", other, IsMaximum(op) ? ">" : "<", value, at,
                     TakesFirst(op) ? "<" : ">", index);
}

// "value += other;"
std::string Step(const Problem& problem, Accumulator a, const std::string& other) {
  a.value = "value";
  return Updated(problem, a, other, "").front();
}

// `lanes`: neighbours that begin at a multiple of their number.
std::string LanesFunction(const Problem& problem, const Accumulator& a, int lanes, const std::string& name) {
  const std::string team = lanes == kWarpLanes ? "the lanes of a warp" : fmt::format("{} neighbouring lanes", lanes);
  if (!core::IsArg(a.op))
    return fmt::format(
        "// The {} over {}, in each of them.\n"
        "__device__ __forceinline__ {} {}({} value) {{\n"
        "  for (int offset = {}; offset > 0; offset /= 2) {{\n"
        "    {}\n"
        "  }}\n"
        "  return value;\n"
        "}}\n",
        WordFor(a.op), team, a.c_type, name, a.c_type, lanes / 2,
        Step(problem, a, "__shfl_xor_sync(0xffffffffu, value, offset)"));
  return fmt::format(
      "// The {} over {}, in each of them: of equal values the {} index.\n"
      "__device__ __forceinline__ void {}({}& value, int& index) {{\n"
      "  for (int offset = {}; offset > 0; offset /= 2) {{\n"
      "    const {} other = __shfl_xor_sync(0xffffffffu, value, offset);\n"
      "    const int at = __shfl_xor_sync(0xffffffffu, index, offset);\n"
      "    if ({}) {{\n"
      "      value = other;\n"
      "      index = at;\n"
      "    }}\n"
      "  }}\n"
      "}}\n",
      WordFor(a.op), team, TakesFirst(a.op) ? "smallest" : "largest", name, a.c_type, lanes / 2, a.c_type,
      Better(a.op, "other", "at", "value", "index"));
}

std::string BlockFunction(const Problem& problem, const Accumulator& a, const std::string& name,
                          const std::string& of_warp) {
  const bool arg = core::IsArg(a.op);
  const std::string neutral = NeutralText(problem, a.op, a.type);
  const std::string none = TakesFirst(a.op) ? "0x7fffffff" : "-1";
  std::string text = fmt::format("// The {} over the threads of a block, in each of them; the block has whole warps.\n",
                                 WordFor(a.op));
  text += arg ? fmt::format("__device__ __forceinline__ void {}({}& value, int& index) {{\n", name, a.c_type)
              : fmt::format("__device__ __forceinline__ {} {}({} value) {{\n", a.c_type, name, a.c_type);
  text += fmt::format("  __shared__ {} of_warp[32];\n", a.c_type);
  if (arg) text += "  __shared__ int index_of_warp[32];\n";
  text += "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n";
  text += arg ? fmt::format("  {}(value, index);\n", of_warp) : fmt::format("  value = {}(value);\n", of_warp);
  text += "  __syncthreads();  // the results of a call before are still being read\n";
  text += "  if (lane == 0) {\n    of_warp[warp] = value;\n";
  if (arg) text += "    index_of_warp[warp] = index;\n";
  text += "  }\n  __syncthreads();\n";
  text += fmt::format("  value = lane < blockDim.x / 32 ? of_warp[lane] : {};\n", neutral);
  if (arg) text += fmt::format("  index = lane < blockDim.x / 32 ? index_of_warp[lane] : {};\n", none);
  text += arg ? fmt::format("  {}(value, index);\n}}\n", of_warp) : fmt::format("  return {}(value);\n}}\n", of_warp);
  return text;
}

std::string ColumnFunction(const Problem& problem, const Accumulator& a, const std::string& name) {
  const bool arg = core::IsArg(a.op);
  std::string text = fmt::format(
      "// The {} over the threads of a block that have the same threadIdx.x, in each of them.\n", WordFor(a.op));
  text += arg ? fmt::format("__device__ __forceinline__ void {}({}& value, int& index) {{\n", name, a.c_type)
              : fmt::format("__device__ __forceinline__ {} {}({} value) {{\n", a.c_type, name, a.c_type);
  text += fmt::format("  __shared__ {} of_thread[32][33];\n", a.c_type);
  if (arg) text += "  __shared__ int index_of_thread[32][33];\n";
  text += "  __syncthreads();  // the results of a call before are still being read\n";
  text += "  of_thread[threadIdx.y][threadIdx.x] = value;\n";
  if (arg) text += "  index_of_thread[threadIdx.y][threadIdx.x] = index;\n";
  text += "  __syncthreads();\n";
  if (arg) {
    text += fmt::format(
        "  for (int y = 0; y < blockDim.y; ++y) {{\n"
        "    const {} other = of_thread[y][threadIdx.x];\n"
        "    const int at = index_of_thread[y][threadIdx.x];\n"
        "    if ({}) {{\n"
        "      value = other;\n"
        "      index = at;\n"
        "    }}\n"
        "  }}\n"
        "}}\n",
        a.c_type, Better(a.op, "other", "at", "value", "index"));
    return text;
  }
  text += "  value = of_thread[0][threadIdx.x];\n";
  text += fmt::format("  for (int y = 1; y < blockDim.y; ++y) {}\n", Step(problem, a, "of_thread[y][threadIdx.x]"));
  return text + "  return value;\n}\n";
}

// "argmax_last": functions of the same word do the same.
std::string WordOf(const Accumulator& a) {
  return WordFor(a.op) + (core::IsArg(a.op) && !TakesFirst(a.op) ? "_last" : "");
}
std::string LanesName(const Problem& problem, const Accumulator& a, int lanes) {
  return problem.shared_name((lanes == kWarpLanes ? "warp_" : fmt::format("lanes{}_", lanes)) + WordOf(a));
}
std::string Call(const Accumulator& a, const std::string& name) {
  return core::IsArg(a.op) ? fmt::format("{}({}, {});", name, a.value, a.index)
                           : fmt::format("{0} = {1}({0});", a.value, name);
}

}  // namespace

std::string WordFor(core::ReduceOp op) {
  switch (op) {
    case core::ReduceOp::kSum: return "sum";
    case core::ReduceOp::kProduct: return "product";
    case core::ReduceOp::kMax: return "max";
    case core::ReduceOp::kMin: return "min";
    case core::ReduceOp::kArgMaxFirst:
    case core::ReduceOp::kArgMaxLast: return "argmax";
    case core::ReduceOp::kArgMinFirst:
    case core::ReduceOp::kArgMinLast: return "argmin";
  }
  return "sum";
}

std::optional<std::string> NameInOriginal(const Problem& problem, core::ReduceOp op) {
  const auto name = problem.entry.results.find(op);
  if (name == problem.entry.results.end()) return std::nullopt;
  size_t of_op = 0;
  for (const core::Stage& stage : problem.form.stages)
    for (const core::Node& node : stage.nodes)
      if (const auto* reduce = std::get_if<core::Reduce>(&node)) of_op += reduce->op == op ? 1 : 0;
  return of_op == 1 ? std::optional(name->second) : std::nullopt;
}

std::vector<std::string> NamesFor(const Problem& problem, const core::Stage& stage, const core::Reduce& reduce,
                                  bool others) {
  if (const auto own = NameInOriginal(problem, reduce.op)) return {*own, WordFor(reduce.op) + "_of_row"};
  switch (reduce.op) {
    case core::ReduceOp::kSum: break;
    case core::ReduceOp::kProduct: return {"product"};
    case core::ReduceOp::kMin:
    case core::ReduceOp::kArgMinFirst:
    case core::ReduceOp::kArgMinLast: return {"smallest", "minimum"};
    case core::ReduceOp::kMax:
    case core::ReduceOp::kArgMaxFirst:
    case core::ReduceOp::kArgMaxLast: return {"largest", "maximum"};
  }
  const std::vector<std::string> plain = {"sum", "total"};
  if (!others) return plain;
  const core::Node& body = stage.nodes[reduce.body];
  if (const auto* call = std::get_if<core::Call>(&body); call && call->function == core::Function::kExp)
    return {"exponentials", "total"};
  const auto* product = std::get_if<core::Nary>(&body);
  if (product == nullptr || product->op != core::ReduceOp::kProduct || product->args.size() != 2) return plain;
  const auto* left = std::get_if<core::TensorRead>(&stage.nodes[product->args[0]]);
  const auto* right = std::get_if<core::TensorRead>(&stage.nodes[product->args[1]]);
  if (product->args[0] == product->args[1]) return {left ? left->tensor + "_squares" : "squares", "total"};
  if (left && right) return {"dot", left->tensor + "_dot_" + right->tensor, "total"};
  return plain;
}

std::vector<std::string> Declared(const Problem& problem, const Accumulator& a) {
  std::vector<std::string> lines = {fmt::format("{} {} = {};", a.c_type, a.value, NeutralText(problem, a.op, a.type))};
  // Of nothing, and of what is all infinite, the first is 0.
  if (core::IsArg(a.op)) lines.push_back(fmt::format("int {} = {};", a.index, TakesFirst(a.op) ? "0" : "-1"));
  return lines;
}

std::vector<std::string> Updated(const Problem& problem, const Accumulator& a, const std::string& value,
                                 const std::string& index) {
  if (core::IsArg(a.op))
    return {fmt::format("if ({}) {{", Better(a.op, value, index, a.value, a.index)),
            fmt::format("  {} = {};", a.value, value), fmt::format("  {} = {};", a.index, index), "}"};
  if (a.op == core::ReduceOp::kSum) {
    const bool negative = value.starts_with("-") && Parenthesized(value.substr(1)) == value.substr(1);
    return {fmt::format("{} {}= {};", a.value, negative ? '-' : '+', negative ? value.substr(1) : value)};
  }
  if (a.op == core::ReduceOp::kProduct) return {fmt::format("{} *= {};", a.value, value)};
  return {fmt::format("{} = {};", a.value, CombinedText(problem, a.op, a.type, a.value, value))};
}

std::string Combined(const Problem& problem, const Accumulator& a, Team team, std::vector<std::string>& helpers) {
  if (team == Team::kWarp) return CombinedOverLanes(problem, a, kWarpLanes, helpers);
  std::string name;
  if (team == Team::kColumn) {
    name = problem.shared_name("column_" + WordOf(a));
    helpers.push_back(ColumnFunction(problem, a, name));
  } else {
    const std::string of_warp = LanesName(problem, a, kWarpLanes);
    helpers.push_back(LanesFunction(problem, a, kWarpLanes, of_warp));
    name = problem.shared_name("block_" + WordOf(a));
    helpers.push_back(BlockFunction(problem, a, name, of_warp));
  }
  return Call(a, name);
}

std::string CombinedOverLanes(const Problem& problem, const Accumulator& a, int lanes,
                              std::vector<std::string>& helpers) {
  const std::string name = LanesName(problem, a, lanes);
  helpers.push_back(LanesFunction(problem, a, lanes, name));
  return Call(a, name);
}

std::string WarpPrefixFunction(const Problem& problem, const Accumulator& a, const std::string& name) {
  return fmt::format(
      "// The {0} over the lanes of a warp that stand before this one, and in `total` over all of them.\n"
      "__device__ __forceinline__ {1} {2}({1} value, {1}& total) {{\n"
      "  const int lane = threadIdx.x % 32;\n"
      "  for (int offset = 1; offset < 32; offset *= 2) {{\n"
      "    const {1} left = __shfl_up_sync(0xffffffffu, value, offset);\n"
      "    if (lane >= offset) value = {3};\n"
      "  }}\n"
      "  total = __shfl_sync(0xffffffffu, value, 31);\n"
      "  const {1} before = __shfl_up_sync(0xffffffffu, value, 1);\n"
      "  return lane == 0 ? {4} : before;\n"
      "}}\n",
      WordFor(a.op), a.c_type, name, CombinedText(problem, a.op, a.type, "left", "value"),
      Parenthesized(NeutralText(problem, a.op, a.type)));
}

std::string WarpsBeforeFunction(const Problem& problem, const Accumulator& a, const std::string& name) {
  Accumulator total = a;
  total.value = "total";
  return fmt::format(
      "// The {0} over the warps of a block that stand before this one, and in `total` over all of them.\n"
      "__device__ __forceinline__ {1} {2}({1} value, {1}& total) {{\n"
      "  __shared__ {1} of_warp[32];\n"
      "  const int warp = threadIdx.x / 32;\n"
      "  __syncthreads();  // the results of a call before are still being read\n"
      "  if (threadIdx.x % 32 == 0) of_warp[warp] = value;\n"
      "  __syncthreads();\n"
      "  {1} before = {3};\n"
      "  total = {3};\n"
      "  for (int w = 0; w < blockDim.x / 32; ++w) {{\n"
      "    if (w == warp) before = total;\n"
      "    {4}\n"
      "  }}\n"
      "  return before;\n"
      "}}\n",
      WordFor(a.op), a.c_type, name, NeutralText(problem, a.op, a.type),
      Updated(problem, total, "of_warp[w]", "").front());
}

}  // namespace warpwright::schedule
