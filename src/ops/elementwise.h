#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devices/cpu/reduce.h"
#include "devices/cpu/tile.h"
#include "ops/broadcast.h"
#include "weir/shape.h"

namespace weir {


// A loop over the elements of float32 arrays as one step: elementwise functions, reductions of rows whose results
// they use again, and sums over rows or over everything beside them. Functions whose result is bool (Less, IsNan, ...)
// give 1.0f and 0.0f, which is what Select reads. Values are numbered: first the inputs, then the result of each
// instruction in order, so an instruction reads only values with smaller numbers than its own result.
//
// A value has an element for each of the loop's (a full value) or one for each row (a row value): the result of Reduce,
// an input that is marked so, and what is computed from these and single elements alone.
struct ElementwiseInstruction {
  enum class Kind : uint8_t { Unary, Binary, Select, Reduce, Constant };
  Kind kind = Kind::Unary;
  uint8_t fn = 0;           // a UnaryFn, BinaryFn or ReduceFn
  int a = 0, b = 0, c = 0;  // values: a; a and b; condition a, then b or else c
  float number = 0;         // of Constant
};

struct ElementwiseProgram {
  // How an output follows from its value.
  enum class Fold : uint8_t {
    None,         // it is that value
    Columns,      // the sum over the rows of a full value: as many elements as a row has
    ColumnMeans,  // the same, divided by the number of rows
    All,          // the sum of all its elements
    Mean,         // the same, divided by their number
  };

  int inputs = 0;
  std::vector<ElementwiseInstruction> instructions = {};
  std::vector<int> outputs = {};     // values; without a fold each the result of an instruction
  std::vector<Fold> folds = {};      // one for each output; none at all: none
  int row_dims = 0;                  // the last dimensions, this many, make a row; 0: there are no rows
  std::vector<int> row_inputs = {};  // inputs with one element a row

  // Each appends an instruction and returns the number of its result.
  int add(cpu::UnaryFn fn, int x);
  int add(cpu::BinaryFn fn, int a, int b);
  int add_select(int condition, int a, int b);
  int add_reduce(ReduceFn fn, int x);
  int add_constant(float number);

  Fold fold(size_t output) const { return folds.empty() ? Fold::None : folds[output]; }
  bool is_row_input(int input) const;
  bool is_flat() const { return row_dims == 0 && folds.empty() && outputs.size() == 1; }  // elementwise functions alone

  // A readable text, an instruction each line: "Mul 0 1\nTanh 2\n-> 3". Rows come first, "rows 1 : 0" for rows of one
  // dimension and an input 0 with one element for each; folds stand behind outputs, "-> 3 4:columns".
  std::string encode() const;
  // Throws InvalidArgument when the text is no program, or reads a value before it exists.
  static ElementwiseProgram decode(std::string_view text, int inputs);
};

// The shape of a loop's output: of the whole loop, or without the dimensions that it was reduced along; `kept`: with
// ones in their place.
struct LoopForm {
  enum class Of : uint8_t { Full, Row, Columns, All };
  Of of = Of::Full;
  bool kept = false;
  int64_t encode() const { return 2 * static_cast<int64_t>(of) + (kept ? 1 : 0); }
  static LoopForm decode(int64_t code) { return {static_cast<Of>(code / 2 % 4), code % 2 != 0}; }
};

// A program made ready for shapes: registers are assigned, so that few tiles are in use at once, and tile functions and
// the ways in which inputs broadcast are chosen.
//
// The loop goes over tiles: a thousand elements, some whole rows, or one long row in pieces. What depends on the
// reduction of a row comes in a later phase: each phase passes over the tile, which stays in the cache.
//
// The order of additions depends on the shape alone, so that results have the same bits for any number of threads.
class ElementwiseKernel {
 public:
  // Shapes are concrete; every input broadcasts to `shape`, which all full values have, but row inputs, which have an
  // element for each row.
  ElementwiseKernel(const ElementwiseProgram& program, std::span<const Shape* const> inputs, const Shape& shape);

  // Bytes that run() needs as scratch, aligned to 64 bytes.
  size_t scratch_bytes(int threads) const;

  // Runs tile by tile and allocates nothing. Output 0, when it is a full value, may be the same array as an input that
  // has its size; otherwise arrays do not overlap. Thread-safe when scratch is not shared.
  void run(std::span<const float* const> inputs, std::span<float* const> outputs, void* scratch,
           ThreadPool& pool) const;

 private:
  // Where a value is while a tile is worked on.
  struct Place {
    enum class Kind : uint8_t {
      Input,     // of full size or a single element
      RowInput,  // one element a row
      Register,  // a piece
      Wide,      // a whole row in pieces, for later phases
      Row,       // one element a row
      Output,
    } kind = Kind::Register;
    int index = 0;
  };
  // How an input reaches a tile.
  enum class Access : uint8_t {
    Direct,  // has the output's size: read where it is
    Scalar,  // one element that meets every other
    Rows,    // an element a row
    Repeat,  // trailing dimensions, again and again: read where it is unless the tile crosses its end
    Pieces,  // anything else: copied into a register piece by piece
    Spread,  // one element, copied to all of a register
  };
  struct Input {
    Access access = Access::Direct;
    int64_t period = 0;  // of Repeat and Pieces: elements so far apart are the same ...
    int64_t block = 0;   // ... within blocks of so many
    int tile = -1;       // the register for its elements
    bool once = false;   // they are the same in every tile
    std::optional<BroadcastPlan> plan = {};
    bool is_single() const { return access == Access::Scalar || access == Access::Spread; }
  };
  struct Step {
    enum class Kind : uint8_t { Unary, Binary, Select, Reduce, Spread, Columns, All };
    Kind kind = Kind::Unary;
    bool by_row = false;  // of Binary: one operand is a row value, a single element for each row of the other
    bool mean = false;    // of Reduce
    cpu::UnaryTile unary = nullptr;
    cpu::BinaryTile binary = nullptr;
    cpu::SelectTile select = nullptr;
    cpu::ReduceRun reduce = nullptr;
    ReduceFn join = {};  // of Reduce: what makes one of the pieces' results
    Place a = {}, b = {}, c = {}, result = {};
    int index = 0;  // of Reduce: its accumulator; of Columns and All: its fold
  };
  // What happens between two reductions: first with rows' single values, then with full ones, piece by piece.
  struct Phase {
    std::vector<Step> rows, full;
    std::vector<int> inputs;  // that the full steps read
  };
  struct FoldOutput {
    int output = 0;
    bool columns = false;
    float divisor = 1;
    size_t offset = 0;  // of its partial results in a chunk's memory, in bytes
  };
  struct Worker;
  class Builder;

  bool has_folds() const { return !folds_.empty(); }
  size_t register_floats() const { return (static_cast<size_t>(piece_) + 15) / 16 * 16; }
  size_t wide_floats() const { return wides_ == 0 ? 0 : (static_cast<size_t>(tile_) + 15) / 16 * 16; }
  size_t row_floats() const { return (static_cast<size_t>(tile_rows_) + 15) / 16 * 16; }
  size_t thread_bytes() const;
  int64_t chunks() const { return (tiles_ + chunk_tiles_ - 1) / chunk_tiles_; }
  void run_tile(Worker& worker, int64_t tile, bool first) const;
  void finish_folds(std::span<float* const> outputs, const std::byte* partials) const;

  int64_t elements_ = 0;
  int64_t row_ = 0;                   // elements of a row; 0: there are none
  int64_t tile_ = cpu::kTileFloats;   // elements worked on at once ...
  int64_t piece_ = cpu::kTileFloats;  // ... in pieces of this size
  int64_t tile_rows_ = 1;
  int64_t tiles_ = 0;
  int64_t chunk_tiles_ = 1;   // one after the other by one thread
  size_t partial_bytes_ = 0;  // of a chunk: partial results of folds
  int registers_ = 0, wides_ = 0, row_registers_ = 0, accumulators_ = 0;
  std::vector<Input> inputs_;  // the program's, then its constants
  std::vector<float> constants_;
  std::vector<Phase> phases_;
  std::vector<std::pair<int, int>> row_outputs_;  // row register, output
  std::vector<FoldOutput> folds_;
};

}  // namespace weir
