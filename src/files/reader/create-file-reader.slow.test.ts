import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { FileType } from '../../domain/session/file.ts'
import type { FileReader, ReadableFile } from '../file-reader.ts'
import { exhaustingPdfs } from '../formats/pdf/testing/hostile-pdfs.ts'
import { pdfOf } from '../formats/pdf/testing/pdf.ts'
import { createFileReader, type FileReaderLimits, readerLimits } from './create-file-reader.ts'
import { sweepExtracts } from './extract-cache.ts'
import { childProgram } from './reader-child.ts'

const clock = createSystemClock()
const never = new AbortController().signal
const TIME_MS = 59_000
const environment = { ...process.env, OPENAI_API_KEY: 'sk-secret', LANG: 'C.UTF-8', HOME: '/root' }

let folder: string
let cacheDir: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-reader-'))
})
beforeEach(async () => {
  cacheDir = join(await mkdtemp(join(folder, 'case-')), 'cache')
})
afterAll(() => rm(folder, { recursive: true }))

const readers: FileReader[] = []
afterEach(() => Promise.all(readers.splice(0).map((reader) => reader.close())))

function open(limits: Partial<FileReaderLimits> = {}, program = childProgram(), time = clock): FileReader {
  const reader = createFileReader({
    cacheDir,
    clock: time,
    log: silentLogger,
    environment,
    limits: { ...readerLimits, ...limits },
    program,
  })
  readers.push(reader)
  return reader
}

/** The time limit of the first file is over soon. Those after it have all their time: a busy machine starts a child slowly. */
function shortForTheFirst(): Clock {
  let isFirst = true
  return {
    ...clock,
    after(ms, fire, hold) {
      const isShort = ms === TIME_MS && isFirst
      if (isShort) isFirst = false
      return clock.after(isShort ? 500 : ms, fire, hold)
    },
  }
}

const misbehaving = `${import.meta.dirname}/testing/misbehaving-child.ts`

/** The name tells the child what to do. */
function told(what: string, mimeType: FileType = 'text/plain'): ReadableFile {
  const path = join(folder, what)
  writeFileSync(path, what)
  return { path, mimeType, bytes: what.length, sha256: createHash('sha256').update(what).digest('hex') }
}

async function written(bytes: Uint8Array | string, mimeType: FileType): Promise<ReadableFile> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const path = join(folder, sha256)
  await writeFile(path, bytes)
  return { path, mimeType, bytes: bytes.length, sha256 }
}

const textOf = async (reading: Promise<{ sections: { text: string }[] }>): Promise<string> =>
  (await reading).sections.map(({ text }) => text).join('\n')

const keptResults = async (): Promise<string[]> =>
  (await readdir(cacheDir)).filter((name) => name.endsWith('.ndjson')).map((name) => name.slice(0, 64))

const childrenFolders = async (): Promise<string[]> =>
  (await readdir(cacheDir)).filter((name) => name.startsWith('work-'))

describe('a file reader', () => {
  test('reads in another process and returns the text', async () => {
    const file = await written('Ahoy, Zürich\r\n', 'text/markdown')

    expect(await open().read(file, never)).toEqual({ sections: [{ label: '', text: 'Ahoy, Zürich\n' }], notes: [] })
  })

  test('does not read the same bytes again, also after a restart', async () => {
    const reader = open({}, misbehaving)
    const first = await textOf(reader.read(told('a'), never))
    await reader.close()

    expect(first).toMatch(/^a: job 1 of \d+$/)
    expect(await textOf(open({}, misbehaving).read(told('a'), never))).toBe(first)
  })

  test('reads a file once for two callers, and goes on when one of them leaves', async () => {
    const reader = open({}, misbehaving)
    const leaving = new AbortController()
    const both = [reader.read(told('b'), leaving.signal), reader.read(told('b'), never)]
    leaving.abort(new Error('gone'))

    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(await textOf(reader.read(told('c'), never))).toMatch(/^c: job 2 /)
  })

  test('reports progress', async () => {
    const heard: [number, number][] = []
    await open({}, misbehaving).read(told('progress'), never, (done, total) => heard.push([done, total]))

    expect(heard).toEqual([[1, 2]])
  })

  test('gives its child no secrets, no home and no way out of its folders', async () => {
    await written('of another owner', 'text/plain')
    const file = told('confess')

    expect(JSON.parse(await textOf(open({}, misbehaving).read(file, never)))).toEqual({
      names: ['LANG', 'PATH', 'TMPDIR'],
      inFolder: true,
      reading: 'confess',
      inbox: ['confess'],
      denied: Array(9).fill('ERR_ACCESS_DENIED'),
    })
    expect(await readFile(file.path, 'utf8')).toBe('confess')
  })

  test('removes a file from the inbox of its child after reading, and refuses a deleted file', async () => {
    const reader = open({}, misbehaving)
    await reader.read(told('first'), never)
    const gone = told('gone')
    await rm(gone.path)
    await expect(reader.read(gone, never)).rejects.toMatchObject({
      code: 'file_unreadable',
      message: 'The file does not exist any more.',
    })
    const [work = ''] = await childrenFolders()

    expect(await readdir(join(cacheDir, work, 'inbox'))).toEqual([])
    expect(await keptResults()).toHaveLength(1)
  })

  test('shrinks a picture in another process, and only once', async () => {
    const { default: sharp } = await import('sharp')
    const large = sharp({ create: { width: 4_000, height: 1_000, channels: 3, background: '#7ab' } })
    const file = await written(await large.png().toBuffer(), 'image/png')
    const smaller = await open().shrink(file, 1_000_000, never)

    expect(await sharp(smaller).metadata()).toMatchObject({ format: 'jpeg', width: 2_560, height: 640 })
    await rm(file.path)
    expect(await open().shrink(file, 1_000_000, never)).toEqual(smaller)
    await sweepExtracts(cacheDir, async () => [])
    expect((await readdir(cacheDir)).filter((name) => name.endsWith('.jpg'))).toEqual([])
  })

  test('starts nothing before the first file, and leaves nothing behind after the last', async () => {
    const reader = open({}, misbehaving)
    await expect(readdir(cacheDir)).rejects.toThrow('ENOENT')
    await reader.read(told('d'), never)
    expect(await childrenFolders()).toHaveLength(1)
    await reader.close()

    expect(await childrenFolders()).toEqual([])
  })

  test('ends a child that has had no work for a while', async () => {
    const reader = open({ idleMs: 1 }, misbehaving)
    const first = await textOf(reader.read(told('e'), never))
    await expect.poll(childrenFolders).toEqual([])

    expect(await textOf(reader.read(told('f'), never))).not.toContain(first.split(' of ')[1])
  })

  test('removes the folders of a killed server, but not those of a running one', async () => {
    const [dead, old, used] = ['work-999999999-x', `work-${process.ppid}-old`, `work-${process.ppid}-used`]
    for (const name of [dead, old, used]) await mkdir(join(cacheDir, name, 'inbox'), { recursive: true })
    for (const path of [old, `${old}/inbox`, used]) await utimes(join(cacheDir, path), 0, 0)
    await open().sweep()

    expect(await childrenFolders()).toEqual([used])
  })

  test('refuses a language that is not installed at the start, and says what to install', () => {
    const start = (languages: string) =>
      createFileReader({
        cacheDir,
        clock,
        log: silentLogger,
        environment: { QUARTERDECK_OCR_LANGUAGES: languages },
        limits: readerLimits,
        program: childProgram(),
      })

    expect(() => start('eng,tlh')).toThrow('run "npm install @tesseract.js-data/tlh"')
    expect(() => start('../../etc')).toThrow('is not a language')
  })
})

describe('a file that exceeds the limits', () => {
  const failures: [string, Partial<FileReaderLimits>, string][] = [
    ['loop', { timeMs: TIME_MS }, 'Reading the file takes longer than the limit of 59 seconds: split it.'],
    [
      'grow',
      { memoryBytes: 200_000_000 },
      'Reading the file needs more memory than the limit of 200 MB: split it, or make it smaller.',
    ],
    ['crash', {}, 'The file could not be read: it is damaged in a way that crashed its reader.'],
    ['lie', {}, 'The file could not be read: it is damaged, or not of the type it seems to be.'],
  ]
  test.each(failures)('is refused when its child would %s, and the next one is read', async (what, limits, message) => {
    const reader = open(limits, misbehaving, shortForTheFirst())

    await expect(reader.read(told(what), never)).rejects.toMatchObject({ code: 'file_unreadable', message })
    expect(await textOf(reader.read(told('next'), never))).toMatch(/^next: job/)
    // A faster or less busy machine might have read it: it is tried again when it is asked for again.
    expect(await keptResults()).toEqual([told('next').sha256])
  })

  const onLinux = test.runIf(process.platform === 'linux')

  onLinux('a picture has its limit in processor time, so a busy machine does not fail it', async () => {
    const reader = open({ timeMs: TIME_MS }, misbehaving, shortForTheFirst())

    expect(await textOf(reader.read(told('work', 'image/png'), never))).toMatch(/^work: job 1/)
  })

  onLinux.each([
    [
      'loop',
      { timeMs: 2_000 },
      'takes more than 2 seconds of processor time: make it smaller, or cut out the part that matters.',
    ],
    [
      'hang',
      { timeMs: 3_000 },
      'takes more than 3 seconds of processor time: make it smaller, or cut out the part that matters.',
    ],
    ['grow', { memoryBytes: 200_000_000 }, 'needs more memory than the limit of 200 MB: make it smaller.'],
  ])('a picture is refused when its child would %s, and nobody is told to split it', async (what, limits, message) => {
    await expect(open(limits, misbehaving).read(told(what, 'image/png'), never)).rejects.toMatchObject({
      code: 'file_unreadable',
      message: `Reading the picture ${message}`,
    })
  })

  test('is not read again when its content was refused, also after a restart', async () => {
    const why = (reader: FileReader) =>
      reader.read(told('refuse'), never).then(
        () => 'read',
        (error) => [error.code, error.message],
      )
    const reader = open({}, misbehaving)
    const first = await why(reader)
    const second = await why(reader)
    await reader.close()

    expect(first).toEqual(['file_unreadable', expect.stringMatching(/^refuse: job 1 of \d+$/)])
    expect([second, await why(open({}, misbehaving))]).toEqual([first, first])
  })

  test('is read again when its content was not the reason', async () => {
    const reader = open({}, misbehaving)

    await expect(reader.read(told('falter'), never)).rejects.toThrow(/^falter: job 1 /)
    await expect(reader.read(told('falter'), never)).rejects.toThrow(/^falter: job 2 /)
    expect(await keptResults()).toEqual([])
  })

  test('messages of a child are checked', async () => {
    expect(await textOf(open({}, misbehaving).read(told('babble'), never))).toMatch(/^babble: job 1/)
  })

  test('a file is read by a fresh child when an earlier file made its child die', async () => {
    const reader = open({}, misbehaving)
    await reader.read(told('h'), never)

    expect(await textOf(reader.read(told('crashes-when-used'), never))).toMatch(/^crashes-when-used: job 1 /)
  })

  test('stops when no caller waits any more', async () => {
    const reader = open({}, misbehaving)
    const leaving = new AbortController()
    const reading = reader.read(told('loop'), leaving.signal)
    await expect.poll(() => childrenFolders().catch(() => [])).toHaveLength(1)
    leaving.abort(new Error('the person has left'))

    await expect(reading).rejects.toThrow('the person has left')
    expect(await textOf(reader.read(told('i'), never))).toMatch(/^i: job 1/)
  })
})

describe('a file that takes longer than the time limit', () => {
  const page = (number: number, text: string) => ({ label: `page ${number}`, text })

  test('is read further on request, and never counts as complete before', async () => {
    const scan = told('scan', 'application/pdf')
    const reader = open({}, misbehaving)
    const cut = {
      sections: [page(1, '1: job 1, words'), page(2, '2: job 1, scans'), page(3, '')],
      notes: [],
      unread: ['page 3'],
    }

    expect(await reader.read(scan, never)).toEqual(cut)
    expect(await reader.read(scan, never)).toEqual(cut)
    expect(await reader.read(scan, never, undefined, ['page 1'])).toEqual(cut)
    const whole = { sections: [...cut.sections.slice(0, 2), page(3, '3: job 2, scans')], notes: [] }
    expect(await reader.read(scan, never, undefined, ['page 3'])).toEqual(whole)
    await reader.close()
    expect(await open({}, misbehaving).read(scan, never, undefined, 'all')).toEqual(whole)
  })

  test('keeps its text when its scans cannot be read, and tries the scans again', async () => {
    const scan = told('scan-that-crashes', 'application/pdf')
    const reader = open({}, misbehaving)

    expect(await reader.read(scan, never)).toEqual({
      sections: [page(1, '1: job 1, words'), page(2, ''), page(3, '')],
      notes: [expect.stringMatching(/^Pages that are pictures were not read\. /)],
      unread: ['page 2', 'page 3'],
    })
    expect(await keptResults()).toEqual([])
  })

  test('does not delay a file that is read quickly', async () => {
    const reader = open({}, misbehaving)
    const leaving = new AbortController()
    const slow = reader.read(told('hang', 'image/png'), leaving.signal)

    expect(await textOf(reader.read(told('note'), never))).toMatch(/^note: job 1 /)
    leaving.abort(new Error('enough'))
    await expect(slow).rejects.toThrow('enough')
  })
})

describe('files that wait', () => {
  test('are refused when there are too many', async () => {
    const reader = open({ queue: 2, timeMs: TIME_MS }, misbehaving, shortForTheFirst())
    const readings = ['hang', 'j', 'k', 'l', 'm'].map((what) => reader.read(told(what), never))
    const ends = (await Promise.allSettled(readings)).map((end) =>
      end.status === 'rejected' ? end.reason.code : 'read',
    )

    expect(ends.toSorted()).toEqual(['file_unreadable', 'queue_full', 'queue_full', 'read', 'read'])
  })

  test('are refused when the server stops', async () => {
    const reader = open({}, misbehaving)
    const readings = Promise.allSettled(['hang', 'n'].map((what) => reader.read(told(what), never)))
    await expect.poll(() => childrenFolders().catch(() => [])).toHaveLength(1)
    await reader.close()

    expect((await readings).map((end) => end.status === 'rejected' && end.reason.code)).toEqual([
      'shutting_down',
      'shutting_down',
    ])
  })
})

describe('hostile files', () => {
  test('that loop endlessly end their child, and the next file is read', async () => {
    const reader = open({ busyMs: 1_000 })
    const loop = exhaustingPdfs.find(({ name }) => name === 'a PDF that shows a word a billion times')
    const reading = reader.read(await written(loop?.bytes() ?? '', 'application/pdf'), never)

    await expect(reading).rejects.toMatchObject({
      code: 'file_unreadable',
      message:
        'The file keeps its reader busy without end: open it in its own program, save it again and attach the new file, or split it.',
    })
    const next = await written(pdfOf([{ lines: ['Ahoy'] }]), 'application/pdf')
    expect(await textOf(reader.read(next, never))).toBe('Ahoy')
  })

  const types: FileType[] = [
    'image/png',
    'image/jpeg',
    'image/gif',
    'image/webp',
    'application/pdf',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'text/plain',
    'text/csv',
  ]

  test('of every type are refused with a sentence, by one child in each pool', async () => {
    const reader = open()
    const garbage = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * at * 31 + at * 7) % 256))
    const results: Record<string, unknown> = {}
    for (const type of types) {
      const file = await written(garbage, type)
      results[type] = await reader.read(file, never).then(
        () => 'read',
        (error) => error.code,
      )
    }

    expect(results).toEqual(Object.fromEntries(types.map((type) => [type, 'file_unreadable'])))
    expect(await childrenFolders()).toHaveLength(2)
    // All of them were refused for their content, so none is read a second time.
    expect(await keptResults()).toHaveLength(types.length)
  })
})
