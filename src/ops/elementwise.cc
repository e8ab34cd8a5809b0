#include "ops/elementwise.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ops/elementwise_builder.h"

namespace weir {
namespace {

double neutral(ReduceFn fn) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return fn == ReduceFn::Max ? -kInfinity : fn == ReduceFn::Min ? kInfinity : fn == ReduceFn::Prod ? 1 : 0;
}

}  // namespace

ElementwiseKernel::ElementwiseKernel(const ElementwiseProgram& program, std::span<const Shape* const> inputs,
                                     const Shape& shape)
    : elements_(shape.elements()) {
  Builder(*this, program).build(inputs, shape);
}

// A thread's scratch memory: registers for pieces, for rows in pieces and for single values of rows, what long rows
// are added up in, then a pointer to each input's elements for the piece at hand.
size_t ElementwiseKernel::thread_bytes() const {
  const size_t floats = static_cast<size_t>(registers_) * register_floats() +
                        static_cast<size_t>(wides_) * wide_floats() +
                        static_cast<size_t>(row_registers_) * row_floats();
  const size_t bytes =
      floats * sizeof(float) + static_cast<size_t>(accumulators_) * sizeof(double) + inputs_.size() * sizeof(float*);
  return (bytes + 63) / 64 * 64;
}

size_t ElementwiseKernel::scratch_bytes(int threads) const {
  const size_t partials = has_folds() ? partial_bytes_ * static_cast<size_t>(chunks()) : 0;
  return thread_bytes() * static_cast<size_t>(threads) + partials;
}

// What a thread has in hands.
struct ElementwiseKernel::Worker {
  const ElementwiseKernel& k;
  const float* const* inputs;
  float* const* outputs;
  float* registers;
  float* wides;
  float* rows;
  double* accumulators;
  const float** values;
  std::byte* partials;               // of the chunk
  int64_t begin = 0, n = 0;          // the piece
  int64_t offset = 0;                // ... in the tile
  int64_t first_row = 0, count = 0;  // the tile's rows

  Worker(const ElementwiseKernel& kernel, std::span<const float* const> in, std::span<float* const> out,
         std::byte* memory)
      : k(kernel), inputs(in.data()), outputs(out.data()), partials(nullptr) {
    registers = reinterpret_cast<float*>(memory);
    wides = registers + static_cast<size_t>(k.registers_) * k.register_floats();
    rows = wides + static_cast<size_t>(k.wides_) * k.wide_floats();
    accumulators = reinterpret_cast<double*>(rows + static_cast<size_t>(k.row_registers_) * k.row_floats());
    values = reinterpret_cast<const float**>(accumulators + k.accumulators_);
    read_singles();
  }

  float* place(const Place& place) const {
    const auto index = static_cast<size_t>(place.index);
    switch (place.kind) {
      case Place::Kind::Input:
        return const_cast<float*>(values[index]);
      case Place::Kind::RowInput:
        return const_cast<float*>(inputs[index]) + first_row;
      case Place::Kind::Register:
        return registers + index * k.register_floats();
      case Place::Kind::Wide:
        return wides + index * k.wide_floats() + offset;
      case Place::Kind::Row:
        return rows + index * k.row_floats();
      case Place::Kind::Output:
        return outputs[index] + begin;
    }
    return nullptr;
  }

  void read_singles();
  void read_input(int index);
  static void gather(const Input& input, const float* from, int64_t first, int64_t count, float* to);
  void run(const Step& step, int64_t elements);
  void run_by_row(const Step& step);
  void reduce(const Step& step);
  void finish(const Step& step);
  void fold_columns(const Step& step);
};

void ElementwiseKernel::Worker::read_singles() {
  const size_t given = k.inputs_.size() - k.constants_.size();
  for (size_t i = 0; i < k.inputs_.size(); ++i) {
    const Input& input = k.inputs_[i];
    if (!input.is_single()) continue;
    values[i] = i < given ? inputs[i] : &k.constants_[i - given];
    if (input.access == Access::Scalar) continue;
    float* spread = registers + static_cast<size_t>(input.tile) * k.register_floats();
    std::fill_n(spread, k.register_floats(), *values[i]);
    values[i] = spread;
  }
}

void ElementwiseKernel::Worker::read_input(int index) {
  const Input& input = k.inputs_[static_cast<size_t>(index)];
  const float* from = inputs[index];
  const float*& to = values[index];
  switch (input.access) {
    case Access::Direct:
      to = from + begin;
      return;
    case Access::Repeat:
      if (int64_t at = begin % input.period; at + n <= input.period) {
        to = from + at;
        return;
      }
      break;
    default:
      break;
  }
  float* gathered = registers + static_cast<size_t>(input.tile) * k.register_floats();
  to = gathered;
  for (int64_t at = 0; at < n;) {
    // The first period piece by piece, the others of its block from that.
    const int64_t length = std::min(n - at, input.block - (begin + at) % input.block);
    int64_t there = std::min(length, input.period);
    gather(input, from, begin + at, there, gathered + at);
    for (; there < length; there += std::min(there, length - there)) {
      std::memcpy(gathered + at + there, gathered + at,
                  static_cast<size_t>(std::min(there, length - there)) * sizeof(float));
    }
    at += length;
  }
}

// Elements [first, first + count) of an input that broadcasts.
void ElementwiseKernel::Worker::gather(const Input& input, const float* from, int64_t first, int64_t count, float* to) {
  // In a plane it moves along the rows and stands still from one to the next, or the other way round.
  const int64_t row = input.plan->row();
  const auto expand = input.plan->moves(0) ? cpu::repeat_run : cpu::spread_elements;
  input.plan->for_each_plane_piece(
      first, first + count, [&](const int64_t* at, int64_t skip, int64_t where, int64_t length) {
        expand(from + at[0], row, skip, length, to + (where - first));
      });
}

void ElementwiseKernel::Worker::run(const Step& s, int64_t elements) {
  switch (s.kind) {
    case Step::Kind::Unary:
      s.unary(place(s.a), place(s.result), elements);
      break;
    case Step::Kind::Binary:
      if (s.by_row) return run_by_row(s);
      s.binary(place(s.a), place(s.b), place(s.result), elements);
      break;
    case Step::Kind::Select:
      s.select(place(s.a), place(s.b), place(s.c), place(s.result), elements);
      break;
    case Step::Kind::Spread:
      cpu::spread_elements(place(s.a), std::min(n, k.row_), 0, n, place(s.result));
      break;
    case Step::Kind::Reduce:
      reduce(s);
      break;
    case Step::Kind::Columns:
      fold_columns(s);
      break;
    case Step::Kind::All: {
      auto* sum = reinterpret_cast<double*>(partials + k.folds_[static_cast<size_t>(s.index)].offset);
      *sum += cpu::reduce_run(ReduceFn::Sum)(place(s.a), elements);
      break;
    }
  }
}

// One operand has a single element for each row of the other.
void ElementwiseKernel::Worker::run_by_row(const Step& s) {
  const float *a = place(s.a), *b = place(s.b);
  float* y = place(s.result);
  const bool a_row = s.a.kind == Place::Kind::Row || s.a.kind == Place::Kind::RowInput;
  const int64_t row = std::min(n, k.row_), a_step = a_row ? 1 : row, b_step = a_row ? row : 1;
  for (int64_t r = 0; r * row < n; ++r) s.binary(a + r * a_step, b + r * b_step, y + r * row, row);
}

void ElementwiseKernel::Worker::reduce(const Step& s) {
  const float* x = place(s.a);
  if (k.piece_ < k.tile_) {
    double& sum = accumulators[s.index];
    const float more = s.reduce(x, n);
    switch (s.join) {
      case ReduceFn::Max:
        sum = more > sum ? more : sum;
        break;
      case ReduceFn::Min:
        sum = more < sum ? more : sum;
        break;
      case ReduceFn::Prod:
        sum *= more;
        break;
      default:
        sum += more;
        break;
    }
    return;
  }
  float* y = place(s.result);
  for (int64_t r = 0; r < count; ++r) y[r] = s.reduce(x + r * k.row_, k.row_);
  if (s.mean) {
    for (int64_t r = 0; r < count; ++r) y[r] /= static_cast<float>(k.row_);
  }
}

// Of a row in pieces.
void ElementwiseKernel::Worker::finish(const Step& s) {
  const double sum = accumulators[s.index];
  *place(s.result) = static_cast<float>(s.mean ? sum / static_cast<double>(k.row_) : sum);
}

void ElementwiseKernel::Worker::fold_columns(const Step& s) {
  auto* sums = reinterpret_cast<float*>(partials + k.folds_[static_cast<size_t>(s.index)].offset) +
               (k.piece_ < k.tile_ ? offset : 0);
  const float* x = place(s.a);
  const auto add = cpu::binary_tile(cpu::BinaryFn::Add, cpu::Operands::VV);
  if (k.piece_ < k.tile_ || count == 1) return add(sums, x, sums, n);
  alignas(64) float tile[cpu::kTileFloats];
  cpu::reduce_columns(ReduceFn::Sum)(x, count, k.row_, k.row_, tile);
  add(sums, tile, sums, k.row_);
}

void ElementwiseKernel::run_tile(Worker& w, int64_t tile, bool first) const {
  const int64_t begin = tile * tile_, size = std::min(tile_, elements_ - begin);
  const bool in_pieces = piece_ < tile_;
  w.first_row = tile * tile_rows_;
  w.count = row_ > 0 ? size / row_ : 1;
  for (const Phase& phase : phases_) {
    w.begin = begin;
    w.n = std::min(piece_, size);
    for (const Step& step : phase.rows) w.run(step, w.count);
    if (in_pieces) {
      for (const Step& step : phase.full) {
        if (step.kind == Step::Kind::Reduce) w.accumulators[step.index] = neutral(step.join);
      }
    }
    for (w.offset = 0; w.offset < size; w.offset += piece_) {
      w.begin = begin + w.offset;
      w.n = std::min(piece_, size - w.offset);
      for (int input : phase.inputs) {
        if (first || !inputs_[static_cast<size_t>(input)].once) w.read_input(input);
      }
      for (const Step& step : phase.full) w.run(step, w.n);
    }
    w.offset = 0;
    if (in_pieces) {
      for (const Step& step : phase.full) {
        if (step.kind == Step::Kind::Reduce) w.finish(step);
      }
    }
  }
  for (auto [from, output] : row_outputs_) {
    std::memcpy(w.outputs[output] + w.first_row, w.rows + static_cast<size_t>(from) * row_floats(),
                static_cast<size_t>(w.count) * sizeof(float));
  }
}

void ElementwiseKernel::run(std::span<const float* const> inputs, std::span<float* const> outputs, void* scratch,
                            ThreadPool& pool) const {
  auto* memory = static_cast<std::byte*>(scratch);
  std::byte* partials = memory + thread_bytes() * static_cast<size_t>(pool.threads());
  pool.parallel_for(tiles_, chunk_tiles_, [&](int64_t first, int64_t last) {
    Worker worker(*this, inputs, outputs, memory + static_cast<size_t>(ThreadPool::thread_index()) * thread_bytes());
    if (has_folds()) {
      worker.partials = partials + static_cast<size_t>(first / chunk_tiles_) * partial_bytes_;
      std::memset(worker.partials, 0, partial_bytes_);
    }
    for (int64_t t = first; t < last; ++t) run_tile(worker, t, t == first);
  });
  if (has_folds()) finish_folds(outputs, partials);
}

// Adds the chunks' partial results up.
void ElementwiseKernel::finish_folds(std::span<float* const> outputs, const std::byte* partials) const {
  const int64_t count = tiles_ == 0 ? 0 : chunks();
  for (const FoldOutput& fold : folds_) {
    float* y = outputs[static_cast<size_t>(fold.output)];
    const std::byte* first = partials + fold.offset;
    if (fold.columns) {
      cpu::reduce_columns(ReduceFn::Sum)(reinterpret_cast<const float*>(first), count,
                                         static_cast<int64_t>(partial_bytes_ / sizeof(float)), row_, y);
      if (fold.divisor == 1.0f) continue;
      for (int64_t i = 0; i < row_; ++i) y[i] /= fold.divisor;
    } else {
      double sum = 0;
      for (int64_t c = 0; c < count; ++c) {
        sum += *reinterpret_cast<const double*>(first + static_cast<size_t>(c) * partial_bytes_);
      }
      *y = static_cast<float>(sum / fold.divisor);
    }
  }
}

}  // namespace weir
