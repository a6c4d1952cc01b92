// A record in words, once for all surfaces.

import { isoTime } from '../../domain/clock.ts'
import {
  actionNamesOf,
  isWaiting,
  NOBODY_WAITS,
  nobodyWaitsSince,
  type PersonRecord,
  type RecordOf,
} from '../../domain/records/record.ts'
import { type PersonKind, recordKinds } from '../../domain/records/record-kinds.ts'
import { urgencyOf } from '../inbox/urgency.ts'
import { alert } from './kinds/alert.ts'
import { approval, toolWords } from './kinds/approval.ts'
import { changesView, MOST_IN_LIST } from './kinds/changes.ts'
import { isPerson, type KindWords } from './kinds/kind-words.ts'
import { prompt } from './kinds/prompt.ts'
import { standby } from './kinds/standby.ts'
import type { RecordAction, RecordOutcome, RecordScene, RecordView } from './record-view.ts'
import { fact, timeOf } from './record-words.ts'

const kinds: { [Kind in PersonKind]: KindWords<RecordOf<Kind>> } = { approval, prompt, standby, alert }

const wordsOf = (record: PersonRecord): KindWords<PersonRecord> => kinds[record.wait] as KindWords<PersonRecord>

/** What a record says by itself. */
const NO_SCENE: RecordScene = { folder: null, title: null, prompt: null }

export const describe = (record: PersonRecord, scene = NO_SCENE): RecordView => ({
  ...describeInShort(record, scene),
  ...(record.wait === 'approval' ? changesView(record, Number.POSITIVE_INFINITY) : {}),
  body: wordsOf(record).body(record, scene),
})

/** For a list, in which nobody looks at what is behind a question. */
export function describeInShort(record: PersonRecord, scene = NO_SCENE): RecordView {
  const { warnings = [], facts, remember = null, ...kind } = wordsOf(record).view(record, scene)
  const leftAt = nobodyWaitsSince(record)
  return {
    id: record.id,
    kind: recordKinds[record.wait].wire.kind,
    agent: agentOf(record),
    folder: scene.folder,
    session: { id: record.sessionId, title: scene.title },
    owner: record.owner,
    ...kind,
    ...(record.wait === 'approval' ? changesView(record, MOST_IN_LIST) : {}),
    body: [],
    context: {
      request: scene.prompt,
      said: null,
      tool: record.wait === 'approval' ? toolWords(record) : null,
      before: null,
      still_since: isoTime(urgencyOf(record).stillSince),
      ...scene.context,
    },
    remember,
    group: scene.group ?? null,
    warnings: [...warnings, ...(leftAt === null ? [] : [NOBODY_WAITS])],
    facts: [...facts, ...(leftAt === null ? [] : [fact('The caller left', '', { at: leftAt })])],
    actions: isWaiting(record) ? actionsOf(record) : [],
    outcome: outcomeOf(record),
    asked_at: isoTime(record.createdAt),
    expires_at: timeOf(record.expiresAt),
  }
}

/** An agent that we host has a name of its own. Of the others only the program is known. */
const agentOf = (record: PersonRecord): string =>
  record.wait === 'approval' && record.supervised?.run === true
    ? record.agent
    : (record.supervised?.host ?? record.agent)

/** What can be answered to a record of this kind, also if it is over. */
export function actionsOf(record: PersonRecord): RecordAction[] {
  const words = wordsOf(record).actions(record)
  return actionNamesOf(record).flatMap((name) => words[name] ?? [])
}

/** It is over and no person has ended it: the time did, a restart, or the agent itself. Somebody may still think that it waits. */
export const endedAlone = (record: PersonRecord): boolean =>
  !isPerson(record.decidedBy) && record.decidedBy !== 'policy' && wordsOf(record).endedAlone(record)

/** Null: it still wants something of a person. */
function outcomeOf(record: PersonRecord): RecordOutcome | null {
  const verdict = wordsOf(record).verdict(record)
  if (verdict === null) return null
  const { decidedBy, decidedAt, decidedVia } = record
  const isByPerson = isPerson(decidedBy)
  return {
    word: verdict.word,
    tone: verdict.tone,
    by: isByPerson ? decidedBy : decidedBy === 'policy' ? 'the workspace’s policy' : null,
    at: timeOf(decidedAt),
    via: isByPerson && decidedVia !== null ? wayOf(decidedVia) : null,
    reason: reasonOf(record),
    more: verdict.more ?? '',
    words: verdict.words ?? null,
    facts: verdict.facts ?? [],
  }
}

const WAYS: Readonly<Record<string, string>> = {
  slack: 'in Slack',
  http: 'over HTTP',
  ctl: 'at a terminal',
  console: 'in the console',
  'ag-ui': 'in the chat',
  grant: 'in advance',
}

/** A channel with several rooms names the room after a colon. */
const wayOf = (via: string): string => WAYS[via.split(':', 1)[0] ?? ''] ?? `through ${via}`

/** A prompt that nobody answered has the reason `timeout`, which `more` says in words. */
const reasonOf = ({ reason, decidedBy }: PersonRecord): string | null =>
  reason === '' || (decidedBy === 'timeout' && reason === 'timeout') ? null : reason
