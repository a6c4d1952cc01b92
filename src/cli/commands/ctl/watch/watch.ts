import { ClientError, jsonObject } from '../../../../client/client-error.ts'
import { resumingStream, type SseMessage } from '../../../../client/read-sse.ts'
import { CliError, usageError } from '../../../cli-error.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { recordLines } from '../../../show-record.ts'
import { plainStyle, styleFor } from '../../../terminal/style.ts'
import { hasTerminal } from '../../../terminal/terminal-prompt.ts'
import { terminalLine } from '../../../terminal/terminal-text.ts'
import { decideTogether, sendAnswer } from '../answer.ts'
import { answerQuestion } from '../answer-question.ts'
import { type CtlContext, type CtlServer, type Page, pageIn, refusalOf } from '../ctl-server.ts'
import { editRecord } from '../edit.ts'
import { allWaiting, filterWords, fullRecord, type InboxFilter, type ShownRecord } from '../records.ts'
import { steer } from '../session-verbs.ts'
import { openFullScreen } from './full-screen.ts'
import { createHeldKey } from './held-key.ts'
import { screenLines } from './watch-screen.ts'
import {
  type Effect,
  firstState,
  type Key,
  nextToOpen,
  openRecord,
  pressKey,
  type Row,
  resize,
  takeItems,
} from './watch-state.ts'

const WORKING = 'One moment.'
/** What slipped under the selection is not what the person was looking at. */
const SLIPPED_MS = 500

/** The inbox, live, with keys. Returns the exit code. The terminal is as before when it ends, however it ends. */
export async function watch(context: CtlContext, filter: InboxFilter): Promise<number> {
  const { server, io } = context
  if (!hasTerminal(io) || context.json) {
    throw usageError('watch needs a terminal. For programs: quarterdeck ctl list --json')
  }
  const over = new AbortController()
  const done = Promise.withResolvers<number>()
  const style = styleFor(io.stdout, io.env)
  let isBusy = false
  let slippedAt = Number.NEGATIVE_INFINITY
  const screen = openFullScreen(io, {
    onKey: createHeldKey({
      clock: io.clock,
      decides: (key) => state.input === null && pressKey(state, key).effect?.type === 'answer',
      onKey,
    }),
    onResize: () => show(resize(state, screen.size())),
    onEnd: () => done.resolve(exitCodes.terminated.code),
  })
  let state = firstState(screen.size(), filterWords(filter))
  const show = (next: typeof state): void => {
    state = next
    screen.draw(screenLines(state, style))
  }
  /** What came of the last key, for when the next one counts. */
  let said = ''
  const quiet: CtlContext = {
    ...context,
    say(_, words) {
      said = terminalLine(words, 500)
    },
  }

  function onKey(key: Key): void {
    const turn = pressKey(state, key)
    // A second key while a decision is on its way must not become a second decision. Leaving is always possible.
    if (isBusy && turn.effect?.type !== 'quit') return
    if (turn.effect?.type === 'answer' && io.clock.now() - slippedAt < SLIPPED_MS) return
    show(turn.state)
    const { effect } = turn
    if (effect === null) return
    if (effect.type === 'quit') {
      done.resolve(effect.interrupted ? exitCodes.interrupted.code : exitCodes.ok.code)
      return
    }
    isBusy = true
    said = ''
    show({ ...state, notice: state.notice === '' ? WORKING : state.notice })
    void carryOut(effect)
      .catch((error: unknown) => {
        const known = error instanceof ClientError ? refusalOf(error) : error
        if (!(known instanceof CliError)) return done.reject(known)
        said = terminalLine(known.message, 500)
      })
      .finally(() => {
        isBusy = false
        show({ ...state, notice: said !== '' || state.notice === WORKING ? said : state.notice })
      })
  }

  async function carryOut(effect: Exclude<Effect, { type: 'quit' }>): Promise<void> {
    switch (effect.type) {
      case 'open':
        return await open(effect.row)
      case 'steer':
        return await steer(quiet, [effect.text], { session: effect.item.view.session.id })
      case 'answer':
        await answer(effect)
        return await goOn()
      case 'respond':
      case 'edit': {
        const full = await fullRecord(server, effect.item)
        await screen.lend(() =>
          effect.type === 'edit' ? editRecord(full, quiet) : answerQuestion(full, '', {}, quiet),
        )
        return await goOn()
      }
    }
  }

  async function open(row: Row): Promise<void> {
    const [first, ...alike] = await Promise.all(row.map((one) => fullRecord(server, one)))
    if (first === undefined) return
    const lines = [first, ...alike].flatMap(({ view }) => [...recordLines(view, plainStyle), ''])
    show(openRecord(state, [first, ...alike], lines.slice(0, -1)))
  }

  /** What is remembered goes with the first of several that are alike. */
  async function answer({ row, action, text, more }: Extract<Effect, { type: 'answer' }>): Promise<void> {
    const [item, ...alike] = row
    const isAlone = alike.length === 0 || 'remember' in more
    if (isAlone) await sendAnswer(item, action, { text, more }, quiet)
    if (alike.length > 0) await decideTogether(isAlone ? alike : row, { ...action, text }, quiet)
  }

  /** The next one takes the place of what was answered, and opens if it has to be read. */
  async function goOn(): Promise<void> {
    show(takeItems(state, (await allWaiting(server, filter)).items).state)
    const next = nextToOpen(state)
    if (next !== null) await open(next)
  }

  async function follow(): Promise<void> {
    let isFirst = true
    const away = () => show({ ...state, isAway: true })
    for await (const items of followInbox(server, filter, over.signal, away)) {
      const before = state.selected
      const taken = takeItems(state, items)
      if (!isBusy && before !== null && taken.state.selected !== before) slippedAt = io.clock.now()
      show(taken.state)
      if (taken.isNew && !isFirst) screen.bell()
      isFirst = false
    }
  }

  const stopSignals = io.onSignal(
    (signal) => done.resolve(signal === 'SIGINT' ? exitCodes.interrupted.code : exitCodes.terminated.code),
    { hangUp: true },
  )
  const stopCrashes = io.onCrash((error) => done.reject(error))
  server.lendTerminal(screen.lend)
  try {
    show(state)
    void follow().catch((error: unknown) => done.reject(error))
    return await done.promise
  } finally {
    over.abort()
    stopSignals()
    stopCrashes()
    screen.restore()
  }
}

/** The server sends something at least every 15 s. */
const SILENCE_MS = 45_000

/**
 * Yields what waits, now and whenever it changes, until the signal aborts. A server that goes away is waited for: `onAway` hears of each
 * try. Throws what the server refuses.
 */
async function* followInbox(
  server: Pick<CtlServer, 'page' | 'patientConnection'>,
  filter: InboxFilter,
  signal: AbortSignal,
  onAway: () => void,
): AsyncGenerator<readonly ShownRecord[]> {
  const connection = server.patientConnection(onAway)
  const patient = {
    page: (path: string): Promise<Page> => connection.patiently({ method: 'GET', path, signal }, pageIn),
  }
  let { items, cursor } = await allWaiting(server, filter)
  yield items
  while (!signal.aborted) {
    const stream = resumingStream({
      connection,
      open: (lastId) =>
        connection.once({
          method: 'GET',
          path: '/inbox/events',
          headers: { Accept: 'text/event-stream', 'Last-Event-ID': lastId ?? cursor },
          signal,
        }),
      after: cursor,
      kindOf: (message) => (typeOf(message) === 'error' ? 'away' : 'message'),
      signal,
      silenceMs: SILENCE_MS,
    })
    try {
      // Also after the first message, which only says that the stream is open: something may have changed while nobody was connected.
      for await (const _ of stream) yield (await allWaiting(patient, filter)).items
    } catch (error) {
      if (signal.aborted) return
      // The server has forgotten what came after the cursor, so the list is read anew.
      if (!(error instanceof ClientError) || error.code !== 'events_gone') throw error
    }
    ;({ items, cursor } = await allWaiting(patient, filter))
    yield items
  }
}

const typeOf = ({ data }: SseMessage): unknown => jsonObject(data)?.type
