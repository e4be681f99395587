#include <functional>

#include "core/computation_walk.h"
#include "tests/support/computation_builder.h"
#include "tests/unit/computation/variants.h"

namespace warpwright::testing {
namespace {

using core::Affine;
using core::Computation;
using core::Function;
using core::Guard;
using core::Node;
using core::ReduceOp;
using core::Size;

class Mutation {
 public:
  explicit Mutation(const Computation& computation) : original_(computation) {}

  std::vector<Mutant> Run() {
    for (size_t s = 0; s < original_.stages.size(); ++s) {
      MutateStage(s);
      for (size_t n = 0; n < original_.stages[s].nodes.size(); ++n) MutateNode(s, n);
    }
    return std::move(mutants_);
  }

 private:
  void Add(const std::string& what, const std::function<void(Computation&)>& change) {
    Computation changed = original_;
    change(changed);
    if (changed == original_) return;
    mutants_.push_back({what, std::move(changed)});
  }
  static Size Plus(const Size& size, const char* more) { return S("(" + size.text() + ")+(" + more + ")"); }

  // `pick` finds the position in a changed Computation.
  void MutatePosition(const std::string& what, const std::function<Affine&(Computation&)>& pick) {
    for (const char* more : {"1", "-1"})
      Add(what + ": offset " + more, [&](Computation& c) {
        Affine& position = pick(c);
        // By one element also where it is divided.
        position.constant = S("(" + position.constant.text() + ")+(" + more + ")*(" + position.divisor.text() + ")");
      });
    Computation probe = original_;
    const size_t terms = pick(probe).terms.size();
    for (size_t t = 0; t < terms; ++t) {
      Add(what + ": coefficient",
          [&](Computation& c) { pick(c).terms[t].coefficient = Plus(pick(c).terms[t].coefficient, "1"); });
      Add(what + ": no term",
          [&](Computation& c) { pick(c).terms.erase(pick(c).terms.begin() + static_cast<std::ptrdiff_t>(t)); });
      Add(what + ": modulus", [&](Computation& c) {
        if (auto& modulus = pick(c).terms[t].modulus) modulus = Plus(*modulus, "1");
      });
    }
  }
  void MutateGuards(const std::string& what, const std::function<std::vector<Guard>&(Computation&)>& pick) {
    Computation probe = original_;
    for (size_t g = 0; g < pick(probe).size(); ++g) {
      for (const char* more : {"2", "-2"}) {  // what is guarded may be odd throughout
        Add(what + ": guard's low " + more, [&](Computation& c) {
          if (auto& low = pick(c)[g].low) low = Plus(*low, more);
        });
        Add(what + ": guard's high " + more, [&](Computation& c) {
          if (auto& high = pick(c)[g].high) high = Plus(*high, more);
        });
      }
      Add(what + ": no guard",
          [&](Computation& c) { pick(c).erase(pick(c).begin() + static_cast<std::ptrdiff_t>(g)); });
    }
  }

  void MutateStage(size_t s) {
    const core::Stage& stage = original_.stages[s];
    if (!stage.output) return;  // what it computes is only what is read of it
    const std::string what = stage.name + " " + std::to_string(s);
    MutateGuards(what, [s](Computation& c) -> std::vector<Guard>& { return c.stages[s].domain; });
    for (size_t i = 0; i < stage.at.size(); ++i)
      MutatePosition(what + " at", [s, i](Computation& c) -> Affine& { return c.stages[s].at[i]; });
    for (size_t i = 0; i < stage.extents.size(); ++i)
      Add(what + ": extent", [&](Computation& c) { c.stages[s].extents[i] = Plus(c.stages[s].extents[i], "-1"); });
    Add(what + ": type", [&](Computation& c) {
      for (auto& tensor : c.tensors)
        if (tensor.name == stage.name) tensor.dtype = core::DType::kF64;
      for (auto& other : c.stages)
        if (other.name == stage.name) other.dtype = core::DType::kF64;
    });
  }

  void MutateNode(size_t s, size_t n) {
    const std::string what = original_.stages[s].name + " " + std::to_string(s) + "." + std::to_string(n);
    const auto node = [s, n](Computation& c) -> Node& { return c.stages[s].nodes[n]; };
    std::visit(
        Overload{
            [&](const core::Constant& constant) {
              for (const double value : {constant.value + 1, constant.value * 1.01 + 1e-3})
                Add(what + ": constant", [&](Computation& c) { node(c) = core::Constant{value}; });
            },
            [&](const core::SizeValue& value) {
              Add(what + ": size", [&](Computation& c) { node(c) = core::SizeValue{Plus(value.size, "1")}; });
            },
            [&](const core::IndexValue&) {
              MutatePosition(what,
                             [node](Computation& c) -> Affine& { return std::get<core::IndexValue>(node(c)).index; });
            },
            [&](const core::TensorRead& read) { MutateRead(what, s, n, read); },
            [&](const core::Reduce& reduce) { MutateReduce(what, s, n, reduce); },
            [&](const core::Nary& nary) {
              for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProduct, ReduceOp::kMax, ReduceOp::kMin})
                Add(what + ": operation", [&](Computation& c) { std::get<core::Nary>(node(c)).op = op; });
              // max(a, a, b) is max(a, b): of these it is no mutant.
              const bool idempotent = nary.op == ReduceOp::kMax || nary.op == ReduceOp::kMin;
              for (size_t i = 0; i < nary.args.size() && !idempotent; ++i)
                Add(what + ": argument twice", [&](Computation& c) {
                  auto& args = std::get<core::Nary>(node(c)).args;
                  args.push_back(args[i]);
                });
              for (size_t i = 0; i < nary.args.size() && nary.args.size() > 2; ++i)
                Add(what + ": no argument", [&](Computation& c) {
                  auto& args = std::get<core::Nary>(node(c)).args;
                  args.erase(args.begin() + static_cast<std::ptrdiff_t>(i));
                });
            },
            [&](const core::Call& call) {
              if (call.args.size() != 1 || core::IsInteger(call.function)) return;
              for (const Function function : {Function::kExp, Function::kTanh, Function::kSqrt, Function::kReciprocal})
                Add(what + ": function", [&](Computation& c) { std::get<core::Call>(node(c)).function = function; });
            },
            [&](const core::Compare&) {
              for (int op = 0; op < 4; ++op)
                Add(what + ": comparison",
                    [&](Computation& c) { std::get<core::Compare>(node(c)).op = static_cast<core::Comparison>(op); });
            },
            [&](const core::Select& select) {
              Add(what + ": branches",
                  [&](Computation& c) { node(c) = core::Select{select.condition, select.otherwise, select.then}; });
            },
            [](const auto&) {}},
        original_.stages[s].nodes[n]);
  }

  void MutateRead(const std::string& what, size_t s, size_t n, const core::TensorRead& read) {
    for (size_t i = 0; i < read.at.size(); ++i) {
      if (!std::holds_alternative<Affine>(read.at[i])) continue;
      MutatePosition(what + " coordinate " + std::to_string(i), [=](Computation& c) -> Affine& {
        return std::get<Affine>(std::get<core::TensorRead>(c.stages[s].nodes[n]).at[i]);
      });
    }
    for (const auto& tensor : original_.tensors)
      if (!read.stage && tensor.read && tensor.shape.size() == read.at.size() && IsFloat(tensor.dtype))
        Add(what + ": another argument",
            [&](Computation& c) { std::get<core::TensorRead>(c.stages[s].nodes[n]).tensor = tensor.name; });
  }

  void MutateReduce(const std::string& what, size_t s, size_t n, const core::Reduce& reduce) {
    const auto pick = [s, n](Computation& c) -> core::Reduce& { return std::get<core::Reduce>(c.stages[s].nodes[n]); };
    for (int op = 0; op <= static_cast<int>(ReduceOp::kArgMinLast); ++op)
      if (core::IsArg(static_cast<ReduceOp>(op)) == core::IsArg(reduce.op))
        Add(what + ": reduction", [&](Computation& c) { pick(c).op = static_cast<ReduceOp>(op); });
    for (size_t v = 0; v < reduce.variables.size(); ++v)
      Add(what + ": extent",
          [&](Computation& c) { pick(c).variables[v].extent = Plus(reduce.variables[v].extent, "-1"); });
    MutateGuards(what, [pick](Computation& c) -> std::vector<Guard>& { return pick(c).guards; });
    if (reduce.index) MutatePosition(what + " index", [pick](Computation& c) -> Affine& { return *pick(c).index; });
  }

  const Computation& original_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> Mutants(const Computation& computation) { return Mutation(computation).Run(); }

}  // namespace warpwright::testing
