// The folders of the server itself: where they are, where agents may work beside them, and what the config folder keeps.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { ServerError } from '../domain/errors.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import { createFileKeySecret } from '../http/auth/config-folder/file-key-secret.ts'
import { createPushKeySecret } from '../http/auth/config-folder/push-key-secret.ts'
import { createServerAddress, type ServerAddress } from '../http/auth/config-folder/server-address.ts'
import { type Challenges, createChallenges } from '../http/auth/console/challenges.ts'
import { type Codes, createCodes } from '../http/auth/console/codes.ts'
import { type Devices, openDevices } from '../http/auth/console/devices.ts'
import { openPasskeys, type Passkeys } from '../http/auth/console/passkeys.ts'
import { createFileKeys, type FileKeys } from '../http/auth/file-keys.ts'
import { createPassphrase, type Passphrase } from '../http/auth/passphrase/passphrase.ts'
import { noOperatorToken, type ReadTokens, readTokens, type TokensOptions } from '../http/auth/tokens/tokens.ts'
import { findCtlPlace } from '../operators/ctl/socket.ts'
import { createVapidKeys, type VapidKeys } from '../operators/web-push/vapid.ts'
import { createLocalShared } from '../store/local-shared.ts'
import { makeFolder } from '../store/make-folder.ts'
import { configuredOperators } from '../supervision/sessions/configured-operators.ts'
import { refuseUnknownOwner } from '../supervision/sessions/may-command.ts'
import { createWorkspaces, type OwnFolders, type Workspaces } from '../supervision/workspace/allowed-workspace.ts'
import type { AppOptions } from './app-options.ts'
import type { Prepared } from './prepare-app.ts'

export interface SignInParts {
  codes: Codes
  challenges: Challenges
  devices: Devices
  passkeys: Passkeys
}

interface OpenFolders {
  own: OwnFolders
  workspaces: Workspaces
  tokens: ReadTokens
  /** Null, like the passphrase: there is no config folder. */
  published: ServerAddress | null
  fileKeys: FileKeys
  /** Signs what people hand back to us: keys of files, buttons of a chat. */
  secret: () => Uint8Array
  /** The key pair for Web Push, made at its first use. */
  pushKeys: () => VapidKeys
  passphrase: Passphrase | null
  /** Who may open the console. */
  signIn: SignInParts
}

/** Only for the holder of the lock of the data directory. Throws `config_invalid`. */
export function openOwnFolders(options: AppOptions, prepared: Prepared, undo: AsyncDisposableStack): OpenFolders {
  const { settings, configDir, dataDir, log } = options
  const { clock, ids } = prepared
  const kept = configDir === undefined ? null : { configDir, makeFolder }
  const own = { configDir: configDir ?? null, dataDir, runtimeDir: runtimeDirOf(options), home: homedir() }
  const workspaces = createWorkspaces(settings.supervision, own)
  const tokens = openTokens(options, prepared, { kept, workspaces })
  // Commands on this machine find the server by it. A server that was killed has left its own.
  const published = kept === null ? null : createServerAddress({ ...kept, dataDir })
  published?.forget()
  undo.defer(() => published?.forget())
  const place = kept === null ? null : { ...kept, dataDir }
  const secret = createFileKeySecret(place, log)
  const fileKeys = createFileKeys({ secret, clock })
  const pushKeys = createPushKeySecret(place, createVapidKeys, log)
  const passphrase = kept === null ? null : createPassphrase({ ...kept, dataDir, clock })
  const devices = openDevices({ kept: place, clock, ids, log })
  // A restart makes codes and challenges void.
  const shared = createLocalShared(clock)
  const [codes, challenges] = [createCodes(shared, clock), createChallenges(shared, clock, ids)]
  const signIn = { codes, challenges, devices, passkeys: openPasskeys(place) }
  return { own, workspaces, tokens, published, fileKeys, secret, pushKeys, passphrase, signIn }
}

/** Where things are kept that live only as long as the server. */
const runtimeDirOf = ({ configDir, dataDir, settings }: AppOptions): string =>
  configDir === undefined
    ? join(dataDir, 'run')
    : findCtlPlace({
        env: process.env,
        configDir,
        dataDir,
        ipcName: settings.supervision.ipcName,
        platform: process.platform,
      }).runtimeDir

function openTokens(
  { settings, dataDir, log, makeTokens = false }: AppOptions,
  { clock, ids }: Prepared,
  parts: Pick<TokensOptions, 'kept' | 'workspaces'>,
): ReadTokens {
  const set = { user: settings.auth.token, operator: settings.auth.operatorToken }
  const operators = configuredOperators(settings.supervision.operators, [], settings.supervision.operatorGroups)
  const checkOwner = (user: string) => refuseUnknownOwner(operators, user)
  const tokens = readTokens({ ...parts, dataDir, set, clock, ids, log, checkOwner })
  const { issuers, proxy } = settings.identity
  // Tokens in a shared store are read when it is open.
  const knowsNobodyElse = issuers.length === 0 && proxy === null && !isPostgres(settings.store)
  if (!settings.loopback && settings.auth.required && knowsNobodyElse && !tokens.hasAny(makeTokens)) {
    throw new ServerError('config_invalid', noOperatorToken(dataDir))
  }
  return tokens
}
