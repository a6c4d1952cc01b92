import { exitCodes } from './exit-codes.ts'

/** A failure that the person can fix: `message` says what is wrong, the lines of `mend` say what to do. */
export class CliError extends Error {
  readonly exitCode: number
  readonly mend: readonly string[]

  constructor(exitCode: number, message: string, mend: readonly string[] = []) {
    super(message)
    this.name = 'CliError'
    this.exitCode = exitCode
    this.mend = mend
  }
}

const errorFor =
  ({ code }: { code: number }) =>
  (message: string, mend?: readonly string[]): CliError =>
    new CliError(code, message, mend)

/** A wrong flag, argument, setting or file. */
export const usageError = errorFor(exitCodes.usage)
/** It was tried, and it did not work. */
export const failure = errorFor(exitCodes.failed)
/** No server can be reached. */
export const unavailable = errorFor(exitCodes.unavailable)
/** A file or folder cannot be used. */
export const cannotCreate = errorFor(exitCodes.cannotCreate)
