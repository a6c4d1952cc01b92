import type { RunEvent } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { eventJson, eventLine, fits } from './event-text.ts'

const delta = (text: string): RunEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: text, timestamp: 1 })

test('JSON names every character that nobody sees, and is still the same JSON', () => {
  const event = delta('pay \u202e001\u200b\u3164 \u{e0041}\n')
  const json = eventJson(event)

  expect(json).toContain('pay \\u202e001\\u200b\\u3164 \\udb40\\udc41\\n')
  expect(JSON.parse(json)).toEqual(event)
})

test('a line has the text of a piece, or the facts of an event', () => {
  expect(eventLine(delta('a\n b\u202ec'))).toBe('a b\\u202ec')
  expect(eventLine({ type: 'STEP_STARTED', stepName: 'step_1', timestamp: 5 })).toBe('stepName step_1')
  expect(eventLine({ type: 'CUSTOM', name: 'x', value: { a: 1, b: [1, 2], c: { d: 1 } } })).toBe(
    'name x, value {a: 1, b: […], c: {…}}',
  )
})

test('a line of a megabyte is cut', () => {
  expect(eventLine(delta('x'.repeat(1_000_000))).length).toBeLessThan(210)
  expect(eventLine({ type: 'CUSTOM', name: 'x', value: 'y'.repeat(1_000_000) }).length).toBeLessThan(210)
})

test('filters look at the type and at any part', () => {
  const event = delta('Grüße')

  expect(fits(event, { type: null, text: 'grüße' })).toBe(true)
  expect(fits(event, { type: 'TEXT_MESSAGE_CONTENT', text: '' })).toBe(true)
  expect(fits(event, { type: 'RUN_ERROR', text: '' })).toBe(false)
  expect(fits(event, { type: null, text: 'nowhere' })).toBe(false)
})
