import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readText } from './read-text.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-text-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function read(bytes: Uint8Array | string, mimeType = 'text/plain', characters?: number) {
  const path = join(folder, 'file')
  await writeFile(path, bytes)
  return readText(path, mimeType, characters)
}

const whole = (text: string) => ({ sections: [{ label: '', text }], notes: [] })
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

describe('a text', () => {
  test.each([
    ['UTF-8', Buffer.from('Zürich – 5 €\n')],
    ['UTF-8 with a mark', Buffer.from('\uFEFFZürich – 5 €\n')],
    ['UTF-16 LE with a mark', Buffer.from('\uFEFFZürich – 5 €\n', 'utf16le')],
    ['UTF-16 BE with a mark', utf16be('\uFEFFZürich – 5 €\n')],
    ['UTF-16 LE without one', Buffer.from('Zürich – 5 €\n', 'utf16le')],
    ['UTF-16 BE without one', utf16be('Zürich – 5 €\n')],
    ['Windows-1252', Buffer.from('Z\xfcrich \x96 5 \x80\r\n', 'latin1')],
  ])('in %s is read', async (_name, bytes) => {
    expect(await read(bytes)).toEqual(whole('Zürich – 5 €\n'))
  })

  test('in UTF-16 without a mark and with hardly a plain letter is read', async () => {
    const text = 'Мы живём в порту, и каждое утро приходят корабли.\n'.repeat(3)

    expect(await read(Buffer.from(text, 'utf16le'))).toEqual(whole(text))
  })

  test('gets the same line ends, whatever it had', async () => {
    expect(await read('a\r\nb\rc\n\r\nd')).toEqual(whole('a\nb\nc\n\nd'))
  })

  test('that was cut in the middle of a character is still UTF-8', async () => {
    expect(await read(Buffer.from('Grüße aus Köln, schöne Wörter für später: äöü ÄÖÜ é').subarray(0, -1))).toEqual({
      sections: [{ label: '', text: 'Grüße aus Köln, schöne Wörter für später: äöü ÄÖÜ \uFFFD' }],
      notes: ['Some characters in the file are damaged and are shown as \uFFFD.'],
    })
  })

  test('that is too long is read up to the limit', async () => {
    expect(await read(`${'x'.repeat(39)}\nrest`, 'text/plain', 10)).toEqual({
      sections: [{ label: '', text: `${'x'.repeat(39)}\n` }],
      notes: ['Only the first 0 MB of 0 MB were read.'],
    })
  })

  test('in an unknown encoding is refused, and the error says what to do', async () => {
    const dos = Buffer.from('Gr\x81\xe1e aus M\x81nchen', 'latin1')

    for (const type of ['text/plain', 'text/csv', 'text/markdown']) {
      await expect(read(dos, type)).rejects.toMatchObject({
        code: 'file_unreadable',
        message: 'The encoding of the text file cannot be recognized: save it as UTF-8 and attach it again.',
      })
    }
  })

  test('that is not text is refused', async () => {
    const garbage = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7919) % 251))

    await expect(read(garbage)).rejects.toMatchObject({ code: 'file_unreadable' })
  })
})

describe('a csv', () => {
  test('that is short stays as it was written', async () => {
    expect(await read('name;price\nrope;3,50\n', 'text/csv')).toEqual(whole('name;price\nrope;3,50\n'))
  })

  test.each([',', ';', '\t', '|'])('with %j becomes a table', async (delimiter) => {
    const rows = Array.from({ length: 300 }, (_, row) => [`part ${row}`, `"say ""${row}"", ;\t|"`, '"two\nlines"', ''])
    const text = [['name', 'remark', 'where', 'empty'], ...rows].map((row) => row.join(delimiter)).join('\r\n')
    const table = rows.map((_, row) => `| part ${row} | say "${row}", ;\t\\| | two<br>lines |  |`)

    expect(await read(text, 'text/csv')).toEqual(
      whole(['| name | remark | where | empty |', '| --- | --- | --- | --- |', ...table].join('\n')),
    )
  })

  test('can name its separator', async () => {
    const text = `sep=;\n${'a,b;c,d\n'.repeat(600)}`

    expect((await read(text, 'text/csv')).sections[0]?.text.slice(0, 40)).toBe(
      '| a,b | c,d |\n| --- | --- |\n| a,b | c,d ',
    )
  })

  test('that is too long is cut after a row, and a note says how many rows are missing', async () => {
    const text = `key,value\n${Array.from({ length: 1_000 }, (_, row) => `${row + 10_000},x`).join('\n')}\n`
    const { sections, notes } = await read(text, 'text/csv', 2_004)

    expect(notes).toEqual(['The first 165 rows are shown; 835 more are left out.'])
    expect(sections[0]?.text.split('\n').at(-1)).toBe('| 10164 | x |')
  })

  test('that is not a table stays text', async () => {
    const text = 'Dear Sir, or Madam, I write\nto you\nabout, well\n'.repeat(100)

    expect(await read(text, 'text/csv')).toEqual(whole(text))
  })

  test('with a quote that is never closed loses nothing', async () => {
    const text = `inch,name\n${'5",rope\n'.repeat(300)}"6,chain\n${'7",wire\n'.repeat(300)}`
    const { sections } = await read(text, 'text/csv')

    expect(sections[0]?.text.match(/rope|chain|wire/g)?.length).toBe(601)
  })
})
