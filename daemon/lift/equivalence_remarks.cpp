#include "lift/equivalence_remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace warpwright::lift {
namespace {

using core::Function;

// Beyond that, literals are a table rather than coefficients.
constexpr size_t kTable = 32;

// Instructions and calls of one function of real numbers by one name; nothing for what other arithmetic replaces
// freely.
std::string_view FunctionOf(const Expr& e) {
  switch (e.op) {
    case ExprOp::kEx2: return "exp";
    case ExprOp::kLg2: return "log";
    case ExprOp::kSin: return "sin";
    case ExprOp::kCos: return "cos";
    case ExprOp::kTanh: return "tanh";
    case ExprOp::kCall: break;
    default: return {};
  }
  const auto function = static_cast<Function>(e.mode);
  switch (function) {
    case Function::kExp:
    case Function::kExp2:
    case Function::kExp10:
    case Function::kExpm1: return "exp";
    case Function::kLog:
    case Function::kLog2:
    case Function::kLog10:
    case Function::kLog1p: return "log";
    case Function::kSqrt:
    case Function::kRsqrt:
    case Function::kReciprocal: return {};
    default: return core::Name(function);
  }
}

struct Traits {
  std::set<std::string> functions;
  std::map<uint16_t, std::set<uint64_t>> reads;  // elements by buffer
  std::set<uint16_t> gathers;
  std::set<uint64_t> literals;
  bool compares = false, takes_bits_apart = false;
};

Traits TraitsOf(const Graph& graph, std::span<const ElementPair> pairs, ExprId ElementPair::* side) {
  std::vector<bool> reached(graph.size(), false);
  for (const ElementPair& pair : pairs) reached[pair.*side] = true;
  Traits traits;
  for (ExprId id = graph.size(); id-- > 1;) {
    if (!reached[id]) continue;
    const Expr& e = graph[id];
    for (const ExprId arg : e.arguments()) reached[arg] = true;
    if (const auto function = FunctionOf(e); !function.empty()) traits.functions.emplace(function);
    if (e.op == ExprOp::kLoad) traits.reads[e.buffer].insert(e.payload);
    if (e.op == ExprOp::kGather) traits.gathers.insert(e.buffer);
    if (e.op == ExprOp::kConst && sim::IsFloat(e.type)) traits.literals.insert(e.payload);
    traits.compares |= e.op == ExprOp::kCompare && sim::IsFloat(e.from);
    for (const ExprId arg : e.arguments())
      traits.takes_bits_apart |= (IsIntegerType(e.type) || e.op == ExprOp::kExtract) && e.op != ExprOp::kConvert &&
                                 e.op != ExprOp::kSelect && sim::IsFloat(graph[arg].type);
  }
  return traits;
}

}  // namespace

std::vector<std::string> RemarksOn(const Graph& graph, std::span<const ElementPair> pairs,
                                   std::span<const std::string> names) {
  const Traits original = TraitsOf(graph, pairs, &ElementPair::original),
               candidate = TraitsOf(graph, pairs, &ElementPair::candidate);
  std::vector<std::string> remarks;
  for (const std::string& function : original.functions)
    if (!candidate.functions.contains(function))
      remarks.push_back(fmt::format("it calls no {}, which the original does", function));
  for (const std::string& function : candidate.functions)
    if (!original.functions.contains(function))
      remarks.push_back(fmt::format("it calls {}, which the original does not", function));
  for (uint16_t buffer = 0; buffer < static_cast<uint16_t>(names.size()); ++buffer) {
    if (original.gathers.contains(buffer) || candidate.gathers.contains(buffer)) continue;
    const auto elements = [buffer](const Traits& traits) {
      const auto found = traits.reads.find(buffer);
      return found == traits.reads.end() ? std::set<uint64_t>() : found->second;
    };
    const std::set<uint64_t> needed = elements(original), read = elements(candidate);
    std::vector<uint64_t> left_out, more;
    std::set_difference(needed.begin(), needed.end(), read.begin(), read.end(), std::back_inserter(left_out));
    std::set_difference(read.begin(), read.end(), needed.begin(), needed.end(), std::back_inserter(more));
    if (!left_out.empty())
      remarks.push_back(fmt::format("no output depends on {} of the {} elements of {} on which the original's do",
                                    left_out.size(), needed.size(), names[buffer]));
    if (!more.empty())
      remarks.push_back(fmt::format("outputs depend on {} elements of {} on which the original's do not", more.size(),
                                    names[buffer]));
  }
  if (candidate.compares && !original.compares)
    remarks.emplace_back("it decides by comparing data, which the original does not");
  if (candidate.takes_bits_apart && !original.takes_bits_apart)
    remarks.emplace_back("it takes the bits of numbers apart, which the original does not");
  if (candidate.literals.size() > original.literals.size() + kTable)
    remarks.push_back(fmt::format("it has {} literals where the original has {}: a table", candidate.literals.size(),
                                  original.literals.size()));
  return remarks;
}

}  // namespace warpwright::lift
