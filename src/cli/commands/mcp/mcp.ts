import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { userDataDir } from '../../../app/data-dir.ts'
import { findConfigDir } from '../../../config/config-dir.ts'
import { variable } from '../../../config/source/env-file.ts'
import { type Clock, sleep } from '../../../domain/clock.ts'
import { isLoopback } from '../../../domain/is-loopback.ts'
import { readPrivateFile } from '../../../http/auth/config-folder/read-private-file.ts'
import { createServerAddress } from '../../../http/auth/config-folder/server-address.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import { type AgentConnection, createAgentConnections, currentUrl } from '../../agent-connection.ts'
import { unavailable, usageError } from '../../cli-error.ts'
import { type CommandContext, examples } from '../../command.ts'
import { baseOf, isReadableByOthers, readServerUrl } from '../../server-url.ts'
import type { Io } from '../../terminal/io.ts'

interface McpFlags {
  workspace?: string
  channel?: string
  session?: string
  url?: string
  dataDir?: string
  tokenFile?: string
  connection?: string
  limit?: string
}

/** Room for a file of 5 MB in JSON. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024

export function createMcpCommand({ io }: CommandContext): Command {
  return new Command('mcp')
    .summary('connect an agent’s host to the server, over standard input and output')
    .description(
      'The host of a coding agent starts this command as its MCP server. It carries the messages between the host and the Quarterdeck ' +
        'server, as one supervised session, and ends with the host. If no server runs, it starts one in the background. It needs an ' +
        'agent’s token in QUARTERDECK_AGENT_TOKEN or a file: quarterdeck tokens create --role agent',
    )
    .option('--connection <host>', 'the server and token that quarterdeck connect stored for this host')
    .option('--workspace <folder>', 'the folder that the agent works in (default: this folder)')
    .option('--channel <id>', 'the channel that the session reports to')
    .option('--session <id>', 'the supervised session that the calls belong to')
    .option('--limit <seconds>', 'how long the host lets a call block, as its configuration says (1 to 86400)')
    .option('--url <address>', 'the server (default: the one of the data directory; env: QUARTERDECK_MCP_URL)')
    .option(
      '--data-dir <folder>',
      'the data directory of the server (default: the one of this user, env: QUARTERDECK_DATA_DIR)',
    )
    .option('--token-file <file>', 'a file with the token that only you can read')
    .addHelpText(
      'after',
      examples('mcp --workspace ~/shop', 'mcp --url http://127.0.0.1:8000 --token-file ~/.agent-token'),
    )
    .action(async (options: McpFlags) => mcp(options, io))
}

async function mcp(options: McpFlags, io: Io): Promise<void> {
  const say = (text: string) => void io.stderr.write(`quarterdeck: ${text}\n`)
  const workspace = resolve(io.cwd, options.workspace ?? '.')
  const stored = storedConnection(options, workspace, io)
  const token = stored?.token ?? tokenOf(options, io)
  const query = new URLSearchParams({ workspace, bridge_id: randomUUID() })
  if (options.channel !== undefined) query.set('channel_id', options.channel)
  if (options.session !== undefined) query.set('session_id', options.session)
  if (options.limit !== undefined) query.set('limit_seconds', limitOf(options.limit))
  // After its next start, the same server may have another port.
  const place = stored?.dataDir === undefined ? {} : { dataDir: stored.dataDir }
  const currentBase = await serverBase({ ...place, ...options }, stored?.url, io, say)

  // Loaded only when needed: they take a while.
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
  const { fetchForBridge, RECONNECTION, runBridge } = await import('./bridge.ts')
  const host = new StdioServerTransport(io.stdin, io.stdout, { maxBufferSize: MAX_MESSAGE_BYTES })
  // A server that is started again may have another port.
  const url = () => `${currentBase()}/mcp?${query}`
  const headers = { Authorization: `Bearer ${token}` }
  // Hosts also end their servers with a signal. The window is closed then as well.
  const stopListening = io.onSignal(() => void host.close(), { hangUp: true })
  const sayGoodbye = keepPresent(url, headers, io.clock)
  await runBridge({
    host,
    connect: () =>
      new StreamableHTTPClientTransport(new URL(url()), {
        requestInit: { headers },
        reconnectionOptions: RECONNECTION,
        fetch: fetchForBridge(io.clock),
      }),
    clock: io.clock,
    say,
  })
  await sayGoodbye()
  stopListening()
}

function limitOf(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 86_400) return text
  throw usageError(`--limit ${text} is not a number of seconds from 1 to 86400.`)
}

/** What an agent that Quarterdeck started itself has in its environment wins over what `connect` stored. */
function storedConnection({ connection, tokenFile }: McpFlags, workspace: string, io: Io): AgentConnection | null {
  const isGiven = tokenFile !== undefined || variable(io.env, 'QUARTERDECK_AGENT_TOKEN') !== undefined
  if (connection === undefined || isGiven) return null
  const found = createAgentConnections(findConfigDir(io.env, process.platform), connection).find(workspace)
  if (found !== null) return found
  throw usageError(`${workspace} is not connected to a server for ${connection}.`, [
    `Run quarterdeck connect ${connection} --workspace ${workspace}`,
  ])
}

function tokenOf({ tokenFile }: McpFlags, io: Io): string {
  const refuse = (why: string) => usageError(`The token file ${tokenFile} cannot be used: ${why}.`)
  const token =
    tokenFile === undefined
      ? variable(io.env, 'QUARTERDECK_AGENT_TOKEN')
      : readPrivateFile(resolve(io.cwd, tokenFile), { maxBytes: 1_000, refuse })?.trim()
  if (token !== undefined && token !== '') return token
  throw usageError('There is no agent’s token.', [
    'Run quarterdeck tokens create --role agent --workspace <folder>, then set QUARTERDECK_AGENT_TOKEN in the host’s configuration.',
  ])
}

/** The address of the server, now. A server that is started again may have another port. */
async function serverBase(
  options: McpFlags,
  stored: string | undefined,
  io: Io,
  say: (text: string) => void,
): Promise<() => string> {
  const named = options.url ?? variable(io.env, 'QUARTERDECK_MCP_URL') ?? stored
  if (named === undefined) return await localServer(options, io, say)
  // The server of a stored connection may have ended since.
  if (named === stored && isLoopback(new URL(stored).hostname) && !(await isReady(stored))) {
    return await localServer(options, io, say)
  }
  const url = readServerUrl(named)
  const base = baseOf(url).replace(/\/mcp$/, '')
  const { dataDir } = options
  if (!isReadableByOthers(url)) {
    const configDir = findConfigDir(io.env, process.platform)
    return named === stored && dataDir !== undefined ? () => currentUrl({ url: base, dataDir }, configDir) : () => base
  }
  throw usageError(`The token would be sent to ${base} over plain http, which others can read.`, [
    'Use https, or a tunnel.',
  ])
}

async function localServer(options: McpFlags, io: Io, say: (text: string) => void): Promise<() => string> {
  const home = variable(io.env, 'HOME') ?? homedir()
  const given = options.dataDir ?? variable(io.env, 'QUARTERDECK_DATA_DIR')
  const configDir = findConfigDir(io.env, process.platform)
  const dataDir = given === undefined ? userDataDir(configDir) : resolve(io.cwd, given)
  makeFolder(dataDir, 0o700)
  const readAddress = () => createServerAddress({ configDir, makeFolder, dataDir }).read()
  const found = await findServer({
    dataDir,
    readAddress,
    isReady,
    start(logFile) {
      const { fd, close } = openLogFile(logFile)
      const args = [process.argv[1] ?? 'quarterdeck', 'serve', '--data-dir', dataDir, '--log-format', 'json']
      // Not in the agent's folder: its files must not become the server's configuration.
      const child = spawn(process.execPath, args, {
        cwd: home,
        env: serverEnvironment(io.env),
        detached: true,
        stdio: ['ignore', fd, fd],
      })
      child.on('error', (error) => say(`The server could not be started: ${error.message}`))
      child.unref()
      close()
    },
    clock: io.clock,
    say,
  })
  return () => readAddress() ?? found
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/ready`, { redirect: 'error', signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
const GOODBYE_MS = 1_000
/** Trying again changes nothing: something else answers there, or the token is refused. */
const GIVE_UP: readonly number[] = [400, 401, 403, 404, 405]

/**
 * A host of the modern era has no connection between two calls, so a server could not tell a window that is quiet from one that is gone.
 * The bridge holds a request open as long as it lives. The returned function says goodbye. It waits a second at most: a server that is
 * away finds out by itself.
 */
function keepPresent(url: () => string, headers: Readonly<Record<string, string>>, clock: Clock): () => Promise<void> {
  const left = new AbortController()

  async function stay(): Promise<void> {
    for (let wait = FIRST_WAIT_MS; !left.signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        const accept = { ...headers, Accept: 'text/event-stream' }
        const answer = await fetch(url(), { headers: accept, redirect: 'error', signal: left.signal })
        if (answer.ok) wait = FIRST_WAIT_MS
        await answer.body?.pipeTo(new WritableStream())
        if (GIVE_UP.includes(answer.status)) return
      } catch {
        // The server is away, or this is the end.
      }
      await sleep(clock, wait, left.signal)
    }
  }

  const staying = stay()
  return async () => {
    left.abort()
    const signal = AbortSignal.timeout(GOODBYE_MS)
    await fetch(url(), { method: 'DELETE', headers, redirect: 'error', signal }).catch(() => {})
    await staying
  }
}

// The server of a data directory: the one that runs, or a new one in the background. It lives on when the agent's host ends.

export interface FindServerOptions {
  dataDir: string
  /** The address that a server of the data directory wrote down. It may be an old one. */
  readAddress: () => string | null
  isReady: (url: string) => Promise<boolean>
  /** Starts a server that outlives this process, with its output in the file. */
  start: (logFile: string) => void
  clock: Clock
  say: (text: string) => void
  waitMs?: number
}

const WAIT_MS = 30_000
const LOOK_MS = 200

/** Throws `CliError` if none is ready in time. */
export async function findServer(options: FindServerOptions): Promise<string> {
  const { dataDir, readAddress, isReady, start, clock, say, waitMs = WAIT_MS } = options
  const known = readAddress()
  if (known !== null && (await isReady(known))) return known
  const logFile = join(dataDir, 'server.log')
  say(`No server runs on ${dataDir}. Starting one in the background; its output goes to ${logFile}.`)
  start(logFile)
  const began = clock.mono()
  while (clock.mono() - began < waitMs) {
    await sleep(clock, LOOK_MS)
    const url = readAddress()
    if (url !== null && (await isReady(url))) {
      say(`The server is ready at ${url}.`)
      return url
    }
  }
  throw unavailable(`No server became ready on ${dataDir}.`, [
    `Look into ${logFile}, or start one yourself: quarterdeck serve`,
  ])
}

/** For the output of a server. Whoever can read it learns what agents do, so only this user can. */
export function openLogFile(path: string): { fd: number; close(): void } {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW = 0 } = constants
  const fd = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
  return { fd, close: () => closeSync(fd) }
}

const PLAIN =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|TEMP|TMP|TZ|LANG|LC_\w+|XDG_\w+|SYSTEMROOT|USERPROFILE|APPDATA|LOCALAPPDATA|PATHEXT|COMSPEC)$/i
const SETTING = /^QUARTERDECK_\w+$/
/** Credentials, and what describes one agent. */
const OF_THE_AGENT = /TOKEN|SECRET|PASSWORD|^QUARTERDECK_(?:WORKSPACE_ROOT|MCP_URL|SESSION_ID)$/

/** What a server may have of the environment of an agent's host: nothing of the agent's, and no credential. */
export function serverEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (PLAIN.test(entry[0]) || SETTING.test(entry[0])) && !OF_THE_AGENT.test(entry[0]),
    ),
  )
}
