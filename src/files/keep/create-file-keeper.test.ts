import { createHash } from 'node:crypto'
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { type ErrorCode, ServerError } from '../../domain/errors.ts'
import { createIds } from '../../domain/ids.ts'
import { silentLogger } from '../../domain/logger.ts'
import { type FileRecord, UNREADABLE } from '../../domain/session/file.ts'
import type { IncomingFile } from '../file-keeper.ts'
import { createBlobFolder, type Disk } from './blob-folder.ts'
import { createClaims, createFileKeeper, type FileKeeperDeps, safeName } from './create-file-keeper.ts'
import { docxOf, pptxOf, xlsxOf, zipOf } from './testing/office-zips.ts'

const HOUR = 60 * 60 * 1000

interface KeeperOptions extends Partial<Pick<FileKeeperDeps, 'unsent'>> {
  disk?: Disk
  /** Called before a record is stored. */
  onCommit?: (file: FileRecord) => Promise<void>
  /** Called after the store has its answer and before it returns it. */
  onKnownHashes?: () => Promise<void>
}

async function open({ disk, unsent = { bytes: null, ttlSeconds: 0 }, onCommit, onKnownHashes }: KeeperOptions = {}) {
  const folder = await fs.mkdtemp(join(tmpdir(), 'quarterdeck-keeper-'))
  onTestFinished(() => fs.rm(folder, { recursive: true }))
  const dir = join(folder, 'files')
  const records = new Map<string, FileRecord>()
  let later = 0
  const clock: Clock = { ...createSystemClock(), now: () => Date.now() + later }
  const keeper = createFileKeeper({
    blobs: createBlobFolder(dir, disk),
    store: {
      get: async (id) => records.get(id) ?? null,
      async unsent(owner) {
        const found = [...records.values()].filter((file) => file.owner === owner && file.sessionId === null)
        const bytes = found.reduce((sum, file) => sum + file.bytes, 0)
        return { files: found.length, bytes, oldest: found[0]?.createdAt ?? null }
      },
      async knownHashes(hashes) {
        const held = new Set(records.values().map(({ sha256 }) => sha256))
        const known = hashes.filter((hash) => held.has(hash))
        await onKnownHashes?.()
        return known
      },
    },
    async commit({ file }) {
      await onCommit?.(file)
      records.set(file.id, file)
    },
    clock,
    ids: createIds(clock.now),
    log: silentLogger,
    unsent,
  })
  return {
    keeper,
    dir,
    records,
    advance: (ms: number) => {
      later += ms
    },
    /** Everything below the folder, relative to it. */
    async paths(): Promise<string[]> {
      const found = await fs.readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
      return found
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    },
  }
}

async function* pieces(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

const incoming = (values: Partial<IncomingFile> = {}): IncomingFile => ({
  owner: 'ann',
  name: 'note.txt',
  mimeType: 'text/plain',
  content: pieces('hello'),
  maxBytes: 50_000_000,
  ...values,
})

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')
const blobPath = (content: string | Uint8Array): string => join(sha256(content).slice(0, 2), sha256(content))

/** The code and text of a refusal. */
async function refusal(work: Promise<unknown>): Promise<{ code: ErrorCode; message: string }> {
  try {
    await work
  } catch (error) {
    if (error instanceof ServerError) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error('it was not refused')
}

describe('adding a file', () => {
  test('keeps its bytes under their hash, readable by this user only, and stores a record', async () => {
    const { keeper, dir, records, paths } = await open()

    const file = await keeper.add(incoming({ name: '../a/note.txt', content: pieces('hel', 'lo') }))

    expect(file).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      owner: 'ann',
      sessionId: null,
      name: 'note.txt',
      mimeType: 'text/plain',
      bytes: 5,
      sha256: sha256('hello'),
      createdAt: expect.any(Number),
    })
    expect([...records.values()]).toEqual([file])
    expect(await paths()).toEqual([blobPath('hello')])
    const { path } = await keeper.open(file)
    expect(path).toBe(join(dir, blobPath('hello')))
    expect(await fs.readFile(path, 'utf8')).toBe('hello')
    const modes = await Promise.all([dir, join(dir, '2c'), path].map(async (one) => (await fs.stat(one)).mode))
    expect(modes.map((mode) => (mode & 0o777).toString(8))).toEqual(['700', '700', '600'])
  })

  test('keeps the same bytes once, with a record for each upload', async () => {
    const { keeper, records, paths } = await open()

    const files = await Promise.all([1, 2, 3].map(() => keeper.add(incoming({ content: pieces('hello') }))))
    await keeper.add(incoming({ owner: 'bob', content: pieces('hello') }))

    expect(new Set(files.map(({ id }) => id)).size).toBe(3)
    expect(records.size).toBe(4)
    expect(await paths()).toEqual([blobPath('hello')])
  })

  test('accepts exactly the allowed size', async () => {
    const { keeper } = await open()
    const content = () => pieces(Buffer.alloc(700, 'x'), Buffer.alloc(300, 'y'))

    expect((await keeper.add(incoming({ content: content(), maxBytes: 1_000 }))).bytes).toBe(1_000)
    expect(await refusal(keeper.add(incoming({ content: content(), maxBytes: 999 })))).toEqual({
      code: 'file_too_large',
      message: '"note.txt" is larger than 0.000999 MB.',
    })
  })

  test('stops reading as soon as the file is too large, and leaves nothing behind', async () => {
    const { keeper, paths } = await open()
    let read = 0
    let ended = false
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          read += 1_000
          yield Buffer.alloc(1_000, 'x')
        }
      } finally {
        ended = true
      }
    }

    const { code } = await refusal(keeper.add(incoming({ content: endless(), maxBytes: 5_500 })))

    expect({ code, read, ended }).toEqual({ code: 'file_too_large', read: 6_000, ended: true })
    expect(await paths()).toEqual([])
  })

  test('leaves nothing behind when the client disconnects', async () => {
    const { keeper, records, paths } = await open()
    const gone = new Error('gone')
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half of')
      throw gone
    }

    await expect(keeper.add(incoming({ content: broken() }))).rejects.toBe(gone)

    expect(await paths()).toEqual([])
    expect(records.size).toBe(0)
  })

  test('refuses an empty file', async () => {
    const { keeper, paths } = await open()

    for (const content of [pieces(), pieces('', '')]) {
      expect(await refusal(keeper.add(incoming({ content })))).toEqual({
        code: 'file_unreadable',
        message: '"note.txt" is empty.',
      })
    }
    expect(await paths()).toEqual([])
  })
})

const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
const pdf = Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')
const ole = Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0\0\0', 'latin1')
const OFFICE = 'application/vnd.openxmlformats-officedocument'
const docx = `${OFFICE}.wordprocessingml.document`

describe('the type of a file', () => {
  test.each<[label: string | null, name: string, content: string | Uint8Array, type: string]>([
    ['image/png', 'a.png', png, 'image/png'],
    ['IMAGE/PNG; q=1', 'a.png', png, 'image/png'],
    [null, 'a.txt', png, 'image/png'],
    ['application/octet-stream', 'a', pdf, 'application/pdf'],
    ['', 'a', pdf, 'application/pdf'],
    ['image/jpg', 'a.jpg', Buffer.from('\xff\xd8\xff\xe0', 'latin1'), 'image/jpeg'],
    [docx, 'a.docx', docxOf(), docx],
    [null, 'a.zip', xlsxOf(), `${OFFICE}.spreadsheetml.sheet`],
    [null, 'a', pptxOf(), `${OFFICE}.presentationml.presentation`],
    ['text/csv', 'a', '1;2', 'text/csv'],
    ['text/markdown; charset=utf-8', 'a.txt', '# Hi', 'text/markdown'],
    ['text/plain', 'a.md', '# Hi', 'text/plain'],
    [null, 'a.MD', '# Hi', 'text/markdown'],
    [null, 'a.markdown', '# Hi', 'text/markdown'],
    [null, 'a.csv', '1;2', 'text/csv'],
    ['application/vnd.ms-excel', 'a.csv', '1;2', 'text/csv'],
    [null, 'a.html', '<!doctype html>', 'text/plain'],
    ['application/json', 'a.json', '{"a":1}', 'text/plain'],
    ['application/ld+json', 'a', '{"a":1}', 'text/plain'],
    ['application/x-yaml', 'a.yaml', 'a: 1', 'text/plain'],
    ['application/xml', 'a.xml', '<a/>', 'text/plain'],
    ['text/html; charset=utf-8', 'a.html', '<p>Hi</p>', 'text/plain'],
    ['image/svg+xml', 'a.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'text/plain'],
    ['text/x-python', 'a.py', 'print(1)', 'text/plain'],
    ['application/javascript', 'a.js', 'let a = 1', 'text/plain'],
    ['video/mp2t', 'a.ts', 'export {}', 'text/plain'],
    ['application/rtf', 'a.rtf', '{\\rtf1 Hi}', 'text/plain'],
    ['message/rfc822', 'a.eml', 'Subject: Hi\r\n\r\nHello', 'text/plain'],
    ['text/calendar', 'a.ics', 'BEGIN:VCALENDAR', 'text/plain'],
    [null, '', 'x', 'text/plain'],
  ])('with the stated type %j and the name %j is decided by the content', async (mimeType, name, content, type) => {
    const { keeper } = await open()

    expect((await keeper.add(incoming({ name, mimeType, content: pieces(content) }))).mimeType).toBe(type)
    // A slow sender makes no difference.
    const bytes = [...Buffer.from(content)].map((byte) => Buffer.from([byte]))
    expect((await keeper.add(incoming({ name, mimeType, content: pieces(...bytes) }))).mimeType).toBe(type)
  })

  test.each<[label: string | null, content: string | Uint8Array, says: RegExp]>([
    ['image/png', pdf, /is sent as image\/png, but its content is application\/pdf\./],
    ['application/pdf', Buffer.concat([png, pdf]), /is sent as application\/pdf, but its content is image\/png\./],
    ['text/plain', png, /is sent as text\/plain, but its content is image\/png\./],
    ['image/gif', 'GIF is a format', /is sent as image\/gif, but its content is text or of an unknown type\./],
    ['application/pdf', 'x', /but its content is text or of an unknown type\./],
    [docx, xlsxOf(), /wordprocessingml.document, but its content is application\/.*spreadsheetml.sheet\./],
    [docx, zipOf({ a: 'b' }), /but its content is a ZIP archive that is not an Office document\./],
    [docx, Buffer.concat([pdf, docxOf()]), /but its content is application\/pdf\./],
    ['application/pdf', docxOf(), /but its content is a ZIP archive\./],
    [docx, ole, /but its content is an Office document that is locked with a password or older than 2007\./],
    [
      null,
      ole,
      /^"x" is an Office document that is locked with a password or older than 2007\. Send one of: image\/png, /,
    ],
    [null, zipOf({ a: 'b' }), /^"x" is a ZIP archive that is not an Office document\. Send one of: /],
    [null, Buffer.from([0]), /^"x" is not of an accepted type\. Send one of: /],
    [
      'text/plain',
      Buffer.from([0xff]),
      /^"x" is text in an encoding that cannot be recognized, or not text at all\. Save it as UTF-8 and send it again\./,
    ],
    [
      'text/plain',
      Buffer.concat([Buffer.alloc(99, 'x'), Buffer.alloc(2)]),
      /but its content is not of an accepted type/,
    ],
    ['audio/mpeg', 'x', /^"x" is sent as "audio\/mpeg", which is not accepted\. Send one of: /],
    ['application/zip', 'x', /^"x" is sent as "application\/zip", which is not accepted\. Send one of: /],
    ['application/json', pdf, /is sent as text\/plain, but its content is application\/pdf\./],
    ['image/svg+xml', png, /is sent as text\/plain, but its content is image\/png\./],
    ['constructor', 'x', /^"x" is sent as "constructor", which is not accepted\./],
  ])(
    'a stated type %j that does not fit the content is refused, and the error names both',
    async (mimeType, content, says) => {
      const { keeper, paths } = await open()

      const { code, message } = await refusal(keeper.add(incoming({ name: 'x', mimeType, content: pieces(content) })))

      expect(code).toBe('unsupported_media_type')
      expect(message).toMatch(says)
      expect(await paths()).toEqual([])
    },
  )

  test.each<[label: string | null, name: string, content: string | Uint8Array, type: string]>([
    ['audio/mpeg', 'a.mp3', Buffer.from([0xff, 0xfb, 0x90, 0, 0, 0, 0, 0]), UNREADABLE],
    ['application/zip', 'a.zip', zipOf({ a: 'b' }), UNREADABLE],
    [docx, 'a.docx', docxOf().subarray(0, -10), UNREADABLE],
    ['application/msword', 'a.doc', ole, UNREADABLE],
    ['image/png', 'a.png', pdf, 'application/pdf'],
    ['image/png', 'a.png', 'words', 'text/plain'],
    ['text/csv', 'a', '1;2', 'text/csv'],
  ])('a door that refuses no type keeps what is labelled %j (%j)', async (mimeType, name, content, type) => {
    const { keeper } = await open()

    const file = await keeper.add(incoming({ name, mimeType, content: pieces(content), unreadable: 'keep' }))

    expect([file.mimeType, file.bytes]).toEqual([type, Buffer.from(content).length])
    using bytes = await keeper.open(file)
    expect(await fs.readFile(bytes.path)).toEqual(Buffer.from(content))
  })

  test('a wrong type is refused before the rest is read', async () => {
    const { keeper } = await open()
    let read = 0
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        read += 1
        yield pdf
      }
    }

    const { code } = await refusal(keeper.add(incoming({ mimeType: 'image/png', content: endless() })))

    expect({ code, read }).toEqual({ code: 'unsupported_media_type', read: 1 })
  })

  test.each<[string, Buffer]>([
    ['cut off', docxOf().subarray(0, -10)],
    ['full of tricks', docxOf({ '../../evil': 'x' })],
  ])('an Office document that is %s cannot be read, whatever its stated type', async (_what, bytes) => {
    const { keeper } = await open()

    for (const mimeType of [docx, null]) {
      expect(await refusal(keeper.add(incoming({ name: 'a.docx', mimeType, content: pieces(bytes) })))).toEqual({
        code: 'file_unreadable',
        message: '"a.docx" cannot be read. The archive is damaged, incomplete or malicious.',
      })
    }
  })
})

describe('the name of a file', () => {
  test.each<[string, string | Uint8Array, string | null]>([
    ['image.png', png, null],
    ['image.jpg', Buffer.from('\xff\xd8\xff\xe0', 'latin1'), null],
    ['image.gif', 'GIF89a', null],
    ['image.webp', Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1'), null],
    ['document.pdf', pdf, null],
    ['document.docx', docxOf(), null],
    ['workbook.xlsx', xlsxOf(), null],
    ['presentation.pptx', pptxOf(), null],
    ['text.txt', 'hello', null],
    ['table.csv', '1;2', 'text/csv'],
    ['text.md', '# Hi', 'text/markdown'],
  ])('is %s, by its content, if the client sent none', async (expected, content, mimeType) => {
    const { keeper } = await open()

    for (const name of [null, '', '../', 'blob']) {
      expect((await keeper.add(incoming({ name, mimeType, content: pieces(content) }))).name).toBe(expected)
    }
    expect((await keeper.add(incoming({ name: 'x', mimeType, content: pieces(content) }))).name).toBe('x')
  })

  test('is "file" in an error, if the client sent none', async () => {
    const { keeper } = await open()

    expect((await refusal(keeper.add(incoming({ name: null, content: pieces() })))).message).toBe('"file" is empty.')
  })
})

describe('files that are not sent in a message', () => {
  const unsent = { bytes: 1_000, ttlSeconds: 86_400 }
  const sized = (bytes: number) => incoming({ content: pieces(Buffer.alloc(bytes, 'x')) })
  const FULL = {
    code: 'too_many_uploads',
    message:
      'Uploads that are not yet sent in a message may not exceed 0.001 MB, and this file would exceed that. ' +
      'Send the earlier files in messages, or wait: they are removed 24 h after their upload.',
  }

  test('are accepted up to the limit of their owner, and sent files do not count', async () => {
    const { keeper, records, paths } = await open({ unsent })
    const first = await keeper.add(sized(600))
    await keeper.add(sized(400))

    expect(await refusal(keeper.add(sized(1)))).toEqual(FULL)
    expect((await keeper.add({ ...sized(1), owner: 'bob' })).bytes).toBe(1)
    records.set(first.id, { ...first, sessionId: 'session' })
    expect((await keeper.add(sized(600))).bytes).toBe(600)
    expect(await refusal(keeper.add(sized(1)))).toEqual(FULL)
    expect((await paths()).toSorted()).toEqual([600, 400, 1].map((size) => blobPath('x'.repeat(size))).toSorted())
  })

  test('are refused with the time when there is room again', async () => {
    const { keeper, advance } = await open({ unsent })
    await keeper.add(sized(1_000))
    advance(23 * HOUR)

    await expect(keeper.add(sized(1))).rejects.toMatchObject({
      details: { max_bytes: 1_000, retry_after_seconds: expect.closeTo(3_600, -1) },
    })
    advance(2 * HOUR)
    await expect(keeper.add(sized(1))).rejects.toMatchObject({ details: { retry_after_seconds: 60 } })
  })

  test('are refused at once when there is no room, and while they arrive when there is too little', async () => {
    const { keeper, records, paths } = await open({ unsent })
    let read = 0
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        read += 100
        yield Buffer.alloc(100, 'x')
      }
    }

    expect(await refusal(keeper.add(incoming({ content: endless() })))).toEqual(FULL)
    expect([read, records.size, await paths()]).toEqual([1_100, 0, []])
    await keeper.add(sized(1_000))
    expect(await refusal(keeper.add(incoming({ content: endless() })))).toEqual(FULL)
    expect(read).toBe(1_100)
  })

  test('that arrive at the same time share the room', async () => {
    const { keeper, records, paths } = await open({ unsent })

    const ends = await Promise.allSettled([400, 401, 402, 403].map((size) => keeper.add(sized(size))))

    const kept = [...records.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    expect(kept).toBeLessThanOrEqual(1_000)
    expect(ends.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(2)
    expect((await paths()).length).toBe(records.size)
    // Refused files are not counted any more.
    records.clear()
    expect((await keeper.add(sized(1_000))).bytes).toBe(1_000)
  })

  test('are refused when another file took the room while they arrived', async () => {
    const { keeper, records } = await open({ unsent })
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(100, 'y')
      await keeper.add(sized(800))
      yield Buffer.alloc(200, 'y')
    }

    expect(await refusal(keeper.add(incoming({ content: slow() })))).toEqual(FULL)
    expect([...records.values()].map(({ bytes }) => bytes)).toEqual([800])
  })

  test('are limited to ten thousand, however small they are', async () => {
    const { keeper, records } = await open({ unsent: { ...unsent, bytes: 1_000_000 } })
    const file = await keeper.add(sized(1))
    for (let count = 1; count < 10_000; count += 1) records.set(`${count}`, file)

    await expect(keeper.add(sized(1))).rejects.toMatchObject({
      code: 'too_many_uploads',
      message: expect.stringContaining('may not exceed 10,000 files'),
      details: { max_files: 10_000 },
    })
  })

  test('have no limit if none is set', async () => {
    const { keeper } = await open({ unsent: { ...unsent, bytes: null } })

    for (const bytes of [600, 700]) expect((await keeper.add(sized(bytes))).bytes).toBe(bytes)
  })
})

describe('finding a file', () => {
  test('works for its owner only, in either spelling of its id', async () => {
    const { keeper } = await open()
    const file = await keeper.add(incoming())

    expect(await keeper.find('ann', file.id)).toEqual(file)
    expect(await keeper.find('ann', file.id.toUpperCase())).toEqual(file)
    for (const [owner, id] of [
      ['bob', file.id],
      ['ann', '0192f3a1-7b2c-7def-8abc-0123456789ab'],
      ['ann', '../../etc/passwd'],
    ] as const) {
      expect(await refusal(keeper.find(owner, id))).toEqual({
        code: 'file_not_found',
        message: `There is no file ${JSON.stringify(id)}.`,
      })
    }
  })
})

describe('a disk that fails', () => {
  const failing = (method: 'write' | 'sync', code: string) => ({
    ...fs,
    async open(...args: Parameters<typeof fs.open>) {
      const handle = await fs.open(...args)
      return Object.assign(handle, {
        [method]: async () => {
          throw Object.assign(new Error(code), { code })
        },
      })
    },
  })

  test.each([
    ['write', 'ENOSPC', 'storage_full'],
    ['write', 'EDQUOT', 'storage_full'],
    ['sync', 'ENOSPC', 'storage_full'],
    ['write', 'EIO', 'storage_failed'],
    ['sync', 'EIO', 'storage_failed'],
  ] as const)('in %s with %s: %s, and nothing is left', async (method, code, refused) => {
    const { keeper, records, paths } = await open({ disk: failing(method, code) })

    expect((await refusal(keeper.add(incoming()))).code).toBe(refused)

    expect(await paths()).toEqual([])
    expect(records.size).toBe(0)
  })

  test('a folder that cannot be created is a storage failure', async () => {
    const disk = {
      ...fs,
      mkdir: async () => {
        throw Object.assign(new Error('read-only'), { code: 'EROFS' })
      },
    }
    const { keeper } = await open({ disk })

    expect((await refusal(keeper.add(incoming()))).code).toBe('storage_failed')
  })
})

describe('a sweep', () => {
  test('removes bytes that no record names, once they are an hour old', async () => {
    const { keeper, records, advance, paths } = await open()
    const kept = await keeper.add(incoming({ content: pieces('kept') }))
    const gone = await keeper.add(incoming({ content: pieces('gone') }))
    records.delete(gone.id)

    await keeper.sweep()
    expect((await paths()).toSorted()).toEqual([blobPath('kept'), blobPath('gone')].toSorted())
    advance(HOUR + 1_000)
    await keeper.sweep()

    expect(await paths()).toEqual([blobPath('kept')])
    expect(await keeper.find('ann', kept.id)).toEqual(kept)
  })

  test('removes half-written files of a crash, and no files of others', async () => {
    const { keeper, dir, advance, paths } = await open()
    await keeper.add(incoming())
    for (const name of ['incoming-1', 'notes', '2c/notes', `2c/${'ab'.repeat(32)}`])
      await fs.writeFile(join(dir, name), 'x')

    await keeper.sweep()
    expect((await paths()).length).toBe(5)
    advance(HOUR + 1_000)
    await keeper.sweep()

    expect((await paths()).toSorted()).toEqual(
      ['notes', '2c/notes', `2c/${'ab'.repeat(32)}`, blobPath('hello')].toSorted(),
    )
  })

  test('has nothing to do before the first file', async () => {
    const { keeper, dir } = await open()

    await keeper.sweep()

    await expect(fs.stat(dir)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('removes the bytes of a record that could not be stored, after a while', async () => {
    const full = new ServerError('storage_full', 'full')
    const { keeper, advance, paths } = await open({ onCommit: () => Promise.reject(full) })

    await expect(keeper.add(incoming())).rejects.toBe(full)
    advance(HOUR + 1_000)
    await keeper.sweep()

    expect(await paths()).toEqual([])
  })

  // In both tests the clock is two hours ahead of the disk, so that the age of the bytes protects nothing.
  test('never removes the bytes of an upload that arrives meanwhile', async () => {
    let onKnownHashes = async () => {}
    const { keeper, records, advance } = await open({ onKnownHashes: () => onKnownHashes() })
    records.delete((await keeper.add(incoming())).id)
    advance(2 * HOUR)
    let added: FileRecord | undefined
    onKnownHashes = async () => {
      added = await keeper.add(incoming())
    }

    await keeper.sweep()

    expect(added === undefined ? null : await fs.readFile((await keeper.open(added)).path, 'utf8')).toBe('hello')
  })

  test('never removes the bytes of an upload whose record is not stored yet', async () => {
    const { keeper, advance } = await open({ onCommit: () => keeper.sweep() })
    advance(2 * HOUR)

    const file = await keeper.add(incoming())

    expect(await fs.readFile((await keeper.open(file)).path, 'utf8')).toBe('hello')
  })
})

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a claim waits for a removal that is under way, however it ends', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const claims = createClaims()
    const removal = Promise.withResolvers<boolean>()
    const sweep = claims.sweeping(async (remove) => void (await remove('a', () => removal.promise)))
    let isClaimed = false
    const claim = claims.claim('a').then(() => {
      isClaimed = true
    })
    const other = await claims.claim('b')

    await turn()
    expect(isClaimed).toBe(false)
    removal[end](end === 'resolve')
    await claim
    await sweep.catch(() => {})
    other[Symbol.dispose]()
  }
})

test('bytes that were claimed during a sweep are removed only by the next one', async () => {
  const claims = createClaims()
  const early = await claims.claim('early')
  const removed: string[] = []
  const round = () =>
    claims.sweeping(async (remove) => {
      const late = await claims.claim('late')
      for (const claim of [early, late]) claim[Symbol.dispose]()
      for (const sha256 of ['early', 'late', 'free']) {
        await remove(sha256, async () => {
          removed.push(sha256)
          return true
        })
      }
    })

  await round()
  expect(removed).toEqual(['free'])
  await round()
  expect(removed).toEqual(['free', 'early', 'free'])
})

test('bytes with two claims are free when both are released', async () => {
  const claims = createClaims()
  const [first, second] = [await claims.claim('a'), await claims.claim('a')]
  const sweep = async () => {
    let isRemoved = false
    await claims.sweeping(async (remove) => {
      isRemoved = await remove('a', async () => true)
    })
    return isRemoved
  }

  first[Symbol.dispose]()
  expect(await sweep()).toBe(false)
  second[Symbol.dispose]()
  expect(await sweep()).toBe(true)
})

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
