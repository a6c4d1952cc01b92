import { z } from 'zod'
import { sourcesShape } from '../../shared/answer/sources.ts'
import { AgUiEventSchema } from '../../shared/events/describe-events.ts'
import { FeedbackSchema } from '../../shared/request/feedback.ts'
import { SessionRowShape } from '../../shared/request/session-row.ts'
import { ApprovalSchema, exampleApproval } from '../records/kinds/approval.ts'
import { withoutView } from '../records/schema.ts'

export const SentMessageSchema = z.strictObject({ run_id: z.string(), message_id: z.string() }).meta({
  example: {
    run_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
    message_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  },
})
export type SentMessage = z.output<typeof SentMessageSchema>

const time = z.iso.datetime().nullable()

const exampleRun = {
  run_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  session_id: 'holiday',
  parent_run_id: null,
  status: 'completed',
  created_at: '2026-11-15T09:00:00.000Z',
  started_at: '2026-11-15T09:00:00.004Z',
  finished_at: '2026-11-15T09:00:02.125Z',
  usage: [{ provider: 'openai', model: 'gpt-5-mini', input_tokens: 21, output_tokens: 9, total_tokens: 30 }],
  error: null,
}

export const RunSchema = z
  .strictObject({
    run_id: z.string(),
    session_id: z.string(),
    parent_run_id: z.string().nullable(),
    status: z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted']),
    created_at: z.iso.datetime(),
    started_at: time,
    finished_at: time,
    usage: z.array(
      z.strictObject({
        provider: z.string().optional(),
        model: z.string().optional(),
        input_tokens: z.number().optional(),
        output_tokens: z.number().optional(),
        total_tokens: z.number().optional(),
        reasoning_tokens: z.number().optional(),
        cached_input_tokens: z.number().optional(),
        cache_write_input_tokens: z.number().optional(),
      }),
    ),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'Run', example: exampleRun })
/** A run in a list. Ids are the client's own if it chose them. */
export type Run = z.output<typeof RunSchema>

export const AnsweredRunSchema = RunSchema.extend({
  tried_model: z
    .string()
    .nullable()
    .describe('`provider/model` that this run tried in the place of its agent’s own. Null: its own.'),
  ...sourcesShape,
  answer: z
    .string()
    .nullable()
    .describe(
      'Everything the agent said, including runs that continued this one after an approval. Null until the answer is complete, and for a run that did not complete.',
    ),
}).meta({ id: 'AnsweredRun', example: { ...exampleRun, tried_model: null, answer: 'To the sea.' } })
/** A run and what came of it. */
export type AnsweredRun = z.output<typeof AnsweredRunSchema>

const exampleFeedback = { value: 'down', note: 'The date is wrong.', by: 'kim', at: '2026-11-15T09:05:00.000Z' }

export const MessageFeedbackSchema = FeedbackSchema.extend({
  message_id: z.string(),
  own: z.boolean().describe('You said it.'),
}).meta({ id: 'MessageFeedback', example: { message_id: 'm2', ...exampleFeedback, own: true } })
/** What a person thinks of an answer. */
export type MessageFeedback = z.output<typeof MessageFeedbackSchema>

export const GivenFeedbackSchema = z
  .strictObject({ message_id: z.string(), session_id: z.string(), feedback: z.array(FeedbackSchema) })
  .meta({ example: { message_id: 'm2', session_id: 'holiday', feedback: [exampleFeedback] } })
export type GivenFeedback = z.output<typeof GivenFeedbackSchema>

export const AppRequestSchema = z.strictObject({
  app: z.string().max(300).describe('The message id of the activity that shows the app.'),
  method: z.enum(['resources/read', 'tools/call']),
  params: z.record(z.string(), z.unknown()).describe('As MCP has them.'),
})
export type AppRequest = z.output<typeof AppRequestSchema>

export const AppAnswerSchema = z
  .strictObject({ result: z.record(z.string(), z.unknown()).describe('As MCP has it.') })
  .meta({ id: 'AppAnswer', example: { result: { content: [{ type: 'text', text: 'Fine in Hamburg.' }] } } })
export type AppAnswer = z.output<typeof AppAnswerSchema>

export const SessionTitleSchema = z
  .strictObject({ session_id: z.string(), title: z.string() })
  .meta({ example: { session_id: 'holiday', title: 'Holidays in May' } })
export type SessionTitle = z.output<typeof SessionTitleSchema>

export const LogSchema = z
  .strictObject({
    events: z.array(
      z.strictObject({
        id: z.string().describe('The id of the event, as in the streams.'),
        seq: z.int().min(1).describe('Its number in the session. There are gaps.'),
        at: z.iso.datetime().nullable(),
        event: AgUiEventSchema,
      }),
    ),
    first_seq: z.int().min(0).describe('Where the log of the session begins; 0 if it is empty.'),
    last_seq: z.int().min(0).describe('Where it ends now.'),
  })
  .meta({
    example: {
      events: [
        {
          id: '01J9ZQ3V6K8R2T4Y7B5N0M1C3D.3',
          seq: 3,
          at: '2026-11-15T09:00:00.000Z',
          event: { type: 'STEP_STARTED', stepName: 'step_1', timestamp: 1794733200000 },
        },
      ],
      first_seq: 1,
      last_seq: 20,
    },
  })
export type Log = z.output<typeof LogSchema>

const JsonSchemaSchema = z.record(z.string(), z.unknown())

export const StepSchema = z
  .strictObject({
    step: z.string(),
    run_id: z.string().nullable(),
    agent: z.string().nullable().describe('Null: it is not kept.'),
    parameters: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .describe('As in the agent file. What it does not set is left to the provider.'),
    sent: z
      .strictObject({
        system: z.string(),
        messages: z
          .array(
            z.strictObject({
              role: z.enum(['user', 'assistant', 'tool']),
              content: z.string(),
              reasoning: z.string().nullable(),
              tool_calls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() })),
              tool_name: z.string().nullable().describe('Of a result.'),
              is_error: z.boolean(),
            }),
          )
          .describe('What the context of the client and the server add is the last one.'),
        tools: z.array(z.strictObject({ name: z.string(), description: z.string(), parameters: JsonSchemaSchema })),
        response_format: JsonSchemaSchema.nullable(),
      })
      .nullable()
      .describe('Null: it cannot be built again, and `unknown` says why.'),
    unknown: z.array(z.string()).describe('What is not known, or may have been different: a sentence each.'),
  })
  .meta({
    id: 'Step',
    example: {
      ...{ step: 'step_1', run_id: '0192f3a1-7b2c-7def-8abc-0123456789ab', agent: 'harbour' },
      parameters: { provider: 'openai', model: 'gpt-5', max_tokens: 2_000, context_window: 128_000 },
      sent: { system: 'You are the harbour master.', messages: [], tools: [], response_format: null },
      unknown: [],
    },
  })
/** What a step has sent to its model. */
export type Step = z.output<typeof StepSchema>

const exampleTime = '2026-11-15T09:00:00.000Z'

const ExportedMessageSchema = z.strictObject({
  message_id: z.string(),
  role: z.enum(['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity']),
  content: z.string(),
  created_at: z.iso.datetime(),
  run_id: z.string(),
  agent_name: z.string().nullable(),
  tool_calls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() })),
  tool_call_id: z.string().nullable(),
  error: z.string().nullable(),
  feedback: z.array(FeedbackSchema).exactOptional().describe('What people think of it, where somebody said so.'),
})

export const SessionExportSchema = z
  .strictObject({
    exported_at: z.iso.datetime(),
    session: z.strictObject({
      session_id: z.string(),
      created_at: z.iso.datetime(),
      message_count: z.int().min(0),
      ...SessionRowShape,
    }),
    messages: z.array(ExportedMessageSchema),
    runs: z.array(RunSchema),
    approvals: z.array(ApprovalSchema.omit({ view: true })),
  })
  .meta({
    example: {
      exported_at: exampleTime,
      session: {
        session_id: 'holiday',
        created_at: exampleTime,
        message_count: 1,
        owner: 'local_user',
        agent: 'assistant',
        title: 'Where to in May?',
        kind: 'chat',
        status: 'open',
        updated_at: exampleTime,
        pending: 0,
        tokens: 30,
      },
      messages: [
        {
          message_id: 'm1',
          role: 'user',
          content: 'Where to in May?',
          created_at: exampleTime,
          run_id: exampleRun.run_id,
          agent_name: null,
          tool_calls: [],
          tool_call_id: null,
          error: null,
        },
      ],
      runs: [exampleRun],
      approvals: [withoutView(exampleApproval)],
    },
  })
/** A session as one document. */
export type SessionExport = z.output<typeof SessionExportSchema>
