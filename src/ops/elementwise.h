#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devices/cpu/tile.h"
#include "ops/broadcast.h"
#include "weir/shape.h"

namespace weir {

// A chain of elementwise operations on float32 as one step. Functions whose result is bool (Less, IsNan, ...) give 1.0f
// and 0.0f, which is what Select reads. Values are numbered: first the inputs, then the result of each
// instruction in order, so an instruction reads only values with smaller numbers than its own result.
struct ElementwiseInstruction {
  enum class Kind : uint8_t { Unary, Binary, Select };
  Kind kind = Kind::Unary;
  uint8_t fn = 0;           // a UnaryFn or BinaryFn
  int a = 0, b = 0, c = 0;  // values: a; a and b; condition a, then b or else c
};

struct ElementwiseProgram {
  int inputs = 0;
  std::vector<ElementwiseInstruction> instructions = {};
  std::vector<int> outputs = {};  // values, each the result of an instruction

  // Each appends an instruction and returns the number of its result.
  int add(cpu::UnaryFn fn, int x);
  int add(cpu::BinaryFn fn, int a, int b);
  int add_select(int condition, int a, int b);

  // A readable text, an instruction each line: "Mul 0 1\nTanh 2\n-> 3".
  std::string encode() const;
  // Throws InvalidArgument when the text is no program, or reads a value before it exists.
  static ElementwiseProgram decode(std::string_view text, int inputs);
};

// A program made ready for shapes: registers are assigned, so that few tiles are in use at once, and tile functions and
// the ways in which inputs broadcast are chosen.
class ElementwiseKernel {
 public:
  // Shapes are concrete; every input broadcasts to `shape`, which all outputs have.
  ElementwiseKernel(const ElementwiseProgram& program, std::span<const Shape* const> inputs, const Shape& shape);

  // Bytes that run() needs as scratch, aligned to 64 bytes.
  size_t scratch_bytes(int threads) const;

  // Runs tile by tile and allocates nothing. With a single output, that of the last instruction, the output may be the
  // same array as an input that has its size; otherwise arrays do not overlap. Thread-safe when scratch is not shared.
  void run(std::span<const float* const> inputs, std::span<float* const> outputs, void* scratch,
           ThreadPool& pool) const;

 private:
  // Where a value is while a tile is worked on.
  struct Place {
    enum class Kind : uint8_t { Input, Register, Output } kind = Kind::Register;
    int index = 0;
  };
  // How an input reaches a tile.
  enum class Access : uint8_t {
    Direct,  // has the output's size: read where it is
    Scalar,  // one element that meets every other
    Repeat,  // trailing dimensions, again and again: read where it is unless the tile crosses its end
    Pieces,  // anything else: copied into a register piece by piece
  };
  struct Input {
    Access access = Access::Direct;
    int64_t period = 0;  // of Repeat
    int tile = -1;       // the register for its elements
    bool once = false;   // they are the same in every tile
    std::optional<BroadcastPlan> plan = {};
  };
  struct Step {
    ElementwiseInstruction::Kind kind = ElementwiseInstruction::Kind::Unary;
    cpu::UnaryTile unary = nullptr;
    cpu::BinaryTile binary = nullptr;
    cpu::SelectTile select = nullptr;
    Place a = {}, b = {}, c = {}, result = {};
  };
  struct Tile;
  class Builder;

  size_t register_floats() const { return (static_cast<size_t>(tile_) + 15) / 16 * 16; }
  size_t thread_bytes() const;
  const float* read_input(const Input& input, const float* from, float* gathered, int64_t begin, int64_t n) const;
  void run_tile(const Tile& tile) const;

  int64_t elements_ = 0;
  int64_t tile_ = cpu::kTileFloats;  // elements worked on at once
  int registers_ = 0;
  std::vector<Input> inputs_;
  std::vector<Step> steps_;
};

}  // namespace weir
