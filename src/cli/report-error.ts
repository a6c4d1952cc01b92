import { ConfigError, formatIssue } from '../config/config-error.ts'
import { isErrorCode, ServerError } from '../domain/errors.ts'
import { spelled } from '../domain/settings/program-words.ts'
import { CliError } from './cli-error.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'
import { styleFor } from './terminal/style.ts'

/** Reports the error on stderr, in one block and without a stack. Returns the exit code. */
export function reportError(error: unknown, io: Io): number {
  const { exitCode, message, mend } = explain(error)
  const style = styleFor(io.stderr, io.env)
  const debug = io.env.QUARTERDECK_DEBUG && error instanceof Error && error.stack ? [error.stack] : []
  const said = spelled([message, ...mend.map((line) => `  ${line}`)].join('\n'), io.program())
  io.stderr.write(`${[`${style.red('quarterdeck:')} ${said}`, ...debug].join('\n')}\n`)
  return exitCode
}

type Explanation = Pick<CliError, 'exitCode' | 'message' | 'mend'>

function explain(error: unknown): Explanation {
  if (error instanceof CliError) return error
  if (error instanceof ConfigError && error.issues.length > 1) {
    const message = `The configuration has ${error.issues.length} problems:`
    return { exitCode: exitCodeOf(error.code), message, mend: error.issues.map(formatIssue) }
  }
  if (error instanceof ServerError) {
    const problems = error.problems.map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer}: ${detail}`))
    const mend = [...problems, ...reasonOf(error), ...(error instanceof ConfigError ? [] : moreAbout(error.code))]
    return { exitCode: exitCodeOf(error.code), message: error.message, mend }
  }
  const system = systemFailure(error)
  if (system !== null) return system
  return {
    exitCode: exitCodes.internal.code,
    message: `internal error: ${error instanceof Error ? error.message : String(error)}`,
    mend: ['This is a bug in Quarterdeck. Please report it, with the output of QUARTERDECK_DEBUG=1.'],
  }
}

/** Where to read more about an error, unless its code only repeats that something is wrong. */
export const moreAbout = (code: string): string[] =>
  isErrorCode(code) && code !== 'config_invalid' && code !== 'invalid_request'
    ? [`More: quarterdeck explain ${code}`]
    : []

/** What the database or the network said. Clients must not read it; whoever runs the server has to. */
export function reasonOf({ code, cause }: ServerError): string[] {
  if (code !== 'storage_failed' || !(cause instanceof Error)) return []
  // Node tries all addresses of a host, and has a reason for each.
  const [first] =
    cause instanceof AggregateError
      ? cause.errors
      : [cause.cause instanceof AggregateError ? cause.cause.errors[0] : cause]
  return first instanceof Error && first.message !== '' ? [`The reason: ${first.message}`] : []
}

/** The operating system refused something. That is not a bug of ours, and its message names the path. */
function systemFailure(error: unknown): Explanation | null {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return null
  const disk = error.code === 'ENOSPC' || error.code === 'EIO' || error.code === 'EDQUOT'
  const { code: exitCode } = disk ? exitCodes.disk : 'path' in error ? exitCodes.cannotCreate : exitCodes.failed
  return { exitCode, message: error.message, mend: [] }
}
