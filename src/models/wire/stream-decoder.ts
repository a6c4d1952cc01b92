import type { ModelPart } from '../model.ts'

/** One provider's stream, one answer: payloads in, parts out. Pure; throws a `ServerError` for what the provider reports. */
export interface StreamDecoder {
  /** Adds the parts of one event's payload. Throws a `SyntaxError` for what is no JSON. */
  decode(payload: string, into: ModelPart[]): void
  /** The stream is over: adds what was held back, or throws `model_stream_dropped` when the answer is not complete. */
  end(into: ModelPart[]): void
  /** `finish` was added; whatever follows has no meaning. */
  readonly finished: boolean
  /** How many characters it has held back so far, to give them on or to report them when they are whole. */
  readonly kept: number
}
