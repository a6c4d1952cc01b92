// Ids in OpenAI's spelling. They hold ours, so that what a client sends back leads to its run without a table of our own.

import { parseUuid } from '../../domain/ids.ts'

export const completionId = (runId: string): string => `chatcmpl-${hexOf(runId)}`

export const responseId = (runId: string): string => `resp_${hexOf(runId)}`

/** The run behind a response's id. A run's own id, from whichever door, is taken as it is. */
export function runIdOf(responseId: string): string {
  return uuidOf(/^resp_([0-9a-f]{32})$/.exec(responseId)?.[1]) ?? responseId
}

export interface ItemId {
  runId: string
  messageId: string
}

/** A client may name an item in place of repeating it (`item_reference`), so the id says where to find it. */
export const itemId = ({ runId, messageId }: ItemId): string => `msg_${hexOf(runId)}${hexOf(messageId)}`

/** Null when it is no id of ours. */
export function parseItemId(text: string): ItemId | null {
  const [, run, message] = /^msg_([0-9a-f]{32})([0-9a-f]{32})$/.exec(text) ?? []
  const runId = uuidOf(run)
  const messageId = uuidOf(message)
  return runId === null || messageId === null ? null : { runId, messageId }
}

/** Of a function call. Also this can be named in place of repeating it. */
export const callItemId = (clientCallId: string): string => `fc_${hexOf(clientCallId)}`

/** The client call behind it; null when it is no id of ours. */
export const parseCallItemId = (text: string): string | null => uuidOf(/^fc_([0-9a-f]{32})$/.exec(text)?.[1])

const hexOf = (uuid: string): string => uuid.replaceAll('-', '')

function uuidOf(hex: string | undefined): string | null {
  return parseUuid((hex ?? '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
}
