#include "judge/size_relations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>

namespace warpwright::judge {
namespace {

constexpr int64_t kTiny = 3;
constexpr int64_t kMostOfWindow = 64;  // taps, strides, paddings and dilations
constexpr int64_t kLeastExtent = 3, kMostGrown = 256, kMostMore = 4;
constexpr double kTellingBits = 2;

// In bits: what it takes to say which expression of so many names this is.
double LengthOf(const core::Size& relation, size_t names) {
  double bits = 0;
  const std::string& text = relation.text();
  for (size_t i = 0; i < text.size();) {
    const auto is = [&](int (*kind)(int)) { return i < text.size() && kind(static_cast<unsigned char>(text[i])) != 0; };
    if (is(std::isdigit)) {
      double number = 0;
      for (; is(std::isdigit); ++i) number = 10 * number + (text[i] - '0');
      bits += 1 + std::log2(number + 1);
    } else if (is(std::isalpha) || text[i] == '_') {
      while (is(std::isalnum) || (i < text.size() && text[i] == '_')) ++i;
      bits += std::log2(static_cast<double>(names) + 1);
    } else {
      if (std::string_view("+-*/%,").find(text[i]) != std::string_view::npos) bits += 2;
      ++i;
    }
  }
  return bits;
}

// Some sum, multiple or quotient fits any two cases, and a few small numbers; that two sizes are equal, or one the
// product of others, is no coincidence.
bool IsTelling(const core::Size& relation, const std::vector<int64_t>& values, size_t names) {
  if (relation.text().find_first_of("0123456789+-/%") == std::string::npos) return true;
  double bits = 0;
  for (const int64_t value : values) bits += std::log2(1 + std::fabs(static_cast<double>(value)));
  return values.size() > 2 && bits >= LengthOf(relation, names) + kTellingBits;
}

// Where in the shapes of outputs, or of inputs, a size is named first, counted from the end of its buffer's; nothing:
// it is in none. Intermediates count as outputs.
std::optional<size_t> PlaceFromEnd(const core::KernelSpec& spec, const std::string& name, bool of_output) {
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || (buffer->role == core::Role::kIn) == of_output) continue;
    for (size_t d = 0; d < buffer->shape.size(); ++d) {
      const std::vector<std::string> names = buffer->shape[d].Variables();
      if (std::find(names.begin(), names.end(), name) != names.end()) return buffer->shape.size() - 1 - d;
    }
  }
  return std::nullopt;
}

// Whether an output is as long as the size, or a multiple of it. In "(h + 2 * pad - 3) / stride + 1" the manifest says
// itself what a window leaves.
bool IsExtentOfOutput(const core::KernelSpec& spec, const std::string& name) {
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role == core::Role::kIn) continue;
    for (const core::Size& extent : buffer->shape) {
      const std::vector<std::string> names = extent.Variables();
      const bool named = std::find(names.begin(), names.end(), name) != names.end();
      if (named && extent.text().find_first_of("+-/%") == std::string::npos) return true;
    }
  }
  return false;
}

// One size in every case. A constant has no name.
struct Operand {
  std::string name;
  std::vector<int64_t> values;
};

// What a window that moves over `in` leaves: (in + 2 pad - dilation (taps - 1) - 1) / stride + 1; or, transposed, what
// it spreads: (in - 1) stride - 2 pad + dilation (taps - 1) + extra + 1. As in PyTorch's Conv2d and ConvTranspose2d.
struct Window {
  const Operand *in, *taps, *stride, *pad, *dilation, *extra;
  std::vector<std::string> Parts() const { return {taps->name, stride->name, pad->name, dilation->name, extra->name}; }
  bool twice = true;        // the padding counts at both ends
  bool transposed = false;  // which alone has `extra`

  std::optional<int64_t> At(size_t j) const {
    const int64_t padding = (twice ? 2 : 1) * pad->values[j], reach = dilation->values[j] * (taps->values[j] - 1);
    if (transposed) return (in->values[j] - 1) * stride->values[j] - padding + reach + extra->values[j] + 1;
    const int64_t room = in->values[j] + padding - reach - 1;
    if (stride->values[j] < 1 || room < 0) return std::nullopt;
    return room / stride->values[j] + 1;
  }
  bool Fits(const std::vector<int64_t>& values) const {
    for (size_t j = 0; j < values.size(); ++j)
      if (At(j) != values[j]) return false;
    return true;
  }
  static std::string Of(const Operand& o) { return o.name.empty() ? fmt::format("{}", o.values[0]) : o.name; }
  std::string LeastIn() const {
    return transposed ? "3" : fmt::format("2 * {} * ({} - 1) + 2", Of(*dilation), Of(*taps));
  }
  std::string Text() const {
    const std::string padding = fmt::format("{}{}", twice ? "2 * " : "", Of(*pad));
    const std::string reach = fmt::format("{} * ({} - 1)", Of(*dilation), Of(*taps));
    return transposed
               ? fmt::format("({} - 1) * {} - {} + {} + {} + 1", in->name, Of(*stride), padding, reach, Of(*extra))
               : fmt::format("({} + {} - {} - 1) / {} + 1", in->name, padding, reach, Of(*stride));
  }
};

// Whether one of the words stands in the name.
bool IsCalled(std::string name, std::string_view words) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (name.find(words.substr(0, end)) != name.npos) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

// Finds the window that explains an extent of an output.
class WindowFinder {
 public:
  // `written_out`: extents name strides and paddings themselves, which are no sizes for that.
  WindowFinder(const core::KernelSpec& spec, bool written_out) : spec_(spec) {
    for (const core::Argument& argument : spec.args) {
      const std::vector<int64_t> values = ValuesInCases(spec, argument.name);
      if (values.size() != spec.cases.size()) continue;
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      if (PlaceFromEnd(spec, argument.name, false)) moved_over_.push_back({argument.name, values});
      // What buffers are as long as, a window has as taps; what none is, as a stride, a padding or a dilation.
      if (*least < 0 || *most > kMostOfWindow) continue;
      const bool extent =
          PlaceFromEnd(spec, argument.name, false) ||
          (written_out ? IsDimension(spec, argument.name) : PlaceFromEnd(spec, argument.name, true).has_value());
      (extent ? taps_ : parameters_).push_back({argument.name, values});
    }
    none_ = {"", std::vector<int64_t>(spec.cases.size(), 0)};
    one_ = {"", std::vector<int64_t>(spec.cases.size(), 1)};
    taps_.insert(taps_.end(), parameters_.begin(), parameters_.end());  // of a pooling
  }

  // The one with most of the parameters, which are there for something; then the one that takes them for what they are
  // called, and the one along the same axis.
  std::optional<Window> Find(const std::string& extent) const {
    const auto is_other = [&](const std::string& name) { return name != extent; };
    return Find(is_other, ValuesInCases(spec_, extent), PlaceFromEnd(spec_, extent, true));
  }
  // `may_be`: whether a size may be a part of the window; `place`: of the extent, counted from its buffer's end.
  template <typename F>
  std::optional<Window> Find(const F& may_be, const std::vector<int64_t>& values, std::optional<size_t> place) const {
    std::optional<Window> best;
    std::tuple<int, int, bool> best_rank;
    ForEach([&](const Window& window) {
      for (const Operand* part : {window.in, window.taps, window.stride, window.pad, window.dilation, window.extra})
        if (!part->name.empty() && !may_be(part->name)) return;
      if (!window.Fits(values)) return;
      int named = 0, as_called = 0;
      for (const auto& [part, words] : {std::pair{window.stride, std::string_view("str step")},
                                        {window.pad, "pad"},
                                        {window.dilation, "dil"},
                                        {window.taps, "k size win filt"},
                                        {window.extra, "out"}}) {
        named += !part->name.empty();
        as_called += IsCalled(part->name, words);
      }
      const std::tuple rank(named, as_called, place == PlaceFromEnd(spec_, window.in->name, false));
      if (best && rank <= best_rank) return;
      best = window;
      best_rank = rank;
    });
    return best;
  }

 private:
  template <typename F>
  void ForEach(const F& f) const {
    const auto or_else = [](const std::vector<Operand>& some, const Operand& other) {
      std::vector<const Operand*> all = {&other};
      for (const Operand& o : some) all.push_back(&o);
      return all;
    };
    for (const Operand& in : moved_over_)
      for (const Operand& taps : taps_)
        for (const Operand* stride : or_else(parameters_, one_))
          for (const Operand* pad : or_else(parameters_, none_))
            for (const Operand* dilation : or_else(parameters_, one_))
              for (const bool twice : {true, false}) {
                Window window{.in = &in,
                              .taps = &taps,
                              .stride = stride,
                              .pad = pad,
                              .dilation = dilation,
                              .extra = &none_,
                              .twice = twice};
                Offer(window, f);
                window.transposed = true;
                for (const Operand* extra : or_else(parameters_, none_)) {
                  window.extra = extra;
                  Offer(window, f);
                }
              }
  }
  // No size has two parts in it.
  template <typename F>
  static void Offer(const Window& window, const F& f) {
    const Operand* parts[] = {window.in, window.taps, window.stride, window.pad, window.dilation, window.extra};
    for (size_t a = 0; a < std::size(parts); ++a)
      for (size_t b = 0; b < a; ++b)
        if (!parts[a]->name.empty() && parts[a]->name == parts[b]->name) return;
    f(window);
  }

  const core::KernelSpec& spec_;
  std::vector<Operand> moved_over_, taps_, parameters_;
  Operand none_, one_;
};

}  // namespace

core::Sizes IntegersOf(const Scalars& scalars) {
  core::Sizes sizes;
  for (const auto& [name, value] : scalars)
    if (const int64_t* integer = std::get_if<int64_t>(&value)) sizes[name] = *integer;
  return sizes;
}

bool IsDimension(const core::KernelSpec& spec, const std::string& name) {
  for (const core::Argument& argument : spec.args)
    if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
      for (const core::Expression& extent : buffer->shape)
        if (extent.text() == name) return true;
  return false;
}

std::vector<int64_t> ValuesInCases(const core::KernelSpec& spec, const std::string& name) {
  std::vector<int64_t> values;
  for (const core::Case& c : spec.cases)
    if (const auto found = c.scalars.find(name); found != c.scalars.end())
      if (const int64_t* value = std::get_if<int64_t>(&found->second)) values.push_back(*value);
  return values;
}

SizeRelations SizeRelations::Of(const core::KernelSpec& spec) {
  SizeRelations found;
  if (spec.cases.size() < 2) return found;
  const auto is_constant = [](const std::vector<int64_t>& values) {
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; });
  };
  // Extents of outputs alone: of two that follow from each other, the input's is free.
  const WindowFinder windows(spec, /*written_out=*/false);
  for (const core::Argument& argument : spec.args) {
    const std::vector<int64_t> values = ValuesInCases(spec, argument.name);
    if (values.size() != spec.cases.size() || is_constant(values) || !IsExtentOfOutput(spec, argument.name) ||
        PlaceFromEnd(spec, argument.name, false))
      continue;
    if (const auto window = windows.Find(argument.name))
      if (auto size = core::Size::Parse(window->Text()), least = core::Size::Parse(window->LeastIn()); size && least) {
        found.relations_.emplace(argument.name, std::move(*size));
        found.moved_over_.emplace(argument.name, MovedOver{window->in->name, std::move(*least)});
        found.AddParts(window->Parts(), window->stride->name, window->dilation->name);
      }
  }
  found.AddWindowsOfShapes(spec);
  std::vector<core::Sizes> known(spec.cases.size()), all;
  for (const core::Case& c : spec.cases) all.push_back(core::IntegerScalars(c));
  for (const core::Argument& argument : spec.args) {
    if (!all[0].contains(argument.name)) continue;
    std::vector<int64_t> values;
    for (const core::Sizes& sizes : all) values.push_back(sizes.at(argument.name));
    // That a padding is as large as a stride is a coincidence.
    const bool tiny = std::all_of(values.begin(), values.end(), [](int64_t v) { return v <= kTiny; });
    if (!found.Has(argument.name) && !is_constant(values) && !known[0].empty() &&
        (!tiny || IsDimension(spec, argument.name)))
      if (auto size = core::SizeSolver(known, {}).Solve(values); size && IsTelling(*size, values, known[0].size()))
        found.relations_.emplace(argument.name, std::move(*size));
    for (size_t j = 0; j < all.size(); ++j) known[j][argument.name] = values[j];
    if (found.Has(argument.name)) found.order_.push_back(argument.name);
  }
  return found;
}

void SizeRelations::AddParts(const std::vector<std::string>& parts, const std::string& stride,
                             const std::string& dilation) {
  for (const std::string& part : parts)
    if (!part.empty()) of_windows_.insert(part);
  if (!stride.empty() && !dilation.empty() && stride != dilation) steps_.emplace(stride, dilation);
}

bool SizeRelations::SkipsPositions(const Scalars& scalars) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const auto& steps) {
    return std::gcd(std::get<int64_t>(scalars.at(steps.first)), std::get<int64_t>(scalars.at(steps.second))) > 1;
  });
}

// Where the manifest says itself what a window leaves: "(H + 2 * pad - R) / stride + 1" in the shape of an output.
void SizeRelations::AddWindowsOfShapes(const core::KernelSpec& spec) {
  const WindowFinder windows(spec, /*written_out=*/true);
  std::set<std::string> known;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role == core::Role::kIn) continue;
    for (size_t d = 0; d < buffer->shape.size(); ++d) {
      const core::Size& extent = buffer->shape[d];
      if (extent.Variables().size() < 2 || !known.insert(extent.text()).second) continue;
      std::vector<int64_t> values;
      for (const core::Case& c : spec.cases)
        if (const auto value = extent.Evaluate(core::IntegerScalars(c))) values.push_back(*value);
      if (values.size() != spec.cases.size()) continue;
      const std::vector<std::string> named = extent.Variables();
      const auto is_named = [&](const std::string& name) {
        return std::find(named.begin(), named.end(), name) != named.end();
      };
      const auto window = windows.Find(is_named, values, buffer->shape.size() - 1 - d);
      if (!window) continue;
      auto least = core::Size::Parse(window->LeastIn());
      if (!least) continue;
      of_shapes_.emplace_back(extent, MovedOver{window->in->name, std::move(*least)});
      AddParts(window->Parts(), window->stride->name, window->dilation->name);
    }
  }
}

// The input grows until some windows stay inside, and the last one ends where it does: where that ends before the input
// does, it reaches into no padding, which is another form.
void SizeRelations::GrowInput(const MovedOver& over, const core::Size& result, Scalars& scalars) const {
  if (Has(over.extent)) return;
  int64_t& in = std::get<int64_t>(scalars.at(over.extent));
  const auto evaluate = [&] { return result.Evaluate(IntegersOf(scalars)).value_or(kLeastExtent); };
  // Small extents that differ stay different, by what is left of them: windows may move by several elements.
  const int64_t least = std::min(over.least.Evaluate(IntegersOf(scalars)).value_or(in), kMostGrown);
  int64_t wanted = kLeastExtent;
  if (in < least + kMostMore) {
    const int64_t more = in % kMostMore;
    in = least;
    wanted = std::max(wanted, evaluate() + more);
  }
  const auto ends_inside = [&] {
    const int64_t value = evaluate();
    --in;
    const bool same = evaluate() == value;
    ++in;
    return same;
  };
  while (in < kMostGrown && (evaluate() < wanted || ends_inside())) ++in;
}

void SizeRelations::Follow(Scalars& scalars, bool windows_alone) const {
  for (const auto& [extent, over] : of_shapes_) GrowInput(over, extent, scalars);
  // Twice: a product of extents may stand before the extents that a window leaves.
  for (int pass = 0; pass < 2; ++pass)
    for (const std::string& name : order_) {
      if (windows_alone && !moved_over_.contains(name)) continue;
      int64_t& value = std::get<int64_t>(scalars.at(name));
      const auto evaluate = [&] { return relations_.at(name).Evaluate(IntegersOf(scalars)).value_or(value); };
      value = evaluate();
      const auto over = moved_over_.find(name);
      if (over == moved_over_.end()) continue;
      GrowInput(over->second, relations_.at(name), scalars);
      value = evaluate();
    }
}

}  // namespace warpwright::judge
