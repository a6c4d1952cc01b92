import { ClientError } from '../../../../client/client-error.ts'
import { CliError } from '../../../cli-error.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { recordLines } from '../../../show-record.ts'
import { hasTerminal } from '../../../terminal/confirm.ts'
import { plainStyle, styleFor } from '../../../terminal/style.ts'
import { terminalLine } from '../../../terminal/terminal-text.ts'
import { answerQuestion } from '../answer-question.ts'
import { refusalOf } from '../ctl-server.ts'
import { editRecord } from '../edit.ts'
import { fullRecord } from '../find-by-prefix.ts'
import type { CtlContext } from '../run-ctl.ts'
import { sendAnswer } from '../send-answer.ts'
import { steer } from '../session-verbs.ts'
import { followInbox } from './follow-inbox.ts'
import { openFullScreen } from './full-screen.ts'
import { screenLines } from './watch-screen.ts'
import { type Effect, firstState, type Key, openRecord, pressKey, resize, takeItems } from './watch-state.ts'

/** The inbox, live, with keys. Returns the exit code. The terminal is as before when it ends, however it ends. */
export async function watch(context: CtlContext): Promise<number> {
  const { server, io } = context
  if (!hasTerminal(io) || context.json) {
    throw new CliError(exitCodes.usage.code, 'watch needs a terminal. For programs: quarterdeck ctl list --json')
  }
  const over = new AbortController()
  const done = Promise.withResolvers<number>()
  const style = styleFor(io.stdout, io.env)
  let isBusy = false
  const screen = openFullScreen(io, {
    onKey,
    onResize: () => show(resize(state, screen.size())),
    onEnd: () => done.resolve(exitCodes.terminated.code),
  })
  let state = firstState(screen.size())
  const show = (next: typeof state): void => {
    state = next
    screen.draw(screenLines(state, style))
  }
  const quiet: CtlContext = { ...context, say: (_, words) => show({ ...state, notice: terminalLine(words, 500) }) }

  function onKey(key: Key): void {
    const turn = pressKey(state, key)
    // A second key while a decision is on its way must not become a second decision. Leaving is always possible.
    if (isBusy && turn.effect?.type !== 'quit') return
    show(turn.state)
    const { effect } = turn
    if (effect === null) return
    if (effect.type === 'quit') {
      done.resolve(effect.interrupted ? exitCodes.interrupted.code : exitCodes.ok.code)
      return
    }
    isBusy = true
    void carryOut(effect)
      .catch((error: unknown) => {
        const known = error instanceof ClientError ? refusalOf(error) : error
        if (!(known instanceof CliError)) return done.reject(known)
        show({ ...state, notice: terminalLine(known.message, 500) })
      })
      .finally(() => {
        isBusy = false
      })
  }

  async function carryOut(effect: Exclude<Effect, { type: 'quit' }>): Promise<void> {
    const { item } = effect
    switch (effect.type) {
      case 'open': {
        const full = await fullRecord(server, item)
        return show(openRecord(state, full, recordLines(full.view, plainStyle)))
      }
      case 'answer':
        return await sendAnswer(item, effect.action, { text: effect.text }, quiet)
      case 'respond': {
        const full = await fullRecord(server, item)
        return await screen.lend(() => answerQuestion(full, '', {}, quiet))
      }
      case 'edit': {
        const full = await fullRecord(server, item)
        return await screen.lend(() => editRecord(full, quiet))
      }
      case 'steer':
        return await steer(effect.text, item.view.session.id, quiet)
    }
  }

  async function follow(): Promise<void> {
    let isFirst = true
    const away = () => show({ ...state, isAway: true })
    for await (const items of followInbox(server, over.signal, away)) {
      const taken = takeItems(state, items)
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
