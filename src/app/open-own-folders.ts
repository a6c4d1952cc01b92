// The folders of the server itself: where they are, where agents may work beside them, and what the config folder keeps.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { ServerError } from '../domain/errors.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import { openConfigRecords } from '../http/auth/config-folder/config-records.ts'
import { createServerAddress } from '../http/auth/config-folder/server-address.ts'
import { createPassphrase } from '../http/auth/passphrase/passphrase.ts'
import { noOperatorToken, type ReadTokens, readTokens, type TokensOptions } from '../http/auth/tokens/tokens.ts'
import { findCtlPlace } from '../operators/ctl/socket.ts'
import { createOwnChanges } from '../replicas/replica.ts'
import { createLocalShared } from '../store/local-shared.ts'
import { makeFolder } from '../store/make-folder.ts'
import { refuseUnknownOwner } from '../supervision/sessions/may-command.ts'
import { createWorkspaces } from '../supervision/workspace/allowed-workspace.ts'
import type { Prepared } from './prepare-app.ts'

export type OpenFolders = Awaited<ReturnType<typeof openOwnFolders>>

/** Only for the holder of the lock of the data directory. Throws `config_invalid`. */
export async function openOwnFolders(parts: Prepared, undo: AsyncDisposableStack) {
  const { settings, configDir, dataDir, clock, log } = parts
  // Null, and all that is made of it: there is no config folder.
  const place = configDir === null ? null : { configDir, makeFolder, dataDir }
  const own = { configDir, dataDir, runtimeDir: runtimeDirOf(parts), home: homedir() }
  const workspaces = createWorkspaces(settings.supervision, own)
  const records = place === null ? null : openConfigRecords(place, log)
  // The records of this server alone: in the config folder, or in memory.
  const shared = createLocalShared(clock, records?.kinds)
  const tokens = await openTokens(parts, {
    own: { shared, changes: createOwnChanges() },
    file: records?.tokens ?? null,
    workspaces,
  })
  // A file that cannot be used ends the start. A server that ignored the one of passkeys would ask for none any more.
  await Promise.all(['device', 'passkey'].map((kind) => shared.list(kind)))
  // Commands on this machine find the server by it. A server that was killed has left its own.
  const published = place === null ? null : createServerAddress(place)
  published?.forget()
  undo.defer(() => published?.forget())
  const passphrase = place === null ? null : createPassphrase({ ...place, clock })
  return { own, workspaces, tokens, published, passphrase, shared }
}

/** Where things are kept that live only as long as the server. */
const runtimeDirOf = ({ configDir, dataDir, settings }: Prepared): string =>
  configDir === null
    ? join(dataDir, 'run')
    : findCtlPlace({
        env: process.env,
        configDir,
        dataDir,
        ipcName: settings.supervision.ipcName,
        platform: process.platform,
      }).runtimeDir

async function openTokens(
  { settings, operators, dataDir, makeTokens, clock, ids, log }: Prepared,
  parts: Pick<TokensOptions, 'own' | 'file' | 'workspaces'>,
): Promise<ReadTokens> {
  const set = { user: settings.auth.token, operator: settings.auth.operatorToken }
  const checkOwner = (user: string) => refuseUnknownOwner(operators, user)
  const tokens = await readTokens({ ...parts, set, clock, ids, log, checkOwner })
  const { issuers, proxy } = settings.identity
  // Tokens in a shared store are read when it is open.
  const knowsNobodyElse = issuers.length === 0 && proxy === null && !isPostgres(settings.store)
  if (!settings.loopback && settings.auth.required && knowsNobodyElse && !tokens.hasAny(makeTokens)) {
    throw new ServerError('config_invalid', noOperatorToken(dataDir))
  }
  return tokens
}
