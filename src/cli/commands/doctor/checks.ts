// The checks of `doctor`. Each says what it found and, if something is wrong, how to fix it.

import { access, constants, mkdtemp, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { databaseIn } from '../../../app/data-dir.ts'
import { examineDataDir, migrateSharedStore } from '../../../app/open-store.ts'
import { startedAgents } from '../../../config/agent/started-agents.ts'
import type { ServerSettings } from '../../../config/settings/server-settings.ts'
import { agentDefaults } from '../../../config/source/load-context.ts'
import { abortAfter } from '../../../domain/abort.ts'
import type { HostAgent, ModelAgent, ModelSettings } from '../../../domain/agent/agent.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { present } from '../../../domain/present.ts'
import { shownStore } from '../../../domain/settings/store-settings.ts'
import type { SupervisionSettings } from '../../../domain/settings/supervision-settings.ts'
import { acpOf } from '../../../hosts/hosts.ts'
import type { ChannelCheck } from '../../../operators/channel-kind.ts'
import { findProgram } from '../../../supervision/commands/find-program.ts'
import { findSandbox } from '../../../supervision/spawn/sandbox.ts'
import { modelSource } from '../../check-agents.ts'
import { reasonOf } from '../../report-error.ts'
import type { Io } from '../../terminal/io.ts'
import { portInUse, takenHost } from '../serve/port-in-use.ts'

export interface Check extends ChannelCheck {
  name: string
}

const ok = (name: string, detail: string): Check => ({ name, status: 'ok', detail })
const warn = (name: string, detail: string, mend: string): Check => ({ name, status: 'warn', detail, mend })
const fail = (name: string, detail: string, mend?: string): Check =>
  present({ name, status: 'fail' as const, detail, mend })

/** Longer than the timeout of a connection, so that the model's own error comes first. */
const MODEL_TIMEOUT_MS = 15_000
const LITTLE_SPACE = 1_000_000_000
const NO_SPACE = 100_000_000

export function checkNode(version: string): Check {
  if (Number.parseInt(version, 10) >= 24) return ok('Node', version)
  return fail('Node', `${version} is too old`, 'Install Node 24: https://nodejs.org')
}

/** Checks the key and the connection to an agent's model. Sends the provider its cheapest request. */
export async function checkModel(agent: ModelAgent, version: string, io: Io): Promise<Check[]> {
  const shown = `${agent.name} (${agent.model.provider}/${agent.model.name})`
  await using source = await modelSource(agent, version, io)
  using timeout = abortAfter(io.clock, MODEL_TIMEOUT_MS)
  const key = ok('Key', `${agent.name}: ${describeKey(agent.model)}`)
  const proxies = () =>
    source.http.proxies().map(({ proxy, from }) => ok('Proxy', `${agent.name}: through ${proxy}, as ${from} says`))
  try {
    const model = await source.create()
    const began = io.clock.mono()
    await model.check(timeout.signal)
    const ms = Math.round(io.clock.mono() - began)
    return [key, ...proxies(), ok('Model', `${shown} answers (${ms} ms)`)]
  } catch (error) {
    if (timeout.signal.aborted) {
      const mend = 'Check the network, a proxy, and model.base_url.'
      return [key, ...proxies(), fail('Model', `${shown} does not answer within 15 s`, mend)]
    }
    if (!(error instanceof ServerError)) throw error
    const keyMissing = error.code === 'config_invalid' && agent.model.apiKey === undefined
    const isOfKey = keyMissing || error.code === 'model_auth_failed'
    const problem = fail(isOfKey ? 'Key' : 'Model', `${shown}: ${error.message}`, mendOf(error))
    return isOfKey ? [problem] : [key, ...proxies(), problem]
  }
}

function describeKey({ apiKey, provider }: ModelSettings): string {
  if (apiKey === 'none') return 'none, as configured'
  return apiKey === undefined ? `${provider} needs none` : 'set'
}

function mendOf(error: ServerError): string {
  switch (error.code) {
    case 'config_invalid':
      return 'Fix it in the agent file. Keys come from the environment and from .env beside the agent file.'
    case 'model_auth_failed':
      return 'Create a new key at the provider and set it in the environment or in .env.'
    case 'model_not_found':
      return 'Fix model.name in the agent file.'
    case 'model_unreachable':
      return 'Start the model server, or fix model.base_url. Behind a proxy, check HTTPS_PROXY, NO_PROXY and model.proxy.'
    default:
      return 'Try again later. If the error stays, look at the provider’s status page.'
  }
}

/** `serverRuns`: a server is using the data directory, so the port is probably that server's. */
export async function checkPort(
  { host, hosts, port }: Pick<ServerSettings, 'host' | 'hosts' | 'port'>,
  serverRuns: boolean,
): Promise<Check> {
  const name = 'Port'
  if (port === 0) return ok(name, 'any free one')
  if ((await takenHost(hosts, port)) === null) return ok(name, `${port} on ${host} is free`)
  if (await isQuarterdeck(host, port)) {
    if (serverRuns) return ok(name, `the running server answers on port ${port}`)
    const stop = 'Stop it, or choose another port with --port <number>.'
    return warn(name, `Another Quarterdeck is running on port ${port}`, stop)
  }
  const { message, mend } = await portInUse(hosts, port)
  return fail(name, message.replace(/\.$/, ''), mend.join(' '))
}

async function isQuarterdeck(host: string, port: number): Promise<boolean> {
  try {
    const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
    const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}/health`
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) })
    const answer: unknown = await response.json()
    // Without a token a server that asks for one says only its status.
    return isRecord(answer) && typeof answer.status === 'string' && response.headers.has('x-correlation-id')
  } catch {
    return false
  }
}

/** Works beside a running server: it reads the database without changing it. `isShared`: the database is elsewhere. */
export async function checkDataDir(dataDir: string, isShared = false): Promise<{ check: Check; inUse: boolean }> {
  const name = 'Data'
  const failed = (detail: string, mend?: string) => ({ check: fail(name, detail, mend), inUse: false })
  const notWritable = 'Get permission to write there, or name another folder: --data-dir <folder>'
  const folder = await stat(dataDir).catch(() => null)
  if (folder === null) {
    const parent = await nearestFolder(dataDir)
    if (!(await isWritable(parent))) {
      return failed(`${dataDir} cannot be created: ${parent} is not writable`, notWritable)
    }
    return { check: ok(name, `${dataDir} will be created at the first start`), inUse: false }
  }
  if (!folder.isDirectory()) return failed(`${dataDir} is not a folder`, 'Name a folder: --data-dir <folder>')
  if (!(await canWriteFile(dataDir))) return failed(`${dataDir} is not writable`, notWritable)
  let inUse: boolean
  try {
    inUse = examineDataDir(dataDir) === 'in use'
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    return failed(error.message)
  }
  if (process.platform !== 'win32' && (folder.mode & 0o077) !== 0) {
    const mend = `It holds conversations: chmod 700 ${dataDir}`
    return { check: warn(name, `Other users can read ${dataDir}`, mend), inUse }
  }
  const detail = inUse
    ? `${dataDir} is used by a running server; ${isShared ? 'another one takes a folder in it' : 'the database is intact'}`
    : `${dataDir} is writable and free`
  return { check: ok(name, detail), inUse }
}

/** Connects and looks. Changes nothing there. */
export async function checkDatabase(url: string, clock: Clock): Promise<Check> {
  const name = 'Store'
  const shown = shownStore(url)
  try {
    const { from, to, unknown } = await migrateSharedStore({ apply: false, url, clock, log: silentLogger })
    if (unknown > 0) {
      return warn(
        name,
        `${shown} answers; a newer Quarterdeck has changed it (version ${from}, this one knows ${from - unknown})`,
        'This version can still use it. Update it soon.',
      )
    }
    const then = from === 0 ? 'its tables will be made' : `it will be updated from version ${from} to ${to}`
    return ok(name, from === to ? `${shown} answers` : `${shown} answers; ${then} at the first start`)
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    const [reason] = reasonOf(error)
    return fail(name, `${shown}: ${error.message}`, reason)
  }
}

export async function checkDisk(dataDir: string): Promise<Check> {
  const { bavail, bsize } = await statfs(await nearestFolder(dataDir))
  const free = bavail * bsize
  const detail = `${(free / 1e9).toFixed(1)} GB free`
  const mend = 'Free some space, or move the data: --data-dir <folder>'
  if (free < NO_SPACE) return fail('Disk', detail, mend)
  return free < LITTLE_SPACE ? warn('Disk', detail, mend) : ok('Disk', detail)
}

/** With a clock that is behind the stored data, new messages would come before old ones. */
export async function checkClock(now: number, dataDir: string): Promise<Check> {
  const mend = 'Set the clock, for example with NTP.'
  const detail = new Date(now).toISOString()
  // Quarterdeck is younger than this day.
  if (now < Date.UTC(2026, 0, 1)) return fail('Clock', `${detail} is in the past`, mend)
  const stored = await stat(databaseIn(dataDir)).catch(() => null)
  if (stored !== null && stored.mtimeMs > now + 60_000) {
    return warn('Clock', `${detail} is before the newest data`, mend)
  }
  return ok('Clock', detail)
}

async function nearestFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) return path
  const parent = dirname(path)
  return parent === path ? path : nearestFolder(parent)
}

const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  )

/** Tries it: permissions do not show a read-only mount or a full quota. */
async function canWriteFile(folder: string): Promise<boolean> {
  try {
    await rm(await mkdtemp(join(folder, '.doctor-')), { recursive: true })
    return true
  } catch {
    return false
  }
}

/** An agent that the server hosts. */
export async function checkHosted(agent: HostAgent, io: Io): Promise<Check[]> {
  const { lookAtHost } = await import('../../look-at-host.ts')
  const found = await lookAtHost(agent, io)
  return found.map(({ status, detail, mend }) =>
    present({ name: 'Host', status, detail, mend: mend === '' ? undefined : mend }),
  )
}

/** The program of the agent that is started where nobody says which, and whether something confines it. */
export async function checkHost(settings: SupervisionSettings, searchPath: string): Promise<Check[]> {
  const search = { workspaces: writableFolders(settings), searchPath }
  const [agent] = startedAgents(settings, agentDefaults)
  if (agent === undefined) return []
  const { name, command } = agent.host
  const known = acpOf(name)
  const { program, problem } = findProgram(command ?? known.command, search)
  if (program === null) {
    const install = command === null ? `Install it with: ${known.install}` : undefined
    return [fail('Host', `host_cli: ${problem}`, install)]
  }
  return [ok('Host', `${program}, started as ${name}`), await checkSandbox(findProgram('bwrap', search).program)]
}

const writableFolders = ({ workspaces, defaultWorkspaceRoot }: SupervisionSettings): string[] => [
  ...workspaces.map(({ path }) => path),
  ...(defaultWorkspaceRoot === null ? [] : [defaultWorkspaceRoot]),
]

async function checkSandbox(program: string | null): Promise<Check> {
  const sandbox = await findSandbox(program)
  if (sandbox.found !== null)
    return ok('Sandbox', 'coding agents run under bubblewrap, in a private copy of their workspace')
  return fail(
    'Sandbox',
    `Coding agents are not started: ${sandbox.why}`,
    'On Linux, install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap).',
  )
}
