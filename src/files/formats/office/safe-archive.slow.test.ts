import { describe, expect, test } from 'vitest'
import { openSafeArchive, type SafeArchive } from './safe-archive.ts'
import { withFile } from './testing/with-file.ts'
import { type ZipEntry, zipOf } from './testing/zip-of.ts'

async function contentOf(archive: SafeArchive, name: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of archive.read(name)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Names and contents of all entries. */
const read = (entries: readonly ZipEntry[]) =>
  withFile(zipOf(entries), async (path) => {
    const archive = await openSafeArchive(path)
    try {
      const contents: Record<string, string> = {}
      for (const name of archive.names) {
        contents[name] = await contentOf(archive, name)
      }
      return contents
    } finally {
      archive.close()
    }
  })

describe('openSafeArchive', () => {
  test('gives the parts of a harmless archive, without folders', async () => {
    expect(
      await read([
        { name: 'word/', content: '' },
        { name: 'word/document.xml', content: '<a>ü</a>' },
        { name: 'word\\styles.xml', content: '<b/>' },
      ]),
    ).toEqual({ 'word/document.xml': '<a>ü</a>', 'word/styles.xml': '<b/>' })
  })

  test('does not open archives inside it', async () => {
    const bomb = zipOf([{ name: 'x', content: Buffer.alloc(60_000_000) }])

    expect(Object.keys(await read([{ name: 'word/embeddings/inner.zip', content: bomb }]))).toEqual([
      'word/embeddings/inner.zip',
    ])
  })

  test('allows pictures more room than the parts that are parsed', async () => {
    // A pattern that packs to a hundredth of its size, as an uncompressed drawing does.
    const picture = Buffer.alloc(51_000_000, Buffer.from(Array.from({ length: 251 }, (_, at) => at)))
    for (let at = 0; at < picture.length; at += 500) picture[at] = at % 249

    expect(Object.keys(await read([{ name: 'ppt/media/image1.emf', content: picture }]))).toEqual([
      'ppt/media/image1.emf',
    ])
    await expect(read([{ name: 'ppt/slides/slide1.xml', content: picture }])).rejects.toMatchObject({
      code: 'file_unreadable',
      message: 'The file is too large when unpacked: at most 50 MB can be read.',
    })
  })

  test('finds a document type definition anywhere', async () => {
    const far = `<?xml version="1.0"?><!--${'x'.repeat(200_001)}--><!DOCTYPE a><a/>`

    await expect(read([{ name: 'a.xml', content: far }])).rejects.toMatchObject({
      code: 'file_unreadable',
      message: 'The file has a document type definition, which Office files never have. It was not read.',
    })
  })

  test.each(['utf-16le', 'utf-16be'])(
    'finds a document type definition in %s, with and without a byte order mark',
    async (encoding) => {
      const encode = (text: string) => {
        const bytes = Buffer.from(text, 'utf16le')
        return encoding === 'utf-16be' ? bytes.swap16() : bytes
      }

      for (const mark of ['', '\ufeff']) {
        const content = encode(`${mark}<?xml version="1.0"?><!DOCTYPE a><a/>`)
        await expect(read([{ name: 'customXml/item1.xml', content }])).rejects.toMatchObject({
          message: 'The file has a document type definition, which Office files never have. It was not read.',
        })
      }
    },
  )

  test('allows bytes after the end, and ignores what only looks like an end', async () => {
    const zip = zipOf([{ name: 'a.xml', content: '<a/>' }])
    const behind = [
      Buffer.alloc(512),
      Buffer.from('\r\n--\r\n'),
      zip.subarray(-22),
      Buffer.alloc(200_000, 'PK\x05\x06'),
    ]
    for (const more of behind) {
      const text = await withFile(Buffer.concat([zip, more]), async (path) => {
        const archive = await openSafeArchive(path)
        try {
          return await contentOf(archive, 'a.xml')
        } finally {
          archive.close()
        }
      })
      expect(text).toBe('<a/>')
    }
  })

  test('refuses to read a part that does not exist', async () => {
    await withFile(zipOf([{ name: 'a.xml', content: '<a/>' }]), async (path) => {
      const archive = await openSafeArchive(path)
      await expect(contentOf(archive, 'b.xml')).rejects.toMatchObject({ code: 'file_unreadable' })
      archive.close()
    })
  })
})
