// Makes summaries of long conversations: between two runs where it can, inside a run where nothing else fits. A conversation has one newest summary; each
// extends the one before, and the store takes only one that does.

import type { ModelSettings } from '../../../domain/agent/agent.ts'
import { isoTime } from '../../../domain/clock.ts'
import { hasCode, ServerError } from '../../../domain/errors.ts'
import { factText } from '../../../domain/session/entry.ts'
import type { StoredMessage } from '../../../domain/session/message.ts'
import { type KeptSummary, SUMMARIES, SUMMARY, type Summary, summaryIn } from '../../../domain/session/summary.ts'
import type { Model, ModelUsage } from '../../../models/model.ts'
import type { EngineParts } from '../../create-engine.ts'
import type { ModelParts } from '../../run/run-scope.ts'
import { createUsageMeter, type PriceList } from '../budget.ts'
import { readForModel } from '../read-for-model.ts'
import { type Covering, chooseCovering, type Room } from './covering.ts'
import { inPieces, materialOf, NO_WORDS, SUMMARY_SYSTEM, summaryPrompt, wordsAfter } from './summary-text.ts'

/** A conversation that has to become shorter. */
export interface Long {
  sessionId: string
  /** Whose model takes the notes. */
  agent: ModelParts
  /** The run after which, or in which, it is made. */
  runId: string
  room: Room
}

export interface Summaries {
  newest(sessionId: string): Promise<KeptSummary | null>
  /** Resolves when there is a newer summary, or none can be made now: null. Joins one that is being made. Never throws, except for an abort. */
  make(long: Long, signal: AbortSignal): Promise<KeptSummary | null>
  /** The same in the background, as far as the process has time for it. */
  makeLater(long: Long): void
  /** Gives up what is being made. The next run begins it again. */
  stop(): void
}

interface SummariesDeps extends Pick<EngineParts, 'store' | 'log' | 'clock' | 'ids' | 'logger'> {
  prices: PriceList
}

const MOST_AT_ONCE = 4
const LONGEST_MS = 120_000
/** After a failure the conversation is cut at the window for this long, and no model is asked. */
const RETRY_MS = 5 * 60_000
const MOST_FAILED = 1_000
/** Of what fits into a request. */
const SHARE = 1 / 6
const [FEWEST_TOKENS, MOST_TOKENS] = [200, 6_000]
const MOST_ANSWER_CHARS = 60_000

export function createSummaries({ store, log, clock, ids, logger, prices }: SummariesDeps): Summaries {
  const making = new Map<string, Promise<KeptSummary | null>>()
  const failedAt = new Map<string, number>()
  const stopped = new AbortController()

  async function newest(sessionId: string): Promise<KeptSummary | null> {
    const [message] = await store.messages.ofLane(sessionId, SUMMARIES, 1)
    return message === undefined ? null : summaryIn(message)
  }

  async function attempt(long: Long): Promise<KeptSummary | null> {
    const { sessionId, agent } = long
    const end = new AbortController()
    const cancel = clock.after(LONGEST_MS, () => end.abort())
    try {
      return await makeOne(long, AbortSignal.any([stopped.signal, end.signal]))
    } catch (error) {
      if (stopped.signal.aborted) return null
      // Another process was quicker, the user went back to an earlier message, or deleted the session.
      if (hasCode(error, 'conflict', 'session_not_found')) return newest(sessionId)
      failedAt.set(sessionId, clock.mono())
      for (const oldest of [...failedAt.keys()].slice(0, Math.max(0, failedAt.size - MOST_FAILED)))
        failedAt.delete(oldest)
      const { provider, name } = agent.summarizer ?? agent.model
      logger.warn('older messages could not be summarized, so they are left out', {
        ...{ session_id: sessionId, model: `${provider}/${name}`, error },
      })
      return null
    } finally {
      cancel()
    }
  }

  async function makeOne({ sessionId, agent, runId, room }: Long, signal: AbortSignal): Promise<KeptSummary | null> {
    const before = await newest(sessionId)
    const { history } = await readForModel(
      agent.definition,
      async (limit, known) => {
        const older = await store.messages.page(sessionId, limit - known.length, { before: known[0]?.id })
        return [...older, ...known]
      },
      async () => before?.upTo,
    )
    const after = history.slice(history.findIndex(({ id }) => id === before?.upTo) + 1)
    const covering = chooseCovering(after, room, before?.question)
    if (covering === null) return null
    const model = agent.summarizer ?? agent.model
    const settings = agent.definition.summarizer ?? agent.definition.model
    const { words, usage } = await takeNotes({ before, covering, room, model, settings, sessionId, signal })
    const summary: Summary = {
      ...words,
      ...{
        upTo: covering.upTo,
        question: covering.question,
        messages: (before?.messages ?? 0) + spoken(covering.covered),
      },
      ...{ model: `${model.provider}/${model.name}`, usage, cost: prices.exact(usage) },
    }
    return keep({ summary, before, agent, sessionId, runId })
  }

  async function takeNotes({ before, covering, room, model, settings, sessionId, signal }: NotesOf) {
    const tokens = Math.min(MOST_TOKENS, Math.max(FEWEST_TOKENS, Math.floor(room.tokens * SHARE)))
    const meter = createUsageMeter([])
    // Half of its window is for the material; the rest has space for what is kept already, and for the answer.
    const pieces = inPieces(
      materialOf(covering.covered),
      Math.max(FEWEST_TOKENS, Math.floor(settings.contextWindow / 2) - tokens),
    )
    let words = before ?? NO_WORDS
    for (const piece of pieces) {
      const { text, usage } = await answerOf(model, summaryPrompt(words, piece), sessionId, signal)
      if (usage !== null) meter.add(model.provider, model.name, usage)
      const next = wordsAfter(words, text, tokens)
      if (next === null) throw new ServerError('model_failed', `${model.provider}/${model.name} wrote no notes.`)
      words = next
    }
    const { instructions, facts, decisions, tasks, story } = words
    return { words: { instructions, facts, decisions, tasks, story }, usage: meter.total }
  }

  async function keep({ summary, before, agent, sessionId, runId }: Made): Promise<KeptSummary> {
    const at = clock.now()
    const { upTo, messages, model, usage, cost } = summary
    const message: StoredMessage = {
      ...{ id: ids.uuid(), role: 'activity', content: '', runId, createdAt: at, lane: SUMMARIES },
      activity: { type: SUMMARY, content: { ...summary } },
    }
    const fact = { fact: 'summarized', message: message.id, up_to: upTo, messages, model, usage, cost, at } as const
    await log.commit({
      ...{ type: 'update_session', sessionId },
      summary: { message, upTo, after: before?.id ?? null, usage, agent: agent.definition.name },
      entries: [{ kind: 'fact', data: factText(fact) }],
    })
    logger.info('older messages have a summary', {
      ...{ session_id: sessionId, run_id: runId, messages, model, cost, up_to: upTo, at: isoTime(at) },
    })
    return { ...summary, id: message.id }
  }

  function begin(long: Long): Promise<KeptSummary | null> {
    const { sessionId } = long
    const known = making.get(sessionId)
    if (known !== undefined) return known
    const failed = failedAt.get(sessionId)
    if (stopped.signal.aborted || (failed !== undefined && clock.mono() - failed < RETRY_MS))
      return Promise.resolve(null)
    const promise = attempt(long).finally(() => making.delete(sessionId))
    making.set(sessionId, promise)
    return promise
  }

  return {
    newest,
    make: (long, signal) => unlessAborted(begin(long), signal),
    makeLater(long) {
      if (making.size < MOST_AT_ONCE) void begin(long)
    },
    stop: () => stopped.abort(),
  }
}

interface NotesOf {
  before: KeptSummary | null
  covering: Covering
  room: Room
  model: Model
  settings: ModelSettings
  sessionId: string
  signal: AbortSignal
}

interface Made extends Pick<Long, 'agent' | 'sessionId' | 'runId'> {
  summary: Summary
  before: KeptSummary | null
}

const spoken = (messages: readonly StoredMessage[]): number =>
  messages.filter(({ role }) => role === 'user' || role === 'assistant' || role === 'tool').length

async function answerOf(
  model: Model,
  prompt: string,
  sessionId: string,
  signal: AbortSignal,
): Promise<{ text: string; usage: ModelUsage | null }> {
  const request = {
    ...{ system: SUMMARY_SYSTEM, messages: [{ role: 'user' as const, content: prompt }] },
    ...{ aside: '', tools: [], responseFormat: null, sessionId },
  }
  let text = ''
  let usage = null as ModelUsage | null
  await model.stream(request, signal, (parts) => {
    for (const part of parts) {
      if (part.type === 'text') text += part.delta
      if (part.type === 'usage') usage = part.usage
    }
    if (text.length > MOST_ANSWER_CHARS) throw new ServerError('model_failed', 'The notes have no end.')
    return undefined
  })
  signal.throwIfAborted()
  return { text, usage }
}

/** The run goes on at once when it is stopped; the summary is made all the same. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
