import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readLines } from './output-lines.ts'
import { createOutputRing } from './output-ring.ts'

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

  test('is kept in two files of a limited size', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-ring-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'x.log')
    const ring = createOutputRing(path, () => {}, 100)
    for (let i = 0; i < 50; i += 1) await ring.write([`line ${i}`, '-'])
    expect([statSync(path).size <= 100, statSync(`${path}.1`).size <= 100]).toEqual([true, true])
    expect(readFileSync(path, 'utf8').endsWith('line 49\n-\n')).toBe(true)
    await createOutputRing(path, () => {}).write([])
    expect(existsSync(`${path}.1`)).toBe(false)
  })

  test('that cannot be kept is reported once and stops nobody', async () => {
    const failures: unknown[] = []
    const ring = createOutputRing('/no/such/folder/x.log', (error) => void failures.push(error))
    await ring.write(['a'])
    await ring.write(['b'])
    expect(failures).toHaveLength(1)
  })
})
