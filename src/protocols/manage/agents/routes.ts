// The agents of this server: what they are made of, a check of agent files, and their test cases.

import type { AgentDefinition } from '../../../domain/agent.ts'
import { ServerError } from '../../../domain/errors.ts'
import { createMask } from '../../../domain/mask.ts'
import { refuseOtherAgent } from '../../../domain/token-role.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { CaseResult } from '../../../evaluation/case-result.ts'
import type { TestRuns } from '../../../evaluation/test-runs.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { sseFrame } from '../../../http/sse.ts'
import { capabilitiesOf } from '../../shared/capabilities.ts'
import { inputProblems, validate } from '../../shared/request/validate.ts'
import { approvalWords } from './approval-words.ts'
import {
  describeAgent,
  describeAgents,
  describeRunTests,
  describeTests,
  describeValidate,
  RunTestsSchema,
  ValidateSchema,
} from './describe.ts'
import type { Agent, AgentTests, AgentTool, TestCase, TestSummary, ValidatedAgent } from './schema.ts'

export interface AgentRoutesDeps {
  engine: Pick<Engine, 'agents'>
  /** Looks at nothing but the text. */
  checkAgentText(text: string, signal: AbortSignal): Promise<AgentTextProblem[]>
  tests: Pick<TestRuns, 'begin' | 'isRunning'>
  /** Version of this server. */
  version: string
}

export interface AgentTextProblem {
  line: number
  column: number
  path: string
  message: string
}

type Tool = Awaited<ReturnType<Engine['agents']['tools']>>[number]

const MOST_ANSWER_CHARS = 20_000
/** The file masks values by their keys. This finds what looks like a key anywhere else. */
const masked = createMask([])

export function createManagedAgentRoutes(deps: AgentRoutesDeps): Route[] {
  return [...agentRoutes(deps), ...testRoutes(deps)]
}

function agentRoutes({ engine, checkAgentText, version }: AgentRoutesDeps): Route[] {
  async function viewOf(agent: AgentDefinition, request: Request, withSource: boolean): Promise<Agent> {
    const tools = await engine.agents.tools(agent.name, request.signal)
    const { source } = agent
    return {
      name: agent.name,
      description: agent.description,
      is_default: agent.default,
      model: { provider: agent.model.provider, name: agent.model.name },
      tools: tools.map((tool) => toolView(tool, agent)),
      capabilities: capabilitiesOf(agent, version),
      source:
        source === undefined || !withSource || request.principal.role !== 'operator'
          ? null
          : { path: source.path, text: masked(source.text) },
      tests: agent.testCases.length,
      suggestions: [...(agent.suggestions ?? [])],
    }
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const agents = await Promise.all(engine.agents.list.map((agent) => viewOf(agent, request, false)))
    reply.json(200, { agents })
  }

  async function show(request: Request, reply: Reply): Promise<void> {
    reply.json(200, await viewOf(agentOf(engine, request), request, true))
  }

  async function check(request: Request, reply: Reply): Promise<void> {
    const { text } = bodyOf(ValidateSchema, await request.json())
    const problems = await checkAgentText(text, request.signal)
    const body: ValidatedAgent = { ok: problems.length === 0, problems }
    reply.json(200, body)
  }

  const shared = { door: null, role: 'user', method: 'GET', body: 'none' } as const
  return [
    { ...shared, path: '/agents', summary: 'List the agents', describe: describeAgents, handle: list },
    {
      ...shared,
      path: '/agents/:name',
      summary: 'One agent: its model, tools, file and suggestions',
      describe: describeAgent,
      handle: show,
    },
    {
      door: null,
      role: 'operator',
      method: 'POST',
      path: '/validate/agent',
      body: 'message',
      summary: 'Check the text of an agent file',
      describe: describeValidate,
      handle: check,
    },
  ]
}

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
    const body: AgentTests = {
      agent: name,
      running: tests.isRunning(name),
      cases: testCases.map((one) => ({
        name: one.name,
        turns: one.turns,
        tools: one.tools.map((tool) => tool.name),
        checks: one.checks.map(({ check }) => check),
        timeout_seconds: one.timeoutMs / 1_000,
      })),
    }
    reply.json(200, body)
  }

  async function run(request: Request, reply: Reply): Promise<void> {
    const agent = agentOf(engine, request)
    refuseOtherAgent(request.principal.agent, agent.name)
    const { cases = null } = bodyOf(RunTestsSchema, await request.json())
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

  const shared = { door: null, role: 'operator' } as const
  return [
    {
      ...shared,
      method: 'GET',
      path: '/agents/:name/tests',
      body: 'none',
      summary: 'The test cases of an agent',
      describe: describeTests,
      handle: list,
    },
    {
      ...shared,
      method: 'POST',
      path: '/agents/:name/tests/run',
      body: 'control',
      summary: 'Run the test cases of an agent; answers with a stream',
      describe: describeRunTests,
      handle: run,
    },
  ]
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

function bodyOf<T>(schema: Parameters<typeof validate<T>>[0], body: unknown): T {
  const parsed = validate(schema, body)
  if (parsed.success) return parsed.data
  throw new ServerError('invalid_request', 'The body is not what this route takes.', {
    problems: inputProblems(parsed.issues),
  })
}
