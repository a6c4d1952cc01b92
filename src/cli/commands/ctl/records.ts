// What the server answers about agents elsewhere, checked with its own schemas: a newer server may send more. People name records and
// sessions by four characters of their ids.

import { z } from 'zod'
import { ClientError } from '../../../client/client-error.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { personKinds, recordKinds } from '../../../domain/records/record-kinds.ts'
import { matchingIds, shortIds } from '../../../domain/text/id-prefix.ts'
import { type RecordView, RecordViewSchema } from '../../../protocols/manage/records/schema.ts'
import { type Checkpoint, CheckpointSchema } from '../../../protocols/manage/supervision/checkpoint-schema.ts'
import { type Supervision, SupervisionSchema } from '../../../protocols/shared/supervised/schema.ts'
import { CliError, failure, usageError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { titleOf } from '../../show-record.ts'
import { localTime, terminalLine } from '../../terminal/terminal-text.ts'
import type { CtlServer } from './ctl-server.ts'

/** What every record has that a person can be asked about, and what answers to approvals need beside it. */
const RecordSchema = z.object({
  view: RecordViewSchema,
  /** What is to be approved: a `diff`, a `policy`, a call. */
  kind: z.string().optional(),
  digest: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  question: z.object({ schema: z.record(z.string(), z.unknown()) }).nullish(),
  change: z.object({ file_path: z.string() }).nullish(),
  /** Who else looks at it, in the inbox. */
  taken_by: z.object({ name: z.string() }).nullish(),
  /** The text of a file, if it was asked for. */
  content: z.string().nullish(),
})

/** A record of any kind. `sent`: what the server said, for `--json`. */
export type ShownRecord = z.output<typeof RecordSchema> & { sent: unknown }
export type ViewAction = RecordView['actions'][number]

export const readRecord = (value: unknown, sent = value): ShownRecord => ({ ...understood(RecordSchema, value), sent })

/** By kind, the first part of the path of its records. */
const recordPaths: ReadonlyMap<string, string> = new Map(
  personKinds.map((kind) => [recordKinds[kind].wire.kind, recordKinds[kind].wire.path]),
)

export const recordPath = ({ kind, id }: Pick<RecordView, 'kind' | 'id'>): string => `/${recordPaths.get(kind)}/${id}`

const InboxSchema = z.looseObject({
  items: z.array(z.looseObject({ id: z.string(), kind: z.string() })),
  cursor: z.string(),
})

/** A page. Items of a kind that this version does not know are left out. */
function readInbox(value: unknown) {
  const { items, cursor } = understood(InboxSchema, value)
  const read = items
    .filter(({ kind }) => recordPaths.has(kind))
    .map((item) => readRecord({ ...objectIn(item[item.kind]), view: item.view, taken_by: item.taken_by }, item))
  return { items: read, cursor }
}

const objectIn = (value: unknown): object => (isRecord(value) ? value : {})

const SessionsSchema = z.array(z.looseObject({ session_id: z.string(), supervision: z.unknown().optional() }))

/** A page of all sessions, of which the supervised ones are kept. */
const readSessions = (value: unknown): Supervision[] =>
  understood(SessionsSchema, value).flatMap(({ supervision }) =>
    supervision === undefined || supervision === null ? [] : [understood(SupervisionSchema, supervision)],
  )

const readCheckpoints = (value: unknown): Checkpoint[] =>
  understood(z.looseObject({ checkpoints: z.array(CheckpointSchema) }), value).checkpoints

export const isOpenSession = ({ status }: Supervision): boolean =>
  status === 'created' || status === 'active' || status === 'paused'

export function understood<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const issue = read.error.issues.find(({ code }) => code !== 'unrecognized_keys')
  // A newer server says more than this version knows, and the rest is right.
  if (issue === undefined) return value as T
  const where = ` (${issue.path.join('.')}: ${issue.message})`
  throw failure(
    `The server answered in a way that this version does not understand${where}. Use the same version for both.`,
  )
}

type Server = Pick<CtlServer, 'get' | 'page'>

/** Nothing has the id that the person wrote. */
export class NothingFound extends CliError {
  constructor(message: string, mend: readonly string[] = []) {
    super(exitCodes.failed.code, message, mend)
  }
}

const PAGE = 100
/** More than anybody looks through. */
const MOST_PAGES = 10

type PageServer = Pick<CtlServer, 'page'>

/** Page after page. */
async function* readPages(server: PageServer, path: string): AsyncGenerator<unknown> {
  let before = ''
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { answer, next } = await server.page(`${path}limit=${PAGE}${before}`)
    yield answer
    if (next === null) return
    before = `&before=${encodeURIComponent(next)}`
  }
}

/** Which items are meant, as the command line says it. The server looks, over all of them. */
export interface InboxFilter {
  risk?: string
  agent?: string
  folder?: string
  text?: string
}

const filterOf = ({ risk, agent, folder, text }: InboxFilter): [string, string][] =>
  Object.entries({ risk, agent, folder, q: text }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )

/** For the heading of a list. */
export const filterWords = (filter: InboxFilter): string =>
  filterOf(filter)
    .map(([name, value]) => `  ${name === 'q' ? 'text' : name}: ${terminalLine(value, 40)}`)
    .join('')

/** What waits, the most urgent first. */
export async function allWaiting(
  server: PageServer,
  filter: InboxFilter = {},
): Promise<{ items: ShownRecord[]; cursor: string }> {
  const items: ShownRecord[] = []
  let cursor: string | null = null
  const query = new URLSearchParams(filterOf(filter)).toString()
  for await (const answer of readPages(server, `/inbox?${query === '' ? '' : `${query}&`}`)) {
    const read = readInbox(answer)
    items.push(...read.items)
    // What changes while we read the later pages must not be missed.
    cursor ??= read.cursor
  }
  return { items, cursor: cursor ?? '' }
}

async function allPages<T>(server: PageServer, path: string, read: (answer: unknown) => T[]): Promise<T[]> {
  const found: T[] = []
  for await (const answer of readPages(server, path)) found.push(...read(answer))
  return found
}

/** The supervised sessions, newest first. */
export const allSessions = (server: Server): Promise<Supervision[]> =>
  allPages(server, '/sessions?owner=*&kind=supervised&', readSessions)

/** The checkpoints of one session, or all; newest first. */
export const allCheckpoints = (server: Server, sessionId?: string): Promise<Checkpoint[]> =>
  allPages(server, sessionId === undefined ? '/checkpoints?' : `/checkpoints?session=${sessionId}&`, readCheckpoints)

/** The one that is meant; null: none. Throws `CliError` with what the id may mean, described in a few words. */
export function findOne<T>(all: readonly T[], given: string, describe: (one: T) => Described): T | null {
  const found = matchingIds(all, given, (one) => describe(one)[0])
  if (found.length < 2) return found[0] ?? null
  throw usageError(
    `${quoted(given)} means several. Write the four characters that stand before the one that you mean.`,
    listed(found.map(describe)),
  )
}

type Described = readonly [id: string, words: string]

function listed(found: readonly Described[]): string[] {
  const short = shortIds(found.map(([id]) => id))
  return found.slice(0, 20).map(([id, words]) => `${short.get(id) ?? id}  ${terminalLine(words, 80)}`)
}

export const quoted = (text: string): string => JSON.stringify(terminalLine(text, 64))

/** What waits, by its short id; otherwise any record, by its whole id. Throws `CliError`. */
export async function findRecord(server: Server, given: string): Promise<ShownRecord> {
  const { items } = await allWaiting(server)
  const waiting = findOne(items, given, ({ view }) => [view.id, `${view.label}  ${titleOf(view)}`])
  if (waiting !== null) return await fullRecord(server, waiting)
  const decided = await anyRecord(server, given)
  if (decided !== null) return decided
  throw new NothingFound(`Nothing waits under the id ${quoted(given)}.`, [
    'To see what waits: quarterdeck ctl list. What is over has to be named by its whole id.',
  ])
}

/** A list has only the title of a record. Asking for an approval is on record as having been shown it. */
export const fullRecord = async (server: Server, { view }: ShownRecord): Promise<ShownRecord> =>
  readRecord(await server.get(recordPath(view)))

const isWholeId = (text: string): boolean => /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-z]{26})$/i.test(text)

async function anyRecord(server: Server, id: string): Promise<ShownRecord | null> {
  if (!isWholeId(id)) return null
  for (const path of recordPaths.values()) {
    const answer = await orNotFound(server.get(`/${path}/${id}`))
    if (answer !== null) return readRecord(answer)
  }
  return null
}

async function orNotFound(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ClientError && (error.status === 404 || error.code === 'malformed_id')) return null
    throw error
  }
}

/** The session that is meant: by its short id, otherwise the only open one. Throws `CliError`. */
export async function findSession(server: Server, given: string | undefined): Promise<Supervision> {
  const sessions = await allSessions(server)
  const open = sessions.filter(isOpenSession)
  const describe = ({ session_id, host, title, workspace_root }: Supervision): Described => [
    session_id,
    [host, title ?? '', workspace_root].filter((word) => word !== '').join('  '),
  ]
  if (given !== undefined) {
    // A session that has ended can still be looked at, but an open one is what people mean.
    const found = findOne(open, given, describe) ?? findOne(sessions, given, describe)
    if (found !== null) return found
    throw new NothingFound(`There is no session ${quoted(given)}.`)
  }
  const [only, another] = open
  if (only === undefined) {
    throw failure('No agent has an open session.', [
      'To start one: quarterdeck ctl start "what to do". To connect one that you start yourself: quarterdeck connect',
    ])
  }
  if (another === undefined) return only
  throw usageError('Several sessions are open. Say which one: --session <id>.', listed(open.map(describe)))
}

export async function findCheckpoint(server: Server, given: string): Promise<Checkpoint> {
  const found = findOne(await allCheckpoints(server), given, ({ checkpoint_id, created_at, label }) => [
    checkpoint_id,
    `${localTime(created_at)}  ${label ?? ''}`,
  ])
  if (found !== null) return found
  throw new NothingFound(`There is no checkpoint ${quoted(given)}.`, ['To list them: quarterdeck ctl checkpoints'])
}
