import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../../../test/postgres/tcp-proxy.ts'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import { type Clock, createSystemClock } from '../../../domain/clock.ts'
import { type LogLine, recordingLogger } from '../../../domain/testing/recording-logger.ts'
import { createManualClock } from '../../../http/testing/server-fixture.ts'
import { connectTest } from '../testing/open-postgres.ts'
import { createConnect } from './connect.ts'
import type { Database } from './database.ts'
import { createNotifications } from './notifications.ts'

let server: TestDatabase
let proxy: TcpProxy

beforeAll(async () => {
  server = await openTestDatabase()
  proxy = await startTcpProxy(server.url)
})

afterAll(async () => {
  await proxy.close()
  await server.drop()
})

function open(url: string, options: { readers?: number; waitMs?: number; clock?: Clock } = {}): Database {
  const database = connectTest(url, { log: recordingLogger([]), ...options })
  onTestFinished(() => database.close())
  return database
}

const one = { name: 'one', text: 'SELECT $1::text, 2::bigint, NULL' }
const sleep = { name: 'sleep', text: 'SELECT pg_sleep($1 / 1000.0)' }

test('rows are arrays, bigints are numbers, and any string comes back as it was', async () => {
  const { reads } = open(server.url)

  for (const text of ['plain', '', 'NUL \0 and half \ud800', '\u0001"x"', '{"a","b"}', 'ä€😀']) {
    expect(await reads.rows(one, [text])).toEqual([[text, 2, null]])
  }
})

test('a time with a fraction is a time of Postgres', async () => {
  const { reads } = open(server.url)
  const whole = { name: 'whole', text: 'SELECT $1::bigint, $2::bigint[]' }

  expect(await reads.rows(whole, [1_794_827_058_994.05, [1.5, null]])).toEqual([[1_794_827_058_994, ['1', null]]])
})

test('a read whose connection breaks is asked again', async () => {
  const { reads } = open(proxy.url)
  await reads.rows(one, ['a'])

  proxy.breakAt(2, 'after')
  expect(await reads.rows(one, ['b'])).toEqual([['b', 2, null]])
})

test('a statement that writes is not repeated when its connection breaks', async () => {
  await askOnce(server.url, 'CREATE TABLE counted (n int)')
  const { statements } = open(proxy.url)
  const count = { name: 'count', text: 'INSERT INTO counted VALUES (1)' }
  await statements.rows(count)

  // The server gets the whole statement. Only the answer is lost.
  proxy.breakAt(4, 'after')
  await expect(statements.rows(count)).rejects.toMatchObject({ code: 'storage_failed' })
  await expect.poll(() => askOnce(server.url, 'SELECT count(*)::int AS n FROM counted')).toEqual([{ n: 2 }])
  await statements.rows(count)
})

test('more reads than connections wait for each other', async () => {
  const { reads } = open(server.url, { readers: 2 })

  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => reads.rows(one, [String(i)])))
  expect(answers.map(([row]) => row?.[0])).toEqual(Array.from({ length: 30 }, (_, i) => String(i)))
})

test('a read that finds no connection in time fails, and the next one works', async () => {
  const clock = createManualClock()
  const { reads } = open(server.url, { readers: 1, waitMs: 50, clock })
  await reads.rows(one, ['a'])

  const long = reads.rows(sleep, [50])
  const refused = expect(reads.rows(one, ['a'])).rejects.toMatchObject({ code: 'storage_failed' })
  clock.advance(50)
  await refused
  await long
  expect(await reads.rows(one, ['a'])).toEqual([['a', 2, null]])
})

test('of several servers in the URL, the first that answers is used', async () => {
  const { port, pathname } = new URL(server.url)
  const { reads } = open(`postgres://postgres@127.0.0.1:1,127.0.0.1:${port}${pathname}`)

  expect(await reads.rows(one, ['a'])).toEqual([['a', 2, null]])
})

test.each([
  ['a database that does not exist', (url: URL) => Object.assign(url, { pathname: '/nowhere' })],
  ['a user that does not exist', (url: URL) => Object.assign(url, { username: 'nobody', password: 'secret!' })],
])('%s is refused at once, and no password is told', async (_, change) => {
  const url = change(new URL(server.url)).href
  const error = await open(url)
    .reads.rows(one, ['a'])
    .catch((thrown: unknown) => thrown)

  expect(error).toMatchObject({ code: 'config_invalid' })
  expect(String(error)).not.toContain('secret')
})

test('a database that refuses us after it has worked counts as away, until it works again', async () => {
  const own = await openTestDatabase()
  onTestFinished(() => own.drop())
  const name = new URL(own.url).pathname.slice(1)
  const { reads } = open(own.url, { waitMs: 200 })
  await expect.poll(() => reads.rows(one, ['a'])).toEqual([['a', 2, null]])

  await askOnce(server.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  await expect
    .poll(() => askOnce(server.url, `ALTER DATABASE ${name} RENAME TO ${name}_`), { timeout: 60_000 })
    .toEqual([])
  await expect(reads.rows(one, ['b'])).rejects.toMatchObject({ code: 'storage_failed' })

  await askOnce(server.url, `ALTER DATABASE ${name}_ RENAME TO ${name}`)
  await expect.poll(() => reads.rows(one, ['c'])).toEqual([['c', 2, null]])
})

test.each(['postgres:/', 'mysql://host/db', 'postgres://host:port/db', 'postgres://a:1,b:x/db'])(
  '%s is not a URL of Postgres',
  (url) => {
    expect(() => connectTest(url, { log: recordingLogger([]) })).toThrow(/postgres:\/\/user/)
  },
)

test('a database that stays away is reported once, without its password', async () => {
  const lines: LogLine[] = []
  const database = connectTest('postgres://ann:secret@127.0.0.1:1/db', { log: recordingLogger(lines), waitMs: 100 })

  await expect(database.reads.rows(one, ['a'])).rejects.toMatchObject({ code: 'storage_failed' })
  expect(database.isUp).toBe(false)
  expect(lines).toMatchObject([{ level: 'warn', fields: { database: 'postgres://ann@127.0.0.1:1/db' } }])
  expect(JSON.stringify(lines)).not.toContain('secret')
  await database.close()
})

test('a process that ends waits no longer for a database that is away', async () => {
  const database = open('postgres://postgres@127.0.0.1:1/db', { waitMs: 600_000 })
  const waiting = [
    database.reads.rows(one, ['a']),
    database.statements.rows(one, ['a']),
    database.connectWriter(Number.POSITIVE_INFINITY),
  ]

  database.leave()

  const ends = await Promise.allSettled([...waiting, database.reads.rows(one, ['b'])])
  expect(ends).toMatchObject(ends.map(() => ({ status: 'rejected', reason: { code: 'storage_failed' } })))
})

test('a process that ends leaves a database that hangs, and not one that answers', async () => {
  const clock = createManualClock()
  const openOne = () => connectTest(server.url, { clock, log: recordingLogger([]), readers: 1 })
  const [hanging, answering] = [openOne(), openOne()]
  const [cut, kept] = [await hanging.connectWriter(), await answering.connectWriter()]
  const writing = Promise.allSettled([cut.rows(sleep, [600_000]), kept.rows(sleep, [1_000])])
  // Its only connection for reads is busy, so nothing is answered there.
  const reading = Promise.allSettled([hanging.reads.rows(sleep, [600_000])])

  for (const database of [hanging, answering]) database.leave()
  for (let i = 0; i < 12; i += 1) {
    // It comes after the question whether the database is still there.
    await answering.reads.rows(one, ['a'])
    clock.advance(500)
  }

  const later = Promise.allSettled([hanging.reads.rows(one, ['a'])])
  const ends = (await Promise.all([writing, reading, later])).flat()
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'rejected'])
  for (const database of [hanging, answering]) await database.close()
})

test('messages reach everybody who listens, and a lost connection says so', async () => {
  const [a, b] = [open(server.url), open(proxy.url)]
  const heard: (string | null)[] = []
  b.notifications.listen((payload) => heard.push(payload))
  await expect.poll(() => heard, { timeout: 60_000 }).toEqual([null])
  a.notifications.listen(() => {})

  await expect
    .poll(
      () => {
        a.notifications.send('news')
        return heard.includes('news')
      },
      { timeout: 60_000 },
    )
    .toBe(true)
  heard.length = 0
  proxy.breakAll()
  await expect.poll(() => heard.includes(null), { timeout: 60_000 }).toBe(true)
})

test('an end in the middle of a new connection ends it too', async () => {
  const connectOnce = createConnect(server.url)
  const asked = Promise.withResolvers<void>()
  const mayConnect = Promise.withResolvers<void>()
  const made: { isOpen: boolean }[] = []
  const notifications = createNotifications({
    async connect() {
      asked.resolve()
      await mayConnect.promise
      const connection = await connectOnce({}, 10_000)
      made.push(connection)
      return connection
    },
    clock: createSystemClock(),
    backoff: () => 1,
  })
  notifications.listen(() => {})
  await asked.promise

  const closed = notifications.close()
  mayConnect.resolve()
  await closed
  expect(made.map(({ isOpen }) => isOpen)).toEqual([false])
})
