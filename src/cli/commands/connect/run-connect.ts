// Sets up a host: shows what will change in its config, asks, makes a token for the agent, and writes.

import { realpathSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findConfigDir } from '../../../config/config-dir.ts'
import { variable } from '../../../config/source/env-file.ts'
import {
  type ConfigFile,
  HOST_LIMIT_SECONDS,
  type HostSetup,
  type OffSwitch,
  SERVER_NAME,
} from '../../../hosts/host.ts'
import { type HostName, hostNames, hosts } from '../../../hosts/hosts.ts'
import {
  type AgentConnection,
  type AgentConnections,
  connectedFoldersFile,
  createAgentConnections,
  currentUrl,
  readConnectedFolders,
} from '../../agent-connection.ts'
import { usageError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { findRunningServer, type KnownServer, serverAt } from '../../running-server.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { hasTerminal, saysYes } from '../../terminal/terminal-prompt.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { safeAddress, withTokenStore } from '../tokens/token-store.ts'
import { changeConfigFile, type FileChange, readConfigFile, replaceFile, showChanges } from './config-file.ts'
import { hookCommand, isForAll, type OwnProgram, ourPart, withOurs, withoutOurs } from './edit-config.ts'
import { editJson } from './edit-json.ts'

export const connectTargets = [...hostNames, 'print'] as const
type ConnectTarget = (typeof connectTargets)[number]

export interface ConnectFlags {
  workspace?: string
  allFolders?: boolean
  owner?: string
  url?: string
  http?: boolean
  yes?: boolean
  remove?: boolean
}

/** Everything that the steps share. */
interface Job {
  target: ConnectTarget
  options: ConnectFlags
  /** Real path. */
  workspace: string
  configDir: string
  connections: AgentConnections
  /** Lists the folders that are connected with this host. */
  foldersFile: string
  program: OwnProgram
  io: Io
}

export async function runConnect(name: ConnectTarget, options: ConnectFlags, io: Io): Promise<number> {
  const workspace = realFolder(resolve(io.cwd, options.workspace ?? '.'))
  const configDir = findConfigDir(io.env, process.platform)
  const connections = createAgentConnections(configDir, name === 'print' ? 'other' : name)
  const foldersFile = connectedFoldersFile(configDir, name)
  const program = ownProgram(configDir, io)
  const job: Job = { target: name, options, workspace, configDir, connections, foldersFile, program, io }
  if (name === 'print') return options.remove ? await forget(job) : await print(job)
  return options.remove ? await disconnect(name, job) : await connect(name, job)
}

async function connect(host: HostName, job: Job): Promise<number> {
  const { options, workspace, configDir, io } = job
  const { title, notes } = hosts[host]
  const files = readConfig(host, io)
  const others = otherFolders(files, job)
  refuseMixedScopes(others, host, options)
  const server = await chosenServer(options, configDir)
  const { url } = server
  const changesWith = (token: string): FileChange[] => {
    const setup = setupFor(host, url, token, job)
    return files.map(({ file, text }) => changeOf(file, text, withOurs(file, text, setup)))
  }
  const shown = changesWith('<the token of the agent>').filter(isChange)
  const where = options.allFolders ? 'all folders' : workspace
  io.stderr.write(`Connects ${title} in ${terminalLine(where, 500)} with ${url}.\n\n`)
  if (!(await confirmed(shown, job))) return exitCodes.failed.code
  await newConnection(server, job, ({ token }) => {
    for (const change of changesWith(token)) changeConfigFile(change)
    if (!options.allFolders) writeFolders(job, [...others, workspace])
  })
  io.stderr.write(`\nConnected. ${[...notes, ...launcherNotes(job.program)].join('\n')}\n`)
  for (const { path, key } of switchedOff(host, job)) {
    const off = `Careful: ${terminalLine(path, 500)} sets ${key.join('.')}, so ${title} runs no hooks and asks nobody.`
    io.stderr.write(`${styleFor(io.stderr, io.env).yellow(off)} Remove it.\n`)
  }
  return exitCodes.ok.code
}

async function disconnect(host: HostName, job: Job): Promise<number> {
  const { options, io } = job
  const workspace = options.allFolders ? null : job.workspace
  const files = readConfig(host, io)
  const others = otherFolders(files, job)
  const target = { workspace, isLast: others.length === 0 }
  const changes = files.map(({ file, text }) =>
    changeOf(file, text, text === null ? null : withoutOurs(file, text, target)),
  )
  if (!(await confirmed(changes.filter(isChange), job))) return exitCodes.failed.code
  for (const change of changes) changeConfigFile(change)
  writeFolders(job, others)
  return await forget(job)
}

/** A config file of the host, and what is in it; null if it does not exist. */
interface ReadFile {
  file: ConfigFile
  text: string | null
}

const readConfig = (host: HostName, io: Io): ReadFile[] =>
  hosts[host].configFiles(placesOf(io)).map((file) => ({ file, text: readConfigFile(file.path) }))

const changeOf = (file: ConfigFile, before: string | null, after: string | null): FileChange => ({
  path: file.path,
  what: ourPart(file),
  before,
  after,
})

/** What else is connected with this host: folders, or null for all folders. */
function otherFolders(files: readonly ReadFile[], { options, workspace, foldersFile }: Job): (string | null)[] {
  const everywhere = files.some(({ file, text }) => isForAll(file, text)) ? [null] : []
  const all = new Set<string | null>([...everywhere, ...(readConnectedFolders(foldersFile) ?? [])])
  all.delete(options.allFolders ? null : workspace)
  return [...all]
}

function writeFolders({ foldersFile }: Job, folders: readonly (string | null)[]): void {
  if (folders.length === 0) rmSync(foldersFile, { force: true })
  else replaceFile(foldersFile, `${JSON.stringify(folders, null, 2)}\n`)
}

/** The token is revoked if that is possible now. */
async function forget({ connections, workspace, configDir, io }: Job): Promise<number> {
  const connection = connections.read(workspace)
  connections.remove(workspace)
  if (connection !== null) {
    try {
      await withTokenStore({ url: currentUrl(connection, configDir) }, io, (store) => store.revoke(connection.tokenId))
    } catch (error) {
      tellNotRevoked(connection, error, io)
    }
  }
  io.stderr.write('Not connected any more.\n')
  return exitCodes.ok.code
}

function tellNotRevoked({ tokenId }: AgentConnection, error: unknown, io: Io): void {
  const why = error instanceof Error ? error.message : String(error)
  io.stderr.write(
    `The old token of the agent was not revoked: ${terminalLine(why, 300)}\nIf it is still listed, revoke it: ${io.program()} tokens revoke ${tokenId}\n`,
  )
}

async function print(job: Job): Promise<number> {
  const { options, configDir, io } = job
  const chosen = await chosenServer(options, configDir)
  let made = ''
  await newConnection(chosen, job, ({ token }) => {
    made = token
  })
  const { server } = setupFor('print', chosen.url, made, job)
  const entry =
    server.type === 'http'
      ? { type: 'http', url: server.url, headers: { Authorization: `Bearer ${server.token}` } }
      : { type: 'stdio', command: server.command, args: server.args, env: server.env }
  io.stderr.write(
    'Paste this into the config of your MCP host. The keys differ a little between hosts; the timeout is in milliseconds.\n' +
      'This host does not ask before it acts: only what the agent itself asks and reports reaches you.\n\n',
  )
  const timeout = HOST_LIMIT_SECONDS * 1_000
  io.stdout.write(`${JSON.stringify({ mcpServers: { [SERVER_NAME]: { ...entry, timeout } } }, null, 2)}\n`)
  return exitCodes.ok.code
}

const chosenServer = async ({ url }: ConnectFlags, configDir: string): Promise<KnownServer> =>
  url === undefined ? await findRunningServer(configDir) : serverAt(safeAddress(url), configDir)

/**
 * A new token each time: the old one may be lost or revoked. `use` puts the new one to use. If it throws, or the disk is full, the old
 * connection stays as it was.
 */
async function newConnection(
  { url, dataDir }: KnownServer,
  { target, options, workspace, connections, io }: Job,
  use: (connection: AgentConnection) => void,
): Promise<void> {
  const old = connections.read(workspace)
  const name = target === 'print' ? 'an agent' : hosts[target].title
  await withTokenStore({ url }, io, async (store) => {
    const owner = options.owner === undefined ? {} : { user: options.owner }
    const made = await store.create({ role: 'agent', ...owner, name, workspace })
    const place = dataDir === undefined ? { url } : { url, dataDir }
    const connection = { workspace: made.workspace ?? workspace, ...place, tokenId: made.id, token: made.token }
    let isWritten = false
    try {
      connections.write(connection)
      isWritten = true
      use(connection)
    } catch (error) {
      if (isWritten && old !== null) connections.write(old)
      else if (isWritten) connections.remove(connection.workspace)
      await store.revoke(made.id).catch(() => {})
      throw error
    }
    if (old !== null && old.url === url)
      await store.revoke(old.tokenId).catch((error) => tellNotRevoked(old, error, io))
  })
}

function setupFor(host: ConnectTarget, url: string, token: string, job: Job): HostSetup {
  const { options, program, workspace: folder } = job
  const workspace = options.allFolders ? null : folder
  const isForFolder = workspace !== null && (host === 'print' || hasServerOfFolder(host, job))
  const place = isForFolder ? ['--workspace', folder] : []
  const connection = ['--connection', host === 'print' ? 'other' : host]
  const limit = `limit_seconds=${HOST_LIMIT_SECONDS}`
  const query = isForFolder ? `?workspace=${encodeURIComponent(folder)}&${limit}` : `?${limit}`
  return {
    workspace,
    server: options.http
      ? { type: 'http', url: `${url}/mcp${query}`, token }
      : {
          type: 'stdio',
          command: program.node,
          args: [program.launcher, 'mcp', ...connection, ...place, '--limit', String(HOST_LIMIT_SECONDS)],
          env: program.env,
        },
    hook: (event, isQuestion) => {
      if (host === 'print') return ''
      return hookCommand(host, program, { event, isQuestion, folders: options.allFolders ? null : job.foldersFile })
    },
  }
}

async function confirmed(changes: readonly FileChange[], { options, io }: Job): Promise<boolean> {
  if (changes.length === 0) {
    io.stderr.write('Nothing changes in the config of the host.\n')
    return true
  }
  io.stdout.write(`${showChanges(changes, styleFor(io.stdout, io.env))}\n`)
  if (options.yes) return true
  if (!hasTerminal(io)) {
    throw usageError('Nothing was changed: there is no terminal to ask at.', ['If you want these changes, add --yes'])
  }
  if (await saysYes('Write this?', io)) return true
  io.stderr.write('Nothing was changed.\n')
  return false
}

/** The other hosts have one entry for all folders. */
const hasServerOfFolder = (host: HostName, { io }: Job): boolean =>
  hosts[host].configFiles(placesOf(io)).some(({ server }) => server?.isOfFolder === true)

function switchedOff(host: HostName, { workspace, io }: Job): OffSwitch[] {
  return hosts[host].offSwitches({ ...placesOf(io), workspace }).filter(({ path, key, off }) => {
    let isOff = false
    try {
      editJson(readConfigFile(path), path, (json) => {
        isOff = json.get([...key]) === off
      })
    } catch {
      // A file of the project that cannot be read is the host's matter.
    }
    return isOff
  })
}

const isChange = ({ before, after }: FileChange): boolean => before !== after

/** A hook for one folder and one for all folders would both ask about the same call. */
function refuseMixedScopes(
  others: readonly (string | null)[],
  host: HostName,
  { allFolders = false }: ConnectFlags,
): void {
  const other = others.find((folder) => (folder === null) !== allFolders)
  if (other === undefined) return
  throw usageError(`${hosts[host].title} is already connected for ${other === null ? 'all folders' : other}.`, [
    `First take that back: quarterdeck connect ${host} --remove ${other === null ? '--all-folders' : `--workspace ${other}`}`,
  ])
}

const placesOf = ({ env }: Io) => ({ home: variable(env, 'HOME') ?? homedir(), env })

function realFolder(path: string): string {
  try {
    const real = realpathSync(path)
    if (statSync(real).isDirectory()) return real
  } catch {
    // The same answer as for a file.
  }
  throw usageError(`--workspace ${path}: there is no such folder.`)
}

/** Hosts start us with their own environment, in which the variable for the config folder may be missing. */
function ownProgram(configDir: string, io: Io): OwnProgram {
  const usual = findConfigDir({ HOME: io.env.HOME }, process.platform)
  return {
    node: process.execPath,
    launcher: fileURLToPath(new URL('../../../../bin/quarterdeck.js', import.meta.url)),
    env: configDir === usual ? {} : { QUARTERDECK_CONFIG_DIR: configDir },
  }
}

/** npm empties the folder from which npx runs programs. */
const launcherNotes = ({ launcher }: OwnProgram): string[] =>
  /[\\/]_npx[\\/]/.test(launcher)
    ? [
        'Quarterdeck runs from the cache of npx. When npm empties it, the hook refuses every call. Better: npm install -g quarterdeck, then connect again.',
      ]
    : []
