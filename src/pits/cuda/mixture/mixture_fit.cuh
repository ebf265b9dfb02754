// The fit of a mixture's regressions in every realization.
#pragma once

#include "pits/cuda/mixture/mixture_view.h"

namespace pits::cuda {

// As before any observation.
void start_regressions(const GroupView& group, const MixtureView& mixture, cudaStream_t stream);
// Of realizations that train: sums of what the history holds, posteriors and draws, precisions of the next fit.
void fit_regressions(const GroupView& group, const MixtureView& mixture, cudaStream_t stream);

}  // namespace pits::cuda
