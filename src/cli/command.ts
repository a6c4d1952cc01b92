// What all commands share.

import type { Command } from 'commander'
import { didYouMean } from '../domain/text/did-you-mean.ts'
import type { StartApp } from './commands/serve/start-app.ts'
import type { Io } from './terminal/io.ts'

export interface CommandContext {
  version: string
  startApp: StartApp
  io: Io
  /** Sets the exit code of a command that does not end with 0. */
  settle: (exitCode: number) => void
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
