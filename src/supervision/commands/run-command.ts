import type { Readable } from 'node:stream'
import type { Clock } from '../../domain/clock.ts'
import { childEnvironment } from '../../tools/process/child-environment.ts'
import type { ProcessEnd, ProcessGroups } from '../../tools/process/process-groups.ts'
import { safeSearchPath } from './find-program.ts'
import type { RegistryCommand } from './resolve-commands.ts'

export interface CommandRun {
  command: RegistryCommand
  /** The workspace. */
  cwd: string
  /** The whole environment; see `commandEnvironment`. */
  environment: Readonly<Record<string, string>>
}

interface RunDeps {
  clock: Clock
  processes: ProcessGroups
  /** Gets the output that is kept, as it comes, in pieces of at most 8,192 characters. */
  onOutput(piece: OutputPiece): void
  signal: AbortSignal
}

export interface OutputPiece {
  stream: 'stdout' | 'stderr'
  text: string
}

export interface CommandResult {
  /** `exit`: by itself; a signal from elsewhere counts as that too. `not_started`: `problem` says why. */
  ended: 'exit' | 'timeout' | 'stopped' | 'not_started'
  exitCode: number | null
  signal: string | null
  durationMs: number
  /** The first 64 KB of stdout and stderr, as they came. A last line says how much was left out. */
  output: string
  droppedBytes: number
  problem: string | null
}

export const COMMAND_MS = 60_000
export const OUTPUT_BYTES = 64 * 1024
const PIECE_CHARS = 8_192

/**
 * Runs a command exactly as it is configured, without a shell and without input. It may take 60 s; then it is ended with everything that
 * it has started. Never throws for what the command does.
 */
export async function runCommand(
  { command, cwd, environment }: CommandRun,
  { clock, processes, onOutput, signal }: RunDeps,
): Promise<CommandResult> {
  const began = clock.mono()
  const group = processes.start({
    command: command.program,
    args: command.argv.slice(1),
    env: environment,
    directory: cwd,
    patience: { inputClosedMs: 0 },
  })
  group.stdin.end()
  const kept = createKeptOutput(onOutput)
  const read = [kept.read('stdout', group.stdout), kept.read('stderr', group.stderr)]

  let stoppedBy: 'timeout' | 'stopped' | null = null
  const stop = (why: 'timeout' | 'stopped') => {
    stoppedBy ??= why
    void group.end()
  }
  const cancelLimit = clock.after(COMMAND_MS, () => stop('timeout'), true)
  const onAbort = () => stop('stopped')
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const end = await group.gone
  cancelLimit()
  signal.removeEventListener('abort', onAbort)
  await Promise.all(read)
  const { output, droppedBytes } = kept.finish()
  return { ...outcomeOf(end, stoppedBy, command), durationMs: Math.round(clock.mono() - began), output, droppedBytes }
}

/** What a command gets of our environment: nothing that is ours or secret, and no program from a workspace by its bare name. */
export function commandEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  workspaces: readonly string[],
): Record<string, string> {
  const theirs = childEnvironment(ours, platform)
  for (const [name, value] of Object.entries(theirs)) {
    if (/^path$/i.test(name)) theirs[name] = safeSearchPath(value, workspaces)
  }
  // Nobody is at a terminal, and the output goes to places where colours are noise.
  return { ...theirs, TERM: 'dumb', NO_COLOR: '1' }
}

function outcomeOf(
  end: ProcessEnd,
  stoppedBy: 'timeout' | 'stopped' | null,
  { program }: RegistryCommand,
): Pick<CommandResult, 'ended' | 'exitCode' | 'signal' | 'problem'> {
  if (end.kind === 'not-started') {
    const problem = `${program} could not be started (${end.code}).`
    return { ended: 'not_started', exitCode: null, signal: null, problem }
  }
  return {
    ended: stoppedBy ?? 'exit',
    exitCode: end.kind === 'exit' ? end.code : null,
    signal: end.kind === 'signal' ? end.signal : null,
    problem: stoppedBy === 'timeout' ? `It took longer than ${COMMAND_MS / 1000} s and was ended.` : null,
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** Keeps the first bytes of both streams together and counts the rest. Everything is read, so that the command never blocks. */
function createKeptOutput(onOutput: (piece: OutputPiece) => void) {
  let left = OUTPUT_BYTES
  let droppedBytes = 0
  let output = ''

  function keep(stream: OutputPiece['stream'], text: string): void {
    if (text === '') return
    output += text
    for (let at = 0; at < text.length; ) {
      // Never between the two halves of a character.
      const end = at + PIECE_CHARS
      const to = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end
      onOutput({ stream, text: text.slice(at, to) })
      at = to
    }
  }

  async function read(stream: OutputPiece['stream'], from: Readable): Promise<void> {
    const decoder = new TextDecoder()
    const onData = (chunk: Buffer): void => {
      const part = chunk.subarray(0, left)
      left -= part.length
      droppedBytes += chunk.length - part.length
      keep(stream, decoder.decode(part, { stream: true }))
    }
    from.on('data', onData)
    await new Promise<void>((resolve) => from.once('close', resolve))
    // What is left is half a character. If it was cut by the limit, it is not part of the output.
    if (droppedBytes === 0) keep(stream, decoder.decode())
  }

  return {
    read,
    finish(): Pick<CommandResult, 'output' | 'droppedBytes'> {
      if (droppedBytes === 0) return { output, droppedBytes }
      const line = `[${droppedBytes} more bytes of output were not kept]`
      return { output: `${output}${output.endsWith('\n') ? '' : '\n'}${line}\n`, droppedBytes }
    },
  }
}
