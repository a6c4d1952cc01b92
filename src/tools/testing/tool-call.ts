import { silentLogger } from '../../domain/logger.ts'
import { noNumbers, type ToolCallRequest, type ToolVoice } from '../tool.ts'

export const never: AbortSignal = new AbortController().signal

/** A call whose reports nobody reads, except those of `voice`. */
export const toolCall = (
  args: Record<string, unknown>,
  { callId = 'call-1', voice = {} }: { callId?: string; voice?: Partial<ToolVoice> } = {},
): ToolCallRequest => ({
  callId,
  arguments: args,
  sessionId: 'session-1',
  runId: 'run-1',
  owner: 'owner-1',
  agent: 'agent-1',
  forwardedProps: null,
  resultChars: 50_000,
  answers: [],
  numbers: noNumbers,
  hold: () => Promise.reject(new Error('nobody answers here')),
  voice: {
    log: silentLogger,
    state: () => null,
    setState() {},
    emit() {},
    activity() {},
    progress() {},
    ...voice,
  },
})
