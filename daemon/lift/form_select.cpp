// Predicates and selections in normal form: what a condition says of its sides is used there, and what is an extremum,
// a position of one, or a term of a sum becomes that.
#include <algorithm>
#include <cmath>
#include <map>

#include "lift/form_graph.h"

namespace warpwright::lift {

using core::Comparison;

// a or (not a and b) is a or b, a or (a and b) is a, and a or not a is true; likewise with both exchanged. Of a set of
// parts without nested ones of its own kind; 0: nothing of that is there.
FormId FormGraph::WithoutRepetition(FormOp op, const std::vector<FormTerm>& parts) {
  const FormOp dual = op == FormOp::kAnd ? FormOp::kOr : FormOp::kAnd;
  const auto has = [&](FormId id) {
    return std::any_of(parts.begin(), parts.end(), [&](const FormTerm& t) { return t.node == id; });
  };
  const auto has_opposite = [&](FormId id) { return has(Logic(FormOp::kNot, {id})); };
  std::vector<FormId> kept;
  bool changed = false;
  for (const FormTerm& part : parts) {
    if (nodes_[part.node].op != dual) {
      if (has_opposite(part.node)) return Constant(op == FormOp::kAnd ? 0 : 1);
      kept.push_back(part.node);
      continue;
    }
    const std::vector<FormTerm> inner(terms(part.node).begin(), terms(part.node).end());
    const bool contains = std::any_of(inner.begin(), inner.end(), [&](const FormTerm& t) { return has(t.node); });
    std::vector<FormId> rest;
    for (const FormTerm& t : inner)
      if (!has_opposite(t.node)) rest.push_back(t.node);
    changed |= contains || rest.size() < inner.size();
    if (!contains) kept.push_back(rest.size() == inner.size() ? part.node : Logic(dual, std::move(rest)));
  }
  return changed ? Logic(op, std::move(kept)) : 0;
}

// a < b or a = b is a <= b; a <= b and a != b is a < b. 0: there is no such pair.
FormId FormGraph::MergeComparisons(FormOp op, const std::vector<FormTerm>& parts) {
  const bool any = op == FormOp::kOr;
  const auto is = [this](FormId id, Comparison comparison) {
    return nodes_[id].op == FormOp::kCompare && static_cast<Comparison>(nodes_[id].mode) == comparison;
  };
  for (const FormTerm& order : parts) {
    if (!is(order.node, any ? Comparison::kLess : Comparison::kLessEqual)) continue;
    const FormId a = terms(order.node)[0].node, b = terms(order.node)[1].node;
    for (const FormTerm& equality : parts) {
      if (!is(equality.node, any ? Comparison::kEqual : Comparison::kNotEqual)) continue;
      const FormId x = terms(equality.node)[0].node, y = terms(equality.node)[1].node;
      if ((x != a || y != b) && (x != b || y != a)) continue;
      std::vector<FormId> others{Compare(any ? Comparison::kLessEqual : Comparison::kLess, a, b)};
      for (const FormTerm& part : parts)
        if (part.node != order.node && part.node != equality.node) others.push_back(part.node);
      return Logic(op, std::move(others));
    }
  }
  return 0;
}

FormId FormGraph::Logic(FormOp op, std::vector<FormId> args) {
  if (op == FormOp::kNot) {
    const FormNode node = nodes_[args[0]];
    if (const double* c = AsConstant(args[0])) return Constant(*c == 0);
    if (node.op == FormOp::kNot) return terms(args[0])[0].node;
    if (node.op == FormOp::kCompare) {
      const FormId left = terms(args[0])[0].node, right = terms(args[0])[1].node;
      switch (static_cast<Comparison>(node.mode)) {
        case Comparison::kLess: return Compare(Comparison::kLessEqual, right, left);
        case Comparison::kLessEqual: return Compare(Comparison::kLess, right, left);
        case Comparison::kEqual: return Compare(Comparison::kNotEqual, left, right);
        case Comparison::kNotEqual: return Compare(Comparison::kEqual, left, right);
      }
    }
    return Intern({.op = op}, {{args[0], 1}});
  }
  std::vector<FormTerm> flat;
  const double absorbing = op == FormOp::kAnd ? 0 : 1;
  for (const FormId id : args) {
    if (const double* c = AsConstant(id)) {
      if ((*c != 0) == (absorbing != 0)) return Constant(absorbing);
    } else if (nodes_[id].op == op) {
      const auto inner = terms(id);
      flat.insert(flat.end(), inner.begin(), inner.end());
    } else {
      flat.push_back({id, 1});
    }
  }
  std::sort(flat.begin(), flat.end(),
            [this](const FormTerm& a, const FormTerm& b) { return a.node != b.node && Before(a.node, b.node); });
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) return Constant(1 - absorbing);
  if (flat.size() == 1) return flat[0].node;
  if (const FormId merged = MergeComparisons(op, flat)) return merged;
  if (const FormId simpler = WithoutRepetition(op, flat)) return simpler;
  return Intern({.op = op}, std::move(flat));
}

// small < large, or equal and `tie`: 0 if the condition is none.
FormGraph::OrderWithTie FormGraph::AsOrderWithTie(FormId condition) const {
  OrderWithTie order;
  const FormNode& node = nodes_[condition];
  if (node.op == FormOp::kCompare) {
    order.comparison = static_cast<Comparison>(node.mode);
    if (order.comparison != Comparison::kLess && order.comparison != Comparison::kLessEqual) return {};
    order.small = terms(condition)[0].node;
    order.large = terms(condition)[1].node;
    return order;
  }
  if (node.op != FormOp::kOr || node.count != 2) return {};
  for (const size_t k : {0, 1}) {
    const FormId strict = terms(condition)[k].node, equal = terms(condition)[1 - k].node;
    if (nodes_[strict].op != FormOp::kCompare || static_cast<Comparison>(nodes_[strict].mode) != Comparison::kLess ||
        nodes_[equal].op != FormOp::kAnd || nodes_[equal].count != 2)
      continue;
    const FormId small = terms(strict)[0].node, large = terms(strict)[1].node;
    for (const size_t e : {0, 1}) {
      const FormId same = terms(equal)[e].node, tie = terms(equal)[1 - e].node;
      if (nodes_[same].op != FormOp::kCompare || static_cast<Comparison>(nodes_[same].mode) != Comparison::kEqual)
        continue;
      const FormId x = terms(same)[0].node, y = terms(same)[1].node;
      if ((x == small && y == large) || (x == large && y == small)) return {small, large, tie, Comparison::kLess};
    }
  }
  return {};
}

namespace {

FormOp ExtremumOf(uint8_t mode) {
  const auto op = static_cast<core::ReduceOp>(mode);
  return op == core::ReduceOp::kArgMaxFirst || op == core::ReduceOp::kArgMaxLast ? FormOp::kMax : FormOp::kMin;
}
bool TakesFirst(uint8_t mode) {
  const auto op = static_cast<core::ReduceOp>(mode);
  return op == core::ReduceOp::kArgMaxFirst || op == core::ReduceOp::kArgMinFirst;
}

}  // namespace

// select(x > max(S), index of x, arg max of S) is the arg max of S and x. The first of equal values wins if the later
// one must be greater, or if a comparison of the indices says so.
FormId FormGraph::MergeArg(FormId condition, FormId then, FormId otherwise) {
  const OrderWithTie order = AsOrderWithTie(condition);
  const FormId small = order.small, large = order.large;
  if (small == 0 || AsConstant(small) || AsConstant(large)) return 0;
  // The values among which `index` chooses, by an extremum `value`.
  const auto choices = [&](FormId index, FormId value, FormOp extremum, std::vector<FormTerm>& out) {
    if (const double* c = AsConstant(index)) {
      // Of an accumulator and the first value.
      const bool is_extremum = nodes_[value].op == FormOp::kMax || nodes_[value].op == FormOp::kMin;
      if (is_extremum && nodes_[value].count == 1) value = terms(value)[0].node;
      if (nodes_[value].op == extremum) return false;
      out.push_back({value, *c});
      return true;
    }
    if (nodes_[index].op != FormOp::kArg || nodes_[value].op != extremum) return false;
    std::vector<FormTerm> args(terms(index).begin(), terms(index).end());
    // The position of the larger of two is that of the smaller one with the indices exchanged.
    if (args.size() == 2 && ExtremumOf(nodes_[index].mode) != extremum)
      std::swap(args[0].coefficient, args[1].coefficient);
    else if (ExtremumOf(nodes_[index].mode) != extremum) return false;
    const auto values = terms(value);
    if (args.size() != values.size()) return false;
    for (size_t i = 0; i < args.size(); ++i)
      if (args[i].node != values[i].node) return false;
    out.insert(out.end(), args.begin(), args.end());
    return true;
  };
  // Does the tie's comparison choose the lower, the higher index?
  bool lower = false, higher = false;
  if (order.tie != 0 && nodes_[order.tie].op == FormOp::kCompare) {
    const FormId a = terms(order.tie)[0].node, b = terms(order.tie)[1].node;
    const auto comparison = static_cast<Comparison>(nodes_[order.tie].mode);
    const bool is_order = comparison == Comparison::kLess || comparison == Comparison::kLessEqual;
    lower = is_order && a == then && b == otherwise;
    higher = is_order && a == otherwise && b == then;
  }
  if (order.tie != 0 && !lower && !higher) return 0;
  // Of two single values either is possible: the one with ascending indices is what code means.
  const double *index = AsConstant(then), *other = AsConstant(otherwise);
  const bool descends = index && other && (*index < *other) != Before(large, small);
  for (const FormOp extremum : {descends ? FormOp::kMin : FormOp::kMax, descends ? FormOp::kMax : FormOp::kMin}) {
    // kMax: `then` belongs to the larger one.
    std::vector<FormTerm> chosen, kept;
    const FormId winner = extremum == FormOp::kMax ? large : small, loser = extremum == FormOp::kMax ? small : large;
    if (!choices(then, winner, extremum, chosen) || !choices(otherwise, loser, extremum, kept)) continue;
    // Ties: at kLess the one that was kept wins, at kLessEqual the chosen one.
    const bool keeps = order.comparison == core::Comparison::kLess;
    const auto below = [](const std::vector<FormTerm>& a, const std::vector<FormTerm>& b) {
      const auto by = [](const FormTerm& x, const FormTerm& y) { return x.coefficient < y.coefficient; };
      return std::max_element(a.begin(), a.end(), by)->coefficient <
             std::min_element(b.begin(), b.end(), by)->coefficient;
    };
    const bool first = lower || (order.tie == 0 && (keeps ? below(kept, chosen) : below(chosen, kept)));
    const bool last = higher || (order.tie == 0 && (keeps ? below(chosen, kept) : below(kept, chosen)));
    if (!first && !last) continue;
    using core::ReduceOp;
    const ReduceOp mode = extremum == FormOp::kMax ? (first ? ReduceOp::kArgMaxFirst : ReduceOp::kArgMaxLast)
                                                   : (first ? ReduceOp::kArgMinFirst : ReduceOp::kArgMinLast);
    for (const FormId side : {then, otherwise})
      if (nodes_[side].op == FormOp::kArg && TakesFirst(nodes_[side].mode) != first) return 0;
    chosen.insert(chosen.end(), kept.begin(), kept.end());
    std::sort(chosen.begin(), chosen.end(),
              [this](const FormTerm& a, const FormTerm& b) { return a.node != b.node && Before(a.node, b.node); });
    return Intern({.op = FormOp::kArg, .mode = static_cast<uint8_t>(mode)}, std::move(chosen));
  }
  return 0;
}

// What is known where `condition` holds, or does not: predicates that are true.
void FormGraph::AddFacts(FormId condition, bool holds, std::vector<FormId>& facts) {
  const FormNode node = nodes_[condition];
  if (node.op == FormOp::kNot) return AddFacts(terms(condition)[0].node, !holds, facts);
  if (node.op == (holds ? FormOp::kAnd : FormOp::kOr)) {
    const std::vector<FormTerm> parts(terms(condition).begin(), terms(condition).end());
    for (const FormTerm& part : parts) AddFacts(part.node, holds, facts);
    return;
  }
  facts.push_back(holds ? condition : Logic(FormOp::kNot, {condition}));
}

// The same value where the facts are true.
FormId FormGraph::Knowing(std::span<const FormId> facts, FormId id) {
  const auto is_fact = [&](FormId fact) { return std::find(facts.begin(), facts.end(), fact) != facts.end(); };
  for (;;) {
    const FormNode node = nodes_[id];
    if (node.op == FormOp::kSelect) {
      const auto parts = terms(id);
      const FormId condition = parts[0].node, then = parts[1].node, otherwise = parts[2].node;
      if (is_fact(condition)) id = then;
      else if (is_fact(Logic(FormOp::kNot, {condition}))) id = otherwise;
      else return id;
      continue;
    }
    if (node.op != FormOp::kMax && node.op != FormOp::kMin) return id;
    std::vector<FormId> left;
    for (const FormTerm& term : terms(id)) left.push_back(term.node);
    const size_t count = left.size();
    for (const FormId fact : facts) {
      const auto comparison = static_cast<Comparison>(nodes_[fact].mode);
      if (nodes_[fact].op != FormOp::kCompare ||
          (comparison != Comparison::kLess && comparison != Comparison::kLessEqual))
        continue;
      FormId beaten = terms(fact)[0].node, wins = terms(fact)[1].node;
      if (node.op == FormOp::kMin) std::swap(beaten, wins);
      if (std::find(left.begin(), left.end(), wins) != left.end()) std::erase(left, beaten);
    }
    bool known = left.size() < count;
    if (!known)
      for (FormId& part : left) {
        const FormId simpler = nodes_[part].op == FormOp::kSelect ? Knowing(facts, part) : part;
        known |= simpler != part;
        part = simpler;
      }
    if (!known) return id;
    if (left.size() > 1) return Extremum(node.op, left);
    id = left[0];
  }
}

// c ? (d ? 2 : 1) : (d ? 1 : 0) counts: it is (d ? 1 : 0) + (c ? 1 : 0).
FormId FormGraph::SumOfChoices(FormId condition, FormId then, FormId otherwise) {
  if (nodes_[then].op != FormOp::kSelect || nodes_[otherwise].op != FormOp::kSelect) return 0;
  const auto a = terms(then), b = terms(otherwise);
  if (a[0].node != b[0].node) return 0;
  const double *first = AsConstant(a[1].node), *second = AsConstant(a[2].node);
  const double *third = AsConstant(b[1].node), *fourth = AsConstant(b[2].node);
  if (!first || !second || !third || !fourth || *first - *third != *second - *fourth) return 0;
  const double step = *first - *third;
  const FormId one = Constant(step), zero = Constant(0);
  const FormId added = Select(condition, one, zero);
  return Linear(0, {{otherwise, 1}, {added, 1}});
}

// A selection whose side is a selection again, as one where it can be.
FormId FormGraph::MergeSelect(FormId condition, FormId then, FormId otherwise) {
  const auto negated = [this](FormId id) { return Logic(FormOp::kNot, {id}); };
  if (nodes_[otherwise].op == FormOp::kSelect) {
    const auto parts = terms(otherwise);
    const FormId inner = parts[0].node, first = parts[1].node, second = parts[2].node;
    if (first == then) return Select(Logic(FormOp::kOr, {condition, inner}), then, second);
    if (second == then) return Select(Logic(FormOp::kOr, {condition, negated(inner)}), then, first);
    // c and d ? x : (c ? y : z) is c ? (d ? x : y) : z.
    if (nodes_[condition].op == FormOp::kAnd) {
      const FormId opposite = negated(inner);
      std::vector<FormId> others;
      bool has_inner = false, has_opposite = false;
      for (const FormTerm& part : terms(condition)) {
        has_inner |= part.node == inner;
        has_opposite |= part.node == opposite;
        if (part.node != inner && part.node != opposite) others.push_back(part.node);
      }
      if (has_inner) return Select(inner, Select(Logic(FormOp::kAnd, others), then, first), second);
      if (has_opposite) return Select(inner, first, Select(Logic(FormOp::kAnd, others), then, second));
    }
  }
  if (nodes_[then].op == FormOp::kSelect) {
    const auto parts = terms(then);
    const FormId inner = parts[0].node, first = parts[1].node, second = parts[2].node;
    if (second == otherwise) return Select(Logic(FormOp::kAnd, {condition, inner}), first, otherwise);
    if (first == otherwise) return Select(Logic(FormOp::kAnd, {condition, negated(inner)}), second, otherwise);
  }
  return 0;
}

// a - b, term by term.
std::vector<FormTerm> FormGraph::Difference(FormId a, FormId b, double& value) const {
  std::map<FormId, double> terms;
  for (const auto& [id, sign] : {std::pair(a, 1.0), std::pair(b, -1.0)}) {
    const FormNode& node = nodes_[id];
    if (node.op == FormOp::kConstant) {
      value += sign * node.value;
    } else if (node.op == FormOp::kLinear) {
      value += sign * node.value;
      for (const FormTerm& term : this->terms(id)) terms[term.node] += sign * term.coefficient;
    } else {
      terms[id] += sign;
    }
  }
  std::vector<FormTerm> result;
  for (const auto& [node, coefficient] : terms)
    if (std::fabs(coefficient) > 1e-12) result.push_back({node, coefficient});
  return result;
}

FormId FormGraph::Select(FormId condition, FormId then, FormId otherwise) {
  if (const double* c = AsConstant(condition)) return *c != 0 ? then : otherwise;
  if (nodes_[condition].op == FormOp::kNot) return Select(terms(condition)[0].node, otherwise, then);
  std::vector<FormId> holds, fails;
  AddFacts(condition, true, holds);
  AddFacts(condition, false, fails);
  then = Knowing(holds, then);
  otherwise = Knowing(fails, otherwise);
  if (then == otherwise) return then;
  const FormNode compare = nodes_[condition];
  if (compare.op == FormOp::kCompare) {
    const auto comparison = static_cast<Comparison>(compare.mode);
    const FormId left = terms(condition)[0].node, right = terms(condition)[1].node;
    if (comparison == Comparison::kLess || comparison == Comparison::kLessEqual) {
      if (then == left && otherwise == right) return Extremum(FormOp::kMin, {left, right});
      if (then == right && otherwise == left) return Extremum(FormOp::kMax, {left, right});
    }
    if (comparison == Comparison::kNotEqual) return Select(Compare(Comparison::kEqual, left, right), otherwise, then);
    // x = c ? c : x
    if (comparison == Comparison::kEqual)
      for (const auto& [side, other] : {std::pair(left, right), std::pair(right, left)})
        if (then == side && otherwise == other) return otherwise;
    if (const FormId arg = MergeArg(condition, then, otherwise)) return arg;
  }
  if (const OrderWithTie order = AsOrderWithTie(condition); order.tie != 0) {
    // Of equal values, either is the extremum.
    if (then == order.large && otherwise == order.small) return Extremum(FormOp::kMax, {then, otherwise});
    if (then == order.small && otherwise == order.large) return Extremum(FormOp::kMin, {then, otherwise});
    if (const FormId arg = MergeArg(condition, then, otherwise)) return arg;
  }
  // Where one side is the other one as well.
  if (Knowing(fails, then) == otherwise) return then;
  if (Knowing(holds, otherwise) == then) return otherwise;
  // A sum that is extended under a condition: the sum, and the condition in the new term alone.
  if (nodes_[then].op == FormOp::kLinear || nodes_[otherwise].op == FormOp::kLinear) {
    const auto weight = [this](FormId id) {
      return nodes_[id].op == FormOp::kLinear ? nodes_[id].count : AsConstant(id) ? 0u : 1u;
    };
    for (const bool more : {true, false}) {
      const FormId longer = more ? then : otherwise, shorter = more ? otherwise : then;
      if (AsConstant(shorter) || weight(longer) < weight(shorter)) continue;
      double value = 0;
      std::vector<FormTerm> terms = Difference(longer, shorter, value);
      // Where nothing but a number is added, a count goes on.
      if (terms.empty() ? !more : weight(longer) == weight(shorter) || terms.size() >= weight(longer)) continue;
      const FormId added = Linear(value, terms), zero = Constant(0);
      const FormId selected = more ? Select(condition, added, zero) : Select(condition, zero, added);
      return Linear(0, {{shorter, 1}, {selected, 1}});
    }
  }
  // The first term of a sum, under a condition.
  for (const bool first : {true, false}) {
    const FormId sum = first ? then : otherwise, other = first ? otherwise : then;
    const double* nothing = AsConstant(other);
    const FormNode& node = nodes_[sum];
    if (nothing == nullptr || *nothing != 0 || node.op != FormOp::kLinear || node.count != 1 || node.value != 0 ||
        terms(sum)[0].coefficient != 1)
      continue;
    const FormId term = terms(sum)[0].node;
    return OfOne(FormOp::kLinear, first ? Select(condition, term, other) : Select(condition, other, term));
  }
  if (const FormId sum = SumOfChoices(condition, then, otherwise)) return sum;
  if (const FormId merged = MergeSelect(condition, then, otherwise)) return merged;
  // One of a comparison and its opposite.
  if (compare.op == FormOp::kCompare && static_cast<Comparison>(compare.mode) == Comparison::kLessEqual) {
    condition = Logic(FormOp::kNot, {condition});
    std::swap(then, otherwise);
  }
  return Intern({.op = FormOp::kSelect}, {{condition, 1}, {then, 1}, {otherwise, 1}});
}

}  // namespace warpwright::lift
