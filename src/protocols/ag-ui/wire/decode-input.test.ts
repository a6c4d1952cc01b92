import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/tier.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Approval } from '../../../domain/records/record.ts'
import { decisionOf, decodeResume, decodeRunAgentInput } from './decode-input.ts'

const user = (id: string, content: unknown = 'hello') => ({ id, role: 'user', content })
const body = (more: Record<string, unknown> = {}) => ({ threadId: 't', runId: 'r', messages: [user('m1')], ...more })

function refusal(value: unknown): { code: string; problems: readonly unknown[] } {
  try {
    decodeRunAgentInput(value)
  } catch (error) {
    if (error instanceof ServerError) return { code: error.code, problems: error.problems }
    throw error
  }
  throw new Error('it was accepted')
}

describe('decoding a RunAgentInput', () => {
  test('takes the three required fields alone', () => {
    expect(decodeRunAgentInput(body())).toEqual({
      threadId: 't',
      runId: 'r',
      reader: '0.x',
      messages: [{ id: 'm1', index: 0, role: 'user', content: 'hello' }],
      shared: { context: [], clientTools: [], clientAnswers: 'next_request' },
      answers: [],
      warnings: [],
    })
  })

  test('takes all that a run can use', () => {
    const tool = { name: 'paint', description: 'Paints.', parameters: { type: 'object' } }
    const decoded = decodeRunAgentInput(
      body({
        protocolVersion: '1.0',
        parentRunId: 'r0',
        state: { a: null },
        tools: [tool],
        context: [{ description: 'place', value: 'Kiel' }],
        forwardedProps: { theme: 'dark' },
        resume: [{ interruptId: 'i', status: 'resolved', payload: { approved: false, reason: 'No.' } }],
        messages: [
          { id: 's', role: 'system', content: 'Be short.' },
          { id: 'd', role: 'developer', content: 'Be kind.' },
          { ...user('u', [{ type: 'text', text: 'Hi', id: 'p1' }]), metadata: { k: 1 } },
          {
            id: 'a',
            role: 'assistant',
            toolCalls: [{ id: 'c', type: 'function', function: { name: 'n', arguments: '{}' } }],
          },
          { id: 't', role: 'tool', toolCallId: 'c', content: 'done', error: 'no' },
          { id: 'z', role: 'reasoning', content: 'hm' },
          { id: 'y', role: 'activity', activityType: 'plan', content: {} },
        ],
      }),
    )

    expect(decoded).toEqual({
      threadId: 't',
      runId: 'r',
      parentRunId: 'r0',
      reader: '1.x',
      messages: [
        { id: 's', index: 0, role: 'system', content: 'Be short.' },
        { id: 'd', index: 1, role: 'developer', content: 'Be kind.' },
        { id: 'u', index: 2, role: 'user', content: [{ type: 'text', text: 'Hi' }], metadata: { k: 1 } },
        { id: 'a', index: 3, role: 'assistant' },
        { id: 't', index: 4, role: 'tool', toolCallId: 'c', content: 'done', error: 'no' },
        { id: 'z', index: 5, role: 'reasoning' },
        { id: 'y', index: 6, role: 'activity' },
      ],
      shared: {
        context: [{ description: 'place', value: 'Kiel' }],
        clientTools: [tool],
        clientAnswers: 'next_request',
        forwardedProps: { theme: 'dark' },
        state: { a: null },
      },
      answers: [
        { waitId: 'i', status: 'resolved', payload: { approved: false, reason: 'No.' }, pointer: '/resume/0/payload' },
      ],
      warnings: [],
    })
  })

  test('reads null as absent wherever a field is optional', () => {
    const nulls = { state: null, forwardedProps: null, resume: null, tools: null, context: null, parentRunId: null }
    const messages = [{ ...user('m1'), name: null, metadata: null, encryptedValue: null, subagentRunId: null }]

    expect(decodeRunAgentInput(body({ ...nulls, protocolVersion: null, messages }))).toEqual(
      decodeRunAgentInput(body()),
    )
  })

  test('reads an empty state as none, so that a fresh client does not wipe the stored one', () => {
    expect(decodeRunAgentInput(body({ state: {} })).shared).not.toHaveProperty('state')
    expect(decodeRunAgentInput(body({ state: [] })).shared.state).toEqual([])
    expect(decodeRunAgentInput(body({ state: 0 })).shared.state).toBe(0)
  })

  test('takes a tool whose pattern cannot be followed, with a warning that names it', () => {
    const parameters = { type: 'object', properties: { a: { pattern: '(?<=x)y' } } }
    const { shared, warnings } = decodeRunAgentInput(body({ tools: [{ name: 'n', description: 'd', parameters }] }))
    expect(shared.clientTools).toEqual([{ name: 'n', description: 'd', parameters }])
    expect(warnings).toEqual([
      'the pattern "(?<=x)y" at /properties/a/pattern looks around, refers back or takes too many steps and is not enforced at /tools/0',
    ])
  })

  test('refuses tools whose schemas are too large together, and says which was too much', () => {
    const tool = (name: string) => ({ name, description: 'd', parameters: { description: 'x'.repeat(600_000) } })
    const { code, problems } = refusal(body({ tools: [tool('a'), tool('b')] }))
    expect({ code, problems }).toEqual({
      code: 'invalid_request',
      problems: [{ pointer: '/tools/1', detail: expect.stringContaining('Send fewer or smaller tools.') }],
    })
  })

  test('leaves out what it does not know, with a warning', () => {
    const decoded = decodeRunAgentInput(
      body({
        future: 1,
        messages: [
          { id: 'x', role: 'oracle', content: 7 },
          {
            ...user('m1', [
              { type: 'binary', mimeType: 'image/png', data: 'AA' },
              { type: 'text', text: 'look' },
              { type: 'image', source: { type: 'data', value: 'AA', mimeType: 'image/png' } },
              { type: 'image', source: 'nonsense' },
              { type: 'hologram' },
            ]),
            colour: 'red',
          },
        ],
      }),
    )

    const source = { type: 'data', value: 'AA', mimeType: 'image/png' }
    const picture = { type: 'image', source, name: null, unread: null }
    expect(decoded.messages).toEqual([
      {
        id: 'm1',
        index: 1,
        role: 'user',
        content: [
          picture,
          { type: 'text', text: 'look' },
          picture,
          {
            type: 'document',
            source: { type: 'data', value: '', mimeType: '' },
            name: null,
            unread: 'It was sent without content.',
          },
        ],
      },
    ])
    expect(decoded.warnings).toEqual([
      'unknown role at /messages/0',
      'skipped content part at /messages/1/content/4',
      'unknown field at /messages/1/colour',
      'unknown field at /future',
    ])
  })

  test('limits the number of warnings', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`.repeat(100), i]))

    const { warnings } = decodeRunAgentInput(body(many))

    expect(warnings).toHaveLength(10)
    expect(Math.max(...warnings.map((text) => text.length))).toBeLessThan(200)
  })

  test.each([
    ['no object', null, ['']],
    ['a list', [], ['']],
    ['a string', 'hello', ['']],
    ['nothing', {}, ['/threadId', '/runId', '/messages']],
    ['a number as an id', body({ threadId: 7 }), ['/threadId']],
    ['null for what is required', body({ messages: null }), ['/messages']],
    ['a version that is no text', body({ protocolVersion: 1 }), ['/protocolVersion']],
    ['messages that are no list', body({ messages: { 0: user('a') } }), ['/messages']],
    ['a message that is no object', body({ messages: [user('a'), 'hi'] }), ['/messages/1']],
    ['a message without a role', body({ messages: [{ id: 'a', content: 'hi' }] }), ['/messages/0']],
    ['a message without an id', body({ messages: [{ role: 'user', content: 'hi' }] }), ['/messages/0/id']],
    ['a message without content', body({ messages: [{ id: 'a', role: 'user' }] }), ['/messages/0/content']],
    [
      'a text part without text',
      body({ messages: [user('a', [{ type: 'image' }, { type: 'text' }])] }),
      ['/messages/0/content/1/text'],
    ],
    ['a part without a type', body({ messages: [user('a', [{ text: 'hi' }])] }), ['/messages/0/content/0/type']],
    [
      'a tool result without a call',
      body({ messages: [{ id: 'a', role: 'tool', content: 'x' }] }),
      ['/messages/0/toolCallId'],
    ],
    ['a tool without a description', body({ tools: [{ name: 'x' }] }), ['/tools/0/description']],
    ['context that is no text', body({ context: [{ description: 'd', value: 1 }] }), ['/context/0/value']],
    [
      'an unknown answer to an interrupt',
      body({ resume: [{ interruptId: 'i', status: 'maybe' }] }),
      ['/resume/0/status'],
    ],
  ])('refuses %s and says where', (_what, value, pointers) => {
    const { code, problems } = refusal(value)

    expect({ code, pointers: problems.map((problem) => (problem as { pointer: string }).pointer) }).toEqual({
      code: 'invalid_request',
      pointers,
    })
  })

  test.each([
    ['threadId', body({ threadId: '' })],
    ['threadId', body({ threadId: 'a\nb' })],
    ['threadId', body({ threadId: 'x'.repeat(129) })],
    ['runId', body({ runId: '   ' })],
    ['runId', body({ runId: '\u0000' })],
    ['parentRunId', body({ parentRunId: 'a\u2028b' })],
    ['messages/0/id', body({ messages: [user('\u0007')] })],
  ])('refuses an id that cannot be one at /%s', (place, value) => {
    expect(refusal(value)).toEqual({
      code: 'malformed_id',
      problems: [{ pointer: `/${place}`, detail: 'An id has 1 to 128 printable characters.' }],
    })
  })

  test('takes 100,000 characters in a message and not one more', () => {
    const long = '😀'.repeat(100_000)

    expect(decodeRunAgentInput(body({ messages: [user('a', long)] })).messages).toHaveLength(1)
    expect(refusal(body({ messages: [user('a', `${long}!`)] }))).toEqual({
      code: 'invalid_request',
      problems: [{ pointer: '/messages/0/content', detail: 'A message has at most 100,000 characters.' }],
    })
  })

  test('wants a clear answer to an interrupt and says where it is not', () => {
    const unclear = [
      { interruptId: 'i', status: 'cancelled' },
      { interruptId: 'j', status: 'resolved', payload: null },
    ]
    expect(refusal(body({ resume: unclear }))).toEqual({
      code: 'invalid_request',
      problems: [
        {
          pointer: '/resume/1/payload',
          detail: expect.stringContaining('Answer with {"approved": true}'),
        },
      ],
    })
  })

  test('leaves out a tool that no model could be told of, with a warning', () => {
    const tools = [
      { name: 'paint', description: 'Paints.' },
      { name: 'not a name', description: '' },
    ]
    const { shared, warnings } = decodeRunAgentInput(body({ tools }))

    expect(shared.clientTools.map(({ name }) => name)).toEqual(['paint'])
    expect(warnings).toEqual(['the name of a tool has 1 to 64 letters, digits, _ and - at /tools/1'])
  })

  test('refuses another major version before anything else happens', () => {
    expect(refusal(body({ protocolVersion: '2.0' })).code).toBe('invalid_request')
  })

  test('either refuses any JSON with one of its own errors or gives an input that AG-UI would accept', () => {
    const anything = fc.jsonValue({ maxDepth: 4 })
    const mostly = (right: fc.Arbitrary<unknown>) => fc.oneof({ arbitrary: right, weight: 9 }, anything)
    const part = fc.record({ type: mostly(fc.constantFrom('text', 'image', 'new')), text: mostly(fc.string()) })
    const message = fc.record({
      id: mostly(fc.string({ minLength: 1 })),
      role: mostly(fc.constantFrom('user', 'assistant', 'tool', 'system', 'reasoning', 'new', '__proto__')),
      content: mostly(fc.oneof(fc.string(), fc.array(part))),
      toolCallId: mostly(fc.string()),
    })
    const input = mostly(
      fc.record(
        {
          threadId: mostly(fc.string({ minLength: 1 })),
          runId: mostly(fc.string({ minLength: 1 })),
          messages: mostly(fc.array(mostly(message), { maxLength: 4 })),
          state: anything,
          tools: mostly(fc.constant([])),
          context: mostly(fc.constant(null)),
          resume: mostly(fc.constant([])),
          protocolVersion: mostly(fc.constantFrom('1.0', '0.1', 'x')),
          __proto__: anything,
        },
        { requiredKeys: ['threadId', 'runId', 'messages'] },
      ),
    )
    const expectedCodes = ['invalid_request', 'malformed_id']
    let accepted = 0
    fc.assert(
      fc.property(input, (value) => {
        try {
          const { threadId, runId, messages, shared } = decodeRunAgentInput(value)
          const usable = messages.filter(({ role }) => role === 'user' || role === 'system' || role === 'developer')
          RunAgentInputSchema.parse({ threadId, runId, messages: usable, ...shared })
          accepted += 1
        } catch (error) {
          if (!(error instanceof ServerError)) throw error
          expect(expectedCodes).toContain(error.code)
        }
      }),
      { numRuns: runs(2_000) },
    )
    expect(accepted).toBeGreaterThan(runs(100))
  })
})

const decide = (
  payload: unknown,
  status: 'resolved' | 'cancelled' = 'resolved',
  asked: Pick<Approval, 'question'> = {},
) => {
  const [answer] = decodeResume([{ interruptId: 'i', status, payload }])
  if (answer === undefined) throw new Error('no answer')
  return { waitId: answer.waitId, ...decisionOf(answer, asked) }
}

test.each([
  [true, { decision: 'approve' }],
  [{ approved: true }, { decision: 'approve' }],
  [
    { approved: true, editedArgs: { to: 'eve' } },
    { decision: 'approve', arguments: { to: 'eve' } },
  ],
  [false, { decision: 'reject' }],
  [{ result: 'It is 4.' }, { decision: 'respond', result: 'It is 4.' }],
  [
    { approved: true, result: { sum: 4 } },
    { decision: 'respond', result: { sum: 4 } },
  ],
  [{ approved: false, result: 'It is 4.' }, { decision: 'reject' }],
  [
    { approved: false, reason: 'No.' },
    { decision: 'reject', reason: 'No.' },
  ],
])('%j is a decision', (payload, decision) => {
  expect(decide(payload)).toEqual({ waitId: 'i', ...decision })
})

test('a cancelled interrupt is a rejection, whatever its payload says', () => {
  expect(decide({ approved: true }, 'cancelled')).toEqual({ waitId: 'i', decision: 'reject' })
})

test('what is null counts as left out', () => {
  expect(decide({ approved: true, reason: null, editedArgs: null })).toEqual({ waitId: 'i', decision: 'approve' })
})

test('a reason and the number of answers are bounded', () => {
  expect(() => decide({ approved: false, reason: 'x'.repeat(2_001) })).toThrow('not a valid RunAgentInput')
  const many = Array.from({ length: 201 }, () => ({ interruptId: 'i', status: 'cancelled' as const }))
  expect(() => decodeResume(many)).toThrow('not a valid RunAgentInput')
  expect(decodeResume(many.slice(1))).toHaveLength(200)
})

test.each([[undefined], ['yes'], [1], [{}], [{ approved: 'true' }], [{ approved: true, editedArgs: 'x' }]])(
  '%j is not a clear answer',
  (payload) => {
    expect(() => decide(payload)).toThrow('not a valid RunAgentInput')
  },
)

const sizes = { type: 'object', properties: { size: { type: 'string' } } }
const yesOrNo = { type: 'object', properties: { approved: { type: 'boolean' } } }

test.each([
  ['the answer', { size: 'L' }, sizes, { decision: 'respond', result: { size: 'L' } }],
  ['the answer, also a plain one', 'L', { type: 'string' }, { decision: 'respond', result: 'L' }],
  ['the no of a client that knows only yes and no', { approved: false }, sizes, { decision: 'reject' }],
  ['the answer of a form', { approved: false }, yesOrNo, { decision: 'respond', result: { approved: false } }],
])('the payload for a question is %s', (_what, payload, schema, decision) => {
  const question = { index: 0, effect: 'once' as const, message: 'Which?', schema }
  expect(decide(payload, 'resolved', { question })).toEqual({ waitId: 'i', ...decision })
  expect(decide(payload, 'cancelled', { question })).toEqual({ waitId: 'i', decision: 'reject' })
  expect(() => decide(null, 'resolved', { question })).toThrow('not a valid RunAgentInput')
})
