import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { createTerminalPrompt } from '../../terminal/terminal-prompt.ts'

export const hasTerminal = (io: Io): boolean => io.stdin.isTTY === true && io.stdout.isTTY === true

/** Asks the person to type a word. Anything else throws `CliError` with what that means; usually nothing has happened then. */
export async function confirm(
  question: string,
  word: string,
  io: Io,
  otherwise = 'Left as it is. Nothing has changed.',
): Promise<void> {
  const asked = await createTerminalPrompt(io, `${question} `).ask()
  const line = asked.type === 'line' ? asked.line.trim().toLowerCase() : ''
  if (line === word || (word === 'yes' && line === 'y')) return
  throw new CliError(exitCodes.failed.code, otherwise)
}
