// Who may come in, and the secrets that people hand back to us. All servers on one store agree on both.

import { randomBytes } from 'node:crypto'
import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import { createSecret, fileKeySecret, pushKeySecret } from '../http/auth/config-folder/secrets.ts'
import { type Challenges, createChallenges } from '../http/auth/console/challenges.ts'
import { type Codes, createCodes } from '../http/auth/console/codes.ts'
import { type Devices, openDevices } from '../http/auth/console/devices.ts'
import { createPasskeys, type Passkeys } from '../http/auth/console/passkeys.ts'
import { createProofs, type Proofs } from '../http/auth/console/proofs.ts'
import { createFileKeys, type FileKeys } from '../http/auth/file-keys.ts'
import { noOperatorToken, type ReadTokens, type WriteAudit } from '../http/auth/tokens/tokens.ts'
import type { SessionLog } from '../log/session-log.ts'
import { type ConsoleLink, createConsoleLink, onLocalhost } from '../operators/console-link.ts'
import { createVapidKeys, type VapidKeys } from '../operators/web-push/vapid.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Operators } from '../supervision/sessions/may-command.ts'

interface AccessParts {
  settings: ServerSettings
  /** Make the operator's token when none are kept yet. */
  makeTokens: boolean
  dataDir: string
  tokens: ReadTokens
  replica: Replica
  sessionLog: SessionLog
  operators: Operators
  /** The URL that reaches this server from this machine. Null: it has no port. */
  localAddress: string | null
  clock: Clock
  ids: Ids
  log: Logger
}

export interface OpenAccess {
  fileKeys: FileKeys
  /** Signs what people hand back to us: keys of files, buttons of a chat. */
  secret: () => Promise<Uint8Array>
  /** The key pair for Web Push, made at its first use. */
  pushKeys: () => Promise<VapidKeys>
  signIn: { codes: Codes; challenges: Challenges; devices: Devices; passkeys: Passkeys }
  /** The operator's token that this start made, or null. */
  madeToken: string | null
  audit: WriteAudit
  /** What needs a passkey. */
  stepUp: Proofs
  /** Where people open this server in a browser. Empty: nowhere. */
  consoleUrl: string
  link: ConsoleLink
}

export async function openAccess(parts: AccessParts): Promise<OpenAccess> {
  const { settings, tokens, replica, sessionLog, operators, localAddress, clock, ids, log } = parts
  const { shared, changes } = replica
  const kept = createSecret(shared, fileKeySecret, () => ({ files: randomBytes(32).toString('base64url') }))
  const secret = async () => Buffer.from((await kept()).files, 'base64url')
  const signIn = {
    codes: createCodes(shared, clock),
    challenges: createChallenges(shared, clock, ids),
    devices: await openDevices({ shared, changes, clock, ids, log }),
    passkeys: createPasskeys(shared),
  }
  const audit: WriteAudit = (record) => sessionLog.commit({ type: 'add_audit', audit: [record] })
  const madeToken = await tokens.begin(audit, { make: parts.makeTokens, place: replica })
  const { issuers, proxy } = settings.identity
  const knowsNobodyElse = issuers.length === 0 && proxy === null
  if (knowsNobodyElse && !tokens.current().some(({ role }) => role === 'operator')) {
    log.warn(noOperatorToken(isPostgres(settings.store) ? null : parts.dataDir))
  }
  const consoleUrl = settings.channels.publicUrl ?? (localAddress === null ? '' : onLocalhost(localAddress))
  const link = createConsoleLink(consoleUrl)
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
    pushKeys: createSecret(shared, pushKeySecret, createVapidKeys),
    signIn,
    madeToken,
    audit,
    stepUp,
    consoleUrl,
    link,
  }
}
