#include "rewrite/row_parallel_helpers.h"

#include <fmt/core.h>

namespace warpwright::rewrite {
namespace {

bool IsPair(const Reduction& reduction) {
  return reduction.kind == ReductionKind::kArgMax || reduction.kind == ReductionKind::kArgMin;
}

std::string_view Word(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::kSum: return "sum";
    case ReductionKind::kProduct: return "product";
    case ReductionKind::kMax: return "max";
    case ReductionKind::kMin: return "min";
    case ReductionKind::kAnd: return "all";
    case ReductionKind::kOr: return "any";
    case ReductionKind::kBitAnd: return "and";
    case ReductionKind::kBitOr: return "or";
    case ReductionKind::kBitXor: return "xor";
    case ReductionKind::kArgMax: return "argmax";
    case ReductionKind::kArgMin: return "argmin";
  }
  return "";
}

std::string_view Described(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::kSum: return "The sum of one value per thread";
    case ReductionKind::kProduct: return "The product of one value per thread";
    case ReductionKind::kMax: return "The largest of one value per thread";
    case ReductionKind::kMin: return "The smallest of one value per thread";
    case ReductionKind::kAnd: return "Whether the value holds in every thread";
    case ReductionKind::kOr: return "Whether the value holds in any thread";
    case ReductionKind::kBitAnd: return "The bitwise and of one value per thread";
    case ReductionKind::kBitOr: return "The bitwise or of one value per thread";
    case ReductionKind::kBitXor: return "The bitwise exclusive or of one value per thread";
    case ReductionKind::kArgMax: return "The largest of one value per thread, with its index";
    case ReductionKind::kArgMin: return "The smallest of one value per thread, with its index";
  }
  return "";
}

// `value` combined with `other`.
std::string Combined(const Reduction& reduction, const std::string& other) {
  const auto extreme = [&](const char* word, const char* relation) {
    if (reduction.dependent) return fmt::format("{0} {1} value ? {0} : value", other, relation);
    if (reduction.type == "float") return fmt::format("f{}f(value, {})", word, other);
    if (reduction.type == "double") return fmt::format("f{}(value, {})", word, other);
    return fmt::format("{}(value, {})", word, other);
  };
  switch (reduction.kind) {
    case ReductionKind::kSum: return "value + " + other;
    case ReductionKind::kProduct: return "value * " + other;
    case ReductionKind::kMax: return extreme("max", ">");
    case ReductionKind::kMin: return extreme("min", "<");
    case ReductionKind::kAnd: return "value && " + other;
    case ReductionKind::kOr: return "value || " + other;
    case ReductionKind::kBitAnd: return "value & " + other;
    case ReductionKind::kBitOr: return "value | " + other;
    default: return "value ^ " + other;
  }
}

std::string ButterflyOfOne(const Reduction& reduction, const std::string& type) {
  if (reduction.kind == ReductionKind::kSum && !reduction.dependent)
    return "  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);\n";
  return fmt::format(
      "  for (int offset = 16; offset > 0; offset /= 2) {{\n"
      "    const {} other = __shfl_xor_sync(0xffffffffu, value, offset);\n"
      "    value = {};\n"
      "  }}\n",
      type, Combined(reduction, "other"));
}

std::string ButterflyOfPair(const Reduction& reduction, const std::string& type) {
  const char* better = reduction.kind == ReductionKind::kArgMax ? ">" : "<";
  const char* tie = reduction.last_wins ? ">" : "<";
  return fmt::format(
      "  for (int offset = 16; offset > 0; offset /= 2) {{\n"
      "    const {0} other = __shfl_xor_sync(0xffffffffu, value, offset);\n"
      "    const {1} other_index = __shfl_xor_sync(0xffffffffu, index, offset);\n"
      "    if (other {2} value || (other == value && other_index {3} index)) {{\n"
      "      value = other;\n"
      "      index = other_index;\n"
      "    }}\n"
      "  }}\n",
      type, reduction.index_type, better, tie);
}

}  // namespace

std::string HelperBaseName(const Reduction& reduction, RowGroup group) {
  return fmt::format("{}_{}", group == RowGroup::kBlock ? "block" : "warp", Word(reduction.kind));
}

std::string NeutralValue(const Reduction& reduction) {
  const bool sum = reduction.kind == ReductionKind::kSum || reduction.kind == ReductionKind::kBitXor;
  if (!sum && reduction.kind != ReductionKind::kProduct) return "";
  const char* digit = sum ? "0" : "1";
  if (reduction.dependent) return fmt::format("{}({})", reduction.type, digit);
  if (reduction.type == "float") return fmt::format("{}.0f", digit);
  if (reduction.type == "double") return fmt::format("{}.0", digit);
  return digit;
}

ReductionHelper MakeReductionHelper(const Reduction& reduction, RowGroup group, const std::string& name) {
  const std::string type = reduction.dependent ? "T" : reduction.type;
  const bool block = group == RowGroup::kBlock, pair = IsPair(reduction);
  std::string text =
      fmt::format("// {}, over the {}; every thread gets it.", Described(reduction.kind), block ? "block" : "warp");
  if (pair)
    text +=
        fmt::format("\n// Of equal values the one with the {} index.", reduction.last_wins ? "largest" : "smallest");
  text += "\n";
  if (reduction.dependent) text += "template <typename T>\n";
  const std::string butterfly = pair ? ButterflyOfPair(reduction, type) : ButterflyOfOne(reduction, type);
  if (pair) {
    text +=
        fmt::format("__device__ __forceinline__ void {}({}& value, {}& index) {{\n", name, type, reduction.index_type);
  } else {
    text += fmt::format("__device__ __forceinline__ {0} {1}({0} value) {{\n", type, name);
  }
  if (block) {
    text += fmt::format("  __shared__ {} warp_value[32];\n", type);
    if (pair) text += fmt::format("  __shared__ {} warp_index[32];\n", reduction.index_type);
    text += "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;\n";
  }
  text += butterfly;
  if (block) {
    if (pair) {
      text += "  if (lane == 0) {\n    warp_value[warp] = value;\n    warp_index[warp] = index;\n  }\n";
    } else {
      text += "  if (lane == 0) warp_value[warp] = value;\n";
    }
    text += "  __syncthreads();\n";
    const std::string neutral =
        NeutralValue(Reduction{.kind = reduction.kind, .type = type, .dependent = reduction.dependent});
    if (pair) {
      text += "  value = warp_value[lane < warps ? lane : 0];\n  index = warp_index[lane < warps ? lane : 0];\n";
    } else if (neutral.empty()) {
      text += "  value = warp_value[lane < warps ? lane : 0];\n";
    } else {
      text += fmt::format("  value = lane < warps ? warp_value[lane] : {};\n", neutral);
    }
    text += butterfly;
    text += "  __syncthreads();  // the shared values are free for the next call\n";
  }
  text += pair ? "}\n" : "  return value;\n}\n";
  return {name, text};
}

}  // namespace warpwright::rewrite
