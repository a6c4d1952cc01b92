/** A tool's function throws it to tell the model what went wrong. Of any other error, the model learns only that there was one. */
export class ToolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ToolError'
  }
}

/** `context.ask` throws it. If the function does not catch it, the model reads its text. */
export class AskError extends Error {
  /** `invalid`: the answer passed the JSON Schema, but not the checks that only the tool's own schema has. */
  readonly outcome: 'rejected' | 'expired' | 'invalid'

  constructor(outcome: AskError['outcome'], message: string) {
    super(message)
    this.name = 'AskError'
    this.outcome = outcome
  }
}

/** Compares the name, because the tool's module may have its own copy of the class. */
export const isToolError = (error: unknown): error is Error =>
  error instanceof Error && (error.name === 'ToolError' || error.name === 'AskError')
