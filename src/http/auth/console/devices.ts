// Devices: browsers that are signed in. Each has a token of its own, a console token, whose hash is stored beside the other tokens. A
// device that nobody uses is signed out by itself.

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import { USER_NAME } from '../../../domain/supervision/user-name.ts'
import { type ConfigFileOptions, createConfigFile } from '../config-folder/config-file.ts'
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
  /** Its token is invalid when it resolves, also after a restart. False: there is no such device. */
  remove(id: string): Promise<boolean>
}

export type NewDevice = Pick<Device, 'user' | 'label' | 'isKept' | 'isVouched'>

const IDLE_MS = 12 * 60 * 60_000
const KEPT_IDLE_MS = 30 * 24 * 60 * 60_000
/** It is not written for every request. */
export const WRITE_EVERY_MS = 10 * 60_000
/** The one that was not used for the longest time makes room. */
const MOST_OF_ONE_USER = 50
const MAX_BYTES = 4_000_000

export interface KeptDevice extends Device {
  sha256: string
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
    (one): KeptDevice => ({
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
const ContentSchema = z.strictObject({ data_dir: z.string(), devices: z.array(DeviceSchema) })

/** Throws if the text is no device. */
export const parseDevice = (text: string): KeptDevice => DeviceSchema.parse(JSON.parse(text))

export interface DevicesOptions {
  /** Null: nothing is stored, and a restart signs all devices out. */
  kept: ConfigFileOptions | null
  clock: Clock
  ids: Ids
  log: Logger
  random?: (size: number) => Uint8Array
}

/** Throws `config_invalid` if the file cannot be trusted. Only for the holder of the lock of the data directory. */
export function openDevices({ kept, clock, ids, log, random = randomBytes }: DevicesOptions): Devices {
  const file = kept === null ? null : createConfigFile('devices', kept)
  let devices: readonly KeptDevice[] = file === null ? [] : read(file)
  let table: readonly Token[] = []
  /** When the next of them has been idle for too long. */
  let nextEnd = Number.NEGATIVE_INFINITY
  let writtenAt = clock.now()

  function set(next: readonly KeptDevice[]): void {
    devices = next
    table = next.map(tokenOfDevice)
    nextEnd = firstEnd(next)
  }

  /** Disk first, so that the same devices are signed in after a restart. */
  function keep(next: readonly KeptDevice[]): void {
    file?.write(`${JSON.stringify({ data_dir: file.dataDir, devices: next.map(storedDevice) }, null, 2)}\n`)
    writtenAt = clock.now()
    set(next)
  }

  function dropIdle(): void {
    const now = clock.now()
    if (now < nextEnd) return
    // The next change writes it. Until then a restart drops them again.
    set(devices.filter((one) => expiresAt(one) > now))
  }

  set(devices)
  return {
    current() {
      dropIdle()
      return table
    },
    async list() {
      dropIdle()
      return devices
    },
    async add(wanted) {
      dropIdle()
      const { device, token } = newDevice(wanted, { clock, ids, random })
      const tooMany = new Set(devicesToDrop(devices, wanted.user))
      keep([...devices.filter((one) => !tooMany.has(one)), { ...device, sha256: digestOf(token) }])
      return { device, token }
    },
    used(id) {
      const now = clock.now()
      const device = devices.find((one) => one.id === id)
      if (device === undefined || device.lastUsedAt >= now) return
      // In place: the table of tokens stays the same, so nobody has to read it anew.
      device.lastUsedAt = now
      nextEnd = firstEnd(devices)
      if (now - writtenAt < WRITE_EVERY_MS) return
      try {
        keep(devices)
      } catch (error) {
        // The request has nothing to do with it. The next one tries again.
        log.warn('the last use of a device could not be stored', { error })
      }
    },
    async remove(id) {
      const next = devices.filter((one) => one.id !== id)
      if (next.length === devices.length) return false
      keep(next)
      return true
    },
  }
}

export const expiresAt = ({ lastUsedAt, isKept }: Device): number => lastUsedAt + (isKept ? KEPT_IDLE_MS : IDLE_MS)

export const firstEnd = (devices: readonly Device[]): number =>
  devices.reduce((end, one) => Math.min(end, expiresAt(one)), Number.POSITIVE_INFINITY)

export const tokenOfDevice = ({ id, user, sha256 }: KeptDevice): Token => ({
  ...{ id, user, role: 'operator', sha256, isConsole: true },
})

export function newDevice(
  { user, label, isKept, isVouched }: NewDevice,
  { clock, ids, random }: { clock: Clock; ids: Ids; random: (size: number) => Uint8Array },
): { device: Device; token: string } {
  const now = clock.now()
  const device = { id: ids.uuid(), user, label, createdAt: now, lastUsedAt: now, isKept, isVouched }
  return { device, token: newToken(random) }
}

/** Those that make room for one more of this person. */
export const devicesToDrop = <T extends Device>(devices: readonly T[], user: string): T[] =>
  devices
    .filter((one) => one.user === user)
    .sort((a, b) => b.lastUsedAt - a.lastUsedAt)
    .slice(MOST_OF_ONE_USER - 1)

function read(file: ReturnType<typeof createConfigFile>): readonly KeptDevice[] {
  const unusable = (why: string, cause?: unknown): ServerError =>
    new ServerError(
      'config_invalid',
      `The file of signed-in devices ${file.path} cannot be used: ${why}. Remove it, and sign in again.`,
      { details: { path: file.path }, cause },
    )
  const text = file.read({ maxBytes: MAX_BYTES, refuse: unusable })
  if (text === null) return []
  try {
    return ContentSchema.parse(JSON.parse(text)).devices
  } catch (error) {
    throw unusable('it is damaged', error)
  }
}

export const storedDevice = (one: KeptDevice) => ({
  id: one.id,
  user: one.user,
  label: one.label,
  sha256: one.sha256,
  created_at: new Date(one.createdAt).toISOString(),
  last_used_at: new Date(one.lastUsedAt).toISOString(),
  kept: one.isKept,
  vouched: one.isVouched,
})
