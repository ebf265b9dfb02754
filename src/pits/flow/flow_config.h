// Settings of a flow. Plain, so that the GPU's code includes the same ones.
#pragma once

#include "pits/core/enum_names.h"

namespace pits {

class Fields;

enum class FlowKind { ensemble, svgd, dgf, dgf_sinkhorn, dgf_released, blob, gfsd, gfsf, spos, sgld };
template <>
inline constexpr auto enum_names<FlowKind> =
    std::array{"ensemble", "svgd", "dgf", "dgf-sinkhorn", "dgf-released", "blob", "gfsd", "gfsf", "spos", "sgld"};

// Whose score the kernel weighs: particle j's (SVGD and the paper's released code) or particle i's own
// (Eq. 6 as printed).
enum class ScoreAt { neighbour, own };
template <>
inline constexpr auto enum_names<ScoreAt> = std::array{"neighbour", "own"};

// The velocity that descends KL(μ‖p) inside a DGF step; SVGD is the paper's.
enum class Drive { svgd, blob };
template <>
inline constexpr auto enum_names<Drive> = std::array{"svgd", "blob"};

// A squared length that is fixed, or follows the cloud by the median of its squared distances.
// In a config: a number, "median" (over all M² pairs, the zeros of the diagonal included) or
// "median-off-diagonal" (over i ≠ j).
struct Scale {
  enum class Rule { median, median_off_diagonal, fixed };
  Rule rule = Rule::median;
  double value = 0.0;  // with Rule::fixed

  static Scale fixed(double value);  // throws where value is not above 0
};

struct FlowConfig {
  FlowKind kind = FlowKind::dgf;
  Scale bandwidth{};  // h of the kernel
  ScoreAt score_at = ScoreAt::neighbour;
  double entropy = 1.0;  // λ₁ in F₁
  Drive drive = Drive::svgd;
  Scale lambda{};        // λ₂, squared length of the transport; Sinkhorn's regulariser
  double gamma = 1.0;    // constant multipliers u_i v_j of Eq. 6
  double tau = 1.0;      // JKO step of the Sinkhorn form; at least ten plain steps
  bool debiased = true;  // Sinkhorn: subtract the plan of the cloud to itself
  int inner_steps = 1;   // steps for which θ′ is held: 1 is Eq. 6, more is the JKO scheme of Eq. 4
  double beta = 0.1;     // SPOS: weight of the diffusion
  double ridge = 0.01;   // GFSF: ε = ridge · max K
};
Fields fields(FlowConfig& config);

}  // namespace pits
