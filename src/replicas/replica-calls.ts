// One process of a store asks another to do something that only that one can: it has the connection, or the files. A question is a record,
// and so is its answer, so no process needs to know the address of another.

import { type Clock, sleep } from '../domain/clock.ts'
import { isErrorCode, ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { MOST_VALUE_CHARS, type Shared } from '../store/ports/shared.ts'
import type { SharedChanges } from './shared-changes.ts'

export interface ReplicaCalls {
  /** Answers questions of other replicas. What it throws as `ServerError` is thrown at the asker's place too. */
  serve(what: string, answer: (asked: unknown) => Promise<unknown>): void
  /**
   * Asks a replica. `asked` and the answer are JSON. Null: no answer came in time, or `isThere` says that the replica has gone; it may be
   * done or not.
   */
  ask(
    replica: string,
    what: string,
    asked: unknown,
    limitMs: number,
    isThere?: () => Promise<boolean>,
  ): Promise<{ answer: unknown } | null>
  close(): void
}

interface CallsDeps {
  shared: Pick<Shared, 'list' | 'put' | 'take'>
  changes: Pick<SharedChanges, 'tell' | 'watch'>
  /** Name of this process. No other one has it. */
  owner: string
  clock: Clock
  ids: Ids
  logger: Logger
}

type Answer = { answer: unknown } | { code: string; message: string; details: Record<string, unknown> } | { bug: true }

const questionsFor = (replica: string): string => `question/${replica}`
const answersFor = (replica: string): string => `answer/${replica}`
/** An answer that nobody fetches. */
const ANSWER_MS = 60_000
/** Whether a replica that works on an answer still lives. */
const LOOK_EVERY_MS = 2_000
const TOO_LONG = {
  code: 'conflict',
  message: 'This is too large to be passed on from one server to another. Ask the server that has the files.',
  details: {},
} as const

export function openReplicaCalls({ shared, changes, owner, clock, ids, logger }: CallsDeps): ReplicaCalls {
  const served = new Map<string, (asked: unknown) => Promise<unknown>>()
  const waiting = new Map<string, (answer: Answer) => void>()

  async function send(kind: string, key: string, value: string, ms: number): Promise<void> {
    await shared.put({ kind, key, value, version: 0, expiresAt: clock.now() + ms })
    await changes.tell(kind)
  }

  async function answer(from: string, key: string, said: Answer): Promise<void> {
    const text = JSON.stringify(said)
    // Whoever asked would otherwise wait for an answer that never comes.
    const fitting = text.length <= MOST_VALUE_CHARS ? text : JSON.stringify(TOO_LONG)
    await send(answersFor(from), key, fitting, ANSWER_MS)
  }

  async function answerTo(what: string, asked: unknown): Promise<Answer> {
    try {
      const answer = served.get(what)
      if (answer === undefined) throw new ServerError('conflict', 'The server that has to do it runs another version.')
      return { answer: (await answer(asked)) ?? null }
    } catch (error) {
      if (error instanceof ServerError) {
        return { code: error.code, message: error.message, details: { ...error.details } }
      }
      logger.error('a question of another server has failed', { what, error })
      return { bug: true }
    }
  }

  async function takeQuestions(): Promise<void> {
    for (const { key } of await shared.list(questionsFor(owner))) {
      const question = await shared.take(questionsFor(owner), key)
      if (question === null) continue
      const { from, what, asked } = JSON.parse(question.value)
      void answerTo(what, asked)
        .then((said) => answer(from, key, said))
        .catch((error: unknown) => logger.warn('another server was not answered', { what, error }))
    }
  }

  async function takeAnswers(): Promise<void> {
    for (const { key } of await shared.list(answersFor(owner))) {
      const answer = await shared.take(answersFor(owner), key)
      if (answer !== null) waiting.get(key)?.(JSON.parse(answer.value))
    }
  }

  /** A store that does not answer says nothing about the replica. */
  async function whileThere(isThere: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    do await sleep(clock, LOOK_EVERY_MS, signal)
    while (!signal.aborted && (await isThere().catch(() => true)))
    // It may have answered before it went.
    await sleep(clock, LOOK_EVERY_MS, signal)
  }

  const look = (work: () => Promise<void>) => (): void =>
    void work().catch((error: unknown) => logger.warn('other servers cannot be heard just now', { error }))
  const stops = [
    changes.watch(questionsFor(owner), look(takeQuestions)),
    changes.watch(answersFor(owner), look(takeAnswers)),
  ]

  return {
    serve: (what, answer) => void served.set(what, answer),
    async ask(replica, what, asked, limitMs, isThere) {
      const id = ids.uuid()
      const question = JSON.stringify({ from: owner, what, asked })
      if (question.length > MOST_VALUE_CHARS) throw new ServerError(TOO_LONG.code, TOO_LONG.message)
      const answered = Promise.withResolvers<Answer | null>()
      const cancel = clock.after(limitMs, () => answered.resolve(null))
      waiting.set(id, answered.resolve)
      const over = new AbortController()
      try {
        await send(questionsFor(replica), id, question, limitMs)
        if (isThere !== undefined) void whileThere(isThere, over.signal).then(() => answered.resolve(null))
        const answer = await answered.promise
        if (answer === null || 'answer' in answer) return answer
        if ('bug' in answer) throw new Error(`another server has failed to answer: ${what}`)
        const code = isErrorCode(answer.code) ? answer.code : 'conflict'
        throw new ServerError(code, answer.message, { details: answer.details })
      } finally {
        cancel()
        over.abort()
        waiting.delete(id)
        // Nobody waits for it any more.
        void shared.take(questionsFor(replica), id).catch(() => {})
      }
    },
    close() {
      for (const stop of stops) stop()
    },
  }
}
