import type { ModelSettings } from '../../domain/agent.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { type ErrorCode, ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { modelFailure } from '../failure.ts'
import type { Model, ModelPart, ModelRequest } from '../model.ts'
import { reasonOf, startModelCallLine } from './call-log.ts'
import { createSilenceWatch } from './silence-watch.ts'
import { withoutQuotes } from './without-quotes.ts'

interface ResilientOptions {
  primary: Model
  /** Asked once when the primary cannot answer. It brings its own patience: usually it is resilient itself. */
  fallback: Model | null
  settings: Pick<ModelSettings, 'retries' | 'firstTokenTimeoutMs' | 'tokenTimeoutMs'>
  clock: Clock
  /** Evenly spread over [0, 1). */
  random: () => number
  log: Logger
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000
/** A server that asks for more patience than this is not waited for. */
const LONGEST_RETRY_AFTER_S = 60

/** What another model may do better. A refusal, a bad request and a full context are answers, not failures of the server. */
const FAILS_OVER: readonly ErrorCode[] = [
  'model_auth_failed',
  'model_not_found',
  'model_rate_limited',
  'model_unreachable',
  'model_timeout',
  'model_stream_dropped',
  'model_failed',
]

/**
 * A model that is asked again, and then replaced by its fallback, as long as nothing of the answer was shown; after the
 * first part every failure is final. Silence before the first part and between two parts is bounded. An abort ends it all
 * at once, also a wait between two attempts. Each answer that is asked for is one line in the log, a fallback's is another.
 */
export function createResilientModel(options: ResilientOptions): Model {
  const { primary, fallback, settings, clock, random } = options

  /** Nobody was there for as long as a connection may take: the next attempt would cost as much, the fallback nothing. */
  const isBetterElsewhere = (error: unknown) =>
    fallback !== null && error instanceof ServerError && error.details.connectTimeout === true

  // One generator for all of it: every part of every answer passes here, and each generator on its way costs a few promises.
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelPart[]> {
    const log = request.log ?? options.log
    const line = startModelCallLine(primary, clock, log)
    try {
      for (let attempt = 0; ; attempt += 1) {
        // Only the time spent waiting for the model counts, not the time its parts wait to be taken.
        const watch = createSilenceWatch(clock, settings.firstTokenTimeoutMs, signal)
        // Usage that comes ahead of everything else is kept until there is something to show, so that an answer that fails right
        // after its header can still be asked for again.
        let held: readonly ModelPart[] = []
        let shown = false
        try {
          for await (const parts of primary.stream(request, watch.signal)) {
            if (watch.signal.aborted) break
            if (parts.length === 0) {
              watch.wait(shown ? settings.tokenTimeoutMs : settings.firstTokenTimeoutMs)
              continue
            }
            line.see(parts)
            if (!shown && parts.every((part) => part.type === 'usage')) {
              // The last one counts, and a server may send them without end.
              held = parts.slice(-1)
              continue
            }
            shown = true
            watch.pause()
            yield held.length === 0 ? parts : [...held, ...parts]
            held = []
            watch.wait(settings.tokenTimeoutMs)
          }
          if (watch.timedOut) throw timeoutOf(primary, shown, settings)
          if (!signal.aborted) line.ended()
          return
        } catch (thrown) {
          watch.stop()
          if (signal.aborted) return
          const cause = watch.timedOut ? timeoutOf(primary, shown, settings) : thrown
          const error = cause instanceof ServerError ? withoutQuotes(cause, request) : cause
          const isLast = shown || attempt >= settings.retries || isBetterElsewhere(error)
          const wait = isLast ? null : waitBefore(error, attempt, random())
          if (wait === null) {
            line.failed(error)
            if (shown || fallback === null || !failsOver(error)) throw error
            log.warn('model is replaced by its fallback', {
              ...about(primary),
              ...reasonOf(error),
              fallback: fallback.name,
            })
            break
          }
          log.warn('model is asked again', {
            ...about(primary),
            ...reasonOf(error),
            attempt: attempt + 1,
            wait_ms: wait,
          })
          await sleep(clock, wait, signal)
          if (signal.aborted) return
        } finally {
          watch.stop()
        }
      }
    } finally {
      line.stopped()
    }
    if (fallback !== null) yield* fallback.stream(request, signal)
  }

  return {
    provider: primary.provider,
    name: primary.name,
    stream,
    async check(signal) {
      try {
        await checkInTime(options, signal)
      } catch (error) {
        if (fallback === null || signal.aborted) throw error
        options.log.warn('model is down, its fallback is checked', about(primary))
        await fallback.check(signal).catch(() => {
          throw error
        })
      }
    },
  }
}

const failsOver = (error: unknown): boolean => error instanceof ServerError && FAILS_OVER.includes(error.code)

const about = ({ provider, name }: Model) => ({ provider, model: name })

/** Milliseconds until the next attempt, or null when there is no point in one. */
function waitBefore(error: unknown, attempt: number, random: number): number | null {
  if (!(error instanceof ServerError)) return null
  // A timeout has used up the user's patience; only another model helps.
  if (error.details.retryable !== true || error.code === 'model_timeout') return null
  // Half of it is left to chance, so that the runs that failed together do not come back together.
  const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.5 + random / 2)
  const { retryAfter } = error.details
  if (typeof retryAfter !== 'number') return Math.round(backoff)
  if (retryAfter > LONGEST_RETRY_AFTER_S) return null
  return Math.round(Math.max(retryAfter * 1000, backoff))
}

function timeoutOf(model: Model, begun: boolean, settings: ResilientOptions['settings']): ServerError {
  const seconds = (begun ? settings.tokenTimeoutMs : settings.firstTokenTimeoutMs) / 1000
  const message = begun
    ? `The model ${model.name} fell silent for ${seconds} s in the middle of its answer. A slow model needs a longer model.token_timeout.`
    : `The model ${model.name} did not begin to answer within ${seconds} s. A slow model needs a longer model.first_token_timeout.`
  return modelFailure('model_timeout', message, { provider: model.provider, model: model.name }, { retryable: true })
}

async function checkInTime({ primary, settings, clock }: ResilientOptions, signal: AbortSignal): Promise<void> {
  const watch = createSilenceWatch(clock, settings.firstTokenTimeoutMs, signal)
  try {
    await primary.check(watch.signal)
  } catch (error) {
    if (!watch.timedOut) throw error
  } finally {
    watch.stop()
  }
  if (watch.timedOut) throw timeoutOf(primary, false, settings)
}
