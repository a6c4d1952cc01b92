import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { LOCAL_USER } from '../../../domain/session.ts'
import { type TokenRole, tokenRoles } from '../../../http/auth/tokens/token.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io, Settle } from '../../terminal/io.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { textTable } from '../../terminal/text-table.ts'
import { type ShownToken, type TokenStore, withTokenStore } from './token-store.ts'

interface Shared {
  dataDir?: string
  url?: string
}

interface CreateOptions {
  role: TokenRole
  user: string
  name: string
  workspace?: string
  channel?: string
  json?: boolean
}

export function createTokensCommand(io: Io, settle: Settle): Command {
  const command = new Command('tokens')
    .summary('create, list and revoke tokens')
    .description(
      'A token says who may talk and who may decide. Only its hash is stored, outside the data directory, so a token is shown once; ' +
        'replace a lost one with a new one. While no server runs, these commands need no token: stop the server to create the first ' +
        'operator’s token or to replace a lost one. With a running server they need the operator’s token: set ' +
        'QUARTERDECK_OPERATOR_TOKEN, or type it when asked.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ quarterdeck tokens create --role operator
  $ quarterdeck tokens create --role user --user ada --name "Ada’s laptop"
  $ quarterdeck tokens create --role agent --user ada --workspace ~/shop
  $ quarterdeck tokens list --url https://agent.example.com
  $ quarterdeck tokens revoke 0192f3a1-7b2c-7def-8abc-0123456789ab`,
    )
  const add = (name: string, summary: string) =>
    command
      .command(name)
      .description(summary)
      .option('--data-dir <folder>', 'the data directory (default: .quarterdeck here, env: QUARTERDECK_DATA_DIR)')
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
      'the user of the token, who owns the sessions it starts: 1 to 64 letters, digits or _',
      LOCAL_USER,
    )
    .option('--name <text>', 'a note on what the token is for', '')
    .option('--workspace <folder>', 'the folder that the agent works in; only for the role agent, which needs it')
    .option('--channel <id>', 'the channel that the agent’s sessions report to; only for the role agent')
    .option('--json', 'the token as one JSON object')
    .action(async ({ dataDir, url, ...options }: Shared & CreateOptions) => {
      checkOptions(options)
      settle(await withTokenStore({ dataDir, url }, io, (store) => create(store, options, io)))
    })

  add('list', 'Lists the tokens, oldest first, without those that come from a setting.')
    .option('--json', 'one JSON object a line')
    .action(async ({ dataDir, url, json }: Shared & { json?: boolean }) =>
      settle(await withTokenStore({ dataDir, url }, io, async (store) => list(await store.list(), json === true, io))),
    )

  add('revoke', 'Revokes a token. From then on it is refused, and its open streams end.')
    .argument('<id>', 'the id of the token, from tokens list')
    .action(async (id: string, { dataDir, url }: Shared) =>
      settle(
        await withTokenStore({ dataDir, url }, io, async (store) => {
          await store.revoke(id)
          io.stderr.write(`Revoked at ${store.where}.\n`)
          return exitCodes.ok.code
        }),
      ),
    )
  return command
}

function checkOptions({ user, name, role, workspace, channel }: CreateOptions): void {
  if (!/^\w{1,64}$/.test(user)) {
    throw new CliError(exitCodes.usage.code, `--user ${JSON.stringify(user)}: expected 1 to 64 letters, digits or _.`)
  }
  if (!/^[^\p{C}]{0,64}$/u.test(name)) {
    throw new CliError(exitCodes.usage.code, '--name: expected at most 64 printable characters.')
  }
  if (role === 'agent' && workspace === undefined) {
    throw new CliError(
      exitCodes.usage.code,
      '--role agent needs --workspace <folder>: the folder that the agent works in.',
    )
  }
  if (role !== 'agent' && (workspace !== undefined || channel !== undefined)) {
    throw new CliError(exitCodes.usage.code, '--workspace and --channel are only for --role agent.')
  }
  if (channel !== undefined && !/^[^\p{C}]{1,200}$/u.test(channel)) {
    throw new CliError(exitCodes.usage.code, '--channel: expected 1 to 200 printable characters.')
  }
}

async function create(store: TokenStore, options: CreateOptions, io: Io): Promise<number> {
  const { role, user, name, workspace, channel, json } = options
  const made = await store.create({
    role,
    user,
    name,
    ...(workspace === undefined ? {} : { workspace: resolve(io.cwd, workspace) }),
    ...(channel === undefined ? {} : { channel }),
  })
  if (json) {
    io.stdout.write(`${JSON.stringify(made)}\n`)
    return exitCodes.ok.code
  }
  const bound = made.workspace === undefined ? '' : ` for ${terminalLine(made.workspace, 500)}`
  io.stderr.write(
    `Token ${made.id} of ${made.user}, ${made.role}${bound}, at ${store.where}. It is shown only this time:\n`,
  )
  io.stdout.write(`${made.token}\n`)
  return exitCodes.ok.code
}

function list(tokens: readonly ShownToken[], json: boolean, io: Io): number {
  if (json) for (const token of tokens) io.stdout.write(`${JSON.stringify(token)}\n`)
  else if (tokens.length === 0) io.stderr.write('There are no tokens. To create one: quarterdeck tokens create\n')
  else io.stdout.write(table(tokens))
  return exitCodes.ok.code
}

function table(tokens: readonly ShownToken[]): string {
  const hasAgents = tokens.some(({ role }) => role === 'agent')
  const head = ['ID', 'ROLE', 'USER', 'CREATED (UTC)', 'NAME', ...(hasAgents ? ['WORKSPACE'] : [])]
  const rows = tokens.map(({ id, role, user, created_at, name, workspace = '' }) => [
    terminalLine(id, 64),
    role,
    terminalLine(user, 64),
    terminalLine(created_at.slice(0, 19).replace('T', ' '), 19),
    terminalLine(name, 64),
    ...(hasAgents ? [terminalLine(workspace, 200)] : []),
  ])
  return textTable(head, rows)
}
