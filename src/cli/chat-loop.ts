import type { ChatClient } from './chat-client.ts'
import { createChatView } from './chat-view.ts'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io } from './io.ts'
import { linesOf } from './lines.ts'
import { reportError } from './report-error.ts'
import { styleFor } from './style.ts'
import type { Prompt } from './terminal-prompt.ts'

const HELP = `/new    begin a new session
/help   show this
/quit   leave (also Ctrl-D)
Ctrl-C  stop the answer; twice leaves
`

type Outcome = { type: 'answered' } | { type: 'failed' } | { type: 'left'; exitCode: number }

/** Sends one message and shows its answer. Ctrl-C stops the answer, a second one leaves. */
export async function answer(client: ChatClient, message: string, io: Io): Promise<Outcome> {
  const view = createChatView(io)
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
  try {
    for await (const event of client.send(message, leaving.signal)) {
      view.show(event)
      if (event.type === 'failed') return { type: 'failed' }
    }
    return { type: 'answered' }
  } catch (error) {
    if (exitCode !== null) return { type: 'left', exitCode }
    throw error
  } finally {
    stopListening()
  }
}

/** Every line of a pipe is a message. Stops at the first that fails: the ones behind it may build on its answer. */
export async function chatThroughPipe(client: ChatClient, io: Io): Promise<number> {
  for await (const line of linesOf(io.stdin)) {
    if (line.trim() === '') continue
    const outcome = await answer(client, line, io)
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
    } else if (/^\/\w+$/.test(line)) {
      io.stdout.write(`There is no ${line}.\n${HELP}`)
    } else {
      try {
        const outcome = await answer(client, asked.line, io)
        if (outcome.type === 'left') return outcome.exitCode
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        // One refused message is no reason to lose the conversation.
        reportError(error, io)
      }
    }
  }
}
