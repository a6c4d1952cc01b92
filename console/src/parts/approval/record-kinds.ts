// The kinds of records: what the filter of the inbox calls them, and how one is read. Everything else about a record is in its view.

import type { Client, InboxItem, RecordView } from 'quarterdeck/client'
import { wireNames } from '../../../../src/domain/records/wire-names.ts'

export type RecordKind = InboxItem['kind']

export const kindsOfRecords = Object.values(wireNames)

export const readRecord = (
  client: Client,
  kind: RecordKind,
  id: string,
  options: { signal: AbortSignal },
): Promise<{ view: RecordView }> =>
  kind === 'approval' ? client.approval(id, options) : client.records.get(kind, id, options)
