// What the program of a hosted agent has asked, and waits for.

import type {
  CreateElicitationResponse,
  CreateTerminalRequest,
  PermissionOption,
  RequestPermissionResponse,
  ToolCallUpdate,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk'
import type { HostedCall } from './hosted-call.ts'

export type OpenRequest = PermissionRequest | QuestionRequest | WriteRequest | TerminalRequest

interface Asked<Kind extends string, Answer> {
  kind: Kind
  /** Id of the approval that a person was asked for; null: nobody was. */
  approvalId: string | null
  /** False: the program has withdrawn it, or its prompt has ended. An answer then goes nowhere. */
  readonly isOpen: boolean
  answer(answer: Answer): void
}

/** `session/request_permission`. Only once is ever said: what is remembered, we remember ourselves. */
export interface PermissionRequest extends Asked<'permission', RequestPermissionResponse> {
  call: HostedCall
  /** What it says of the call itself. */
  asked: ToolCallUpdate
  options: readonly PermissionOption[]
}

/** `elicitation/create`. */
export interface QuestionRequest extends Asked<'question', CreateElicitationResponse> {
  message: string
  schema: Record<string, unknown>
}

/** `fs/write_text_file`. Null: it is written; else why it is not. */
export interface WriteRequest extends Asked<'write', string | null> {
  file: Pick<WriteTextFileRequest, 'path' | 'content'>
}

/** `terminal/create`. Null: it may run; else why it may not. */
export interface TerminalRequest extends Asked<'terminal', string | null> {
  command: CreateTerminalRequest
}

/** False: nobody needs to be asked, because nothing is ever allowed for good. */
export const canAllowOnce = (options: readonly PermissionOption[]): boolean =>
  options.some(({ kind }) => kind === 'allow_once')

/** The answer to a permission. One that cannot be refused once is cancelled. */
export function optionFor(options: readonly PermissionOption[], isAllowed: boolean): RequestPermissionResponse {
  const kind = isAllowed ? 'allow_once' : 'reject_once'
  const option = options.find((one) => one.kind === kind)
  return option === undefined
    ? { outcome: { outcome: 'cancelled' } }
    : { outcome: { outcome: 'selected', optionId: option.optionId } }
}

export const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }
