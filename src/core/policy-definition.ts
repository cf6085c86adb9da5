import type { Option, OptionGroup } from './option.ts';

/** How an option is called in a message. */
export type Naming = (path: string) => string;

/**
 * Describes a policy. Validation, environment variables, JSON and the documented table of options are
 * derived from the descriptions in `registry.ts`.
 *
 * `Options` are the keys of a limiter's options that belong to the policy. `Layer` is what one of
 * several sources may say of them: what another source may complete can be left out.
 */
export interface PolicyDefinition<Options extends object, Layer extends object = Options> {
  /** Its options with their bounds, defaults, units, and a sentence each. */
  readonly options: Readonly<Record<keyof Options, Option | OptionGroup>>;
  /**
   * Checks what options say together; each has been checked alone.
   * @param isWhole whether what is not given has its default; else it is not known yet, and what
   *   depends on it is not checked
   * @throws RangeError or TypeError that names the options and the value
   */
  check?(options: Layer, isWhole: boolean, nameOf: Naming): void;
}
