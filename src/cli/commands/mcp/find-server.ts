// The server of a data directory: the one that runs, or a new one in the background. It lives on when the agent's host ends.

import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../../domain/clock.ts'
import { sleep } from '../../../domain/clock.ts'
import { unavailable } from '../../cli-error.ts'

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
