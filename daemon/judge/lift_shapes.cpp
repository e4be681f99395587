#include "judge/lift_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <regex>
#include <set>
#include <tuple>

#include "base/random.h"
#include "core/dtype.h"
#include "judge/shapes.h"
#include "judge/size_relations.h"
#include "judge/timed_shapes.h"

namespace warpwright::judge {
namespace {

using core::Sizes;

constexpr int64_t kSmall = 12;  // sizes up to it stay: taps, strides, flags
constexpr int64_t kTiny = 3;
// Pairwise different at one shape and from shape to shape; odd and even, prime and not.
constexpr int64_t kSubstitutes[][6] = {
    {7, 10, 13, 9, 11, 6}, {9, 6, 11, 14, 8, 13}, {11, 13, 8, 7, 15, 10}, {6, 9, 17, 12, 7, 14}};
// For launchers that ask for divisibility.
constexpr int64_t kMultiples[][4] = {{32, 64, 96, 128}, {64, 96, 32, 160}, {96, 32, 128, 64}};

uint64_t ElementsOf(const core::KernelSpec& spec, const Scalars& scalars) {
  const Sizes sizes = IntegersOf(scalars);
  uint64_t elements = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    uint64_t count = 1;
    for (const core::Expression& extent : buffer->shape) {
      const auto value = extent.Evaluate(sizes);
      if (!value || *value < 0) return UINT64_MAX;
      count *= static_cast<uint64_t>(*value);
      if (count > (uint64_t{1} << 40)) return UINT64_MAX;
    }
    elements += count;
  }
  return elements;
}

constexpr int64_t kLeastPart = 8;  // less is a pool's window, which kernels cut off at the end of an odd row

// By size: the number by which a buffer's extent divides it, if that leaves no rest in any case: the edge of a patch.
std::map<std::string, int64_t> WholeParts(const core::KernelSpec& spec) {
  static const std::regex quotient(R"(([A-Za-z_]\w*) / (\d{1,3})(?!\w))");
  std::map<std::string, int64_t> parts;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    for (const core::Expression& extent : buffer->shape) {
      const std::string& text = extent.text();
      for (std::sregex_iterator found(text.begin(), text.end(), quotient), end; found != end; ++found) {
        const int64_t by = std::stoll((*found)[2]);
        const std::vector<int64_t> values = ValuesInCases(spec, (*found)[1]);
        const bool whole = by >= kLeastPart && values.size() == spec.cases.size() && !values.empty() &&
                           std::all_of(values.begin(), values.end(), [&](int64_t v) { return v % by == 0; });
        if (int64_t& part = parts[(*found)[1]]; whole && (part == 0 || by % part == 0)) part = by;
      }
    }
  }
  std::erase_if(parts, [](const auto& part) { return part.second == 0; });
  return parts;
}

// Sizes that are whole patches in every case are some of them here, of two and more.
void KeepWholeParts(const core::KernelSpec& spec, const SizeRelations& relations, Scalars& scalars) {
  for (const auto& [name, part] : WholeParts(spec)) {
    int64_t& value = std::get<int64_t>(scalars.at(name));
    if (!relations.Has(name) && value % part != 0) value = part * (2 + value / 2 % 3);
  }
}

// Sizes that are multiples of another one in every case, channels of their groups, are multiples here: of two and more,
// for a group of one channel has another form.
void KeepMultiples(const core::KernelSpec& spec, const SizeRelations& relations, Scalars& scalars) {
  KeepWholeParts(spec, relations, scalars);
  if (spec.cases.size() < 2) return;
  int64_t variety = 0;
  for (const auto& [name, value] : IntegersOf(scalars)) variety += value;
  for (const core::Argument& multiple : spec.args) {
    const std::vector<int64_t> values = ValuesInCases(spec, multiple.name);
    if (values.size() != spec.cases.size() || relations.Has(multiple.name)) continue;
    for (const core::Argument& divisor : spec.args) {
      if (relations.IsOfWindow(divisor.name)) continue;  // a batch of as many as the padding is a coincidence
      const std::vector<int64_t> divisors = ValuesInCases(spec, divisor.name);
      bool divides = divisors.size() == values.size() && !relations.Has(divisor.name);
      for (size_t j = 0; divides && j < values.size(); ++j)
        divides = divisors[j] > 1 && values[j] > divisors[j] && values[j] % divisors[j] == 0;
      if (!divides) continue;
      int64_t& value = std::get<int64_t>(scalars.at(multiple.name));
      const int64_t by = std::get<int64_t>(scalars.at(divisor.name));
      // Two and three, so that the number of channels in a group is told from a number.
      if (by > 1 && value <= by) value = (2 + variety / 2 % 2) * by;
      else if (by > 1) value = (value + by - 1) / by * by;
    }
  }
}

template <size_t kCount>
Scalars ShrunkTo(const core::KernelSpec& spec, const core::Case& from, const SizeRelations& relations,
                 const int64_t (&substitutes)[kCount]) {
  Scalars scalars = from.scalars;
  std::map<std::vector<int64_t>, int64_t> chosen;  // sizes that are equal in all cases stay equal
  for (const core::Argument& argument : spec.args) {
    const auto found = scalars.find(argument.name);
    if (found == scalars.end()) continue;
    int64_t* value = std::get_if<int64_t>(&found->second);
    if (value == nullptr || relations.Has(argument.name) || *value <= kSmall) continue;
    const auto [entry, added] = chosen.emplace(ValuesInCases(spec, argument.name), substitutes[chosen.size() % kCount]);
    *value = entry->second;
  }
  KeepMultiples(spec, relations, scalars);
  relations.Follow(scalars);
  return scalars;
}

// By smaller numbers where there are many sizes: what is to be traced is their product.
template <size_t kCount>
Scalars Shrunk(const core::KernelSpec& spec, const core::Case& from, const SizeRelations& relations,
               const int64_t (&substitutes)[kCount]) {
  constexpr uint64_t kMostElements = 60'000;
  constexpr int64_t kLeast = 3;
  int64_t smaller[kCount];
  std::copy(std::begin(substitutes), std::end(substitutes), smaller);
  Scalars scalars = ShrunkTo(spec, from, relations, smaller);
  for (int step = 0; step < 2 && ElementsOf(spec, scalars) > kMostElements; ++step) {
    for (int64_t& size : smaller) size = std::max(kLeast, size * 2 / 3);
    scalars = ShrunkTo(spec, from, relations, smaller);
  }
  return scalars;
}

// Dimensions that other cases have otherwise, and that were small enough to stay, by one more or less, each by its own.
void VarySmall(const core::KernelSpec& spec, const core::Case& from, const SizeRelations& relations, size_t number,
               Scalars& scalars) {
  size_t count = 0;
  for (const core::Argument& argument : spec.args) {
    const auto found = scalars.find(argument.name);
    int64_t* value = found == scalars.end() ? nullptr : std::get_if<int64_t>(&found->second);
    if (value == nullptr || found->second != from.scalars.at(argument.name) || *value < 2) continue;
    if (relations.Has(argument.name) || relations.IsOfWindow(argument.name) || !IsDimension(spec, argument.name))
      continue;
    const std::vector<int64_t> values = ValuesInCases(spec, argument.name);
    const bool varies = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
    if (varies) *value = std::max<int64_t>(2, *value - 1 + static_cast<int64_t>((number + count++) % 3));
  }
  KeepMultiples(spec, relations, scalars);
  relations.Follow(scalars);
}

// The case whose time counts on a GPU, or the largest.
const core::Case& TimedCase(const core::KernelSpec& spec) {
  const auto rank = [&](const core::Case& c) {
    return std::tuple(c.weight > 0 && c.on.contains(core::DeviceKind::kCuda), ElementsOf(spec, c.scalars));
  };
  return *std::max_element(spec.cases.begin(), spec.cases.end(),
                           [&](const core::Case& a, const core::Case& b) { return rank(a) < rank(b); });
}

// A little larger, every size by another amount; what is 3 or less stays, where it may be a tap, stride or flag, but a
// dimension that is another one elsewhere.
Scalars Grown(const core::KernelSpec& spec, const core::Case& from, const SizeRelations& relations, int64_t step) {
  Scalars scalars = from.scalars;
  std::map<std::vector<int64_t>, int64_t> grown;  // sizes that are equal in all cases stay equal
  for (const core::Argument& argument : spec.args) {
    const auto found = scalars.find(argument.name);
    if (found == scalars.end()) continue;
    int64_t* value = std::get_if<int64_t>(&found->second);
    if (value == nullptr || relations.Has(argument.name) || relations.IsOfWindow(argument.name)) continue;
    const std::vector<int64_t> values = ValuesInCases(spec, argument.name);
    const bool varies = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
    const bool small = varies || (*value > 1 && step > 2);
    const auto count = static_cast<int64_t>(grown.size());
    if (*value > kTiny || (small && *value > 0 && IsDimension(spec, argument.name)))
      *value = grown.emplace(values, *value + 1 + (count * step) % 4 + step / 3).first->second;
  }
  KeepMultiples(spec, relations, scalars);
  relations.Follow(scalars);
  return scalars;
}

// Strides, paddings and dilations that are equal in all cases that are small, to one another or to a dimension, cannot
// be told apart, nor those of a window that do not change from case to case, or always by as much as others of it: for
// each but the first of them a shape at which it alone is one more. `bases`: shapes to begin from, in turns.
std::vector<Scalars> ToldApart(const core::KernelSpec& spec, const SizeRelations& relations,
                               const std::vector<const core::Case*>& small, const std::vector<Scalars>& bases) {
  std::map<std::vector<int64_t>, size_t> equal;  // values in the cases -> how many scalars have them
  const auto values_of = [&](const std::string& name) {
    std::vector<int64_t> values;
    for (const core::Case* c : small) {
      const auto found = c->scalars.find(name);
      const int64_t* value = found == c->scalars.end() ? nullptr : std::get_if<int64_t>(&found->second);
      if (value != nullptr && *value > 0 && *value <= kTiny) values.push_back(*value);
    }
    return values.size() == small.size() ? values : std::vector<int64_t>{};
  };
  std::map<std::vector<int64_t>, size_t> alike = {
      {std::vector<int64_t>(spec.cases.size()), 1}};  // of windows, by change
  const auto changes_of = [&](const std::string& name) {
    std::vector<int64_t> values = ValuesInCases(spec, name);
    for (size_t j = values.size(); j-- > 0;) values[j] -= values[0];
    return values;
  };
  for (const core::Argument& argument : spec.args)
    if (IsDimension(spec, argument.name)) equal[values_of(argument.name)] = 1;
  std::vector<Scalars> shapes;
  const auto from = [&] { return bases[shapes.size() % bases.size()]; };
  const auto is_small = [&](const std::string& name) { return !values_of(name).empty() && !IsDimension(spec, name); };
  for (const core::Argument& argument : spec.args) {
    const bool coincides = relations.IsOfWindow(argument.name)
                               ? alike[changes_of(argument.name)]++ > 0
                               : is_small(argument.name) && equal[values_of(argument.name)]++ > 0;
    if (!coincides) continue;
    Scalars scalars = from();
    int64_t& value = std::get<int64_t>(scalars.at(argument.name));
    const bool skips = relations.SkipsPositions(scalars);
    for (++value; !skips && value <= kSmall && relations.SkipsPositions(scalars);) ++value;
    relations.FollowWindows(scalars);
    shapes.push_back(std::move(scalars));
  }
  // And one at which each of them is larger, by another amount: two that are always three together are not told apart
  // by shapes that keep them.
  Scalars scalars = from();
  int64_t more = 0;
  for (const core::Argument& argument : spec.args)
    if (is_small(argument.name) && !relations.IsOfWindow(argument.name))
      std::get<int64_t>(scalars.at(argument.name)) += ++more;
  relations.FollowWindows(scalars);
  if (more > 1) shapes.push_back(std::move(scalars));
  return shapes;
}

// Values that do not occur by chance.
void MakeUnusual(Scalars& scalars, size_t shape) {
  size_t k = 0;
  for (auto& [name, value] : scalars) {
    double* real = std::get_if<double>(&value);
    if (real == nullptr) continue;
    const double step = 0.0113 * static_cast<double>(shape) + 0.0041 * static_cast<double>(k++);
    *real = static_cast<float>(*real == 0 ? 0.0371 + step : *real * (0.9371 + step));
  }
}

void Fill(const core::BufferArgument& buffer, const Sizes& sizes, const base::CounterRandom& random,
          std::vector<std::byte>& bytes) {
  const size_t width = core::SizeOf(buffer.dtype);
  const size_t count = bytes.size() / width;
  using Kind = core::Init::Kind;
  for (size_t i = 0; i < count; ++i) {
    const double u = static_cast<double>(random.Bits(2 * i) >> 11) * 0x1p-53;
    const double v = static_cast<double>(random.Bits(2 * i + 1) >> 11) * 0x1p-53;
    double value = std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * M_PI * v);  // normal(0, 1)
    if (buffer.init.kind == Kind::kConstant) {
      value = buffer.init.a;
    } else if (buffer.init.kind == Kind::kUniform) {
      value = buffer.init.a + u * (buffer.init.b - buffer.init.a);
    } else if (buffer.init.kind == Kind::kNormal) {
      value = buffer.init.a + buffer.init.b * value;
    } else if (buffer.init.kind == Kind::kPareto || buffer.init.kind == Kind::kLognormal) {
      value = std::exp(value / 2);
    }
    if (!core::IsFloat(buffer.dtype)) {
      int64_t low = 0, high = buffer.dtype == core::DType::kBool ? 1 : 127;
      if (buffer.init.kind == Kind::kIntegers) {
        if (buffer.init.low) low = buffer.init.low->Evaluate(sizes).value_or(0);
        if (buffer.init.high) high = buffer.init.high->Evaluate(sizes).value_or(low);
      } else if (buffer.init.kind == Kind::kConstant) {
        low = high = static_cast<int64_t>(buffer.init.a);
      }
      const uint64_t range = static_cast<uint64_t>(std::max<int64_t>(high - low, 0)) + 1;
      value = static_cast<double>(low + static_cast<int64_t>(random.Bits(2 * i) % range));
    }
    core::StoreFromDouble(buffer.dtype, bytes.data(), i, value);
  }
}

// The largest power of two that divides a size in every case.
std::map<std::string, int64_t> Divisors(const core::KernelSpec& spec) {
  std::map<std::string, int64_t> divisors;
  for (const core::Argument& argument : spec.args) {
    const std::vector<int64_t> values = ValuesInCases(spec, argument.name);
    if (values.empty() || *std::min_element(values.begin(), values.end()) <= kTiny) continue;
    int64_t divisor = core::kMostDivisible;
    while (std::any_of(values.begin(), values.end(), [&](int64_t v) { return v % divisor != 0; })) divisor /= 2;
    if (divisor > 1) divisors[argument.name] = divisor;
  }
  return divisors;
}

bool IsEven(const std::map<std::string, int64_t>& divisors, const Scalars& scalars) {
  return std::all_of(divisors.begin(), divisors.end(),
                     [&](const auto& d) { return std::get<int64_t>(scalars.at(d.first)) % d.second == 0; });
}

// Rounded up to what divides every case.
Scalars Evened(const std::map<std::string, int64_t>& divisors, const SizeRelations& relations, Scalars scalars) {
  for (const auto& [name, divisor] : divisors)
    if (!relations.Has(name)) {
      int64_t& value = std::get<int64_t>(scalars.at(name));
      value = (value + divisor - 1) / divisor * divisor;
    }
  relations.Follow(scalars);
  return scalars;
}

// Dimensions that are equal in every case, one of them larger than the others at a time.
std::vector<Scalars> Apart(const core::KernelSpec& spec, const std::map<std::string, int64_t>& divisors,
                           const SizeRelations& relations, const Scalars& from) {
  std::map<std::vector<int64_t>, size_t> equal;
  std::vector<Scalars> shapes;
  for (const core::Argument& argument : spec.args) {
    const std::vector<int64_t> values = ValuesInCases(spec, argument.name);
    if (values.empty() || values[0] <= kTiny || !IsDimension(spec, argument.name) || equal[values]++ == 0) continue;
    Scalars scalars = from;
    const auto divisor = divisors.find(argument.name);
    const int64_t step = divisor == divisors.end() ? 1 : divisor->second;
    std::get<int64_t>(scalars.at(argument.name)) += step * static_cast<int64_t>(equal[values]);
    relations.FollowWindows(scalars);
    shapes.push_back(std::move(scalars));
  }
  return shapes;
}

struct ChosenShape {
  Scalars scalars;
  bool even = true, apart = false;
};

constexpr size_t kEvenShapes = 4, kApartShapes = 3;

// After those that fit to all that code may ask for: some that divide as in the cases, and some that differ where these
// do not.
std::vector<ChosenShape> WithSpecial(const core::KernelSpec& spec, std::vector<Scalars> usual) {
  const auto divisors = Divisors(spec);
  const SizeRelations relations = SizeRelations::Of(spec);
  std::set<Sizes> seen;
  std::vector<ChosenShape> shapes;
  const auto add = [&](Scalars scalars, bool apart) {
    const bool is_new = seen.insert(IntegersOf(scalars)).second;
    if (apart && !is_new) return;
    const bool even = IsEven(divisors, scalars);
    shapes.push_back({std::move(scalars), even, apart});
  };
  for (Scalars& scalars : usual) add(std::move(scalars), false);
  if (shapes.empty() || spec.cases.empty()) return shapes;
  const Scalars smallest = shapes[0].scalars;
  const auto even = [&] {
    return static_cast<size_t>(std::count_if(shapes.begin(), shapes.end(), [](const auto& s) { return s.even; }));
  };
  for (size_t k = 0; !divisors.empty() && even() < kEvenShapes && k < kEvenShapes; ++k) {
    Scalars scalars = Evened(divisors, relations, Shrunk(spec, spec.cases[0], relations, kSubstitutes[k]));
    if (!seen.contains(IntegersOf(scalars))) add(std::move(scalars), false);
  }
  size_t count = 0;
  for (Scalars& scalars : Apart(spec, divisors, relations, Evened(divisors, relations, smallest)))
    if (count++ < kApartShapes) add(std::move(scalars), true);
  return shapes;
}

// Whether a dimension is one there, and more in another case.
bool HasSingleOfSeveral(const core::KernelSpec& spec, const core::Case& c) {
  return std::any_of(c.scalars.begin(), c.scalars.end(), [&](const auto& scalar) {
    const int64_t* value = std::get_if<int64_t>(&scalar.second);
    if (value == nullptr || *value != 1 || !IsDimension(spec, scalar.first)) return false;
    const std::vector<int64_t> values = ValuesInCases(spec, scalar.first);
    return std::any_of(values.begin(), values.end(), [](int64_t v) { return v > 1; });
  });
}

constexpr uint64_t kTraced = 20'000;  // elements

std::vector<Scalars> LikeTimed(const core::KernelSpec& spec, const SizeRelations& relations,
                               SmallSizes small = SmallSizes::kVary) {
  if (spec.cases.empty() || ElementsOf(spec, TimedCase(spec).scalars) <= kTraced) return {};
  std::vector<Scalars> shapes = ShapesLike(spec, TimedCase(spec), relations, small);
  for (Scalars& scalars : shapes) {
    KeepMultiples(spec, relations, scalars);
    relations.Follow(scalars);
  }
  return shapes;
}

std::vector<Scalars> ChooseShapes(const core::KernelSpec& spec, size_t count) {
  std::vector<Scalars> shapes;
  std::set<Sizes> seen;
  const auto add = [&](Scalars scalars) {
    if (!seen.insert(IntegersOf(scalars)).second) return;
    shapes.push_back(std::move(scalars));
  };
  std::vector<const core::Case*> cases;
  for (const core::Case& c : spec.cases) cases.push_back(&c);
  std::stable_sort(cases.begin(), cases.end(), [&](const core::Case* a, const core::Case* b) {
    return ElementsOf(spec, a->scalars) < ElementsOf(spec, b->scalars);
  });
  constexpr size_t kOfOneSize = 4;
  constexpr size_t kFew = 6;  // where all sizes are small, shrinking gives nothing new
  std::vector<const core::Case*> small;
  for (const core::Case* c : cases) {
    if (ElementsOf(spec, c->scalars) > kTraced) continue;
    small.push_back(c);
    add(c->scalars);
  }
  const SizeRelations relations = SizeRelations::Of(spec);
  const std::vector<Scalars> like_timed = LikeTimed(spec, relations);
  if (!cases.empty()) {
    // The windows of every case, over shrunk extents.
    std::vector<Scalars> bases;
    for (const auto& substitutes : kSubstitutes) {
      core::Case from = *cases[relations.HasWindows() ? bases.size() % cases.size() : 0];
      if (HasSingleOfSeveral(spec, from)) from.scalars = Grown(spec, from, relations, 1);
      bases.push_back(Shrunk(spec, from, relations, substitutes));
    }
    if (small.empty()) {
      add(bases.front());
      std::rotate(bases.begin(), bases.begin() + 1, bases.end());
    } else if (!relations.HasWindows()) {
      bases = {HasSingleOfSeveral(spec, *small.front()) ? Grown(spec, *small.front(), relations, 1) : shapes.front()};
    }
    const std::vector<Scalars> others(shapes.begin() + 1, shapes.end());
    shapes.resize(1);
    for (Scalars& told_apart : ToldApart(spec, relations, small.empty() ? cases : small, bases))
      add(std::move(told_apart));
    if (relations.HasWindows())
      for (const Scalars& base : bases) add(base);
    shapes.insert(shapes.end(), others.begin(), others.end());
  }
  for (size_t k = 0; k < std::min<size_t>(cases.size(), 2); ++k)
    if (ElementsOf(spec, cases[k]->scalars) <= kTraced)
      add(Grown(spec, *cases[k], relations, static_cast<int64_t>(k) + 1));
  // A form at one image of several is another form: from shapes that have more.
  const bool degenerate = !cases.empty() && HasSingleOfSeveral(spec, *cases.front());
  for (int64_t step = 1; const auto& substitutes : kSubstitutes) {
    if (cases.empty()) break;
    core::Case from = *cases.front();
    if (degenerate) from.scalars = Grown(spec, from, relations, step);
    Scalars shrunk = Shrunk(spec, from, relations, substitutes);
    if (step % 2 == 0) VarySmall(spec, from, relations, static_cast<size_t>(step), shrunk);
    add(std::move(shrunk));
    ++step;
  }
  if (shapes.size() < kFew)
    for (int64_t step = 3; step < 7; ++step)
      if (!cases.empty() && ElementsOf(spec, cases[0]->scalars) <= kTraced)
        add(Grown(spec, *cases[static_cast<size_t>(step) % std::min<size_t>(cases.size(), 2)], relations, step));
  for (const auto& substitutes : kMultiples)
    if (!cases.empty()) add(Shrunk(spec, *cases.back(), relations, substitutes));
  for (const core::Case* c : cases) add(c->scalars);
  // Of sizes that are hard-coded, other data tells whether it is right.
  while (shapes.size() == 1 || (shapes.size() > 1 && shapes.size() < kOfOneSize && seen.size() == 1))
    shapes.push_back(shapes[0]);
  if (shapes.size() > count) shapes.resize(count);
  std::erase_if(shapes, [&](const Scalars& shape) {
    return std::any_of(like_timed.begin(), like_timed.end(),
                       [&](const Scalars& timed) { return IntegersOf(timed) == IntegersOf(shape); });
  });
  shapes.insert(shapes.begin(), like_timed.begin(), like_timed.end());
  return shapes;
}

Result<std::vector<core::BufferContent>> MakeContents(const core::KernelSpec& spec, const Scalars& scalars,
                                                      uint64_t seed, uint64_t limit_bytes) {
  core::Case c;
  c.scalars = scalars;
  const Sizes sizes = IntegersOf(scalars);
  std::vector<core::BufferContent> contents;
  uint64_t total = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    WW_ASSIGN(const std::vector<int64_t> shape, core::ShapeOf(argument, c));
    uint64_t bytes = core::SizeOf(buffer->dtype);
    for (const int64_t extent : shape) {
      if (extent != 0 && bytes > limit_bytes / static_cast<uint64_t>(extent))
        return Fail(ErrorCode::kUnsupported, "the shape is too large to be lifted");
      bytes *= static_cast<uint64_t>(extent);
    }
    total += bytes;
    if (total > limit_bytes) return Fail(ErrorCode::kUnsupported, "the shape is too large to be lifted");
    std::vector<std::byte> data(bytes);
    Fill(*buffer, sizes, base::CounterRandom(seed, contents.size()), data);
    core::BufferContent content;
    content.name = argument.name;
    content.bytes = base::Bytes(std::move(data));
    content.uninitialized = buffer->role == core::Role::kOut || buffer->role == core::Role::kScratch;
    content.read_only = buffer->role == core::Role::kIn;
    contents.push_back(std::move(content));
  }
  return contents;
}

// Whether it is a part of "(H + 2 * pad - 3) / stride + 1" in some shape, and not of "C / groups" alone.
bool IsOfFormula(const core::KernelSpec& spec, const std::string& name) {
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      for (const core::Expression& extent : buffer->shape) {
        const std::vector<std::string> names = extent.Variables();
        const bool has = std::find(names.begin(), names.end(), name) != names.end();
        if (has && extent.text().find_first_of("+-") != std::string::npos) return true;
      }
  return false;
}

// Of several whole groups in every case, in some of more than one element.
std::vector<core::DividedSize> DividedSizes(const core::KernelSpec& spec) {
  std::vector<core::DividedSize> divided;
  if (spec.cases.size() < 2) return divided;  // in one case alone, anything divides anything
  for (const core::Argument& size : spec.args)
    for (const core::Argument& groups : spec.args) {
      if (IsOfFormula(spec, groups.name)) continue;  // channels that a stride divides by chance
      const std::vector<int64_t> sizes = ValuesInCases(spec, size.name), counts = ValuesInCases(spec, groups.name);
      if (sizes.size() != spec.cases.size() || counts.size() != sizes.size() || sizes == counts) continue;
      bool whole = true;
      for (size_t j = 0; whole && j < sizes.size(); ++j) whole = counts[j] > 1 && sizes[j] % counts[j] == 0;
      if (whole) divided.push_back({size.name, groups.name});
    }
  return divided;
}

}  // namespace

std::vector<core::Case> SmallCasesLikeTimed(const core::KernelSpec& spec) {
  constexpr size_t kMostStaying = 2;
  const SizeRelations relations = SizeRelations::Of(spec);
  std::vector<Scalars> shapes = LikeTimed(spec, relations);
  std::vector<Scalars> staying = LikeTimed(spec, relations, SmallSizes::kStay);
  if (staying.size() > kMostStaying) {
    // All odd, though one is a multiple of another in every case: that may be a coincidence, and what is aligned for it
    // alone would look as if it always were.
    Scalars odd = ShapesLike(spec, TimedCase(spec), relations, SmallSizes::kStay).back();
    relations.Follow(odd);
    staying.resize(kMostStaying);
    staying.push_back(std::move(odd));
  }
  for (Scalars& scalars : staying)
    if (std::find(shapes.begin(), shapes.end(), scalars) == shapes.end()) shapes.push_back(std::move(scalars));
  std::vector<core::Case> cases;
  for (const Scalars& scalars : shapes) {
    core::Case small = TimedCase(spec);
    std::string sizes;
    for (const auto& [name, value] : scalars)
      if (value != small.scalars[name])
        sizes += (sizes.empty() ? "" : ",") + fmt::format("{}={}", name, std::get<int64_t>(value));
    small.name = fmt::format("{} (odd shape of {})", sizes, small.name);
    small.scalars = scalars;
    cases.push_back(std::move(small));
  }
  return cases;
}

std::vector<core::LiftShape> MakeLiftShapes(const core::KernelSpec& spec, size_t count, uint64_t limit_bytes) {
  std::vector<core::LiftShape> shapes;
  size_t number = 0;
  for (ChosenShape& chosen : WithSpecial(spec, ChooseShapes(spec, count))) {
    MakeUnusual(chosen.scalars, number++);
    auto contents = MakeContents(spec, chosen.scalars, 1 + shapes.size(), limit_bytes);
    if (contents) shapes.push_back({std::move(chosen.scalars), std::move(*contents), chosen.even, chosen.apart});
  }
  return shapes;
}

std::vector<core::LiftShape> MakeShapesAround(const core::KernelSpec& spec, const std::vector<int64_t>& numbers,
                                              size_t count, uint64_t limit_bytes) {
  std::vector<core::LiftShape> shapes;
  if (spec.cases.empty()) return shapes;
  const Scalars small = Shrunk(spec, spec.cases.front(), SizeRelations::Of(spec), kSubstitutes[0]);
  const std::set<std::string> sizes = ShapeScalars(spec);
  std::vector<int64_t> descending(numbers.rbegin(), numbers.rend());
  std::sort(descending.begin(), descending.end(), std::greater<>());
  for (const int64_t number : descending) {
    if (number <= kSmall) break;
    for (const auto& [name, value] : small) {
      if (!sizes.contains(name) || !std::holds_alternative<int64_t>(value)) continue;
      for (const int64_t size : {number + 1, number}) {
        if (shapes.size() == count) return shapes;
        Scalars scalars = small;
        scalars[name] = size;
        MakeUnusual(scalars, shapes.size());
        auto contents = MakeContents(spec, scalars, 101 + shapes.size(), limit_bytes);
        if (contents) shapes.push_back({std::move(scalars), std::move(*contents)});
      }
    }
  }
  return shapes;
}

core::LiftRequest MakeLiftRequest(const core::SourceRef& source, const core::KernelSpec& spec,
                                  const std::string& device, size_t count, uint64_t limit_bytes) {
  return {.source = source,
          .spec = spec,
          .device = device,
          .shapes = MakeLiftShapes(spec, count, limit_bytes),
          .divided = DividedSizes(spec)};
}

}  // namespace warpwright::judge
