// Shared by the tests of the contract: a new store for each test, sample commands, and short ways to commit.

import { expect, onTestFinished } from 'vitest'
import { type ErrorCode, ServerError } from '../../domain/errors.ts'
import { createIds } from '../../domain/ids.ts'
import type { AnyRecord, Approval, ClientCall, SupervisedApproval, WaitAnswer } from '../../domain/records/record.ts'
import type { FileRecord } from '../../domain/session/file.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { Supervision } from '../../domain/supervision/supervision.ts'
import type { Command, Result } from '../ports/command.ts'
import type { AddFile } from '../ports/files.ts'
import type { NewEntry } from '../ports/journal.ts'
import type { AcceptRun, AppendEntries, FinishRun, RunStart, StartRun } from '../ports/runs.ts'
import type { SearchPage, SearchQuery } from '../ports/search.ts'
import type { CreateSession, DeleteSession } from '../ports/sessions.ts'
import type { Store } from '../store.ts'

export interface StoreUnderTest {
  store: Store
  /** Ends the store as kill -9 would (or closes it, if that is not possible) and opens what it left. */
  reopen(): Promise<Store>
  /** Ends the store as a power cut would: only synced data stays. Tests that need this are skipped without it. */
  powerCut?(): Promise<Store>
  /** Closes what is open and removes the files. */
  discard(): Promise<void>
}

export type OpenStore = () => Promise<StoreUnderTest>

export async function openForTest(open: OpenStore): Promise<StoreUnderTest> {
  const opened = await open()
  onTestFinished(() => opened.discard())
  return opened
}

/** Yields the store, and then the store after a restart. */
export async function* beforeAndAfter(store: Store, reopen: () => Promise<Store>): AsyncGenerator<Store> {
  yield store
  yield await reopen()
}

/** The time of everything in tests that do not depend on time. */
export const NOW = 1_800_000_000_000
export const OWNER = 'ann'
export const PROCESS = 'process-1'

export const newId = (): string => createIds(() => NOW).uuid()

export const newSession = (values: Partial<SessionRecord> = {}): SessionRecord => ({
  id: newId(),
  owner: OWNER,
  agent: 'assistant',
  activeAgent: null,
  status: 'active',
  createdAt: NOW,
  lastActivity: NOW,
  terminatedAt: null,
  lastTool: null,
  metadata: {},
  alias: null,
  messageCount: 0,
  state: undefined,
  unlisted: false,
  ...values,
})

export function newRun(sessionId: string, values: Partial<RunRecord> = {}): RunRecord {
  const id = values.id ?? newId()
  return {
    id,
    sessionId,
    owner: OWNER,
    agent: 'assistant',
    wireId: id,
    parentRunId: null,
    status: 'queued',
    origin: 'reader',
    input: {
      messages: [{ id: `message of ${id}`, role: 'user', content: 'Hi' }],
      instructions: ['Be brief.'],
      context: [{ description: 'place', value: 'Oslo' }],
      clientTools: [{ name: 'beep', description: 'Makes a sound.', parameters: { type: 'object' } }],
    },
    createdAt: NOW,
    startedAt: null,
    finishedAt: null,
    usage: [],
    error: null,
    cancelRequested: false,
    firstSeq: null,
    lastSeq: null,
    fence: 0,
    leaseOwner: null,
    ...values,
  }
}

export const event = (type: string, values: Record<string, unknown> = {}): NewEntry => ({
  kind: 'event',
  data: JSON.stringify({ type, ...values }),
})
export const fact = (name: string, values: Record<string, unknown> = {}): NewEntry => ({
  kind: 'fact',
  data: JSON.stringify({ fact: name, ...values }),
})
export const text = (delta: string, messageId = 'm'): NewEntry =>
  event('TEXT_MESSAGE_CONTENT', { messageId, delta, timestamp: NOW })
/** Pieces of text that came together. */
export function pieces(deltas: readonly string[], messageId = 'm'): NewEntry[] {
  const start = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"${messageId}","delta":`
  const frame = { start, end: `,"timestamp":${NOW}}` }
  return deltas.map((delta) => ({ ...text(delta, messageId), frame, text: JSON.stringify(delta) }))
}

export const ACCEPTED = fact('run_accepted')
export const STARTED = event('RUN_STARTED')
export const FINISHED = event('RUN_FINISHED')

export const newMessage = (id: string, values: Partial<StoredMessage> = {}): StoredMessage => ({
  id,
  role: 'user',
  content: `content of ${id}`,
  runId: 'run',
  createdAt: NOW,
  ...values,
})

export interface AcceptValues extends Partial<Omit<AcceptRun, 'run' | 'start'>> {
  run?: Partial<RunRecord>
  start?: Partial<RunStart>
}

/** Accepts a run into the session, and creates the session if it does not exist. */
export function accept(session: SessionRecord, { run, start, ...values }: AcceptValues = {}): AcceptRun {
  return {
    type: 'accept_run',
    session,
    run: newRun(session.id, { owner: session.owner, ...run }),
    leaseOwner: PROCESS,
    onBusy: 'queue',
    maxQueued: 8,
    whenWaiting: 'refuse',
    maxSessions: null,
    acceptEntries: [ACCEPTED],
    start: { entries: [STARTED], messages: [], ...start },
    ...values,
  }
}

export const append = (
  run: RunRecord,
  entries: readonly NewEntry[],
  values: Partial<AppendEntries> = {},
): AppendEntries => ({
  type: 'append',
  sessionId: run.sessionId,
  runId: run.id,
  fence: run.fence,
  sync: false,
  entries,
  ...values,
})

export const finish = (run: RunRecord, values: Partial<FinishRun> = {}): FinishRun => ({
  type: 'finish_run',
  runId: run.id,
  fence: run.fence,
  status: 'completed',
  now: NOW,
  entries: [FINISHED],
  messages: [],
  usage: [],
  error: null,
  ...values,
})

export const start = (runId: string, values: Partial<StartRun> = {}): StartRun => ({
  type: 'start_run',
  runId,
  leaseOwner: PROCESS,
  now: NOW,
  start: { entries: [STARTED], messages: [] },
  ...values,
})

export const newApproval = (run: RunRecord, values: Partial<Approval> = {}): Approval => ({
  wait: 'approval',
  id: newId(),
  sessionId: run.sessionId,
  owner: run.owner,
  agent: run.agent,
  runId: run.id,
  callId: 'call',
  tool: 'send_mail',
  arguments: '{"to":"bob@example.com"}',
  lane: null,
  createdAt: NOW,
  expiresAt: NOW + 3_600_000,
  continuationRunId: null,
  status: 'pending',
  kind: 'tool_call',
  title: 'Send a mail',
  description: 'to bob@example.com',
  action: null,
  risk: 'high',
  digest: 'digest of the call',
  policyVersion: 'v1',
  answerableBy: 'owner',
  beforeHash: null,
  afterHash: null,
  messageRefs: {},
  decidedAt: null,
  decidedBy: null,
  decidedVia: null,
  reason: null,
  editedArguments: null,
  consumedAt: null,
  ...values,
})

/** What makes a session one of an agent elsewhere. */
export const supervisionSample: Supervision = {
  status: 'active',
  version: 0,
  host: 'claude-code',
  workspaceRoot: '/srv/shop',
  channelId: null,
  mode: 'remote',
  title: null,
  prompt: null,
  updatedAt: NOW,
  terminatedAt: null,
  lastTool: null,
  nudgeCount: 0,
  silence: null,
  stallPaused: false,
  progressSnapshot: null,
  tokenId: 'token',
  connectionId: null,
  openRun: null,
  lastRun: null,
  continuesAlone: 0,
  givenInstructions: [],
  openNudge: null,
  restoredFrom: null,
  spawned: null,
}

/** What makes an approval one that an agent elsewhere asked for. */
export const askedElsewhere: SupervisedApproval['supervised'] = {
  host: 'claude-code',
  contentKey: 'content',
  returnedAt: null,
  change: null,
  mayForce: false,
  isEdited: false,
  appliedAt: null,
}

export const newClientCall = (run: RunRecord, values: Partial<ClientCall> = {}): ClientCall => ({
  wait: 'client_call',
  id: newId(),
  sessionId: run.sessionId,
  owner: run.owner,
  agent: run.agent,
  runId: run.id,
  callId: 'client call',
  tool: 'beep',
  arguments: '{}',
  lane: null,
  createdAt: NOW,
  expiresAt: null,
  continuationRunId: null,
  status: 'pending',
  onExpiry: 'continue',
  answeredAt: null,
  ...values,
})

export const approve = (waitId: string, values: Partial<WaitAnswer> = {}): WaitAnswer => ({
  waitId,
  at: NOW + 1,
  by: 'ann',
  outcome: { type: 'approved', reason: null, editedArguments: null, editedDigest: null },
  ...values,
})
export const reject = (waitId: string, values: Partial<WaitAnswer> = {}): WaitAnswer =>
  approve(waitId, { outcome: { type: 'rejected', reason: 'No.' }, ...values })
export const answer = (waitId: string, values: Partial<WaitAnswer> = {}): WaitAnswer =>
  approve(waitId, { outcome: { type: 'answered' }, ...values })
export const expire = (waitId: string, values: Partial<WaitAnswer> = {}): WaitAnswer =>
  approve(waitId, { by: 'timeout', outcome: { type: 'expired' }, ...values })

export const newGrant = (values: Partial<Grant> = {}): Grant => ({
  id: newId(),
  agent: 'assistant',
  tool: 'send_mail',
  where: { to: { equals: 'bob@example.com' } },
  sessionId: null,
  grantedBy: 'ann',
  approvalId: 'approval',
  policyVersion: 'v1',
  createdAt: NOW,
  expiresAt: null,
  ...values,
})

export const newFile = (values: Partial<FileRecord> = {}): FileRecord => ({
  id: newId(),
  owner: OWNER,
  sessionId: null,
  name: 'report.pdf',
  mimeType: 'application/pdf',
  bytes: 50_000_000,
  sha256: 'a'.repeat(64),
  createdAt: NOW,
  ...values,
})

export const addFile = (file: FileRecord): AddFile => ({ type: 'add_file', file })

export const newAudit = (by: string, values: Partial<AuditRecord> = {}): AuditRecord => ({
  at: NOW,
  kind: 'decision',
  by,
  session: null,
  run: null,
  agent: 'assistant',
  tool: 'send_mail',
  call: 'call',
  details: { decision: 'approved' },
  ...values,
})

/** A session whose run waits for the waits that `make` returns. */
export async function waitingSession(
  store: Store,
  make: (run: RunRecord) => readonly AnyRecord[],
  values: Partial<SessionRecord> = {},
): Promise<{ session: SessionRecord; run: RunRecord; waits: readonly AnyRecord[] }> {
  const session = newSession(values)
  const running = await acceptedRun(store, accept(session))
  const waits = make(running)
  const { run } = await done(store, finish(running, { status: 'waiting', waits }))
  if (run === undefined) throw new Error('finish_run returned no run')
  return { session, run, waits }
}

/** All audit records, in order, but for those that say where a chain begins. */
export async function auditRecords(store: Store): Promise<AuditRecord[]> {
  const records = (await store.audit.entries(0, 1_000)).map(({ text }): AuditRecord => JSON.parse(text))
  return records.filter(({ kind }) => kind !== 'chain_begun')
}

/** The `by` of these records. */
export const auditors = async (store: Store): Promise<string[]> => (await auditRecords(store)).map(({ by }) => by)

/** How a run can end. */
export const outcomes = ['waiting', 'completed', 'failed', 'cancelled', 'interrupted'] as const

export const create = (session: SessionRecord): CreateSession => ({ type: 'create_session', session })
export const remove = (sessionId: string, now = NOW): DeleteSession => ({ type: 'delete_session', sessionId, now })

/** Commits, waits for the sync, and returns the results. */
export async function commit(store: Store, ...commands: Command[]): Promise<Result[]> {
  const { results, synced } = await store.commit(commands)
  await synced
  expect(results.length).toBe(commands.length)
  return results
}

export type Done = Extract<Result, { ok: true }>

/** Commits one command that must not be refused. */
export async function done(store: Store, command: Command): Promise<Done> {
  const [result] = await commit(store, command)
  if (result?.ok !== true) throw new Error(`${command.type} was refused`, { cause: result?.error })
  return result
}

/** Commits one command that must be refused, and returns the error code. */
export async function refusal(store: Store, command: Command): Promise<ErrorCode> {
  return codeOf((await commit(store, command))[0])
}

export function codeOf(result: Result | undefined): ErrorCode {
  if (result === undefined || result.ok) throw new Error('the command was not refused')
  expect(result.error).toBeInstanceOf(ServerError)
  return result.error.code
}

/** Accepts a run, and returns it as the store does. */
export async function acceptedRun(store: Store, command: AcceptRun): Promise<RunRecord> {
  const { run } = await done(store, command)
  if (run === undefined) throw new Error('accept_run returned no run')
  return run
}

/** A session with one finished run in it. */
export async function finishedSession(
  store: Store,
  values: Partial<SessionRecord> = {},
): Promise<{ session: SessionRecord; run: RunRecord }> {
  const session = newSession(values)
  const times = { createdAt: session.lastActivity }
  const run = await acceptedRun(store, accept(session, { run: times }))
  await done(store, finish(run, { now: session.lastActivity }))
  return { session, run }
}

/** Everything that can be read of a session. */
export async function readSession(store: Store, session: SessionRecord, runs: readonly RunRecord[] = []) {
  return {
    record: await store.sessions.get(session.id),
    byAlias: session.alias === null ? null : await store.sessions.byAlias(session.owner, session.alias),
    head: await store.head(session.id),
    entries: await store.entries(session.id, 0, 1_000_000),
    messages: await store.messages.page(session.id, 1_000_000),
    openRuns: await store.runs.open(session.id),
    runs: await Promise.all(runs.map((run) => store.runs.get(run.id))),
  }
}

/** Everything that answers can change: the session, and what sessions share. */
export const snapshot = async (store: Store, sessionId: string) => ({
  waits: await store.waits.list({ sessionId, limit: 100 }),
  runs: await store.runs.list(sessionId),
  messages: await store.messages.all(sessionId),
  entries: await store.entries(sessionId, 0, 1_000),
  grants: await store.grants.list({ now: NOW }),
  audit: await store.audit.entries(0, 1_000),
  session: await store.sessions.get(sessionId),
})

/** One search takes a limited time, and waits for the index even less. On a busy machine that is not enough. */
export async function searchAll(store: Store, query: SearchQuery): Promise<SearchPage['found']> {
  const all: SearchPage['found'] = []
  for (let before = query.before; ; ) {
    const page = await store.search.find({ ...query, before })
    if (!page.isComplete) continue
    all.push(...page.found)
    if (page.next === null) return all
    before = page.next
  }
}
