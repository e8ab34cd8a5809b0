#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/errors.h"
#include "weir/image_codecs.h"

namespace weir {
namespace {

// What decoded frames may take. A file of some hundred bytes could ask for thousands of frames of any size.
constexpr int64_t kMostBytes = int64_t{1} << 30;
// A code of 3 to 12 bits stands for up to 4096 pixels.
constexpr int64_t kPixelsOfAByte = 4096;

struct Frame {
  int64_t left, top, width, height;
  std::vector<GifColorType> colours;
  std::vector<uint8_t> indices;
};

class Reader {
 public:
  explicit Reader(std::string_view gif) : bytes_(gif) {
    int code = 0;
    file_.reset(DGifOpen(this, read, &code));
    if (!file_) fail("failed to open gif file: {}", reason(code));
  }

  std::vector<Frame> frames() {
    std::vector<Frame> frames;
    for (GifRecordType type = UNDEFINED_RECORD_TYPE; type != TERMINATE_RECORD_TYPE;) {
      require(DGifGetRecordType(file_.get(), &type));
      if (type == IMAGE_DESC_RECORD_TYPE) {
        frames.push_back(frame(frames.size()));
      } else if (type == EXTENSION_RECORD_TYPE) {
        int code = 0;
        GifByteType* extension = nullptr;
        require(DGifGetExtension(file_.get(), &code, &extension));
        while (extension) require(DGifGetExtensionNext(file_.get(), &extension));
      }
    }
    if (frames.empty()) fail("gif file does not contain any image");
    return frames;
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw invalid_argument("Invalid GIF data (size {}), {}", bytes_.size(),
                           fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  static int read(GifFileType* file, GifByteType* to, int size) {
    auto& reader = *static_cast<Reader*>(file->UserData);
    const size_t count = std::min(static_cast<size_t>(size), reader.bytes_.size() - reader.at_);
    std::memcpy(to, reader.bytes_.data() + reader.at_, count);
    reader.at_ += count;
    return static_cast<int>(count);
  }
  static std::string reason(int code) {
    const char* text = GifErrorString(code);
    return text ? text : "Unknown error";
  }
  void require(int status) const {
    if (status != GIF_OK) fail("failed to slurp gif file: {}", reason(file_->Error));
  }

  Frame frame(size_t number) {
    require(DGifGetImageDesc(file_.get()));
    const GifImageDesc& desc = file_->Image;
    Frame frame{desc.Left, desc.Top, desc.Width, desc.Height, {}, {}};
    const int64_t left = static_cast<int64_t>(bytes_.size() - at_);
    if (frame.width <= 0 || frame.height <= 0 || frame.width * frame.height > (left + 1) * kPixelsOfAByte) {
      fail("frame {} of {} x {} pixels does not fit into the {} bytes that are left", number, frame.height, frame.width,
           left);
    }
    const ColorMapObject* map = desc.ColorMap ? desc.ColorMap : file_->SColorMap;
    total_ += frame.width * frame.height;
    if (total_ > kMostBytes) fail("its frames are too large");
    if (map) frame.colours.assign(map->Colors, map->Colors + map->ColorCount);
    frame.indices.resize(static_cast<size_t>(frame.width * frame.height));
    auto read_line = [&](int64_t y) {
      require(DGifGetLine(file_.get(), frame.indices.data() + y * frame.width, static_cast<int>(frame.width)));
    };
    if (desc.Interlace) {
      for (auto [first, step] : {std::pair{0, 8}, {4, 8}, {2, 4}, {1, 2}}) {
        for (int64_t y = first; y < frame.height; y += step) read_line(y);
      }
    } else {
      for (int64_t y = 0; y < frame.height; ++y) read_line(y);
    }
    return frame;
  }

  struct Close {
    void operator()(GifFileType* file) const { DGifCloseFile(file, nullptr); }
  };
  std::string_view bytes_;
  size_t at_ = 0;
  int64_t total_ = 0;  // pixels of all frames so far
  std::unique_ptr<GifFileType, Close> file_;
};

}  // namespace

Tensor decode_gif(std::string_view gif) {
  Reader reader(gif);
  const std::vector<Frame> frames = reader.frames();
  int64_t width = 0, height = 0;
  for (const Frame& frame : frames) {
    width = std::max(width, frame.width);
    height = std::max(height, frame.height);
  }
  const int64_t picture = width * height * 3;
  const auto count = static_cast<int64_t>(frames.size());
  if (picture > kMostBytes / count) reader.fail("{} frames of {} x {} pixels are too large", count, height, width);

  Tensor pixels(uint8, {count, height, width, 3});
  auto* out = pixels.mutable_data<uint8_t>();
  for (int64_t k = 0; k < count; ++k, out += picture) {
    const Frame& frame = frames[static_cast<size_t>(k)];
    if (frame.left != 0 || frame.top != 0 || frame.width != width || frame.height != height) {
      if (k == 0) reader.fail("the first frame does not fill the canvas");
      std::copy_n(out - picture, picture, out);
    }
    if (frame.colours.empty()) reader.fail("missing color map for frame {}", k);
    const int64_t bottom = std::min(frame.top + frame.height, height),
                  right = std::min(frame.left + frame.width, width);
    for (int64_t y = std::max<int64_t>(frame.top, 0); y < bottom; ++y) {
      const uint8_t* indices = frame.indices.data() + (y - frame.top) * frame.width - frame.left;
      uint8_t* row = out + y * width * 3;
      for (int64_t x = std::max<int64_t>(frame.left, 0); x < right; ++x) {
        if (indices[x] >= frame.colours.size()) {
          reader.fail("found color index {} outside of color map range {}", indices[x], frame.colours.size());
        }
        const GifColorType& colour = frame.colours[indices[x]];
        row[3 * x] = colour.Red;
        row[3 * x + 1] = colour.Green;
        row[3 * x + 2] = colour.Blue;
      }
    }
  }
  return pixels;
}

}  // namespace weir
