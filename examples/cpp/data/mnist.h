#pragma once

#include <string>

#include "weir/tensor.h"

namespace weir::data {

// One part of a labelled data set: row i of `images` belongs to label i.
struct Labelled {
  Tensor images;  // float32 [n, pixels], values from 0 to 1
  Tensor labels;  // int64 [n]
};

struct Mnist {
  Labelled train;
  Labelled test;
};

// Reads the four files of MNIST (or of a data set in its form, such as Fashion-MNIST) from `directory` under their
// usual names, train-images-idx3-ubyte.gz and so on. Throws NotFound for a missing file and DataLoss for a damaged one.
Mnist read_mnist(const std::string& directory);

// Reads one idx file of bytes, gzipped or not, as a uint8 tensor. Throws NotFound, or DataLoss for a file that is cut
// short, has bytes left over or is of another kind.
Tensor read_idx(const std::string& path);

}  // namespace weir::data
