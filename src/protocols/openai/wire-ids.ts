// Ids in OpenAI's form. They contain our ids, so that an id from a client leads to its run without a table.

import { parseUuid } from '../../domain/ids.ts'

export const completionId = (runId: string): string => `chatcmpl-${hexOf(runId)}`

export const responseId = (runId: string): string => `resp_${hexOf(runId)}`

/** The run of a response id. The id of a run, from any protocol, is accepted too. */
export function runIdOf(responseId: string): string {
  return uuidOf(/^resp_([0-9a-f]{32})$/.exec(responseId)?.[1]) ?? responseId
}

interface ItemId {
  runId: string
  messageId: string
}

/** A client may refer to an item instead of repeating it (`item_reference`), so the id says where to find it. */
export const itemId = ({ runId, messageId }: ItemId): string => `msg_${hexOf(runId)}${hexOf(messageId)}`

/** Null if it is not one of our ids. */
export function parseItemId(text: string): ItemId | null {
  const [, run, message] = /^msg_([0-9a-f]{32})([0-9a-f]{32})$/.exec(text) ?? []
  const runId = uuidOf(run)
  const messageId = uuidOf(message)
  return runId === null || messageId === null ? null : { runId, messageId }
}

/** The id of a function call. A client may refer to it too. */
export const callItemId = (clientCallId: string): string => `fc_${hexOf(clientCallId)}`

/** The client call of this id; null if it is not one of our ids. */
export const parseCallItemId = (text: string): string | null => uuidOf(/^fc_([0-9a-f]{32})$/.exec(text)?.[1])

const hexOf = (uuid: string): string => uuid.replaceAll('-', '')

function uuidOf(hex: string | undefined): string | null {
  return parseUuid((hex ?? '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
}
