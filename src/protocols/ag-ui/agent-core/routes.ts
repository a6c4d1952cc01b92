// The contract that Amazon Bedrock AgentCore has for AG-UI agents, so that the same image runs there.

import { EventSchema, RunAgentInputSchema } from '@ag-ui/core/schemas'
import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { isClientId } from '../../../domain/ids.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { startErrors } from '../../shared/answer/error-lists.ts'
import { exampleInput, nothingMore } from '../../shared/events/describe-events.ts'
import { jsonWithFiles } from '../../shared/request/body-with-files.ts'
import { askedBy, startHeaderSchemas } from '../../shared/request/start-headers.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { decodeRunAgentInput } from '../wire/decode-input.ts'
import { type InputCall, type RunInputDeps, runInput } from '../wire/run-input.ts'

// AgentCore names the session in a header, AG-UI in the body. The header wins: the platform sets it and sends every request with it
// to the same machine. The events still carry the client's own threadId.
export const SESSION_HEADER = 'X-Amzn-Bedrock-AgentCore-Runtime-Session-Id'

const PingSchema = z.object({
  status: z.enum(['Healthy', 'HealthyBusy']).meta({ description: '`HealthyBusy` while a run is active or queued.' }),
  time_of_last_update: z.int().meta({ description: 'When the status last changed, in seconds since 1970.' }),
})

type Ping = z.infer<typeof PingSchema>

export function createAgentCoreRoutes(deps: RunInputDeps): Route[] {
  const { engine, clock } = deps
  const ping = createPing(engine, clock)

  async function invoke(request: Request, reply: Reply): Promise<void> {
    return runInput(deps, { request, reply, agent: null, ...(await decodeInvocation(request)) })
  }

  return [
    {
      ...routeHeads('ag-ui', 'user').post,
      path: '/invocations',
      body: 'files',
      summary: 'AgentCore: run the default agent. Takes an AG-UI RunAgentInput, answers with a stream of events',
      describe: () => ({
        tag: 'AgentCore',
        description: `Like \`POST /\`. The header \`${SESSION_HEADER}\` names the session and overrides the \`threadId\` of the body; the events repeat the \`threadId\` of the body. A client with several conversations uses one runtime session for each.`,
        headers: {
          ...startHeaderSchemas,
          [SESSION_HEADER]: z.string().min(1).max(128).optional().meta({ description: 'Id of the session.' }),
        },
        body: { schema: RunAgentInputSchema, examples: { 'a first message': exampleInput } },
        responses: {
          200: {
            description: 'AG-UI events.',
            content: { 'text/event-stream': { schema: EventSchema } },
          },
          204: nothingMore,
        },
        errors: [...startErrors, 'file_too_large', 'too_many_files'],
      }),
      handle: invoke,
    },
    {
      ...routeHeads('ag-ui', 'public').get,
      path: '/ping',
      // A draining server still works. The platform must not take it for dead.
      anytime: true,
      summary: 'AgentCore: whether the server is alive, and whether it is busy',
      describe: () => ({
        tag: 'AgentCore',
        responses: {
          200: {
            description: 'The server is alive.',
            content: {
              'application/json': {
                schema: PingSchema,
                example: { status: 'Healthy', time_of_last_update: 1_800_000_000 },
              },
            },
          },
        },
        errors: [],
      }),
      handle: async (_request, reply) => reply.json(200, ping()),
    },
  ]
}

/** Throws `malformed_id` for a header that cannot name a session, and what `decodeRunAgentInput` throws. */
async function decodeInvocation(
  request: Request,
): Promise<Pick<InputCall, 'input' | 'sessionName' | 'asked' | 'body'>> {
  const session = runtimeSessionOf(request)
  const sent = await jsonWithFiles(request)
  const body = session === undefined ? sent : withThreadId(sent, session)
  // The same words to another session are another request.
  const asked = askedBy(request, [body, session ?? null])
  const input = decodeRunAgentInput(body)
  return { input, sessionName: session ?? input.threadId, asked, body }
}

/** Undefined without the header. */
function runtimeSessionOf(request: Pick<Request, 'header'>): string | undefined {
  const id = request.header(SESSION_HEADER)
  if (id === undefined || isClientId(id)) return id
  const detail = 'Send 1 to 128 printable characters.'
  throw new ServerError('malformed_id', `The header ${SESSION_HEADER} does not name a session. ${detail}`, {
    problems: [{ pointer: SESSION_HEADER, detail }],
  })
}

/** A body without a threadId gets the id of the session. */
const withThreadId = (body: unknown, threadId: string): unknown =>
  isRecord(body) && body.threadId == null ? { ...body, threadId } : body

/**
 * The answer to the platform. It stops a machine that has been `Healthy` for a long time, so a run that began and ended between
 * two pings also counts as a change.
 */
export function createPing(engine: Pick<Engine, 'stats'>, clock: Pick<Clock, 'now'>): () => Ping {
  let seen = look()
  let changedAt = clock.now()

  function look() {
    const { activeRuns, queuedRuns, runsStarted } = engine.stats()
    return { isBusy: activeRuns + queuedRuns > 0, runsStarted }
  }

  return () => {
    const current = look()
    if (current.isBusy !== seen.isBusy || current.runsStarted !== seen.runsStarted) changedAt = clock.now()
    seen = current
    return { status: current.isBusy ? 'HealthyBusy' : 'Healthy', time_of_last_update: Math.floor(changedAt / 1000) }
  }
}
