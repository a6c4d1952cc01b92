// The kinds of records on the wire. Lists, pages, the inbox, the feed and the document are made of these.

import { z } from 'zod'
import type { PersonRecord } from '../../../domain/records/record.ts'
import { anyOf, type PersonKind, personKinds, recordKinds } from '../../../domain/records/record-kinds.ts'
import type { ProposedDiff } from '../../../supervision/approvals/read-diff.ts'
import { describe, describeInShort } from '../../../supervision/records/describe-record.ts'
import type { ReadScenes } from '../../../supervision/records/record-scenes.ts'
import type { RecordView as Words } from '../../../supervision/records/record-view.ts'
import { type KindOnWire, type Look, type Requests, withRequestsOf } from './kind-on-wire.ts'
import { alert } from './kinds/alert.ts'
import { approval } from './kinds/approval.ts'
import { prompt } from './kinds/prompt.ts'
import { standby } from './kinds/standby.ts'
import type { RecordView } from './schema.ts'

export const kindsOnWire = { approval, prompt, standby, alert } satisfies { [Kind in PersonKind]: KindOnWire<Kind> }

type Table = typeof kindsOnWire
export type SchemaOf<Kind extends PersonKind> = z.ZodObject<Table[Kind]['shape'], z.core.$strict>
export type WireOf<Kind extends PersonKind> = (typeof recordKinds)[Kind]['wire']

/** Without their words: where these stand, the words stand beside them. */
export const recordSchemas = Object.fromEntries(
  personKinds.map((kind) => {
    const name = recordKinds[kind].wire.kind
    const id = `${name.charAt(0).toUpperCase()}${name.slice(1)}Record`
    return [kind, z.strictObject(kindsOnWire[kind].shape).meta({ id })]
  }),
) as { [Kind in PersonKind]: SchemaOf<Kind> }

/** The requests that answer a record, for the document. */
export function answerRequests(kind: PersonKind): string {
  const { path } = recordKinds[kind].wire
  const [first = '', ...more] = kindsOnWire[kind].routes?.answers.map(({ at }) => at) ?? ['']
  return anyOf([`\`POST /${path}/{id}${first}\``, ...more.map((at) => `\`${at.slice(1)}\``)])
}

export function encodeRecord<Kind extends PersonKind>(record: PersonRecord & { wait: Kind }, look: Look = {}) {
  const encode: (one: never, look: Look) => object = kindsOnWire[record.wait].encode
  return encode(record as never, look) as SchemaOf<Kind>['_output']
}

export const withRequests = (record: PersonRecord, view: Words): RecordView =>
  withRequestsOf(record, view, kindsOnWire[record.wait].request as Requests<PersonKind>)

// Records in words for the wire, with the request that each answer is.

export function createRecordViews(readScenes: ReadScenes) {
  return {
    /** `found`: the diff behind it; null: it changes no file, or the diff is gone. */
    async one(record: PersonRecord, found?: Pick<ProposedDiff, 'shown' | 'files'> | null): Promise<RecordView> {
      const sceneOf = await readScenes([record])
      const files = found == null || found.files.length === 0 ? {} : { files: found.files }
      const diff = found === undefined ? {} : { diff: found?.shown ?? null, ...files }
      return withRequests(record, describe(record, { ...sceneOf(record), ...diff }))
    },
    /** Of any of these records. Without what is behind a question: a list would be too long. */
    async many(records: readonly PersonRecord[]): Promise<(record: PersonRecord) => RecordView> {
      const sceneOf = await readScenes(records)
      return (record) => withRequests(record, describeInShort(record, sceneOf(record)))
    },
  }
}
