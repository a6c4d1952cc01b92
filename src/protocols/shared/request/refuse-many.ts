import { ServerError } from '../../../domain/errors.ts'

/** Each costs the store a few statements, one behind the other. */
const MAX_NEW = 2_048

/** Throws `body_too_large` for more new messages than a request may bring. What the server knows already does not count. */
export function refuseMany(count: number): void {
  if (count <= MAX_NEW) return
  throw new ServerError(
    'body_too_large',
    `The request brings ${count.toLocaleString('en')} new messages, and ${MAX_NEW.toLocaleString('en')} are possible. Send what is new, in several requests.`,
    { details: { max_messages: MAX_NEW } },
  )
}
