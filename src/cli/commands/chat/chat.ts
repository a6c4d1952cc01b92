import { Command } from 'commander'
import { createIds } from '../../../domain/ids.ts'
import type { CommandContext } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { noServerAt } from '../../server-url.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { createTerminalPrompt, hasTerminal } from '../../terminal/terminal-prompt.ts'
import type { StartApp } from '../serve/start-app.ts'
import { createApprovalNotice, createApprovalQuestions } from './ask-approvals.ts'
import { createChatClient } from './chat-client.ts'
import { answer, chatAtTerminal, chatThroughPipe } from './chat-loop.ts'
import { type ChatTarget, openChatTarget } from './chat-target.ts'

export interface ChatFlags {
  session?: string
  message?: string
  agent?: string
  dataDir?: string
}

export function createChatCommand({ startApp, io, settle }: CommandContext): Command {
  return new Command('chat')
    .summary('talk to an agent file or a running server in the terminal')
    .description(
      'Talks to an agent. The target is an agent file, which is served in this process and only on this machine, or the URL of a running ' +
        'server. Ctrl-C stops an answer, a second Ctrl-C leaves. Each line of piped input is one message.',
    )
    .argument(
      '[target]',
      'an agent file or folder, or the URL of a server (default: agent.yaml here, otherwise the demo agent)',
    )
    .option(
      '--session <name>',
      'start or continue the session of this name; without it, a chat with a file is not kept',
    )
    .option('-m, --message <text>', 'send this one message, print the answer and leave')
    .option('--agent <name>', 'which agent, if there are several')
    .option('--data-dir <folder>', 'where a named session of a file is kept (default: .quarterdeck beside the agent)')
    .addHelpText(
      'after',
      `
If a server requires a token, set QUARTERDECK_TOKEN. If an operator must approve a call, set QUARTERDECK_OPERATOR_TOKEN, or type the
token when asked. With an agent file, you are the operator.

Examples:
  $ quarterdeck chat agent.yaml
  $ quarterdeck chat http://127.0.0.1:8000 --session work
  $ echo "What can you do?" | quarterdeck chat agent.yaml`,
    )
    .action(async (target: string | undefined, options: ChatFlags) => settle(await chat(target, options, startApp, io)))
}

export async function chat(where: string | undefined, options: ChatFlags, startApp: StartApp, io: Io): Promise<number> {
  const target = await openChatTarget(where, options, startApp, io)
  try {
    if (options.message === undefined) await knock(target.url)
    return await talk(target, options, io)
  } finally {
    await target.close()
  }
}

/** How long a server may take to answer at all. */
const KNOCK_MS = 10_000

/** Finds out that no server answers before the person writes a message. Any response is fine. */
async function knock(url: string): Promise<void> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(KNOCK_MS) })
    await response.body?.cancel()
  } catch (error) {
    throw noServerAt(url, error)
  }
}

async function talk(target: ChatTarget, { session, message }: ChatFlags, io: Io): Promise<number> {
  const ids = createIds(() => io.clock.now())
  const open = (name: string | null) => createChatClient({ ...target, session: name ?? ids.uuid(), clock: io.clock })
  const { howToAnswer } = target
  const askToken = (signal: AbortSignal) => target.operatorToken.ask(signal)
  const openPrompt = (label: string, draft?: string) => createTerminalPrompt(io, label, draft)
  const atTerminal = hasTerminal(io)

  if (message !== undefined) {
    const askApprovals = atTerminal
      ? createApprovalQuestions({ openPrompt, askToken, howToAnswer, again: howToAnswer }, io)
      : createApprovalNotice(howToAnswer, io)
    const outcome = await answer(open(session ?? null), message, askApprovals, io)
    if (outcome.type === 'left') return outcome.exitCode
    return outcome.type === 'failed' ? exitCodes.failed.code : exitCodes.ok.code
  }
  if (!atTerminal) return await chatThroughPipe(open(session ?? null), createApprovalNotice(howToAnswer, io), io)

  const style = styleFor(io.stdout, io.env)
  io.stdout.write(`${style.dim(`${target.description}. /help shows the commands, Ctrl-C stops an answer.`)}\n`)
  const again = () => ['/approvals asks again.']
  const askApprovals = createApprovalQuestions({ openPrompt, askToken, howToAnswer, again }, io)
  return await chatAtTerminal(open, session ?? null, openPrompt(style.bold('> ')), askApprovals, io)
}
