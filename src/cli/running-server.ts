import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentPaths } from '../app/load-config.ts'
import { createServerAddress } from '../http/auth/config-folder/server-address.ts'
import { makeFolder } from '../store/make-folder.ts'
import { unavailable, usageError } from './cli-error.ts'
import { configDirOrNull, dataDirectory, namedDataDir } from './data-directory.ts'
import { shellWord } from './program-name.ts'
import { fetchProblem, isNotTrusted } from './server-url.ts'
import type { Io } from './terminal/io.ts'
import { terminalLine } from './terminal/terminal-text.ts'

export interface KnownServer {
  url: string
  /** If the server is one of this user on this machine. */
  dataDir?: string
}

/** The one server of this user that runs. Servers write down their address when they start. Throws `CliError`. */
export async function findRunningServer(configDir: string): Promise<KnownServer> {
  const [first, ...others] = await runningServers(configDir)
  if (first === undefined) {
    throw unavailable('No server of yours is running.', [
      'Start one in another terminal: quarterdeck serve',
      'Or name one: --url <address>',
    ])
  }
  if (others.length > 0) {
    throw usageError(`Several servers are running: ${[first, ...others].map(({ url }) => url).join(', ')}.`, [
      'Name the one that will supervise: --url <address>',
    ])
  }
  return first
}

async function runningServers(configDir: string): Promise<(KnownServer & { dataDir: string })[]> {
  const answering = await Promise.all(
    serversOf(configDir).map(async (server) => ((await isAlive(server.url)) ? [server] : [])),
  )
  return answering.flat()
}

/**
 * The data directory of a command: the one that the person names, else the one of this folder, else that of the only server of this user
 * that runs. Throws `CliError` with a list if several run.
 */
export async function chosenDataDir(flag: string | undefined, io: Io): Promise<string> {
  const usual = dataDirectory(flag, io)
  const isHere = existsSync(join(io.cwd, '.quarterdeck')) || agentPaths([], io).length > 0
  if (namedDataDir(flag, io) !== undefined || isHere) return usual
  return (await onlyRunning(io)) ?? usual
}

/** The data directory of the only server of this user that runs; null: none does. Throws `CliError` with a list if several run. */
export async function onlyRunning(io: Io): Promise<string | null> {
  const configDir = configDirOrNull(io)
  const [only, ...others] = configDir === null ? [] : await runningServers(configDir)
  if (only === undefined) return null
  if (others.length > 0) {
    const line = ({ url, dataDir }: KnownServer & { dataDir: string }): string =>
      `export QUARTERDECK_DATA_DIR=${shellWord(dataDir)} # ${url}`
    throw usageError('Several servers of yours are running. Say which one, then type it again:', [
      ...[only, ...others].map((one) => terminalLine(line(one), 5_000)),
    ])
  }
  io.stderr.write(`Using the only server of yours that runs: ${terminalLine(only.dataDir, 5_000)}\n`)
  return only.dataDir
}

export const serverAt = (url: string, configDir: string): KnownServer =>
  serversOf(configDir).find((server) => server.url === url) ?? { url }

function serversOf(configDir: string): (KnownServer & { dataDir: string })[] {
  return addressFiles(configDir).flatMap((dataDir) => {
    try {
      const url = createServerAddress({ configDir, dataDir, makeFolder }).read()
      return url === null ? [] : [{ url, dataDir }]
    } catch {
      // The data directory is gone.
      return []
    }
  })
}

/** The data directories whose servers have written down their address. The address itself is read with more care. */
function addressFiles(configDir: string): string[] {
  try {
    return readdirSync(configDir)
      .filter((name) => /^server-[0-9a-f]{32}\.json$/.test(name))
      .flatMap((name) => {
        const { data_dir: dataDir } = Object(JSON.parse(readFileSync(join(configDir, name), 'utf8')))
        return typeof dataDir === 'string' ? [dataDir] : []
      })
  } catch {
    return []
  }
}

async function isAlive(url: string): Promise<boolean> {
  try {
    await (await fetch(`${url}/health`, { redirect: 'error', signal: AbortSignal.timeout(5_000) })).arrayBuffer()
    return true
  } catch (error) {
    // Somebody answers, with a certificate of their own.
    return isNotTrusted(fetchProblem(error))
  }
}
