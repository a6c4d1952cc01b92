// A session as a whole: its log in pages, and its export.

import { z } from 'zod'
import { type Clock, isoTime } from '../../../domain/clock.ts'
import { ServerError, sessionNotFound } from '../../../domain/errors.ts'
import { ulidOf } from '../../../domain/ids.ts'
import { present } from '../../../domain/present.ts'
import type { Approval } from '../../../domain/records/record.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import { type StoredMessage, textOf } from '../../../domain/session/message.ts'
import type { RunSummary } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { SentStep } from '../../../engine/sessions/read-step.ts'
import { answer } from '../../../http/describe-answer.ts'
import { isConsole, type Reply, type Request, type Route } from '../../../http/route.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { parseCursor } from '../../shared/events/event-id.ts'
import { createMaskEntries, withoutSecrets } from '../../shared/events/mask-entries.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { feedbackOf } from '../../shared/request/feedback.ts'
import { decodePage, linked, nextLink, queryProblem, wordIn } from '../../shared/request/page.ts'
import { sessionRow, shownIdOf } from '../../shared/request/session-row.ts'
import { encodeRecord } from '../records/kinds-on-wire.ts'
import { idOf, sessionParams, sessionTag } from './decode.ts'
import { foreignRunView, runView } from './encode.ts'
import { DECISIONS, markdownDecision, markdownHead, markdownMessage } from './markdown-export.ts'
import { type Log, LogSchema, type SessionExport, SessionExportSchema, type Step, StepSchema } from './schema.ts'

export interface LogRoutesDeps {
  engine: Engine
  oversight: Oversight
  approvals: Pick<Approvals, 'list'>
  clock: Pick<Clock, 'now'>
  /** Leaves out the secrets of this server. */
  maskText: (text: string) => string
}

const EVENTS = { max: 1_000, fallback: 200 }
/** A page of this size needs no reserved memory. */
const SMALL_CHARS = 64 * 1024
/** A page ends at this size, however few events it has. */
const PAGE_CHARS = 4 * 1024 * 1024
/** Of an export, so much is in memory at once. */
const EXPORT_PAGE = 200
const EXPORT_CHARS = 1024 * 1024
const shared = { door: null, role: 'user', method: 'GET', body: 'none' } as const
const place = 'The `id` or the `seq` of an event.'

export function createLogRoutes(deps: LogRoutesDeps): Route[] {
  const { engine, oversight, approvals, clock, maskText } = deps
  const { sessions, messages } = engine

  async function showLog(request: Request, reply: Reply): Promise<void> {
    const { query } = request
    const { limit } = decodePage(request, EVENTS)
    const structure = wordIn(query, 'structure', ['true', 'false']) === 'true'
    const session = await oversight.session(viewerOf(request), idOf(request))
    reply.note({ session_id: session.id })
    const from = placeIn(query, session.id)
    let page = await sessions.readLog(session.id, { from, limit, maxChars: SMALL_CHARS, structure })
    if (page.isCut) {
      // The page is in memory as entries, as events and as text.
      await reply.reserve(3 * PAGE_CHARS)
      page = await sessions.readLog(session.id, { from, limit, maxChars: PAGE_CHARS, structure })
    }
    const events = await createMaskEntries(sessions, session.id)(page.events)
    const body: Log = {
      events: events.map((entry) => eventView(entry, ulidOf(session.id))),
      first_seq: page.firstSeq,
      last_seq: page.lastSeq,
    }
    const path = `/sessions/${encodeURIComponent(shownIdOf(session, request.principal.owner))}/log`
    const next = page.next === null ? null : String(page.next)
    await reply.jsonPieces(200, body, nextLink(path, query, next, 'after' in from ? 'after' : 'before'))
  }

  async function showStep(request: Request, reply: Reply): Promise<void> {
    const session = await oversight.session(viewerOf(request), idOf(request))
    reply.note({ session_id: session.id })
    const seq = Number(request.params.seq)
    if (!Number.isSafeInteger(seq) || seq < 1) {
      throw new ServerError('malformed_id', 'Send the seq of a STEP_STARTED event: a whole number from 1.')
    }
    // The messages are in memory as they are stored, as they were sent, masked, and as text.
    await reply.reserve(4 * PAGE_CHARS)
    await reply.jsonPieces(200, stepView(await sessions.readStep(session, seq), maskText))
  }

  async function exportSession(request: Request, reply: Reply): Promise<void> {
    const session = await oversight.session(viewerOf(request), idOf(request))
    reply.note({ session_id: session.id })
    const isMarkdown = wordIn(request.query, 'format', ['json', 'markdown']) === 'markdown'
    const name = `session-${ulidOf(session.id)}.${isMarkdown ? 'md' : 'json'}`
    const stream = reply.stream(isMarkdown ? 'text/markdown; charset=utf-8' : 'application/json', {
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
    })
    const pieces = isMarkdown ? markdownPieces(request, session) : exportPieces(request, session)
    for await (const piece of pieces) await stream.write(piece)
    stream.end()
  }

  const isMaskedFor = (request: Request, { owner }: SessionRecord): boolean =>
    owner !== request.principal.owner || isConsole(request)

  const approvalPages = (request: Request, sessionId: string) =>
    pagesOf<Approval>((before) => approvals.list({ by: callerOf(request), sessionId, limit: EXPORT_PAGE, before }))

  async function* markdownPieces(request: Request, session: SessionRecord): AsyncGenerator<string> {
    const [overview] = await sessions.overview([session.id])
    yield markdownHead(session, overview?.title ?? '', clock.now())
    const feedback = Map.groupBy(await messages.feedback(session.id), ({ messageId }) => messageId)
    for await (const page of messagePages(session.id, isMaskedFor(request, session))) {
      for (const message of page) yield markdownMessage(message, feedback.get(message.id) ?? [])
    }
    let title = DECISIONS
    for await (const page of approvalPages(request, session.id)) {
      for (const approval of page) {
        yield `${title}${markdownDecision(approval)}`
        title = ''
      }
    }
  }

  async function* exportPieces(request: Request, session: SessionRecord): AsyncGenerator<string> {
    const isForeign = session.owner !== request.principal.owner
    const [overview] = await sessions.overview([session.id])
    const head: Pick<SessionExport, 'exported_at' | 'session'> = {
      exported_at: isoTime(clock.now()),
      session: {
        session_id: shownIdOf(session, request.principal.owner),
        created_at: isoTime(session.createdAt),
        message_count: session.messageCount,
        ...sessionRow(session, overview),
      },
    }
    yield JSON.stringify(head).slice(0, -1)
    const isMasked = isMaskedFor(request, session)
    const feedback = feedbackOf(await messages.feedback(session.id))
    yield* listPieces('messages', messagePages(session.id, isMasked), (message) => ({
      ...messageView(message),
      ...feedback(message.id),
    }))
    const runs = pagesOf<RunSummary>((last) => engine.runs.list(session.id, EXPORT_PAGE, last?.id))
    yield* listPieces('runs', runs, (run) => (isForeign ? foreignRunView(run) : runView(run, session)))
    yield* listPieces('approvals', approvalPages(request, session.id), (one) => encodeRecord(one, { isMasked }))
    yield '}'
  }

  /** Oldest first. Pages are found from the end, and then read again from the beginning, so that one at a time is in memory. */
  async function* messagePages(sessionId: string, isMasked: boolean): AsyncGenerator<StoredMessage[]> {
    const read = (before?: string) =>
      messages.page(sessionId, EXPORT_PAGE, { before, maxChars: EXPORT_CHARS, asides: false })
    const ends: (string | undefined)[] = []
    for (let before: string | undefined; ; ) {
      const [oldest] = await read(before)
      if (oldest === undefined) break
      ends.push(before)
      before = oldest.id
    }
    for (const before of ends.reverse()) {
      const page = await read(before)
      yield isMasked ? (withoutSecrets(page) as StoredMessage[]) : page
    }
  }

  return [
    {
      ...shared,
      path: '/sessions/:id/log',
      summary: 'The events of a session in pages, from any place',
      describe: () => ({
        tag: sessionTag,
        description:
          'The events of the session in the order of the log: after a place, before a place, or from the beginning. A page ends at 4 MB, so it may have fewer events than asked for.',
        params: sessionParams,
        query: {
          after: z.string().optional().describe(`${place} Only later events.`),
          before: z.string().optional().describe(`${place} Only earlier events, the nearest ones.`),
          limit: z.int().min(1).max(1_000).default(200),
          structure: z
            .enum(['true', 'false'])
            .optional()
            .describe('`true` leaves out the pieces of texts, reasoning and arguments.'),
        },
        responses: {
          200: linked(
            answer('A page of events.', LogSchema),
            'The next page in the same direction, as `rel="next"`; absent on the last one.',
          ),
        },
        errors: ['invalid_request', 'malformed_id', 'session_not_found', 'storage_failed'],
      }),
      handle: showLog,
    },
    {
      ...shared,
      role: 'operator',
      path: '/sessions/:id/steps/:seq',
      summary: 'What a step sent',
      describe: () => ({
        tag: sessionTag,
        description:
          'For operators. The system prompt, messages, tools and parameters of one call of a model, built again from the log and from the instructions that the agent had then, with secrets masked. No prompt is stored, so `unknown` says what may have been different.',
        params: { ...sessionParams, seq: z.int().min(1).describe('The `seq` of the STEP_STARTED event.') },
        responses: { 200: answer('What was sent.', StepSchema) },
        errors: ['malformed_id', 'session_not_found', 'record_not_found', 'storage_failed'],
      }),
      handle: showStep,
    },
    {
      ...shared,
      path: '/sessions/:id/export',
      summary: 'A session as one file: messages, runs and approvals',
      describe: () => ({
        tag: sessionTag,
        description:
          'One document for people and programs: the session, its messages (oldest first), its runs and its approvals (newest first). As Markdown it has what was said and called, what was decided, and what people think of answers. Files are left out. To move sessions to another server, use `quarterdeck sessions export`.',
        params: sessionParams,
        query: { format: z.enum(['json', 'markdown']).optional().describe('`markdown`: to read. Default: json.') },
        responses: {
          200: {
            ...answer('The session, as a download.', SessionExportSchema),
            headers: { 'Content-Disposition': 'Names the file.' },
          },
        },
        errors: ['invalid_request', 'malformed_id', 'session_not_found', 'storage_failed'],
      }),
      handle: exportSession,
    },
  ]
}

/** Newest first, as everywhere. `read` gives the page behind `last`; undefined: the first one. */
async function* pagesOf<T>(read: (last: T | undefined) => Promise<readonly T[]>): AsyncGenerator<readonly T[]> {
  for (let last: T | undefined; ; ) {
    const page = await read(last)
    yield page
    last = page.at(-1)
    if (page.length < EXPORT_PAGE) return
  }
}

async function* listPieces<T>(
  name: string,
  pages: AsyncIterable<readonly T[]>,
  view: (item: T) => unknown,
): AsyncGenerator<string> {
  let text = `,"${name}":[`
  for await (const page of pages) {
    for (const item of page) {
      yield `${text}${JSON.stringify(view(item))}`
      text = ','
    }
  }
  yield text === ',' ? ']' : `${text}]`
}

function stepView({ step, runId, version, request, unknown }: SentStep, maskText: (text: string) => string): Step {
  return {
    ...{ step, run_id: runId, agent: version?.name ?? null, unknown },
    parameters: version === null ? {} : parametersOf(version),
    sent: request === null ? null : withTexts(sentView(request), maskText),
  }
}

function parametersOf({ model }: NonNullable<SentStep['version']>): Step['parameters'] {
  const { provider, name, temperature, topP, maxTokens, reasoning, contextWindow } = model
  const [effort, budget] = [reasoning?.effort, reasoning?.budgetTokens]
  const set = { temperature, top_p: topP, max_tokens: maxTokens, reasoning_effort: effort, reasoning_tokens: budget }
  return { provider, model: name, ...present(set), context_window: contextWindow }
}

function sentView({ system, messages, tools, responseFormat }: NonNullable<SentStep['request']>): Step['sent'] {
  type Sent = NonNullable<Step['sent']>
  const shown = messages.map((message): Sent['messages'][number] => {
    const { role, content } = message
    const calls = role === 'assistant' ? message.toolCalls : []
    return {
      role,
      content,
      reasoning: role === 'assistant' ? (message.reasoning?.text ?? null) : null,
      tool_calls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
      tool_name: role === 'tool' ? message.toolName : null,
      is_error: role === 'tool' && message.isError,
    }
  })
  const masked = withoutSecrets(shown) as Sent['messages']
  return { system, messages: masked, tools: [...tools], response_format: responseFormat }
}

/** The same value with each text in it changed, at any depth. */
const withTexts = <T>(value: T, change: (text: string) => string): T =>
  JSON.parse(JSON.stringify(value), (_name, one) => (typeof one === 'string' ? change(one) : one))

function eventView({ seq, data }: Entry, sessionUlid: string): Log['events'][number] {
  const event: Log['events'][number]['event'] = JSON.parse(data)
  const { timestamp } = event
  const at = typeof timestamp === 'number' && Number.isSafeInteger(timestamp) ? isoTime(timestamp) : null
  return { id: `${sessionUlid}.${seq}`, seq, at, event }
}

const messageView = (message: StoredMessage): SessionExport['messages'][number] => ({
  message_id: message.id,
  role: message.role,
  content: textOf(message.content),
  created_at: isoTime(message.createdAt),
  run_id: message.runId,
  agent_name: message.agentName ?? null,
  tool_calls: (message.toolCalls ?? []).map(({ id, function: called }) => ({
    id,
    name: called.name,
    arguments: called.arguments,
  })),
  tool_call_id: message.toolCallId ?? null,
  error: message.error ?? null,
})

function placeIn(query: URLSearchParams, sessionId: string): { after: number } | { before: number } {
  const [after, before] = [query.get('after'), query.get('before')]
  if (after !== null && before !== null) {
    throw queryProblem({ pointer: 'before', detail: 'Send after or before, not both.' })
  }
  const text = before ?? after
  if (text === null) return { after: 0 }
  const cursor = parseCursor(text, sessionId)
  if (cursor.sessionId !== sessionId) throw sessionNotFound(cursor.sessionId)
  return before === null ? { after: cursor.seq } : { before: cursor.seq }
}
