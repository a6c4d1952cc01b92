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
