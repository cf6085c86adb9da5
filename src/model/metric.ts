/** A gauge of a policy, as it is described to OpenTelemetry. */
export interface PolicyMetric {
  readonly name: string;
  /** The unit in UCUM notation. */
  readonly unit: string;
  readonly meaning: string;
}
