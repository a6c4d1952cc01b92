// What a person chooses for each file of a change set.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'

/** What a person may say with their yes. Empty: everything as it is. */
export interface ChangeChoices {
  /** Files that stay as they are in the private copy, for later. */
  leave: readonly string[]
  /** Files whose changes are thrown away. */
  discard: readonly string[]
  /** By path: the whole new text. */
  edit: Readonly<Record<string, string>>
}

export const noChoices: ChangeChoices = { leave: [], discard: [], edit: {} }

/** Throws `invalid_request`. */
export function readChoices(given: Record<string, unknown>): ChangeChoices {
  const { leave = [], discard = [], edit = {}, ...other } = given
  const isList = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((one) => typeof one === 'string')
  const isTexts = (value: unknown): value is Record<string, string> =>
    isRecord(value) && Object.values(value).every((one) => typeof one === 'string')
  if (Object.keys(other).length > 0 || !isList(leave) || !isList(discard) || !isTexts(edit)) {
    throw new ServerError(
      'invalid_request',
      'Send `leave` and `discard` as lists of paths, and `edit` as an object with the whole new text of each path.',
      { problems: [{ pointer: '/arguments', detail: 'Only leave, discard and edit.' }] },
    )
  }
  return { leave, discard, edit }
}
