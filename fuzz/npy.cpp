// The reader of NumPy's array files.
#include "pits/core/io/npy.h"

#include "fuzz/target.h"

namespace pits::fuzz {

bool reads(std::string_view bytes) {
  return reads_in_any_pieces(bytes, [&](std::size_t piece) {
    NpyReader reader("file");
    feed(reader, bytes, piece);
    const Matrix<double> matrix = std::move(reader).finish();
    std::string text = fmt::format("{} x {}:", matrix.rows(), matrix.cols());
    for (const double value : matrix.flat()) text += fmt::format(" {}", value);
    return text;
  });
}

}  // namespace pits::fuzz
