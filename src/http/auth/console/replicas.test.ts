import { expect, onTestFinished, test } from 'vitest'
import { createIds } from '../../../domain/ids.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { createSharedChanges } from '../../../replicas/shared-changes.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import type { Shared } from '../../../store/ports/shared.ts'
import { createManualClock, type ManualClock, whileTimePasses } from '../../testing/server-fixture.ts'
import { openDevices } from './devices.ts'
import { createPasskeys } from './passkeys.ts'
import { samplePasskey } from './testing/sample-passkey.ts'

const HOUR = 3_600_000
const ada = { user: 'ada', label: 'laptop', isKept: false, isVouched: false }

const settle = () => new Promise((resolve) => setImmediate(resolve))

async function pass(clock: ManualClock, ms: number): Promise<void> {
  await settle()
  clock.advance(ms)
  await settle()
}

async function openReplica(clock: ManualClock, shared: Shared, owner: string) {
  const changes = createSharedChanges({ shared, owner, clock, logger: silentLogger })
  const devices = await openDevices({ shared, changes, clock, ids: createIds(clock.now), log: silentLogger })
  onTestFinished(() => changes.close())
  return devices
}

async function setUp() {
  const clock = createManualClock()
  const shared = createLocalShared(clock)
  return { clock, shared, a: await openReplica(clock, shared, 'a'), b: await openReplica(clock, shared, 'b') }
}

test('a device that signed in at one replica is known at the other, at the latest when its token is looked for', async () => {
  const { clock, shared, a, b } = await setUp()
  const { device, token } = await a.add(ada)

  expect(b.current()).toEqual([])
  await b.refresh()
  expect(b.current()).toMatchObject([{ id: device.id, user: 'ada', role: 'operator', isConsole: true }])
  expect(await b.list()).toMatchObject([device])
  expect((await shared.list('device')).map(({ value }) => value.includes(token))).toEqual([false])
  await pass(clock, 500)
  expect(b.current()).toHaveLength(1)
})

test('a person of an identity provider, who has a token of this server, signs in like others', async () => {
  const { a, b } = await setUp()
  const { device } = await a.add({ ...ada, user: 'corp:ada@example.com' })

  expect(await a.list()).toMatchObject([device])
  expect(await b.list()).toMatchObject([device])
})

test('a device that signed out at one replica is refused at the other when the answer comes', async () => {
  const { clock, a, b } = await setUp()
  const { device } = await a.add(ada)
  await b.refresh()
  const before = b.current()
  await pass(clock, 500)
  expect(b.current()).toBe(before)

  expect(await whileTimePasses(clock, a.remove(device.id))).toBe(true)
  expect([a.current(), b.current()]).toEqual([[], []])
  expect(await whileTimePasses(clock, b.remove(device.id))).toBe(false)
})

test('a device that is used at one replica alone does not end as idle at the other', async () => {
  const { clock, a, b } = await setUp()
  const { device } = await a.add(ada)
  await b.refresh()
  for (let i = 0; i < 14; i += 1) {
    await pass(clock, HOUR)
    a.used(device.id)
    await pass(clock, 500)
  }
  expect([a.current().length, b.current().length]).toEqual([1, 1])

  await pass(clock, 12 * HOUR)
  expect([a.current().length, b.current().length, (await b.list()).length]).toEqual([0, 0, 0])
})

test('a 51st device of one person signs the oldest out, wherever they signed in', async () => {
  const { clock, a, b } = await setUp()
  const ids: string[] = []
  for (let i = 0; i < 51; i += 1) {
    clock.advance(1)
    ids.push((await (i % 2 === 0 ? a : b).add(ada)).device.id)
  }
  expect((await a.list()).map(({ id }) => id)).toEqual(ids.slice(1))
})

test('a record that cannot be read signs nobody in, and the others stay', async () => {
  const { shared, a } = await setUp()
  const { device } = await a.add(ada)
  await shared.put({ kind: 'device', key: 'x', value: '{"id":"x"}', version: 0, expiresAt: null })

  expect(await a.list()).toMatchObject([device])
})

test('a passkey that was added at one replica counts at once at the other, and each use counts once', async () => {
  const shared = createLocalShared(createManualClock())
  const [a, b] = [createPasskeys(shared), createPasskeys(shared)]
  await a.add(samplePasskey)

  expect(await b.list()).toEqual([samplePasskey])
  await expect(b.add({ ...samplePasskey, id: 'two' })).rejects.toThrow('registered already')
  const used = await Promise.all([
    a.used(samplePasskey, 1, 1_800_000_000_001),
    b.used(samplePasskey, 1, 1_800_000_000_001),
  ])
  expect(used.filter(Boolean)).toHaveLength(1)
  expect(await a.used(samplePasskey, 2, 1_800_000_000_002)).toBe(false)
  for (let i = 1; i < 20; i += 1) await b.add({ ...samplePasskey, id: `${i}`, credentialId: `c${i}` })
  await expect(a.add({ ...samplePasskey, id: 'x', credentialId: 'x' })).rejects.toThrow('at most 20')
  expect([(await b.remove('one'))?.id, await a.remove('one')]).toEqual(['one', null])
})

test('a passkey that cannot be read ends what needs one, because without it nothing would', async () => {
  const shared = createLocalShared(createManualClock())
  await shared.put({ kind: 'passkey', key: 'x', value: '{}', version: 0, expiresAt: null })

  await expect(createPasskeys(shared).list()).rejects.toMatchObject({ code: 'config_invalid' })
})
