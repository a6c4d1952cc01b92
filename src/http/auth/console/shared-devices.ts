// Devices as shared records: a browser that signed in at one replica is known at all of them. Each keeps a copy in memory, because every
// request asks for it.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../domain/clock.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { Shared } from '../../../store/ports/shared.ts'
import { digestOf, type Token } from '../tokens/token.ts'
import {
  type Devices,
  devicesToDrop,
  expiresAt,
  firstEnd,
  type KeptDevice,
  newDevice,
  parseDevice,
  storedDevice,
  tokenOfDevice,
  WRITE_EVERY_MS,
} from './devices.ts'

interface SharedDevicesOptions {
  shared: Pick<Shared, 'list' | 'put' | 'take'>
  /** `SharedChanges` in `replicas/shared-changes.ts`, as far as devices need it. */
  changes: {
    tell(topic: string): Promise<void>
    heard(topic: string): Promise<void>
    keep(topic: string, read: () => Promise<void>): Pick<SharedDevices, 'refresh' | 'isFresh'>
  }
  clock: Clock
  ids: Ids
  log: Logger
  random?: (size: number) => Uint8Array
}

export interface SharedDevices extends Devices {
  /** Looks for devices that have just signed in elsewhere. Call it before a token counts as unknown. */
  refresh(): Promise<void>
  /** False: a device may have been signed out elsewhere of which this process has not heard. `refresh` before it counts. */
  isFresh(): boolean
}

const KIND = 'device'
const TOPIC = 'devices'

interface Row extends KeptDevice {
  version: number
}

export async function openSharedDevices(options: SharedDevicesOptions): Promise<SharedDevices> {
  const { shared, changes, clock, ids, log, random = randomBytes } = options
  let devices: readonly Row[] = []
  let table: readonly Token[] = []
  let nextEnd = Number.POSITIVE_INFINITY

  function set(next: readonly Row[]): void {
    // A new array only after a change: everybody who compares tokens reads it anew.
    const isSame = next.length === devices.length && next.every(({ id }, i) => id === devices[i]?.id)
    devices = next
    if (!isSame) table = next.map(tokenOfDevice)
    nextEnd = firstEnd(next)
  }

  async function read(): Promise<void> {
    const rows = (await shared.list(KIND)).flatMap(({ key, value, version }): Row[] => {
      try {
        return [{ ...parseDevice(value), version }]
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

  const put = (device: KeptDevice, version: number): Promise<boolean> =>
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
      return devices
    },
    async add(wanted) {
      const { device, token } = newDevice(wanted, { clock, ids, random })
      const kept = { ...device, sha256: digestOf(token) }
      await refresh()
      for (const { id } of devicesToDrop(devices, wanted.user)) await shared.take(KIND, id)
      await put(kept, 0)
      await changes.tell(TOPIC)
      await refresh()
      return { device, token }
    },
    used(id) {
      const now = clock.now()
      const device = devices.find((one) => one.id === id)
      if (device === undefined || now - device.lastUsedAt < WRITE_EVERY_MS) return
      device.lastUsedAt = now
      nextEnd = firstEnd(devices)
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
