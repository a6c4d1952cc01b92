// What people need beside a record to decide it, and what only other rows know: where the agent works, what its user asked for, what it
// said before it asked, and what was decided about the like before. A list of records costs a handful of reads, whatever its length.

import { dirname } from 'node:path'
import { type Clock, isoTime } from '../../domain/clock.ts'
import { type Approval, isSupervisedApproval, isWaiting, type PersonRecord } from '../../domain/records/record.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import { urgencyOf } from '../inbox/urgency.ts'
import { isEdited, isHostWork } from '../remember/offered.ts'
import { isPerson } from './kinds/kind-words.ts'
import type { RecordScene, RecordView } from './record-view.ts'
import { ago, objectIn, oneLine, times } from './record-words.ts'

/** The scene of any of these records. What is over needs less of it. */
export type ReadScenes = (records: readonly PersonRecord[]) => Promise<(record: PersonRecord) => RecordScene>

interface SceneDeps {
  store: Pick<Store, 'sessions' | 'messages' | 'waits'>
  clock: Pick<Clock, 'now'>
}

export function createReadScenes({ store, clock }: SceneDeps): ReadScenes {
  return async (records) => {
    const open = records.filter(isWaiting)
    const decided = await readAlike(store.waits, open.filter(isLikened))
    const decidedLike = Map.groupBy(decided, likeOf)
    const ids = new Set([...records, ...decided].map(({ sessionId }) => sessionId))
    const sessions = new Map((await store.sessions.overview([...ids])).map((one) => [one.id, one]))
    // One talks with hosted agents as with our own.
    const own = open.filter((one) => one.supervised === undefined || (one.wait === 'approval' && one.supervised.run))
    const said = await store.messages.lastWords(own.map(({ sessionId, createdAt: at }) => ({ sessionId, at })))
    const words = new Map(own.map(({ id }, i) => [id, said[i]]))
    const folderOf = ({ sessionId }: PersonRecord) => sessions.get(sessionId)?.elsewhere?.workspaceRoot ?? null

    function contextOf(record: PersonRecord): Partial<RecordView['context']> {
      const folder = folderOf(record)
      const alike = isLikened(record) ? (decidedLike.get(likeOf(record)) ?? []) : []
      const {
        prompt = null,
        told = prompt,
        said = null,
        updatedAt = 0,
      } = sessions.get(record.sessionId)?.elsewhere ?? {}
      const { user = null, agent = null } = words.get(record.id) ?? {}
      // A sub-agent speaks in a conversation of its own.
      const spoken = record.lane === null ? (agent ?? said) : null
      return {
        request: shortened(user ?? told),
        said: shortened(spoken),
        before: summaryOf(
          alike.filter((one) => folderOf(one) === folder),
          folder,
          clock.now(),
        ),
        still_since: isoTime(Math.max(urgencyOf(record).stillSince, updatedAt)),
      }
    }
    return (record) => {
      const { title = '', elsewhere } = sessions.get(record.sessionId) ?? {}
      return {
        folder: folderOf(record),
        title: title === '' ? null : title,
        prompt: elsewhere?.prompt ?? null,
        context: isWaiting(record) ? contextOf(record) : {},
        group: groupOf(record, folderOf(record)),
      }
    }
  }
}

const shortened = (text: string | null): string | null => (text === null ? null : oneLine(text))

type LikenedApproval = Approval & { kind: Exclude<Approval['kind'], 'question'> }

/** Each question of a tool is another one. */
const isLikened = (record: PersonRecord): record is LikenedApproval =>
  record.wait === 'approval' && record.kind !== 'question'

/** The newest decisions of each status that are looked at. */
const MOST_DECIDED = 100

/** What people decided about the like of these, whichever folder it was in; the newest decision first. */
async function readAlike(waits: Store['waits'], asked: readonly LikenedApproval[]): Promise<Approval[]> {
  const found: Approval[] = []
  const keys = new Set(asked.map(likeOf))
  for (const status of asked.length === 0 ? [] : (['approved', 'consumed', 'rejected'] as const)) {
    for (const one of await waits.list({ wait: 'approval', status, limit: MOST_DECIDED })) {
      if (one.wait === 'approval' && isPerson(one.decidedBy) && keys.has(likeOf(one))) found.push(one)
    }
  }
  return found.sort((a, b) => (b.decidedAt ?? 0) - (a.decidedAt ?? 0))
}

/** The same for work of one agent that a person would decide alike: files of one folder, commands with the same first words. */
function likeOf(approval: Approval): string {
  const { agent, owner, tool, supervised } = approval
  const command: unknown = objectIn(approval.arguments).command
  const work =
    typeof supervised?.change?.path === 'string'
      ? ['writes', dirname(supervised.change.path)]
      : typeof command === 'string'
        ? ['runs', ...command.trim().split(/\s+/, 2)]
        : [supervised?.contentKey ?? '']
  return JSON.stringify([supervised?.host ?? agent, owner, tool, ...work])
}

/** `Approved 3 times in this folder, last by ada 2 h ago`. Null: nobody decided the like. */
function summaryOf(alike: readonly Approval[], folder: string | null, now: number): string | null {
  const [last] = alike
  if (last === undefined) return null
  const no = alike.filter(({ status }) => status === 'rejected').length
  const yes = alike.length - no
  const counts = [...(yes === 0 ? [] : [`approved ${times(yes)}`]), ...(no === 0 ? [] : [`rejected ${times(no)}`])]
  const isNo = last.status === 'rejected'
  const lastly = alike.length === 1 ? '' : counts.length === 1 ? ', last' : `, last ${isNo ? 'rejected' : 'approved'}`
  const reason = isNo && last.reason !== null && last.reason !== '' ? `: ${last.reason}` : ''
  const line = `${counts.join(', ')}${folder === null ? '' : ' in this folder'}${lastly} by ${last.decidedBy} ${ago(now - (last.decidedAt ?? now))}${reason}`
  return oneLine(line.charAt(0).toUpperCase() + line.slice(1))
}

const KEY_CHARS = 16

/**
 * The key of the group that is decided after one look: pending work of low risk that is alike, of one agent in one folder. Null: it is
 * decided alone.
 */
export function groupOf(record: PersonRecord, workspaceRoot: string | null): string | null {
  if (record.wait !== 'approval' || !isSupervisedApproval(record) || workspaceRoot === null) return null
  const { status, risk, quorum = 1, kind, tool, owner, matches = [], supervised } = record
  const { host, change, contentKey } = supervised
  const isLow = risk === 'low' && quorum === 1 && (change?.protectedBecause ?? null) === null
  if (status !== 'pending' || !isLow || !isHostWork(record) || isEdited(record)) return null
  // The last match is the widest. All that a tool does is not alike. Without a match only the very same work is.
  const like = matches.findLast(({ type }) => type !== 'tool') ?? matches.at(-1) ?? contentKey
  return sha256(canonicalJson([host, owner, workspaceRoot, kind, tool, like])).slice(0, KEY_CHARS)
}
