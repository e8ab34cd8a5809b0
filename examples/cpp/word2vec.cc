// Vectors for words from their neighbours (skip-gram), with a loss over a sample of the words.
//
// The text is made up of sentences about animals, colours and numbers: words of a kind stand in the same places, so
// that the words nearest to one are those of its kind.
//
//   word2vec [steps]

#include <weir/weir.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace weir;
using Words = std::vector<std::string>;

constexpr int64_t kBatch = 128, kSize = 16, kSampled = 8;
const std::map<std::string, Words> kKinds = {{"animals", {"dog", "cat", "horse", "bird", "fish"}},
                                             {"colours", {"red", "green", "blue", "white", "black"}},
                                             {"numbers", {"two", "three", "four", "five", "six"}}};
const Words kPatterns = {"i see numbers colours animals", "animals like colours things", "she has numbers animals",
                         "paint it colours", "numbers of the animals are colours"};

template <class T>
const T& one_of(const std::vector<T>& list, std::mt19937& random) {
  return list[random() % list.size()];
}

Words make_text(int sentences, std::mt19937& random) {
  Words text;
  for (int i = 0; i < sentences; ++i) {
    std::istringstream pattern(one_of(kPatterns, random));
    for (std::string word; pattern >> word;) {
      const auto kind = kKinds.find(word);
      text.push_back(kind == kKinds.end() ? word : one_of(kind->second, random));
    }
  }
  return text;
}

void run(int steps) {
  std::mt19937 random(1);
  const Words text = make_text(4000, random);
  const std::set<std::string> different(text.begin(), text.end());
  const Words words(different.begin(), different.end());
  auto number_of = [&](const std::string& word) {
    return static_cast<int32_t>(std::lower_bound(words.begin(), words.end(), word) - words.begin());
  };
  std::vector<int32_t> numbers;
  for (const std::string& word : text) numbers.push_back(number_of(word));
  const auto count = static_cast<int64_t>(words.size());

  Graph g;
  g.set_random_seed(1);
  Output inputs = g.placeholder(int32, {kUnknown}), labels = g.placeholder(int32, {kUnknown, 1});
  Variable embeddings = g.variable("embeddings", random_uniform(g, {count, kSize}, {.minval = -1.f, .maxval = 1.f}));
  Variable nce_weights =
      g.variable("nce_weights", truncated_normal(g, {count, kSize}, {.stddev = 1 / std::sqrt(float{kSize})}));
  Variable nce_biases = g.variable("nce_biases", zeros(g, {count}));
  Output loss = reduce_mean(nn::nce_loss({nce_weights}, {nce_biases}, cast(labels, int64),
                                         nn::embedding_lookup({embeddings}, inputs),
                                         {.num_sampled = kSampled, .num_classes = count}));
  Operation train = train::GradientDescent(1.f).minimize(loss);
  Output normalized = nn::l2_normalize(embeddings, {1});
  Output similarity = matmul(normalized, normalized, {.transpose_b = true});

  Session session(g);
  session.run(g.global_variables_initializer());
  const int offsets[] = {-2, -1, 1, 2};
  for (int step = 1; step <= steps; ++step) {
    Tensor batch(int32, {kBatch}), neighbours(int32, {kBatch, 1});
    for (int64_t i = 0; i < kBatch; ++i) {
      const size_t place = 2 + random() % (numbers.size() - 4);
      batch.mutable_data<int32_t>()[i] = numbers[place];
      neighbours.mutable_data<int32_t>()[i] = numbers[place + static_cast<size_t>(offsets[random() % 4])];
    }
    const Tensor value = session.run(loss, {{inputs, batch}, {labels, neighbours}}, {train});
    if (step % 500 == 0 || step == steps) {
      std::printf("step %d  loss %.3f\n", step, static_cast<double>(value.scalar<float>()));
    }
  }
  const Tensor likeness = session.run(similarity);
  int right = 0;
  for (const auto& [name, kind] : kKinds) {
    std::string nearest;
    for (const std::string& word : kind) {
      const auto row = likeness.data<float>().subspan(static_cast<size_t>(number_of(word) * count), words.size());
      float best = -2;
      for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] == word || row[i] <= best) continue;
        best = row[i];
        nearest = words[i];
      }
      right += std::find(kind.begin(), kind.end(), nearest) != kind.end();
    }
    std::printf("nearest to %s: %s\n", kind.back().c_str(), nearest.c_str());
  }
  std::printf("%d of 15 words have one of their kind nearest\n", right);
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::atoi(argv[1]) : 2000);
  } catch (const Error& e) {
    std::fprintf(stderr, "word2vec: %s\n", e.what());
    return 1;
  }
}
