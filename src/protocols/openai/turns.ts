// Selects what a run takes from the conversation that a client sends. Pure.

import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import { type ToolCall, textOf } from '../../domain/session/message.ts'
import type { NewMessage, RunInput } from '../../domain/session/run.ts'
import type { Engine } from '../../engine/engine.ts'
import { refuseMany } from '../shared/request/message-limits.ts'
import { nullIf } from '../shared/request/null-if.ts'
import type { SentFile } from '../shared/request/sent-file.ts'
import type { InputTurn } from './decode.ts'
import { parseCallItemId, parseItemId } from './wire-ids.ts'

export type Turn =
  | { role: 'instructions'; text: string }
  | { role: 'user'; text: string; files: readonly SentFile[] }
  | { role: 'assistant'; text: string; calls?: readonly ToolCall[] }
  /** The result of a client tool. */
  | { role: 'tool'; callId: string; text: string }

export interface TakeOptions {
  /**
   * The server stores the history of a session, so only new messages are taken, and only results of these calls. Null: there is no
   * session, and the request holds the whole conversation.
   */
  continues: { calls: ReadonlyMap<string, 'pending' | 'answered'> } | null
  /** The model never sees more messages, so older ones are not stored. */
  maxMessages: number
  /** The field of the request that holds the turns, for error messages. */
  field: string
}

/** Marks messages that the client claims: the server did not produce these assistant messages. */
const FROM_CLIENT = { quarterdeck: { from: 'client' } }

type Said = Exclude<Turn, { role: 'instructions' }>

export interface TakenTurns extends Pick<RunInput, 'messages' | 'instructions'> {
  /** Files by the id of their message. */
  files: ReadonlyMap<string, readonly SentFile[]>
}

/** Throws `invalid_request` if there is nothing new to answer or a result has no call, and `body_too_large`. */
export function takeTurns(
  turns: readonly Turn[],
  { continues, maxMessages, field }: TakeOptions,
  ids: Ids,
): TakenTurns {
  const said = turns.filter((turn) => turn.role !== 'instructions')
  const news = newTurns(said).filter(isFilled)
  const taken = continues === null ? news : continued(news, continues.calls)
  refuseMany(taken.length)
  const refused = (detail: string) =>
    new ServerError('invalid_request', 'There is nothing to answer.', { problems: [{ pointer: `/${field}`, detail }] })
  if (news.length === 0) {
    throw refused('The last message must be one of the user, with some text or a file, or the result of a tool.')
  }
  if (taken.length === 0) throw refused('No tool call of this conversation waits for these results.')
  if (continues === null) checkResults(said, field)
  const files = new Map<string, readonly SentFile[]>()
  const message = (turn: Said): NewMessage => {
    const id = ids.uuid()
    if (turn.role === 'user' && turn.files.length > 0) files.set(id, turn.files)
    return { id, ...contentOf(turn) }
  }
  return {
    files,
    messages: [
      ...(continues === null ? historyOf(said, maxMessages) : []).map((turn) => ({
        ...message(turn),
        metadata: FROM_CLIENT,
      })),
      ...taken.map(message),
    ],
    instructions: turns.flatMap((turn) => (turn.role === 'instructions' && turn.text.trim() !== '' ? [turn.text] : [])),
  }
}

/** Ids of the calls whose results are new. Throws `body_too_large` if there are too many to look up. */
export function newResults(turns: readonly Turn[]): string[] {
  const ids = newTurns(turns).flatMap((turn) => (turn.role === 'tool' ? [turn.callId] : []))
  refuseMany(ids.length)
  return ids
}

/** Where the messages after the last answer begin. */
export const firstNew = (turns: readonly Turn[]): number => turns.findLastIndex(({ role }) => role === 'assistant') + 1

const newTurns = <T extends Turn>(turns: readonly T[]): T[] => turns.slice(firstNew(turns))

/** A result that was taken before is only a repetition. Beside a new message it is ignored. */
function continued(news: readonly Said[], calls: ReadonlyMap<string, 'pending' | 'answered'>): Said[] {
  const hasWord = news.some(({ role }) => role === 'user')
  return news.filter((turn) => {
    const status = turn.role === 'tool' ? calls.get(turn.callId) : 'pending'
    return status === 'pending' || (status === 'answered' && !hasWord)
  })
}

function historyOf(said: readonly Said[], maxMessages: number): Said[] {
  const history = said.slice(0, firstNew(said)).slice(-maxMessages)
  // The call of such a result is no longer among the messages.
  const first = history.findIndex(({ role }) => role !== 'tool')
  return history.slice(Math.max(0, first)).filter(isFilled)
}

/** Providers refuse a result without a call, and a model cannot understand it. */
function checkResults(said: readonly Said[], field: string): void {
  const called = new Set<string>()
  for (const turn of said) {
    if (turn.role === 'assistant') for (const { id } of turn.calls ?? []) called.add(id)
    if (turn.role !== 'tool' || called.has(turn.callId)) continue
    const detail = `The result of ${JSON.stringify(turn.callId.slice(0, 64))} follows no call with that id. Send the whole conversation, or name it.`
    throw new ServerError('invalid_request', 'A result belongs to no call.', {
      problems: [{ pointer: `/${field}`, detail }],
    })
  }
}

/** Providers refuse an empty message. */
export function isFilled(turn: Said): boolean {
  if (turn.role === 'tool' || turn.text.trim() !== '') return true
  return turn.role === 'user' ? turn.files.length > 0 : (turn.calls ?? []).length > 0
}

function contentOf(turn: Said): Omit<NewMessage, 'id'> {
  switch (turn.role) {
    case 'tool':
      return { role: 'tool', content: turn.text, toolCallId: turn.callId }
    case 'assistant': {
      const { text, calls = [] } = turn
      return { role: 'assistant', content: text, ...(calls.length === 0 ? {} : { toolCalls: [...calls] }) }
    }
    default:
      return { role: 'user', content: turn.text }
  }
}

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
