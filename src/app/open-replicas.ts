// The processes on one store: what they tell each other, and what all of them must agree on.

import { hostname } from 'node:os'
import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import type { SharedDevices } from '../http/auth/console/shared-devices.ts'
import type { FileKeys } from '../http/auth/file-keys.ts'
import type { CountTogether } from '../http/auth/usage-limits.ts'
import type { HttpServer } from '../http/server/server.ts'
import type { VapidKeys } from '../operators/web-push/vapid.ts'
import { createCountTogether } from '../replicas/count-together.ts'
import { ANSWER_MS } from './build-engine.ts'
import type { Team } from './open-log.ts'
import type { SignInParts } from './open-own-folders.ts'
import { openReplica, type Replica } from './open-replica.ts'
import { openSharedParts } from './open-shared-parts.ts'
import { refuseUnconfirmed } from './refuse-unconfirmed.ts'

/** What is kept in the config folder of a single server, and in the store of several. */
interface Kept {
  fileKeys: FileKeys
  /** Signs what people hand back to us: keys of files, buttons of a chat. */
  secret: () => Uint8Array
  /** The key pair for Web Push, made at its first use. */
  pushKeys: () => VapidKeys
  /** Who may open the console. */
  signIn: SignInParts & { devices: Partial<SharedDevices> }
}

interface ReplicasParts extends Kept {
  settings: ServerSettings
  http: HttpServer
  team: Team | null
  owner: string
  dataDir: string
  clock: Clock
  ids: Ids
  log: Logger
}

export interface OpenReplicas extends Kept {
  /** What the processes on one store tell each other. Null: this is the only one. */
  replica: Replica | null
  /** Limits that hold for all of them. Null: this is the only one. */
  together: CountTogether | null
}

/** What is opened here is closed by `undo`. */
export async function openReplicas(parts: ReplicasParts, undo: AsyncDisposableStack): Promise<OpenReplicas> {
  const { settings, http, team, owner, dataDir, clock, ids, log } = parts
  const { fileKeys, secret, pushKeys, signIn } = parts
  if (team === null) return { replica: null, together: null, fileKeys, secret, pushKeys, signIn }
  if (isPostgres(settings.store)) {
    const withinMs = settings.store.waitMs + ANSWER_MS
    undo.defer(refuseUnconfirmed({ http, commitMs: team.commitMs, withinMs, clock }))
  }
  const place = `${hostname()}:${dataDir}`
  const replica = openReplica({ shared: team.shared, owner, place, clock, ids, log }, undo)
  const agreed = await openSharedParts({ ...replica, clock, ids, log })
  return { replica, together: createCountTogether(replica), ...agreed }
}
