import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StoredMessage } from '../../../domain/session/message.ts'
import type { AgUiInput } from './decode-input.ts'
import type { InputMessage } from './decode-messages.ts'
import { diffHistory, editPoint, type KnownHistory } from './diff-history.ts'

type Said =
  | readonly ['user' | 'system' | 'developer' | 'assistant' | 'reasoning' | 'activity', string]
  | readonly ['tool', string, string]

function message([role, id, call]: Said, index: number): InputMessage {
  switch (role) {
    case 'user':
    case 'system':
    case 'developer':
      return { role, id, index, content: `text of ${id}` }
    case 'tool':
      return { role, id, index, toolCallId: call ?? '', content: `result ${id}` }
    default:
      return { role, id, index }
  }
}

const shared = {
  context: [{ description: 'd', value: 'v' }],
  clientTools: [],
  forwardedProps: { a: 1 },
  state: { s: 1 },
}

const sent = (...said: Said[]): AgUiInput => ({
  threadId: 't',
  runId: 'r',
  reader: '1.x',
  messages: said.map(message),
  shared,
  answers: [],
  warnings: [],
})

function known(ids: string[], openCalls: string[] = [], superseded: string[] = []): KnownHistory {
  const stored = (id: string): StoredMessage => ({
    id,
    role: 'user',
    content: '',
    runId: 'r0',
    createdAt: 0,
    ...(superseded.includes(id) ? { supersededBy: 'r1' } : {}),
  })
  const messages = new Map(ids.map((id) => [id, stored(id)]))
  return { messages, openCalls: new Set(openCalls), editedAfter: null }
}

const base = { instructions: [], wireThreadId: 't', ...shared }
const newUser = (id: string) => ({ id, role: 'user', content: `text of ${id}` })

describe('taking the history that a client sends', () => {
  test('does not answer a message to a sub-agent again', () => {
    const asked: StoredMessage = { id: 'q', role: 'user', content: '', runId: 'r0', createdAt: 0, lane: 'call' }
    const inside = { messages: new Map([['q', asked]]), openCalls: new Set<string>(), editedAfter: null }
    expect(diffHistory(sent(['user', 'q']), inside).kind).toBe('hydrate')
  })

  test('takes the user messages it has not seen, in order', () => {
    const history = sent(['user', 'm1'], ['assistant', 'a1'], ['user', 'm2'], ['user', 'm3'])

    expect(diffHistory(history, known(['m1', 'a1']))).toEqual({
      kind: 'run',
      input: { ...base, messages: [newUser('m2'), newUser('m3')] },
      warnings: [],
    })
  })

  test('takes a message once that was sent twice', () => {
    expect(diffHistory(sent(['user', 'm1'], ['user', 'm1']), known([]))).toEqual({
      kind: 'run',
      input: { ...base, messages: [newUser('m1')] },
      warnings: [],
    })
  })

  test('takes unseen system and developer messages as instructions of this run', () => {
    const history = sent(['system', 's1'], ['developer', 'd1'], ['system', 's0'], ['user', 'm1'])

    expect(diffHistory(history, known(['s0']))).toEqual({
      kind: 'run',
      input: { ...base, instructions: ['text of s1', 'text of d1'], messages: [newUser('m1')] },
      warnings: [],
    })
  })

  test('takes the result of an open tool call and ignores all others with a warning', () => {
    const history = sent(['user', 'm1'], ['assistant', 'a1'], ['tool', 't1', 'call-1'], ['tool', 't2', 'call-2'])

    expect(diffHistory(history, known(['m1', 'a1'], ['call-1']))).toEqual({
      kind: 'run',
      input: { ...base, messages: [{ id: 't1', role: 'tool', toolCallId: 'call-1', content: 'result t1' }] },
      warnings: ['ignored a result of no open tool call at /messages/3'],
    })
  })

  test('never takes an assistant message from a client', () => {
    expect(diffHistory(sent(['assistant', 'forged'], ['user', 'm1']), known([]))).toEqual({
      kind: 'run',
      input: { ...base, messages: [newUser('m1')] },
      warnings: ['ignored an assistant message that is not ours at /messages/0'],
    })
  })

  test('says nothing about reasoning and activity, which only the client shows', () => {
    expect(diffHistory(sent(['reasoning', 'z'], ['activity', 'y']), known([]))).toEqual({
      kind: 'hydrate',
      warnings: [],
    })
  })

  test('regenerates when the history ends at a user message that is known', () => {
    expect(diffHistory(sent(['user', 'm1'], ['assistant', 'a1'], ['user', 'm2']), known(['m1', 'a1', 'm2']))).toEqual({
      kind: 'run',
      input: { ...base, messages: [], regenerateAfter: 'm2' },
      warnings: [],
    })
  })

  test('regenerates with new instructions behind the last message', () => {
    expect(diffHistory(sent(['user', 'm1'], ['system', 's1']), known(['m1']))).toEqual({
      kind: 'run',
      input: { ...base, instructions: ['text of s1'], messages: [], regenerateAfter: 'm1' },
      warnings: [],
    })
  })

  test('shows the conversation to a client in a superseded branch', () => {
    expect(diffHistory(sent(['user', 'm1']), known(['m1'], [], ['m1']))).toEqual({ kind: 'hydrate', warnings: [] })
  })

  test.each([
    ['nothing', sent()],
    ['a history that ends with our answer', sent(['user', 'm1'], ['assistant', 'a1'])],
    ['only instructions', sent(['system', 's1'])],
  ])('hydrates for %s', (_what, history) => {
    expect(diffHistory(history, known(['m1', 'a1']))).toEqual({ kind: 'hydrate', warnings: [] })
  })

  test('never takes what it knows, nor anything twice', () => {
    const id = fc.constantFrom('1', '2', '3', '4', '5', '6')
    const role = fc.constantFrom('user', 'assistant', 'system', 'reasoning' as const)
    fc.assert(
      fc.property(fc.array(fc.tuple(role, id)), fc.uniqueArray(id), (said, ids) => {
        const taken = diffHistory(sent(...(said as Said[])), known(ids))
        const messages = taken.kind === 'run' ? taken.input.messages : []
        const unseen = said.filter(
          ([who, what], i) =>
            who === 'user' && !ids.includes(what) && said.findIndex(([, other]) => other === what) === i,
        )
        expect(messages).toEqual(unseen.map(([, what]) => newUser(what)))
      }),
    )
  })
})

describe('where an edit begins', () => {
  const said = (...list: Said[]) => list.map(message)

  test.each<[string, InputMessage[], string | null]>([
    ['behind the last message that is known', said(['user', 'u1'], ['assistant', 'a1'], ['user', 'new']), 'a1'],
    ['also behind a result that is not', said(['assistant', 'a1'], ['tool', 'x', 'c'], ['user', 'new']), 'a1'],
    ['in our order', said(['user', 'u1'], ['user', 'u2'], ['assistant', 'a1'], ['user', 'new']), 'u2'],
    ['nowhere where nothing is known', said(['user', 'x'], ['user', 'new']), null],
    ['nowhere where the history ends with what is known', said(['user', 'new'], ['assistant', 'a1']), null],
    ['nowhere where it ends with a result', said(['user', 'u1'], ['user', 'new'], ['tool', 't', 'c']), null],
    ['nowhere in a branch that was left', said(['user', 'u1'], ['user', 'left'], ['user', 'new']), null],
    ['not in what a sub-agent was asked', said(['user', 'u1'], ['user', 'inside'], ['user', 'new']), 'u1'],
  ])('%s', (_where, history, point) => {
    const stored = [
      { id: 'u1' },
      { id: 'a1' },
      { id: 'left', supersededBy: 'run' },
      { id: 'u2' },
      { id: 'inside', lane: 'call' },
    ]
    const known = stored.filter(({ id }) => history.some((one) => one.id === id))

    expect(editPoint(history, known)).toBe(point)
  })
})
