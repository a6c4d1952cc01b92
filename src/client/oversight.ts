// What operators look at: the audit trail, usage, agents and their tests, and how the server is doing.

import { ClientError, jsonObject } from './client-error.ts'
import {
  at,
  brokenBy,
  type Call,
  type CallOptions,
  type Calls,
  type Connection,
  type PageOptions,
  queryOf,
} from './connection.ts'
import { readSse, SILENCE_MS } from './read-sse.ts'
import type {
  AcceptedPolicy,
  AcceptPolicy,
  Agent,
  AgentTests,
  AuditChain,
  AuditEntry,
  DraftPolicy,
  Health,
  McpSignIn,
  McpSignInLink,
  MyLimits,
  PolicyDraft,
  PolicyVerdict,
  Stats,
  TestCase,
  TestSummary,
  TriedPolicy,
  Usage,
  ValidatedAgent,
} from './wire.ts'

export type UsageGroup = Usage['by']

export type TestCaseEvent = { type: 'case' } & TestCase
export type TestsDone = { type: 'done' } & TestSummary

export interface AuditOptions extends PageOptions {
  /** One kind, or several with commas between. */
  kind?: string
  by?: string
  session?: string
  /** ISO 8601. */
  since?: string
  until?: string
}

export interface UsageOptions extends CallOptions {
  /** Days like 2026-11-15. */
  from?: string
  to?: string
  by?: UsageGroup
  /** Only what the runs of this session used: its id. */
  session?: string
  /** Rows of each agent or model in a day. */
  split?: 'agent' | 'model'
  agent?: string
  /** `provider/model`. */
  model?: string
  owner?: string
  limit?: number
}

export interface OversightClient {
  audit: {
    /** Newest first. A page may be short or empty although there are more: `next` is null only on the last one. */
    list(options?: AuditOptions): Promise<{ entries: AuditEntry[]; next: string | null }>
    chain(options?: CallOptions): Promise<AuditChain>
  }
  usage(options?: UsageOptions): Promise<Usage>
  /** For everybody, also users: your own limits. */
  myLimits(options?: CallOptions): Promise<MyLimits>
  agents: {
    list(options?: CallOptions): Promise<Agent[]>
    get(name: string, options?: CallOptions): Promise<Agent>
    tests(name: string, options?: CallOptions): Promise<AgentTests>
    /** Runs the test cases, or some of them by name. Leaving the loop stops them. A connection that breaks is not resumed. */
    runTests(
      name: string,
      options?: CallOptions & { cases?: readonly string[] },
    ): AsyncGenerator<TestCaseEvent | TestsDone, void, undefined>
  }
  /** The MCP servers that people sign in to. */
  mcpSignIns: {
    list(options?: CallOptions): Promise<McpSignIn[]>
    /** The address to open in a browser. */
    begin(id: string, options?: CallOptions): Promise<McpSignInLink>
    end(id: string, options?: CallOptions): Promise<void>
  }
  /** Checks the text of an agent file against the schema alone. */
  validateAgent(text: string, options?: CallOptions): Promise<ValidatedAgent>
  /** What the policy of a workspace would say about a request. */
  tryPolicy(request: TriedPolicy, options?: CallOptions): Promise<PolicyVerdict>
  /** A policy from what people decided about the agents of a workspace. */
  draftPolicy(request: DraftPolicy, options?: CallOptions): Promise<PolicyDraft>
  /** Writes a policy into the workspace, and accepts it. */
  acceptPolicy(request: AcceptPolicy, options?: CallOptions): Promise<AcceptedPolicy>
  stats(options?: CallOptions): Promise<Stats>
  /** Also answers for a server that is unhealthy. */
  health(options?: CallOptions): Promise<Health>
}

export function createOversightClient({ get, post, remove, page }: Calls, once: Connection['once']): OversightClient {
  const toPolicy =
    <Request extends object, Answer>(verb: string) =>
    (request: Request, options?: CallOptions): Promise<Answer> =>
      post(`/policy/${verb}`, request, options)
  return {
    audit: {
      list: ({ signal, ...query } = {}) => page(`/audit${queryOf({ ...query })}`, { signal }),
      chain: (options) => get('/audit/chain', options),
    },
    myLimits: (options) => get('/me/limits', options),
    usage: ({ signal, ...query } = {}) => get(`/usage${queryOf({ ...query })}`, { signal }),
    agents: {
      list: async (options) => (await get<{ agents: Agent[] }>('/agents', options)).agents,
      get: (name, options) => get(at('agents', name), options),
      tests: (name, options) => get(at('agents', name, '/tests'), options),
      async *runTests(name, { signal, cases } = {}) {
        const headers = { Accept: 'text/event-stream' }
        const body = cases === undefined ? {} : { cases }
        const call: Call = { method: 'POST', path: at('agents', name, '/tests/run'), headers, body, signal }
        try {
          const response = await once(call)
          if (response.body === null) throw new ClientError('unexpected_answer', 'The answer has no body.')
          for await (const { event, data } of readSse(response.body, { silenceMs: SILENCE_MS })) {
            const value = jsonObject(data)
            if (value === null) throw new ClientError('unexpected_answer', 'An event is not a JSON object.')
            if (event === 'case') yield { ...value, type: 'case' } as TestCaseEvent
            if (event !== 'done') continue
            yield { ...value, type: 'done' } as TestsDone
            return
          }
          throw new ClientError('unreachable', 'The connection broke before the tests had ended.')
        } catch (error) {
          throw brokenBy(error, signal)
        }
      },
    },
    mcpSignIns: {
      list: async (options) => (await get<{ sign_ins: McpSignIn[] }>('/sign-ins', options)).sign_ins,
      begin: (id, options) => post(at('sign-ins', id), {}, options),
      end: (id, options) => remove(at('sign-ins', id), options),
    },
    validateAgent: (text, options) => post('/validate/agent', { text }, options),
    tryPolicy: toPolicy('try'),
    draftPolicy: toPolicy('draft'),
    acceptPolicy: toPolicy('accept'),
    stats: (options) => get('/stats', options),
    async health({ signal } = {}) {
      const call: Call = { method: 'GET', path: '/health', signal }
      // An unhealthy server answers 503 with the same body.
      const body = await once(call).then(
        async (response) => jsonObject(await response.text()),
        (error: unknown) => {
          if (error instanceof ClientError && error.problem?.status !== undefined) return error.problem
          throw error
        },
      )
      if (typeof body?.status === 'string') return body as unknown as Health
      throw new ClientError('unexpected_answer', 'The answer of /health is not a health. Check the address.')
    },
  }
}
