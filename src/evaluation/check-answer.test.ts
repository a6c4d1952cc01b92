import { describe, expect, test } from 'vitest'
import type { TestCheck } from '../domain/agent/test-case.ts'
import { checkAnswer } from './check-answer.ts'

const never = new AbortController().signal
const spoken = (...messages: string[]) => ({
  answer: messages.join('\n\n'),
  finalMessage: messages.at(-1) ?? '',
  conversation: [{ user: 'Where?', agent: messages.join('\n\n') }],
})
const check = (what: TestCheck, ...messages: string[]) => checkAnswer(what, spoken(...messages), null, never)

describe('checks of an answer', () => {
  test('contains and not_contains', async () => {
    const contains = { check: 'contains', text: 'Paris', ignoreCase: false } as const
    expect(await check(contains, 'Let me see.', 'It is Paris.')).toBeNull()
    expect(await check(contains, 'PARIS')).toEqual({
      check: 'contains',
      expected: 'an answer with "Paris"',
      found: '"PARIS"',
    })
    expect(await check({ ...contains, ignoreCase: true }, 'PARIS')).toBeNull()
    expect(await check({ ...contains, check: 'not_contains' }, 'Rome')).toBeNull()
    expect(await check({ ...contains, check: 'not_contains', ignoreCase: true }, 'in paris')).toEqual({
      check: 'not_contains',
      expected: 'an answer without "Paris" (upper or lower case)',
      found: '"in paris"',
    })
  })

  test('regex begins at the start each time, and is not tried on very long text', async () => {
    const regex = { check: 'regex', pattern: '^\\d+ km$', flags: 'gmi' } as const
    expect([await check(regex, '12 KM'), await check(regex, '12 KM')]).toEqual([null, null])
    expect(await check(regex, 'far')).toEqual({
      check: 'regex',
      expected: 'an answer that matches /^\\d+ km$/gmi',
      found: '"far"',
    })
    expect((await check(regex, 'x'.repeat(100_001)))?.found).toBe(
      '100001 characters; a pattern is tried on at most 100000',
    )
  })

  test('json_schema checks the last message, with or without code fences', async () => {
    const schema = { type: 'object', properties: { km: { type: 'number' } }, required: ['km'] }
    const json = { check: 'json_schema', schema } as const
    expect(await check(json, 'I measure it.', '{"km": 12}')).toBeNull()
    expect(await check(json, '```json\n{"km": 12}\n```')).toBeNull()
    expect(await check(json, 'far')).toEqual({
      check: 'json_schema',
      expected: 'JSON that satisfies the schema',
      found: 'not JSON: "far"',
    })
    expect((await check(json, '{"km": "12"}'))?.found).toMatch(/km/)
  })

  test('similarity', async () => {
    const similar = { check: 'similarity', truth: 'It is Paris', atLeast: 0.8 } as const
    expect(await check(similar, 'it is Paris!')).toBeNull()
    expect(await check(similar, 'Paris')).toEqual({
      check: 'similarity',
      expected: 'similarity of at least 0.8 to "It is Paris"',
      found: '0.50: "Paris"',
    })
  })

  test('judge: its reason is the finding; without a judge the error says what to write', async () => {
    const judged = { check: 'judge', truth: null, criteria: 'Names one city.' } as const
    const answer = spoken('Paris or Rome')
    const verdict = (pass: boolean) => async () => ({ pass, reason: 'It names two.' })

    expect(await checkAnswer(judged, answer, verdict(true), never)).toBeNull()
    expect(await checkAnswer(judged, answer, verdict(false), never)).toEqual({
      check: 'judge',
      expected: 'Names one city.',
      found: 'It names two. The answer: "Paris or Rome"',
    })
    await expect(checkAnswer(judged, answer, null, never)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('judge: { provider: openai'),
    })
  })
})
