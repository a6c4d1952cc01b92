// Starts or finds the run of a chat request, and says which ids the client sees.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Ids, parseUuid, ulidOf } from '../../domain/ids.ts'
import type { FileRecord } from '../../domain/session/file.ts'
import { contentWith } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { refuseSupervised, type SessionRecord } from '../../domain/session/session.ts'
import type { Engine } from '../../engine/engine.ts'
import { isMultipart } from '../../http/body/multipart.ts'
import type { Reply, Request } from '../../http/route.ts'
import { resumedRun } from '../shared/answer/resumed-run.ts'
import { beforeFirst } from '../shared/events/stream-events.ts'
import { type Attachments, startFiles } from '../shared/request/attachments.ts'
import { jsonWithFiles, releaseBody } from '../shared/request/body-with-files.ts'
import { askedBy } from '../shared/request/start-headers.ts'
import { decodeChatRequest, readChatForm } from './decode.ts'

export interface ChatDeps {
  engine: Engine
  clock: Pick<Clock, 'now'>
  ids: Ids
  attachments: Attachments
}

interface StartedChat {
  run: RunRecord
  /** The reader starts after this entry. */
  after: number
  messageId: string
  sessionId: string
}

/** With `Last-Event-ID` it starts no run, and finds the run of that event. */
export async function startChat(
  { engine, ids, attachments }: Omit<ChatDeps, 'clock'>,
  request: Request,
  reply: Pick<Reply, 'note'>,
): Promise<StartedChat> {
  const { owner } = request.principal
  const agent = engine.agents.get(request.params.name ?? '')
  const lastEventId = request.header('last-event-id')
  const {
    sent: body,
    content,
    uploaded,
  } = isMultipart(request.header('content-type'))
    ? await readForm(attachments, request, lastEventId === undefined)
    : await readBody(request)
  const asked = askedBy(request, content)
  const { message, sessionId: reference, files: sent } = decodeChatRequest(body)
  const found = reference === null ? null : await sessionOf(engine, owner, reference)
  if (found !== null) reply.note({ session_id: found.id })

  if (lastEventId !== undefined) {
    const { run, session, after } = await resumedRun(engine, owner, lastEventId, found)
    return { run, after, ...shownIds(run, session, found, reference) }
  }

  refuseSupervised(found)
  const files = [...uploaded, ...(await attachments.take(owner, sent))]
  releaseBody(request, [body])
  await attachments.check(files, agent.model.input, request.signal)
  const { run, session } = await engine.runs.start({
    ...asked,
    agent: agent.name,
    session: found === null ? { create: {} } : { existing: found },
    input: {
      messages: [{ id: ids.uuid(), role: 'user', content: contentWith(message, files) }],
      instructions: [],
      context: [],
      clientTools: [],
    },
    origin: 'reader',
    ...startFiles(files),
  })
  return { run, after: beforeFirst(run), ...shownIds(run, session, found, reference) }
}

interface SentChat {
  /** The request, not checked yet. */
  sent: unknown
  /** The content that `Idempotency-Key` is bound to. */
  content: unknown
  uploaded: FileRecord[]
}

async function readBody(request: Request): Promise<SentChat> {
  const body = await jsonWithFiles(request)
  return { sent: body, content: body, uploaded: [] }
}

/** A client that resumes a stream sends the whole request again. Its files are already stored, so `keeps` is false. */
async function readForm(attachments: Attachments, request: Request, keeps: boolean): Promise<SentChat> {
  const { owner } = request.principal
  const { fields, files } = await readChatForm(request.multipart(), async (part) =>
    keeps ? [await attachments.upload(owner, part)] : [],
  )
  const uploaded = files.flat()
  const contents = uploaded.map(({ name, mimeType, sha256 }) => [name, mimeType, sha256])
  return { sent: fields, content: { ...fields, files: contents }, uploaded }
}

/** Null for a session that is unknown, somebody else's or closed: these routes then begin a new session. */
async function sessionOf(engine: Engine, owner: string, reference: string): Promise<SessionRecord | null> {
  try {
    return await engine.sessions.getOpen(owner, reference)
  } catch (error) {
    if (error instanceof ServerError && (error.code === 'session_not_found' || error.code === 'session_expired')) {
      return null
    }
    throw error
  }
}

/** The answer has the id of its run, because that exists before the first word and even if nothing is said. */
function shownIds(
  run: RunRecord,
  session: SessionRecord,
  found: SessionRecord | null,
  reference: string | null,
): Pick<StartedChat, 'messageId' | 'sessionId'> {
  const isNamed = reference !== null && found?.id === session.id && parseUuid(reference) !== session.id
  return { messageId: ulidOf(run.id), sessionId: isNamed ? reference : ulidOf(session.id) }
}
