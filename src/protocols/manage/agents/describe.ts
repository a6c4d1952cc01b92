// What the routes about agents take and answer, for the document.

import { z } from 'zod'
import type { RouteDescription } from '../../../http/route-description.ts'

const tag = 'Agents'

const AgentSchema = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    is_default: z.boolean().describe('Answers requests that name no agent.'),
    model: z.strictObject({ provider: z.string(), name: z.string() }),
    tools: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        effect: z.enum(['read', 'idempotent', 'once']),
        risk: z.enum(['low', 'high', 'critical']),
        approval: z.string().describe('When a person is asked, in a sentence.'),
        execution_location: z.enum(['server', 'client']),
        parameters: z.record(z.string(), z.unknown()).describe('A JSON Schema.'),
      }),
    ),
    capabilities: z.record(z.string(), z.unknown()).describe('As AG-UI describes them.'),
    source: z
      .strictObject({ path: z.string(), text: z.string() })
      .nullable()
      .describe(
        'The agent file as it was written, with secrets masked. Only for operators, only for one agent, and null if the agent has no file.',
      ),
    tests: z.int().min(0).describe('How many test cases its file has.'),
    suggestions: z.array(z.string()).describe('First messages for somebody who does not know the agent.'),
  })
  .meta({ id: 'Agent' })

const example = {
  name: 'assistant',
  description: 'A friendly assistant that answers briefly.',
  is_default: true,
  model: { provider: 'demo', name: 'demo' },
  tools: [
    {
      name: 'get_weather',
      description: 'The weather in a city.',
      effect: 'read',
      risk: 'low',
      approval: 'Runs without asking.',
      execution_location: 'server',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ],
  capabilities: { identity: { name: 'assistant', type: 'quarterdeck' } },
  source: null,
  tests: 2,
  suggestions: ['What can you do?'],
}

const params = { name: z.string().describe('Name of the agent.') }

export const describeAgents: RouteDescription = {
  tag,
  description:
    'The agents of this server. Starts the MCP servers of their tools if necessary, and leaves out the tools of those that cannot be reached.',
  responses: {
    200: {
      description: 'The agents, in the order in which they were given.',
      content: {
        'application/json': {
          schema: z.strictObject({ agents: z.array(AgentSchema) }),
          example: { agents: [example] },
        },
      },
    },
  },
  errors: [],
}

export const describeAgent: RouteDescription = {
  tag,
  description: 'Variables in `source` stay as they are written, and secrets are masked.',
  params,
  responses: {
    200: {
      description: 'The agent.',
      content: {
        'application/json': {
          schema: AgentSchema,
          example: { ...example, source: { path: '/srv/agent.yaml', text: 'name: assistant\n…' } },
        },
      },
    },
  },
  errors: ['agent_not_found'],
}

/** Of the text of an agent file, in UTF-8. */
export const MOST_TEXT_BYTES = 256 * 1024

export const ValidateSchema = z.strictObject({
  text: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= MOST_TEXT_BYTES, 'Send at most 262144 bytes of text.')
    .describe('The text of an agent file, at most 256 KB.'),
})

export const describeValidate: RouteDescription = {
  tag,
  description:
    'Checks a text against the schema of agent files, and nothing else: no file is opened, no variable is read, nothing is imported, started or stored. At most 50 problems.',
  body: {
    schema: ValidateSchema,
    examples: { 'a mistake': { text: 'name: assistant\nmodel: { provider: openai }\n' } },
  },
  responses: {
    200: {
      description: 'What is wrong with the text.',
      content: {
        'application/json': {
          schema: z.strictObject({
            ok: z.boolean(),
            problems: z.array(
              z.strictObject({
                line: z.int().min(1),
                column: z.int().min(1),
                path: z.string().describe('The key, like `tools[0].name`; may be empty.'),
                message: z.string(),
              }),
            ),
          }),
          example: {
            ok: false,
            problems: [{ line: 1, column: 1, path: 'instructions', message: 'this key is missing; expected text.' }],
          },
        },
      },
    },
  },
  errors: ['invalid_request', 'body_too_large', 'limit'],
}

export const describeTests: RouteDescription = {
  tag,
  params,
  responses: {
    200: {
      description: 'The test cases, in the order of the file.',
      content: {
        'application/json': {
          schema: z.strictObject({
            agent: z.string(),
            running: z.boolean().describe('Whether tests of this agent run now.'),
            cases: z.array(
              z.strictObject({
                name: z.string(),
                turns: z.array(z.string()).describe('What the user says.'),
                tools: z.array(z.string()).describe('Calls that must happen.'),
                checks: z.array(z.string()).describe('Kinds of checks of the answer.'),
                timeout_seconds: z.number(),
              }),
            ),
          }),
          example: {
            agent: 'assistant',
            running: false,
            cases: [
              {
                name: 'knows the capital',
                turns: ['What is the capital of France?'],
                tools: [],
                checks: ['contains'],
                timeout_seconds: 60,
              },
            ],
          },
        },
      },
    },
  },
  errors: ['agent_not_found'],
}

export const RunTestsSchema = z.strictObject({
  cases: z.array(z.string()).min(1).max(1_000).exactOptional().describe('Names of cases. Left out: all.'),
})

const CaseSchema = z
  .strictObject({
    name: z.string(),
    outcome: z
      .enum(['running', 'passed', 'failed', 'error', 'stopped'])
      .describe('`running`: it has begun. `error`: it could not be run to its end. `stopped`: somebody stopped it.'),
    findings: z.array(z.strictObject({ check: z.string(), expected: z.string(), found: z.string() })),
    duration_ms: z.number(),
    tokens: z.strictObject({ input: z.int(), output: z.int() }),
    answer: z.string().describe('The last answer, at most 20,000 characters of it.'),
    calls: z.array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).nullable() })),
  })
  .meta({ id: 'TestCaseEvent' })

const DoneSchema = z
  .strictObject({
    total: z.int(),
    passed: z.int(),
    failed: z.int(),
    errors: z.int(),
    stopped: z.int(),
    duration_ms: z.number(),
  })
  .meta({ id: 'TestsDone' })

export const describeRunTests: RouteDescription = {
  tag,
  description:
    'Runs the test cases as `quarterdeck test` does: with the real model and the real tools, in memory beside the server, so nothing is in its log and nobody is asked. Approvals are answered by the cases. Leaving the stream stops the tests. An agent’s tests run once at a time.',
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
}
