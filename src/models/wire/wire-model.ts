import type { ModelSettings } from '../../domain/agent/agent.ts'
import { ServerError } from '../../domain/errors.ts'
import { traceHeaders } from '../../domain/telemetry.ts'
import {
  dropped,
  type ModelTarget,
  modelFailure,
  notAStream,
  statusFailure,
  targetOf,
  unreachable,
} from '../failure.ts'
import type { Model, ModelPart, ModelRequest, TakeParts } from '../model.ts'
import { HttpConnectionError, HttpContentError, HttpStatusError } from './http-errors.ts'
import type { HttpRequest, ModelHttp } from './model-http.ts'
import { SseEventTooLarge } from './sse-parser.ts'

/** What a provider adds to HTTP: where its requests go and what is in them. A `StreamDecoder` reads the answers. */
export interface ProviderApi {
  /** Host and port, as errors name them. */
  host: string
  /** The environment variable, or variables, for the key. */
  keyVariable: string
  request(request: ModelRequest): HttpRequest
  /** A GET that costs nothing and requires the key. */
  probe: Omit<HttpRequest, 'body'>
  /** The probe's address names the model, so a 404 means that the model is unknown. Otherwise any answer except a refused key is good. */
  probeNamesModel: boolean
}

/** Decodes one answer: payloads in, parts out. Pure. Throws a `ServerError` for a failure that the provider reports. */
export interface StreamDecoder {
  /** Adds the parts of one event's payload. Throws a `SyntaxError` when the payload is not JSON. */
  decode(payload: string, into: ModelPart[]): void
  /** The stream has ended: adds what was held back, or throws `model_stream_dropped` when the answer is not complete. */
  end(into: ModelPart[]): void
  /** True once `finish` was added. Later payloads are ignored. */
  readonly finished: boolean
  /** How many characters it holds back until they are complete. */
  readonly kept: number
}

/** Limit of the characters in a row that bring no part of an answer. No other limit counts them. */
const MAX_UNANSWERED = 10_000_000
/** Limit of the characters that a decoder holds back: refusals, signatures, early arguments. No other limit counts them yet. */
const MAX_KEPT = 10_000_000

export interface WireDeps {
  http: ModelHttp
  now(): number
  /** Makes ids for calls to which the provider gives none. */
  newId(): string
}

export function createWireModel(
  settings: ModelSettings,
  api: ProviderApi,
  createDecoder: (target: ModelTarget, newId: () => string) => StreamDecoder,
  { http, now, newId }: WireDeps,
): Model {
  const target = targetOf(settings, api.host, api.keyVariable, 'model')
  http.checkProxy(api.probe.url)

  async function stream(request: ModelRequest, signal: AbortSignal, take: TakeParts): Promise<void> {
    const decoder = createDecoder(target, newId)
    const written = api.request(request)
    const headers = { ...traceHeaders(request.trace), ...written.headers }
    let unanswered = 0

    const takePayloads = (payloads: readonly string[]): Promise<unknown> | undefined => {
      const parts: ModelPart[] = []
      try {
        for (const payload of payloads) decoder.decode(payload, parts)
      } catch (error) {
        return failAfter(parts, error)
      }
      if (decoder.finished) {
        answer.release()
      } else {
        // Usage does not count as an answer: some servers send it with every event.
        if (parts.some(isAnswer)) unanswered = 0
        else for (const payload of payloads) unanswered += payload.length
        if (unanswered > MAX_UNANSWERED || decoder.kept > MAX_KEPT) {
          const message = `The model server at ${target.host} keeps sending data that is not part of an answer.`
          throw modelFailure('model_failed', message, target, { retryable: false })
        }
      }
      // An empty array is passed on too: it says that the server is alive.
      return take(parts)
    }

    /** What arrived before the failure is part of the answer, even when both came in one read. */
    const failAfter = async (parts: readonly ModelPart[], error: unknown): Promise<void> => {
      if (parts.length > 0) await take(parts)
      throw error
    }

    const answer = http.stream({ ...written, headers }, signal, takePayloads)
    try {
      await answer.taken
      if (signal.aborted || decoder.finished) return
      const rest: ModelPart[] = []
      decoder.end(rest)
      if (rest.length > 0) await take(rest)
    } catch (error) {
      if (signal.aborted) return
      throw wireFailure(error, target, now())
    }
  }

  return {
    provider: target.provider,
    name: target.model,
    stream,
    async check(signal) {
      try {
        await http.probe(api.probe, signal)
      } catch (error) {
        const failure = wireFailure(error, target, now())
        const known = failure instanceof ServerError ? failure.code : null
        const answered = known === 'model_not_found' || known === 'model_bad_request'
        // Many compatible servers have no list of models. Their answer is proof enough.
        if (answered && !api.probeNamesModel) return
        throw failure
      }
    },
  }
}

const isAnswer = (part: ModelPart): boolean => part.type !== 'usage'

/** What the caller of a request gets when it fails. */
export function wireFailure(error: unknown, target: ModelTarget, now: number): unknown {
  if (error instanceof HttpStatusError) return statusFailure(error.answer, target, now)
  if (error instanceof HttpContentError) return notAStream(error.answer, target)
  if (error instanceof HttpConnectionError) return error.begun ? dropped(target, error) : unreachable(error, target)
  // An event that is not JSON was cut off.
  if (error instanceof SyntaxError) return dropped(target)
  if (error instanceof SseEventTooLarge) {
    return modelFailure(
      'model_failed',
      `The model server at ${target.host} sent an event of more than ${error.limit / 1_000_000} million characters. Ask for less in one answer or one call.`,
      target,
      { retryable: false, cause: error },
    )
  }
  return error
}
