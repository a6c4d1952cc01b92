// The kinds of records: what the filter of the inbox calls them, and how one is read. Everything else about a record is in its view.

import type { Client, InboxItem, RecordView } from 'quarterdeck/client'

export type RecordKind = InboxItem['kind']

interface KindOfRecord {
  name: string
  read(client: Client, id: string, options: { signal: AbortSignal }): Promise<{ view: RecordView }>
}

export const recordKinds: Readonly<Record<RecordKind, KindOfRecord>> = {
  approval: { name: 'Approvals', read: (client, id, options) => client.approval(id, options) },
  prompt: { name: 'Questions', read: (client, id, options) => client.prompts.get(id, options) },
  wait: { name: 'Standing by', read: (client, id, options) => client.waits.get(id, options) },
  alert: { name: 'Silent agents', read: (client, id, options) => client.alerts.get(id, options) },
}

export const kindsOfRecords = Object.keys(recordKinds) as RecordKind[]
