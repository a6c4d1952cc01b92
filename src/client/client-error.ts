import type { ErrorCode } from '../domain/errors.ts'

/**
 * The server's codes, and codes of the client: nothing answers (`unreachable`), the answer does not come from a Quarterdeck server
 * (`unexpected_answer`), the run waits for a person (`waiting`). Newer servers may have more codes.
 */
export type ClientErrorCode = ErrorCode | 'unreachable' | 'unexpected_answer' | 'waiting' | (string & {})

/** A problem of RFC 9457, as the server sends it. It has further members that depend on the code. */
export interface Problem {
  type?: string
  title?: string
  status?: number
  detail?: string
  instance?: string
  code?: string
  correlation_id?: string
  /** Errors in the input, with JSON pointers. */
  errors?: { pointer: string; detail: string }[]
  [fact: string]: unknown
}

/** The only error that a client throws, except for the reason of an abort. */
export class ClientError extends Error {
  readonly code: ClientErrorCode
  /** The HTTP status; inside a stream, the status that the error would have had. Null if there was no answer. */
  readonly status: number | null
  /** The server's answer, if there was one. */
  readonly problem: Problem | null

  constructor(
    code: ClientErrorCode,
    message: string,
    options: { status?: number | null; problem?: Problem | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ClientError'
    this.code = code
    this.status = options.status ?? null
    this.problem = options.problem ?? null
  }
}

export function errorOfProblem(problem: Problem, status: number | null = null): ClientError {
  const { code = 'unexpected_answer', detail, title } = problem
  const known = status ?? problem.status ?? null
  return new ClientError(code, detail ?? title ?? `The server answered ${known}.`, { status: known, problem })
}

/** The error in a response. The body may come from a proxy and contain anything. */
export async function errorOfResponse(response: Response): Promise<ClientError> {
  const { status } = response
  const text = await response.text().catch(() => '')
  const problem = jsonObject(text)
  if (typeof problem?.code === 'string') return errorOfProblem(problem, status)
  return new ClientError(
    'unexpected_answer',
    `${response.url || 'The server'} answered ${status}, and not like a Quarterdeck server. Check the address.`,
    { status, problem },
  )
}

/** The JSON object in a text, or null. */
export function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}
