// Positions in the normal form.
#include <algorithm>
#include <numeric>

#include "core/normal_graph.h"

namespace warpwright::core {
namespace {

const Polynomial kOne(1);

bool IsNull(const Polynomial& p) { return p.valid() && p.terms().empty(); }
// Whatever its names stand for, of which each is at least 1.
bool IsNonNegative(const Polynomial& p) {
  int64_t sum = 0;
  for (const auto& [monomial, coefficient] : p.terms()) {
    if (!monomial.empty() && coefficient < 0) return false;
    if (__builtin_add_overflow(sum, coefficient, &sum)) return false;
  }
  return p.valid() && sum >= 0;
}
bool IsNonPositive(const Polynomial& p) { return IsNonNegative(Polynomial() - p); }

int64_t FloorOf(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Divides all of it, or nothing.
bool DivideAll(NormalIndex& index, const Polynomial& by) {
  NormalIndex divided = index;
  const auto constant = index.constant.DividedBy(by), divisor = index.divisor.DividedBy(by);
  if (!constant || !divisor) return false;
  divided.constant = *constant;
  divided.divisor = *divisor;
  for (auto& [atom, coefficient] : divided.terms) {
    const auto quotient = coefficient.DividedBy(by);
    if (!quotient) return false;
    coefficient = *quotient;
  }
  index = std::move(divided);
  return true;
}

}  // namespace

TokenId NormalGraph::Token(const std::string& name) {
  const auto [at, added] = token_ids_.emplace(name, static_cast<TokenId>(token_names_.size()));
  if (added) token_names_.push_back(name);
  return at->second;
}
TokenId NormalGraph::FreshToken(const Polynomial& extent) {
  const TokenId token = Token("$" + std::to_string(token_names_.size()));
  extents_[token] = extent;
  return token;
}

void NormalGraph::LimitExtent(TokenId token, const Polynomial& extent) {
  const auto known = extents_.find(token);
  if (known != extents_.end() && known->second != extent) extents_.erase(known);
}

AtomId NormalGraph::InternAtom(Atom atom) {
  ++asked_;
  atom.hash = HashOf(Serialized(atom, nullptr));
  const auto found = atom_ids_.find(atom.hash);
  if (found != atom_ids_.end()) return found->second;
  if (atom.kind == Atom::Kind::kToken) atom.tokens = {atom.token};
  else if (atom.kind == Atom::Kind::kGather)
    atom.tokens = nodes_[atom.node].tokens, atom.height = nodes_[atom.node].height;
  else atom.tokens = TokensOf(atom.inner);
  for (const auto& [inner, coefficient] : atom.inner.terms) atom.height = std::max(atom.height, atoms_[inner].height);
  const auto id = static_cast<AtomId>(atoms_.size());
  atom_ids_.emplace(atom.hash, id);
  atoms_.push_back(std::move(atom));
  return id;
}

NormalIndex NormalGraph::OfToken(TokenId token) { return OfAtom(InternAtom({.token = token})); }
NormalIndex NormalGraph::OfGather(NormalId node) {
  return OfAtom(InternAtom({.kind = Atom::Kind::kGather, .node = node}));
}

std::vector<TokenId> NormalGraph::TokensOf(const NormalIndex& index) const {
  std::vector<TokenId> tokens;
  for (const auto& [atom, coefficient] : index.terms)
    tokens.insert(tokens.end(), atoms_[atom].tokens.begin(), atoms_[atom].tokens.end());
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

void NormalGraph::Tidy(NormalIndex& index) const {
  std::sort(index.terms.begin(), index.terms.end(),
            [&](const auto& a, const auto& b) { return atoms_[a.first].hash < atoms_[b.first].hash; });
  std::vector<std::pair<AtomId, Polynomial>> merged;
  for (auto& term : index.terms) {
    if (!merged.empty() && merged.back().first == term.first) merged.back().second = merged.back().second + term.second;
    else merged.push_back(std::move(term));
  }
  std::erase_if(merged, [](const auto& term) { return IsNull(term.second); });
  index.terms = std::move(merged);
  if (index.divisor == kOne || DivideAll(index, index.divisor)) return;
  int64_t common = std::gcd(index.divisor.Content(), index.constant.Content());
  for (const auto& [atom, coefficient] : index.terms) common = std::gcd(common, coefficient.Content());
  if (common > 1) DivideAll(index, Polynomial(common));
}

NormalIndex NormalGraph::Sum(const NormalIndex& a, const NormalIndex& b, const Polynomial& factor) {
  NormalIndex sum = a;
  Polynomial scale = factor;
  if (a.divisor != b.divisor) {
    for (auto& [atom, coefficient] : sum.terms) coefficient = coefficient * b.divisor;
    sum.constant = sum.constant * b.divisor;
    scale = factor * a.divisor;
    sum.divisor = a.divisor * b.divisor;
  }
  for (const auto& [atom, coefficient] : b.terms) sum.terms.emplace_back(atom, coefficient * scale);
  sum.constant = sum.constant + b.constant * scale;
  Tidy(sum);
  return sum;
}
NormalIndex NormalGraph::Divided(NormalIndex a, const Polynomial& divisor) {
  a.divisor = a.divisor * divisor;
  Tidy(a);
  return a;
}

// floor((m a + b) / m) = a + floor(b / m), and 0 <= b < m where b is a variable that goes up to there.
NormalIndex NormalGraph::Part(Affine::Part part, const NormalIndex& whole, const Polynomial& modulus) {
  const bool quotient = part == Affine::Part::kQuotient;
  if (modulus == kOne) return quotient ? whole : NormalIndex{};
  NormalIndex multiple, rest = whole;
  if (whole.divisor == kOne) {
    rest.terms.clear();
    for (const auto& [atom, coefficient] : whole.terms) {
      if (const auto times = coefficient.DividedBy(modulus)) multiple.terms.emplace_back(atom, *times);
      else rest.terms.emplace_back(atom, coefficient);
    }
    const auto constant = whole.constant.constant(), by = modulus.constant();
    if (const auto times = whole.constant.DividedBy(modulus)) {
      multiple.constant = *times;
      rest.constant = Polynomial();
    } else if (constant && by && *by > 0) {
      const int64_t floor = FloorOf(*constant, *by);
      multiple.constant = Polynomial(floor);
      rest.constant = Polynomial(*constant - floor * *by);
    }
    const bool single = rest.terms.size() == 1 && rest.terms[0].second == kOne && IsNull(rest.constant);
    const Atom* only = single ? &atoms_[rest.terms[0].first] : nullptr;
    const bool token = only != nullptr && only->kind == Atom::Kind::kToken && extents_.contains(only->token);
    const bool small = token && IsNonNegative(modulus - extents_.at(only->token));
    const bool number = rest.terms.empty() && rest.constant.constant() && by && *by > 0;
    if (small || number) return quotient ? multiple : rest;
    if (quotient && only != nullptr && only->kind == Atom::Kind::kQuotient) {
      Atom deeper = *only;
      deeper.modulus = deeper.modulus * modulus;
      return Sum(multiple, OfAtom(InternAtom(std::move(deeper))));
    }
  }
  const Atom::Kind kind = quotient ? Atom::Kind::kQuotient : Atom::Kind::kRemainder;
  const NormalIndex opaque = OfAtom(InternAtom({.kind = kind, .inner = rest, .modulus = modulus}));
  return quotient ? Sum(multiple, opaque) : opaque;
}

void NormalGraph::AddConstraints(const NormalIndex& value, const std::optional<Polynomial>& low,
                                 const std::optional<Polynomial>& high, std::vector<NormalIndex>& constraints) {
  NormalIndex numerator = value;
  numerator.divisor = kOne;
  if (value.divisor != kOne) {
    // Whether it is an integer does not depend on multiples of the divisor.
    NormalIndex whole = value;
    const auto divisor = value.divisor.constant();
    const auto remainder = [&](Polynomial& number) {
      const auto known = number.constant();
      if (divisor && *divisor > 0 && known) number = Polynomial(*known - FloorOf(*known, *divisor) * *divisor);
    };
    remainder(whole.constant);
    for (auto& [atom, coefficient] : whole.terms) remainder(coefficient);
    constraints.push_back(std::move(whole));
  }
  if (low) constraints.push_back(Sum(numerator, OfNumber(*low * value.divisor), Polynomial(-1)));
  if (high) constraints.push_back(Sum(OfNumber((*high - kOne) * value.divisor), numerator, Polynomial(-1)));
}

// At its smallest over the box it is not negative.
bool NormalGraph::IsImplied(const NormalIndex& constraint, const Variables& box) const {
  if (constraint.divisor != kOne) return false;
  Polynomial least = constraint.constant;
  for (const auto& [atom, coefficient] : constraint.terms) {
    if (atoms_[atom].kind != Atom::Kind::kToken) return false;
    const auto variable =
        std::find_if(box.begin(), box.end(), [&](const auto& v) { return v.first == atoms_[atom].token; });
    std::optional<Polynomial> extent;
    if (variable != box.end()) extent = variable->second;
    else if (const auto known = extents_.find(atoms_[atom].token); known != extents_.end()) extent = known->second;
    if (!extent) return false;
    if (IsNonNegative(coefficient)) continue;
    if (!IsNonPositive(coefficient)) return false;
    least = least + coefficient * (*extent - kOne);
  }
  return IsNonNegative(least);
}

void NormalGraph::TidyConstraints(std::vector<NormalIndex>& constraints, const Variables& box) const {
  std::map<std::string, NormalIndex> unique;
  for (auto& constraint : constraints) {
    if (constraint.divisor == kOne) {
      int64_t common = 0;
      for (const auto& [atom, coefficient] : constraint.terms) common = std::gcd(common, coefficient.Content());
      const auto constant = constraint.constant.constant();
      if (common > 1 && constant) {  // 2 x - 3 >= 0: x - 2 >= 0
        constraint.constant = Polynomial(FloorOf(*constant, common));
        for (auto& [atom, coefficient] : constraint.terms) coefficient = *coefficient.DividedBy(Polynomial(common));
      }
    }
    if (!IsImplied(constraint, box)) unique.emplace(Serialized(constraint, nullptr), std::move(constraint));
  }
  constraints.clear();
  for (auto& [text, constraint] : unique) constraints.push_back(std::move(constraint));
}

}  // namespace warpwright::core
