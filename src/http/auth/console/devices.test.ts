import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIds } from '../../../domain/ids.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { createOwnChanges } from '../../../replicas/replica.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { createManualClock, testAuth } from '../../testing/server-fixture.ts'
import { openConfigRecords } from '../config-folder/config-records.ts'
import { openDevices } from './devices.ts'
import { createPasskeys } from './passkeys.ts'
import { samplePasskey } from './testing/sample-passkey.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

function folders() {
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-devices-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const [dataDir, configDir] = [join(root, 'data'), join(root, 'config')]
  mkdirSync(dataDir)
  const makeFolder = (path: string, mode: number) => void mkdirSync(path, { mode, recursive: true })
  const file = () => join(configDir, readdirSync(configDir)[0] ?? '')
  return { dataDir, configDir, file, kept: { configDir, dataDir, makeFolder } }
}

function setUp() {
  const place = folders()
  const clock = createManualClock()
  const ids = createIds(clock.now)
  const open = () =>
    openDevices({ shared: sharedIn(place, clock), changes: createOwnChanges(), clock, ids, log: silentLogger })
  return { ...place, clock, open }
}

/** The records of a process that was started just now. */
const sharedIn = ({ kept }: Pick<ReturnType<typeof folders>, 'kept'>, clock = createManualClock()) =>
  createLocalShared(clock, openConfigRecords(kept, silentLogger).kinds)

const settle = () => new Promise((resolve) => setImmediate(resolve))

const ada = { user: 'ada', label: 'laptop', isKept: false, isVouched: false }

test('a device stays signed in after a restart, and its token is stored nowhere', async () => {
  const { open, file } = setUp()
  const { device, token } = await (await open()).add(ada)

  const again = await open()

  expect(await again.list()).toMatchObject([device])
  expect(again.current()).toMatchObject([{ id: device.id, user: 'ada', role: 'operator', isConsole: true }])
  expect([readFileSync(file(), 'utf8').includes(token), statSync(file()).mode & 0o777]).toEqual([false, 0o600])
})

test('so does one of a person of an identity provider, who has a token of this server', async () => {
  const { open } = setUp()
  const { device } = await (await open()).add({ ...ada, user: 'corp:ada@example.com' })

  expect(await (await open()).list()).toMatchObject([device])
})

test('its last use is written at most every ten minutes', async () => {
  const { open, clock } = setUp()
  const devices = await open()
  const { device } = await devices.add(ada)
  const stored = async () => {
    await settle()
    return (await (await open()).list())[0]?.lastUsedAt
  }

  clock.advance(9 * MINUTE)
  devices.used(device.id)
  expect(await stored()).toBe(device.createdAt)
  clock.advance(2 * MINUTE)
  devices.used(device.id)
  expect(await stored()).toBe(clock.now())
  devices.used('nobody')
})

test('a full disk does not hinder a request, and a device that cannot be stored is not signed in', async () => {
  const { open, clock, configDir } = setUp()
  const devices = await open()
  const { device } = await devices.add(ada)
  chmodSync(configDir, 0o755)
  clock.advance(HOUR)

  devices.used(device.id)
  await expect(devices.add(ada)).rejects.toThrow('cannot be used')
  expect(devices.current()).toHaveLength(1)
})

test('a 51st device of one person signs the one out that was not used for the longest time', async () => {
  const { open, clock } = setUp()
  const devices = await open()
  const { device: other } = await devices.add({ ...ada, user: 'bob' })
  const own: string[] = []
  for (let i = 0; i < 50; i += 1) {
    clock.advance(1)
    own.push((await devices.add(ada)).device.id)
  }
  clock.advance(1)
  devices.used(own[0] ?? '')
  const { device: last } = await devices.add(ada)

  expect((await devices.list()).map(({ id }) => id)).toEqual([other.id, own[0], ...own.slice(2), last.id])
})

test('the streams of a device end when it is revoked or was not used for too long', async () => {
  const { open, clock } = setUp()
  const devices = await open()
  const auth = testAuth({ tokens: () => [], devices, tokenRequired: true, clock })
  const enter = async () => {
    const { device, token } = await devices.add(ada)
    return { device, access: await auth.authenticate(`Bearer ${token}`, '10.0.0.1', 'operator') }
  }
  const [first, second] = [await enter(), await enter()]
  expect(first.access.principal).toEqual({
    owner: 'ada',
    role: 'operator',
    hasToken: true,
    tokenId: first.device.id,
    isConsole: true,
  })

  await devices.remove(first.device.id)
  expect([first.access.isValid(), second.access.isValid()]).toEqual([false, true])
  clock.advance(12 * HOUR)
  expect(second.access.isValid()).toBe(false)
})

test.each(['devices', 'passkeys'])('a file of %s that is damaged or open to others ends the start', async (kind) => {
  const { open, file, configDir, kept } = setUp()
  await (await open()).add(ada)
  const path = file()
  const start = () => (kind === 'devices' ? open() : createPasskeys(sharedIn({ kept })).list())
  const target = kind === 'devices' ? path : path.replace('/devices-', '/passkeys-')

  writeFileSync(target, '{"data_dir":"x"', { mode: 0o600 })
  await expect(start()).rejects.toThrow('it is damaged')
  chmodSync(target, 0o644)
  await expect(start()).rejects.toThrow('other users can read or write it')
  expect(readdirSync(configDir)).toContain(path.split('/').at(-1))
})

test('passkeys are there after a restart, with their counters', async () => {
  const place = folders()
  const open = () => createPasskeys(sharedIn(place))
  await open().add(samplePasskey)
  const passkeys = open()
  expect(await passkeys.used(samplePasskey, 7, 1_800_000_060_000)).toBe(true)
  expect(await passkeys.used(samplePasskey, 8, 1_800_000_060_000)).toBe(false)

  expect(await open().list()).toEqual([{ ...samplePasskey, counter: 7, lastUsedAt: 1_800_000_060_000 }])
  await expect(passkeys.add(samplePasskey)).rejects.toThrow('registered already')
  for (let i = 1; i < 20; i += 1) await passkeys.add({ ...samplePasskey, id: `${i}`, credentialId: `c${i}` })
  await expect(passkeys.add({ ...samplePasskey, id: 'x', credentialId: 'x' })).rejects.toThrow('at most 20')
  expect([(await passkeys.remove('one'))?.id, await passkeys.remove('one')]).toEqual(['one', null])
})
