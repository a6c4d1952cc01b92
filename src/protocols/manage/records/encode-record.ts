import type { PersonRecord, RecordOf } from '../../../domain/records/record.ts'
import type { PersonKind } from '../../../domain/records/record-kinds.ts'
import { approvalView } from '../approvals/encode.ts'
import { alertView, promptView, standbyView } from '../supervision/encode.ts'
import type { SchemaOf } from './record-schemas.ts'

interface Look {
  /** For a page that shows what it gets, so it gets no secrets. */
  isMasked?: boolean
}

const views: { [Kind in PersonKind]: (record: RecordOf<Kind>, look: Look) => SchemaOf<Kind>['_output'] } = {
  approval: approvalView,
  prompt: promptView,
  standby: standbyView,
  alert: alertView,
}

export function encodeRecord<Kind extends PersonKind>(record: PersonRecord & { wait: Kind }, look: Look = {}) {
  const view = views[record.wait] as (one: PersonRecord, look: Look) => SchemaOf<Kind>['_output']
  return view(record, look)
}
