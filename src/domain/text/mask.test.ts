import { describe, expect, test } from 'vitest'
import { createMask } from './mask.ts'

describe('mask', () => {
  test.each([
    ['key sk-proj-abcdefgh12345678 end', 'key [masked] end'],
    ['sk-ant-api03-abcdefghij', '[masked]'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer [masked]'],
    ['bearer    abcdefgh', 'bearer [masked]'],
    ['AIzaSyA1234567890abcdefghijkl', '[masked]'],
    ['xoxb-1234567890-abc', '[masked]'],
    ['qd_0123456789abcdef', '[masked]'],
    ['postgres://user:pass@host/db', 'postgres://[masked]@host/db'],
    ['GET /files/1?key=mhpq1abc.ada.0123456789abcdef', 'GET /files/1?key=[masked]'],
    ['GET /mcp?token=short&session_id=1', 'GET /mcp?token=[masked]&session_id=1'],
    ['eyJhbGciOiJI.eyJzdWIiOiIx.c2ln', '[masked]'],
  ])('%s', (text, masked) => {
    expect(createMask([])(text)).toBe(masked)
  })

  test.each(['a task-force of sk-ills', '0198c0de-0000-7000-8000-000000000000', 'http://localhost:8000/@x', 'basic'])(
    'leaves %s alone',
    (text) => {
      expect(createMask([])(text)).toBe(text)
    },
  )

  test('known secrets are masked in every encoding, the longest first', () => {
    const mask = createMask(['pass"word', 'pass"word-long', 'x'])

    expect(mask('pass"word-long pass%22word pass\\"word cGFzcyJ3b3Jk x')).toBe('[masked] [masked] [masked] [masked] x')
  })
})
