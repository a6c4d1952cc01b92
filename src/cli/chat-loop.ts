import type { PendingApproval } from './chat-approval.ts'
import type { ChatClient } from './chat-client.ts'
import type { Desk } from './chat-desk.ts'
import type { ChatEvent, RunEnd } from './chat-event.ts'
import { type ChatView, createChatView } from './chat-view.ts'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io } from './io.ts'
import { linesOf } from './lines.ts'
import { reportError } from './report-error.ts'
import { styleFor } from './style.ts'
import type { Prompt } from './terminal-prompt.ts'

const HELP = `/new        begin a new session
/approvals  show what waits for a yes or no, and ask again
/help       show this
/quit       leave (also Ctrl-D)
Ctrl-C      stop the answer; twice leaves
`

type Outcome = { type: 'answered' } | { type: 'failed' } | { type: 'left'; exitCode: number }

type Begin = (signal: AbortSignal) => AsyncGenerator<ChatEvent>

/** Sends one message and shows its answer, with what has to be asked on the way. Ctrl-C stops the answer, a second one leaves. */
export const answer = (client: ChatClient, message: string, desk: Desk, io: Io): Promise<Outcome> =>
  goOn((signal) => client.send(message, signal), client, desk, io)

async function goOn(
  first: Begin | readonly PendingApproval[],
  client: ChatClient,
  desk: Desk,
  io: Io,
): Promise<Outcome> {
  const view = createChatView(io)
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
        // A message that has to wait for an answer, or an answer that cannot be used: either way somebody is asked.
        pending = await client.approvals().catch(() => [])
        if (pending.length === 0) throw error
        reportError(error, io)
        refused = true
      }
    } else pending = next
    const answers = await desk(pending, client)
    if (answers.length === 0) return { type: refused ? 'failed' : 'answered' }
    for (const { id, arguments: edited } of answers) {
      const approval = pending.find((one) => one.id === id)
      if (approval !== undefined) {
        view.called(approval.callId, approval.tool, JSON.stringify(edited ?? approval.arguments))
      }
    }
    next = (signal) => client.answer(answers, signal)
  }
}

/** Shows one run to its end. */
async function show(
  begin: Begin,
  client: ChatClient,
  view: ChatView,
  io: Io,
): Promise<RunEnd | { type: 'left'; exitCode: number }> {
  const leaving = new AbortController()
  let exitCode: number | null = null
  let interrupts = 0
  const stopListening = io.onSignal((signal) => {
    if (signal === 'SIGINT' && ++interrupts === 1) {
      client.cancel().catch((error: unknown) => void reportError(error, io))
      return
    }
    exitCode = signal === 'SIGINT' ? exitCodes.interrupted.code : exitCodes.terminated.code
    leaving.abort()
  })
  let end: RunEnd = { type: 'finished', outcome: 'success' }
  try {
    for await (const event of begin(leaving.signal)) {
      view.show(event)
      if (event.type === 'finished' || event.type === 'failed') end = event
    }
    return end
  } catch (error) {
    if (exitCode !== null) return { type: 'left', exitCode }
    throw error
  } finally {
    stopListening()
  }
}

/** Every line of a pipe is a message. Stops at the first that fails: the ones behind it may build on its answer. */
export async function chatThroughPipe(client: ChatClient, desk: Desk, io: Io): Promise<number> {
  for await (const line of linesOf(io.stdin)) {
    if (line.trim() === '') continue
    const outcome = await answer(client, line, desk, io)
    if (outcome.type === 'failed') return exitCodes.failed.code
    if (outcome.type === 'left') return outcome.exitCode
  }
  return exitCodes.ok.code
}

/** A conversation with a person. `open` begins a session; null is a new one. */
export async function chatAtTerminal(
  open: (session: string | null) => ChatClient,
  session: string | null,
  prompt: Prompt,
  desk: Desk,
  io: Io,
): Promise<number> {
  const style = styleFor(io.stdout, io.env)
  let client = open(session)
  let interrupted = false
  for (;;) {
    const asked = await prompt.ask()
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
      io.stdout.write(`${style.dim(`New session ${client.threadId}.`)}\n`)
    } else if (/^\/\w+$/.test(line) && line !== '/approvals') {
      io.stdout.write(`There is no ${line}.\n${HELP}`)
    } else {
      try {
        const outcome = await (line === '/approvals'
          ? askAgain(client, desk, io)
          : answer(client, asked.line, desk, io))
        if (outcome.type === 'left') return outcome.exitCode
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        // One refused message is no reason to lose the conversation.
        reportError(error, io)
      }
    }
  }
}

async function askAgain(client: ChatClient, desk: Desk, io: Io): Promise<Outcome> {
  const pending = await client.approvals()
  if (pending.length > 0) return await goOn(pending, client, desk, io)
  io.stdout.write('Nothing waits in this session.\n')
  return { type: 'answered' }
}
