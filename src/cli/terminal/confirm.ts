import { failure } from '../cli-error.ts'
import type { Io } from './io.ts'
import { createTerminalPrompt } from './terminal-prompt.ts'

export const hasTerminal = (io: Io): boolean => io.stdin.isTTY === true && io.stdout.isTTY === true

/** Stands behind every question that is answered with yes or no. */
export const YES_NO = ' [y/N] '

/**
 * Whether a person says yes: y or yes. Everything else is no. The question is short plain text; what it is about is printed before, because
 * the line editor would not break it as the terminal does.
 */
export async function saysYes(question: string, io: Io): Promise<boolean> {
  const asked = await createTerminalPrompt(io, `${question}${YES_NO}`).ask()
  return asked.type === 'line' && /^y(es)?$/i.test(asked.line.trim())
}

/** The same for commands that do nothing else. A no throws `CliError` with what that means; usually nothing has happened then. */
export async function confirm(
  question: string,
  io: Io,
  otherwise = 'Left as it is. Nothing has changed.',
): Promise<void> {
  if (!(await saysYes(question, io))) throw failure(otherwise)
}
