// Who may come in once the store is open: the holders of tokens, and whoever proves with a passkey who they are.

import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { createProofs, type Proofs } from '../http/auth/console/proofs.ts'
import { createTokenRows } from '../http/auth/tokens/token-rows.ts'
import { noOperatorToken, type ReadTokens, type WriteAudit } from '../http/auth/tokens/tokens.ts'
import type { SessionLog } from '../log/session-log.ts'
import { type ConsoleLink, createConsoleLink, onLocalhost } from '../operators/console-link.ts'
import { type Operators, personOf } from '../supervision/sessions/may-command.ts'
import type { SignInParts } from './open-own-folders.ts'
import type { Replica } from './open-replica.ts'

interface AccessParts {
  settings: ServerSettings
  /** Make the operator's token when none are kept yet. */
  makeTokens: boolean
  dataDir: string
  tokens: ReadTokens
  signIn: SignInParts
  replica: Replica | null
  sessionLog: SessionLog
  operators: Operators
  /** The URL that reaches this server from this machine. Null: it has no port. */
  localAddress: string | null
  clock: Clock
  ids: Ids
  log: Logger
}

export interface OpenAccess {
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
  const { settings, tokens, signIn, replica, sessionLog, operators, localAddress, clock, ids, log } = parts
  const audit: WriteAudit = (record) => sessionLog.commit({ type: 'add_audit', audit: [record] })
  const records = replica === null ? undefined : createTokenRows({ ...replica, log })
  const madeToken = await tokens.begin(audit, { make: parts.makeTokens, records })
  const { issuers, proxy } = settings.identity
  const knowsNobodyElse = issuers.length === 0 && proxy === null
  if (knowsNobodyElse && !tokens.current().some(({ role }) => role === 'operator')) {
    log.warn(noOperatorToken(replica === null ? parts.dataDir : null))
  }
  const consoleUrl = settings.channels.publicUrl ?? (localAddress === null ? '' : onLocalhost(localAddress))
  const link = createConsoleLink(consoleUrl)
  const stepUp = createProofs({
    passkeys: signIn.passkeys,
    challenges: signIn.challenges,
    personOf: (name) => personOf(operators, name),
    link: (id) => (id === null ? `${consoleUrl}/console/settings` : link(id)),
    clock,
    ids,
    log,
  })
  return { madeToken, audit, stepUp, consoleUrl, link }
}
