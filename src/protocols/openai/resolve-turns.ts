import { ServerError } from '../../domain/errors.ts'
import { type ToolCall, textOf } from '../../domain/message.ts'
import type { Engine } from '../../engine/engine.ts'
import { refuseMany } from '../shared/request/message-limits.ts'
import type { InputTurn } from './decode-response.ts'
import type { Turn } from './turns.ts'
import { parseCallItemId, parseItemId } from './wire-ids.ts'

type Lookup = Pick<Engine, 'runs' | 'messages' | 'waits'>

/**
 * Looks up the references in a list of turns: some clients refer to an earlier item instead of repeating it. Text and calls of one
 * answer are one turn, however many items they were. Throws `invalid_request` for a reference that is somebody else's or gone, and
 * `body_too_large` for too many references.
 */
export async function resolveTurns(engine: Lookup, owner: string, input: readonly InputTurn[]): Promise<Turn[]> {
  refuseMany(input.filter(({ role }) => role === 'reference').length)
  const turns: Turn[] = []
  /** Calls of the last turn, if it is the agent's. */
  let calls: ToolCall[] = []
  for (const one of input) {
    const turn = one.role === 'reference' ? await turnOfItem(engine, owner, one) : one
    if (turn.role === 'assistant' && turn.text === '' && turns.at(-1)?.role === 'assistant') {
      for (const call of turn.calls ?? []) calls.push(call)
    } else if (turn.role === 'assistant') {
      calls = [...(turn.calls ?? [])]
      turns.push({ ...turn, calls })
    } else turns.push(turn)
  }
  return turns
}

async function turnOfItem(
  engine: Lookup,
  owner: string,
  { id, index }: Extract<InputTurn, { role: 'reference' }>,
): Promise<Turn> {
  const turn = (await messageTurn(engine, owner, id)) ?? (await callTurn(engine, owner, id))
  if (turn !== null) return turn
  const detail = 'This item does not exist or is no longer stored. Send the item itself.'
  throw new ServerError('invalid_request', 'The input refers to an unknown item.', {
    problems: [{ pointer: `/input/${index}/id`, detail }],
  })
}

async function messageTurn(engine: Lookup, owner: string, id: string): Promise<Turn | null> {
  const item = parseItemId(id)
  const run = item === null ? null : await engine.runs.get(owner, item.runId).catch(nullIf('run_not_found'))
  const [message] = item === null || run === null ? [] : await engine.messages.known(run.sessionId, [item.messageId])
  return message?.role === 'assistant' ? { role: 'assistant', text: textOf(message.content) } : null
}

async function callTurn(engine: Lookup, owner: string, id: string): Promise<Turn | null> {
  const callId = parseCallItemId(id)
  const call =
    callId === null ? null : await engine.waits.clientCall(owner, callId).catch(nullIf('tool_call_not_found'))
  if (call === null) return null
  const called = { name: call.tool, arguments: call.arguments }
  return { role: 'assistant', text: '', calls: [{ id: call.callId, type: 'function', function: called }] }
}

const nullIf =
  (code: 'run_not_found' | 'tool_call_not_found') =>
  (error: unknown): null => {
    if (error instanceof ServerError && error.code === code) return null
    throw error
  }
