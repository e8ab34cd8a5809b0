#include "ops/elementwise_builder.h"

#include <algorithm>
#include <set>

#include "base/errors.h"

namespace weir {
namespace {

using cpu::BinaryFn;
using cpu::Operands;
using cpu::UnaryFn;
using Kind = ElementwiseInstruction::Kind;
using Fold = ElementwiseProgram::Fold;

// Rows that are shorter than this are not worth a call each: row values are repeated for every element first.
constexpr int64_t kShortRow = 48;
constexpr int64_t kManyArrays = 4;
// Elements that one thread folds, tile after tile, before partial results are added up.
constexpr int64_t kChunkElements = 65536;
constexpr int64_t kMaxPartials = 1 << 18;  // floats

int operand_count(Kind kind) {
  return kind == Kind::Constant ? 0 : kind == Kind::Select ? 3 : kind == Kind::Binary ? 2 : 1;
}

}  // namespace

ElementwiseKernel::Builder::Builder(ElementwiseKernel& kernel, const ElementwiseProgram& program)
    : k_(kernel), program_(program), facts_(static_cast<size_t>(program.inputs) + program.instructions.size()) {}

void ElementwiseKernel::Builder::build(std::span<const Shape* const> inputs, const Shape& shape) {
  if (program_.row_dims > shape.rank()) throw invalid_argument("a loop over {} has no such rows", shape.str());
  if (program_.row_dims > 0) {
    k_.row_ = 1;
    for (int d = 1; d <= program_.row_dims; ++d) k_.row_ *= shape[-d];
  }
  for (int i = 0; i < program_.inputs; ++i) {
    const Shape& from = *inputs[static_cast<size_t>(i)];
    k_.inputs_.push_back(program_.is_row_input(i) ? Input{.access = Access::Rows} : input_for(from, shape));
  }
  choose_tiles();
  find_facts();
  mark_needed();
  choose_phases();
  order_tasks();
  count_uses();
  int number = 0;
  for (int p = 0; p < static_cast<int>(tasks_.size()); ++p) {
    k_.phases_.emplace_back();
    make_rows(p);
    make_full(p, number);
  }
  for (size_t o = 0; o < program_.outputs.size(); ++o) {
    const int value = program_.outputs[o];
    if (is_folded(static_cast<int>(o)) || !fact(value).row) continue;
    k_.row_outputs_.emplace_back(fact(value).place.index, static_cast<int>(o));
  }
  list_inputs();
  choose_chunks();
}

ElementwiseKernel::Input ElementwiseKernel::Builder::input_for(const Shape& from, const Shape& to) const {
  if (from.elements() == to.elements()) return {.access = Access::Direct};
  // In rows of one element a full value may be one as well, and is more.
  const bool ambiguous = program_.row_dims > 0 && k_.row_ == 1;
  if (from.elements() == 1 && !ambiguous) return {.access = Access::Scalar};
  const Shape* operands[] = {&from};
  BroadcastPlan plan(operands, to);
  if (plan.moves(0) && plan.row() == from.elements()) {
    return {.access = Access::Repeat, .period = from.elements(), .block = to.elements(), .plan = plan};
  }
  auto [period, block] = plan.repetition(cpu::kTileFloats / 4);
  if (period <= plan.row()) period = block = to.elements();  // within a plane, which is gathered as a whole
  return {.access = Access::Pieces, .period = period, .block = block, .plan = plan};
}

void ElementwiseKernel::Builder::choose_tiles() {
  // All arrays that a tile touches should stay in the first-level cache.
  const auto arrays =
      std::count_if(k_.inputs_.begin(), k_.inputs_.end(), [](const Input& in) { return in.access == Access::Direct; }) +
      static_cast<int64_t>(program_.outputs.size());
  const int64_t most = arrays > kManyArrays ? cpu::kTileFloats / 2 : cpu::kTileFloats;
  k_.tile_ = most;
  if (program_.row_dims > 0) {
    const int64_t row = std::max<int64_t>(1, k_.row_);
    k_.tile_rows_ = std::max<int64_t>(1, most / row);
    k_.tile_ = k_.tile_rows_ * row;
  } else {
    // A tile of whole periods meets the same elements of a repeated input every time.
    int64_t period = 0;
    for (const Input& in : k_.inputs_) {
      if (in.access == Access::Repeat && in.period <= most) period = std::max(period, in.period);
    }
    if (period > 0) k_.tile_ = most / period * period;
  }
  k_.piece_ = std::min<int64_t>(k_.tile_, most);
  k_.tiles_ = (k_.elements_ + k_.tile_ - 1) / k_.tile_;
  for (Input& in : k_.inputs_) {
    if (in.access == Access::Repeat) in.once = k_.piece_ == k_.tile_ && k_.tile_ % in.period == 0;
    if (in.access == Access::Repeat || in.access == Access::Pieces) in.tile = new_register();
  }
}

int ElementwiseKernel::Builder::new_register() { return k_.registers_++; }

void ElementwiseKernel::Builder::find_facts() {
  for (int i = 0; i < program_.inputs; ++i) {
    const Access access = k_.inputs_[static_cast<size_t>(i)].access;
    fact(i) = {.row = access == Access::Rows,
               .single = access == Access::Scalar,
               .place = {access == Access::Rows ? Place::Kind::RowInput : Place::Kind::Input, i}};
  }
  for (int i = 0; i < static_cast<int>(program_.instructions.size()); ++i) {
    const ElementwiseInstruction& instruction = at(i);
    Fact& own = fact(result(i));
    if (instruction.kind == Kind::Constant) {
      own.single = true;
      own.place = {Place::Kind::Input, static_cast<int>(k_.inputs_.size())};
      k_.inputs_.push_back({.access = Access::Scalar});
      k_.constants_.push_back(instruction.number);
      continue;
    }
    bool some_row = false, some_array = false;
    for (int value : operands({.instruction = i})) {
      own.phase = std::max(own.phase, fact(value).phase);
      some_row = some_row || fact(value).row;
      some_array = some_array || is_array(value);
    }
    if (instruction.kind == Kind::Reduce) {
      if (some_row) throw invalid_argument("a loop reduces rows of one element");
      own.row = true;
      ++own.phase;
    } else {
      own.row = some_row && !some_array;
    }
  }
}

std::vector<int> ElementwiseKernel::Builder::operands(const Task& task) const {
  if (task.instruction < 0) return {program_.outputs[static_cast<size_t>(task.output)]};
  const ElementwiseInstruction& i = at(task.instruction);
  const int all[] = {i.a, i.b, i.c};
  return {all, all + operand_count(i.kind)};
}

void ElementwiseKernel::Builder::mark_needed() {
  for (int value : program_.outputs) fact(value).needed = true;
  for (int i = static_cast<int>(program_.instructions.size()); i-- > 0;) {
    if (!fact(result(i)).needed) continue;
    for (int value : operands({.instruction = i})) fact(value).needed = true;
  }
}

// A value is computed as late as its readers allow, so that few have to be kept from phase to phase; but reductions,
// and what they read, come as early as possible.
void ElementwiseKernel::Builder::choose_phases() {
  int last = 0;
  for (const Fact& f : facts_) last = f.needed ? std::max(last, f.phase) : last;
  tasks_.resize(static_cast<size_t>(last) + 1);
  std::vector<int> latest(facts_.size(), last);
  std::vector<bool> is_read(facts_.size(), false);
  auto limit = [&](int value, int phase) {
    int& own = latest[static_cast<size_t>(value)];
    own = std::min(own, phase);
    is_read[static_cast<size_t>(value)] = true;
  };
  for (int i = static_cast<int>(program_.instructions.size()); i-- > 0;) {
    Fact& own = fact(result(i));
    if (!own.needed || at(i).kind == Kind::Constant) continue;
    if (at(i).kind == Kind::Reduce) {
      limit(at(i).a, own.phase - 1);
      continue;
    }
    if (!own.row && is_read[static_cast<size_t>(result(i))]) own.phase = latest[static_cast<size_t>(result(i))];
    for (int value : operands({.instruction = i})) limit(value, own.phase);
  }
}

// Whether a task writes output 0, which may lie where an input is: nothing may be read after it.
bool ElementwiseKernel::Builder::is_last(const Task& task) const {
  if (is_folded(0)) return false;
  if (task.instruction < 0) return task.output == 0;
  const Fact& own = facts_[static_cast<size_t>(result(task.instruction))];
  return result(task.instruction) == program_.outputs[0] && !own.row && own.readers == 0;
}

void ElementwiseKernel::Builder::order_tasks() {
  for (int i = 0; i < static_cast<int>(program_.instructions.size()); ++i) {
    if (!fact(result(i)).needed) continue;
    for (int value : operands({.instruction = i})) ++fact(value).readers;
  }
  for (int o = 0; o < static_cast<int>(program_.outputs.size()); ++o) {
    const int value = program_.outputs[static_cast<size_t>(o)];
    if (is_folded(o) || (o > 0 && value == program_.outputs[0])) ++fact(value).readers;
  }
  const size_t last = tasks_.size() - 1;
  Task ending;
  for (int i = 0; i < static_cast<int>(program_.instructions.size()); ++i) {
    const Fact& own = fact(result(i));
    if (!own.needed || at(i).kind == Kind::Constant) continue;
    if (own.row && at(i).kind != Kind::Reduce) continue;
    const Task task{.instruction = i};
    if (is_last(task)) {
      ending = task;
    } else {
      tasks_[static_cast<size_t>(at(i).kind == Kind::Reduce ? own.phase - 1 : own.phase)].push_back(task);
    }
  }
  // Folds as soon as their value is there; copies, of values that are asked for twice or that others read, at the end.
  std::set<int> given;
  for (int o = 0; o < static_cast<int>(program_.outputs.size()); ++o) {
    const int value = program_.outputs[static_cast<size_t>(o)];
    if (is_folded(o)) {
      if (!fact(value).row) tasks_[static_cast<size_t>(fact(value).phase)].push_back({.output = o});
    } else if (!fact(value).row && o > 0) {
      if (!given.insert(value).second) tasks_[last].push_back({.output = o});
    } else if (!fact(value).row && fact(value).readers > 0) {
      ending = {.output = 0};
    }
  }
  if (ending.instruction >= 0 || ending.output >= 0) {
    if (ending.instruction >= 0) fact(result(ending.instruction)).phase = static_cast<int>(last);
    tasks_[last].push_back(ending);
  }
}

void ElementwiseKernel::Builder::count_uses() {
  int number = 0;
  for (size_t p = 0; p < tasks_.size(); ++p) {
    for (const Task& task : tasks_[p]) {
      for (int value : operands(task)) {
        fact(value).last_use = number;
        fact(value).last_phase = static_cast<int>(p);
      }
      ++number;
    }
  }
}

// ---- steps

ElementwiseKernel::Place ElementwiseKernel::Builder::array_at(int value) {
  if (fact(value).single) {
    Input& input = k_.inputs_[static_cast<size_t>(fact(value).place.index)];
    if (input.tile < 0) {
      input.access = Access::Spread;
      input.tile = new_register();
    }
  }
  return fact(value).place;
}

ElementwiseKernel::Place ElementwiseKernel::Builder::spread(int value, std::vector<Step>& steps) {
  if (!fact(value).row) return array_at(value);
  int index;
  if (free_.empty()) {
    index = new_register();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  borrowed_.push_back(index);
  const Place place{Place::Kind::Register, index};
  steps.push_back({.kind = Step::Kind::Spread, .a = fact(value).place, .result = place});
  return place;
}

void ElementwiseKernel::Builder::make_rows(int phase) {
  for (int i = 0; i < static_cast<int>(program_.instructions.size()); ++i) {
    Fact& own = fact(result(i));
    if (!own.needed || !own.row || own.phase != phase || at(i).kind == Kind::Reduce) continue;
    Step step = row_step(i);
    own.place = step.result = {Place::Kind::Row, k_.row_registers_++};
    k_.phases_.back().rows.push_back(step);
  }
  for (int o = 0; o < static_cast<int>(program_.outputs.size()); ++o) {
    const int value = program_.outputs[static_cast<size_t>(o)];
    if (is_folded(o) && fact(value).row && fact(value).phase == phase) {
      k_.phases_.back().rows.push_back(fold_step(o));
    }
  }
}

// A single element stays one: the functions for rows have forms for that. Two cannot meet here, or the result were no
// row value.
ElementwiseKernel::Step ElementwiseKernel::Builder::row_step(int instruction) {
  const ElementwiseInstruction& i = at(instruction);
  Step step{.a = fact(i.a).place};
  auto kind_of = [&](int a, int b) {
    return fact(a).single ? Operands::SV : fact(b).single ? Operands::VS : Operands::VV;
  };
  switch (i.kind) {
    case Kind::Unary:
      step.unary = cpu::unary_tile(static_cast<UnaryFn>(i.fn));
      break;
    case Kind::Binary:
      step.kind = Step::Kind::Binary;
      step.b = fact(i.b).place;
      step.binary = cpu::binary_tile(static_cast<BinaryFn>(i.fn), kind_of(i.a, i.b));
      break;
    default:
      step.kind = Step::Kind::Select;
      step.a = array_at(i.a);
      step.b = fact(i.c).single ? array_at(i.b) : fact(i.b).place;
      step.c = fact(i.c).place;
      step.select = cpu::select_tile(fact(i.b).single && fact(i.c).single ? Operands::VS : kind_of(i.b, i.c));
      break;
  }
  return step;
}

ElementwiseKernel::Step ElementwiseKernel::Builder::fold_step(int output) {
  const int value = program_.outputs[static_cast<size_t>(output)];
  const Fold fold = program_.fold(static_cast<size_t>(output));
  const bool columns = fold == Fold::Columns || fold == Fold::ColumnMeans;
  const bool mean = fold == Fold::Mean || fold == Fold::ColumnMeans;
  if (columns && fact(value).row) throw invalid_argument("a loop folds rows of one element");
  const int64_t rows = k_.row_ == 0 ? 0 : k_.elements_ / k_.row_;
  const int64_t count = columns || fact(value).row ? rows : k_.elements_;
  const size_t at = k_.folds_.size();
  k_.folds_.push_back({.output = output, .columns = columns, .divisor = mean ? static_cast<float>(count) : 1.0f});
  return {.kind = columns ? Step::Kind::Columns : Step::Kind::All, .a = array_at(value), .index = static_cast<int>(at)};
}

void ElementwiseKernel::Builder::make_full(int phase, int& number) {
  for (const Task& task : tasks_[static_cast<size_t>(phase)]) {
    Step step = full_step(task, number, phase, k_.phases_.back().full);
    k_.phases_.back().full.push_back(step);
    ++number;
  }
}

ElementwiseKernel::Step ElementwiseKernel::Builder::binary_step(const ElementwiseInstruction& i,
                                                                std::vector<Step>& steps) {
  const auto fn = static_cast<BinaryFn>(i.fn);
  Step step{.kind = Step::Kind::Binary};
  const bool a_row = fact(i.a).row, b_row = fact(i.b).row;
  if ((a_row && is_array(i.b)) || (b_row && is_array(i.a))) {
    if (k_.row_ >= kShortRow) {
      step.by_row = true;
      step.a = fact(i.a).place;
      step.b = fact(i.b).place;
      step.binary = cpu::binary_tile(fn, a_row ? Operands::SV : Operands::VS);
      return step;
    }
  }
  const bool both = fact(i.a).single && fact(i.b).single;
  step.a = both || !fact(i.a).single ? spread(i.a, steps) : fact(i.a).place;
  step.b = fact(i.b).single ? fact(i.b).place : spread(i.b, steps);
  const bool a_single = fact(i.a).single && !both;
  step.binary = cpu::binary_tile(fn, a_single ? Operands::SV : fact(i.b).single ? Operands::VS : Operands::VV);
  return step;
}

ElementwiseKernel::Step ElementwiseKernel::Builder::full_step(const Task& task, int number, int phase,
                                                              std::vector<Step>& steps) {
  borrowed_.clear();
  if (task.instruction < 0) {
    if (is_folded(task.output)) {
      Step step = fold_step(task.output);
      release(task, number);
      return step;
    }
    return {.unary = cpu::unary_tile(UnaryFn::Identity),
            .a = fact(program_.outputs[static_cast<size_t>(task.output)]).place,
            .result = {Place::Kind::Output, task.output}};
  }
  const ElementwiseInstruction& i = at(task.instruction);
  const int value = result(task.instruction);
  Step step;
  switch (i.kind) {
    case Kind::Unary:
      step = {.unary = cpu::unary_tile(static_cast<UnaryFn>(i.fn)), .a = array_at(i.a)};
      break;
    case Kind::Binary:
      step = binary_step(i, steps);
      break;
    case Kind::Select: {
      const bool both = fact(i.b).single && fact(i.c).single;
      step = {.kind = Step::Kind::Select, .a = spread(i.a, steps)};
      step.b = both || !fact(i.b).single ? spread(i.b, steps) : fact(i.b).place;
      step.c = fact(i.c).single ? fact(i.c).place : spread(i.c, steps);
      step.select = cpu::select_tile(fact(i.b).single && !both ? Operands::SV
                                     : fact(i.c).single        ? Operands::VS
                                                               : Operands::VV);
      break;
    }
    case Kind::Reduce: {
      const auto fn = static_cast<ReduceFn>(i.fn);
      step = {.kind = Step::Kind::Reduce,
              .mean = fn == ReduceFn::Mean,
              .reduce = cpu::reduce_run(fn),
              .join = fn == ReduceFn::SumSquares ? ReduceFn::Sum : fn,
              .a = array_at(i.a),
              .result = {Place::Kind::Row, k_.row_registers_++},
              .index = k_.accumulators_++};
      fact(value).place = step.result;
      release(task, number);
      return step;
    }
    case Kind::Constant:
      break;
  }
  release(task, number);
  fact(value).place = step.result = is_last(task) ? Place{Place::Kind::Output, 0} : place_for(value, phase);
  return step;
}

// Operands that are read for the last time make room for the result.
void ElementwiseKernel::Builder::release(const Task& task, int number) {
  std::set<int> seen;
  for (int value : operands(task)) {
    if (fact(value).last_use != number || !seen.insert(value).second) continue;
    const Place& place = fact(value).place;
    if (place.kind == Place::Kind::Register) free_.push_back(place.index);
    if (place.kind == Place::Kind::Wide) free_wides_.push_back(place.index);
  }
  free_.insert(free_.end(), borrowed_.begin(), borrowed_.end());
  borrowed_.clear();
}

ElementwiseKernel::Place ElementwiseKernel::Builder::place_for(int value, int phase) {
  for (int o = 1; o < static_cast<int>(program_.outputs.size()); ++o) {
    if (program_.outputs[static_cast<size_t>(o)] == value && !is_folded(o)) return {Place::Kind::Output, o};
  }
  const bool wide = k_.piece_ < k_.tile_ && fact(value).last_phase > phase;
  std::vector<int>& free = wide ? free_wides_ : free_;
  const Place::Kind kind = wide ? Place::Kind::Wide : Place::Kind::Register;
  if (free.empty()) return {kind, wide ? k_.wides_++ : new_register()};
  const int index = free.back();
  free.pop_back();
  return {kind, index};
}

// ---- what is left

void ElementwiseKernel::Builder::list_inputs() {
  std::set<int> seen;
  const bool in_pieces = k_.piece_ < k_.tile_;
  for (Phase& phase : k_.phases_) {
    if (in_pieces) seen.clear();
    auto note = [&](const Place& place) {
      if (place.kind != Place::Kind::Input || k_.inputs_[static_cast<size_t>(place.index)].is_single()) return;
      if (seen.insert(place.index).second) phase.inputs.push_back(place.index);
    };
    for (const Step& step : phase.full) {
      note(step.a);
      if (step.kind == Step::Kind::Binary || step.kind == Step::Kind::Select) note(step.b);
      if (step.kind == Step::Kind::Select) note(step.c);
    }
  }
}

void ElementwiseKernel::Builder::choose_chunks() {
  size_t steps = 1, bytes = 0;
  for (const Phase& phase : k_.phases_) steps += phase.rows.size() + phase.full.size();
  if (k_.folds_.empty()) {
    // About as much work a block as 16 Ki cheap elements of a single operation.
    k_.chunk_tiles_ = std::max<int64_t>(1, 16384 / static_cast<int64_t>(steps) / std::max<int64_t>(1, k_.tile_));
    return;
  }
  int64_t columns = 0;
  for (FoldOutput& fold : k_.folds_) {
    fold.offset = bytes;
    bytes += fold.columns ? (static_cast<size_t>(k_.row_) * sizeof(float) + 63) / 64 * 64 : 64;
    columns += fold.columns ? k_.row_ : 16;
  }
  const int64_t most = std::max<int64_t>(1, kMaxPartials / std::max<int64_t>(1, columns));
  const int64_t chunks = std::clamp<int64_t>(k_.elements_ / kChunkElements, 1, most);
  k_.chunk_tiles_ = std::max<int64_t>(1, (k_.tiles_ + chunks - 1) / chunks);
  k_.partial_bytes_ = bytes;
}

}  // namespace weir
