import { ServerError } from '../../domain/errors.ts'

/** The longest text that an operator sends an agent. */
export const MOST_INSTRUCTION_CHARS = 4_000
export const MOST_TITLE_CHARS = 200
export const MOST_NAME_CHARS = 128

/** Throws `invalid_request` for a text that is blank or too long. Each way to a session ends here, also those that have no schema. */
export function checkText(text: string, what = 'text', most = MOST_INSTRUCTION_CHARS): void {
  if (text.trim() === '' || [...text].length > most) {
    throw new ServerError('invalid_request', `Send a ${what} of 1 to ${most} characters.`)
  }
}

const MOST_REASON_CHARS = 2_000

/** Throws `invalid_request` for a reason that is too long. */
export function checkReason(reason: string | undefined): void {
  if (reason === undefined || [...reason].length <= MOST_REASON_CHARS) return
  throw new ServerError('invalid_request', `Send a reason of at most ${MOST_REASON_CHARS} characters.`)
}
