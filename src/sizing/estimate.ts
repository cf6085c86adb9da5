/** Sizes of requests from their shape: bytes for budgets and chunks, tokens for rate limits. */
export { type EstimateBytes, estimateBytes } from './bytes.ts';
export {
  estimateChunkBytes,
  estimateDataBytes,
  estimateDatumBytes,
  estimateLossFnInputsBytes,
  estimateModelInputBytes,
} from './model-input.ts';
export { estimateTokens } from './tokens.ts';
