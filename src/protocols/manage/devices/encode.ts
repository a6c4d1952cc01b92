import { isoTime } from '../../../domain/clock.ts'
import { LOCAL_USER } from '../../../domain/session/session.ts'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import { type Device, expiresAt } from '../../../http/auth/console/devices.ts'
import type { Passkey } from '../../../http/auth/console/passkeys.ts'
import type { Principal } from '../../../http/route.ts'
import type * as wire from './schema.ts'

/** The tokens of a first start name no user: their operator is on record as `operator`. */
export const shownUser = (owner: string): string => (owner === LOCAL_USER ? 'operator' : owner)

export const deviceView = (device: Device, { tokenId }: Pick<Principal, 'tokenId'>): wire.Device => ({
  device_id: device.id,
  user: shownUser(device.user),
  label: device.label,
  created_at: isoTime(device.createdAt),
  last_used_at: isoTime(device.lastUsedAt),
  expires_at: isoTime(expiresAt(device)),
  kept: device.isKept,
  current: device.id === tokenId,
})

export const passkeyView = ({ id, user, label, createdAt, lastUsedAt }: Passkey): wire.Passkey => ({
  passkey_id: id,
  user: shownUser(user),
  label,
  created_at: isoTime(createdAt),
  last_used_at: lastUsedAt === null ? null : isoTime(lastUsedAt),
})

/** Null: nobody has said who the caller is. */
export function signedInBy({ hasToken, source, isConsole }: Principal): wire.Who['signed_in_by'] {
  if (!hasToken) return null
  return source ?? (isConsole ? 'device' : 'token')
}

/** For the audit trail. */
export const deviceRecord = (
  at: number,
  kind: AuditRecord['kind'],
  by: string,
  details: AuditRecord['details'],
): AuditRecord => ({ at, kind, by, session: null, run: null, agent: '', tool: '', call: null, details })
