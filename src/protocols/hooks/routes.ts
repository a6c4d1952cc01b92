// The door for the hooks of hosts. `quarterdeck hook HOST` calls it and prints `output`. While somebody decides, an empty line every
// few seconds tells the hook that the server is alive, so that it can refuse the call soon if it is not.

import { z } from 'zod'
import { abortAfter, untilAborted } from '../../domain/abort.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { Words } from '../../hosts/host.ts'
import { type HostName, hostNames, isHostName } from '../../hosts/hosts.ts'
import { type AgentPrincipal, agentOf, type Reply, type Request, type Route } from '../../http/route.ts'
import type { HookCall, HookService, HookVerdict } from '../../supervision/hooks/hook-service.ts'
import { routeHeads } from '../shared/route-heads.ts'
import { decodeHook } from './decode.ts'
import { behaviors, encodeReply, encodeVerdict, HEARTBEAT_MS, type HookAnswer } from './encode.ts'

/** Without a limit from the hook. Most hosts end a hook after a minute. */
const USUAL_LIMIT_MS = 50_000
const LONGEST_LIMIT_MS = 24 * 60 * 60 * 1000

export function createHookRoutes({ service, clock }: { service: HookService; clock: Clock }): Route[] {
  async function handle(request: Request, reply: Reply): Promise<void> {
    const host = hostOf(request.params.host ?? '')
    const agent = agentOf(request)
    const limitMs = limitOf(request.query.get('limit_ms'))
    const { wireEvent, asked } = decodeHook(host, await request.json())
    const answer = (behavior: HookAnswer['behavior'], output: Words): HookAnswer => ({
      hook: host,
      behavior,
      output,
    })
    if (asked.event !== 'permission') {
      const said = await service.report(hookAgent(agent), asked)
      reply.json(200, answer('noted', encodeReply(host, wireEvent, said)))
      return
    }
    const stream = reply.stream('application/json', { 'Cache-Control': 'no-store' })
    const beat = (): void => {
      void stream.write('\n')?.catch(() => {})
    }
    beat()
    const stopBeating = every(HEARTBEAT_MS, clock, beat)
    try {
      const verdict = await decide(service, hookAgent(agent), asked, { request, limitMs, clock })
      const output = encodeVerdict(host, wireEvent, verdict, asked.input)
      await stream.write(`${JSON.stringify(answer(verdict.behavior, output))}\n`)
    } finally {
      stopBeating()
      stream.end()
    }
  }

  return [
    {
      ...routeHeads('mcp', 'agent').post,
      path: '/hooks/:host',
      body: 'files',
      summary: 'Ask on behalf of a host’s hook whether a tool may run',
      describe: () => ({
        tag: 'Supervision',
        description:
          'For `quarterdeck hook`, which hosts run before they act. The body is what the host gives to its hook. The answer may take as long ' +
          'as a person needs; until then it is empty lines. Every failure means: refuse the call.',
        params: { host: z.enum(hostNames) },
        query: {
          limit_ms: z
            .int()
            .min(1)
            .max(LONGEST_LIMIT_MS)
            .optional()
            .describe('How long the hook may wait, in milliseconds. Default: 50,000.'),
        },
        body: {
          schema: z.looseObject({ hook_event_name: z.string(), session_id: z.string().optional() }),
          examples: {
            claude: {
              hook_event_name: 'PreToolUse',
              session_id: '4b3b53df-4d93-4dd6-9742-00c0ae0a75c4',
              cwd: '/home/ada/shop',
              tool_name: 'Bash',
              tool_input: { command: 'npm test' },
              tool_use_id: 'toolu_01',
            },
          },
        },
        responses: {
          200: {
            description: 'What the hook prints, and what it means.',
            content: {
              'application/json': {
                schema: z.strictObject({
                  hook: z.enum(hostNames),
                  behavior: z.enum(behaviors),
                  output: z.record(z.string(), z.unknown()),
                }),
                example: {
                  hook: 'claude',
                  behavior: 'deny',
                  output: {
                    hookSpecificOutput: {
                      hookEventName: 'PreToolUse',
                      permissionDecision: 'deny',
                      permissionDecisionReason: 'Not on a Friday.',
                    },
                  },
                },
              },
            },
          },
        },
        errors: ['invalid_request', 'malformed_json', 'unsupported_media_type', 'body_too_large', 'request_timeout'],
      }),
      handle,
    },
  ]
}

/** Never rejects: from here on a failure is a refusal. */
async function decide(
  service: HookService,
  agent: ReturnType<typeof hookAgent>,
  call: HookCall,
  { request, limitMs, clock }: { request: Request; limitMs: number; clock: Clock },
): Promise<HookVerdict> {
  // From then on nobody hears the service, so it must use nothing up.
  using late = abortAfter(clock, limitMs)
  const signal = AbortSignal.any([request.signal, late.signal])
  try {
    const asked = service.permission(agent, call, { signal, limitMs: serviceLimit(limitMs) })
    return await untilAborted(asked, late.signal)
  } catch (error) {
    if (late.signal.aborted) return { behavior: 'deny', message: NOT_YET }
    if (error instanceof ServerError) return { behavior: 'deny', message: error.message }
    request.log.error('a hook could not be answered', { error })
    return {
      behavior: 'deny',
      message: `Quarterdeck could not decide about this call because of an error. Its log has more under ${request.correlationId}.`,
    }
  }
}

/** The service needs a moment to write down that its answer is used. */
const serviceLimit = (limitMs: number): number => Math.max(limitMs - 1_000, Math.ceil(limitMs / 2))

const NOT_YET =
  'Nobody has decided about this call yet. The question is still open: wait a moment, then make exactly the same call again.'

const hookAgent = ({ owner, tokenId, workspace, channel }: AgentPrincipal) =>
  present({ owner, tokenId, workspace, channel })

function hostOf(name: string): HostName {
  if (isHostName(name)) return name
  throw new ServerError('route_not_found', `There are no hooks for ${JSON.stringify(name.slice(0, 100))}.`, {
    details: { hosts: hostNames.join(', ') },
  })
}

function limitOf(text: string | null): number {
  if (text === null) return USUAL_LIMIT_MS
  const ms = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (ms > 0 && ms <= LONGEST_LIMIT_MS) return ms
  throw new ServerError('invalid_request', `limit_ms: send a number from 1 to ${LONGEST_LIMIT_MS}.`)
}

/** Calls `work` again and again. The returned function ends it. */
function every(ms: number, clock: Clock, work: () => void): () => void {
  let stop = () => {}
  const next = (): void => {
    stop = clock.after(ms, () => {
      work()
      next()
    })
  }
  next()
  return () => stop()
}
