/** A tool's function throws it to tell the model what went wrong. Of any other error, the model learns only that there was one. */
export class ToolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ToolError'
  }
}

/** Compares the name, because the tool's module may have its own copy of the class. */
export const isToolError = (error: unknown): error is Error => error instanceof Error && error.name === 'ToolError'
