// Every form of every instruction that the simulator has been compared with a GPU on: the expression of its result has
// the simulator's value, for the inputs of the trace and for others.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/instruction_table.h"
#include "tests/unit/lift/trace_kit.h"

namespace warpwright::lift {
namespace {

using core::DType;

constexpr size_t kInputs = 128;

DType TypeOfInputs(char kind) {
  return kind == 's'   ? DType::kF32
         : kind == 'd' ? DType::kF64
         : kind == 'h' ? DType::kF16
         : kind == 'b' ? DType::kBF16
                       : DType::kI64;
}

std::vector<std::byte> BytesOf(const std::vector<sim::Triple>& inputs, size_t first) {
  std::vector<std::byte> bytes(kInputs * sizeof(sim::Triple));
  std::memcpy(bytes.data(), inputs.data() + first, bytes.size());
  return bytes;
}

TraceKit KitOf(size_t index, size_t first) {
  const sim::InstructionCase& c = sim::InstructionTable()[index];
  const std::string kernel = sim::InstructionKernel(index);
  TraceKit kit = TraceKit::FromPtx(sim::InstructionModule(index, index + 1), {kernel});
  const DType type = TypeOfInputs(c.inputs);
  const uint32_t out = kit.Argument("out", DType::kI64, kInputs),
                 in = kit.Argument("in", type, kInputs * sizeof(sim::Triple) / core::SizeOf(type));
  kit.buffers[in].bytes = BytesOf(sim::InstructionInputs(c.inputs), first);
  kit.buffers[in].uninitialized = false;
  kit.Launch(kernel, {1}, {kInputs}, TraceKit::Pointer{out}, TraceKit::Pointer{in});
  return kit;
}

// A NaN of f64 has the payload that the host gives it.
bool Same(const sim::InstructionCase& c, uint64_t a, uint64_t b) {
  if (a == b) return true;
  const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
  if (c.inputs == 'd' && std::isnan(x) && std::isnan(y)) return true;
  if (c.tolerance == 0) return false;
  // An approximate function's last bits, of a float or of two halves.
  const auto f = std::bit_cast<float>(static_cast<uint32_t>(a)), g = std::bit_cast<float>(static_cast<uint32_t>(b));
  return a >> 32 == b >> 32 && (std::abs(static_cast<int64_t>(a) - static_cast<int64_t>(b)) <= 2 || f == g);
}

// Forms that have no expression: their results on data are taken as they happen to be, and the trace says so. Some have
// one where an operand is a constant, which is the use that occurs.
constexpr std::string_view kWithoutExpression[] = {"addc", "subc",  "madc",  "fns",        "bfe",
                                                   "bfi",  "bmsk",  "brev",  "szext",      "prmt",
                                                   "shf",  "mul24", "mad24", "mad.hi.sat", "xorsign"};

TEST(LiftInstructions, HaveTheSimulatorsValues) {
  const auto& table = sim::InstructionTable();
  std::set<std::string> without;
  size_t traced = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    TraceKit kit = KitOf(i, 0), other = KitOf(i, kInputs);
    TraceOutcome outcome = kit.Outcome(), expected = other.Outcome();
    if (!std::holds_alternative<Trace>(outcome) || !std::holds_alternative<Trace>(expected)) continue;
    const Trace& trace = std::get<Trace>(outcome);
    const Trace& second = std::get<Trace>(expected);
    if (!trace.branches.empty() && table[i].text.find('@') != std::string::npos)
      continue;  // a guard that depends on data
    EXPECT_TRUE(trace.branches.empty()) << table[i].text;
    if (!trace.lossy.empty()) {
      without.insert(table[i].text);
      continue;
    }
    ++traced;
    const size_t size = core::SizeOf(kit.request.dtypes[1]);
    int shown = 0;
    for (const TraceKit* inputs : {&kit, &other}) {
      LeafValues leaves;
      leaves.load = [&](uint16_t buffer, uint64_t element) {
        uint64_t bits = 0;
        std::memcpy(&bits, inputs->buffers[buffer].bytes.data() + element * size, size);
        return bits;
      };
      Evaluation evaluate(trace.graph, leaves);
      for (size_t k = 0; k < kInputs; ++k) {
        const ExprId id = trace.buffers[0].elements[k];
        const uint64_t want = (inputs == &kit ? trace : second).buffers[0].bits[k];
        const uint64_t got = id == kConcrete ? trace.buffers[0].bits[k] : evaluate(id);
        if (Same(table[i], got, want) || ++shown > 2) continue;
        ADD_FAILURE() << table[i].text << " of input " << k << (inputs == &kit ? "" : " of the others") << ": "
                      << Describe(trace.graph, id) << " is " << std::hex << got << " instead of " << want;
      }
    }
  }
  std::set<std::string_view> used;
  for (const std::string& text : without) {
    bool known = false;
    for (const std::string_view word : kWithoutExpression) {
      if (text.find(word) == std::string::npos) continue;
      known = true;
      used.insert(word);
    }
    EXPECT_TRUE(known) << text << " has no expression";
  }
  EXPECT_EQ(used.size(), std::size(kWithoutExpression));
  EXPECT_GT(traced, 800u);
}

}  // namespace
}  // namespace warpwright::lift
