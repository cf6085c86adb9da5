/** Inputs of sampling and training APIs that take tokens and images rather than text. */

/** Text that is already tokens, in `tokens` or in `data`. */
export type EncodedTextChunk = { readonly type: 'encoded_text' } & (
  | { readonly tokens: ArrayLike<number> }
  | { readonly data: ArrayLike<number> }
);

/** An image by value: raw bytes, or base64 text of them. */
export interface ImageChunk {
  readonly type: 'image';
  readonly data: string | ArrayBuffer | ArrayBufferView;
  /** The image format, such as `png`. */
  readonly format?: string;
}

/** An image by reference. */
export interface ImageAssetPointerChunk {
  readonly type: 'image_asset_pointer';
  readonly location: string;
  readonly format?: string;
}

export type ModelInputChunk = EncodedTextChunk | ImageChunk | ImageAssetPointerChunk;

/** The input of sampling or training: text and images in order. */
export interface ModelInput {
  readonly chunks: readonly ModelInputChunk[];
}

/** Typed numbers, the input of loss functions. */
export interface TensorData {
  readonly data: ArrayLike<number>;
  readonly dtype?: string;
  readonly shape?: readonly number[];
}

/** One training example: a model input and the named inputs of its loss function. */
export interface Datum {
  readonly modelInput: ModelInput;
  readonly lossFnInputs: Readonly<Record<string, TensorData | ArrayLike<number>>>;
}
