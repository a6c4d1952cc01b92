import { expect, test } from 'vitest'
import { doneText, fieldLabel, inBar, keyOf, type RecordAction } from './record-actions.ts'

const action = (more: Partial<RecordAction>): RecordAction => ({
  ...{ name: 'resume', label: 'Resume', takes: 'nothing', text: '', main: false, danger: false, done: 'Done.' },
  ...{ confirm: { title: 'Sure?', help: '' }, choices: [], request: { path: '', body: {}, text: null } },
  ...more,
})
const nudge = action({ name: 'nudge', takes: 'optional_text', text: 'a message', main: true })
const refine = action({ name: 'refine', takes: 'text', text: 'what to do instead' })
const dismiss = action({ name: 'dismiss' })
const stop = action({ name: 'stop', danger: true })

test('what most people do stands at the end of the bar', () => {
  expect(inBar([nudge, dismiss, stop])).toEqual([stop, dismiss, nudge])
})

test('each has its key', () => {
  expect([nudge, refine, dismiss, stop].map(keyOf)).toEqual(['a', 'e', 'd', 'r'])
})

test('what is done is named', () => {
  expect(doneText(action({ done: 'Approved.' }), { title: 'npm test' })).toBe('Approved: npm test')
})

test('a field is named after what the action takes', () => {
  expect([nudge, refine, action({ text: 'an instruction' })].map(fieldLabel)).toEqual([
    ...['Message', 'What to do instead', 'Instruction'],
  ])
})
