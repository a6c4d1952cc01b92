// Malicious files at every door of one running server. Each is refused with a 4xx that names it, or does no harm. Nobody else
// notices, and nothing is left outside of the data directory. Reading a large file does not block the server's event loop. How much
// it delays other streams is measured by `npm run bench:files`.
//
//   LONG=1 vitest run test/crash/hostile-files.slow.test.ts      also PDFs that take a reader seconds each (`npm run test:long`)

import { mkdir, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { largePdf } from '../../src/files/formats/pdf/testing/large-pdf.ts'
import { pdfOf } from '../../src/files/formats/pdf/testing/pdf.ts'
import { isLong, megabytes, ms, print, quantile } from './support/figures.ts'
import { agUi, chatForm, chatJson, completions, type FileDoor, type SentFile, upload } from './support/file-doors.ts'
import { probeHealth } from './support/health-probe.ts'
import { exhaustingAttachments, type HostileAttachment, hostileAttachments } from './support/hostile-attachments.ts'
import { type Recording, record } from './support/sse-recorder.ts'
import { openYard, type TestServer, type Yard } from './support/start-server.ts'
import { until, within } from './support/until.ts'

/** The first of them is close to the limit: a fast machine reads it. */
const exhausting = isLong ? exhaustingAttachments.slice(1) : []
/**
 * The limit of a file is in processor time, and a busy machine gives little of it. A child is ended after 60 s. The tests of the
 * Office readers measure that time.
 */
const LIMIT_MS = 180_000
/** For a machine that has other things to do. */
const PATIENCE_MS = 180_000
/** It is 37 MB on a quiet machine. One file that stays in memory would be more than the rest. */
const GROWTH_LIMIT = 60_000_000
const LOOP_LIMIT_MS = 200

const doors = [upload, chatJson, chatForm, completions, agUi]

const answers = [
  // The model gives this answer only if it was told what is in the file.
  { when: { user: 'northern quay' }, parts: [{ text: 'I know about the quay.' }] },
  { when: { user: 'What is this?' }, parts: [{ text: 'I see nothing.' }] },
]
const good: SentFile = {
  filename: 'quay.pdf',
  mimeType: 'application/pdf',
  bytes: pdfOf([{ lines: ['In March the northern quay was closed for repairs.'] }]),
}

let count = 0
async function send(server: TestServer, door: FileDoor, file: SentFile): Promise<Recording & { tookMs: number }> {
  const began = performance.now()
  count += 1
  const { done } = record(door.request(server.url, file, `thread-${count}`))
  const recording = await within(LIMIT_MS, done, () => `${door.name}, ${file.bytes.length} bytes`)
  return { ...recording, tookMs: performance.now() - began }
}

const Told = /"type":"ACTIVITY_SNAPSHOT".*"status":"unreadable"/

/** What a door answered, in a few words that do not depend on its shape. */
function said(door: FileDoor, { status, body, frames }: Recording): string {
  if (door !== agUi) {
    const { code, detail, error, content, choices } = status === 201 ? {} : JSON.parse(body)
    const problem: unknown = detail ?? error?.message
    if (problem !== undefined) return `${status} ${code ?? error?.code}: ${problem}`
    return [status, content ?? choices?.[0]?.message.content].join(' ').trim()
  }
  const told = frames.map(({ data }) => data).find((data) => Told.test(data))
  const { name, reason } = told === undefined ? {} : JSON.parse(told).content
  const end = /^\{"type":"(\w+)"/.exec(frames.at(-1)?.data ?? '')?.[1]
  return `${status} ${end}${told === undefined ? '' : `: ${JSON.stringify(name)} cannot be read. ${reason}`}`
}

/** The beginning of what each door must answer. */
function expected(door: FileDoor, { filename, outcome, refusal }: HostileAttachment): string {
  const named = JSON.stringify(filename)
  if (outcome === 'harmless') {
    if (door === upload) return '201'
    return door === agUi ? '200 RUN_FINISHED' : '200 I see nothing.'
  }
  if (outcome === 'read') {
    if (door === upload) return '201'
    const sentence = `${named} cannot be read. ${refusal}`
    return door === agUi ? `200 RUN_FINISHED: ${sentence}` : `${statusAt(door, 422)} file_unreadable: ${sentence}`
  }
  // The content decides, and what cannot be read is named.
  if (door === agUi) return '200 RUN_FINISHED'
  if (outcome === 'type') return `${statusAt(door, 415)} unsupported_media_type: ${named} is `
  return `${statusAt(door, 422)} file_unreadable: ${named} `
}

/** Clients of OpenAI would repeat anything else. */
const statusAt = (door: FileDoor, status: number): number => (door === completions ? 400 : status)

/** Everything below a folder except the data directory. */
async function around(yard: Yard, dataDir: string): Promise<string[]> {
  const entries = await readdir(yard.directory, { recursive: true, withFileTypes: true })
  return entries
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.startsWith(join(dataDir, '/')))
    .map((path) => relative(yard.directory, path))
    .sort()
}

/** Processes that work in a folder below this one: a reader works in its own. */
async function processesIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')))
  return pids.filter((_, at) => folders[at]?.startsWith(folder) === true)
}

describe.skipIf(process.platform !== 'linux')('hostile files', () => {
  test('are refused at every door or do no harm, and the server is not affected', { timeout: 900_000 }, async () => {
    const yard = await openYard(onTestFinished, { answers })
    // Deep enough that a file that climbs out of it is still found.
    const dataDir = join(yard.directory, 'a', 'b', 'c', 'data')
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await mkdir(join(yard.directory, 'tmp'))
    const env = { TMPDIR: join(yard.directory, 'tmp') }
    const server = await yard.start({ dataDir, env, nodeArgs: ['--expose-gc'] })
    for (const door of doors) await send(server, door, good)
    const before = await around(yard, dataDir)
    const passwords = await stat('/etc/passwd')
    const rss = await server.rss()
    const probe = probeHealth(server.url)
    const rows: { name: string; door: string; said: string }[] = []
    const wanted: typeof rows = []
    const slow: string[] = []
    let slowest = 0

    async function attack(attachment: HostileAttachment): Promise<void> {
      const file = { ...attachment, bytes: await attachment.bytes() }
      const recordings = await Promise.all(doors.map((door) => send(server, door, file)))
      for (const [at, recording] of recordings.entries()) {
        const door = doors[at] ?? upload
        const start = expected(door, attachment)
        const words = said(door, recording)
        wanted.push({ name: attachment.name, door: door.name, said: start })
        rows.push({ name: attachment.name, door: door.name, said: words.startsWith(start) ? start : words })
        slowest = Math.max(slowest, recording.tookMs)
        if (recording.tookMs > LIMIT_MS) slow.push(`${attachment.name} at ${door.name}: ${ms(recording.tookMs)}`)
      }
    }
    for (const attachment of hostileAttachments) await attack(attachment)
    const quick = slowest
    for (const attachment of exhausting) await attack(attachment)
    const health = await probe.stop()

    expect(rows).toEqual(wanted)
    expect(slow).toEqual([])
    expect(health.filter((time) => !Number.isFinite(time))).toEqual([])
    expect(await around(yard, dataDir)).toEqual(before)
    expect((await stat('/etc/passwd')).mtimeMs).toBe(passwords.mtimeMs)
    const again = await Promise.all([chatJson, chatForm, completions].map((door) => send(server, door, good)))
    expect(again.map(({ status, body }) => [status, body.includes('I know about the quay.')])).toEqual(
      Array(3).fill([200, true]),
    )
    // The server and, for pictures and for everything else, one process that waits for the next file.
    await until('no other reader is left', async () => (await processesIn(yard.directory)).length <= 3, PATIENCE_MS)
    await until('memory is given back', async () => (await server.rss()) < rss + GROWTH_LIMIT, PATIENCE_MS)
    const after = await server.rss()
    server.signal('SIGTERM')
    const { code } = await server.exited
    await until('the reader is gone', async () => (await processesIn(yard.directory)).length === 0)
    expect(code).toBe(0)
    print(
      `${hostileAttachments.length} hostile files at ${doors.length} doors: the slowest answer after ${ms(quick)}; ${exhausting.length} that exhaust a reader: ${ms(slowest)}; /health meanwhile: p99 ${ms(quantile(health, 0.99))}, max ${ms(quantile(health, 1))}; memory ${megabytes(after - rss)} over before`,
    )
  })

  test('come back with names that do no harm', async () => {
    const yard = await openYard(onTestFinished, { answers })
    const server = await yard.start({ flags: ['--log-level', 'error'] })
    const broken = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(500, 'x')])
    const names: [sent: string, shown: string, header: string][] = [
      ['../../../etc/passwd', 'passwd', 'passwd'],
      ['..\\..\\windows\\win.ini', 'win.ini', 'win.ini'],
      ['..', 'document.pdf', 'document.pdf'],
      ['invoice\u202efdp.exe', 'invoicefdp.exe', 'invoicefdp.exe'],
      ['a\u0007b\u001b[31mc.pdf', 'ab[31mc.pdf', 'ab[31mc.pdf'],
      ['zero\u200bwidth.pdf', 'zerowidth.pdf', 'zerowidth.pdf'],
      ['say "hi"; x=y.pdf', 'say "hi"; x=y.pdf', 'say _hi_; x=y.pdf'],
      ['grüße.pdf', 'grüße.pdf', 'gr__e.pdf'],
    ]

    const seen: [string, string, string][] = []
    for (const [filename] of names) {
      const file = { filename, mimeType: 'application/pdf', bytes: good.bytes }
      const kept: { file_id: string; name: string } = JSON.parse((await send(server, upload, file)).body)
      const { headers } = await record({ url: `${server.url}/files/${kept.file_id}` }).done
      seen.push([filename, kept.name, /filename="([^"]*)"/.exec(String(headers['content-disposition']))?.[1] ?? ''])
    }
    const refusals: string[] = []
    for (const [filename] of names) {
      const file = { filename, mimeType: 'application/pdf', bytes: broken }
      for (const door of [chatJson, chatForm, completions, agUi]) {
        refusals.push(said(door, await send(server, door, file)).split(' cannot be read.')[0] ?? '')
      }
    }

    expect(seen).toEqual(names)
    const start = ['422 file_unreadable: ', '422 file_unreadable: ', '400 file_unreadable: ', '200 RUN_FINISHED: ']
    expect(refusals).toEqual(names.flatMap(([, shown]) => start.map((words) => words + JSON.stringify(shown))))
  })
})

describe.skipIf(process.platform !== 'linux')('a PDF of 50 MB', () => {
  test('is taken and read without holding up the loop of the server', async () => {
    const yard = await openYard(onTestFinished, { answers })
    const file = join(yard.directory, 'longest-turn')
    const probe = pathToFileURL(join(import.meta.dirname, 'support', 'loop-probe.ts')).href
    const server = await yard.start({ env: { NODE_OPTIONS: `--import ${probe}`, LOOP_PROBE_FILE: file } })
    const longestTurn = async (): Promise<number> => {
      await rm(file, { force: true })
      server.signal('SIGUSR2')
      let text = ''
      await until('the probe has answered', async () => {
        text = await readFile(file, 'utf8').catch(() => '')
        return text !== ''
      })
      return Number(text)
    }
    await send(server, chatForm, good)
    const bytes = largePdf(300, 49_000_000, 'northern quay')
    // The start of the server does not count.
    await longestTurn()

    const { status, body, tookMs } = await send(server, chatForm, { ...good, bytes })
    const longest = await longestTurn()

    print(
      `a PDF of 50 MB and 300 pages was answered after ${ms(tookMs)}; the longest turn of the loop took ${ms(longest)}`,
    )
    expect([status, JSON.parse(body).content]).toEqual([200, 'I know about the quay.'])
    expect(longest).toBeGreaterThan(0)
    expect(longest).toBeLessThan(LOOP_LIMIT_MS)
  })
})
