/**
 * T, but nothing is inferred for T from an argument of this type: a function of the options that
 * takes any value does not make the values of the stream unknown. As `NoInfer` of TypeScript 5.4,
 * for earlier versions too.
 */
export type NotInferred<T> = [T][T extends unknown ? 0 : never];
