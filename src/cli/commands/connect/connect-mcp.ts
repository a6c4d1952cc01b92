// Signs in to an MCP server of the agents: prints the link, and waits until the browser has come back to the server.

import { Command } from 'commander'
import { sleep } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { failure, usageError } from '../../cli-error.ts'
import { examples } from '../../command.ts'
import type { Io } from '../../terminal/io.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { type CtlFlags, type CtlServer, runCtl } from '../ctl/ctl-server.ts'

const LOOK_MS = 1_000
/** As long as the link works. */
const PATIENCE_MS = 10 * 60_000

interface SignIn {
  id: string
  server: string
  url: string
  at: string | null
  problem: string | null
}

export function createConnectMcpCommand(io: Io): Command {
  return new Command('mcp')
    .summary('sign in to an MCP server of an agent')
    .description(
      'For an MCP server with auth in an agent file. It prints a link to open in a browser, and waits until you have signed in there. ' +
        'The server must be running; like ctl, it needs the operator’s token. Agents have the tools at once.',
    )
    .argument('<name>', 'the name of the MCP server in the agent file, or its id')
    .option('--remove', 'sign out: forget the tokens')
    .option(
      '--data-dir <folder>',
      'the data directory of the server (default: the one that serve uses here, or the only one that runs)',
    )
    .option('--passphrase-fd <number>', 'read the passphrase from this file descriptor')
    .option('--json', 'the server’s answer as JSON')
    .addHelpText('after', examples('connect mcp crm', 'connect mcp crm --remove'))
    .action((name: string, options: CtlFlags & { remove?: boolean }) =>
      runCtl(options, io, async ({ server, say }) => {
        const before = await find(server, name)
        if (options.remove) {
          await server.delete(`/sign-ins/${encodeURIComponent(before.id)}`)
          return say({ id: before.id }, `Signed out of ${shown(before)}.`)
        }
        const answer = await server.post(`/sign-ins/${encodeURIComponent(before.id)}`, {})
        const link = isRecord(answer) && typeof answer.link === 'string' ? answer.link : ''
        io.stderr.write(`Open this link in a browser, and sign in:\n\n${terminalLine(link, 8_000)}\n\nWaiting…\n`)
        const after = await signedIn(server, before, io)
        say(after, `Signed in to ${shown(after)}.`)
      }),
    )
}

async function signedIn(server: CtlServer, before: SignIn, { clock }: Io): Promise<SignIn> {
  const until = clock.mono() + PATIENCE_MS
  while (clock.mono() < until) {
    await sleep(clock, LOOK_MS)
    const now = await find(server, before.id)
    if (now.at !== null && now.at !== before.at) return now
    if (now.problem !== null && now.problem !== before.problem) throw failure(terminalLine(now.problem, 2_000))
  }
  throw failure('Nobody signed in within 10 minutes.', ['Run it again for a new link.'])
}

async function find(server: CtlServer, name: string): Promise<SignIn> {
  const all = await list(server)
  const found = all.filter((one) => one.id === name || one.server === name)
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const known = all.map((one) => `${one.id}  ${one.url}`)
  if (only !== undefined)
    throw usageError('Several agents have an MCP server of this name. Write the id of one:', known)
  const none = ['Add auth to the MCP server in the agent file, for example: auth: { per: server }']
  throw usageError(
    `No agent has an MCP server ${JSON.stringify(name)} that people sign in to.`,
    known.length === 0 ? none : known,
  )
}

/** A newer server may say more. */
async function list(server: CtlServer): Promise<SignIn[]> {
  const answer = await server.get('/sign-ins')
  const all: unknown[] = isRecord(answer) && Array.isArray(answer.sign_ins) ? answer.sign_ins : []
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return all.filter(isRecord).map((one) => ({
    id: text(one.id) ?? '',
    server: text(one.server) ?? '',
    url: text(one.url) ?? '',
    at: text(one.signed_in_at),
    problem: text(one.problem),
  }))
}

const shown = ({ server, url }: SignIn): string => terminalLine(`${server} (${url})`, 2_000)
