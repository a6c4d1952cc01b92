// Who may come in, and the secrets that people hand back to us. All servers on one store agree on both.

import { randomBytes } from 'node:crypto'
import { isPostgres } from '../domain/settings/store-settings.ts'
import { createSecret, fileKeySecret, pushKeySecret } from '../http/auth/config-folder/secrets.ts'
import { createChallenges } from '../http/auth/console/challenges.ts'
import { createCodes } from '../http/auth/console/codes.ts'
import { openDevices } from '../http/auth/console/devices.ts'
import { createPasskeys } from '../http/auth/console/passkeys.ts'
import { createProofs } from '../http/auth/console/proofs.ts'
import { createFileKeys } from '../http/auth/file-keys.ts'
import { noOperatorToken, type WriteAudit } from '../http/auth/tokens/tokens.ts'
import { createConsoleLink, onLocalhost } from '../operators/console-link.ts'
import { createVapidKeys } from '../operators/web-push/vapid.ts'
import type { Stored } from './open-log.ts'

/** What exists once it is known who may come in. */
export type Known = Stored & Awaited<ReturnType<typeof openAccess>>

export async function openAccess(parts: Stored) {
  const { settings, tokens, replica, sessionLog, operators, localAddress, clock, ids, log } = parts
  const { shared, changes } = replica
  const kept = createSecret(shared, fileKeySecret, () => ({ files: randomBytes(32).toString('base64url') }))
  /** Signs what people hand back to us: keys of files, buttons of a chat. */
  const secret = async () => Buffer.from((await kept()).files, 'base64url')
  const signIn = {
    codes: createCodes(shared, clock),
    challenges: createChallenges(shared, clock, ids),
    devices: await openDevices({ shared, changes, clock, ids, log }),
    passkeys: createPasskeys(shared),
  }
  const audit: WriteAudit = (record) => sessionLog.commit({ type: 'add_audit', audit: [record] })
  // The operator's token that this start made, or null.
  const madeToken = await tokens.begin(audit, { make: parts.makeTokens, place: replica })
  const { issuers, proxy } = settings.identity
  const knowsNobodyElse = issuers.length === 0 && proxy === null
  if (knowsNobodyElse && !tokens.current().some(({ role }) => role === 'operator')) {
    log.warn(noOperatorToken(isPostgres(settings.store) ? null : parts.dataDir))
  }
  // Where people open this server in a browser. Empty: nowhere.
  const consoleUrl = settings.channels.publicUrl ?? (localAddress === null ? '' : onLocalhost(localAddress))
  const link = createConsoleLink(consoleUrl)
  // What needs a passkey.
  const stepUp = createProofs({
    passkeys: signIn.passkeys,
    challenges: signIn.challenges,
    personOf: operators.personOf,
    link: (id) => (id === null ? `${consoleUrl}/console/settings` : link(id)),
    clock,
    ids,
    log,
  })
  return {
    fileKeys: createFileKeys({ secret, clock }),
    secret,
    /** The key pair for Web Push, made at its first use. */
    pushKeys: createSecret(shared, pushKeySecret, createVapidKeys),
    signIn,
    madeToken,
    audit,
    stepUp,
    consoleUrl,
    link,
  }
}
