/** A gauge of a policy, as it is described to OpenTelemetry. */
export interface PolicyMetric {
  readonly name: string;
  /** As UCUM has it. */
  readonly unit: string;
  readonly meaning: string;
}
