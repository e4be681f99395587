#include "lift/lift.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "lift/assumptions.h"
#include "lift/cpu_time.h"
#include "lift/dimensions.h"
#include "lift/form_choice.h"
#include "lift/form_structure.h"
#include "lift/forward_coordinates.h"
#include "lift/joined_dimensions.h"
#include "lift/numeric_check.h"
#include "lift/parts_apart.h"
#include "lift/shape_form.h"
#include "lift/shape_trace.h"
#include "lift/window_sums.h"

namespace warpwright::lift {
namespace {

using core::Lifted;
using core::LiftOutcome;
using core::LiftShape;
using core::NotLifted;

constexpr std::string_view kNoShape = "no shape", kBranchOnData = "branch on data", kShapesDisagree = "shapes disagree";
constexpr std::ptrdiff_t kFewestEven = 3;     // shapes
constexpr double kShareOfWhole = 0.6;         // of the time, for all launches together
constexpr double kShareWithGroups = 0.15;     // the same, where sizes are in groups that nobody has looked at yet
constexpr double kShareWithFixedSizes = 0.3;  // after which a form of some sizes alone is enough
constexpr double kShareOfAll = 0.75;          // for all ways of looking at it: a shape that was begun is finished
constexpr size_t kMostForms = 7;
// Blocks in place of all, by how many expressions one makes.
constexpr uint64_t kMostSampled = 48, kFewestSampled = 4, kSampledNodes = 600'000;
constexpr uint64_t kOtherBlocks = 17;  // seed of those that it is verified at
constexpr size_t kMostLeftOut = 2;     // of shapes with one structure, where their numbers follow from no scalar

// What an execution at a shape gave.
struct Seen {
  const LiftShape* shape = nullptr;
  FormAtShape at;  // the form is empty where there is none
  bool has_form = false;
  std::vector<TracedBuffer> buffers;  // without expressions; empty: it was not executed
};

class Lifting {
 public:
  Lifting(const core::LiftRequest& request, const Prepare& prepare)
      : request_(request), spec_(request.spec), at_shape_(request, prepare) {
    view_.dimensions = DimensionsBy(FactorOrder::kAsWritten);
    UseShapes([](const LiftShape& shape) { return !shape.apart; });
  }

  Result<LiftOutcome> Run() {
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const double cpu_begin = cpu_begin_ = CpuSeconds();
    const bool in_groups = HasGroups(spec_, SizesTried(), request_.divided);
    cpu_end_ = cpu_begin + request_.seconds_limit * (in_groups ? kShareWithGroups : kShareOfWhole);
    WW_ASSIGN(LiftOutcome outcome, AttemptInGroups(InGroups(spec_, SizesTried())));
    if (!std::holds_alternative<Lifted>(outcome)) {
      WW_ASSIGN(outcome, AttemptAnew());
    }
    cpu_end_ = cpu_begin + request_.seconds_limit * kShareOfWhole;
    if (in_groups && !std::holds_alternative<Lifted>(outcome)) WW_TRY(TryGroupsOfCases(outcome));
    WW_TRY(TryFixedSizes(outcome));
    // Pairs that lie together may be simple where halves that lie apart are not.
    if (auto other = DimensionsBy(FactorOrder::kNumbersLast); other != view_.dimensions) {
      std::swap(view_.dimensions, other);
      WW_TRY(TryInstead(outcome));
      if (!std::holds_alternative<Lifted>(outcome)) std::swap(view_.dimensions, other);
    }
    WW_TRY(TryOrderByLast(outcome));
    WW_TRY(TryOrderOfReads(outcome));
    cpu_end_ = cpu_begin + request_.seconds_limit * kShareOfAll;
    WW_TRY(TryLaunchByLaunch(outcome));
    WW_TRY(TryGroupsOfCases(outcome));
    WW_TRY(TryEvenSizes(outcome));
    WW_TRY(TryOtherForms(outcome));
    WW_TRY(TryBlocks(outcome));
    WW_TRY(TryOnePath(outcome));
    WW_TRY(TellApart(outcome));
    if (auto* lifted = std::get_if<Lifted>(&outcome)) lifted->seconds = elapsed();
    return outcome;
  }

 private:
  std::vector<std::vector<core::Expression>> DimensionsBy(FactorOrder order) const {
    std::vector<std::vector<core::Expression>> dimensions;
    for (const core::Argument& argument : spec_.args)
      if (const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind))
        dimensions.push_back(DimensionsOf(*buffer, order));
    return dimensions;
  }

  // Another attempt from the beginning, where the one before failed and time is left.
  Status TryInstead(LiftOutcome& outcome) {
    if (std::holds_alternative<Lifted>(outcome) || !InTime()) return {};
    if (IsTooLarge(std::get<NotLifted>(outcome))) return {};
    WW_ASSIGN(LiftOutcome other, AttemptAnew());
    if (std::holds_alternative<Lifted>(other)) outcome = std::move(other);
    return {};
  }
  // What a launch leaves for the next one may be simple where all of them together are not. And it may be far less
  // work: the mean of a convolution is a sum over all of its windows, unless it is one of what the launch before left.
  Status TryLaunchByLaunch(LiftOutcome& outcome) {
    if (at_shape_.launches() < 2) return {};
    view_.cut_launches = true;
    const auto* whole = std::get_if<Lifted>(&outcome);
    if (whole == nullptr) return TryInstead(outcome);
    view_.cut_launches = InTime() && MultipliesTwice(whole->computation);
    if (!view_.cut_launches) return {};
    WW_ASSIGN(LiftOutcome cut, AttemptAnew());
    const auto* lifted = std::get_if<Lifted>(&cut);
    view_.cut_launches =
        lifted != nullptr && lifted->verified && IsLessWork(lifted->computation, whole->computation, SizesTried());
    if (view_.cut_launches) outcome = std::move(cut);
    return {};
  }
  // By channels of groups that no buffer has: what is of a group is one number for each of them.
  Status TryGroupsOfCases(LiftOutcome& outcome) {
    const auto* known = std::get_if<Lifted>(&outcome);
    const auto* failed = std::get_if<NotLifted>(&outcome);
    if (!groups_.empty() || !InTime() || (failed != nullptr && IsTooLarge(*failed))) return {};
    if (known != nullptr && known->verified && IsOfAllSizes(known->computation)) return {};
    // A statistic of what a launch left is far smaller than one of all that made it.
    const bool cut_before = std::exchange(view_.cut_launches, at_shape_.launches() > 1);
    WW_ASSIGN(LiftOutcome grouped, AttemptInGroups(InGroups(spec_, SizesTried(), request_.divided)));
    const bool in_groups = !groups_.empty();
    const auto* lifted = std::get_if<Lifted>(&grouped);
    if (in_groups && lifted != nullptr && lifted->verified &&
        (known == nullptr || IsMoreGeneral(lifted->computation, known->computation))) {
      outcome = std::move(grouped);
      return {};
    }
    if (in_groups) LeaveGroups();
    view_.cut_launches = cut_before;
    return {};
  }
  std::vector<core::Sizes> SizesTried() const {
    std::vector<core::Sizes> sizes;
    for (const LiftShape* shape : shapes_) sizes.push_back(Named(shape->scalars).sizes);
    return sizes;
  }
  static NotLifted NothingTried() {
    return {std::string(kNoShape), "no case of the manifest gives a shape that can be executed", false};
  }
  Result<LiftOutcome> AttemptAnew() {
    seen_.clear();
    silent_.clear();
    beyond_limits_.clear();
    right_at_.clear();
    notes_.clear();
    failure_ = NothingTried();
    too_large_ = std::numeric_limits<double>::infinity();
    next_ = 0;
    return Attempt();
  }
  template <typename F>
  void UseShapes(const F& use) {
    shapes_.clear();
    for (const LiftShape& shape : request_.shapes)
      if (use(shape) && HasWholeGroups(shape)) shapes_.push_back(&shape);
  }

  // Of channels in groups, at the sizes alone that have whole groups.
  Result<LiftOutcome> AttemptInGroups(std::optional<DimensionsInGroups> grouped) {
    if (!grouped) return LiftOutcome(failure_);
    groups_ = std::move(grouped->groups);
    ungrouped_ = std::exchange(view_.dimensions, std::move(grouped->buffers));
    UseShapes([](const LiftShape& shape) { return !shape.apart; });
    // A sum over one channel is none: such shapes have another structure.
    std::stable_partition(shapes_.begin(), shapes_.end(), [&](const LiftShape* shape) {
      const core::Sizes at = Named(shape->scalars).sizes;
      return std::all_of(groups_.begin(), groups_.end(), [&](const auto& group) {
        return at.at(group.second) > 1 && at.at(group.first) > at.at(group.second);
      });
    });
    WW_ASSIGN(LiftOutcome outcome, AttemptAnew());
    const auto* lifted = std::get_if<Lifted>(&outcome);
    if (lifted != nullptr && lifted->verified) return outcome;
    LeaveGroups();
    return LiftOutcome(failure_);
  }
  void LeaveGroups() {
    groups_.clear();
    std::swap(view_.dimensions, ungrouped_);
    UseShapes([](const LiftShape& shape) { return !shape.apart; });
  }
  bool HasWholeGroups(const LiftShape& shape) const {
    const core::Sizes sizes = Named(shape.scalars).sizes;
    return std::all_of(groups_.begin(), groups_.end(), [&](const auto& group) {
      return sizes.at(group.second) > 0 && sizes.at(group.first) % sizes.at(group.second) == 0;
    });
  }

  // Windows of four may have another form than windows of three, which the cases have: that of three, unless there is
  // time to find one of both.
  Status TryFixedSizes(LiftOutcome& outcome) {
    if (!IsTimeForFixedSizes() || std::holds_alternative<Lifted>(outcome) || !InTime()) return {};
    tried_fixed_ = true;
    UseShapes([&](const LiftShape& shape) {
      const core::Sizes sizes = Named(shape.scalars).sizes;
      return !shape.apart && std::all_of(fixed_.begin(), fixed_.end(),
                                         [&](const auto& fixed) { return sizes.at(fixed.first) == fixed.second; });
    });
    WW_ASSIGN(outcome, AttemptAnew());
    UseShapes([](const LiftShape& shape) { return !shape.apart; });
    const bool is_lifted = std::holds_alternative<Lifted>(outcome);
    if (is_lifted && CpuSeconds() > cpu_begin_ + kShareWithFixedSizes * request_.seconds_limit) return {};
    WW_ASSIGN(LiftOutcome general, AttemptAnew());
    const auto* lifted = std::get_if<Lifted>(&general);
    if (!is_lifted || (lifted != nullptr && lifted->verified)) outcome = std::move(general);
    return {};
  }
  // Not yet tried, and the shapes of all kinds, which are more, have no form in common so far.
  bool IsTimeForFixedSizes() const { return !fixed_.empty() && !tried_fixed_; }
  // At the sizes alone that divide as they do in every case: code that takes four elements at once, without a rest.
  Status TryEvenSizes(LiftOutcome& outcome) {
    const auto is_even = [](const LiftShape& shape) { return shape.even && !shape.apart; };
    const auto count = std::count_if(request_.shapes.begin(), request_.shapes.end(), is_even);
    if (std::holds_alternative<Lifted>(outcome) || count < kFewestEven || static_cast<size_t>(count) == shapes_.size())
      return {};
    UseShapes(is_even);
    even_alone_ = true;
    for (const bool cut : {false, true}) {
      view_.cut_launches = cut;
      if (!cut || at_shape_.launches() > 1) WW_TRY(TryInstead(outcome));
    }
    if (std::holds_alternative<Lifted>(outcome)) return {};
    even_alone_ = false;
    UseShapes([](const LiftShape& shape) { return !shape.apart; });
    return {};
  }
  // Where structures differ between shapes: a sum over an input and a window has as many terms as the shorter one is
  // long, and runs over that.
  Status TryOrderOfReads(LiftOutcome& outcome) {
    const auto* blocked = std::get_if<NotLifted>(&outcome);
    if (blocked == nullptr || blocked->blocker != kShapesDisagree) return {};
    view_.later_reads_count = true;
    WW_TRY(TryInstead(outcome));
    if (!std::holds_alternative<Lifted>(outcome)) view_.later_reads_count = false;
    return {};
  }
  // Which of two rows of one tensor comes first in memory differs from result to result, where queries and keys lie
  // side by side in each.
  Status TryOrderByLast(LiftOutcome& outcome) {
    const auto* blocked = std::get_if<NotLifted>(&outcome);
    if (blocked == nullptr || blocked->blocker != kShapesDisagree) return {};
    const size_t before = MostStages();
    view_.order_by_last = true;
    WW_TRY(TryInstead(outcome));
    // What takes fewer statements in this order is looked at so from now on, whatever else there is.
    view_.order_by_last = std::holds_alternative<Lifted>(outcome) || (forms() > 0 && MostStages() < before);
    return {};
  }
  size_t MostStages() const {
    size_t most = 0;
    for (const Seen& seen : seen_)
      if (seen.has_form) most = std::max(most, seen.at.form.computation.stages.size());
    return most;
  }

  // Expressions in another form: a linear recurrence is nested as deep as it has steps, but as a sum over them it may
  // be one statement; and so may the squares of differences that are the same both ways round.
  Status TryOtherForms(LiftOutcome& outcome) {
    if (std::holds_alternative<Lifted>(outcome)) return {};
    view_.cut_launches = false;
    for (bool* form : {&view_.keep_order, &view_.expand, &view_.keep_signs}) {
      *form = true;
      WW_TRY(TryInstead(outcome));
      *form = false;
    }
    return {};
  }

  // Where a branch on data can be followed no other way: the path that all threads took at every shape, which the form
  // says.
  Status TryOnePath(LiftOutcome& outcome) {
    const auto* blocked = std::get_if<NotLifted>(&outcome);
    if (blocked == nullptr || blocked->blocker != kBranchOnData || !InTime()) return {};
    view_.cut_launches = false;
    view_.one_path = true;
    at_shape_.ForgetPaths();
    return TryInstead(outcome);
  }

  // Sizes that are equal in every case are one, as far as the form says: once more with shapes at which they differ, if
  // the entry runs there.
  Status TellApart(LiftOutcome& outcome) {
    const auto* lifted = std::get_if<Lifted>(&outcome);
    const auto is_apart = [](const LiftShape& shape) { return shape.apart; };
    if (lifted == nullptr || view_.blocks || std::none_of(request_.shapes.begin(), request_.shapes.end(), is_apart))
      return {};
    const auto first = shapes_.empty() ? nullptr : shapes_.front();
    std::vector<const LiftShape*> rest(shapes_.begin() + (first != nullptr ? 1 : 0), shapes_.end());
    UseShapes([&](const LiftShape& shape) { return shape.apart || &shape == first; });
    shapes_.insert(shapes_.end(), rest.begin(), rest.end());
    WW_ASSIGN(LiftOutcome other, AttemptAnew());
    auto* general = std::get_if<Lifted>(&other);
    if (general == nullptr || general->computation.assumptions.size() >= lifted->computation.assumptions.size())
      return {};
    if (lifted->verified && !general->verified) return {};
    outcome = std::move(other);
    return {};
  }

  // Other data, or another way of looking at it, make it no smaller.
  bool IsTooLarge(const NotLifted& blocked) const {
    return at_shape_.launches() == 1 && DifferentSizes() == 1 && IsLimit(blocked);
  }
  static bool IsLimit(const NotLifted& blocked) {
    return blocked.blocker == "node limit" || blocked.blocker == "instruction limit";
  }

  // From some blocks, right at others: of a launch whose size is fixed and too large.
  Status TryBlocks(LiftOutcome& outcome) {
    const auto* blocked = std::get_if<NotLifted>(&outcome);
    if (blocked == nullptr || !IsTooLarge(*blocked) || request_.shapes.size() < 2 || !InTime()) return {};
    seen_.clear();
    notes_.clear();
    view_.cut_launches = false;
    core::Dim3 whole;
    view_.blocks = [&](const core::Dim3& grid) { return whole = grid, BlockList{0}; };
    WW_ASSIGN(const auto one, at_shape_.TraceAt(request_.shapes[0]));
    const Trace* first = std::get_if<Trace>(&one);
    if (first == nullptr) return {};
    const uint64_t count = std::min<uint64_t>(kMostSampled, kSampledNodes / first->graph.size());
    if (count < kFewestSampled) return {};
    view_.blocks = [&](const core::Dim3& grid) { return GridSample(grid, count); };
    WW_TRY(See(request_.shapes[0]));
    if (forms() == 0) return {};
    std::string why;
    WW_ASSIGN(std::optional<Lifted> lifted, UnifiedOver({seen_[0].at}, why));
    if (!lifted) return {};
    view_.blocks = [&](const core::Dim3& grid) { return RandomSample(grid, count, kOtherBlocks); };
    const LiftShape& shape = request_.shapes[1];
    WW_ASSIGN(const auto others, at_shape_.TraceAt(shape));
    const Trace* trace = std::get_if<Trace>(&others);
    if (trace == nullptr) return {};
    WW_ASSIGN(const std::string difference,
              DifferenceAt(lifted->computation, {.shape = &shape, .at = Named(shape.scalars)}, trace->buffers));
    if (!difference.empty()) return {};
    lifted->verified = true;
    AddAssumptions(lifted->computation);
    const BlockList grid = GridSample(whole, count), random = RandomSample(whole, count, kOtherBlocks);
    std::set<uint64_t> seen(grid.begin(), grid.end());
    seen.insert(random.begin(), random.end());
    lifted->computation.assumptions.push_back(
        fmt::format("all {} blocks compute what {} of them were seen to", whole.Count(), seen.size()));
    outcome = std::move(*lifted);
    return {};
  }

  Result<LiftOutcome> Attempt() {
    // Right where some scalar is what it was at all shapes so far.
    std::optional<Lifted> narrower;
    const auto give_up = [&] {
      return narrower ? LiftOutcome(std::move(*narrower)) : LiftOutcome(std::move(failure_));
    };
    for (size_t wanted = std::min<size_t>(request_.unified_shapes, DifferentSizes());;) {
      while (forms() < wanted && next_ < shapes_.size() && !IsTooLarge(failure_)) {
        const size_t before = forms();
        const double begin = CpuSeconds();
        if (const LiftShape& shape = *shapes_[next_++]; IsAffordable(shape)) WW_TRY(See(shape));
        else beyond_limits_.insert(&shape);
        const bool was_long = CpuSeconds() - begin > request_.seconds_limit / 8;
        if (forms() == before || was_long) BringForwardTheSmallest();
      }
      if (forms() == 0) return give_up();
      right_at_.clear();
      WW_ASSIGN(std::optional<Lifted> lifted, UnifyMost());
      if (!lifted) {
        if (forms() < wanted || forms() == kMostForms || IsTimeForFixedSizes()) return give_up();
        wanted = forms() + 1;
        BringForwardTheSmallest();
        continue;
      }
      WW_ASSIGN(bool agrees, VerifyAtNext(*lifted));
      while (agrees && lifted->verified && BringForwardWhatVaries()) {
        narrower = Finished(*lifted);
        lifted->verified = false;
        WW_ASSIGN(agrees, VerifyAtNext(*lifted));
        lifted->verified = agrees;  // also where the shape could not be run
      }
      if (!agrees) {  // that shape is among the forms now
        if (!HasOtherConstants(*wrong_at_)) narrower.reset();
        if (forms() >= kMostForms) return give_up();
        wanted = forms();
        continue;
      }
      if (!lifted->verified && DifferentSizes() > 1 && lifted->shapes <= request_.unified_shapes)
        return LiftOutcome(NotLifted{
            "too few shapes",
            fmt::format("the {} shapes that could be run do not tell how sizes follow from the scalars: there "
                        "is none left at which the form could be checked",
                        lifted->shapes),
            true});
      return LiftOutcome(Finished(std::move(*lifted)));
    }
  }

  Lifted Finished(Lifted lifted) const {
    AddAssumptions(lifted.computation);
    lifted.notes = notes_;
    return lifted;
  }

  // Makes a shape the next at which a scalar, or the channels of a group, is another number than at all shapes so far:
  // a stride that was always two may stand anywhere in the form; or at which a size is even, if it was always odd, or
  // odd: the edge of a window of two may be seen there alone. False: there is none, or no time.
  bool BringForwardWhatVaries() {
    const core::Sizes first = NumbersAt(*shapes_[0]);
    const auto varies = [&](const LiftShape* shape) {
      const core::Sizes sizes = NumbersAt(*shape);
      return IsAffordable(*shape) && std::any_of(sizes.begin(), sizes.end(), [&](const auto& size) {
               const auto& [name, value] = size;
               return (value != first.at(name) && IsConstant(name, first.at(name))) || HasNewParity(name, value);
             });
    };
    const auto next = shapes_.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto found = std::find_if(next, shapes_.end(), varies);
    if (found == shapes_.end() || !InTime()) return false;
    std::rotate(next, found, found + 1);
    return true;
  }
  bool HasNewParity(const std::string& name, int64_t value) const {
    return std::all_of(shapes_.begin(), shapes_.begin() + static_cast<std::ptrdiff_t>(next_),
                       [&](const LiftShape* tried) {
                         return beyond_limits_.contains(tried) || (NumbersAt(*tried).at(name) - value) % 2 != 0;
                       });
  }
  // Whether a form that is wrong there may be right where scalars are what they were at all shapes before.
  bool HasOtherConstants(const LiftShape& wrong_at) const {
    const core::Sizes last = NumbersAt(wrong_at), first = NumbersAt(*shapes_[0]);
    return std::any_of(last.begin(), last.end(), [&](const auto& size) {
      const auto& [name, value] = size;
      return value != first.at(name) &&
             std::all_of(shapes_.begin(), std::find(shapes_.begin(), shapes_.end(), &wrong_at),
                         [&](const LiftShape* tried) { return NumbersAt(*tried).at(name) == first.at(name); });
    });
  }
  // Where the first shapes have not told enough, or one has told nothing or took long, several more will be seen: as
  // many as there is time for.
  void BringForwardTheSmallest() {
    const auto next = shapes_.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto smallest = std::min_element(
        next, shapes_.end(), [](const LiftShape* a, const LiftShape* b) { return WorkAt(*a) < WorkAt(*b); });
    if (smallest != shapes_.end()) std::rotate(next, smallest, smallest + 1);
  }
  // At all shapes that were tried, but for those that were too large to tell anything.
  bool IsConstant(const std::string& name, int64_t value) const {
    return std::all_of(
        shapes_.begin(), shapes_.begin() + static_cast<std::ptrdiff_t>(next_),
        [&](const LiftShape* tried) { return beyond_limits_.contains(tried) || NumbersAt(*tried).at(name) == value; });
  }
  core::Sizes NumbersAt(const LiftShape& shape) const { return WithGroups(Named(shape.scalars).sizes, groups_); }

  std::string Describe(const FormAtShape& shape) const {
    std::string text;
    for (const core::Argument& argument : spec_.args)
      if (const auto found = shape.sizes.find(argument.name); found != shape.sizes.end())
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", argument.name, found->second);
    return text.empty() ? "its only shape" : text;
  }
  // Until statements are unified, nobody knows which arguments and sizes are left in them.
  static void NameWhatIsRead(core::Computation& computation) {
    computation.sizes = core::SizeNames(computation);
    std::set<std::string> read;
    for (const core::Stage& stage : computation.stages)
      for (const core::Node& node : stage.nodes)
        if (const auto* tensor = std::get_if<core::TensorRead>(&node); tensor != nullptr && !tensor->stage)
          read.insert(tensor->tensor);
    for (core::TensorArgument& argument : computation.tensors) argument.read = read.contains(argument.name);
  }
  void AddAssumptions(core::Computation& computation) const {
    const auto sizes_of = [](const std::vector<const LiftShape*>& shapes) {
      std::vector<core::Sizes> sizes;
      for (const LiftShape* shape : shapes) sizes.push_back(Named(shape->scalars).sizes);
      return sizes;
    };
    Evidence evidence{.right_at = sizes_of(right_at_), .silent = sizes_of(silent_), .even_alone = even_alone_};
    for (const Seen& seen : seen_) {
      evidence.executed.push_back(seen.at.sizes);
      if (seen.has_form) evidence.made_from.push_back(seen.at.sizes);
    }
    for (const LiftShape& shape : request_.shapes) evidence.all.push_back(Named(shape.scalars).sizes);
    for (std::string& assumption : AssumptionsOf(computation, evidence, groups_))
      computation.assumptions.push_back(std::move(assumption));
    if (view_.one_path)
      computation.assumptions.insert(computation.assumptions.end(), at_shape_.paths_seen().begin(),
                                     at_shape_.paths_seen().end());
  }

  // One: sizes are hard-coded, and the shapes differ in data alone.
  size_t DifferentSizes() const {
    std::set<core::Sizes> sizes;
    for (const LiftShape& shape : request_.shapes) sizes.insert(Named(shape.scalars).sizes);
    return std::max<size_t>(sizes.size(), 1);
  }
  bool InTime() const { return CpuSeconds() < cpu_end_; }
  // A shape that is small beside the first takes no time: on a busy machine a form would otherwise be of one shape.
  bool IsAffordable(const LiftShape& shape, size_t times_smaller = 8) const {
    if (WorkAt(shape) >= too_large_) return false;
    const auto bytes = [](const LiftShape& of) {
      size_t sum = 0;
      for (const auto& buffer : of.buffers) sum += buffer.bytes.size();
      return sum;
    };
    return InTime() || times_smaller * bytes(shape) <= bytes(*shapes_[0]);
  }
  // How much is computed there beside other shapes, as a logarithm: of a product, a convolution or a map, the elements
  // of all buffers are together a power of the steps.
  static double WorkAt(const LiftShape& shape) {
    double work = 0;
    for (const auto& buffer : shape.buffers) work += std::log(1 + static_cast<double>(buffer.bytes.size()));
    return work;
  }
  void LearnFrom(const LiftShape& shape, const NotLifted& blocked) {
    if (IsLimit(blocked)) too_large_ = std::min(too_large_, WorkAt(shape)), beyond_limits_.insert(&shape);
    if (blocked.blocker == kNothingWritten || blocked.blocker == kFaults) silent_.push_back(&shape);
  }
  size_t forms() const {
    return static_cast<size_t>(std::count_if(seen_.begin(), seen_.end(), [](const Seen& s) { return s.has_form; }));
  }

  Status See(const LiftShape& shape) {
    WW_ASSIGN(ShapeOutcome outcome, at_shape_.FormAt(shape));
    Seen seen{.shape = &shape, .at = Named(shape.scalars), .buffers = at_shape_.TakeExecuted()};
    if (auto* at = std::get_if<FormAtShape>(&outcome)) {
      seen.at = std::move(*at);
      seen.has_form = true;
    } else {
      auto& blocked = std::get<NotLifted>(outcome);
      LearnFrom(shape, blocked);
      notes_.push_back(fmt::format("at {}: {}", Describe(seen.at), blocked.message));
      if (failure_.blocker == kNoShape || (blocked.executed && !failure_.executed)) failure_ = std::move(blocked);
    }
    if (seen.has_form || !seen.buffers.empty()) seen_.push_back(std::move(seen));
    return {};
  }

  // Over the largest number of shapes that have one structure and whose numbers follow from the scalars; right at all
  // shapes, also at those with another structure: one term in place of a sum, no tail.
  Result<std::optional<Lifted>> UnifyMost() {
    std::map<uint64_t, std::vector<const Seen*>> by_structure;
    for (const Seen& seen : seen_)
      if (seen.has_form) by_structure[StructureOf(seen.at.form.computation)].push_back(&seen);
    std::vector<std::vector<const Seen*>> groups;
    for (auto& [structure, group] : by_structure) groups.push_back(std::move(group));
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    const size_t least = std::min({forms(), size_t{request_.unified_shapes}, DifferentSizes()});
    std::string why;
    for (const auto& group : groups) {
      for (size_t left_out = 0; left_out <= kMostLeftOut && group.size() >= least + left_out; ++left_out) {
        std::vector<bool> out(group.size(), false);
        std::fill(out.end() - static_cast<std::ptrdiff_t>(left_out), out.end(), true);
        do {
          std::vector<FormAtShape> forms;
          for (size_t k = 0; k < group.size(); ++k)
            if (!out[k]) forms.push_back(group[k]->at);
          WW_ASSIGN(std::optional<Lifted> lifted, UnifiedOver(forms, why));
          if (lifted) return lifted;
          if (!InTime()) break;
        } while (std::next_permutation(out.begin(), out.end()));
      }
    }
    if (why.empty()) {
      std::vector<FormAtShape> all;
      for (const Seen& seen : seen_)
        if (seen.has_form) all.push_back(seen.at);
      if (const auto unified = Unify(all, view_.dimensions, Varying()); !unified) why = unified.error();
    }
    failure_ = NotLifted{wrong_ ? "wrong at a further shape" : std::string(kShapesDisagree), why, true};
    return std::optional<Lifted>();
  }

  // Scalars that are not the same wherever the entry ran.
  std::set<std::string> Varying() const {
    std::set<std::string> names;
    for (const Seen& seen : seen_)
      for (const auto& [name, value] : seen.at.sizes)
        if (value != seen_[0].at.sizes.at(name)) names.insert(name);
    return names;
  }

  // None: it is wrong at some shape, or there is none; `why` says so.
  Result<std::optional<Lifted>> UnifiedOver(const std::vector<FormAtShape>& forms, std::string& why) {
    wrong_ = false;
    auto unified = Unify(forms, view_.dimensions, Varying());
    if (!unified) {
      why = unified.error();
      return std::optional<Lifted>();
    }
    std::vector<core::SizeValues> sizes;
    for (const FormAtShape& form : forms) sizes.push_back(form.sizes);
    Lifted lifted{.computation = WithJoinedDimensions(
                      WithSumsOverWindows(WithForwardCoordinates(WithPartsApart(std::move(*unified))), sizes)),
                  .shapes = static_cast<uint32_t>(forms.size())};
    NameWhatIsRead(lifted.computation);
    if (const auto valid = core::Validate(lifted.computation); !valid) {
      why = valid.error().message;
      return std::optional<Lifted>();
    }
    for (const Seen& seen : seen_) {
      if (seen.buffers.empty()) continue;
      WW_ASSIGN(const std::string difference, DifferenceAt(lifted.computation, seen, seen.buffers));
      if (difference.empty()) continue;
      why = difference;
      wrong_ = true;
      if (fixed_.empty() && forms.size() > 2) fixed_ = OnlyOfForms(seen.at.sizes, forms);
      return std::optional<Lifted>();
    }
    // At a shape that it was not made from.
    lifted.verified = seen_.size() > forms.size();
    return std::optional<Lifted>(std::move(lifted));
  }

  // What was the same at all shapes of the forms, if some of it is something else where they are wrong.
  static core::Sizes OnlyOfForms(const core::Sizes& sizes, const std::vector<FormAtShape>& forms) {
    core::Sizes same;
    bool differs = false;
    for (const auto& [name, value] : forms[0].sizes) {
      if (std::any_of(forms.begin(), forms.end(), [&, &name = name, &value = value](const FormAtShape& form) {
            return form.sizes.at(name) != value;
          }))
        continue;
      same[name] = value;
      differs = differs || sizes.at(name) != value;
    }
    return differs ? same : core::Sizes();
  }

  Result<std::string> DifferenceAt(const core::Computation& computation, const Seen& seen,
                                   const std::vector<TracedBuffer>& buffers) const {
    const auto compare = view_.blocks ? CompareWithSample : CompareWithTrace;
    WW_ASSIGN(const auto difference,
              compare(computation, seen.at, seen.shape->buffers, buffers, spec_, at_shape_.narrow()));
    if (!difference || difference->empty()) return std::string();
    return fmt::format("at {}: {}", Describe(seen.at), *difference);
  }

  // At shapes that were not looked at before, until one can be run. Where it is wrong, the next attempt starts from
  // that shape as well: false.
  Result<bool> VerifyAtNext(Lifted& lifted) {
    constexpr size_t kTimesSmaller = 2;  // to run it is far less than to find a form
    while (next_ < shapes_.size() && !lifted.verified) {
      if (!InTime()) BringForwardTheSmallest();
      const LiftShape& shape = *shapes_[next_++];
      if (!IsAffordable(shape, kTimesSmaller)) {
        beyond_limits_.insert(&shape);
        continue;
      }
      WW_ASSIGN(auto traced, at_shape_.TraceAt(shape));
      const Trace* trace = std::get_if<Trace>(&traced);
      if (trace == nullptr) {
        LearnFrom(shape, std::get<NotLifted>(traced));
        continue;
      }
      if (WritesNothing(trace->buffers)) {
        silent_.push_back(&shape);
        continue;
      }
      const Seen at{.shape = &shape, .at = Named(shape.scalars)};
      WW_ASSIGN(const std::string difference, DifferenceAt(lifted.computation, at, trace->buffers));
      lifted.verified = difference.empty();
      if (lifted.verified) right_at_.push_back(&shape);
      if (lifted.verified) continue;
      notes_.push_back(difference);
      failure_ = NotLifted{"wrong at a further shape", difference, true};
      wrong_at_ = &shape;
      const size_t before = seen_.size();
      WW_TRY(See(shape));
      if (seen_.size() == before || !seen_.back().has_form) next_ = shapes_.size();  // nothing is to be learnt
      return false;
    }
    return true;
  }

  const core::LiftRequest& request_;
  const core::KernelSpec& spec_;
  ShapeForms at_shape_;
  ShapeForms::View& view_ = at_shape_.view();
  std::vector<const LiftShape*> shapes_;  // of the request's, in the order in which they are tried
  std::vector<Seen> seen_;
  std::vector<const LiftShape*> silent_;      // at which the entry writes nothing, or faults
  std::set<const LiftShape*> beyond_limits_;  // at which it is too much to execute
  std::vector<const LiftShape*> right_at_;    // beside those that the form was made from
  const LiftShape* wrong_at_ = nullptr;       // the last one at which a form was not right
  size_t next_ = 0;                           // of the shapes
  bool even_alone_ = false;
  Groups groups_;                      // sizes that are looked at in so many groups
  std::vector<Dimensions> ungrouped_;  // of the buffers
  core::Sizes fixed_;                  // which forms may be of, that were wrong at others
  bool tried_fixed_ = false;
  bool wrong_ = false;  // the last attempt to unify failed at a shape
  NotLifted failure_ = NothingTried();
  double too_large_ = std::numeric_limits<double>::infinity();  // the least work that was beyond a limit
  double cpu_begin_ = 0, cpu_end_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace

Result<LiftOutcome> LiftEntry(const core::LiftRequest& request, const Prepare& prepare) {
  return Lifting(request, prepare).Run();
}

}  // namespace warpwright::lift
