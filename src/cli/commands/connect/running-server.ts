import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServerAddress } from '../../../http/auth/config-folder/server-address.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'

export interface KnownServer {
  url: string
  /** If the server is one of this user on this machine. */
  dataDir?: string
}

/** The one server of this user that runs. Servers write down their address when they start. Throws `CliError`. */
export async function findRunningServer(configDir: string): Promise<KnownServer> {
  const answering = await Promise.all(
    serversOf(configDir).map(async (server) => ((await isAlive(server.url)) ? [server] : [])),
  )
  const [first, ...others] = answering.flat()
  if (first === undefined) {
    throw new CliError(exitCodes.unavailable.code, 'No server of yours is running.', [
      'Start one in another terminal: quarterdeck serve',
      'Or name one: --url <address>',
    ])
  }
  if (others.length > 0) {
    throw new CliError(
      exitCodes.usage.code,
      `Several servers are running: ${[first, ...others].map(({ url }) => url).join(', ')}.`,
      ['Name the one that will supervise: --url <address>'],
    )
  }
  return first
}

export const serverAt = (url: string, configDir: string): KnownServer =>
  serversOf(configDir).find((server) => server.url === url) ?? { url }

function serversOf(configDir: string): KnownServer[] {
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
  } catch {
    return false
  }
}
