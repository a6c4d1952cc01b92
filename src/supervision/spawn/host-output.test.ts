import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createLastWords, readLines } from './host-output.ts'

async function linesOf(chunks: readonly (string | Buffer)[], secrets: string[] = []): Promise<string[]> {
  const found: string[] = []
  const stream = Readable.from(chunks.map((one) => Buffer.from(one)))
  await readLines(stream, secrets, async (lines) => void found.push(...lines))
  return found
}

describe('the output of a host', () => {
  test('comes in whole lines, wherever the chunks end', async () => {
    const bytes = Buffer.from('é\r\nlast')
    expect(await linesOf(['a\nb', 'c\n\n', bytes.subarray(0, 1), bytes.subarray(1)])).toEqual([
      'a',
      'bc',
      '',
      'é',
      'last',
    ])
  })

  test('has no secret, even if it comes in two chunks or in a line without end', async () => {
    expect(await linesOf(['key=qd_se', 'cret!\n'], ['qd_secret'])).toEqual(['key=[masked]!'])
    const long = 'x'.repeat(20_000)
    const lines = await linesOf([`${long}qd_se`, `cret${long}`], ['qd_secret'])
    expect([lines.join('').includes('secret'), lines.join('').length, Math.max(...lines.map((l) => l.length))]).toEqual(
      [false, 40_000 + '[masked]'.length, 8_192],
    )
  })
})

const wordsOf = (...lines: string[]): string | null => {
  const words = createLastWords()
  for (const line of lines) words.add(line)
  return words.text()
}

describe('the last words of a host', () => {
  test('are the last lines of stderr, as one line', () => {
    expect(wordsOf()).toBeNull()
    expect(wordsOf('', '  ')).toBeNull()
    expect(wordsOf('Error loading config.toml:', 'url is not supported for stdio')).toBe(
      'Error loading config.toml: / url is not supported for stdio',
    )
  })

  test('are few and short', () => {
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i}`)

    expect(wordsOf(...lines)).toBe(lines.slice(-8).join(' / '))
    expect(wordsOf('x'.repeat(10_000))).toBe(`${'x'.repeat(300)}…`)
  })

  test('show hidden characters, and no colours', () => {
    expect(wordsOf('\u001b[1;31merror\u001b[0m: \u202egnp.exe\u0007')).toBe('error: <U+202E>gnp.exe<U+0007>')
  })

  test('show no secrets', () => {
    expect(
      wordsOf(
        'API_KEY=abc123 "password": "hunter2"',
        'Authorization: Bearer abcdefgh12345678',
        'sent Bearer abcdefgh12345678 to https://ada:pa55@example.com/x',
        'invalid key sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa, max_tokens=5',
      ),
    ).toBe(
      'API_KEY=[masked] "password": [masked] / Authorization: [masked] / ' +
        'sent Bearer [masked] to https://[masked]@example.com/x / invalid key [masked], max_tokens=5',
    )
  })
})
