import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIds } from '../../../domain/ids.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { createOwnChanges } from '../../../replicas/replica.ts'
import { createSharedChanges } from '../../../replicas/shared-changes.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import type { Shared } from '../../../store/ports/shared.ts'
import { collectLines, createManualClock, type LogLine, whileTimePasses } from '../../testing/server-fixture.ts'
import { openConfigRecords } from '../config-folder/config-records.ts'
import { digestOf } from './token.ts'
import { readTokens } from './tokens.ts'

/** Two processes, each with folders of its own, on one store. */
function setUp() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-token-rows-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const clock = createManualClock()
  const all = createLocalShared(clock)
  const lines: LogLine[] = []
  const places = (name: string) => {
    const [dataDir, configDir] = [join(folder, name, 'data'), join(folder, name, 'config')]
    mkdirSync(dataDir, { recursive: true })
    return { dataDir, configDir }
  }
  async function read(name: string) {
    const makeFolder = (path: string, mode: number) => void mkdirSync(path, { recursive: true, mode })
    const records = openConfigRecords({ ...places(name), makeFolder }, silentLogger)
    const own = { shared: createLocalShared(clock, records.kinds), changes: createOwnChanges() }
    const tokens = await readTokens({
      own,
      file: records.tokens,
      set: { user: null, operator: null },
      clock,
      ids: createIds(clock.now),
      log: collectLines(lines),
      workspaces: { find: (path) => ({ path }), checkChannel() {} },
      checkOwner() {},
    })
    return { tokens, own }
  }
  async function open(name: string, make = false, shared: Shared = all) {
    const { tokens } = await read(name)
    const changes = createSharedChanges({ shared, owner: name, clock, logger: silentLogger })
    onTestFinished(() => changes.close())
    const made = await tokens.begin(async () => {}, { make, place: { shared, changes } })
    const revoke = (id: string) => whileTimePasses(clock, tokens.revoke(id, 'bob'))
    return { tokens, made, revoke }
  }
  return { folder, clock, shared: all, lines, read, open }
}

const names = ({ list }: { list(): readonly { name: string }[] }) => list().map(({ name }) => name)
const ada = (name: string) => ({ name, user: 'ada', role: 'user' }) as const

test('a token that one process makes counts at the others within a second, and one that it has revoked nowhere', async () => {
  const { clock, open } = setUp()
  const [{ tokens: one, ...here }, { tokens: other, ...there }] = [await open('one'), await open('other')]

  const { record, token } = await one.create(ada('laptop'), 'bob')
  expect(one.current().map(({ sha256 }) => sha256)).toEqual([digestOf(token)])
  clock.advance(500)
  await expect.poll(() => other.current().map(({ sha256 }) => sha256)).toEqual([digestOf(token)])

  // Whoever comes with a new token need not wait for that.
  const second = await one.create(ada('phone'), 'bob')
  await other.refresh()
  expect(other.current().map(({ sha256 }) => sha256)).toContain(digestOf(second.token))
  await here.revoke(second.record.id)
  expect(other.current().map(({ id }) => id)).toEqual([record.id])

  await there.revoke(record.id)
  expect([one.current(), other.current()]).toEqual([[], []])
  for (const { revoke } of [here, there]) {
    await expect(revoke(record.id)).rejects.toMatchObject({ code: 'token_not_found' })
  }
})

test('a look at tokens of other processes that began before a token was revoked does not bring it back', async () => {
  const { shared, open } = setUp()
  let answer = Promise.resolve()
  const slow: Shared = {
    ...shared,
    async list(kind) {
      const found = await shared.list(kind)
      if (kind === 'token') await answer
      return found
    },
  }
  const { tokens, revoke } = await open('one', false, slow)
  const { record } = await tokens.create(ada('laptop'), 'bob')
  const late = Promise.withResolvers<void>()
  answer = late.promise

  const looking = tokens.refresh()
  const revoked = revoke(record.id)
  await expect.poll(() => tokens.current()).toEqual([])
  late.resolve()
  await Promise.all([looking, revoked])

  expect(tokens.current()).toEqual([])
})

test('tokens that both make at once are all there, and a token is in no file', async () => {
  const { clock, open, folder } = setUp()
  const [{ tokens: one }, { tokens: other }] = [await open('one'), await open('other')]
  await Promise.all([one, other].flatMap((tokens, i) => [1, 2, 3].map((n) => tokens.create(ada(`${i}-${n}`), 'bob'))))

  clock.advance(500)
  const all = ['0-1', '0-2', '0-3', '1-1', '1-2', '1-3']
  await expect.poll(() => names(one).sort()).toEqual(all)
  await expect.poll(() => names(other).sort()).toEqual(all)
  expect(readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('tokens'))).toEqual(
    [],
  )
  expect([one.path, other.path]).toEqual([null, null])
})

test('the tokens of a file are copied once, and never again', async () => {
  const { read, open } = setUp()
  const { tokens: alone, own } = await read('one')
  await alone.begin(async () => {}, { make: false, place: own })
  const { record } = await alone.create(ada('before'), 'bob')

  const { tokens, revoke } = await open('one')
  expect(names(tokens)).toEqual(['before'])
  await revoke(record.id)
  // The file of the other way of keeping them is still there.
  expect(names((await open('one')).tokens)).toEqual([])
})

test('the first start makes tokens once for all processes', async () => {
  const { open } = setUp()
  expect((await open('one', true)).made).toMatch(/^qd_/)
  const second = await open('other', true)
  expect([second.made, names(second.tokens)]).toEqual([null, ['first start']])
})

test('a record that this version cannot read is not valid, and the others are', async () => {
  const { shared, open, lines } = setUp()
  const { tokens } = await open('one')
  const { record } = await tokens.create(ada('good'), 'bob')
  const value = JSON.stringify({ ...record, id: 'newer', only_on_mondays: true })
  await shared.put({ kind: 'token', key: 'newer', value, version: 0, expiresAt: null })

  expect(names((await open('other')).tokens)).toEqual(['good'])
  const warned = lines.filter(({ level }) => level === 'warn').map(({ token_id }) => token_id)
  expect(new Set(warned)).toEqual(new Set(['newer']))
})
