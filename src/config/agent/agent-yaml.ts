// The schema of agent.yaml. `define-agent.ts` turns a checked file into an AgentDefinition.

import { z } from 'zod'
import { contextModes, memoryTools } from '../../domain/agent/agent.ts'
import { LOAD_SKILL } from '../../domain/agent/skill.ts'
import { isRecord } from '../../domain/is-record.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { jsonSchema } from '../source/json-schema-yaml.ts'
import { textOrFile } from '../source/load-context.ts'
import { count, duration, key, oneOrMore, type Report, reporter, text } from '../source/schema-key.ts'
import { tools } from '../tools/tool-yaml.ts'
import { approval } from './approval-yaml.ts'
import { host } from './host-yaml.ts'
import { model } from './model-yaml.ts'
import { schedules } from './schedule-yaml.ts'
import { testCases } from './test-case-yaml.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

const limit = (value: number, description: string, min = 1) => key(count(min).default(value), description, value)

const limits = z.strictObject({
  steps: limit(25, 'Model answers per run.'),
  tokens: key(count().optional(), 'Model tokens (input and output) per run. Default: no limit.', 200_000),
  duration: duration('Time per run; waiting in the queue or for a person does not count.', '15m').prefault(900),
  cost: key(
    z.number().positive().optional(),
    'Cost per run, in the currency of `model.prices`. Default: no limit.',
    0.5,
  ),
  tool_calls: limit(100, 'Tool calls per run.'),
  answer_chars: limit(
    1_000_000,
    'Characters that the model writes per run: text, reasoning and arguments of calls.',
    1000,
  ),
  identical_calls: limit(3, 'How often in a row the model may make the same tool call with the same arguments.'),
  parallel_calls: limit(8, 'How many tool calls of one model answer run at the same time.'),
  tool_result_chars: limit(50_000, 'Characters kept of a tool result; a longer one is cut, and a note says so.', 100),
  stored_message_chars: limit(100_000, 'Characters kept of a message; a longer one is cut, and a note says so.', 1000),
})

const sessions = z.strictObject({
  ttl: duration(
    'Idle time after which the log of a session is compacted. Default: the server’s `sessions.ttl` (1800).',
    '30m',
  ).optional(),
  on_expiry: key(
    z.enum(['continue', 'close']).default('continue'),
    'Whether a message to a session that was idle for `ttl` continues it or finds it closed.',
    'continue',
  ),
  retention_days: key(
    count(0).optional(),
    'Days without activity after which a session is deleted; 0 = never. Default: the server’s `sessions.retention_days` (30).',
    30,
  ),
  on_busy: key(
    z.enum(['queue', 'reject', 'interrupt']).optional(),
    'What a message that arrives during a run does: wait, be refused, or stop the run. Default: it waits, but stops a run whose readers have all left.',
    'queue',
  ),
})

export const agentYaml = z
  .strictObject({
    name: key(
      z.string().regex(NAME),
      'Name of the agent, used in URLs and logs.',
      'assistant',
      'a name of up to 64 letters, digits, _ and - that begins with a letter',
    ),
    description: key(
      z.string().max(2000).default(''),
      'One line about the agent, for people and other agents.',
      'Answers questions about our products.',
    ),
    author: key(z.string().max(200).optional(), 'Who wrote this file. For people only.', 'Kim, Support'),
    default: key(
      z.boolean().default(false),
      'This agent answers requests that name no agent. Default: the first one does.',
      true,
    ),
    model: key(model.optional(), 'The model that answers.', { provider: 'openai', name: 'gpt-5-mini' }),
    host: key(
      host.optional(),
      'In place of `model`, `instructions` and `tools`: a coding agent’s own program does the work, supervised.',
      { name: 'claude', workspace: './shop' },
    ),
    instructions: key(
      textOrFile('instructions', 'instructions', 'You are a helpful assistant.').optional(),
      'The system prompt.',
      { inline: 'You are a helpful assistant.' },
      'text, or one of the keys inline and file',
    ),
    tools: key(tools.default([]), 'Tools that the agent can call.', [
      { type: 'function', name: 'get_weather', file: 'tools.ts' },
    ]),
    skills: key(
      oneOrMore(text()).optional(),
      'Folders of skills, relative to this file: each skill is a folder with a SKILL.md. The agent reads them when a task needs them.',
      './skills',
      'a folder, or a list of folders',
    ),
    response_format: key(
      jsonSchema().optional(),
      'A JSON Schema. The final answer is then JSON that matches it.',
      { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
      'a JSON Schema',
    ),
    limits: key(limits.prefault({}), 'Limits of a run. A run that reaches a limit fails with `budget_exceeded`.', {
      steps: 25,
    }),
    context: key(
      z
        .strictObject({
          mode: key(
            z.enum(contextModes).optional(),
            'What becomes of messages that do not fit: `summarize`, a summary stands for them, or `window`, they are left out. Default: `summarize`.',
            'summarize',
          ),
          model: key(
            model.optional(),
            'Model that makes the summaries, such as a cheaper one. Default: the agent’s own.',
            { provider: 'openai', name: 'gpt-5-mini' },
          ),
          max_messages: key(
            count().optional(),
            'How many messages a request has at most, in whole exchanges. Default: the server’s `context.max_messages` (200).',
            200,
          ),
        })
        .prefault({}),
      'How much of the conversation the model sees, and what stands for the rest.',
      { mode: 'window', max_messages: 50 },
    ),
    sessions: key(sessions.prefault({}), 'How long sessions live, and what a busy one does.', { ttl: '30m' }),
    approval: key(approval.prefault({}), 'Which tool calls a person must approve, and who may approve them.', {
      default: 'always',
    }),
    memory: key(
      z.boolean().default(false),
      'Whether the agent keeps short facts about a user between sessions, with the tools `remember`, `recall` and `forget`.',
      true,
    ),
    judge: key(model.optional(), 'Model that judges the answers in test cases.', {
      provider: 'openai',
      name: 'gpt-5-mini',
    }),
    suggestions: key(
      z.array(z.string().trim().min(1).max(120)).max(6).default([]),
      'First messages that a page offers: at most 6, of at most 120 characters.',
      ['What can you do?'],
      'a list of at most 6 texts of at most 120 characters',
    ),
    schedules: key(schedules.default([]), 'When the agent is told something by itself.', [
      { name: 'morning-report', cron: '0 8 * * 1-5', message: 'Write the report of yesterday.' },
    ]),
    test_cases: key(testCases.default([]), 'Test cases for `quarterdeck test`.', [
      { name: 'knows the capital', input: 'What is the capital of France?', contains: 'Paris' },
    ]),
  })
  .refine(...neededWithoutHost('model', '{ provider: openai, name: gpt-5-mini }'))
  .refine(...neededWithoutHost('instructions', '{ inline: You are a helpful assistant. }'))
  .superRefine((agent, context) => {
    const report = reporter(context)
    checkCost(agent, report)
    checkPolicy(agent, report)
    checkToolNames(agent, report)
    checkTestCases(agent, report)
  })

/** A checked agent.yaml: defaults are filled in, times are in seconds. */
export type AgentYaml = z.infer<typeof agentYaml>

/** The shortest agent that works, on one line, for error messages. */
export const starterAgent = '{ name: assistant, model: { provider: demo }, instructions: You are a helpful assistant. }'

/** Reported together with all other mistakes of the file. */
function neededWithoutHost(name: 'model' | 'instructions', example: string) {
  const has = (agent: unknown): boolean => !isRecord(agent) || agent.host !== undefined || agent[name] !== undefined
  const error = `this key is missing. Write e.g. ${name}: ${example}`
  return [has, { when: () => true, path: [name] as PropertyKey[], error }] as const
}

function checkCost({ limits, model }: AgentYaml, report: Report): void {
  if (limits.cost === undefined || model === undefined) return
  const example = 'Write e.g. prices: { input: 0.25, output: 2 }'
  if (model.prices === undefined) report(['limits', 'cost'], `a cost limit needs model.prices. ${example}`)
  if (model.fallback !== undefined && model.fallback.prices === undefined) {
    report(['limits', 'cost'], `a cost limit needs model.fallback.prices. ${example}`)
  }
}

/** A policy that nothing uses would look as if it were active. */
function checkPolicy({ approval, tools }: AgentYaml, report: Report): void {
  if (approval.policy.length === 0) return
  const rules = tools.flatMap((tool) => [
    'approval' in tool ? tool.approval : undefined,
    ...(tool.type === 'mcp' ? Object.values(tool.tools).map((one) => one.approval) : []),
  ])
  if ([approval.default, ...rules].some((rule) => rule?.ask === 'policy')) return
  const advice = 'Write default: policy here, or approval: policy on a tool'
  report(['approval', 'policy'], `nothing uses this policy, so its rules have no effect. ${advice}`)
}

/** The tools that an agent has by keys of its file. */
const givenTools = ({ memory, skills }: Pick<AgentYaml, 'memory' | 'skills'>): string[] => [
  ...(memory ? memoryTools : []),
  ...(skills === undefined ? [] : [LOAD_SKILL]),
]

function checkToolNames({ tools, ...agent }: AgentYaml, report: Report): void {
  const given = givenTools(agent)
  for (const [index, { name, type }] of tools.entries()) {
    if (type === 'mcp' || !given.includes(name)) continue
    const key = name === LOAD_SKILL ? 'skills' : 'memory'
    report(
      ['tools', index, 'name'],
      `with \`${key}\` the agent has a tool ${name} already. Give this one another name.`,
    )
  }
}

function checkSearched(name: string, tools: AgentYaml['tools'], path: PropertyKey[], report: Report): void {
  const names = tools.filter(({ type }) => type === 'knowledge').map((tool) => tool.name)
  if (names.includes(name)) return
  const advice =
    names.length === 0
      ? 'It has none. Write e.g. tools: [{ type: knowledge, name: handbook, source: ./handbook }]'
      : `It has ${names.join(', ')}.`
  report(path, `the agent has no tool of the type knowledge with the name ${JSON.stringify(name)}. ${advice}`)
}

function checkTestCases({ tools, test_cases: cases, judge, ...agent }: AgentYaml, report: Report): void {
  // MCP servers, OpenAPI files and other agents add tools that this file does not name.
  const isWhole = tools.every((tool) => tool.type !== 'mcp' && tool.type !== 'agent' && !('openapi' in tool))
  const names = [...tools.map(({ name }) => name), ...givenTools(agent)]
  for (const [index, test] of cases.entries()) {
    if (test.judge !== undefined && judge === undefined) {
      const advice = 'At the top level, write e.g. judge: { provider: openai, name: gpt-5-mini }'
      report(['test_cases', index, 'judge'], `this test needs a judge, and the agent has none. ${advice}`)
    }
    if (test.knowledge !== undefined) checkSearched(test.knowledge, tools, ['test_cases', index, 'knowledge'], report)
    for (const [at, tool] of test.tools.entries()) {
      const name = typeof tool === 'string' ? tool : tool.name
      if (!isWhole || names.includes(name)) continue
      const near = didYouMean(name, names)
      const advice =
        near === null ? `It has ${names.length === 0 ? 'none' : names.join(', ')}.` : `Did you mean ${near}?`
      const path = ['test_cases', index, 'tools', at, ...(typeof tool === 'string' ? [] : ['name'])]
      report(path, `the agent has no tool ${name}. ${advice}`)
    }
  }
}
