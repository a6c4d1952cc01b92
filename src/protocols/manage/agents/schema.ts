import { z } from 'zod'
import { hostWrites } from '../../../domain/agent/agent.ts'

export const AgentToolSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  effect: z.enum(['read', 'idempotent', 'once']),
  risk: z.enum(['low', 'high', 'critical']),
  approval: z.string().describe('When a person is asked, in a sentence.'),
  execution_location: z.enum(['server', 'client']),
  parameters: z.record(z.string(), z.unknown()).describe('A JSON Schema.'),
})
export type AgentTool = z.output<typeof AgentToolSchema>

export const AgentSchema = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    is_default: z.boolean().describe('Answers requests that name no agent.'),
    model: z
      .strictObject({ provider: z.string(), name: z.string() })
      .nullable()
      .describe('Null: the program of a coding agent does the work, see `host`.'),
    host: z
      .strictObject({
        name: z.string().describe('Which coding agent; `custom`: another one that speaks ACP.'),
        workspace: z.string().nullable().describe('The folder that it works in. Null for all but operators.'),
        writes: z
          .enum(hostWrites)
          .describe(
            '`worktree`: in a private copy, and a person approves its changes. `client`: it asks for each file.',
          ),
        unconfined: z.boolean().describe('No sandbox confines the program.'),
        network: z.boolean(),
      })
      .nullable()
      .describe('The coding agent that this server hosts, in the place of a model.'),
    try_models: z
      .array(z.string())
      .describe('Models that an operator may try in its place: `provider/model`. Empty for others.'),
    tools: z.array(AgentToolSchema),
    capabilities: z.record(z.string(), z.unknown()).describe('As AG-UI describes them.'),
    source: z
      .strictObject({ path: z.string(), text: z.string() })
      .nullable()
      .describe(
        'The agent file as it was written, with secrets masked. Only for operators, only for one agent, and null if the agent has no file.',
      ),
    tests: z.int().min(0).describe('How many test cases its file has.'),
    suggestions: z.array(z.string()).describe('First messages for somebody who does not know the agent.'),
    skills: z
      .array(
        z.strictObject({
          name: z.string(),
          description: z.string().describe('When the agent reads it.'),
          bytes: z.int().min(0).describe('Of SKILL.md and all files.'),
          files: z
            .array(z.strictObject({ path: z.string(), bytes: z.int().min(0) }))
            .describe(
              'What the agent can read beside SKILL.md. Of a file of more than 1 MiB, only the first is counted.',
            ),
        }),
      )
      .describe('What the agent reads when a task needs it. Only for operators, and only for one agent.'),
  })
  .meta({
    id: 'Agent',
    example: {
      name: 'assistant',
      description: 'A friendly assistant that answers briefly.',
      is_default: true,
      model: { provider: 'demo', name: 'demo' },
      host: null,
      try_models: ['openai/gpt-5-mini'],
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
      skills: [],
    },
  })
export type Agent = z.output<typeof AgentSchema>

export const ValidatedAgentSchema = z
  .strictObject({
    ok: z.boolean(),
    problems: z.array(
      z.strictObject({
        line: z.int().min(1),
        column: z.int().min(1),
        path: z.string().describe('The key, like `tools[0].name`; may be empty.'),
        message: z.string(),
      }),
    ),
  })
  .meta({
    example: {
      ok: false,
      problems: [{ line: 1, column: 1, path: 'instructions', message: 'this key is missing; expected text.' }],
    },
  })
export type ValidatedAgent = z.output<typeof ValidatedAgentSchema>

const outcome = z.enum(['passed', 'failed', 'error'])
const FindingsSchema = z.array(z.strictObject({ check: z.string(), expected: z.string(), found: z.string() }))

export const AgentTestsSchema = z
  .strictObject({
    agent: z.string(),
    running: z.boolean().describe('Whether tests of this agent run now.'),
    cases: z.array(
      z.strictObject({
        name: z.string(),
        turns: z.array(z.string()).describe('What the user says.'),
        tools: z.array(z.string()).describe('Calls that must happen.'),
        checks: z.array(z.string()).describe('Kinds of checks of the answer.'),
        timeout_seconds: z.number(),
        results: z
          .array(z.strictObject({ at: z.iso.datetime(), outcome, duration_ms: z.number() }))
          .describe('What became of it when this server ran it, newest first: at most ten.'),
        failing_since: z.iso.datetime().nullable().describe('The first of the results since which it has not passed.'),
        findings: FindingsSchema.describe('What was wrong the last time, cut to 500 characters.'),
      }),
    ),
  })
  .meta({
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
          results: [{ at: '2026-11-15T09:00:00.000Z', outcome: 'passed', duration_ms: 1_240 }],
          failing_since: null,
          findings: [],
        },
      ],
    },
  })
export type AgentTests = z.output<typeof AgentTestsSchema>

export const CaseSchema = z
  .strictObject({
    name: z.string(),
    outcome: z
      .enum(['running', 'passed', 'failed', 'error', 'stopped'])
      .describe('`running`: it has begun. `error`: it could not be run to its end. `stopped`: somebody stopped it.'),
    findings: FindingsSchema,
    duration_ms: z.number(),
    tokens: z.strictObject({ input: z.int(), output: z.int() }),
    answer: z.string().describe('The last answer, at most 20,000 characters of it.'),
    calls: z.array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).nullable() })),
  })
  .meta({ id: 'TestCaseEvent' })
/** A test case that begins or has ended. */
export type TestCase = z.output<typeof CaseSchema>

export const DoneSchema = z
  .strictObject({
    total: z.int(),
    passed: z.int(),
    failed: z.int(),
    errors: z.int(),
    stopped: z.int(),
    duration_ms: z.number(),
  })
  .meta({ id: 'TestsDone' })
/** What became of all test cases. */
export type TestSummary = z.output<typeof DoneSchema>
