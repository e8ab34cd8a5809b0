#pragma once

#include <vector>

#include "ops/elementwise.h"

namespace weir {

// Makes a kernel of a program: chooses tiles, puts instructions into phases and values into places.
class ElementwiseKernel::Builder {
 public:
  Builder(ElementwiseKernel& kernel, const ElementwiseProgram& program);
  void build(std::span<const Shape* const> inputs, const Shape& shape);

 private:
  // What is known of a value.
  struct Fact {
    bool row = false;     // one element a row
    bool single = false;  // one element for all
    int phase = 0;        // that computes it: the first in which it could be, or the last in which it must be
    int last_use = -1;    // the full step that reads it last, by its number over all phases
    int last_phase = -1;  // ... and that step's phase
    int readers = 0;      // full steps and folds
    bool needed = false;
    Place place = {};
  };
  // A full step before places are known: an instruction, or the fold or copy of an output.
  struct Task {
    int instruction = -1;
    int output = -1;
  };

  Input input_for(const Shape& from, const Shape& to) const;
  void choose_tiles();
  void choose_chunks();
  void find_facts();
  void mark_needed();
  void choose_phases();
  void order_tasks();
  void count_uses();
  void make_rows(int phase);
  void make_full(int phase, int& number);
  void list_inputs();

  int result(int instruction) const { return program_.inputs + instruction; }
  const ElementwiseInstruction& at(int instruction) const {
    return program_.instructions[static_cast<size_t>(instruction)];
  }
  Fact& fact(int value) { return facts_[static_cast<size_t>(value)]; }
  std::vector<int> operands(const Task& task) const;
  bool is_array(int value) { return !fact(value).row && !fact(value).single; }
  bool is_last(const Task& task) const;
  bool is_folded(int output) const {
    return program_.fold(static_cast<size_t>(output)) != ElementwiseProgram::Fold::None;
  }

  Place array_at(int value);                          // a single element is spread over a register
  Place spread(int value, std::vector<Step>& steps);  // ... and so is a row value, by a step before
  Place place_for(int value, int phase);
  Step row_step(int instruction);
  Step full_step(const Task& task, int number, int phase, std::vector<Step>& steps);
  Step fold_step(int output);
  Step binary_step(const ElementwiseInstruction& i, std::vector<Step>& steps);
  void release(const Task& task, int number);
  int new_register();

  ElementwiseKernel& k_;
  const ElementwiseProgram& program_;
  std::vector<Fact> facts_;
  std::vector<std::vector<Task>> tasks_;  // full ones, of each phase
  std::vector<int> free_, free_wides_, borrowed_;
};

}  // namespace weir
