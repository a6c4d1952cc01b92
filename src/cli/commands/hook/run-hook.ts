// One run of a host's hook: from what the host wrote to what we print. Whatever goes wrong, a call that was asked about is refused.
// Hosts start this before every tool call, so it loads little.

import { realpathSync } from 'node:fs'
import { findConfigDir } from '../../../config/config-dir.ts'
import type { Environment } from '../../../config/source/env-file.ts'
import type { Clock } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { isWithin } from '../../../domain/is-within.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { type HostName, hosts } from '../../../hosts/hosts.ts'
import { isPermissionEvent } from '../../../protocols/hooks/decode.ts'
import { encodeDenial, readHookAnswer } from '../../../protocols/hooks/encode.ts'
import { createAgentConnections, currentUrl, readConnectedFolders } from '../../agent-connection.ts'
import { askServer, type HookQuestion } from './ask-server.ts'

export interface HookOptions {
  host: HostName
  /** The event that the host's config calls us for. It says what to do if the host's input cannot be read. */
  event: string | null
  /** The file that lists the folders in which agents are supervised. Null: all. */
  folders: string | null
  limitMs: number
}

export interface HookSurroundings {
  stdin: AsyncIterable<Uint8Array | string>
  env: Environment
  cwd: string
  clock: Clock
}

export interface HookResult {
  stdout: string
  stderr: string
  exitCode: number
}

/** A file of 5 MB as JSON may need this much. */
const LARGEST_INPUT = 32 * 1024 * 1024
/** Hosts do not wait long for a hook that only tells something: Codex allows 3 s at the end of a session. */
const NOTICE_MS = 2_000
/** Exit code that every host reads as "refused". For an event that is not a question it means other things, so it is never used there. */
export const REFUSED = 2

/** Never rejects. */
export async function runHook(options: HookOptions, io: HookSurroundings): Promise<HookResult> {
  let event = options.event
  try {
    const body = await readInput(io.stdin)
    const input = parseInput(body)
    event = textOf(input.hook_event_name) || event
    const folder = projectFolder(options.host, input, io)
    const spawned = connectionInEnvironment(io.env)
    const connection = spawned ?? connectionOf(options.host, folder, io.env)
    if (connection === null && options.folders !== null && !isListed(folder, options.folders)) return silent
    if (connection === null) {
      throw new Error(`this folder is not connected. Run: quarterdeck connect ${options.host} --workspace ${folder}`)
    }
    const isQuestion = isPermissionEvent(event ?? '')
    const limitMs = isQuestion ? options.limitMs : NOTICE_MS
    const asked = await askServer({ ...connection, host: options.host, body, limitMs }, io.clock)
    if ('failure' in asked) throw new Error(asked.failure)
    const answer = readHookAnswer(asked.answer, options.host)
    if (answer === null || (answer.behavior === 'noted') === isQuestion) {
      throw new Error('what answered is not a Quarterdeck of this version')
    }
    const isEmpty = Object.keys(answer.output).length === 0
    return { ...silent, stdout: isEmpty ? '' : `${JSON.stringify(answer.output)}\n` }
  } catch (error) {
    return failed(options.host, event, error)
  }
}

const silent: HookResult = { stdout: '', stderr: '', exitCode: 0 }

/** Where we do not know what the host asks, it is a question. Null: nor which host it is. */
export function failed(host: HostName | null, event: string | null, error: unknown): HookResult {
  const why = error instanceof Error ? error.message : String(error)
  if (event !== null && !isPermissionEvent(event)) return { ...silent, stderr: `quarterdeck: ${why}\n` }
  const message =
    `Quarterdeck could not be asked about this call, so it is refused: ${why}. ` +
    'Nothing was done. Tell the user; do not try to get around it.'
  if (host === null || event === null) return { stdout: '', stderr: `${message}\n`, exitCode: REFUSED }
  const stdout = `${JSON.stringify(encodeDenial(host, event, message))}\n`
  return { stdout, stderr: `${message}\n`, exitCode: hosts[host].hook.denialExitCode }
}

async function readInput(stdin: HookSurroundings['stdin']): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > LARGEST_INPUT) throw new Error('the input of the tool is too large to be shown to a person')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString()
}

function parseInput(text: string): Record<string, unknown> {
  const value = jsonIn(text)
  if (isRecord(value)) return value
  throw new Error(value === undefined ? 'the host did not send JSON' : 'the host did not send a JSON object')
}

/**
 * The project that the host was started for. The agent can change its current folder, but not this variable. That of another host
 * says nothing: one host may have been started inside the other.
 */
function projectFolder(host: HostName, input: Record<string, unknown>, { env, cwd }: HookSurroundings): string {
  const { projectVariable } = hosts[host].hook
  const named = projectVariable === null ? '' : textOf(env[projectVariable])
  return realpathSync(named || textOf(input.cwd) || cwd)
}

type Connection = Pick<HookQuestion, 'url' | 'token'>

/** An agent that Quarterdeck itself started has its connection in the environment. */
function connectionInEnvironment(env: Environment): Connection | null {
  const [url, token] = [textOf(env.QUARTERDECK_MCP_URL), textOf(env.QUARTERDECK_AGENT_TOKEN)]
  return url === '' || token === '' ? null : { url: () => url.replace(/\/mcp\/?(\?.*)?$/, ''), token }
}

function connectionOf(host: HostName, folder: string, env: Environment): Connection | null {
  const configDir = findConfigDir(env, process.platform)
  const connection = createAgentConnections(configDir, host).find(folder)
  return connection === null ? null : { token: connection.token, url: () => currentUrl(connection, configDir) }
}

/** Throws if there is no list: then nobody knows where agents may go unasked. */
function isListed(folder: string, path: string): boolean {
  const folders = readConnectedFolders(path)
  if (folders === null) throw new Error(`${path} is missing. Run quarterdeck connect again`)
  return folders.some((one) => isInside(folder, one))
}

function isInside(folder: string, workspace: string): boolean {
  try {
    return isWithin(folder, realpathSync(workspace))
  } catch {
    // The workspace is gone, so nothing can be in it.
    return isWithin(folder, workspace)
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
