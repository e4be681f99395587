#include "lift/describe.h"

#include <fmt/format.h>

#include <bit>

#include "core/dtype.h"

namespace warpwright::lift {
namespace {

using sim::Type;

std::string_view TypeName(Type type) {
  constexpr std::string_view kTypes[] = {"none",  "pred", "b8",     "b16",  "b32", "b64", "b128", "u8",
                                         "u16",   "u32",  "u64",    "s8",   "s16", "s32", "s64",  "f16",
                                         "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64"};
  static_assert(std::size(kTypes) == static_cast<size_t>(Type::kF64) + 1);
  return kTypes[static_cast<size_t>(type)];
}

std::string Number(Type type, uint64_t bits) {
  switch (type) {
    case Type::kF64: return fmt::format("{}", std::bit_cast<double>(bits));
    case Type::kF32: return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case Type::kF16: return fmt::format("{}", core::HalfToFloat(static_cast<uint16_t>(bits)));
    case Type::kBf16: return fmt::format("{}", core::BFloat16ToFloat(static_cast<uint16_t>(bits)));
    default: break;
  }
  const int up = 64 - Width(type);
  return sim::IsSigned(type) ? fmt::format("{}", static_cast<int64_t>(bits << up) >> up) : fmt::format("{}", bits);
}

constexpr std::string_view kCompares[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                          "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

}  // namespace

std::string Describe(const Graph& graph, ExprId id, int depth, std::span<const std::string> buffers) {
  const auto buffer = [&](uint16_t number) {
    return number < buffers.size() ? buffers[number] : fmt::format("b{}", number);
  };
  if (id == kConcrete) return "concrete";
  const Expr& e = graph[id];
  switch (e.op) {
    case ExprOp::kConst: return fmt::format("{}:{}", Number(e.type, e.payload), TypeName(e.type));
    case ExprOp::kLoad: return fmt::format("{}[{}]", buffer(e.buffer), e.payload);
    case ExprOp::kScalar: return fmt::format("s{}", e.buffer);
    default: break;
  }
  if (depth <= 0) return "...";
  std::string args;
  for (const ExprId arg : e.arguments()) args += (args.empty() ? "" : ", ") + Describe(graph, arg, depth - 1, buffers);
  if (e.op == ExprOp::kGather) return fmt::format("{}[{}]", buffer(e.buffer), args);
  std::string name(Name(e.op));
  if (e.op == ExprOp::kCompare) name = kCompares[e.mode];
  else if (e.op == ExprOp::kCall) name = core::Name(static_cast<core::Function>(e.mode));
  else if (e.mode != 0) name += fmt::format("/{}", e.mode);
  if (e.type != Type::kPred) name += fmt::format(".{}", TypeName(e.type));
  if (e.from != Type::kNone) name += fmt::format(".{}", TypeName(e.from));
  if (e.approx) name += e.flush ? "~z" : "~";
  if (e.op == ExprOp::kExtract) args += fmt::format(" @{}", e.payload);
  return fmt::format("{}({})", name, args);
}

}  // namespace warpwright::lift
