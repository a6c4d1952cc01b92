// The kinds of records: what the filter of the inbox calls them, and how one is read. Everything else about a record is in its view.

import type { Client, InboxItem, RecordView } from 'quarterdeck/client'
import { personKinds, recordKinds } from '../../../../src/domain/records/record-kinds.ts'

export type RecordKind = InboxItem['kind']

export const kindsOfRecords = personKinds.map((kind) => recordKinds[kind].wire)

export const readRecord = (
  client: Client,
  kind: RecordKind,
  id: string,
  options: { signal: AbortSignal },
): Promise<{ view: RecordView }> =>
  kind === 'approval' ? client.approval(id, options) : client.records.get(kind, id, options)
