// Decodes a RunAgentInput. Pure. It is lenient, as AG-UI asks: unknown parts are left out with a warning, `null` counts as absent,
// and only a known field with a wrong value is an error.

import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { type InputProblem, ServerError } from '../../../domain/errors.ts'
import { isClientId } from '../../../domain/ids.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { Approval } from '../../../domain/records/record.ts'
import type { RunInput } from '../../../domain/session/run.ts'
import type { Decision } from '../../../domain/supervision/decision.ts'
import { jsonLimits, jsonProblem } from '../../../json/json-limits.ts'
import { type Reader, readerOf } from '../../shared/events/encode-events.ts'
import { decodeClientTools } from '../../shared/request/client-tools.ts'
import { isLonger } from '../../shared/request/message-limits.ts'
import { inputProblems, longTextProblems, validate } from '../../shared/request/validate.ts'
import { decodeMessages, type InputMessage } from './decode-messages.ts'
import { createWarnings, dropNulls, dropNullsEach, type Warnings } from './decode-part.ts'

export interface AgUiInput {
  threadId: string
  runId: string
  parentRunId?: string
  reader: Reader
  messages: InputMessage[]
  /** Fields that the run takes unchanged. */
  shared: Pick<RunInput, 'context' | 'clientTools' | 'clientAnswers' | 'forwardedProps' | 'state'>
  /** Answers to interrupts. */
  answers: Answer[]
  /** What was left out, for the log. */
  warnings: readonly string[]
}

/** Where clients put a request of an MCP server's app: `@ag-ui/mcp-apps-middleware` takes it from there. */
export const APP_REQUEST = '__proxiedMCPRequest'

export const isForApp = ({ shared: { forwardedProps } }: AgUiInput): boolean =>
  isRecord(forwardedProps) && isRecord(forwardedProps[APP_REQUEST])

/** An input without its messages, which are checked one by one. */
const EnvelopeSchema = RunAgentInputSchema.omit({ messages: true })
const ENVELOPE_FIELDS = Object.keys(EnvelopeSchema.shape)
const KNOWN_FIELDS = RunAgentInputSchema.shape
const LISTS = ['tools', 'context', 'resume'] as const

/** Throws `invalid_request`, `malformed_id` or, for the state, `body_too_large`. */
export function decodeRunAgentInput(body: unknown): AgUiInput {
  const warnings = createWarnings()
  if (!isRecord(body)) {
    throw invalid([{ pointer: '', detail: 'Send a RunAgentInput: an object with threadId, runId and messages.' }])
  }
  const envelope = envelopeOf(body)
  for (const list of LISTS) {
    if (envelope[list] !== undefined) envelope[list] = dropNullsEach(envelope[list])
  }
  const parsed = validate(EnvelopeSchema, envelope)
  const problems = parsed.success ? longTextsIn(parsed.data) : inputProblems(parsed.issues, envelope)
  const messages = decodeMessages(body.messages, problems, warnings)
  if (!parsed.success || problems.length > 0) throw invalid(problems)
  warnUnknownFields(body, warnings)

  const { threadId, runId, parentRunId, protocolVersion, tools, context, forwardedProps, resume } = parsed.data
  checkId(threadId, '/threadId')
  checkId(runId, '/runId')
  checkId(parentRunId, '/parentRunId')
  // Only these messages are stored under their ids. Other messages may have any id.
  for (const { id, role, index } of messages) {
    if (role === 'user' || role === 'tool') checkId(id, `/messages/${index}/id`)
  }
  const state = isNothing(parsed.data.state) ? undefined : parsed.data.state
  if (state !== undefined) checkState(state)
  const reader = readerOf(protocolVersion)
  return {
    threadId,
    runId,
    ...(parentRunId === undefined ? {} : { parentRunId }),
    reader,
    messages,
    shared: {
      context: context.map(({ description, value }) => ({ description, value })),
      clientTools: decodeClientTools(
        tools,
        (detail, index) => warnings.add(detail, ['tools', index]),
        (what, index) => warnings.add(what, ['tools', index]),
      ),
      clientAnswers: 'next_request',
      ...(forwardedProps === undefined ? {} : { forwardedProps }),
      ...(state === undefined ? {} : { state }),
    },
    answers: decodeResume(resume ?? []),
    warnings: warnings.list,
  }
}

// AG-UI reads an absent state as {}, and its clients send {} before they know the state. A second tab must not erase the state of
// the first one.
function isNothing(state: unknown): boolean {
  if (state === undefined) return true
  return isRecord(state) && Object.keys(state).length === 0
}

/** Texts that are as long as a file, in fields that no schema describes and the run stores. */
const longTextsIn = (input: { state?: unknown; forwardedProps?: unknown; resume?: unknown }): InputProblem[] =>
  (['state', 'forwardedProps', 'resume'] as const).flatMap((field) => longTextProblems(input[field], [field]))

function checkState(state: unknown): void {
  const problem = jsonProblem(state)
  if (problem === null) return
  throw new ServerError(
    'body_too_large',
    `The state is too large. ${problem} Store large data elsewhere and refer to it.`,
    {
      details: { max_bytes: jsonLimits.bytes },
      problems: [{ pointer: '/state', detail: problem }],
    },
  )
}

function checkId(id: string | undefined, pointer: string): void {
  if (id === undefined || isClientId(id)) return
  const detail = 'An id has 1 to 128 printable characters.'
  throw new ServerError('malformed_id', `The id at ${pointer} cannot be used. ${detail}`, {
    problems: [{ pointer, detail }],
  })
}

/** There can be 100,000 other fields, and copying and checking them all takes long. */
function envelopeOf(body: Record<string, unknown>): Record<string, unknown> {
  const envelope: Record<string, unknown> = {}
  for (const key of ENVELOPE_FIELDS) {
    if (Object.hasOwn(body, key) && body[key] !== null) envelope[key] = body[key]
  }
  return envelope
}

function warnUnknownFields(body: Record<string, unknown>, warnings: Warnings): void {
  for (const key in body) {
    if (!Object.hasOwn(KNOWN_FIELDS, key) && body[key] !== null) warnings.add('unknown field', [key])
    if (warnings.isFull()) return
  }
}

export const invalid = (problems: InputProblem[]): ServerError =>
  new ServerError('invalid_request', 'The body is not a valid RunAgentInput.', { problems })

// Decodes `resume` of a RunAgentInput into decisions. Pure. Only `true` approves.

interface ResumeEntry {
  interruptId: string
  status: 'resolved' | 'cancelled'
  payload?: unknown
}

/** An answer to an interrupt. What it says depends on what was asked: see `decisionOf`. */
export interface Answer {
  waitId: string
  status: ResumeEntry['status']
  payload: unknown
  /** Where the payload is in the request. */
  pointer: string
}

const MAX_REASON = 2_000
const MAX_ANSWERS = 200

export function decodeResume(entries: readonly ResumeEntry[]): Answer[] {
  if (entries.length > MAX_ANSWERS)
    throw invalidAnswer('/resume', `A request answers at most ${MAX_ANSWERS} interrupts.`)
  return entries.map(({ interruptId, status, payload }, index) => {
    const pointer = `/resume/${index}/payload`
    if (status === 'resolved' && (payload === undefined || payload === null)) throw unclear(pointer)
    return { waitId: interruptId, status, payload, pointer }
  })
}

/** Throws `invalid_request`. */
export function decisionOf(
  { status, payload, pointer }: Omit<Answer, 'waitId'>,
  { question }: Partial<Pick<Approval, 'question'>>,
): Decision {
  const said = isRecord(payload) ? dropNulls(payload) : {}
  const reason = typeof said.reason === 'string' ? { reason: said.reason } : {}
  if (isLonger(reason.reason ?? '', MAX_REASON)) {
    throw invalidAnswer(`${pointer}/reason`, `A reason has at most ${MAX_REASON.toLocaleString('en')} characters.`)
  }
  const digest = typeof said.digest === 'string' ? { digest: said.digest } : {}
  if (status === 'cancelled') return { decision: 'reject', ...reason, ...digest }
  if (question !== undefined) {
    const hasOwn = isRecord(question.schema.properties) && Object.hasOwn(question.schema.properties, 'approved')
    // A client that knows only yes and no says no in this way.
    if (said.approved === false && !hasOwn) return { decision: 'reject', ...reason, ...digest }
    return { decision: 'respond', result: payload }
  }
  const approved = typeof payload === 'boolean' ? payload : said.approved
  if (approved === false) return { decision: 'reject', ...reason, ...digest }
  if (said.result !== undefined) return { decision: 'respond', result: said.result, ...reason, ...digest }
  if (approved !== true) throw unclear(pointer)
  if (said.editedArgs === undefined) return { decision: 'approve', ...reason, ...digest }
  if (!isRecord(said.editedArgs)) throw invalidAnswer(`${pointer}/editedArgs`, 'Edited arguments are an object.')
  return { decision: 'approve', ...reason, ...digest, arguments: said.editedArgs }
}

const unclear = (pointer: string): ServerError =>
  invalidAnswer(
    pointer,
    'Answer with {"approved": true} or {"approved": false, "reason": "…"}, with {"result": …} in the place of the tool, or to a question with what its `responseSchema` asks for.',
  )

const invalidAnswer = (pointer: string, detail: string): ServerError => invalid([{ pointer, detail }])
