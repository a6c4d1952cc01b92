import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { secondsOf } from '../../../config/source/schema-key.ts'
import { present } from '../../../domain/present.ts'
import { LOCAL_USER } from '../../../domain/session/session.ts'
import { type Scope, scopes, type TokenRole, tokenRoles } from '../../../domain/supervision/token-role.ts'
import { USER_NAME, USER_NAME_TEXT } from '../../../domain/supervision/user-name.ts'
import { usageError } from '../../cli-error.ts'
import { type CommandContext, examples } from '../../command.ts'
import { dataDirFlag } from '../../store-place.ts'
import type { Io } from '../../terminal/io.ts'
import { localMinute, localTime, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import { listTokens, type ShownToken, type TokenPlace, type TokenStore, withTokenStore } from './token-store.ts'

interface CreateFlags {
  role: TokenRole
  user?: string
  name: string
  workspace?: string
  channel?: string
  scopes?: string
  agent?: string
  expires?: string
  json?: boolean
}

/** `tokens list` says which tokens end within this time. */
const SOON_MS = 7 * 86_400_000
const MOST_SECONDS = 5 * 365 * 86_400

export function createTokensCommand({ io }: CommandContext): Command {
  const command = new Command('tokens')
    .summary('create, list and revoke tokens')
    .description(
      'A token says who may talk and who may decide. Only its hash is stored, outside the data directory, so a token is shown once; ' +
        'replace a lost one with a new one. While no server runs, these commands need no token: stop the server to create the first ' +
        'operator’s token or to replace a lost one. With a running server they need the operator’s token: set ' +
        'QUARTERDECK_OPERATOR_TOKEN, or type it when asked. There everybody has their own tokens, an admin everybody’s, and a token ' +
        'with --scopes or --agent makes and revokes none.',
    )
    .addHelpText(
      'after',
      examples(
        'tokens create --role operator',
        'tokens create --role user --user ada --name "Ada’s laptop"',
        'tokens create --role agent --user ada --workspace ~/shop',
        'tokens create --role operator --user grafana --scopes read --expires 90d',
        'tokens list --url https://agent.example.com',
        'tokens revoke 0192f3a1-7b2c-7def-8abc-0123456789ab',
      ),
    )
  const add = (name: string, summary: string) =>
    command
      .command(name)
      .description(summary)
      .option(...dataDirFlag)
      .option('--url <address>', 'the running server to ask (default: the server of this data directory, if it runs)')

  add('create', 'Creates a token and prints it, only this time.')
    .addOption(
      new Option(
        '--role <role>',
        'user = may talk, operator = may also decide, agent = a supervised agent, may only ask and report',
      )
        .choices([...tokenRoles])
        .makeOptionMandatory(),
    )
    .option(
      '--user <name>',
      `the user of the token, who owns the sessions it starts: ${USER_NAME_TEXT} (default: you at a running server, otherwise ${LOCAL_USER})`,
    )
    .option('--name <text>', 'a note on what the token is for', '')
    .option('--workspace <folder>', 'the folder that the agent works in; only for the role agent, which needs it')
    .option('--channel <id>', 'the channel that the agent’s sessions report to; only for the role agent')
    .option(
      '--scopes <names>',
      `all that it may do of what its role may, with commas between: ${scopes.join(', ')} (default: everything)`,
    )
    .option('--agent <name>', 'the only agent that it may talk to (default: all)')
    .option('--expires <time>', 'when it ends, such as 12h, 30d or 365d from now (default: never)')
    .option('--json', 'the token as one JSON object')
    .action(async ({ dataDir, url, ...options }: TokenPlace & CreateFlags) => {
      checkOptions(options)
      await withTokenStore({ dataDir, url }, io, (store) => create(store, options, io))
    })

  add('list', 'Lists the tokens, oldest first, without those that come from a setting.')
    .option('--json', 'one JSON object a line')
    .action(async ({ dataDir, url, json }: TokenPlace & { json?: boolean }) =>
      list(await listTokens({ dataDir, url }, io), json === true, io),
    )

  add('revoke', 'Revokes a token. From then on it is refused, and its open streams end.')
    .argument('<id>', 'the id of the token, from tokens list')
    .action(async (id: string, place: TokenPlace) =>
      withTokenStore(place, io, async (store) => {
        await store.revoke(id)
        io.stderr.write(`Revoked at ${store.where}.\n`)
      }),
    )
  return command
}

function checkOptions({ user, name, role, workspace, channel, ...limits }: CreateFlags): void {
  if (user !== undefined && !USER_NAME.test(user)) {
    throw usageError(`--user ${JSON.stringify(user)}: expected ${USER_NAME_TEXT}.`)
  }
  if (!/^[^\p{C}]{0,64}$/u.test(name)) {
    throw usageError('--name: expected at most 64 printable characters.')
  }
  if (role === 'agent' && workspace === undefined) {
    throw usageError('--role agent needs --workspace <folder>: the folder that the agent works in.')
  }
  if (role !== 'agent' && (workspace !== undefined || channel !== undefined)) {
    throw usageError('--workspace and --channel are only for --role agent.')
  }
  if (channel !== undefined && !/^[^\p{C}]{1,200}$/u.test(channel)) {
    throw usageError('--channel: expected 1 to 200 printable characters.')
  }
  if (role === 'agent' && (limits.scopes !== undefined || limits.agent !== undefined)) {
    throw usageError('--scopes and --agent are for people: an agent may only ask and report.')
  }
  if (limits.agent !== undefined && !/^[^\p{C}]{1,128}$/u.test(limits.agent)) {
    throw usageError('--agent: expected the name of an agent.')
  }
}

function scopesIn(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim())
  const found = names.flatMap((name) => scopes.find((scope) => scope === name) ?? [])
  if (found.length === names.length) return [...new Set(found)]
  throw usageError(`--scopes ${JSON.stringify(text)}: expected some of ${scopes.join(', ')}.`)
}

function secondsIn(text: string): number {
  const seconds = /[a-z]/.test(text) ? Math.round(secondsOf(text)) : Number.NaN
  if (seconds >= 60 && seconds <= MOST_SECONDS) return seconds
  throw usageError(`--expires ${JSON.stringify(text)}: expected a time from 1m to 1825d, such as 12h or 30d.`)
}

async function create(store: TokenStore, options: CreateFlags, io: Io): Promise<void> {
  const { role, user, name, workspace, channel, scopes: limited, agent, expires, json } = options
  const made = await store.create(
    present({
      role,
      user,
      name,
      workspace: workspace === undefined ? undefined : resolve(io.cwd, workspace),
      channel,
      scopes: limited === undefined ? undefined : scopesIn(limited),
      agent,
      expires_in: expires === undefined ? undefined : secondsIn(expires),
    }),
  )
  if (json) {
    io.stdout.write(`${JSON.stringify(made)}\n`)
    return
  }
  const bound = made.workspace === undefined ? '' : ` for ${terminalLine(made.workspace, 500)}`
  const ends = made.expires_at === undefined ? '' : `, until ${localMinute(made.expires_at)} (${localZone()})`
  io.stderr.write(
    `Token ${made.id} of ${made.user}, ${made.role}${bound}${limitsOf(made)}${ends}, at ${store.where}. It is shown only this time:\n`,
  )
  io.stdout.write(`${made.token}\n`)
}

function list({ where, tokens }: Awaited<ReturnType<typeof listTokens>>, json: boolean, io: Io): void {
  if (json) for (const token of tokens) io.stdout.write(`${JSON.stringify(token)}\n`)
  else if (tokens.length === 0)
    io.stderr.write(`There are no tokens at ${where}. To create one: ${io.program()} tokens create\n`)
  else io.stdout.write(table(tokens))
  warnOfEnds(tokens, io)
}

/** On the error output, so that it disturbs no program that reads the list. */
function warnOfEnds(tokens: readonly ShownToken[], io: Io): void {
  const now = io.clock.now()
  for (const { id, user, name, expires_at } of tokens) {
    const left = expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - now
    if (left > SOON_MS) continue
    const whose = terminalLine(`${id} of ${user}${name === '' ? '' : ` (${name})`}`, 200)
    const when =
      left <= 0 ? 'has ended' : left < 86_400_000 ? 'ends within a day' : `ends in ${Math.floor(left / 86_400_000)} d`
    io.stderr.write(`Token ${whose} ${when}. To replace it: ${io.program()} tokens create\n`)
  }
}

function limitsOf({ scopes: own, agent }: ShownToken): string {
  const only = own === undefined ? '' : `, only ${own.join(', ')}`
  return agent === undefined ? only : `${only}, only with the agent ${terminalLine(agent, 128)}`
}

function table(tokens: readonly ShownToken[]): string {
  const hasAgents = tokens.some(({ role }) => role === 'agent')
  const hasLimits = tokens.some((one) => one.scopes !== undefined || one.agent !== undefined)
  const hasEnds = tokens.some(({ expires_at }) => expires_at !== undefined)
  const head = [
    ...['ID', 'ROLE', 'USER', `CREATED (${localZone()})`, 'NAME'],
    ...(hasEnds ? ['ENDS'] : []),
    ...(hasLimits ? ['ONLY'] : []),
    ...(hasAgents ? ['WORKSPACE'] : []),
  ]
  const rows = tokens.map(({ id, role, user, created_at, name, workspace = '', scopes: own, agent, expires_at }) => [
    terminalLine(id, 64),
    role,
    terminalLine(user, 64),
    localTime(created_at),
    terminalLine(name, 64),
    ...(hasEnds ? [expires_at === undefined ? '' : localMinute(expires_at)] : []),
    ...(hasLimits
      ? [[...(own ?? []), ...(agent === undefined ? [] : [`agent:${terminalLine(agent, 128)}`])].join(' ')]
      : []),
    ...(hasAgents ? [terminalLine(workspace, 200)] : []),
  ])
  return textTable(head, rows)
}
