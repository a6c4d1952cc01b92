import type { ModelSettings } from '../../domain/agent/agent.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { type ErrorCode, modelErrors, ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { loggedReason } from '../../domain/session/run.ts'
import { modelFailure } from '../failure.ts'
import type { FinishReason, Model, ModelPart, ModelRequest, ModelUsage, TakeParts } from '../model.ts'
import { waitBefore } from './wait-before.ts'
import { withoutQuotes } from './without-quotes.ts'

interface ResilientOptions {
  primary: Model
  /** Asked once when the primary cannot answer. Usually it is a resilient model too, with its own retries and timeouts. */
  fallback: Model | null
  settings: Pick<ModelSettings, 'retries' | 'firstTokenTimeoutMs' | 'tokenTimeoutMs'>
  clock: Clock
  /** Evenly spread over [0, 1). */
  random: () => number
  log: Logger
}

/** Failures after which the fallback is asked. A refusal, a bad request and a full context are not failures of the server. */
const FAILS_OVER: readonly ErrorCode[] = modelErrors.filter(
  (code) => code !== 'model_refused' && code !== 'model_bad_request' && code !== 'model_context_overflow',
)

/**
 * Asks a model again after a failure, and then its fallback, as long as no part of the answer was passed on. After the first part
 * every failure is final. The silence before the first part and between two parts is limited. An abort ends everything at once,
 * even a wait between two attempts. Each call is one line in the log; a call of the fallback is another.
 */
export function createResilientModel(options: ResilientOptions): Model {
  const { primary, fallback, settings, clock, random } = options

  /** No connection could be made within the timeout. Another attempt would take as long again, so the fallback is asked at once. */
  const isBetterElsewhere = (error: unknown) =>
    fallback !== null && error instanceof ServerError && error.details.connectTimeout === true

  async function stream(request: ModelRequest, signal: AbortSignal, take: TakeParts): Promise<void> {
    const log = request.log ?? options.log
    const call = startCallLog(primary, clock, log)
    try {
      for (let attempt = 0; ; attempt += 1) {
        const watch = createSilenceWatch(clock, settings.firstTokenTimeoutMs, signal)
        // Usage that comes before everything else is held until another part comes. So an answer that fails right after its header can
        // still be retried.
        let held: readonly ModelPart[] = []
        let shown = false
        let taking: Promise<unknown> | undefined

        // Every part of every answer passes through here.
        const takeInTime = (parts: readonly ModelPart[]): Promise<unknown> | undefined => {
          if (watch.isOver()) return
          if (parts.length === 0) {
            watch.heard(shown ? settings.tokenTimeoutMs : settings.firstTokenTimeoutMs, undefined)
            return
          }
          call.see(parts)
          if (!shown && parts.every((part) => part.type === 'usage')) {
            // Only the last one counts, and a server may send them without end.
            held = parts.slice(-1)
            return
          }
          shown = true
          try {
            taking = take(held.length === 0 ? parts : [...held, ...parts])
          } catch (error) {
            taking = Promise.reject(error)
          }
          held = []
          watch.heard(settings.tokenTimeoutMs, taking)
          return taking
        }

        try {
          await primary.stream(request, watch.signal, takeInTime)
          await taking
          if (watch.timedOut()) throw timeoutOf(primary, shown, settings)
          if (!signal.aborted) call.ended()
          return
        } catch (thrown) {
          watch.stop()
          // Throws what `take` threw. That is not a failure of the model.
          await taking
          if (signal.aborted) return
          const cause = watch.timedOut() ? timeoutOf(primary, shown, settings) : thrown
          const error = cause instanceof ServerError ? withoutQuotes(cause, request) : cause
          const isLast = shown || attempt >= settings.retries || isBetterElsewhere(error)
          const wait = isLast ? null : waitBefore(error, attempt, random())
          if (wait === null) {
            call.failed(error)
            if (shown || fallback === null || !failsOver(error)) throw error
            const why = aboutFailure(primary, error)
            log.warn('model is replaced by its fallback', { ...why, fallback: fallback.name })
            break
          }
          log.warn('model is asked again', { ...aboutFailure(primary, error), attempt: attempt + 1, wait_ms: wait })
          await sleep(clock, wait, signal)
          if (signal.aborted) return
        } finally {
          watch.stop()
        }
      }
    } finally {
      call.stopped()
    }
    await fallback?.stream(request, signal, take)
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

const aboutFailure = (model: Model, error: unknown) => ({ ...about(model), ...reasonOf(error) })

function timeoutOf(model: Model, begun: boolean, settings: ResilientOptions['settings']): ServerError {
  const seconds = (begun ? settings.tokenTimeoutMs : settings.firstTokenTimeoutMs) / 1000
  const message = begun
    ? `The model ${model.name} sent nothing for ${seconds} s in the middle of its answer. A slow model needs a longer model.token_timeout.`
    : `The model ${model.name} did not begin to answer within ${seconds} s. A slow model needs a longer model.first_token_timeout.`
  return modelFailure('model_timeout', message, about(model), { retryable: true })
}

async function checkInTime({ primary, settings, clock }: ResilientOptions, signal: AbortSignal): Promise<void> {
  const watch = createSilenceWatch(clock, settings.firstTokenTimeoutMs, signal)
  try {
    await primary.check(watch.signal)
  } catch (error) {
    if (!watch.timedOut()) throw error
  } finally {
    watch.stop()
  }
  if (watch.timedOut()) throw timeoutOf(primary, false, settings)
}

const BUSY = Symbol('busy')

/**
 * Aborts when the model is silent for too long. If its last parts are still being taken when the time is up, the silence begins
 * when they are taken. `heard` is called for every read of a socket, so it sets no timer and waits for no promise: one timer checks
 * now and then how long the silence has lasted.
 */
function createSilenceWatch(clock: Clock, firstMs: number, outer: AbortSignal) {
  const controller = new AbortController()
  let limit = firstMs
  let since = clock.mono()
  let taking: Promise<unknown> | undefined
  let timedOut = false
  let isOver = false
  let cancel = () => {}

  const check = async (): Promise<void> => {
    // A promise that is settled wins the race against a value.
    if (clock.mono() - since >= limit && (await Promise.race([taking, BUSY]).catch(() => {})) === BUSY) {
      await taking?.catch(() => {})
      since = clock.mono()
    }
    if (isOver) return
    const left = limit - (clock.mono() - since)
    if (left > 0) {
      cancel = clock.after(left, check)
      return
    }
    timedOut = true
    abort()
  }
  const abort = () => {
    isOver = true
    controller.abort()
  }

  if (outer.aborted) abort()
  else outer.addEventListener('abort', abort)
  cancel = clock.after(limit, check)

  return {
    /** Aborts with the caller's signal, and when the model is silent for too long. */
    signal: controller.signal,
    timedOut: () => timedOut,
    /** It has aborted or was stopped. */
    isOver: () => isOver,
    /** The model has sent something. The silence after it may last `ms`. `work` is done when that is taken. */
    heard(ms: number, work: Promise<unknown> | undefined): void {
      since = clock.mono()
      taking = work
      if (ms === limit) return
      limit = ms
      cancel()
      cancel = clock.after(ms, check)
    },
    stop(): void {
      isOver = true
      cancel()
      outer.removeEventListener('abort', abort)
    },
  }
}

/** Logs one call of a model as one line: which model, what it cost, how it ended. Never any text of the conversation. */
function startCallLog(model: Model, clock: Clock, log: Logger) {
  const began = clock.mono()
  let usage: ModelUsage | null = null
  let finish: FinishReason | null = null
  let isWritten = false

  const fields = (outcome: string) => ({
    ...about(model),
    ...(usage === null ? {} : { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens }),
    latency_ms: Math.round(clock.mono() - began),
    outcome,
    ...(finish === null ? {} : { finish }),
  })

  return {
    /** Looks for usage and the finish reason among the model's parts. */
    see(parts: readonly ModelPart[]): void {
      for (const part of parts) {
        if (part.type === 'usage') usage = part.usage
        else if (part.type === 'finish') finish = part.reason
      }
    },
    /** The model has answered. */
    ended(): void {
      isWritten = true
      log.info('model call', fields('completed'))
    },
    /** The call has failed for good. */
    failed(error: unknown): void {
      isWritten = true
      log.warn('model call', { ...fields('failed'), ...reasonOf(error) })
    },
    /** The caller left before the end. Does nothing after `ended` or `failed`. */
    stopped(): void {
      if (!isWritten) log.info('model call', fields('stopped'))
      isWritten = true
    },
  }
}

/** Log fields that say why a model failed. */
const reasonOf = (error: unknown): { code: string; reason: string } | { error: unknown } =>
  error instanceof ServerError ? loggedReason(error) : { error }
