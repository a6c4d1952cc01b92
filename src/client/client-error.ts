import type { ErrorCode } from '../domain/errors.ts'

/**
 * The server's codes, and what only a client can notice: nobody answers (`unreachable`), what answers is no Quarterdeck
 * (`unexpected_answer`), the answer has to wait for a person (`waiting`). Newer servers may know more.
 */
export type ClientErrorCode = ErrorCode | 'unreachable' | 'unexpected_answer' | 'waiting' | (string & {})

/** RFC 9457, as the server sends it. Facts that belong to the code stand beside these members. */
export interface Problem {
  type?: string
  title?: string
  status?: number
  detail?: string
  instance?: string
  code?: string
  correlation_id?: string
  /** What is wrong with the input, and where (JSON pointers). */
  errors?: { pointer: string; detail: string }[]
  [fact: string]: unknown
}

/** All that a client throws, except the reason of an abort. */
export class ClientError extends Error {
  readonly code: ClientErrorCode
  /** The HTTP status; inside a stream, the one that the failure would have had. Null when nobody answered. */
  readonly status: number | null
  /** What the server said, where it said something. */
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

/** The error in a refusal. Its body may come from a proxy and be anything. */
export async function errorOfResponse(response: Response): Promise<ClientError> {
  const { status } = response
  const text = await response.text().catch(() => '')
  const problem = jsonObject(text)
  if (typeof problem?.code === 'string') return errorOfProblem(problem, status)
  return new ClientError(
    'unexpected_answer',
    `${response.url || 'The server'} answered ${status} and no problem of Quarterdeck's. Check the address.`,
    { status },
  )
}

/** The object that a text is in JSON, or null. */
export function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}
