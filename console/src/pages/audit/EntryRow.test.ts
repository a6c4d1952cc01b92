import type { AuditEntry } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { approvalOf, detailRows, entryLine } from './EntryRow.tsx'

const entry = (change: Partial<AuditEntry>): AuditEntry => ({
  ...{ seq: 1, at: null, kind: 'decision', by: 'ada', session_id: null, run_id: null, call_id: null, hash: 'ff' },
  ...{ agent: '', tool: '', details: {} },
  ...change,
})

test('a line says what the entry is about and how it ended', () => {
  expect(entryLine(entry({ agent: 'assistant', tool: 'pay', details: { decision: 'approve', digest: 'abc' } }))).toBe(
    'assistant → pay · approve',
  )
  expect(entryLine(entry({ agent: 'assistant', details: { status: 7 } }))).toBe('assistant')
  expect(entryLine(entry({}))).toBe('')
})

test('every detail is shown, whatever it is', () => {
  expect(detailRows({ a: 'x', b: 3, c: null, d: { e: [1] } })).toEqual([
    { name: 'a', text: 'x' },
    { name: 'b', text: '3' },
    { name: 'c', text: 'null' },
    { name: 'd', text: '{\n  "e": [\n    1\n  ]\n}' },
  ])
})

test('an entry about an approval leads to it', () => {
  expect(approvalOf(entry({ details: { approval: 'a1' } }))).toBe('a1')
  expect(approvalOf(entry({ details: { approval: 3 } }))).toBe(null)
})
