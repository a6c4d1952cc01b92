// The agents of this server: what they are made of, a check of agent files, and their test cases.

import { z } from 'zod'
import { type AgentDefinition, type HostSettings, modelName } from '../../../domain/agent/agent.ts'
import { isoTime } from '../../../domain/clock.ts'
import { refuseOtherAgent } from '../../../domain/supervision/token-role.ts'
import { createMask } from '../../../domain/text/mask.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { CaseResult } from '../../../evaluation/case-result.ts'
import type { CaseHistory } from '../../../evaluation/test-history.ts'
import type { TestRuns } from '../../../evaluation/test-runs.ts'
import { answer, listOf } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { sseFrame } from '../../../http/sse.ts'
import { capabilitiesOf } from '../../shared/capabilities.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { approvalWords } from './approval-words.ts'
import {
  type Agent,
  AgentSchema,
  type AgentTests,
  AgentTestsSchema,
  type AgentTool,
  CaseSchema,
  DoneSchema,
  type TestCase,
  type TestSummary,
  type ValidatedAgent,
  ValidatedAgentSchema,
} from './schema.ts'

export interface AgentRoutesDeps {
  engine: Pick<Engine, 'agents'>
  /** Looks at nothing but the text. */
  checkAgentText(text: string, signal: AbortSignal): Promise<ValidatedAgent['problems']>
  tests: Pick<TestRuns, 'begin' | 'isRunning' | 'history'>
  /** Version of this server. */
  version: string
}

type Tool = Awaited<ReturnType<Engine['agents']['tools']>>[number]

const user = routeHeads(null, 'user')
const operator = routeHeads(null, 'operator')
const NOT_TAKEN = 'The body is not what this route takes.'
const MOST_ANSWER_CHARS = 20_000
/** The file masks values by their keys. This finds what looks like a key anywhere else. */
const masked = createMask([])
const tag = 'Agents'
const params = { name: z.string().describe('Name of the agent.') }

/** Of the text of an agent file, in UTF-8. */
const MOST_TEXT_BYTES = 256 * 1024

const ValidateSchema = z.strictObject({
  text: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= MOST_TEXT_BYTES, 'Send at most 262144 bytes of text.')
    .describe('The text of an agent file, at most 256 KB.'),
})

const RunTestsSchema = z.strictObject({
  cases: z.array(z.string()).min(1).max(1_000).exactOptional().describe('Names of cases. Left out: all.'),
})

export function createManagedAgentRoutes(deps: AgentRoutesDeps): Route[] {
  return [...agentRoutes(deps), ...testRoutes(deps)]
}

function agentRoutes({ engine, checkAgentText, version }: AgentRoutesDeps): Route[] {
  async function viewOf(agent: AgentDefinition, request: Request, withSource: boolean): Promise<Agent> {
    const tools = await engine.agents.tools(agent.name, request.signal, request.principal.owner)
    const { source } = agent
    return {
      name: agent.name,
      description: agent.description,
      is_default: agent.default,
      model: agent.model === null ? null : { provider: agent.model.provider, name: agent.model.name },
      host: agent.host === null ? null : hostView(agent.host, request),
      try_models: request.principal.role === 'operator' ? (agent.tried ?? []).map(modelName) : [],
      tools: tools.map((tool) => toolView(tool, agent)),
      capabilities: capabilitiesOf(agent, version),
      source:
        source === undefined || !withSource || request.principal.role !== 'operator'
          ? null
          : { path: source.path, text: masked(source.text) },
      tests: agent.testCases.length,
      suggestions: [...(agent.suggestions ?? [])],
      skills:
        withSource && request.principal.role === 'operator'
          ? (agent.skills ?? []).map(({ name, description, bytes, files }) => ({
              name,
              description,
              bytes,
              files: files.map(({ path, bytes }) => ({ path, bytes })),
            }))
          : [],
    }
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const { agent: only } = request.principal
    const found = engine.agents.list.filter(({ name }) => only === undefined || name === only)
    const agents = await Promise.all(found.map((agent) => viewOf(agent, request, false)))
    reply.json(200, { agents })
  }

  async function show(request: Request, reply: Reply): Promise<void> {
    reply.json(200, await viewOf(agentOf(engine, request), request, true))
  }

  async function check(request: Request, reply: Reply): Promise<void> {
    const { text } = validBody(ValidateSchema, await request.json(), NOT_TAKEN)
    const problems = await checkAgentText(text, request.signal)
    const body: ValidatedAgent = { ok: problems.length === 0, problems }
    reply.json(200, body)
  }

  return [
    {
      ...user.get,
      path: '/agents',
      summary: 'List the agents',
      describe: () => ({
        tag,
        description:
          'The agents of this server, or the only one that the token may talk to. Starts the MCP servers of their tools if necessary, and leaves out the tools of those that cannot be reached.',
        responses: { 200: listOf('agents', AgentSchema, 'The agents, in the order in which they were given.') },
        errors: [],
      }),
      handle: list,
    },
    {
      ...user.get,
      path: '/agents/:name',
      summary: 'One agent: its model, tools, file and suggestions',
      describe: () => ({
        tag,
        description: 'Variables in `source` stay as they are written, and secrets are masked.',
        params,
        responses: {
          200: answer('The agent.', AgentSchema, { source: { path: '/srv/agent.yaml', text: 'name: assistant\n…' } }),
        },
        errors: ['agent_not_found'],
      }),
      handle: show,
    },
    {
      door: null,
      role: 'operator',
      method: 'POST',
      path: '/validate/agent',
      body: 'message',
      summary: 'Check the text of an agent file',
      describe: () => ({
        tag,
        description:
          'Checks a text against the schema of agent files, and nothing else: no file is opened, no variable is read, nothing is imported, started or stored. At most 50 problems.',
        body: {
          schema: ValidateSchema,
          examples: { 'a mistake': { text: 'name: assistant\nmodel: { provider: openai }\n' } },
        },
        responses: { 200: answer('What is wrong with the text.', ValidatedAgentSchema) },
        errors: ['invalid_request', 'body_too_large', 'limit'],
      }),
      handle: check,
    },
  ]
}

const hostView = (
  { name, workspace, writes, unconfined, network }: HostSettings,
  { principal }: Request,
): Agent['host'] => ({
  name,
  workspace: principal.role === 'operator' ? workspace : null,
  writes,
  unconfined,
  network,
})

const toolView = (tool: Tool, agent: AgentDefinition): AgentTool => ({
  name: tool.name,
  description: tool.description,
  effect: tool.effect,
  risk: tool.risk,
  approval: approvalWords(
    { approval: tool.approval, risk: tool.risk, asksItself: tool.needsApproval !== undefined },
    agent.approval,
  ),
  execution_location: tool.location === 'client' ? 'client' : 'server',
  parameters: tool.parameters,
})

function testRoutes({ engine, tests }: AgentRoutesDeps): Route[] {
  async function list(request: Request, reply: Reply): Promise<void> {
    const { name, testCases } = agentOf(engine, request)
    const history = await tests.history(name)
    const body: AgentTests = {
      agent: name,
      running: tests.isRunning(name),
      cases: testCases.map((one) => ({
        name: one.name,
        ...('questions' in one
          ? { turns: [], tools: [one.knowledge], checks: ['recall@5', ...(one.mrr === null ? [] : ['mrr'])] }
          : {
              turns: one.turns,
              tools: one.tools.map((tool) => tool.name),
              checks: one.checks.map(({ check }) => check),
            }),
        timeout_seconds: one.timeoutMs / 1_000,
        ...historyView(history.get(one.name)),
      })),
    }
    reply.json(200, body)
  }

  async function run(request: Request, reply: Reply): Promise<void> {
    const agent = agentOf(engine, request)
    refuseOtherAgent(request.principal.agent, agent.name)
    const { cases = null } = validBody(RunTestsSchema, await request.json(), NOT_TAKEN)
    const begun = await tests.begin(agent, cases, request.signal)
    request.log.info('tests begin', { agent: agent.name, cases: begun.names.length })
    const stream = reply.sse()
    // Events come when cases end, which may be faster than the reader reads.
    let written: Promise<void> = Promise.resolve()
    const send = (event: string, data: object): void => {
      written = written.then(() => stream.write(sseFrame({ event, data: JSON.stringify(data) })))
      // Whoever has left is noticed by the signal.
      written.catch(() => {})
    }
    const { results, durationMs } = await begun.run(({ name, result }) => send('case', caseView(name, result)))
    const count = (outcome: CaseResult['outcome']) => results.filter((one) => one.outcome === outcome).length
    const summary: TestSummary = {
      total: results.length,
      passed: count('passed'),
      failed: count('failed'),
      errors: count('error'),
      stopped: count('stopped'),
      duration_ms: durationMs,
    }
    send('done', summary)
    await written
    stream.end()
  }

  return [
    {
      ...operator.get,
      path: '/agents/:name/tests',
      summary: 'The test cases of an agent',
      describe: () => ({
        tag,
        params,
        responses: { 200: answer('The test cases, in the order of the file.', AgentTestsSchema) },
        errors: ['agent_not_found'],
      }),
      handle: list,
    },
    {
      ...operator.post,
      path: '/agents/:name/tests/run',
      summary: 'Run the test cases of an agent; answers with a stream',
      describe: () => ({
        tag,
        description:
          'Runs the test cases as `quarterdeck test` does: with the real model and the real tools, in memory beside the server, so nothing is in its log and nobody is asked. The last ten results of each case are kept. Approvals are answered by the cases. Leaving the stream stops the tests. An agent’s tests run once at a time.',
        params,
        body: { schema: RunTestsSchema, examples: { all: {}, some: { cases: ['knows the capital'] } } },
        responses: {
          200: {
            description: 'A `case` event when a case begins and one when it ends, then `done`.',
            content: {
              'text/event-stream': {
                schema: z.union([CaseSchema, DoneSchema]),
                events: { case: CaseSchema, done: DoneSchema },
              },
            },
          },
        },
        errors: ['invalid_request', 'agent_not_found', 'conflict', 'config_invalid'],
      }),
      handle: run,
    },
  ]
}

function historyView({ results = [], failingSince = null, findings = [] }: Partial<CaseHistory> = {}) {
  return {
    results: results.map(({ at, outcome, durationMs }) => ({ at: isoTime(at), outcome, duration_ms: durationMs })),
    failing_since: failingSince === null ? null : isoTime(failingSince),
    findings,
  }
}

/** A case that has begun has no result yet. */
function caseView(name: string, result: CaseResult | null): TestCase {
  return {
    name,
    outcome: result?.outcome ?? 'running',
    findings: result?.findings ?? [],
    duration_ms: result?.durationMs ?? 0,
    tokens: result?.tokens ?? { input: 0, output: 0 },
    answer: (result?.answer ?? '').slice(0, MOST_ANSWER_CHARS).toWellFormed(),
    calls: (result?.calls ?? []).map(({ name: tool, arguments: args }) => ({ name: tool, arguments: args })),
  }
}

const agentOf = (engine: AgentRoutesDeps['engine'], request: Request): AgentDefinition =>
  engine.agents.get(request.params.name ?? '')
