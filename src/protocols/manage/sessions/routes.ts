// Our own routes for sessions and runs: start background runs, show their status and events, stop them.

import { z } from 'zod'
import { type AgentDefinition, type ModelSettings, modelName } from '../../../domain/agent/agent.ts'
import { ServerError, sessionNotFound } from '../../../domain/errors.ts'
import { type Ids, parseUuid } from '../../../domain/ids.ts'
import { present } from '../../../domain/present.ts'
import { isTerminalText } from '../../../domain/session/event.ts'
import { contentWith } from '../../../domain/session/message.ts'
import { type RunRecord, START } from '../../../domain/session/run.ts'
import { refuseSupervised, type SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import { isConsole, type Reply, type Request, type Route } from '../../../http/route.ts'
import { readAnswer } from '../../shared/answer/collect-answer.ts'
import { fileErrors, startErrors } from '../../shared/answer/error-lists.ts'
import { answerSources } from '../../shared/answer/sources.ts'
import { eventStream } from '../../shared/events/describe-events.ts'
import { type EventId, entryAt, parseCursor } from '../../shared/events/event-id.ts'
import { createMaskedFollow } from '../../shared/events/mask-entries.ts'
import {
  beforeFirst,
  isEndOf,
  isOver,
  openEventStream,
  streamRun,
  streamSession,
} from '../../shared/events/stream-events.ts'
import { type Attachments, startFiles } from '../../shared/request/attachments.ts'
import { jsonWithFiles } from '../../shared/request/body-with-files.ts'
import { viewerOf } from '../../shared/request/caller.ts'
import { nullIf } from '../../shared/request/null-if.ts'
import { decodePage, linked, nextLink, older, queryProblem } from '../../shared/request/page.ts'
import { shownIdOf } from '../../shared/request/session-row.ts'
import { askedBy, messageInput, startHeaderSchemas } from '../../shared/request/start-headers.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { refuseHostChoice } from '../../shared/supervised/host-choices.ts'
import { createAppRoutes } from './app-routes.ts'
import { decodeNewMessage, idOf, NewMessageSchema, sessionParams, sessionTag } from './decode.ts'
import { foreignRunView, runView } from './encode.ts'
import { createLogRoutes, type LogRoutesDeps } from './log-routes.ts'
import { createPeopleRoutes } from './people-routes.ts'
import { type AnsweredRun, AnsweredRunSchema, RunSchema, SentMessageSchema } from './schema.ts'

export interface SessionRoutesDeps extends LogRoutesDeps {
  attachments: Attachments
  ids: Ids
}

const RUNS = { max: 100, fallback: 20 }
const { get, post, del } = routeHeads(null, 'user')
const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const runParams = { id: z.string().describe('Id of the run: UUID, ULID, or the id that its client chose.') }
const { 'Last-Event-ID': lastEventId, ...newRunHeaders } = startHeaderSchemas

const cursor = {
  query: { after: z.string().optional().describe('The `id:` of an event, or its number. Only later events are sent.') },
  headers: { 'Last-Event-ID': lastEventId.describe('Like `after`, and overrides it. An EventSource sends it.') },
}

/** Sessions and their runs. */
export const createSessionRoutes = (deps: SessionRoutesDeps): Route[] => [
  ...sessionRoutes(deps),
  ...createLogRoutes(deps),
  ...createPeopleRoutes(deps),
  ...createAppRoutes(deps),
  ...runRoutes(deps),
]

/** Throws `forbidden` and `invalid_request`. */
function triedModel({ name, tried = [] }: AgentDefinition, wanted: string, role: string | null): ModelSettings {
  if (role !== 'operator')
    throw new ServerError('forbidden', 'Only operators may try another model. Leave out `model`.')
  const found = tried.find((one) => modelName(one) === wanted)
  if (found !== undefined) return found
  const known =
    tried.length === 0 ? 'There are none: add some to try_models.' : `Send one of ${tried.map(modelName).join(', ')}.`
  const detail = `${JSON.stringify(wanted.slice(0, 200))} is not a model that ${name} may try. ${known}`
  throw new ServerError('invalid_request', detail, { problems: [{ pointer: '/model', detail }] })
}

function sessionRoutes(deps: SessionRoutesDeps): Route[] {
  const { engine, oversight, ids, attachments } = deps
  const followFor = createFollowFor(engine)

  async function postMessage(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const reference = idOf(request)
    const body = await jsonWithFiles(request)
    const asked = askedBy(request, body)
    const { message, agent, model: wanted, files: sent, replaces, again, host } = decodeNewMessage(body)
    const session = await engine.sessions.findForStart(owner, reference)
    if (session !== null) reply.note({ session_id: session.id })
    refuseSupervised(session)
    const answering = engine.agents.get(agent ?? session?.agent ?? null)
    if (host !== undefined && answering.host === null) refuseHostChoice(answering.name)
    const model = wanted === undefined ? answering.model : triedModel(answering, wanted, request.principal.role)
    const regenerateAfter = await branchPoint(session, replaces, again)
    const files = await attachments.take(owner, sent)
    await attachments.check(files, model?.input, request.signal)
    const said = messageInput({ id: ids.uuid(), content: contentWith(message ?? '', files) })
    const input = again === undefined ? said : { ...said, messages: [] }
    const { run } = await engine.runs.start({
      ...asked,
      agent,
      session: session === null ? { create: named(reference) } : { existing: session },
      input: { ...input, ...present({ regenerateAfter, model: wanted, forwardedProps: host && { host } }) },
      origin: 'background',
      ...startFiles(files),
    })
    reply.note({ session_id: run.sessionId, run_id: run.id })
    const answer = { run_id: run.id, message_id: run.input.messages[0]?.id ?? again }
    reply.json(202, answer, { Location: `/runs/${run.id}` })
  }

  /** The message after which the conversation parts. Undefined: it does not. */
  async function branchPoint(session: SessionRecord | null, replaces: string | undefined, again: string | undefined) {
    const id = again ?? replaces
    if (id === undefined) return undefined
    const [message] = session === null ? [] : await engine.messages.known(session.id, [id])
    // A superseded one is taken: the request may be a repeated one, and of two edits of a message the later one counts.
    if (session === null || message?.role !== 'user' || message.lane !== undefined) {
      const detail = 'Send the id of a message that a user wrote in this session.'
      const problems = [{ pointer: again === undefined ? '/replaces' : '/again', detail }]
      throw new ServerError('invalid_request', 'The body names an unknown message.', { problems })
    }
    if (again !== undefined) return again
    const [before] = await engine.messages.page(session.id, 1, { before: id })
    return before?.id ?? START
  }

  async function sessionEvents(request: Request, reply: Reply): Promise<void> {
    const session = await oversight.session(viewerOf(request), idOf(request))
    reply.note({ session_id: session.id })
    const { seq } = cursorOf(request, session.id)
    const seen = seq === 0 ? null : await entryAt(engine.sessions, session.id, seq)
    const reader = await openEventStream(request, reply, '1.x')
    const inRun = seen?.kind === 'event' && !isTerminalText(seen.data)
    await streamSession(deps, session, { lastSeq: seq, inRun }, reader, followFor(request, session))
    reader.stream.end()
  }

  async function listRuns(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const { limit, before } = decodePage(request, RUNS)
    const session = await oversight.session(viewerOf(request), idOf(request))
    reply.note({ session_id: session.id })
    const place = before === undefined ? undefined : await placeOf(session, before)
    const found = await engine.runs.list(session.id, limit + 1, place)
    const runs = found.slice(0, limit)
    const next = found.length > limit ? (runs.at(-1)?.id ?? null) : null
    const isForeign = session.owner !== owner
    const path = `/sessions/${encodeURIComponent(shownIdOf(session, owner))}/runs`
    const views = runs.map((run) => (isForeign ? foreignRunView(run) : runView(run, session)))
    reply.json(200, { runs: views }, nextLink(path, request.query, next))
  }

  async function placeOf(session: SessionRecord, before: string): Promise<string> {
    const run = await engine.runs.get(session.owner, before).catch(nullIf('run_not_found'))
    if (run?.sessionId === session.id) return run.id
    throw queryProblem({ pointer: 'before', detail: 'Send the id of the last run of the previous page.' })
  }

  async function deleteSession(request: Request, reply: Reply): Promise<void> {
    // Somebody else's session looks like a deleted one: the caller has nothing left to delete.
    const session = await engine.sessions.get(request.principal.owner, idOf(request)).catch(nullIf('session_not_found'))
    if (session !== null) {
      reply.note({ session_id: session.id })
      await engine.sessions.remove(session)
    }
    reply.empty(204)
  }

  return [
    {
      ...post,
      path: '/sessions/:id/messages',
      body: 'files',
      summary: 'Send a message; its run executes in the background',
      describe: () => ({
        tag: sessionTag,
        description: 'An unused name or well-formed id begins a session. The run does not need a reader.',
        params: sessionParams,
        headers: newRunHeaders,
        body: {
          schema: NewMessageSchema,
          examples: {
            text: { message: 'Where to in May?' },
            'to one agent': { message: 'Hello!', agent: 'assistant' },
            'another answer': { again: id },
            'an edited message': { message: 'Where to in June?', replaces: id },
            'with an uploaded file': { message: 'What does it say?', files: [{ file_id: id }] },
          },
        },
        responses: {
          202: {
            ...answer('The message is stored and its run accepted.', SentMessageSchema),
            headers: { Location: 'Address of the run.' },
          },
        },
        errors: [...startErrors, ...fileErrors, 'forbidden'],
      }),
      handle: postMessage,
    },
    {
      ...get,
      path: '/sessions/:id/events',
      summary: 'All events of a session: replay, then live',
      describe: () => ({
        tag: sessionTag,
        description: 'The stream does not end: it continues with the events of later runs.',
        params: sessionParams,
        ...cursor,
        responses: { 200: eventStream('All events of the session, run after run.') },
        errors: ['malformed_id', 'session_not_found', 'events_gone', 'storage_failed'],
      }),
      handle: sessionEvents,
    },
    {
      ...del,
      path: '/sessions/:id',
      summary: 'Delete a session and everything in it',
      describe: () => ({
        tag: sessionTag,
        description:
          'Stops the active run and deletes the session with everything in it. Deleting an unknown session succeeds too. A session in which an agent elsewhere works must be terminated first.',
        params: sessionParams,
        responses: { 204: { description: 'The session is deleted.' } },
        errors: ['malformed_id', 'conflict', 'storage_full', 'storage_failed'],
      }),
      handle: deleteSession,
    },
    {
      ...get,
      path: '/sessions/:id/runs',
      summary: 'The runs of a session, newest first',
      describe: () => ({
        tag: sessionTag,
        description: 'Without answers; see `GET /runs/{id}` for the answer of a run.',
        params: sessionParams,
        query: {
          limit: z.int().min(1).max(100).default(20),
          before: z
            .string()
            .optional()
            .describe('The `run_id` of the last run of the previous page; the Link header contains it.'),
        },
        responses: { 200: linked(page('runs', RunSchema, 'A page of runs, newest first.'), older('runs')) },
        errors: ['invalid_request', 'malformed_id', 'session_not_found', 'storage_failed'],
      }),
      handle: listRuns,
    },
  ]
}

function runRoutes(deps: SessionRoutesDeps): Route[] {
  const { engine, oversight } = deps
  const followFor = createFollowFor(engine)

  async function showRun(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const run = await oversight.run(viewerOf(request), idOf(request))
    reply.note({ session_id: run.sessionId, run_id: run.id })
    const answer = run.status === 'waiting' ? null : await readAnswer(engine, run)
    const body: AnsweredRun = {
      ...(await viewOf(run, owner)),
      tried_model: run.input.model ?? null,
      answer: answer?.outcome === 'completed' ? answer.text : null,
      ...(answer?.outcome === 'completed' ? answerSources(answer) : {}),
    }
    reply.json(200, body)
  }

  async function runEvents(request: Request, reply: Reply): Promise<void> {
    const run = await oversight.run(viewerOf(request), idOf(request))
    reply.note({ session_id: run.sessionId, run_id: run.id })
    const { seq } = cursorOf(request, run.sessionId)
    const seen = seq > 0 ? await entryAt(engine.sessions, run.sessionId, seq) : null
    // 204 tells an EventSource to stop. After an empty 200 it would reconnect forever.
    if (isOver(run, seq) || (seen !== null && isEndOf(run, seen))) return reply.empty(204)
    const reader = await openEventStream(request, reply, '1.x')
    const follow = followFor(request, run)
    await streamRun({ ...deps, comesBack: true }, run, Math.max(seq, beforeFirst(run)), reader, follow)
    reader.stream.end()
  }

  async function cancelRun(request: Request, reply: Reply): Promise<void> {
    const viewer = viewerOf(request)
    const run = await oversight.run(viewer, idOf(request))
    reply.note({ session_id: run.sessionId, run_id: run.id })
    reply.json(200, await viewOf(await oversight.cancel(viewer, run), viewer.owner))
  }

  const viewOf = async (run: RunRecord, owner: string) =>
    run.owner === owner ? runView(run, await engine.sessions.find(owner, run.sessionId)) : foreignRunView(run)

  return [
    {
      ...get,
      path: '/runs/:id',
      summary: 'The status of a run, and its answer',
      describe: () => ({
        tag: sessionTag,
        params: runParams,
        responses: { 200: answer('The run.', AnsweredRunSchema) },
        errors: ['malformed_id', 'run_not_found', 'storage_failed'],
      }),
      handle: showRun,
    },
    {
      ...get,
      path: '/runs/:id/events',
      summary: 'The events of a run: replay, then live until it ends',
      describe: () => ({
        tag: sessionTag,
        params: runParams,
        ...cursor,
        responses: {
          200: eventStream('The events of the run, up to RUN_FINISHED or RUN_ERROR.'),
          204: { description: 'The run has no further events.' },
        },
        errors: ['malformed_id', 'run_not_found', 'session_not_found', 'events_gone', 'storage_failed'],
      }),
      handle: runEvents,
    },
    {
      ...post,
      path: '/runs/:id/cancel',
      summary: 'Stop a run',
      describe: () => ({
        tag: sessionTag,
        description: 'May be repeated. A run that has ended stays as it is.',
        params: runParams,
        responses: { 200: answer('The run.', RunSchema) },
        errors: ['malformed_id', 'run_not_found', 'storage_full', 'storage_failed'],
      }),
      handle: cancelRun,
    },
  ]
}

/** The owner's programs get what the log has, because they may have to run the calls. People who look at a session see no secrets. */
function createFollowFor(engine: Engine) {
  const masked = createMaskedFollow(engine)
  return (request: Request, { owner }: { owner: string }): Runs['follow'] =>
    isConsole(request) || owner !== request.principal.owner ? masked : engine.runs.follow
}

/** The session is created with this id or under this name. */
function named(reference: string): { id: string } | { alias: string } {
  const id = parseUuid(reference)
  return id === null ? { alias: reference } : { id }
}

/** Where the reader continues: `Last-Event-ID`, else `after`, else the beginning. */
function cursorOf(request: Request, sessionId: string): EventId {
  const text = request.header('last-event-id') ?? request.query.get('after')
  if (text === null) return { sessionId, seq: 0 }
  const cursor = parseCursor(text, sessionId)
  if (cursor.sessionId !== sessionId) throw sessionNotFound(cursor.sessionId)
  return cursor
}
