import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'

/** Why a `fetch` got no answer, in a word: its own message only says that it failed. */
export function fetchProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message
  return error.message
}

export const noServerAt = (base: string, error: unknown): CliError =>
  new CliError(exitCodes.unavailable.code, `No server answers at ${base} (${fetchProblem(error)}).`, [
    'Start one: quarterdeck serve',
  ])
