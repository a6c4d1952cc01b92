import fc from 'fast-check'
import { expect, test } from 'vitest'
import { safeName } from './file-name.ts'

test.each<[string | null, string | null]>([
  ['report.pdf', 'report.pdf'],
  ['Jahresabschluß – Größe 😀.xlsx', 'Jahresabschluß – Größe 😀.xlsx'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\ann\\plan.docx', 'plan.docx'],
  ['/', null],
  ['..', null],
  ['a/..', null],
  ['', null],
  [null, null],
  ['  two\r\n  lines\t.txt ', 'two lines .txt'],
  ['nul\0byte.txt', 'nulbyte.txt'],
  ['\u202egnp.exe', 'gnp.exe'],
  ['in\u200bvis\u2060ible\ufeff.txt', 'invisible.txt'],
  ['\u3164\u200d\u00ad', null],
  ['lone \ud800 surrogate', 'lone surrogate'],
  ['line\u2028separator', 'line separator'],
  ['.env', '.env'],
  ['blob', null],
  ['blob.png', 'blob.png'],
])('%j is shown as %j', (text, name) => {
  expect(safeName(text)).toBe(name)
})

test('a long name is cut, and keeps its extension', () => {
  expect(safeName(`${'😀'.repeat(300)}.docx`)).toBe(`${'😀'.repeat(115)}.docx`)
  expect(safeName('x'.repeat(121))).toBe('x'.repeat(120))
  expect(safeName(`a.${'x'.repeat(200)}`)).toBe(`a.${'x'.repeat(118)}`)
})

test('every name becomes one short line without a path, and does not change again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const name = safeName(text)
      if (name === null) return
      expect(name).toMatch(/^[^\p{Cc}\p{Cf}/\\\u2028\u2029]+$/u)
      expect([...name].length).toBeLessThanOrEqual(120)
      expect(name.isWellFormed()).toBe(true)
      expect(safeName(name)).toBe(name)
    }),
  )
})
