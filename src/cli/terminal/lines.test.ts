import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { linesOf } from './lines.ts'

async function collect(chunks: (string | Uint8Array)[]): Promise<string[]> {
  const lines: string[] = []
  for await (const line of linesOf(Readable.from(chunks))) lines.push(line)
  return lines
}

describe('linesOf', () => {
  test('finds the same lines however the text is split, even inside a character', async () => {
    const bytes = new TextEncoder().encode('one\r\n\nzwölf\nlast')
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await collect([bytes.slice(0, cut), bytes.slice(cut)])).toEqual(['one', '', 'zwölf', 'last'])
    }
  })

  test('has no line after the last line break', async () => {
    expect(await collect(['a\n', 'b\n'])).toEqual(['a', 'b'])
    expect(await collect([])).toEqual([])
  })

  test('fails when its source fails', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('gone'))
      },
    })
    const read = async () => {
      for await (const _ of linesOf(broken));
    }
    await expect(read()).rejects.toThrow('gone')
  })
})
