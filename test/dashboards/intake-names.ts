/**
 * Names as Prometheus' OTLP intake makes them, beside those that a scrape finds. Written out by the
 * rules of the specification (Prometheus compatibility, OTLP to Prometheus), not derived. A Prometheus
 * 3.16 that took these metrics in by OTLP had all of these names, and no others.
 */
export const INTAKE_NAMES: Readonly<Record<string, string>> = {
  headgate_request_duration: 'headgate_request_duration_seconds',
  headgate_attempt_duration: 'headgate_attempt_duration_seconds',
  headgate_gate_wait_duration: 'headgate_gate_wait_duration_seconds',
  headgate_backoff_duration: 'headgate_backoff_duration_seconds',
  headgate_store_duration: 'headgate_store_duration_seconds',
  headgate_request_estimate: 'headgate_request_estimate_bytes',
  headgate_byte_budget_usage: 'headgate_byte_budget_usage_bytes',
  headgate_byte_budget_limit: 'headgate_byte_budget_limit_bytes',
  headgate_request_size_total: 'headgate_request_size_bytes_total',
  headgate_rate_limit_usage: 'headgate_rate_limit_usage_ratio',
  headgate_rate_limit_limit: 'headgate_rate_limit_limit_ratio',
  headgate_dispatch_interval: 'headgate_dispatch_interval_seconds',
  headgate_rate_target: 'headgate_rate_target_per_second',
  headgate_rate_ceiling: 'headgate_rate_ceiling_per_second',
  // Without a unit they keep their names; with the unit 1 they would be these.
  headgate_backoff_active: 'headgate_backoff_active_ratio',
  headgate_outage_active: 'headgate_outage_active_ratio',
  headgate_mode: 'headgate_mode_ratio',
  headgate_circuit_state: 'headgate_circuit_state_ratio',
  headgate_suspended: 'headgate_suspended_ratio',
  headgate_paused: 'headgate_paused_ratio',
  headgate_cost_budget_usage: 'headgate_cost_budget_usage_ratio',
  headgate_cost_budget_limit: 'headgate_cost_budget_limit_ratio',
  headgate_fleet_share: 'headgate_fleet_share_ratio',
  headgate_fleet_leads: 'headgate_fleet_leads_ratio',
  headgate_store_away: 'headgate_store_away_ratio',
};

/** Which parts a histogram's name ends with. */
const PARTS = '(_bucket|_sum|_count)?';

/** Rules that rename what is scraped to what the intake would have made of it. */
export function renaming(): string {
  return Object.entries(INTAKE_NAMES)
    .map(
      ([scraped, taken]) => `
      - source_labels: [__name__]
        regex: ${scraped}${PARTS}
        replacement: ${taken}\${1}
        target_label: __name__`,
    )
    .join('');
}

/** A text with scraped names, with those of the intake in their place. */
export function renamed(text: string): string {
  const names = Object.keys(INTAKE_NAMES).join('|');
  return text.replaceAll(
    new RegExp(`\\b(${names})${PARTS}(?=[{\\[ ])`, 'g'),
    (_, name: string, part?: string) => `${INTAKE_NAMES[name] ?? name}${part ?? ''}`,
  );
}
