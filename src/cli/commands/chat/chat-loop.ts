import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { reportError } from '../../report-error.ts'
import type { Io } from '../../terminal/io.ts'
import { linesOf } from '../../terminal/lines.ts'
import { styleFor } from '../../terminal/style.ts'
import type { Prompt } from '../../terminal/terminal-prompt.ts'
import type { AskApprovals } from './ask-approvals.ts'
import type { ChatClient } from './chat-client.ts'
import type { ChatEvent, PendingApproval, RunEnd } from './chat-event.ts'
import { type ChatView, createChatView } from './chat-view.ts'

const HELP = `/new        start a new session
/approvals  show what waits for approval, and ask again
/help       show this help
/quit       leave (also Ctrl-D)
Ctrl-C      stop the answer; twice leaves
`

/** `waits`: a call needs approval, and nobody here has answered. */
type Outcome = { type: 'answered' | 'waits' | 'failed' } | { type: 'left'; exitCode: number }

type Begin = (signal: AbortSignal) => AsyncGenerator<ChatEvent>

/** Sends one message, shows the answer and asks about calls that need approval. Ctrl-C stops the answer, a second one leaves. */
export const answer = (
  client: ChatClient,
  message: string,
  askApprovals: AskApprovals,
  io: Io,
  view = createChatView(io),
): Promise<Outcome> => goOn((signal) => client.send(message, signal), client, askApprovals, io, view)

async function goOn(
  first: Begin | readonly PendingApproval[],
  client: ChatClient,
  askApprovals: AskApprovals,
  io: Io,
  view: ChatView,
): Promise<Outcome> {
  let next = first
  for (;;) {
    let pending: readonly PendingApproval[]
    let refused = false
    if (typeof next === 'function') {
      try {
        const end = await show(next, client, view, io)
        if (end.type === 'left') return end
        if (end.type === 'failed') return { type: 'failed' }
        if (end.outcome !== 'interrupt') return { type: 'answered' }
        pending = end.approvals
      } catch (error) {
        if (!(error instanceof CliError) || error.exitCode !== exitCodes.failed.code) throw error
        // The message has to wait for an approval, or an answer cannot be used. Ask in both cases.
        pending = await client.approvals().catch(() => [])
        if (pending.length === 0) throw error
        reportError(error, io)
        refused = true
      }
    } else pending = next
    const waiting = pending
    const { given: answers, elsewhere } = await orElsewhere(client, (signal) => askApprovals(waiting, client, signal))
    if (elsewhere !== null) {
      io.stdout.write(ANSWERED_ELSEWHERE)
      next = elsewhere
      continue
    }
    if (answers.length === 0) return { type: refused ? 'failed' : 'waits' }
    for (const { id, arguments: edited } of answers) {
      const approval = pending.find((one) => one.id === id)
      if (approval !== undefined) {
        view.called(approval.callId, approval.tool, JSON.stringify(edited ?? approval.arguments))
      }
    }
    next = (signal) => client.answer(answers, signal)
  }
}

/** Asks here until somebody else answers the pending approval. The signal then withdraws the question. */
async function orElsewhere<T>(
  client: ChatClient,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<{ given: T; elsewhere: Begin | null }> {
  const waiting = waitElsewhere(client)
  const taken = new AbortController()
  const asked = ask(taken.signal)
  const elsewhere = await Promise.race([asked.then(() => null), waiting.begun])
  if (elsewhere === null) waiting.leave()
  else taken.abort()
  // The editor owns the terminal until it has ended.
  return { given: await asked, elsewhere }
}

const ANSWERED_ELSEWHERE = 'Somebody else answered, or its time was over.\n'

/** `begun` resolves with the run that continues when somebody else answers. Otherwise it stays pending. */
function waitElsewhere(client: ChatClient): { begun: Promise<Begin>; leave(): void } {
  const leaving = new AbortController()
  const events = client.answeredElsewhere(leaving.signal)
  const begun = new Promise<Begin>((resolve, reject) => {
    events.next().then(({ done, value }) => {
      if (done) return
      resolve(async function* (signal) {
        signal.addEventListener('abort', () => leaving.abort())
        yield value
        yield* events
      })
    }, reject)
  })
  return { begun, leave: () => leaving.abort() }
}

/** How long SIGTERM waits for the server to stop the run. */
const CANCEL_MS = 2_000

/** Shows one run to its end. */
async function show(
  begin: Begin,
  client: ChatClient,
  view: ChatView,
  io: Io,
): Promise<RunEnd | { type: 'left'; exitCode: number }> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  let exitCode: number | null = null
  let signals = 0
  let stopWaiting = () => {}
  const stopListening = io.onSignal(
    (signal) => {
      signals += 1
      if (signal === 'SIGTERM') exitCode = exitCodes.terminated.code
      else if (signals > 1) exitCode = exitCodes.interrupted.code
      if (signals > 1) return leave()
      const cancelled = client.cancel()
      if (signal === 'SIGINT') return void cancelled.catch((error: unknown) => void reportError(error, io))
      // Otherwise the run would go on at the server, and nobody would read it.
      void cancelled.catch(() => {}).finally(leave)
      stopWaiting = io.clock.after(CANCEL_MS, leave)
    },
    { hangUp: true },
  )
  let end: RunEnd = { type: 'finished', outcome: 'success' }
  try {
    for await (const event of begin(leaving.signal)) {
      view.show(event)
      if (event.type === 'finished' || event.type === 'failed') end = event
    }
    return exitCode === null ? end : { type: 'left', exitCode }
  } catch (error) {
    if (exitCode !== null) return { type: 'left', exitCode }
    throw error
  } finally {
    stopWaiting()
    stopListening()
  }
}

/** Sends each line of a pipe as a message. Stops at the first failure: later messages may depend on that answer. */
export async function chatThroughPipe(client: ChatClient, askApprovals: AskApprovals, io: Io): Promise<number> {
  for await (const line of linesOf(io.stdin)) {
    if (line.trim() === '') continue
    const outcome = await answer(client, line, askApprovals, io)
    if (outcome.type === 'failed') return exitCodes.failed.code
    if (outcome.type === 'left') return outcome.exitCode
  }
  return exitCodes.ok.code
}

/** A conversation with a person. `open` continues a session; null starts a new one. */
export async function chatAtTerminal(
  open: (session: string | null) => ChatClient,
  session: string | null,
  prompt: Prompt,
  askApprovals: AskApprovals,
  io: Io,
): Promise<number> {
  const style = styleFor(io.stdout, io.env)
  // One view for all runs: a call may get its result much later.
  const view = createChatView(io)
  let client = open(session)
  let interrupted = false
  let waits = false
  for (;;) {
    const { given: asked, elsewhere } = waits
      ? await orElsewhere(client, (signal) => prompt.ask(signal))
      : { given: await prompt.ask(), elsewhere: null }
    if (elsewhere !== null) {
      io.stdout.write(ANSWERED_ELSEWHERE)
      const outcome = await orReport(goOn(elsewhere, client, askApprovals, io, view), io)
      if (outcome.type === 'left') return outcome.exitCode
      waits = outcome.type === 'waits'
    }
    if (asked.type === 'withdrawn') continue
    if (asked.type === 'end') {
      io.stdout.write('\n')
      return exitCodes.ok.code
    }
    if (asked.type === 'interrupt') {
      io.stdout.write('\n')
      if (interrupted) return exitCodes.ok.code
      interrupted = true
      io.stdout.write(`${style.dim('Ctrl-C again or /quit leaves.')}\n`)
      continue
    }
    interrupted = false
    const line = asked.line.trim()
    if (line === '') continue
    if (line === '/quit' || line === '/exit') return exitCodes.ok.code
    if (line === '/help') {
      io.stdout.write(HELP)
    } else if (line === '/new') {
      client = open(null)
      waits = false
      io.stdout.write(`${style.dim(`New session ${client.session}.`)}\n`)
    } else if (/^\/\w+$/.test(line) && line !== '/approvals') {
      io.stdout.write(`There is no ${line}.\n${HELP}`)
    } else {
      const talk =
        line === '/approvals'
          ? askAgain(client, askApprovals, io, view)
          : answer(client, asked.line, askApprovals, io, view)
      const outcome = await orReport(talk, io)
      if (outcome.type === 'left') return outcome.exitCode
      // A message that was refused because an approval is pending does not end the wait.
      waits = outcome.type === 'waits' || (waits && outcome.type === 'failed')
    }
  }
}

/** A refused message does not end the conversation. */
function orReport(talk: Promise<Outcome>, io: Io): Promise<Outcome> {
  return talk.catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
    reportError(error, io)
    return { type: 'failed' }
  })
}

async function askAgain(client: ChatClient, askApprovals: AskApprovals, io: Io, view: ChatView): Promise<Outcome> {
  const pending = await client.approvals()
  if (pending.length > 0) return await goOn(pending, client, askApprovals, io, view)
  io.stdout.write('Nothing in this session waits for your answer.\n')
  return { type: 'answered' }
}
