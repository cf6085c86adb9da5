/** A gauge of a policy, as it is described to OpenTelemetry. */
export interface PolicyMetric {
  readonly name: string;
  /** The unit in UCUM notation. */
  readonly unit: string;
  readonly meaning: string;
  /** The attribute that tells its series apart. Default: it has one series. */
  readonly by?: 'limit' | 'mode' | 'source' | 'state';
  /** How the values of several instances of one name become one. Default `sum`. */
  readonly together?: 'sum' | 'greatest';
}

/** The value of a gauge, or its values by the attribute that tells its series apart. */
export type GaugeValue = number | Readonly<Record<string, number>>;
