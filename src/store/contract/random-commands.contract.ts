// Random commands, as a busy server with strange clients would send them. The same seed gives the same commands, as long as the store
// answers the same.

import type { AnyRecord, SupervisedApproval, WaitAnswer } from '../../domain/records/record.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import { isFinished, type RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Instruction, SupervisedStatus } from '../../domain/supervision/supervision.ts'
import type { Command, Result } from '../ports/command.ts'
import type { NewEntry } from '../ports/journal.ts'
import type { RecordChange, Supervise } from '../ports/supervised.ts'
import {
  accept,
  addFile,
  answer,
  append,
  approve,
  askedElsewhere,
  create,
  event,
  expire,
  fact,
  finish,
  NOW,
  newApproval,
  newAudit,
  newClientCall,
  newFile,
  newGrant,
  newMessage,
  newRun,
  newSession,
  outcomes,
  reject,
  remove,
  start,
  supervisionSample,
  text,
} from './samples.contract.ts'

export interface RandomCommands {
  /** One commit. */
  next(): Command[]
  /** What became of it. Later commands are about what exists now. */
  learn(results: readonly Result[]): void
  /** Everything that was ever named. */
  ids(): { sessions: string[]; runs: string[]; waits: string[]; files: string[]; grants: string[] }
}

const OWNERS = ['ann', 'bob', 'eve\0']
const NAMES = ['one', 'two', 'a\0b', '\u0001"x"', 'ünï 🙂', "o'; --", '%_']
const TEXTS = [...NAMES, 'the quick brown fox', 'Zürich, 東京', '', 'x'.repeat(5_000), 'line\nline\r\u2028']
/** What is kept as JSON may have half a character. */
const WILD = [...TEXTS, 'half \ud83d']
const MODELS = ['gpt', 'claude', 'ünï 🙂']
const CHANNELS = ['slack', 'push']
const WORKSPACE = '/srv/shop'

export function createRandomCommands(seed: number): RandomCommands {
  const random = createRandom(seed)
  const int = (below: number): number => Math.floor(random() * below)
  const chance = (share: number): boolean => random() < share
  const pick = <T>(list: readonly T[]): T => {
    const one = list[int(list.length)]
    if (one === undefined) throw new Error('There is nothing to pick from.')
    return one
  }
  const maybe = <T>(share: number, make: () => T): T | undefined => (chance(share) ? make() : undefined)
  let count = 0
  const id = (): string => {
    count += 1
    return `${seed.toString(16).padStart(8, '0')}-0000-7000-8000-${count.toString(16).padStart(12, '0')}`
  }
  let now = NOW
  let feedEnd = 0
  const sessions = new Map<string, SessionRecord>()
  const sessionIds = new Set<string>()
  const runs = new Map<string, RunRecord>()
  const waits = new Map<string, AnyRecord>()
  const files = new Set<string>()
  const grants = new Set<string>()
  const instructions = new Set<string>()
  const cursors = new Map<string, number>()
  let asked: readonly Command[] = []

  const someSession = (): SessionRecord | undefined => (sessions.size === 0 ? undefined : pick([...sessions.values()]))
  const chats = () => [...sessions.values()].filter((one) => one.supervision === undefined)
  /** Mostly one with this status, sometimes any. */
  const someRun = (status: RunRecord['status']): RunRecord | undefined => {
    const fitting = [...runs.values()].filter((run) => run.status === status)
    const from = chance(0.9) && fitting.length > 0 ? fitting : [...runs.values()]
    return from.length === 0 ? undefined : pick(from)
  }
  const idleSession = (): SessionRecord | undefined => {
    const busy = new Set([...runs.values()].filter((run) => !isFinished(run.status)).map((run) => run.sessionId))
    const idle = chats().filter((one) => !busy.has(one.id))
    return idle.length === 0 ? undefined : pick(idle)
  }
  const waitsOf = (sessionId: string): AnyRecord[] => [...waits.values()].filter((wait) => wait.sessionId === sessionId)
  const freshSession = (values: Partial<SessionRecord> = {}): SessionRecord => {
    const session = newSession({
      id: id(),
      owner: pick(OWNERS),
      agent: pick(['assistant', 'other']),
      alias: maybe(0.3, () => pick(NAMES)) ?? null,
      createdAt: now,
      lastActivity: now,
      metadata: { note: pick(WILD) },
      unlisted: chance(0.1),
      ...(chance(0.2) ? { label: pick(NAMES) } : {}),
      ...values,
    })
    sessionIds.add(session.id)
    return session
  }
  const message = (): StoredMessage =>
    newMessage(chance(0.1) ? pick(NAMES) : id(), {
      role: pick(['user', 'assistant', 'tool', 'system', 'activity', 'reasoning']),
      content: chance(0.1) ? [{ type: 'text', text: pick(WILD) }] : pick(WILD),
      createdAt: now,
      ...(chance(0.2) ? { lane: pick(['sub', 'b\0']) } : {}),
      ...(chance(0.2) ? { name: pick(TEXTS) } : {}),
    })
  const messages = (): StoredMessage[] => Array.from({ length: int(3) }, message)
  const entries = (): NewEntry[] =>
    Array.from({ length: int(3) + 1 }, () => (chance(0.8) ? text(pick(WILD)) : fact('noted', { about: pick(WILD) })))
  const audit = () => [newAudit(pick(NAMES), { at: now, details: { text: pick(WILD) } })]
  const approvalOf = (run: RunRecord): AnyRecord => {
    const wait = newApproval(run, {
      id: id(),
      createdAt: now,
      expiresAt: now + pick([1_000, 3_600_000]),
      description: pick(WILD),
    })
    waits.set(wait.id, wait)
    return wait
  }
  const waitOf = (run: RunRecord): AnyRecord => {
    if (chance(0.6)) return approvalOf(run)
    const wait = newClientCall(run, { id: id(), createdAt: now })
    waits.set(wait.id, wait)
    return wait
  }
  const answerTo = ({ id: waitId, wait }: AnyRecord): WaitAnswer => {
    const values = { at: now, by: pick(NAMES) }
    if (chance(0.1)) return expire(waitId, values)
    if (wait === 'client_call') return answer(waitId, values)
    return chance(0.7) ? approve(waitId, values) : reject(waitId, values)
  }

  const changeOf = (wait: AnyRecord): RecordChange =>
    chance(0.3)
      ? { id: wait.id, patch: { status: 'consumed', decidedBy: pick(NAMES) } }
      : { id: wait.id, patch: {}, answer: answerTo(wait) }

  function acceptRun(): Command {
    const known = chance(0.7) && chats().length > 0 ? pick(chats()) : undefined
    const session = known ?? freshSession()
    const runId = id()
    const pending = waitsOf(session.id)
    return accept(session, {
      run: {
        id: runId,
        owner: session.owner,
        wireId: chance(0.3) ? pick(NAMES) : runId,
        createdAt: now,
        parentRunId: maybe(0.1, () => pick(NAMES)) ?? null,
      },
      leaseOwner: pick(['process-1', 'process-2']),
      onBusy: pick(['queue', 'queue', 'reject', 'interrupt']),
      maxQueued: pick([0, 1, 8]),
      whenWaiting: pick(['refuse', 'abandon']),
      maxSessions: chance(0.05) ? 3 : null,
      start: {
        entries: [event('RUN_STARTED')],
        messages: messages(),
        ...(chance(0.2) ? { state: { s: pick(WILD) } } : {}),
        ...(chance(0.1) ? { supersedeAfter: pick(NAMES) } : {}),
      },
      ...(chance(0.2)
        ? { idempotency: { key: pick(NAMES), digest: pick(['d1', 'd2']), expiresAt: now + pick([10, 1_000_000]) } }
        : {}),
      ...(chance(0.1) ? { metadata: { more: pick(TEXTS) } } : {}),
      ...(chance(0.1) && files.size > 0 ? { files: [pick([...files])] } : {}),
      ...(chance(0.5) && pending.length > 0 ? { answers: [answerTo(pick(pending))] } : {}),
    })
  }

  function appendTo(run: RunRecord): Command {
    const fence = chance(0.9) ? run.fence : run.fence + 1
    const approved = waitsOf(run.sessionId).find((wait) => wait.wait === 'approval' && wait.status === 'approved')
    return append({ ...run, fence }, entries(), {
      sync: chance(0.3),
      ...(chance(0.2) ? { messages: messages() } : {}),
      ...(chance(0.1) ? { state: { n: pick(TEXTS) } } : {}),
      ...(chance(0.1) ? { lastTool: pick(NAMES) } : {}),
      ...(chance(0.1) ? { activeAgent: pick(['helper', null]) } : {}),
      ...(chance(0.2) ? { audit: audit() } : {}),
      ...(approved !== undefined && chance(0.5)
        ? { consume: [{ waitId: approved.id, digest: 'digest of the call', at: now }] }
        : {}),
    })
  }

  function finishRun(run: RunRecord): Command {
    const status = pick(outcomes)
    return finish(run, {
      status,
      now,
      messages: messages(),
      usage: chance(0.5)
        ? [{ provider: pick(['p', 'q']), model: pick(MODELS), inputTokens: int(50), outputTokens: int(50) }]
        : [],
      error: status === 'failed' ? { code: 'model_failed', message: pick(WILD) } : null,
      ...(status === 'waiting' ? { waits: Array.from({ length: int(2) + 1 }, () => waitOf(run)) } : {}),
      ...(chance(0.2) ? { audit: audit() } : {}),
    })
  }

  const instruction = (session: SessionRecord): Instruction => {
    const one: Instruction = {
      id: id(),
      kind: pick(['steering', 'task']),
      sessionId: null,
      owner: session.owner,
      workspaceRoot: WORKSPACE,
      text: pick(TEXTS),
      source: pick(NAMES),
      createdAt: now,
      deliveredAt: null,
    }
    instructions.add(one.id)
    return one.kind === 'task' ? one : { ...one, sessionId: session.id }
  }

  function supervise(): Command {
    const elsewhere = [...sessions.values()].filter((one) => one.supervision !== undefined)
    const known = chance(0.8) && elsewhere.length > 0 ? pick(elsewhere) : undefined
    if (known === undefined) {
      const title = chance(0.7) ? pick(TEXTS) : null
      const session = freshSession({ alias: null, supervision: { ...supervisionSample, title } })
      return { type: 'supervise', sessionId: session.id, now, create: session }
    }
    const open = waitsOf(known.id)
    const diff = (): SupervisedApproval => {
      const wait = {
        ...newApproval(newRun(known.id, { id: id() }), {
          id: id(),
          kind: pick(['diff', 'permission']),
          createdAt: now,
        }),
        supervised: askedElsewhere,
      }
      waits.set(wait.id, wait)
      return wait
    }
    const command: Supervise = {
      type: 'supervise',
      sessionId: known.id,
      now,
      version: chance(0.95) ? (known.supervision?.version ?? 0) : 99,
      ...(chance(0.5)
        ? {
            supervision: {
              title: pick(TEXTS),
              ...(chance(0.3) ? { status: pick<SupervisedStatus>(['active', 'paused', 'terminated']) } : {}),
            },
          }
        : {}),
      ...(chance(0.1) ? { owner: pick(OWNERS) } : {}),
      ...(chance(0.3) ? { ask: [diff()] } : {}),
      settle: chance(0.3) && open.length > 0 ? [changeOf(pick(open))] : [],
      ...(chance(0.3) ? { instructions: [instruction(known)] } : {}),
      ...(chance(0.2) && instructions.size > 0 ? { deliver: [pick([...instructions])] } : {}),
      ...(chance(0.2) ? { entries: [fact('reported', { text: pick(TEXTS) })] } : {}),
      ...(chance(0.2) ? { audit: audit() } : {}),
      ...(chance(0.1)
        ? { pin: { workspaceRoot: WORKSPACE, sha256: 'x', text: pick(TEXTS), at: now, by: pick(NAMES) } }
        : {}),
      ...(chance(0.1)
        ? {
            checkpoints: [
              {
                id: id(),
                sessionId: known.id,
                owner: known.owner,
                label: pick(NAMES),
                workspaceRoot: WORKSPACE,
                manifest: 'm',
                files: 1,
                bytes: 2,
                hasContents: true,
                sessionState: { status: 'active', mode: 'remote', title: null, lastTool: null },
                progressSnapshot: null,
                createdAt: now,
              },
            ],
          }
        : {}),
    }
    return command
  }

  function rare(): Command {
    const session = someSession()
    const kind = int(12)
    if (kind === 0) return create(freshSession())
    if (kind === 1) {
      const file = newFile({
        id: id(),
        owner: pick(OWNERS),
        name: pick(NAMES),
        createdAt: now,
        sha256: pick(['a', 'b']),
      })
      files.add(file.id)
      return addFile(file)
    }
    if (kind === 2) return { type: 'add_audit', audit: audit() }
    if (kind === 3)
      return { type: 'renew_lease', leaseOwner: pick(['process-1', 'process-2']), until: now + int(10_000) }
    if (kind === 4) {
      const was = chance(0.5) ? {} : { was: pick([null, ...TEXTS]) }
      const note = { channel: pick(CHANNELS), key: pick(NAMES), ...was }
      return chance(0.2)
        ? { type: 'note_for_channel', ...note, value: null }
        : { type: 'note_for_channel', ...note, session: session?.id ?? null, value: pick(TEXTS), at: now }
    }
    if (kind === 5) {
      const channel = pick(CHANNELS)
      const after = cursors.get(channel) ?? null
      const upTo = Math.max(after ?? 0, feedEnd)
      cursors.set(channel, upTo)
      return { type: 'take_deliveries', channel, after, upTo, items: [], skipped: int(3) }
    }
    if (kind === 6 && grants.size > 0)
      return { type: 'revoke_grant', grantId: pick([...grants]), audit: newAudit('eve', { at: now }) }
    if (kind === 7) {
      const times = {
        before: chance(0.5) ? now - 20_000 : null,
        unlistedBefore: now - 30_000,
        unsentBefore: now - 50_000,
      }
      return { type: 'purge_sessions', ...times, now, limit: 2 }
    }
    if (session === undefined) return create(freshSession())
    if (kind === 8) return remove((idleSession() ?? session).id, now)
    return {
      type: 'update_session',
      sessionId: session.id,
      ...(chance(0.5) ? { lastActivity: now } : {}),
      ...(chance(0.5) ? { metadata: { about: pick(TEXTS) } } : {}),
      ...(chance(0.3) ? { state: [pick(TEXTS)] } : {}),
    }
  }

  function command(): Command {
    const kind = int(100)
    const run = someRun(kind >= 65 && kind < 70 ? 'queued' : 'running')
    if (kind < 30 || run === undefined) return acceptRun()
    if (kind < 50) return appendTo(run)
    if (kind < 65) return finishRun(run)
    if (kind < 70) return start(run.id, { now, start: { entries: [event('RUN_STARTED')], messages: messages() } })
    if (kind < 72) return { type: 'request_cancel', runId: run.id, entries: [fact('cancel_requested')] }
    if (kind < 74) return { type: 'release_run', runId: run.id, fence: run.fence }
    if (kind < 76)
      return { type: 'claim_run', runId: run.id, fence: run.fence, leaseOwner: 'process-3', entries: entries() }
    if (kind < 82 && waits.size > 0) {
      const wait = pick([...waits.values()])
      const grant = newGrant({ id: id(), approvalId: wait.id, createdAt: now })
      if (chance(0.8)) return { type: 'settle_waits', answers: [answerTo(wait)], now }
      grants.add(grant.id)
      const session = sessions.get(wait.sessionId)
      if (session === undefined || wait.wait !== 'approval') return rare()
      const yes = { answers: [approve(wait.id, { at: now })], grants: [grant] }
      return accept(session, { run: { id: id(), owner: session.owner, createdAt: now }, ...yes })
    }
    return kind < 90 ? supervise() : rare()
  }

  return {
    ids: () => ({
      sessions: [...sessionIds],
      runs: [...runs.keys()],
      waits: [...waits.keys()],
      files: [...files],
      grants: [...grants],
    }),
    next() {
      now += int(2_000)
      asked = Array.from({ length: chance(0.6) ? 1 : int(3) + 2 }, command)
      return [...asked]
    },
    learn(results) {
      for (const [i, result] of results.entries()) {
        if (!result.ok) continue
        const one = asked[i]
        for (const run of [result.run, result.completed]) if (run !== undefined) runs.set(run.id, run)
        for (const { wait } of result.answered ?? []) if (wait !== null) waits.set(wait.id, wait)
        if (result.session !== undefined) sessions.set(result.session.id, result.session)
        if (one?.type === 'accept_run') sessions.set(one.session.id, result.session ?? one.session)
        if (one?.type === 'create_session') sessions.set(one.session.id, one.session)
        if (one?.type === 'supervise' && one.create !== undefined)
          sessions.set(one.sessionId, result.session ?? one.create)
        if (one?.type === 'delete_session') sessions.delete(one.sessionId)
        feedEnd += 1
      }
    },
  }
}

/** mulberry32: small, and good enough for tests. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
