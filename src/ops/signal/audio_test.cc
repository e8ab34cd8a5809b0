#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(Wav, ComesBackAsItWas) {
  Graph g;
  Output sound = g.constant(Tensor::from<float>({0.5f, -0.25f, 1, -1, 0, 2}, {3, 2}));
  Output file = NodeBuilder("EncodeWav").input(sound).input(Tensor(int32_t{16000})).output();
  Operation back = NodeBuilder("DecodeWav").input(file).build();
  Session session(g);
  expect_near(session.run(back.output(0)), Tensor::from<float>({0.5f, -0.25f, 1, -1, 0, 1}, {3, 2}), 1e-4);
  EXPECT_EQ(session.run(back.output(1)).scalar<int32_t>(), 16000);
  Operation wider = NodeBuilder("DecodeWav")
                        .input(file)
                        .attr("desired_samples", int64_t{4})
                        .attr("desired_channels", int64_t{1})
                        .build();
  expect_near(session.run(wider.output(0)), Tensor::from<float>({0.5f, 1, 0, 0}, {4, 1}), 1e-4);
}

TEST(DecodeWav, RefusesWhatIsNoSound) {
  Graph g;
  Output file = g.placeholder(DType::String, {});
  Operation sound = NodeBuilder("DecodeWav").input(file).build();
  Session session(g);
  Output empty =
      NodeBuilder("EncodeWav").input(g.constant(Tensor::zeros(float32, {2, 1}))).input(Tensor(int32_t{8000})).output();
  const std::string whole = session.run(empty).scalar<std::string>();
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_THROW(session.run(sound.output(0), {{file, Tensor(whole.substr(0, n))}}), Error) << n;
  }
  expect_error(
      [&] {
        session.run(sound.output(0), {{file, Tensor(std::string("RIFX0000"))}});
      },
      Code::InvalidArgument, "Header mismatch");
}

TEST(AudioSpectrogram, FindsTheToneOfAWave) {
  std::vector<float> wave;
  for (int i = 0; i < 128; ++i) wave.push_back(static_cast<float>(std::sin(2 * M_PI * i / 8)));
  Graph g;
  Output x = g.constant(Tensor::from<float>(wave, {128, 1}));
  Output y = NodeBuilder("AudioSpectrogram")
                 .input(x)
                 .attr("window_size", int64_t{64})
                 .attr("stride", int64_t{32})
                 .attr("magnitude_squared", true)
                 .output();
  const Tensor found = Session(g).run(y);
  ASSERT_EQ(found.shape(), (Shape{1, 3, 33}));
  for (size_t f = 0; f < 3; ++f) {
    const auto row = found.data<float>().subspan(f * 33, 33);
    EXPECT_EQ(std::max_element(row.begin(), row.end()) - row.begin(), 8);
    EXPECT_NEAR(row[8], 256, 0.1);
  }
  check_op({.op = "AudioSpectrogram",
            .inputs = {zeros({3, 2})},
            .attrs = {{"window_size", 4}, {"stride", 1}},
            .outputs = {zeros({2, 0, 3})},
            .bad = {{.inputs = {zeros({3, 2})}, .attrs = {{"stride", 0}}, .message = "initialization failed"}}});
}

TEST(Mfcc, HasTensorFlowsNumbers) {
  // A spectrum of ones at 22050 samples a second; from TensorFlow 1.15.
  Graph g;
  Output spectrum = g.constant(converted(ramp({1, 1, 513}, 1, 1), float32));
  Output y = NodeBuilder("Mfcc").input(spectrum).input(Tensor(int32_t{22050})).output();
  const Tensor found = Session(g).run(y);
  const std::vector<float> wanted = {29.13970072f, -6.41568601f, -0.61903012f, -0.96778652f, -0.26819878f,
                                     -0.40907028f, -0.15614748f, -0.23203119f, -0.10481487f, -0.1543029f,
                                     -0.0769791f,  -0.10806114f, -0.06047613f};
  expect_near(found, Tensor::from<float>(wanted, {1, 1, 13}), 1e-4);
  Output low = NodeBuilder("Mfcc").input(spectrum).input(Tensor(int32_t{100})).output();
  expect_error([&] { Session(g).run(low); }, Code::InvalidArgument, "Input too short");
}

}  // namespace
}  // namespace weir
