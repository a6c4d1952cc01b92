// What all commands share.

import type { Command } from 'commander'
import { secondsOf } from '../config/source/schema-key.ts'
import { didYouMean } from '../domain/text/did-you-mean.ts'
import { usageError } from './cli-error.ts'
import type { StartApp } from './commands/serve/start-app.ts'
import type { Io } from './terminal/io.ts'

export interface CommandContext {
  version: string
  startApp: StartApp
  io: Io
  /** Sets the exit code of a command that does not end with 0. */
  settle: (exitCode: number) => void
}

/** Of commands that check something. */
export interface CheckFlags {
  config?: string
  json?: boolean
}

/** What commander says about a wrong word, for a place where it would not: below a command that does something itself. */
export function unknownCommand(parent: Command, word: string): never {
  const near = didYouMean(
    word,
    parent.commands.map((command) => command.name()),
  )
  const hint = near === null ? '' : `\n(Did you mean ${near}?)`
  return parent.error(`error: unknown command '${word}'${hint}`)
}

/** The end of a command's help. Each line follows the name of the program. */
export const examples = (...lines: string[]): string =>
  ['\nExamples:', ...lines.map((line) => `  $ quarterdeck ${line}`)].join('\n')

/** The number of a flag such as `--limit`. Throws `CliError`. */
export function countFlag(flag: string, text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1) return count
  throw usageError(`${flag} ${JSON.stringify(text)}: expected a whole number of at least 1.`)
}

/** The time that lies so long ago as a flag such as `--since` says: 12h, 30d. Throws `CliError`. */
export function timeAgo(flag: string, age: string, advice: string, now: number): number {
  const seconds = secondsOf(age)
  if (seconds > 0) return now - seconds * 1000
  throw usageError(`${flag} ${JSON.stringify(age)} is not an age.`, [advice])
}
