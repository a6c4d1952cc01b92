/** A failure of a command that the person can mend: what is wrong, and lines that say what to do about it. */
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
