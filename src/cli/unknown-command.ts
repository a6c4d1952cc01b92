import type { Command } from 'commander'
import { didYouMean } from '../domain/text/did-you-mean.ts'

/** What commander says about a wrong word, for a place where it would not: below a command that does something itself. */
export function unknownCommand(parent: Command, word: string): never {
  const near = didYouMean(
    word,
    parent.commands.map((command) => command.name()),
  )
  const hint = near === null ? '' : `\n(Did you mean ${near}?)`
  return parent.error(`error: unknown command '${word}'${hint}`)
}
