// `quarterdeck hook` as a process. The launcher starts it directly: loading the whole program would take three times as long, before
// every single tool call of a host.

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createSystemClock } from '../../../domain/clock.ts'
import { hostNames, isHostName } from '../../../hosts/hosts.ts'
import { isPermissionEvent } from '../../../protocols/hooks/decode.ts'
import { failed, type HookOptions, type HookResult, REFUSED, runHook } from './run-hook.ts'

/** Hosts that set no limit of their own end a hook after a minute. */
export const USUAL_LIMIT_SECONDS = 50
const LOOK_MS = 1_000

/** Throws an error that says what is wrong. */
export function readHookOptions(args: readonly string[]): HookOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { folders: { type: 'string' }, limit: { type: 'string' } },
  })
  const [name = '', event = null, ...more] = positionals
  if (!isHostName(name) || more.length > 0) throw new Error(`expected one of ${hostNames.join(', ')}, then an event`)
  const seconds = Number(values.limit ?? USUAL_LIMIT_SECONDS)
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400) {
    throw new Error(`--limit ${values.limit}: expected a number of seconds from 1 to 86400`)
  }
  const { folders = null } = values
  return { host: name, event, folders, limitMs: seconds * 1_000 }
}

export async function hookProcess(process: NodeJS.Process): Promise<void> {
  const args = process.argv.slice(3)
  // A crash must not let a call through either: every other exit code than this one does, in some host.
  const mayRefuse = !args.slice(1).some((arg) => /^[A-Z]\w+$/.test(arg) && !isPermissionEvent(arg))
  process.on('uncaughtException', (error) => {
    process.stderr.write(`quarterdeck: ${error.message}\n`)
    process.exit(mayRefuse ? REFUSED : 0)
  })
  leaveWithHost(process)
  const { stdout, stderr, exitCode } = await resultOf(args, process)
  try {
    // Both before the exit, which would throw away what a pipe still holds. Codex ignores a refusal without a text.
    await write(process.stderr, stderr)
    await write(process.stdout, stdout)
  } catch {
    process.exit(mayRefuse ? REFUSED : 0)
  }
  process.exit(exitCode)
}

/**
 * Hosts start a hook in a process group of its own, so a killed host leaves it behind, and the server would believe that somebody still
 * waits. The parent is the shell that the host started; on systems without /proc we see only whether the shell is gone.
 */
function leaveWithHost(process: NodeJS.Process): void {
  const parent = process.ppid
  const host = parentOf(parent)
  const timer = setInterval(() => {
    if (process.ppid !== parent || parentOf(parent) !== host) process.exit(REFUSED)
  }, LOOK_MS)
  timer.unref()
}

function parentOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes first, in parentheses, and may have any characters.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? null
  } catch {
    return null
  }
}

async function resultOf(args: readonly string[], process: NodeJS.Process): Promise<HookResult> {
  let options: HookOptions
  try {
    options = readHookOptions(args)
  } catch (error) {
    return failed(null, null, error)
  }
  const { stdin, env } = process
  return await runHook(options, { stdin, env, cwd: process.cwd(), clock: createSystemClock() })
}

const write = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    if (text === '') return resolve()
    stream.once('error', reject)
    stream.write(text, (error) => (error ? reject(error) : resolve()))
  })
