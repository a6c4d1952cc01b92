// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The schema of agent.yaml, as it is written. `load-agent.ts` turns what it accepts into an AgentDefinition.

import { z } from 'zod'
import { duration } from './duration.ts'
import { model } from './model-file.ts'
import { count, key, text } from './schema-key.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const TOOL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/

const instructions = z.union([
  text(),
  z
    .strictObject({
      inline: key(text().optional(), 'The instructions themselves.', 'You are a helpful assistant.'),
      file: key(
        text().optional(),
        'A text file with the instructions, relative to this file. `${…}` in it is left alone.',
        'prompt.md',
      ),
    })
    .superRefine((value, context) => {
      if ((value.inline === undefined) !== (value.file === undefined)) return
      const found = value.inline === undefined ? 'neither' : 'both'
      context.addIssue({
        code: 'custom',
        message: `expected exactly one of inline and file, found ${found}. Write e.g. instructions: { inline: You are a helpful assistant. }`,
      })
    }),
])

export const toolTypes = ['function', 'mcp', 'client', 'http', 'agent', 'prompt'] as const

const tool = z.looseObject({
  type: key(z.enum(toolTypes), 'What kind of tool it is.', 'http'),
  name: key(
    z.string().regex(TOOL_NAME),
    'What the model calls it.',
    'get_weather',
    'a name of letters, digits and _ that does not begin with a digit',
  ),
  description: key(z.string().min(10), 'When and why to use it; the model reads this.', 'Current weather for a city.'),
})

const tools = z.array(tool).superRefine((list, context) => {
  const seen = new Map<string, number>()
  for (const [index, { name }] of list.entries()) {
    const first = seen.get(name)
    if (first === undefined) seen.set(name, index)
    else {
      const message = `tools[${first}] is called ${name} already. Give each tool a name of its own.`
      context.addIssue({ code: 'custom', path: [index, 'name'], message })
    }
  }
})

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
  identical_calls: key(count().default(3), 'The same tool call with the same arguments, in a row.', 3),
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

const approval = z.strictObject({
  default: key(
    z.enum(['never', 'always', 'risk']).default('risk'),
    'Which tool calls a person must allow, where the tool does not say: none, all, or those with risk high and above.',
    'risk',
  ),
  by: key(
    z.enum(['owner', 'operator']).default('operator'),
    'Who may answer. The owner of a session never answers for high risk.',
    'operator',
  ),
  expires: duration({ description: 'How long an approval waits; then it counts as refused.', example: '1h' }).prefault(
    3600,
  ),
})

const jsonTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

// Catches OpenAI's `{type: json_schema, json_schema: …}`, which is an envelope around a JSON Schema and not one.
const isJsonSchema = (value: Record<string, unknown>): boolean => {
  if (Object.keys(value).length === 0) return false
  return (
    value.type === undefined ||
    [value.type].flat().every((type) => typeof type === 'string' && jsonTypes.includes(type))
  )
}

export const agentFile = z
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
    default: key(
      z.boolean().default(false),
      'Answers where a request names no agent. Without one, the first agent does.',
      true,
    ),
    model: key(model, 'Which model answers.', { provider: 'openai', name: 'gpt-5-mini' }),
    instructions: key(
      instructions,
      'What the agent is told before everything else: text, or `inline` or `file`.',
      { inline: 'You are a helpful assistant.' },
      'text, or one of the keys inline and file',
    ),
    tools: key(
      tools.default([]),
      'What the agent can call. The kinds of tools are not available in this version yet.',
      [],
    ),
    response_format: key(
      z.record(z.string(), z.unknown()).refine(isJsonSchema, { error: '' }).optional(),
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
            'The newest messages the model is shown. Default: the server’s `context.max_messages` (50).',
            50,
          ),
        })
        .prefault({}),
      'How much of the conversation the model sees.',
      { max_messages: 50 },
    ),
    sessions: key(sessions.prefault({}), 'How conversations live.', { ttl: '30m' }),
    approval: key(approval.prefault({}), 'When a person is asked before a tool runs.', { default: 'risk' }),
  })
  .superRefine((agent, context) => {
    if (agent.limits.cost === undefined) return
    const example = 'Write e.g. prices: { input: 0.25, output: 2 }'
    if (agent.model.prices === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['limits', 'cost'],
        message: `a cost limit needs model.prices. ${example}`,
      })
    }
    if (agent.model.fallback !== undefined && agent.model.fallback.prices === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['limits', 'cost'],
        message: `a cost limit needs model.fallback.prices. ${example}`,
      })
    }
  })

/** agent.yaml after validation: defaults filled in, times in seconds. */
export type AgentFile = z.infer<typeof agentFile>

/** The shortest agent that works, on one line. */
export const starterAgent = '{ name: assistant, model: { provider: demo }, instructions: You are a helpful assistant. }'
