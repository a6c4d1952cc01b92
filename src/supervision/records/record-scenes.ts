// What people need beside a record to decide it, and what only other rows know: where the agent works, what its user asked for, what it
// said before it asked, and what was decided about the like before. A list of records costs a handful of reads, whatever its length.

import { dirname } from 'node:path'
import { type Clock, isoTime } from '../../domain/clock.ts'
import { type Approval, isWaiting, type PersonRecord } from '../../domain/records/record.ts'
import type { SessionOverview } from '../../domain/session/session-overview.ts'
import type { LastWords } from '../../store/ports/messages.ts'
import type { Store } from '../../store/store.ts'
import { urgencyOf } from '../inbox/urgency.ts'
import { groupOf } from './group-of.ts'
import { isPerson } from './kinds/kind-words.ts'
import type { RecordScene } from './record-view.ts'
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
    const ids = new Set([...records, ...decided].map(({ sessionId }) => sessionId))
    const sessions = new Map((await store.sessions.overview([...ids])).map((one) => [one.id, one]))
    const own = open.filter(({ supervised }) => supervised === undefined)
    const said = await store.messages.lastWords(own.map(({ sessionId, createdAt: at }) => ({ sessionId, at })))
    const words = new Map(own.map(({ id }, i) => [id, said[i]]))
    const folderOf = ({ sessionId }: PersonRecord) => sessions.get(sessionId)?.elsewhere?.workspaceRoot ?? null
    const beforeOf = (record: PersonRecord): string | null => {
      if (!isWaiting(record) || !isLikened(record)) return null
      const folder = folderOf(record)
      const key = likeOf(record)
      const alike = decided.filter((one) => likeOf(one) === key && folderOf(one) === folder)
      return summaryOf(alike, folder, clock.now())
    }
    return (record) => {
      const session = sessions.get(record.sessionId)
      const before = beforeOf(record)
      const context = isWaiting(record) ? contextOf(record, session, words.get(record.id)) : {}
      return { ...sceneOf(session), context: { ...context, before }, group: groupOf(record, folderOf(record)) }
    }
  }
}

const sceneOf = (session: SessionOverview | undefined): RecordScene => ({
  folder: session?.elsewhere?.workspaceRoot ?? null,
  title: session === undefined || session.title === '' ? null : session.title,
  prompt: session?.elsewhere?.prompt ?? null,
})

function contextOf(record: PersonRecord, session: SessionOverview | undefined, words: LastWords | undefined) {
  const { elsewhere } = session ?? {}
  const { prompt = null, told = prompt, said = null, updatedAt = 0 } = elsewhere ?? {}
  const user = words?.user ?? told
  // A sub-agent speaks in a conversation of its own.
  const agent = record.lane === null ? (words?.agent ?? said) : null
  return {
    request: user === null ? null : oneLine(user),
    said: agent === null ? null : oneLine(agent),
    still_since: isoTime(Math.max(urgencyOf(record).stillSince, updatedAt)),
  }
}

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
