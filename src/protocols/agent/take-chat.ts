// What a chat request asks for, decided and started: the run it belongs to, and how the client is told its ids.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Ids, parseUuid, ulidOf } from '../../domain/ids.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Request } from '../../http/route.ts'
import { beforeFirst } from '../ag-ui-wire/stream-run.ts'
import { resumedRun } from '../answer/resumed-run.ts'
import { knownSession } from '../request/known-session.ts'
import { idempotencyOf, onBusyOf } from '../request/start-headers.ts'
import { decodeChatRequest, refuseForm } from './decode.ts'

export interface ChatDeps {
  engine: Engine
  clock: Pick<Clock, 'now'>
  ids: Ids
}

export interface TakenChat {
  run: RunRecord
  /** Where this reader begins to read. */
  after: number
  messageId: string
  sessionId: string
}

/** With `Last-Event-ID` no work is started: the run that owns the event is the one. */
export async function takeChat(
  { engine, ids }: Pick<ChatDeps, 'engine' | 'ids'>,
  request: Request,
): Promise<TakenChat> {
  const { owner } = request.principal
  const agent = engine.agent(request.params.name ?? '')
  refuseForm(request.header('content-type'))
  const onBusy = onBusyOf(request)
  const body = await request.json()
  const idempotency = idempotencyOf(request, body)
  const { message, sessionId: reference } = decodeChatRequest(body)
  const found = reference === null ? null : await sessionOf(engine, owner, reference)

  const lastEventId = request.header('last-event-id')
  if (lastEventId !== undefined) {
    const { run, session, after } = await resumedRun(engine, owner, lastEventId)
    return { run, after, ...shownIds(run, session, found, reference) }
  }

  const { run, session } = await engine.start({
    owner,
    agent: agent.name,
    session: found === null ? { create: {} } : { existing: found },
    input: {
      messages: [{ id: ids.uuid(), role: 'user', content: message }],
      instructions: [],
      context: [],
      clientTools: [],
    },
    origin: 'reader',
    ...(onBusy === undefined ? {} : { onBusy }),
    ...(idempotency === undefined ? {} : { idempotency }),
  })
  return { run, after: beforeFirst(run), ...shownIds(run, session, found, reference) }
}

/** Null for one that nobody knows, that is another owner's or that is closed: this family then begins a new session. */
async function sessionOf(engine: Engine, owner: string, reference: string): Promise<SessionRecord | null> {
  try {
    return await knownSession(engine, owner, reference)
  } catch (error) {
    if (error instanceof ServerError && (error.code === 'session_not_found' || error.code === 'session_expired')) {
      return null
    }
    throw error
  }
}

/** The answer has its run's id: it is there before the first word, and also where none is said. */
function shownIds(
  run: RunRecord,
  session: SessionRecord,
  found: SessionRecord | null,
  reference: string | null,
): Pick<TakenChat, 'messageId' | 'sessionId'> {
  const isNamed = reference !== null && found?.id === session.id && parseUuid(reference) !== session.id
  return { messageId: ulidOf(run.id), sessionId: isNamed ? reference : ulidOf(session.id) }
}
