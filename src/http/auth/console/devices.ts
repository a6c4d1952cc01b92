// Devices: browsers that are signed in. Each has a token of its own, a console token, whose hash is stored beside the other tokens. A
// device that nobody uses is signed out by itself. A browser that signed in at one server is known at all servers on the store. Each
// keeps a copy in memory, because every request asks for it.

import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import { USER_NAME } from '../../../domain/supervision/user-name.ts'
import type { SharedChanges } from '../../../replicas/shared-changes.ts'
import type { Shared } from '../../../store/ports/shared.ts'
import type { RecordFormat } from '../config-folder/record-file.ts'
import { digestOf, newToken, type Token } from '../tokens/token.ts'

export interface Device {
  id: string
  /** Owns the sessions that are started with it. */
  user: string
  label: string
  createdAt: number
  lastUsedAt: number
  /** The person chose to stay signed in for longer. */
  isKept: boolean
  /** Whoever signed in had a passkey, or a code from somebody who has one. */
  isVouched: boolean
}

export interface Devices {
  /** The tokens of the devices that are signed in now. Returns a new array only after a change. */
  current(): readonly Token[]
  /** Oldest first. */
  list(): Promise<readonly Device[]>
  /** It is on disk when it resolves. Throws `storage_full` and `config_invalid`. */
  add(wanted: NewDevice): Promise<{ device: Device; token: string }>
  /** Somebody sent its token. */
  used(id: string): void
  /** Its token is invalid at all servers when it resolves, also after a restart. False: there is no such device. */
  remove(id: string): Promise<boolean>
  /** Looks for devices that have just signed in elsewhere. Call it before a token counts as unknown. */
  refresh(): Promise<void>
  /** False: a device may have been signed out elsewhere of which this process has not heard. `refresh` before it counts. */
  isFresh(): boolean
}

type NewDevice = Pick<Device, 'user' | 'label' | 'isKept' | 'isVouched'>

const KIND = 'device'
const TOPIC = 'devices'
const IDLE_MS = 12 * 60 * 60_000
const KEPT_IDLE_MS = 30 * 24 * 60 * 60_000
/** It is not written for every request. */
const WRITE_EVERY_MS = 10 * 60_000
/** One more signs the one out that was not used for the longest time. */
const MOST_OF_ONE_USER = 50

interface StoredDevice extends Device {
  sha256: string
}

interface Row extends StoredDevice {
  version: number
  /** Its last use as it is stored. */
  writtenAt: number
}

const time = z.iso.datetime()
const DeviceSchema = z
  .strictObject({
    id: z.string().min(1).max(64),
    user: z.string().regex(USER_NAME),
    label: z.string().max(100),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    created_at: time,
    last_used_at: time,
    kept: z.boolean(),
    vouched: z.boolean(),
  })
  .transform(
    (one): StoredDevice => ({
      id: one.id,
      user: one.user,
      label: one.label,
      sha256: one.sha256,
      createdAt: Date.parse(one.created_at),
      lastUsedAt: Date.parse(one.last_used_at),
      isKept: one.kept,
      isVouched: one.vouched,
    }),
  )
/** The file of signed-in devices in the config folder. */
export const deviceFormat: RecordFormat<StoredDevice> = {
  name: 'devices',
  schema: DeviceSchema,
  maxBytes: 4_000_000,
  keyOf: ({ id }) => id,
  expiresAt: (device) => expiresAt(device),
  unusable: (path, why) =>
    `The file of signed-in devices ${path} cannot be used: ${why}. Remove it, and sign in again.`,
  damaged: () => 'it is damaged',
}

interface DevicesOptions {
  shared: Pick<Shared, 'list' | 'put' | 'take'>
  changes: Pick<SharedChanges, 'tell' | 'heard' | 'keep'>
  clock: Clock
  ids: Ids
  log: Logger
}

export async function openDevices(options: DevicesOptions): Promise<Devices> {
  const { shared, changes, clock, ids, log } = options
  let devices: readonly Row[] = []
  let table: readonly Token[] = []
  /** When the next of them has been idle for too long. */
  let nextEnd = Number.POSITIVE_INFINITY

  function set(next: readonly Row[]): void {
    // A new array only after a change: everybody who compares tokens reads it anew.
    const isSame = next.length === devices.length && next.every(({ id }, i) => id === devices[i]?.id)
    devices = next
    if (!isSame) table = next.map(tokenOfDevice)
    nextEnd = firstEnd(next)
  }

  async function read(): Promise<void> {
    const records = await shared.list(KIND)
    const known = new Map(devices.map((one) => [one.id, one.lastUsedAt]))
    const rows = records.flatMap(({ key, value, version }): Row[] => {
      try {
        const device = DeviceSchema.parse(JSON.parse(value))
        const lastUsedAt = Math.max(device.lastUsedAt, known.get(device.id) ?? 0)
        return [{ ...device, lastUsedAt, writtenAt: device.lastUsedAt, version }]
      } catch (error) {
        log.warn('a signed-in device cannot be read, and has to sign in again', { device_id: key, error })
        return []
      }
    })
    set(rows.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)))
    dropIdle()
  }

  function dropIdle(): void {
    const now = clock.now()
    if (now >= nextEnd) set(devices.filter((one) => expiresAt(one) > now))
  }

  const put = (device: StoredDevice, version: number): Promise<boolean> =>
    shared.put({
      kind: KIND,
      key: device.id,
      value: JSON.stringify(storedDevice(device)),
      version,
      expiresAt: expiresAt(device),
    })

  /** Also tells the others, because they would sign the device out when it was idle for long at their place alone. */
  async function writeUse(device: Row): Promise<void> {
    try {
      if (await put(device, device.version)) await changes.tell(TOPIC)
    } catch (error) {
      // The request has nothing to do with it. The next one tries again.
      log.warn('the last use of a device could not be stored', { error })
    }
  }

  const { refresh, isFresh } = changes.keep(TOPIC, read)
  await refresh()
  return {
    current() {
      dropIdle()
      return table
    },
    async list() {
      await refresh()
      dropIdle()
      return devices
    },
    async add({ user, label, isKept, isVouched }) {
      const now = clock.now()
      const device = { id: ids.uuid(), user, label, createdAt: now, lastUsedAt: now, isKept, isVouched }
      const token = newToken()
      await refresh()
      for (const { id } of devicesToDrop(devices, user)) await shared.take(KIND, id)
      await put({ ...device, sha256: digestOf(token) }, 0)
      await changes.tell(TOPIC)
      await refresh()
      return { device, token }
    },
    used(id) {
      const now = clock.now()
      const device = devices.find((one) => one.id === id)
      if (device === undefined || device.lastUsedAt >= now) return
      // In place: the table of tokens stays the same, so nobody has to read it anew.
      device.lastUsedAt = now
      nextEnd = firstEnd(devices)
      if (now - device.writtenAt < WRITE_EVERY_MS) return
      device.writtenAt = now
      void writeUse({ ...device })
    },
    async remove(id) {
      const removed = await shared.take(KIND, id)
      await changes.tell(TOPIC)
      await Promise.all([refresh(), changes.heard(TOPIC)])
      return removed !== null
    },
    refresh,
    isFresh,
  }
}

export const expiresAt = ({ lastUsedAt, isKept }: Device): number => lastUsedAt + (isKept ? KEPT_IDLE_MS : IDLE_MS)

const firstEnd = (devices: readonly Device[]): number =>
  devices.reduce((end, one) => Math.min(end, expiresAt(one)), Number.POSITIVE_INFINITY)

const tokenOfDevice = ({ id, user, sha256 }: StoredDevice): Token => ({
  id,
  user,
  role: 'operator',
  sha256,
  isConsole: true,
})

/** Those that go when one more of this person comes. */
const devicesToDrop = <T extends Device>(devices: readonly T[], user: string): T[] =>
  devices
    .filter((one) => one.user === user)
    .sort((a, b) => b.lastUsedAt - a.lastUsedAt)
    .slice(MOST_OF_ONE_USER - 1)

const storedDevice = (one: StoredDevice) => ({
  id: one.id,
  user: one.user,
  label: one.label,
  sha256: one.sha256,
  created_at: new Date(one.createdAt).toISOString(),
  last_used_at: new Date(one.lastUsedAt).toISOString(),
  kept: one.isKept,
  vouched: one.isVouched,
})
