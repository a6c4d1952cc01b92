import { isoTime } from '../../../domain/clock.ts'
import { LOCAL_USER } from '../../../domain/session/session.ts'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import { type Device, expiresAt } from '../../../http/auth/console/devices.ts'
import type { Passkey } from '../../../http/auth/console/passkeys.ts'
import type { Principal } from '../../../http/route.ts'
import { sameFields } from '../../shared/same-fields.ts'
import type * as wire from './schema.ts'
import { DeviceSchema, PasskeySchema } from './schema.ts'

/** The tokens of a first start name no user: their operator is on record as `operator`. */
export const shownUser = (owner: string): string => (owner === LOCAL_USER ? 'operator' : owner)

const sameOfDevice = sameFields<Device, typeof DeviceSchema.shape>(DeviceSchema.shape)
export const deviceView = (device: Device, { tokenId }: Pick<Principal, 'tokenId'>): wire.Device => ({
  ...sameOfDevice(device),
  device_id: device.id,
  user: shownUser(device.user),
  expires_at: isoTime(expiresAt(device)),
  kept: device.isKept,
  current: device.id === tokenId,
})

const sameOfPasskey = sameFields<Passkey, typeof PasskeySchema.shape>(PasskeySchema.shape)
export const passkeyView = (passkey: Passkey): wire.Passkey => ({
  ...sameOfPasskey(passkey),
  passkey_id: passkey.id,
  user: shownUser(passkey.user),
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
