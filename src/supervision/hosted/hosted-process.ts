// The program of a hosted agent, as a process of ours.

import type { Readable, Writable } from 'node:stream'
import type { ProcessGroups } from '../../tools/process/process-groups.ts'
import { codeOf, createLastWords, readLines, withoutSecrets } from '../spawn/host-output.ts'

export interface HostedProcess {
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  /** Resolves when it is gone, with how it ended and its last words. Never rejects. */
  how(): Promise<string>
  /** Without the secrets that it was given: programs put them into their errors. */
  clean(text: string): string
  /** What it wrote to stderr last, as people see it. */
  lastWords(): string | null
  /** Asks it and everything it has started to end, and kills what is left. */
  end(): Promise<void>
}

export interface HostedCommand {
  command: readonly [program: string, ...args: string[]]
  env: Readonly<Record<string, string>>
  directory: string
  /** Never in what is kept of its output. */
  secrets: readonly string[]
}

export function startHostedProcess(
  { command: [program, ...args], env, directory, secrets }: HostedCommand,
  processes: ProcessGroups,
): HostedProcess {
  const group = processes.start({
    command: program,
    args,
    env,
    directory,
    patience: { inputClosedMs: 500, termMs: 3_000 },
  })
  const lastWords = createLastWords()
  const read = readLines(group.stderr, secrets, async (lines) => {
    for (const line of lines) lastWords.add(line)
  })
  return {
    pid: group.pid,
    stdin: group.stdin,
    stdout: group.stdout,
    clean: (text) => withoutSecrets(text, secrets),
    lastWords: lastWords.text,
    async how() {
      const end = await group.gone
      await read
      const words = lastWords.text()
      return words === null ? codeOf(end) : `${codeOf(end)}; its last words: ${words}`
    },
    end: group.end,
  }
}
