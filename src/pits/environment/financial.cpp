#include "pits/environment/financial.h"

#include "pits/data/benchmark.h"

namespace pits {

Fields fields(FinancialConfig& c) {
  return fields(c.rows)
      .add("actions", c.actions, "number of actions K", between(1, 1e5))
      .merge(noise_fields(c.noise, c.noise_level, c.noise_growth));
}

Financial::Financial(const FinancialConfig& config, const EnvironmentSetup& setup)
    : setup_(setup),
      table_(financial_table(setup.data_dir)),
      contexts_(table_->contexts, checked(config).rows, setup),
      noise_{.unit = config.noise, .level = config.noise_level, .growth = config.noise_growth} {
  Stream stream({setup.seed, setup.realization, Purpose::environment_setup, 1});  // step 0 is the order of the rows
  beta_ = draw_coefficients(stream, static_cast<Eigen::Index>(contexts_.size()), config.actions, false);
}

void Financial::draw(std::size_t t, Round& round) const {
  contexts_.fill(contexts_.row(t), round.context);
  const auto step = static_cast<std::uint32_t>(t);
  draw_linear_rewards(beta_, noise_, Stream({setup_.seed, setup_.realization, Purpose::environment_reward, step}),
                      round);
}

}  // namespace pits
