// What the routes about agents take and answer, for the document.

import { z } from 'zod'
import { answer } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { AgentSchema, AgentTestsSchema, CaseSchema, DoneSchema, ValidatedAgentSchema } from './schema.ts'

const tag = 'Agents'

const params = { name: z.string().describe('Name of the agent.') }

export const describeAgents: RouteDescription = {
  tag,
  description:
    'The agents of this server. Starts the MCP servers of their tools if necessary, and leaves out the tools of those that cannot be reached.',
  responses: {
    200: answer('The agents, in the order in which they were given.', z.strictObject({ agents: z.array(AgentSchema) })),
  },
  errors: [],
}

export const describeAgent: RouteDescription = {
  tag,
  description: 'Variables in `source` stay as they are written, and secrets are masked.',
  params,
  responses: {
    200: answer('The agent.', AgentSchema, { source: { path: '/srv/agent.yaml', text: 'name: assistant\n…' } }),
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
  responses: { 200: answer('What is wrong with the text.', ValidatedAgentSchema) },
  errors: ['invalid_request', 'body_too_large', 'limit'],
}

export const describeTests: RouteDescription = {
  tag,
  params,
  responses: { 200: answer('The test cases, in the order of the file.', AgentTestsSchema) },
  errors: ['agent_not_found'],
}

export const RunTestsSchema = z.strictObject({
  cases: z.array(z.string()).min(1).max(1_000).exactOptional().describe('Names of cases. Left out: all.'),
})

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
