// The schema of agent.yaml, as it is written. `load-agent.ts` turns what it accepts into an AgentDefinition.

import { z } from 'zod'
import { didYouMean } from '../source/did-you-mean.ts'
import { duration } from '../source/duration.ts'
import { jsonSchema } from '../source/json-schema-yaml.ts'
import { count, key, type Report, reporter } from '../source/schema-key.ts'
import { textOrFile } from '../source/text-or-file.ts'
import { tools } from '../tools/tool-yaml.ts'
import { approval } from './approval-yaml.ts'
import { model } from './model-yaml.ts'
import { testCases } from './test-case-yaml.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

const limits = z.strictObject({
  steps: key(count().default(25), 'Model answers in one run.', 25),
  tokens: key(count().optional(), 'Model tokens (input and output) in one run. Default: no limit.', 200_000),
  duration: duration({
    description: 'Wall time of one run; waiting for a person is not counted.',
    example: '15m',
  }).prefault(900),
  cost: key(
    z.number().positive().optional(),
    'Cost of one run, in the currency of `model.prices`. Default: no limit.',
    0.5,
  ),
  tool_calls: key(count().default(100), 'Tool calls in one run.', 100),
  answer_chars: key(
    count(1000).default(1_000_000),
    'Characters that the model writes in one run: text, thoughts and arguments of calls.',
    1_000_000,
  ),
  identical_calls: key(count().default(3), 'The same tool call with the same arguments, in a row.', 3),
  parallel_calls: key(count().default(8), 'Tool calls of one model answer that run side by side.', 8),
  tool_result_chars: key(
    count(100).default(50_000),
    'Characters kept of the result of one tool call; a longer one is cut and says so.',
    50_000,
  ),
  stored_message_chars: key(
    count(1000).default(100_000),
    'Characters kept of one message; a longer one is cut and says so.',
    100_000,
  ),
})

const sessions = z.strictObject({
  ttl: duration({
    description: 'Idle time after which a session’s live state is freed. Default: the server’s `sessions.ttl` (1800).',
    example: '30m',
  }).optional(),
  on_expiry: key(
    z.enum(['continue', 'close']).default('continue'),
    'What a message to an idle session does: go on from the store, or find the session closed.',
    'continue',
  ),
  retention_days: key(
    count(0).optional(),
    'Days after the last activity until a session is purged; 0 = never. Default: the server’s `sessions.retention_days` (30).',
    30,
  ),
  on_busy: key(
    z.enum(['queue', 'reject', 'interrupt']).default('queue'),
    'What a second message does while a run is active: wait, be refused, or stop the first.',
    'queue',
  ),
})

export const agentYaml = z
  .strictObject({
    name: key(
      z.string().regex(NAME),
      'The agent’s name, in addresses and logs.',
      'assistant',
      'a name of up to 64 letters, digits, _ and - that begins with a letter',
    ),
    description: key(
      z.string().max(2000).default(''),
      'One line about the agent, for people and for other agents.',
      'Answers questions about our products.',
    ),
    author: key(z.string().max(200).optional(), 'Who wrote it, for people.', 'Kim, Support'),
    default: key(
      z.boolean().default(false),
      'Answers where a request names no agent. Without one, the first agent does.',
      true,
    ),
    model: key(model, 'Which model answers.', { provider: 'openai', name: 'gpt-5-mini' }),
    instructions: key(
      textOrFile('instructions', 'instructions', 'You are a helpful assistant.'),
      'What the agent is told before everything else: text, or `inline` or `file`.',
      { inline: 'You are a helpful assistant.' },
      'text, or one of the keys inline and file',
    ),
    tools: key(tools.default([]), 'What the agent can call.', [
      { type: 'function', name: 'get_weather', file: 'tools.ts' },
    ]),
    response_format: key(
      jsonSchema().optional(),
      'A JSON Schema; the final answer is JSON that fits it.',
      { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
      'a JSON Schema',
    ),
    limits: key(
      limits.prefault({}),
      'Where a run ends, whatever the model wants; it then fails with `budget_exceeded`.',
      { steps: 25 },
    ),
    context: key(
      z
        .strictObject({
          max_messages: key(
            count().optional(),
            'The newest messages the model is shown, in whole exchanges. Default: the server’s `context.max_messages` (200).',
            200,
          ),
        })
        .prefault({}),
      'How much of the conversation the model sees.',
      { max_messages: 200 },
    ),
    sessions: key(sessions.prefault({}), 'How conversations live.', { ttl: '30m' }),
    approval: key(approval.prefault({}), 'When a person is asked before a tool runs.', { default: 'always' }),
    judge: key(model.optional(), 'The model that judges test cases.', { provider: 'openai', name: 'gpt-5-mini' }),
    test_cases: key(testCases.default([]), 'What `quarterdeck test` says to the agent, and what must come of it.', [
      { name: 'knows the capital', input: 'What is the capital of France?', contains: 'Paris' },
    ]),
  })
  .superRefine((agent, context) => {
    const report = reporter(context)
    checkCost(agent, report)
    checkPolicy(agent, report)
    checkTestCases(agent, report)
  })

/** agent.yaml after validation: defaults filled in, times in seconds. */
export type AgentYaml = z.infer<typeof agentYaml>

/** The shortest agent that works, on one line. */
export const starterAgent = '{ name: assistant, model: { provider: demo }, instructions: You are a helpful assistant. }'

function checkCost({ limits, model }: AgentYaml, report: Report): void {
  if (limits.cost === undefined) return
  const example = 'Write e.g. prices: { input: 0.25, output: 2 }'
  if (model.prices === undefined) report(['limits', 'cost'], `a cost limit needs model.prices. ${example}`)
  if (model.fallback !== undefined && model.fallback.prices === undefined) {
    report(['limits', 'cost'], `a cost limit needs model.fallback.prices. ${example}`)
  }
}

/** Rules that nothing refers to would look as if they held. */
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

function checkTestCases({ tools, test_cases: cases, judge }: AgentYaml, report: Report): void {
  // Servers and other agents bring tools that the file does not name.
  const isWhole = tools.every((tool) => tool.type !== 'mcp' && tool.type !== 'agent' && !('openapi' in tool))
  const names = tools.map(({ name }) => name)
  for (const [index, test] of cases.entries()) {
    if (test.judge !== undefined && judge === undefined) {
      const advice = 'At the top level, write e.g. judge: { provider: openai, name: gpt-5-mini }'
      report(['test_cases', index, 'judge'], `this test needs a judge, and the agent has none. ${advice}`)
    }
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
