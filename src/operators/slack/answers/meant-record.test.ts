import { expect, test } from 'vitest'
import { parseReply } from './meant-record.ts'

const parse = (text: string) => {
  const found = parseReply(text, (start) => '019aa1b2-dead'.startsWith(start.toLowerCase()))
  return found === null ? null : [found.action, found.id, found.text]
}

test.each([
  ['accept', ['approve', null, '']],
  [' Approve! ', ['approve', null, '']],
  ['YES', ['approve', null, '']],
  ['ok.', ['approve', null, '']],
  ['accept 019aa1b2', ['approve', '019aa1b2', '']],
  ['accept 019AA1B2.', ['approve', '019AA1B2', '']],
  // Nothing has such an id, and the person has to know.
  ['accept 3f2a', ['approve', '3f2a', '']],
  ['no', ['reject', null, '']],
  ['no, too risky', ['reject', null, 'too risky']],
  ['reject: first\nsecond', ['reject', null, 'first\nsecond']],
  ['reject 019aa1b2 too risky', ['reject', '019aa1b2', 'too risky']],
  ['reject dead code', ['reject', null, 'dead code']],
  ['continue', ['continue', null, '']],
  ['refine', ['refine', null, '']],
  ['refine only 3 tests', ['refine', null, 'only 3 tests']],
  ['stop', ['stop', null, '']],
  ['nudge', ['nudge', null, '']],
  ['nudge are you there?', ['nudge', null, 'are you there?']],
  ['dismiss', ['dismiss', null, '']],
  ['resume', ['resume', null, '']],
  ['resume 019aa1b2 write docs', ['resume', '019aa1b2', 'write docs']],
  ['answer L', ['answer', null, 'L']],
  ['cancel', ['cancel', null, '']],
])('%j is an answer', (text, found) => {
  expect(parse(text)).toEqual(found)
})

test.each([
  'yes but only the first part',
  'ok?',
  'accept it',
  'accept dead code',
  'continue with the tests',
  'stop using tabs',
  'nobody knows',
  'okay then',
  'constructor',
  '__proto__',
  '👍',
  '/quarterdeck accept',
  '',
])('%j is none', (text) => {
  expect(parse(text)).toBeNull()
})
